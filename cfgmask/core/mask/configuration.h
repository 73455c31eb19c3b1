// One way to read the text so far: where the parser is, and where the lexer is inside the lexeme that follows.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "earley/parser.h"
#include "lexer/lexer.h"

namespace cfgmask {

struct Configuration {
  ItemSetId items;
  LexerStateId lexer;
  TextId text;  // of the lexeme so far, where its value will count
  friend auto operator<=>(const Configuration&, const Configuration&) = default;
};

// A lexeme that a step has ended, for those who ask.
struct EndedLexeme {
  SlotSetId matched;
  TextId text;
  ItemSetId to;
  bool with_byte;  // the byte of the step is its last
};

// The steps of a configuration, by the rules of docs/semantics.md. One place for both lexer modes.
class Stepper {
 public:
  // Lexemes that end are appended to `log`, if there is one.
  Stepper(Parser& parser, Lexer& lexer, std::vector<EndedLexeme>* log = nullptr)
      : parser_(parser), lexer_(lexer), log_(log) {}

  Configuration at_boundary(ItemSetId items) const {
    const ItemSet& set = parser_.at(items);
    return {items, set.start, set.tracks ? SeenValues::empty_text() : SeenValues::no_text()};
  }
  // The text of a lexeme after one more byte.
  TextId longer(TextId text, unsigned b) {
    return text == SeenValues::no_text() ? text : parser_.seen_values().append(text, b);
  }

  // lexer: longest. The only successor, if there is one. A lexeme that cannot go on is finished at once, so that a text
  // has one configuration whether or not a byte follows it.
  std::optional<Configuration> longest(Configuration at, unsigned b) {
    LexerStateId next = lexer_.next(at.lexer, b);
    if (next == Lexer::dead()) {
      const SlotSetId matched = lexer_.matched(at.lexer);
      if (matched == Lexer::no_slots()) return std::nullopt;
      at = at_boundary(end_lexeme(at.items, matched, at.text, false));
      next = lexer_.next(at.lexer, b);
      if (next == Lexer::dead()) return std::nullopt;
    }
    const TextId text = longer(at.text, b);
    if (!lexer_.can_continue(next)) return at_boundary(end_lexeme(at.items, lexer_.matched(next), text, true));
    return Configuration{at.items, next, text};
  }

  // lexer: complete. Appends every way to go on inside a lexeme to `out`, and to `ends` the item sets of lexemes that
  // may end after b.
  void complete(Configuration at, unsigned b, std::vector<Configuration>& out, std::vector<ItemSetId>& ends) {
    const LexerStateId next = lexer_.next(at.lexer, b);
    if (next == Lexer::dead()) return;
    const TextId text = longer(at.text, b);
    if (lexer_.can_continue(next)) out.push_back({at.items, next, text});
    const SlotSetId matched = lexer_.matched(next);
    if (matched != Lexer::no_slots()) ends.push_back(end_lexeme(at.items, matched, text, true));
  }

  // The item set if the text ends a lexeme here: at a boundary, or where the pending lexeme is complete.
  std::optional<ItemSetId> item_set_at_end(Configuration at) {
    if (lexer_.is_boundary(at.lexer)) return at.items;
    const SlotSetId matched = lexer_.matched(at.lexer);
    if (matched == Lexer::no_slots()) return std::nullopt;
    return end_lexeme(at.items, matched, at.text, false);
  }

 private:
  ItemSetId end_lexeme(ItemSetId items, SlotSetId matched, TextId text, bool with_byte) {
    const ItemSetId to = parser_.scan(items, matched, text);
    if (log_ != nullptr) log_->push_back({matched, text, to, with_byte});
    return to;
  }

  Parser& parser_;
  Lexer& lexer_;
  std::vector<EndedLexeme>* log_;
};

}  // namespace cfgmask
