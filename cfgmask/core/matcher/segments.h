// The captures of a text while it is written: which have begun and ended, as soon as nothing that may follow can change
// it. What `Matcher::captures` tells of a whole text, `Segments` tells piece by piece; see earley/marks.h.
//
// What is decided: events that all readings of the text so far have in common, and the text before the first on which
// they differ. Of a lexeme that ends with something of its own, that is what cannot belong to the end.
//
// A copy goes on by itself; copies share what they have learnt. Threads: one at a time for all copies of one, as
// CompiledGrammar's guard has it; the guard is taken here.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "earley/marks.h"
#include "matcher/compiled_grammar.h"
#include "matcher/readings.h"

namespace cfgmask {

// Places of Marks, each with how the lexeme that begins there may fall into a body and an end.
class SegmentChart {
 public:
  struct Candidate {
    size_t position;  // where the end begins
    RegexId left;     // of it
  };
  struct Body {
    uint32_t terminal;
    RegexId left;
    std::vector<Candidate> ends;  // the shortest body first
  };
  struct Lexeme {
    size_t position;  // how far it has come
    std::vector<Body> bodies;
  };
  struct Place {
    std::shared_ptr<const Marks::Place> at;
    std::shared_ptr<const Lexeme> lexeme;  // null: no terminal that may come has an end of its own
  };

  SegmentChart(Parser& parser, const Grammar& grammar, RegexStore& regexes)
      : grammar_(grammar), regexes_(regexes), marks_(parser, grammar) {}

  Place first() { return begin(marks_.start()); }
  Place lead(const std::vector<LexemeFrom<Place>>& incoming, ItemSetId items, size_t position);
  Place again(const Place& place, ItemSetId items);
  Place inside(const Place& place, unsigned b);
  static bool is_plain(const Place& place) { return place.lexeme == nullptr; }
  static size_t position(const Place& place) { return place.at->position; }
  // Before it the lexeme of that terminal has nothing but its body.
  static size_t decided(const Place& place, uint32_t terminal, size_t position);

  Marks& marks() { return marks_; }

 private:
  Place begin(Marks::Place at);

  const Grammar& grammar_;
  RegexStore& regexes_;
  Marks marks_;
};

class Segments {
 public:
  explicit Segments(std::shared_ptr<CompiledGrammar> grammar);

  // How many bytes of a text, without a token, fit; these are taken.
  size_t take_bytes(std::string_view text);
  // Whether the token fits; if so, it was taken. One without text has so many bytes that are shown for it.
  bool take_token(TokenId token, size_t shown);

  struct Event {
    bool begins;
    std::string name;
    size_t position;
  };
  struct Decided {
    std::vector<Event> events;  // that were not told yet, in order
    size_t position;            // of the text that is decided
  };
  Decided decide();
  // All that is left if the text ends here; nullopt if it may not. Nothing counts as told by that.
  std::optional<Decided> finish();
  // What may begin or go on here, and whether the text may end.
  std::vector<std::string> expected();
  bool may_end();
  // Of all captures of the grammar, sorted.
  std::vector<std::string> names() const;

 private:
  using Chart = Readings<SegmentChart>;

  StateId state();
  std::vector<Event> events_since(Marks::HistoryId told, Marks::HistoryId history) const;

  std::shared_ptr<CompiledGrammar> grammar_;
  std::shared_ptr<SegmentChart> chart_;
  Chart readings_;
  Marks::HistoryId told_ = Marks::kNothing;
};

}  // namespace cfgmask
