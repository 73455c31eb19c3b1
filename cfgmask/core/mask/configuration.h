// One way to read the text so far: where the parser is, and where the lexer is inside the lexeme that follows.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "earley/parser.h"
#include "lexer/lexer.h"
#include "mask/surroundings.h"

namespace cfgmask {

struct Configuration {
  ItemSetId items;
  LexerStateId lexer;
  TextId text;  // of the lexeme so far, where its value will count
  SurroundingsId around;
  friend auto operator<=>(const Configuration&, const Configuration&) = default;
};

// The parser where a text may end, or where the next lexeme begins.
struct Boundary {
  ItemSetId items;
  SurroundingsId around;
  friend auto operator<=>(const Boundary&, const Boundary&) = default;
};

// Where the parser is after a lexeme of these slots.
struct Ended {
  SlotSetId matched;
  Boundary to;
};

// The steps of a configuration, by the rules of docs/semantics.md. One place for both lexer modes.
class Stepper {
 public:
  Stepper(const Grammar& grammar, Parser& parser, RegexStore& regexes, Lexer& lexer, Surroundings& surroundings)
      : has_conditions_(grammar.has_conditions),
        complete_(grammar.complete),
        parser_(parser),
        regexes_(regexes),
        lexer_(lexer),
        surroundings_(surroundings) {}

  Configuration at_boundary(Boundary at) {
    const ItemSet& set = parser_.at(at.items);
    const LexerStateId start = set.asks_before ? lexer_start(at) : set.start;
    return {at.items, start, set.tracks ? SeenValues::empty_text() : SeenValues::no_text(), at.around};
  }
  // The text of a lexeme after one more byte.
  TextId longer(TextId text, unsigned b) {
    return text == SeenValues::no_text() ? text : parser_.seen_values().append(text, b);
  }

  // lexer: longest, of a grammar without conditions. The only successor, if there is one. A lexeme that cannot go on is
  // finished at once, so that a text has one configuration whether or not a byte follows it.
  std::optional<Configuration> longest(Configuration at, unsigned b) {
    LexerStateId next = lexer_.next(at.lexer, b);
    if (next == Lexer::dead()) {
      const SlotSetId matched = lexer_.matched(at.lexer);
      if (matched == Lexer::no_slots()) return std::nullopt;
      at = at_boundary({parser_.scan(at.items, matched, at.text), at.around});
      next = lexer_.next(at.lexer, b);
      if (next == Lexer::dead()) return std::nullopt;
    }
    const TextId text = longer(at.text, b);
    if (!lexer_.can_continue(next)) {
      return at_boundary({parser_.scan(at.items, lexer_.matched(next), text), at.around});
    }
    return Configuration{at.items, next, text, at.around};
  }

  // lexer: longest, of any grammar: appends the successors that are open.
  void longest(Configuration at, unsigned b, std::vector<Configuration>& out);
  // The same for those who ask for the lexemes that end on the way. `place` is what the caller knows of where the
  // lexeme of `at` began; end(place, lexeme, ended, with_byte) gives that of the next one, where `with_byte` tells
  // whether b is the last of the lexeme; out(configuration, place) takes a successor.
  template <class Place, class End, class Out>
  void longest(Configuration at, Place place, unsigned b, End end, Out out);
  // lexer: complete, of one configuration: inside of the lexeme after b, if it may go on, and every way to end it.
  std::optional<Configuration> complete(Configuration at, unsigned b, std::vector<Ended>& ended);
  // Where a token ends, if it may end here: out(configuration, place of its lexeme if that is a new one). A lexeme that
  // has no tokens left is finished at once; with every segmentation it has ended already, in another configuration.
  template <class End, class Out>
  void end_token(Configuration at, End end, Out out) {
    const LexerStateId next = lexer_.end_token(at.lexer);
    if (next == Lexer::dead()) return;
    const Configuration after{at.items, next, at.text, at.around};
    if (next == at.lexer || lexer_.can_continue(next)) return out(after, std::nullopt);
    if (complete_) return;
    for (const Ended& ended : end_lexeme(after)) out(at_boundary(ended.to), end(after, ended));
  }

