#include "json_schema/sets/listed_parts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "json_schema/document/decimal.h"
#include "util/text_hash.h"

namespace cfgmask {

namespace {

using Spelling = SchemaIR::Spelling;
using SchemaTerminal = SchemaIR::Terminal;

bool is_listed(const SchemaTerminal& terminal) {
  return terminal.spelling == Spelling::kWord || terminal.spelling == Spelling::kListed ||
         (terminal.spelling == Spelling::kNumbers && terminal.numbers->listed() != nullptr);
}

// The part without names for it on the way, if it lists scalars alone.
const SchemaIR::Value* listing(ValueId part, const SchemaIR& schema) {
  const ValueId id = schema.resolved(part);
  const SchemaIR::Value& value = schema.at(id);
  const bool lists = schema.is_defined(id) && !value.terminals.empty() && !value.array && !value.object &&
                     std::all_of(value.terminals.begin(), value.terminals.end(),
                                 [&](uint32_t t) { return is_listed(schema.terminal(t)); });
  return lists ? &value : nullptr;
}

// A scalar of a list.
struct Scalar {
  const SchemaTerminal* word = nullptr;
  const std::string* text = nullptr;
  const Decimal* number = nullptr;
  uint32_t terminal;
};

template <class F>
void for_each_scalar(const SchemaIR::Value& list, const SchemaIR& schema, F call) {
  for (const uint32_t index : list.terminals) {
    const SchemaTerminal& terminal = schema.terminal(index);
    if (terminal.spelling == Spelling::kWord) {
      call(Scalar{.word = &terminal, .terminal = index});
    } else if (terminal.spelling == Spelling::kListed) {
      for (const std::string& text : terminal.listed) call(Scalar{.text = &text, .terminal = index});
    } else {
      for (const Decimal& number : *terminal.numbers->listed()) call(Scalar{.number = &number, .terminal = index});
    }
  }
}

// How many of the lists have a scalar.
class Counts {
 public:
  uint32_t& of(const Scalar& scalar) {
    if (scalar.text != nullptr) return texts_[*scalar.text];
    return others_[scalar.word != nullptr ? std::string(scalar.word->name) : scalar.number->text()];
  }

 private:
  TextMap<std::string_view, uint32_t> texts_;
  TextMap<std::string, uint32_t> others_;
};

// Listed scalars, each of them once.
class Union {
 public:
  void add(const Scalar& scalar) {
    if (scalar.word != nullptr) {
      words_.push_back(scalar.terminal);
    } else if (scalar.text != nullptr) {
      texts_.push_back(*scalar.text);
    } else {
      numbers_.push_back(*scalar.number);
    }
  }

  // nullopt for none.
  std::optional<ValueId> value(SchemaIR& schema, const std::string& name) {
    if (words_.empty() && numbers_.empty() && texts_.empty()) return std::nullopt;
    SchemaIR::Value made;
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

std::vector<ValueId> listed_together(std::vector<ValueId> parts, SchemaIR& schema, const std::string& name) {
  std::vector<const SchemaIR::Value*> lists;
  for (ValueId part : parts) lists.push_back(listing(part, schema));
  if (std::count(lists.begin(), lists.end(), nullptr) + 2 > std::ssize(lists)) return parts;
  constexpr uint32_t kTaken = 0;
  Counts counts;
  for (const auto* list : lists) {
    if (list != nullptr) for_each_scalar(*list, schema, [&](const Scalar& scalar) { ++counts.of(scalar); });
  }
  Union once;
  Union repeated;
  for (const auto* list : lists) {
    if (list == nullptr) continue;
    for_each_scalar(*list, schema, [&](const Scalar& scalar) {
      uint32_t& count = counts.of(scalar);
      if (count != kTaken) (count == 1 ? once : repeated).add(scalar);
      count = kTaken;
    });
  }
  std::vector<ValueId> left;
  const auto place = std::find_if(lists.begin(), lists.end(), [](const auto* list) { return list != nullptr; });
  for (size_t i = 0; i < parts.size(); ++i) {
    if (lists[i] == nullptr) left.push_back(parts[i]);
    if (lists.begin() + static_cast<ptrdiff_t>(i) != place) continue;
    if (const auto made = once.value(schema, name)) left.push_back(*made);
    if (const auto made = repeated.value(schema, name)) left.insert(left.end(), 2, *made);
  }
  return left;
}

}  // namespace cfgmask
