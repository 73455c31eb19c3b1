#include "pattern/dialect.h"

#include <array>

namespace cfgmask {

namespace {

using Dialect = PatternDialect;

constexpr Dialect kPythonPatterns{
    .name = Dialect::Name::kPython,
    .label = "python",
    .flags = "imsxau",
    .inline_flags = "imsxau",
    .negated_flags = "imsx",
    .bare_flags = Dialect::BareFlags::kStart,
    .literal_brace = true,
    .stacked_repeats = false,
    .possessive = true,
    .repeatable_anchors = false,
    .p_names = true,
    .unique_names = true,
    .comments = true,
    .verbose_space = U" \t\n\r\v\f",
    .spaced_classes = false,
    .bell = true,
    .backspace = true,
    .octal = true,
    .hex_letters = "xuU",
    .braced_hex = "",
    .control = false,
    .named_characters = true,
    .short_properties = true,
    .identity = Dialect::Identity::kNotAlphanumeric,
    .class_identity = U"",
    .starts = U"A",
    .ends = U"Zz",
    .newline_before_end = true,
    .leading_bracket = true,
    .set_operators = {},
    .single_operands = false,
    .shorthand_ranges = false,
};

constexpr std::array<std::u32string_view, 3> kRustSets{U"&&", U"--", U"~~"};

constexpr Dialect kRustPatterns{
    .name = Dialect::Name::kRust,
    .label = "rust",
    .flags = "imsxuU",
    .inline_flags = "imsxuU",
    .negated_flags = "imsxuU",
    .bare_flags = Dialect::BareFlags::kAnywhere,
    .literal_brace = false,
    .stacked_repeats = true,
    .possessive = false,
    .repeatable_anchors = true,
    .p_names = true,
    .unique_names = true,
    .comments = false,
    .verbose_space = U"\t\n\v\f\r \x85\u200e\u200f\u2028\u2029",
    .spaced_classes = true,
    .bell = true,
    .backspace = false,
    .octal = false,
    .hex_letters = "xuU",
    .braced_hex = "xuU",
    .control = false,
    .named_characters = false,
    .short_properties = true,
    .identity = Dialect::Identity::kRust,
    .class_identity = U"",
    .starts = U"A",
    .ends = U"z",
    .newline_before_end = false,
    .leading_bracket = true,
    .set_operators = kRustSets,
    .single_operands = false,
    .shorthand_ranges = false,
};

constexpr Dialect kEcmaPatterns{
    .name = Dialect::Name::kEcma,
    .label = "ecma",
    .flags = "imsuvdgy",
    .inline_flags = "ims",
    .negated_flags = "ims",
    .bare_flags = Dialect::BareFlags::kNowhere,
    .literal_brace = true,
    .stacked_repeats = false,
    .possessive = false,
    .repeatable_anchors = false,
    .p_names = false,
    .unique_names = false,
    .comments = false,
    .verbose_space = U"",
    .spaced_classes = false,
    .bell = false,
    .backspace = true,
    .octal = false,
    .hex_letters = "xu",
    .braced_hex = "u",
    .control = true,
    .named_characters = false,
    .short_properties = false,
    .identity = Dialect::Identity::kNotAlphanumeric,
    .class_identity = U"",
    .starts = U"",
    .ends = U"",
    .newline_before_end = false,
    .leading_bracket = false,
    .set_operators = {},
    .single_operands = false,
    .shorthand_ranges = true,
};

constexpr Dialect with_flag_u(Dialect dialect) {
  dialect.literal_brace = false;
  dialect.identity = Dialect::Identity::kEcma;
  dialect.class_identity = U"-";
  dialect.shorthand_ranges = false;
  return dialect;
}
constexpr Dialect kEcmaUnicodePatterns = with_flag_u(kEcmaPatterns);

constexpr std::array<std::u32string_view, 2> kEcmaSets{U"&&", U"--"};

constexpr Dialect with_flag_v(Dialect dialect) {
  dialect.class_identity = U"-&!#%,:;<=>@`~";
  dialect.set_operators = kEcmaSets;
  dialect.single_operands = true;
  return dialect;
}
constexpr Dialect kEcmaSetPatterns = with_flag_v(kEcmaUnicodePatterns);

}  // namespace

const PatternDialect& pattern_dialect(PatternDialect::Name name, std::u32string_view flags) {
  if (name == Dialect::Name::kPython) return kPythonPatterns;
  if (name == Dialect::Name::kRust) return kRustPatterns;
  if (flags.find(U'v') != flags.npos) return kEcmaSetPatterns;
  return flags.find(U'u') != flags.npos ? kEcmaUnicodePatterns : kEcmaPatterns;
}

}  // namespace cfgmask
