// One way to read the text so far: where the parser is, and where the lexer is inside the lexeme that follows.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "earley/parser.h"
#include "lexer/lexer.h"
#include "mask/indentation.h"
#include "mask/surroundings.h"

namespace cfgmask {

struct Configuration {
  ItemSetId items;
  LexerStateId lexer;
  TextId text;  // of the lexeme so far, where its value will count
  SurroundingsId around;
  IndentationId indentation;
  uint32_t clock;  // see earley/deadlines.cc
  friend auto operator<=>(const Configuration&, const Configuration&) = default;
};

// The parser where a text may end, or where the next lexeme begins.
struct Boundary {
  ItemSetId items;
  SurroundingsId around;
  IndentationId indentation;
  friend auto operator<=>(const Boundary&, const Boundary&) = default;
};

// Where the parser is after a lexeme of these slots.
struct Ended {
  SlotSetId matched;
  Boundary to;
  // What an indenter put behind it, and where the parser was before that.
  ItemSetId scanned;
  uint32_t token = kIndent;
  uint32_t n_tokens = 0;
};

// The steps of a configuration, by the rules of docs/semantics.md. One place for both lexer modes.
class Stepper {
 public:
  Stepper(const Grammar& grammar, Parser& parser, RegexStore& regexes, Lexer& lexer, Surroundings& surroundings,
          Indentation& indentation)
      : has_conditions_(grammar.has_conditions),
        has_befores_(!grammar.befores.empty()),
        has_context_(grammar.has_context()),
        only_counts_(grammar.counts_tokens() && !grammar.has_conditions && !grammar.indenter),
        has_indenter_(grammar.indenter.has_value()),
        has_deadlines_(grammar.has_deadlines),
        counts_tokens_(grammar.counts_tokens()),
        complete_(grammar.complete),
        parser_(parser),
        regexes_(regexes),
        lexer_(lexer),
        surroundings_(surroundings),
        indentation_(indentation) {}

  Configuration at_boundary(Boundary at) {
    const ItemSet& set = parser_.at(at.items);
    const LexerStateId start = set.asks_before || set.asks_lines ? lexer_start(at) : set.start;
    const TextId text = set.tracks ? DistinctRegister::empty_text() : DistinctRegister::no_text();
    return {at.items, start, text, at.around, at.indentation, set.clock};
  }
  // The text of a lexeme after one more byte.
  TextId longer(TextId text, unsigned b) {
    return text == DistinctRegister::no_text() ? text : parser_.distinct_register().append(text, b);
  }
  // The same where that leads to `next`: what it may still be is often nothing whose text counts.
  TextId longer(const Configuration& at, LexerStateId next, unsigned b) {
    if (at.text == DistinctRegister::no_text()) return at.text;
    const ItemSet& set = parser_.at(at.items);
    const Words live = lexer_.residuals(next);
    for (size_t i = 0; i < live.size(); i += 2) {
      if (set.slot(live[i]).tracks) return longer(at.text, b);
    }
    return DistinctRegister::no_text();
  }

  // lexer: longest, of a grammar without context. The only successor, if there is one. A lexeme that cannot go on is
  // finished at once, so that a text has one configuration whether or not a byte follows it.
  std::optional<Configuration> longest(Configuration at, unsigned b) {
    return longest(at, b, [](const Configuration&, SlotSetId matched, bool) { return matched; });
  }
  // The same with a say in which lexemes end: end(lexeme, matched, with_byte) gives the slots of those matched that the
  // parser is handed, where `with_byte` tells whether b is the last of the lexeme.
  template <class End>
  std::optional<Configuration> longest(Configuration at, unsigned b, End end) {
    LexerStateId next = lexer_.next(at.lexer, b);
    if (next == Lexer::dead()) {
      SlotSetId matched = lexer_.matched(at.lexer);
      if (matched != Lexer::no_slots()) matched = end(at, matched, false);
      if (matched == Lexer::no_slots()) return std::nullopt;
      at = at_boundary({parser_.scan(at.items, matched, at.text, 0), at.around, at.indentation});
      next = lexer_.next(at.lexer, b);
      if (next == Lexer::dead()) return std::nullopt;
    }
    const TextId text = longer(at, next, b);
    if (!lexer_.can_continue(next)) {
      const Configuration lexeme{at.items, next, text, at.around, at.indentation, 0};
      const SlotSetId matched = end(lexeme, lexer_.matched(next), true);
      if (matched == Lexer::no_slots()) return std::nullopt;
      return at_boundary({parser_.scan(at.items, matched, text, 0), at.around, at.indentation});
    }
    return Configuration{at.items, next, text, at.around, at.indentation, 0};
  }

