// The tokens of a Lark grammar, one after the other: the terminals of cfgmask/lark/syntax.lark.
//
// Written by hand; tests/lark/test_syntax.py compares it with the terminals themselves, as Lark has them.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <string_view>

#include "lark/syntax_tables.h"
#include "util/character_kinds.h"

namespace cfgmask {

struct LarkToken {
  LarkTerminal type;
  uint32_t start;  // in characters
  uint32_t end;
};

class LarkLexer {
 public:
  // `text` must outlive it.
  LarkLexer(std::u32string_view text, const CharacterKinds& kinds) : text_(text), kinds_(kinds) {}

  // The next token. At the end one of the type kEnd, again and again; where none begins one of the type kUnreadable,
  // which has one character, and the rest of the line is skipped. Of line breaks with nothing but comments between them
  // the first is a token. All tokens of a text together take linear time.
  LarkToken next();

  // Goes on there, as if the text began with it.
  void go_on_at(uint32_t place);

 private:
  // The end of the token of this type that begins at `at`; `at` where none does.
  uint32_t end_of_name(uint32_t at) const;
  uint32_t end_of_string(uint32_t at) const;
  uint32_t end_of_regexp(uint32_t at) const;
  uint32_t end_of_number(uint32_t at) const;
  uint32_t end_of_braced_count(uint32_t at) const;
  uint32_t end_of_tilde_count(uint32_t at) const;
  uint32_t end_of_special_tokens(uint32_t at) const;

  // The token at `start`, whose first character is no blank; of the type kBlank what is not to be seen.
  LarkToken read(uint32_t start) const;
  LarkTerminal keyword(uint32_t start, uint32_t end) const;

  bool is_word(uint32_t at) const;
  bool is_digit(uint32_t at) const;
  bool is_space(uint32_t at) const;
  // Behind as many of them as there are from `at` on.
  uint32_t behind_digits(uint32_t at) const;
  uint32_t behind_blanks(uint32_t at) const;
  uint32_t behind_flags(uint32_t at) const;
  uint32_t size() const { return static_cast<uint32_t>(text_.size()); }
  // 0 at the end: no token has it but in the middle.
  char32_t char_at(uint32_t place) const { return place < text_.size() ? text_[place] : U'\0'; }

  std::u32string_view text_;
  CharacterKinds kinds_;
  uint32_t place_ = 0;
  LarkTerminal before_ = LarkTerminal::kEnd;  // the type of the last token
};

// Which kind of name a text is: `like_this` or `LIKE_THIS`, of at most kLongestLarkName characters.
enum class LarkName : uint8_t { kNone, kRule, kTerminal };
inline constexpr size_t kLongestLarkName = 200;  // names are repeated in messages
LarkName lark_name(std::u32string_view text);

}  // namespace cfgmask
