// Regex trees of Python (cfgmask.grammar.regex_tree), made of patterns.
//
// Reading a pattern in Python takes some 6 microseconds a character, which a first mask waits for.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/data_class.h"
#include "regex/regex.h"

namespace cfgmask {

namespace nb = nanobind;

class TreeMaker {
 public:
  using Tree = nb::object;

  TreeMaker() : TreeMaker(nb::module_::import_("cfgmask.grammar.regex_tree")) {}

  Tree constant(const char* name) const { return types_.attr(name); }
  Tree any_text() const { return constant("ANY_TEXT"); }
  Tree literal(std::string_view text) const { return literal_(nb::bytes(text.data(), text.size())); }
  // The last large classes are kept: to make one of `\w` takes 50 microseconds, the rest of a pattern 10.
  Tree char_class(std::span<const CodePointRange> ranges) {
    if (ranges.size() < kLargeClass) return new_class(ranges);
    const auto is_same = [&](const KnownClass& known) {
      return std::ranges::equal(known.first, ranges, [](auto a, auto b) { return a.low == b.low && a.high == b.high; });
    };
    if (const auto known = std::ranges::find_if(classes_, is_same); known != classes_.end()) return known->second;
    if (classes_.size() == kMostClasses) classes_.erase(classes_.begin());
    return classes_.emplace_back(std::vector(ranges.begin(), ranges.end()), new_class(ranges)).second;
  }
  Tree concatenation(const std::vector<Tree>& parts) const { return concatenation_(tuple_of(parts)); }
  Tree alternation(const std::vector<Tree>& ways) const { return alternation_(tuple_of(ways)); }
  Tree repetition(const Tree& body, uint32_t minimum, uint32_t maximum) const {
    return counted(body, minimum, maximum == kUnbounded ? std::nullopt : std::optional<uint64_t>(maximum));
  }
  Tree counted(const Tree& body, uint64_t minimum, std::optional<uint64_t> maximum) const {
    nb::object most = nb::none();
    if (maximum) most = nb::int_(*maximum);
    return repetition_(body, minimum, most);
  }
  Tree intersection(const std::vector<Tree>& parts) const { return intersection_(tuple_of(parts)); }
  Tree complement(const Tree& body) const { return complement_(body); }
  Tree substring(const std::vector<std::string>& chunks) const {
    std::vector<nb::object> all;
    for (const std::string& chunk : chunks) all.push_back(nb::bytes(chunk.data(), chunk.size()));
    return substring_(tuple_of(all));
  }

 private:
  static constexpr size_t kLargeClass = 64;  // ranges
  static constexpr size_t kMostClasses = 8;
  using KnownClass = std::pair<std::vector<CodePointRange>, Tree>;

  explicit TreeMaker(nb::module_ types)
      : types_(std::move(types)),
        literal_(types_, "Literal", "data"),
        char_class_(types_, "CharClass", "ranges"),
        concatenation_(types_, "Concatenation", "parts"),
        alternation_(types_, "Alternation", "parts"),
        repetition_(types_, "Repetition", "body", "minimum", "maximum"),
        intersection_(types_, "Intersection", "parts"),
        complement_(types_, "Complement", "body"),
        substring_(types_, "Substring", "chunks") {}

  Tree new_class(std::span<const CodePointRange> ranges) const {
    nb::list all;
    for (const auto& [low, high] : ranges) all.append(nb::make_tuple(low, high));
    return char_class_(nb::tuple(all));
  }
  static nb::tuple tuple_of(const std::vector<nb::object>& objects) {
    nb::list out;
    for (const nb::object& object : objects) out.append(object);
    return nb::tuple(out);
  }

  nb::module_ types_;
  DataClass<1> literal_;
  DataClass<1> char_class_;
  DataClass<1> concatenation_;
  DataClass<1> alternation_;
  DataClass<3> repetition_;
  DataClass<1> intersection_;
  DataClass<1> complement_;
  DataClass<1> substring_;
  std::vector<KnownClass> classes_;
};

}  // namespace cfgmask