  // lexer: longest, of a grammar without context. Moves on by the bytes with which the lexeme goes on, or begins, and
  // does not end; how many. None where its text counts.
  // Cost: linear. Each byte of a string that does not fit as a whole was once asked about with all that follow it.
  size_t go_on(Configuration& at, std::string_view text) {
    if (at.text != DistinctRegister::no_text()) return 0;
    size_t n = 0;
    size_t most = text.size();  // bytes to skip at once; halved each time that fails, until a quote
    for (; n < text.size(); ++n) {
      const auto b = static_cast<uint8_t>(text[n]);
      if (b == '"') most = text.size();
      if (!lexer_.knows(at.lexer, b)) n += skip(at, text.substr(n), most);
      if (n == text.size()) break;
      const LexerStateId next = lexer_.next(at.lexer, static_cast<uint8_t>(text[n]));
      if (next != at.lexer && (next == Lexer::dead() || !lexer_.can_continue(next))) break;
      at.lexer = next;
    }
    return n;
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
  // At a boundary before deadlines, end is asked for the place of the same one at its new time. What tokens take away
  // may leave only terminals that conditions rule out, so both are looked at again.
  template <class End, class Out>
  void end_token(Configuration at, End end, Out out) {
    if (lexer_.is_boundary(at.lexer)) {
      const ItemSetId items = parser_.end_token(at.items);
      if (items == at.items) return out(at, std::nullopt);
      const Configuration after = at_boundary({items, at.around, at.indentation});
      if (!is_open(after)) return;
      return out(after, end(after, Ended{Lexer::no_slots(), {items, at.around, at.indentation}, items}));
    }
    if (!counts_tokens(at)) return out(at, std::nullopt);
    const uint32_t clock = at.clock + 1;
    const std::vector<uint32_t> left = parser_.after_token(at.items, clock, lexer_.residuals(at.lexer));
    if (left.empty()) return;
    const Configuration after{at.items, lexer_.inside(left), at.text, at.around, at.indentation, clock};
    if (lexer_.can_continue(after.lexer)) return out(after, std::nullopt);
    if (complete_) return;
    for (const Ended& ended : end_lexeme(after)) {
      const Configuration next = at_boundary(ended.to);
      if (is_open(next)) out(next, end(after, ended));
    }
  }
  // Where a token has ended: whether everything that has a deadline can be closed before it.
  bool fits(Configuration at) { return !has_deadlines_ || closes_in_time(at); }
  // Whether a token may end here. Cost: with deadlines, linear in what may come.
  bool may_end_token(Configuration at) {
    if (!counts_tokens_) return true;
    bool may_end = false;
    end_token(
        at, [](const Configuration&, const Ended&) { return 0U; },
        [&](const Configuration& after, std::optional<uint32_t>) { may_end = may_end || fits(after); });
    return may_end;
  }
  // Whether it matters where tokens end.
  bool counts_tokens() const { return counts_tokens_; }
  // Whether where a token ends says something of what may come.
  bool counts_tokens(Configuration at) const {
    if (!counts_tokens_) return false;
    const ItemSet& set = parser_.at(at.items);
    return set.has_deadlines || set.has_limits;
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
  // Whether nothing around it says anything about what comes inside of the lexeme but for line feeds.
  bool is_inside(Configuration at) const {
    return !lexer_.is_boundary(at.lexer) && !surroundings_.is_pending(at.around) &&
           !indentation_.has_width(at.indentation);
  }
  // Whether line feeds inside of the lexeme count.
  bool counts_lines(Configuration at) const {
    return has_indenter_ && !indentation_.in_brackets(at.indentation) && has_newline(at.items, at.lexer);
  }
  // Whether the lexer alone decides what may come, as long as the lexeme goes on that is pending or comes next, but for
  // where tokens end; and the same but for newlines.
  bool is_up_to_lexer(Configuration at) const { return is_up_to_lexer_but_for_lines(at) && !counts_lines(at); }
  bool is_up_to_lexer_but_for_lines(Configuration at) const {
    return !surroundings_.is_pending(at.around) && !indentation_.has_width(at.indentation) &&
           at.text == DistinctRegister::no_text();
  }
  // The bytes that a newline may go on with or begin with, if its width counts.
  ByteSet line_bytes(Configuration at) const {
    if (!counts_lines(at)) return {};
    const uint32_t newline = parser_.at(at.items).newline_slot;
    const Words live = lexer_.residuals(at.lexer);
    for (size_t i = 0; i < live.size(); i += 2) {
      if (live[i] == newline) return regexes_.first(RegexId(live[i + 1]));
    }
    return {};
  }
  bool is_at_boundary(Configuration at) const { return lexer_.is_boundary(at.lexer); }
  // A superset of the bytes that the lexeme may go on with.
  const ByteSet& first(Configuration at) const { return lexer_.first(at.lexer); }
  // A superset of the bytes that may come: where the lexeme may end, any.
  ByteSet may_take(Configuration at) const {
    return lexer_.matched(at.lexer) == Lexer::no_slots() ? lexer_.first(at.lexer) : ByteSet::all();
  }
  // Whether the lexer and the parser alone decide what may come, now and later.
  bool is_without_context(Configuration at) const {
    return !has_context_ || (only_counts_ && !parser_.at(at.items).leads_to_limit);
  }
  // Whether a token may end wherever that lexeme goes on to. False where that takes long to tell.
  bool has_room(Configuration at) {
    return !counts_tokens(at) || parser_.has_room(at.items, at.clock + 1, lexer_.residuals(at.lexer));
  }
  // In the same lexeme further on, where the lexer is in this state; `path` gives the bytes on the way.
  template <class Path>
  Configuration inside(Configuration at, LexerStateId state, Path path) {
    at.lexer = state;
    if (has_befores_) {
      for (const uint8_t b : path()) at.around = *surroundings_.next(at.around, b);
    }
    return at;
  }
  // Whether what may come depends on the text before it.
  bool asks_before() const { return has_befores_; }
  // As long as it goes on:
  bool is_plain(Configuration at) const {
    return is_inside(at) && !counts_lines(at) && !has_befores_ && at.text == DistinctRegister::no_text();
  }
  // After one more byte of such a lexeme, if that may go on beyond it.
  std::optional<Configuration> next_plain(Configuration at, unsigned b) {
    at.lexer = lexer_.next(at.lexer, b);
    if (at.lexer == Lexer::dead() || !lexer_.goes_on(at.lexer)) return std::nullopt;
    return at;
  }
  size_t bytes() const { return starts_.bytes() + open_ids_.bytes() + open_.bytes(); }
  bool may_end(Boundary at) {
    const auto ended = end_text(at);
    return ended && parser_.at(ended->items).accepting() && surroundings_.may_end(at.around);
  }
  // See Parser.
  uint64_t reached() const { return parser_.reached(); }
  bool is_overapproximate(const Configuration& at) const { return parser_.is_overapproximate(at.items); }
  // The same of where the parser is once a lexeme has ended that matched these slots.
  bool is_overapproximate_after(const Configuration& lexeme, SlotSetId matched) {
    return parser_.has_sets() && parser_.is_overapproximate(parser_.scan(lexeme.items, matched, lexeme.text, 0));
  }
  // Whether the pending lexeme can be nothing but ignored text.
  bool is_skipping(const Configuration& at) const {
    if (lexer_.is_boundary(at.lexer)) return false;
    const ItemSet& set = parser_.at(at.items);
    const Words live = lexer_.residuals(at.lexer);
    for (size_t i = 0; i < live.size(); i += 2) {
      const ItemSet::Slot& slot = set.slot(live[i]);
      for (uint32_t e = slot.first_edge; e < slot.last_edge; ++e) {
        if (!set.edges[e].is_ignore()) return false;
      }
    }
    return true;
  }
  // What an indenter puts at the end of the text.
  std::optional<Indentation::Ended> end_text(Boundary at) { return indentation_.end_text(at.items, at.indentation); }

 private:
  // A character has no more.
  static constexpr uint32_t kBytesAhead = 4;
  // Bytes that are always skipped at once if they can be: most tokens have fewer.
  static constexpr size_t kSkipped = 32;

  // Moves on by several bytes at once, up to a quote, which ends most lexemes of more than a few; how many.
  size_t skip(Configuration& at, std::string_view text, size_t& most) {
    text = text.substr(0, most);
    text = text.substr(0, text.find('"'));
    if (text.size() < 2) return 0;
    const auto next = lexer_.after(at.lexer, text);
    if (!next || !lexer_.can_continue(*next)) {
      most = std::max(text.size() / 2, kSkipped);
      return 0;
    }
    at.lexer = *next;
    return text.size();
  }
  LexerStateId lexer_start(Boundary at);
  bool may_begin(const ItemSet::Slot& slot, Boundary at) const;
  bool has_newline(ItemSetId items, LexerStateId lexer) const;
  IndentationId line_after(Configuration at, LexerStateId next, unsigned b);
  bool may_fit(Configuration at);
  bool closes_in_time(Configuration at);
  void end_by_role(Configuration at, Words matched, SurroundingsId around, std::vector<Ended>& ended);
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
  bool has_befores_;
  bool has_context_;
  bool only_counts_;  // the context is where tokens end
  bool has_indenter_;
  bool has_deadlines_;
  bool counts_tokens_;
  bool complete_;
  Parser& parser_;
  RegexStore& regexes_;
  Lexer& lexer_;
  Surroundings& surroundings_;
  Indentation& indentation_;
  HashTable starts_;   // (item set, conditions that hold, brackets) -> lexer state
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
  const IndentationId indentation = has_indenter_ ? line_after(at, next, b) : at.indentation;
  const Configuration inside{at.items, next, longer(at.text, b), *around, indentation, at.clock};
  if (has_context_ ? lexer_.goes_on(next) : lexer_.can_continue(next)) {
    if (!has_indenter_ || may_fit(inside)) out(inside, place);
    return;
  }
  for (const Ended& ended : end_lexeme(inside)) out(at_boundary(ended.to), end(place, inside, ended, true));
}

}  // namespace cfgmask
