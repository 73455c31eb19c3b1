#include "lark/lexer.h"

#include <algorithm>

#include "util/ascii.h"
#include "util/pause.h"

namespace cfgmask {

namespace {

constexpr char32_t kAscii = 0x80;
constexpr char32_t kByteOrderMark = 0xFEFF;

}  // namespace

LarkToken LarkLexer::next() {
  for (;;) {
    Pause::tick();
    const uint32_t start = behind_blanks(place_);
    if (start == size()) {
      place_ = start;
      return {LarkTerminal::kEnd, start, start};
    }
    const LarkToken token = read(start);
    place_ = token.end;
    if (token.type == LarkTerminal::kBlank) continue;
    if (token.type == LarkTerminal::kNewline && before_ == LarkTerminal::kNewline) continue;
    before_ = token.type;
    if (token.type == LarkTerminal::kUnreadable) {
      place_ = static_cast<uint32_t>(std::min(text_.find(U'\n', token.end), text_.size()));
    }
    return token;
  }
}

void LarkLexer::go_on_at(uint32_t place) {
  place_ = place;
  before_ = LarkTerminal::kEnd;
}

LarkToken LarkLexer::read(uint32_t start) const {
  using enum LarkTerminal;
  const auto one = [&](LarkTerminal type) { return LarkToken{type, start, start + 1}; };
  const auto two = [&](LarkTerminal type) { return LarkToken{type, start, start + 2}; };
  const auto up_to = [&](LarkTerminal type, uint32_t end) { return LarkToken{type, start, end}; };
  // What may be of a longer type, or else of that of its one character.
  const auto either = [&](LarkTerminal type, uint32_t end, LarkTerminal otherwise) {
    return end > start ? up_to(type, end) : one(otherwise);
  };
  const auto comment = [&] {
    return up_to(kBlank, static_cast<uint32_t>(std::min(text_.find(U'\n', start), text_.size())));
  };
  const char32_t c = text_[start], after = char_at(start + 1);
  switch (c) {
    case U'"':
      return either(kString, end_of_string(start), kUnreadable);
    case U'|':
      return one(kVbar);
    case U':':
      return after == U':' ? two(kDoubleColon) : one(kColon);
    case U'(':
      return one(kLpar);
    case U')':
      return one(kRpar);
    case U'[':
      return one(kLsqb);
    case U']':
      return one(kRsqb);
    case U'}':
      return one(kRbrace);
    case U',':
      return one(kComma);
    case U'?':
      return one(kQuestion);
    case U'*':
      return one(kRepeater);
    case U'!':
      return one(kBang);
    case U'=':
      return one(kEqual);
    case U'&':
      return one(kAmpersand);
    case U'.':
      return after == U'.' ? two(kDoubleDot) : one(kDot);
    case U'+':
      return either(kNumber, end_of_number(start), kRepeater);
    case U'-':
      return after == U'>' ? two(kArrow) : either(kNumber, end_of_number(start), kUnreadable);
    case U'{':
      return either(kCount, end_of_braced_count(start), kLbrace);
    case U'~':
      return either(kCount, end_of_tilde_count(start), kTilde);
    case U'/':
      return after == U'/' ? comment() : either(kRegexp, end_of_regexp(start), kUnreadable);
    case U'#':
      return comment();
    case U'<':
      return either(kSpecialTokens, end_of_special_tokens(start), kUnreadable);
    case U'@':
    case U'%': {
      uint32_t end = start + 1;
      while (is_word(end) || (c == U'@' && char_at(end) == U'-')) ++end;
      if (c == U'%') return up_to(keyword(start, end), end);
      return end > start + 1 ? up_to(kSubgrammar, end) : one(kUnreadable);
    }
    case U'\\': {
      uint32_t end = start + 1;
      while (char_at(end) == U' ' || char_at(end) == U'\t' || char_at(end) == U'\r') ++end;
      return char_at(end) == U'\n' ? up_to(kBlank, end + 1) : one(kUnreadable);
    }
    case U'\n': {
      uint32_t end = start + 1;
      while (is_space(end)) ++end;
      return up_to(kNewline, end);
    }
    case U'\f':
    case U'\r':
    case kByteOrderMark:
      return one(kBlank);
    default:
      break;
  }
  if (is_digit(start)) return up_to(kNumber, end_of_number(start));
  const uint32_t end = end_of_name(start);
  if (end == start) return one(kUnreadable);
  return up_to(c == U'_' && end == start + 1 ? kSelf : kName, end);
}

LarkTerminal LarkLexer::keyword(uint32_t start, uint32_t end) const {
  const auto word = text_.substr(start, end - start);
  const auto* const found = std::find_if(kLarkKeywords.begin(), kLarkKeywords.end(),
                                         [&](const LarkKeyword& known) { return known.text == word; });
  return found == kLarkKeywords.end() ? LarkTerminal::kUnknownDirective : found->terminal;
}

uint32_t LarkLexer::end_of_name(uint32_t at) const {
  if (!is_word(at) || is_digit(at)) return at;
  uint32_t end = at + 1;
  // A hyphen before `>` belongs to an arrow.
  while (is_word(end) || (char_at(end) == U'-' && char_at(end + 1) != U'>')) ++end;
  return end;
}

uint32_t LarkLexer::end_of_string(uint32_t at) const {
  for (uint32_t end = at + 1; end < size() && text_[end] != U'\n'; ++end) {
    if (text_[end] == U'"') return end + 1 + (char_at(end + 1) == U'i');
    if (text_[end] == U'\\' && char_at(end + 1) != U'\n') ++end;
  }
  return at;
}

uint32_t LarkLexer::end_of_regexp(uint32_t at) const {
  // Over several lines only with the flag x, so that a stray slash does not swallow what follows.
  bool has_lines = false;
  for (uint32_t end = at + 1; end < size(); ++end) {
    if (text_[end] == U'/') {
      const uint32_t flags = end + 1;
      end = behind_flags(flags);
      const bool is_extended = text_.substr(flags, end - flags).find(U'x') != std::u32string_view::npos;
      return !has_lines || is_extended ? end : at;
    }
    if (text_[end] == U'\\') ++end;
    has_lines |= char_at(end) == U'\n';
  }
  return at;
}

uint32_t LarkLexer::end_of_number(uint32_t at) const {
  const char32_t first = text_[at];
  if (first == U'0' && (char_at(at + 1) == U'x' || char_at(at + 1) == U'X') && is_hex_digit(char_at(at + 2))) {
    uint32_t end = at + 3;
    while (is_hex_digit(char_at(end))) ++end;
    return end;
  }
  const uint32_t begin = at + (first == U'+' || first == U'-');
  uint32_t end = behind_digits(begin);
  if (end == begin) return at;
  if (char_at(end) == U'.' && is_digit(end + 1)) end = behind_digits(end + 1);
  if (char_at(end) == U'e' || char_at(end) == U'E') {
    const uint32_t exponent = end + 1 + (char_at(end + 1) == U'+' || char_at(end + 1) == U'-');
    if (is_digit(exponent)) end = behind_digits(exponent);
  }
  return end;
}

uint32_t LarkLexer::end_of_braced_count(uint32_t at) const {
  const uint32_t begin = behind_blanks(at + 1);
  uint32_t end = behind_digits(begin);
  const bool has_minimum = end > begin;
  end = behind_blanks(end);
  if (char_at(end) == U',') {
    end = behind_blanks(behind_digits(behind_blanks(end + 1)));
  } else if (!has_minimum) {
    return at;
  }
  return char_at(end) == U'}' ? end + 1 : at;
}

uint32_t LarkLexer::end_of_tilde_count(uint32_t at) const {
  // The end of a number with its sign; `place` where there is none.
  const auto end_of_bound = [&](uint32_t place) {
    const uint32_t digits = place + (char_at(place) == U'+' || char_at(place) == U'-');
    return is_digit(digits) ? behind_digits(digits) : place;
  };
  const uint32_t begin = behind_blanks(at + 1);
  const uint32_t end = end_of_bound(begin);
  if (end == begin) return at;
  const uint32_t dots = behind_blanks(end);
  if (char_at(dots) != U'.' || char_at(dots + 1) != U'.') return end;
  const uint32_t second = behind_blanks(dots + 2);
  const uint32_t both = end_of_bound(second);
  return both > second ? both : end;
}

uint32_t LarkLexer::end_of_special_tokens(uint32_t at) const {
  uint32_t end = at + 1;
  if (char_at(end) == U'[') {
    while (end < size() && text_[end] != U']' && text_[end] != U'\n') ++end;
    return char_at(end) == U']' && char_at(end + 1) == U'>' ? end + 2 : at;
  }
  while (end < size() && text_[end] != U'<' && text_[end] != U'>' && !is_space(end)) ++end;
  return char_at(end) == U'>' && end > at + 1 ? end + 1 : at;
}

bool LarkLexer::is_word(uint32_t at) const {
  const char32_t c = char_at(at);
  if (c < kAscii) return is_ascii_lower(c) || is_ascii_upper(c) || is_ascii_digit(c) || c == U'_';
  return kinds_.is_word(c);
}

bool LarkLexer::is_digit(uint32_t at) const {
  const char32_t c = char_at(at);
  return c < kAscii ? is_ascii_digit(c) : kinds_.is_digit(c);
}

bool LarkLexer::is_space(uint32_t at) const {
  const char32_t c = char_at(at);
  if (c < kAscii) return c == U' ' || (c >= U'\t' && c <= U'\r') || (c >= 0x1C && c <= 0x1F);
  return kinds_.is_space(c);
}

uint32_t LarkLexer::behind_digits(uint32_t at) const {
  while (is_digit(at)) ++at;
  return at;
}

uint32_t LarkLexer::behind_blanks(uint32_t at) const {
  while (char_at(at) == U' ' || char_at(at) == U'\t') ++at;
  return at;
}

uint32_t LarkLexer::behind_flags(uint32_t at) const {
  while (std::u32string_view(U"imslux").find(char_at(at)) != std::u32string_view::npos) ++at;
  return at;
}

LarkName lark_name(std::u32string_view text) {
  if (text.size() > kLongestLarkName) return LarkName::kNone;
  const size_t first = text.find_first_not_of(U'_');
  if (first == std::u32string_view::npos) return LarkName::kNone;
  const bool is_rule = is_ascii_lower(text[first]);
  if (!is_rule && !is_ascii_upper(text[first])) return LarkName::kNone;
  const bool is_good = std::all_of(text.begin() + static_cast<std::ptrdiff_t>(first), text.end(), [&](char32_t c) {
    return (is_rule ? is_ascii_lower(c) : is_ascii_upper(c)) || is_ascii_digit(c) || c == U'_' || c == U'-';
  });
  if (!is_good) return LarkName::kNone;
  return is_rule ? LarkName::kRule : LarkName::kTerminal;
}

}  // namespace cfgmask
