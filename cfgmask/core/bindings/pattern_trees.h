// Plain patterns (schema/plain_pattern.h) to regex trees of Python (cfgmask.grammar.regex_tree).
//
// Reading a pattern in Python takes some 6 microseconds a character, which a first mask waits for.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "schema/plain_pattern.h"

namespace cfgmask {

namespace nb = nanobind;

class PatternTrees {
 public:
  explicit PatternTrees(const PlainPattern& pattern)
      : pattern_(pattern), types_(nb::module_::import_("cfgmask.grammar.regex_tree")) {}

  // The texts in which the pattern is found.
  nb::object search() const {
    const nb::object any = types_.attr("ANY_TEXT");
    std::vector<nb::object> ways;
    for (const auto& branch : pattern_.branches()) {
      std::vector<nb::object> parts;
      if (!branch.from_start) parts.push_back(any);
      append(branch.body, parts);
      if (!branch.to_end) parts.push_back(any);
      ways.push_back(sequence(std::move(parts)));
    }
    return alternation(std::move(ways));
  }

  // The texts that match as a whole.
  nb::object whole() const {
    const auto& branches = pattern_.branches();
    const auto only_empty = [&](const auto& branch) { return pattern_.only_empty(branch.body); };
    if (std::all_of(branches.begin(), branches.end(), only_empty)) return literal("");
    std::vector<nb::object> ways;
    for (const auto& branch : branches) ways.push_back(tree(branch.body));
    return alternation(std::move(ways));
  }

 private:
  using Kind = PlainPattern::Kind;

  nb::object tree(uint32_t id) const {
    const auto node = pattern_.node(id);
    std::string text;
    if (node.append_to(text)) return literal(text);
    switch (node.kind) {
      case Kind::kClass: {
        nb::list ranges;
        for (const auto& [low, high] : node.ranges) ranges.append(nb::make_tuple(low, high));
        return types_.attr("CharClass")(nb::tuple(ranges));
      }
      case Kind::kSequence: {
        std::vector<nb::object> parts;
        append(id, parts);
        return sequence(std::move(parts));
      }
      case Kind::kRepetition: {
        nb::object most = nb::none();
        if (node.maximum != kUnbounded) most = nb::int_(node.maximum);
        return types_.attr("Repetition")(tree(node.parts[0]), node.minimum, most);
      }
      case Kind::kText:
      case Kind::kAlternation:
        break;
    }
    std::vector<nb::object> ways;
    for (uint32_t part : node.parts) ways.push_back(tree(part));
    return alternation(std::move(ways));
  }

  // The parts of a sequence, characters that follow each other as one.
  void append(uint32_t id, std::vector<nb::object>& out) const {
    std::string run;
    const auto end_run = [&] {
      if (!run.empty()) out.push_back(literal(run));
      run.clear();
    };
    for (uint32_t part : pattern_.node(id).parts) {
      if (pattern_.node(part).append_to(run)) continue;
      end_run();
      out.push_back(tree(part));
    }
    end_run();
  }

  nb::object literal(const std::string& text) const {
    return types_.attr("Literal")(nb::bytes(text.data(), text.size()));
  }
  nb::object sequence(std::vector<nb::object> parts) const {
    if (parts.empty()) return literal("");
    return parts.size() == 1 ? parts[0] : types_.attr("Concatenation")(tuple_of(parts));
  }
  nb::object alternation(std::vector<nb::object> ways) const {
    return ways.size() == 1 ? ways[0] : types_.attr("Alternation")(tuple_of(ways));
  }
  static nb::tuple tuple_of(const std::vector<nb::object>& objects) {
    nb::list out;
    for (const nb::object& object : objects) out.append(object);
    return nb::tuple(out);
  }

  const PlainPattern& pattern_;
  nb::module_ types_;
};

}  // namespace cfgmask