  // lexer: complete. The configurations after b, of all those before it. Every lexeme that may end here leads to one
  // item set, their union, for each surroundings: kept apart, ambiguous texts would have as many configurations as
  // readings.
  std::vector<Configuration> complete(std::span<const Configuration> all, unsigned b);

  // Appends where the parser is if the text ends a lexeme here: at a boundary, or where the pending lexeme is complete.
  // (With every segmentation, such a lexeme has ended already, at a boundary of the same state.)
  void ends(Configuration at, std::vector<Boundary>& out);
  // lexer: longest. Where the parser is if the pending lexeme ends here.
  std::vector<Ended> end_lexeme(Configuration at);

  // Whether conditions leave a way on, as far as the next character can tell; true without conditions.
  bool is_open(Configuration at) { return !has_conditions_ || is_open(at, kBytesAhead); }
  // Whether no condition says anything about what comes inside of the lexeme.
  bool is_inside(Configuration at) const {
    return !lexer_.is_boundary(at.lexer) && !surroundings_.is_pending(at.around);
  }
  size_t bytes() const { return starts_.bytes() + open_ids_.bytes() + open_.bytes(); }
  bool may_end(Boundary at) const { return parser_.at(at.items).accepting() && surroundings_.may_end(at.around); }

 private:
  // A character has no more.
  static constexpr uint32_t kBytesAhead = 4;

  LexerStateId lexer_start(Boundary at);
  bool goes_on(LexerStateId state);
  template <class Place, class End, class Out>
  void step_longest(Configuration at, Place place, unsigned b, End end, Out out);
  template <class Place, class End, class Out>
  void take(Configuration at, Place place, LexerStateId next, unsigned b, End end, Out out);
  void step_longest(Configuration at, unsigned b, std::vector<Configuration>& out);
  std::vector<Configuration> step_complete(std::span<const Configuration> all, unsigned b);
  std::vector<Ended> end_by_conditions(Configuration at, Words matched);
  bool is_open(Configuration at, uint32_t bytes_ahead);
  bool is_settled(Configuration at);
  bool goes_further(Configuration at, uint32_t bytes_ahead);

  bool has_conditions_;
  bool complete_;
  Parser& parser_;
  RegexStore& regexes_;
  Lexer& lexer_;
  Surroundings& surroundings_;
  HashTable starts_;   // (item set, conditions that hold) -> lexer state
  Interner open_ids_;  // words of a configuration and how far to look
  ChunkedVector<bool> open_;
};

template <class Place, class End, class Out>
void Stepper::longest(Configuration at, Place place, unsigned b, End end, Out out) {
  step_longest(at, place, b, end, [&](Configuration next, Place where) {
    if (is_open(next)) out(next, where);
  });
}

template <class Place, class End, class Out>
void Stepper::step_longest(Configuration at, Place place, unsigned b, End end, Out out) {
  const LexerStateId next = lexer_.next(at.lexer, b);
  if (next != Lexer::dead()) return take(at, place, next, b, end, out);
  if (lexer_.is_boundary(at.lexer)) return;
  for (const Ended& ended : end_lexeme(at)) {
    const Configuration begun = at_boundary(ended.to);
    const LexerStateId first = lexer_.next(begun.lexer, b);
    if (first != Lexer::dead()) take(begun, end(place, at, ended, false), first, b, end, out);
  }
}

// The lexer takes b, which leads it to `next`.
template <class Place, class End, class Out>
void Stepper::take(Configuration at, Place place, LexerStateId next, unsigned b, End end, Out out) {
  const auto around = has_conditions_ ? surroundings_.next(at.around, b) : at.around;
  if (!around) return;
  const Configuration inside{at.items, next, longer(at.text, b), *around};
  if (has_conditions_ ? goes_on(next) : lexer_.can_continue(next)) return out(inside, place);
  for (const Ended& ended : end_lexeme(inside)) out(at_boundary(ended.to), end(place, inside, ended, true));
}

}  // namespace cfgmask
