#include "schema/listed_parts.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "schema/decimal.h"
#include "util/text_hash.h"

namespace cfgmask {

namespace {

using Spelling = PlainSchema::Spelling;
using SchemaTerminal = PlainSchema::Terminal;

bool is_listed(const SchemaTerminal& terminal) {
  return terminal.spelling == Spelling::kWord || terminal.spelling == Spelling::kListed ||
         (terminal.spelling == Spelling::kNumbers && terminal.numbers->listed() != nullptr);
}

// The part without names for it on the way, if it lists scalars alone.
const PlainSchema::Value* listing(PlainValueId part, const PlainSchema& schema) {
  const PlainValueId id = schema.resolved(part);
  const PlainSchema::Value& value = schema.at(id);
  const bool lists = schema.is_defined(id) && !value.terminals.empty() && !value.array && !value.object &&
                     std::all_of(value.terminals.begin(), value.terminals.end(),
                                 [&](uint32_t t) { return is_listed(schema.terminal(t)); });
  return lists ? &value : nullptr;
}

// How many of the parts list a scalar.
class Counts {
 public:
  void add(const SchemaTerminal& terminal) {
    for_each(terminal, [](uint32_t& count) { ++count; });
  }

  bool are_one(const SchemaTerminal& terminal) {
    bool all = true;
    for_each(terminal, [&](uint32_t count) { all = all && count == 1; });
    return all;
  }

 private:
  template <class F>
  void for_each(const SchemaTerminal& terminal, F call) {
    if (terminal.spelling == Spelling::kWord) {
      call(others_[std::string(terminal.name)]);
    } else if (terminal.spelling == Spelling::kListed) {
      for (const std::string& text : terminal.listed) call(texts_[text]);
    } else {
      for (const Decimal& number : *terminal.numbers->listed()) call(others_[number.text()]);
    }
  }

  TextMap<std::string_view, uint32_t> texts_;
  TextMap<std::string, uint32_t> others_;
};

// The union of listed scalars.
class Union {
 public:
  void add(const PlainSchema::Value& value, const PlainSchema& schema) {
    for (uint32_t index : value.terminals) {
      const SchemaTerminal& terminal = schema.terminal(index);
      if (terminal.spelling == Spelling::kWord) {
        words_.push_back(index);
      } else if (terminal.spelling == Spelling::kListed) {
        texts_.insert(texts_.end(), terminal.listed.begin(), terminal.listed.end());
      } else {
        const auto& listed = *terminal.numbers->listed();
        numbers_.insert(numbers_.end(), listed.begin(), listed.end());
      }
    }
  }

  PlainValueId value(PlainSchema& schema, const std::string& name) {
    PlainSchema::Value made;
    made.name = name;
    std::sort(words_.begin(), words_.end());
    made.terminals = std::move(words_);
    if (!numbers_.empty()) {
      if (const auto listed = schema.numbers(NumberSet::of(std::move(numbers_)))) made.terminals.push_back(*listed);
    }
    if (!texts_.empty()) made.terminals.push_back(schema.listed(std::move(texts_)));
    return schema.add(std::move(made));
  }

 private:
  std::vector<uint32_t> words_;
  std::vector<Decimal> numbers_;
  std::vector<std::string> texts_;
};

}  // namespace

std::vector<PlainValueId> listed_together(std::vector<PlainValueId> parts, PlainSchema& schema,
                                          const std::string& name) {
  std::vector<const PlainSchema::Value*> lists;
  for (PlainValueId part : parts) lists.push_back(listing(part, schema));
  if (std::count(lists.begin(), lists.end(), nullptr) + 2 > std::ssize(lists)) return parts;
  Counts counts;
  for (const auto* list : lists) {
    if (list == nullptr) continue;
    for (uint32_t terminal : list->terminals) counts.add(schema.terminal(terminal));
  }
  const auto is_apart = [&](const PlainSchema::Value* list) {
    return list != nullptr && std::all_of(list->terminals.begin(), list->terminals.end(),
                                          [&](uint32_t t) { return counts.are_one(schema.terminal(t)); });
  };
  Union together;
  std::vector<PlainValueId> left;
  std::vector<size_t> taken;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (is_apart(lists[i])) {
      if (taken.empty()) left.push_back(parts[i]);
      taken.push_back(i);
      together.add(*lists[i], schema);
    } else {
      left.push_back(parts[i]);
    }
  }
  if (taken.size() < 2) return parts;
  left[taken[0]] = together.value(schema, name);
  return left;
}

}  // namespace cfgmask
