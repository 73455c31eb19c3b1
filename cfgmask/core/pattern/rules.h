// What translation has to know of a dialect; pattern/dialect.h has what reading has to.
#pragma once

#include <cstdint>
#include <string_view>

#include "pattern/dialect.h"

namespace cfgmask {

// Which characters the flag i makes equal; see cfgmask/regex/case_folding.py.
enum class CaseFolding : uint8_t { kPython, kSimple, kEcma, kAscii };

struct PatternRules {
  PatternDialect::Name name;
  std::u32string_view line_ends;  // what the dot does not match without the flag s
  bool nested_sets;               // classes nest, and `\P{...}` negates last under the flag i
  CaseFolding folding;
  bool named_groups = false;  // groups of some names mean more than grouping; see cfgmask/regex/named_groups.py
  bool ascii_digits = false;  // `\d` matches digits of ASCII only

  static PatternRules of(PatternDialect::Name name, std::u32string_view flags) {
    const auto has = [&](char32_t flag) { return flags.find(flag) != flags.npos; };
    if (name == PatternDialect::Name::kPython) return {name, U"\n", false, CaseFolding::kPython};
    if (name == PatternDialect::Name::kRust) return {name, U"\n", true, CaseFolding::kSimple};
    return {name, U"\n\r\u2028\u2029", has(U'v'), has(U'u') || has(U'v') ? CaseFolding::kSimple : CaseFolding::kEcma};
  }
};

}  // namespace cfgmask
