// How the dialects of patterns differ, as data. The few differences that are code ask for the name where they matter.
//
// The references are the documentation of Python's `re` (with the `regex` package for what `re` lacks), the syntax page
// of Rust's `regex` crate, and ECMA-262 with its Annex B.
//
// Two decisions about ECMA: a character is a code point whether or not the flag u is given (JSON texts are made of code
// points), and `\p{...}` and `\u{...}` mean without the flag what they mean with it. The flag makes the syntax strict.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace cfgmask {

struct PatternDialect {
  enum class Name : uint8_t { kPython, kRust, kEcma };
  // Where `(?i)` may stand.
  enum class BareFlags : uint8_t { kStart, kAnywhere, kNowhere };
  // Which characters stand for themselves after a backslash, beside those with a meaning: all but ASCII letters and
  // digits; ASCII's punctuation but `<` and `>`; or those that ECMA's syntax uses.
  enum class Identity : uint8_t { kNotAlphanumeric, kRust, kEcma };

  Name name;
  std::string_view label;          // what messages call it
  std::string_view flags;          // letters that may follow a pattern
  std::string_view inline_flags;   // that may stand in `(?i:...)`
  std::string_view negated_flags;  // and there after the minus sign
  BareFlags bare_flags;
  bool literal_brace;                 // a brace that begins no repetition stands for itself
  bool stacked_repeats;               // `a**` repeats a repetition
  bool possessive;                    // `a*+` is possessive
  bool repeatable_anchors;            // `^*` is allowed
  bool p_names;                       // a named group may begin with `(?P<`
  bool unique_names;                  // two groups of one name are an error
  bool comments;                      // `(?#...)` is a comment
  std::u32string_view verbose_space;  // what the flag x skips
  bool spaced_classes;                // it skips inside of classes and after an opening parenthesis, too
  bool bell;                          // `\a` is a character
  bool backspace;                     // `[\b]` is a backspace
  bool octal;                         // a backslash and digits may be octal
  std::string_view hex_letters;       // those before hexadecimal digits
  std::string_view braced_hex;        // which of these take `{...}` instead
  bool control;                       // `\cA` is a control character
  bool named_characters;              // `\N{...}` is a character
  bool short_properties;              // `\pL` is short for `\p{L}`
  Identity identity;
  std::u32string_view class_identity;  // what also stands for itself after a backslash in a class (Identity::kEcma)
  std::u32string_view starts;          // letters after a backslash that are the start of the text
  std::u32string_view ends;            // and its end
  bool newline_before_end;             // `$` without the flag m holds before a line break that ends the text, too
  bool leading_bracket;                // `]` stands for itself where a class begins
  std::span<const std::u32string_view> set_operators;  // classes nest if there are any
  bool single_operands;                                // these join single members only and do not mix
  bool shorthand_ranges;                               // `[\w-a]` is allowed, the minus sign standing for itself
};

// The dialect of a name and the flags that follow a pattern; ECMA's flags u and v have dialects of their own.
const PatternDialect& pattern_dialect(PatternDialect::Name name, std::u32string_view flags);

}  // namespace cfgmask
