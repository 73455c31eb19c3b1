// Regex trees of Python (cfgmask.grammar.regex_tree), made of patterns.
//
// Reading a pattern in Python takes some 6 microseconds a character, which a first mask waits for.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/interpreter.h"
#include "regex/regex.h"

namespace cfgmask {

namespace nb = nanobind;

class TreeMaker {
 public:
  using Tree = nb::object;

  TreeMaker() : types_(nb::module_::import_("cfgmask.grammar.regex_tree")) {}

  Tree constant(const char* name) const { return types_.attr(name); }
  Tree any_text() const { return constant("ANY_TEXT"); }
  Tree literal(std::string_view text) const { return make("Literal", nb::bytes(text.data(), text.size())); }
  Tree char_class(std::span<const CodePointRange> ranges) const {
    nb::list all;
    for (const auto& [low, high] : ranges) all.append(nb::make_tuple(low, high));
    return make("CharClass", nb::tuple(all));
  }
  Tree concatenation(const std::vector<Tree>& parts) const { return make("Concatenation", tuple_of(parts)); }
  Tree alternation(const std::vector<Tree>& ways) const { return make("Alternation", tuple_of(ways)); }
  Tree repetition(const Tree& body, uint32_t minimum, uint32_t maximum) const {
    return counted(body, minimum, maximum == kUnbounded ? std::nullopt : std::optional<uint64_t>(maximum));
  }
  Tree counted(const Tree& body, uint64_t minimum, std::optional<uint64_t> maximum) const {
    nb::object most = nb::none();
    if (maximum) most = nb::int_(*maximum);
    return make("Repetition", body, minimum, most);
  }
  Tree intersection(const std::vector<Tree>& parts) const { return make("Intersection", tuple_of(parts)); }
  Tree complement(const Tree& body) const { return make("Complement", body); }
  Tree substring(const std::vector<std::string>& chunks) const {
    std::vector<nb::object> all;
    for (const std::string& chunk : chunks) all.push_back(nb::bytes(chunk.data(), chunk.size()));
    return make("Substring", tuple_of(all));
  }

 private:
  template <typename... Arguments>
  nb::object make(const char* type, const Arguments&... arguments) const {
    return in_python([&]() -> nb::object { return types_.attr(type)(arguments...); });
  }
  static nb::tuple tuple_of(const std::vector<nb::object>& objects) {
    nb::list out;
    for (const nb::object& object : objects) out.append(object);
    return nb::tuple(out);
  }

  nb::module_ types_;
};

}  // namespace cfgmask
