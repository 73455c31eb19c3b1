#include "lark/statements.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>

namespace cfgmask {

namespace {

using enum LarkTerminal;

bool is_opening(LarkTerminal type) { return type == kLpar || type == kLsqb || type == kLbrace; }
bool is_closing(LarkTerminal type) { return type == kRpar || type == kRsqb || type == kRbrace; }
bool goes_on(LarkTerminal type) { return type == kVbar || type == kAmpersand || type == kArrow || type == kIf; }
bool is_modifier(LarkTerminal type) { return type == kQuestion || type == kBang; }
bool is_options(LarkTerminal type) { return type == kCfgmask || type == kLlguidance || type == kGrammarOptions; }
bool has_block(LarkTerminal type) { return is_options(type) || type == kJson || type == kRegex || type == kLark; }
bool begins_statement(LarkTerminal type) {
  return is_options(type) || type == kIgnore || type == kImport || type == kDeclare || type == kOverride ||
         type == kExtend || type == kUnknownDirective;
}

// Behind the string in JSON whose quote is at `start`; nullopt where it does not end.
std::optional<size_t> behind_json_string(std::u32string_view text, size_t start) {
  for (size_t at = start + 1; at < text.size() && text[at] >= U' '; ++at) {
    if (text[at] == U'"') return at + 1;
    if (text[at] == U'\\' && at + 1 < text.size() && text[at + 1] >= U' ') ++at;
  }
  return std::nullopt;
}

// Whether JSON has it between strings and brackets.
bool is_in_json(char32_t c) {
  return (c >= U'0' && c <= U'9') || (c >= U'a' && c <= U'z') || (c >= U'A' && c <= U'Z') ||
         std::u32string_view(U" \t\r\n,:+-.").find(c) != std::u32string_view::npos;
}

// Behind the object in JSON that begins at `start`, as far as its brackets and strings can tell; nullopt where it is
// not closed or has something in it that JSON has not.
std::optional<uint32_t> behind_json(std::u32string_view text, uint32_t start) {
  std::u32string closers;  // of the open brackets
  for (size_t at = start; at < text.size(); ++at) {
    const char32_t c = text[at];
    if (c == U'"') {
      const auto behind = behind_json_string(text, at);
      if (!behind) return std::nullopt;
      at = *behind - 1;
    } else if (c == U'{' || c == U'[') {
      closers.push_back(c == U'{' ? U'}' : U']');
    } else if (c == U'}' || c == U']') {
      if (closers.back() != c) return std::nullopt;
      closers.pop_back();
      if (closers.empty()) return static_cast<uint32_t>(at + 1);
    } else if (!is_in_json(c)) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

class Cutter {
 public:
  Cutter(std::u32string_view text, const CharacterKinds& kinds, uint64_t max_tokens, uint64_t max_nesting)
      : text_(text), lexer_(text, kinds), n_tokens_left_(max_tokens), max_nesting_(max_nesting) {}

  LarkStatements run() {
    while (peek() != kEnd && statement()) {
    }
    return std::move(found_);
  }

 private:
  using Kind = LarkLexicalProblem::Kind;

  // Reads one statement, which may be none where there is only a line break or an error. False if a limit ends it all.
  bool statement() {
    const auto first = static_cast<uint32_t>(found_.tokens.size());
    bool broken = false;
    const bool goes_on = read(broken);
    const auto size = static_cast<uint32_t>(found_.tokens.size() - first);
    if (size > 0) found_.statements.push_back({first, size, broken});
    return goes_on;
  }

  bool read(bool& broken) {
    brackets_.clear();
    for (;;) {
      const LarkToken token = next();
      switch (token.type) {
        case kEnd:
          if (!brackets_.empty()) {
            broken = true;
            report_unclosed(brackets_.back(), std::nullopt);
          }
          return true;
        case kNewline:
          if (brackets_.empty()) {
            if (!cfgmask::goes_on(peek())) return true;
          } else if (starts_statement()) {
            broken = true;
            report_unclosed(brackets_.back(), token.end);
            return true;
          }
          continue;
        case kUnreadable:
          broken = true;
          report_unreadable(token);
          skip_to_statement();
          return true;
        default:
          break;
      }
      if (!track(token) || !add(token)) return false;
      if (has_block(token.type) && !read_block(token.type, broken)) return false;
    }
  }

  // Behind the keyword of a block. False if a limit ends it all.
  bool read_block(LarkTerminal keyword, bool& broken) {
    while (peek() == kNewline) next();
    // `{3}` is a count to the lexer.
    if (peek() == kCount) {
      const LarkToken count = next();
      return add(text_[count.start] == U'{' ? LarkToken{kBlock, count.start, count.end} : count);
    }
    if (peek() != kLbrace) return true;
    const LarkToken opening = next();
    const auto after = keyword == kLark ? std::nullopt : behind_json(text_, opening.start);
    if (after) {
      n_ahead_ = 0;
      lexer_.go_on_at(*after);
      return add({kBlock, opening.start, *after});
    }
    const size_t n_around = brackets_.size();
    brackets_.push_back(opening);
    uint32_t end = opening.end;
    while (brackets_.size() > n_around) {
      const LarkToken token = next();
      if (!count()) return false;
      if (token.type == kEnd) {
        broken = true;
        report_unclosed(opening, std::nullopt);
        brackets_.resize(n_around);
        return true;
      }
      if (token.type == kUnreadable) {
        broken = true;
        report_unreadable(token);
      }
      if (!track(token)) return false;
      end = token.end;
    }
    return add({kBlock, opening.start, end});
  }

  // Keeps the stack of open brackets. A closing one of the wrong kind is left to the parser.
  bool track(const LarkToken& token) {
    if (is_opening(token.type)) {
      brackets_.push_back(token);
      if (brackets_.size() > max_nesting_) {
        found_.problems.push_back({Kind::kTooDeep, token});
        return false;
      }
    } else if (is_closing(token.type) && !brackets_.empty()) {
      brackets_.pop_back();
    }
    return true;
  }

  bool add(const LarkToken& token) {
    if (!count()) return false;
    found_.tokens.push_back(token);
    return true;
  }

  bool count() {
    if (n_tokens_left_ == 0) {
      found_.problems.push_back({Kind::kTooManyTokens, {kEnd, 0, 0}});
      return false;
    }
    --n_tokens_left_;
    return true;
  }

  void report_unreadable(const LarkToken& token) { found_.problems.push_back({Kind::kUnreadable, token}); }

  void report_unclosed(const LarkToken& opening, std::optional<uint32_t> next_begins) {
    found_.problems.push_back({Kind::kUnclosed, opening, next_begins});
  }

  void skip_to_statement() {
    while (peek() != kEnd) {
      const LarkToken token = next();
      if (token.type == kUnreadable) report_unreadable(token);
      if (token.type == kNewline && starts_statement()) return;
    }
  }

  // Whether what comes looks like the beginning of a statement: `name:`, `?name:`, `%ignore`.
  bool starts_statement() {
    if (begins_statement(peek())) return true;
    size_t index = 0;
    while (index < 2 && is_modifier(peek(index))) ++index;
    return peek(index) == kName && peek(index + 1) == kColon;
  }

  LarkToken next() {
    peek();
    const LarkToken token = ahead_[0];
    std::shift_left(ahead_.begin(), ahead_.begin() + n_ahead_, 1);
    --n_ahead_;
    return token;
  }

  // The type of the token that `index` calls of `next` would skip.
  LarkTerminal peek(size_t index = 0) {
    while (static_cast<size_t>(n_ahead_) <= index) ahead_[static_cast<size_t>(n_ahead_++)] = lexer_.next();
    return ahead_[index].type;
  }

  std::u32string_view text_;
  LarkLexer lexer_;
  std::array<LarkToken, 4> ahead_{};
  std::ptrdiff_t n_ahead_ = 0;
  std::vector<LarkToken> brackets_;  // open ones
  LarkStatements found_;
  uint64_t n_tokens_left_;
  uint64_t max_nesting_;
};

}  // namespace

LarkStatements cut_lark(std::u32string_view text, const CharacterKinds& kinds, uint64_t max_tokens,
                        uint64_t max_nesting) {
  return Cutter(text, kinds, max_tokens, max_nesting).run();
}

}  // namespace cfgmask
