// Which captured rules a text is inside of, and since where: found forwards, one lexeme at a time.
//
// An item says by its continuation which captured rule is the innermost around it (as it says which temperature holds),
// but not where that began. So each place between two lexemes has *ways*: histories, lists of the rules that have begun
// and ended so far, each with the items of the place's kernel that it leads to. Most places have one way, and most
// lexemes neither begin nor end a captured rule, which is seen from the two item sets alone and remembered.
// Where it is not so, the closure of the item set tells which rules each of its edges begins, and completions tell
// which rules end.
//
// Where a text can be read in several ways, there is a way for each stack of rules that are open; of several ways to
// one item in one stack the first is kept, in which rules go on rather than begin anew. A captured rule that is
// left-recursive is one from where it first began: what it holds of itself is not told.
//
// Cost: constant for a lexeme between two item sets that were met before and are inside of one rule; else linear in the
// closure. Right recursion of a captured rule takes time linear in its depth, for each lexeme that may end it.
// Threads: guarded by the owner of the parser.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "earley/parser.h"
#include "util/interner.h"

namespace cfgmask {

class Marks {
 public:
  using HistoryId = uint32_t;
  static constexpr HistoryId kNothing = 0;
  static constexpr uint32_t kNoToken = UINT32_MAX;

  // A rule, or what ends a terminal, begins or ends.
  struct Event {
    HistoryId before;
    bool begins;
    const std::string* name;  // the capture's
    size_t position;
    ContinuationId frame;  // of the rule
    HistoryId open;        // where the innermost rule that is open after it began; kNothing: none is
    uint32_t stack;        // equal for equal frames that are open after it
    uint32_t depth;        // how many events there are with it
  };
  struct Way {
    HistoryId history;
    std::vector<ContinuationId> begun;  // rules that begin with the next lexeme that is not ignored
    std::vector<uint64_t> items;        // sorted; none: the whole kernel
  };
  struct Place {
    ItemSetId items;
    size_t position;
    size_t solid;  // where the last lexeme ended that was not ignored
    std::vector<Way> ways;
  };
  // Where the body of a lexeme ends, if the terminal is the one of this number and has an end.
  struct BodyEnd {
    uint32_t terminal;
    size_t position;
  };
  struct Lexeme {
    const Place* from;
    SlotSetId matched;
    TextId text;
    uint32_t token = kNoToken;
    std::span<const BodyEnd> body_ends = {};
  };

  Marks(Parser& parser, const Grammar& grammar);

  Place start();
  // Where lexemes lead that end at one position.
  Place lead(std::span<const Lexeme> incoming, ItemSetId items, size_t position);
  // The terminals that may come there and have an end of their own.
  const std::vector<uint32_t>& terminals_with_ends(ItemSetId items);
  // Calls f(history, terminal) for what the text so far may come to if it goes on with these residuals, pairs as the
  // lexer has them, at this place; `terminal` is none where that is ignored.
  template <class F>
  void for_each_way(const Place& place, Words residuals, F f);
  // The history of a text that ends there, of which some item accepts.
  HistoryId at_end(const Place& place) const;

  const Event& event(HistoryId history) const { return events_[history]; }

 private:
  // An edge of a set that an item of its kernel leads to, and the rules that begin on the way.
  struct Link {
    uint64_t kernel;
    uint64_t edge;
    std::vector<ContinuationId> begun;
  };
  // An edge that a lexeme takes.
  struct Taken {
    Item edge;
    Item after;
    std::optional<uint32_t> terminal;  // none: a token
    bool is_ignored;                   // `after` is the edge's item, marked
  };
  struct Adding {
    std::vector<Way> ways;
    std::set<std::tuple<uint64_t, uint32_t, std::vector<ContinuationId>>> known;
  };
  struct AtEnd {
    size_t position;
    const Suffix* suffix;  // or null
    size_t body_end;
    RestId edge;
    std::optional<uint32_t> terminal;
  };

  bool is_captured(ContinuationId continuation) const;
  ContinuationId base(ContinuationId continuation) { return parser_.with_seen(continuation, DistinctRegister::none()); }
  // The innermost captured rules around items with this continuation; the root for none.
  const std::vector<ContinuationId>& innermost(ContinuationId continuation);
  bool is_inside(ContinuationId continuation, ContinuationId frame);
  bool is_around(ContinuationId begun, ContinuationId frame);
  // The only rule that all items of a set are directly inside of.
  std::optional<ContinuationId> sole_rule(ItemSetId items);
  const std::vector<Link>& links(ItemSetId items);
  std::vector<Link> find_links(ItemSetId items);
  ContinuationId frame_of(HistoryId history) const;
  ContinuationId frame_of(const Way& way) const { return way.begun.empty() ? frame_of(way.history) : way.begun.back(); }
  bool suits(const Way& way, const Link& link);

  HistoryId add(Event event);
  HistoryId begin(HistoryId history, ContinuationId frame, size_t position);
  HistoryId begin_all(HistoryId history, std::span<const ContinuationId> frames, size_t position);
  HistoryId end(HistoryId history, size_t position);
  HistoryId add_end_capture(HistoryId history, const AtEnd& at);

  std::vector<Taken> edges_taken(const Lexeme& lexeme);
  void advance(const Way& way, std::span<const ContinuationId> begun, const Taken& taken, const Lexeme& lexeme,
               size_t position, Adding& out);
  void complete(Item item, HistoryId history, const AtEnd& at, Adding& out);
  static void keep(uint64_t item, HistoryId history, uint32_t stack, std::vector<ContinuationId> begun, Adding& out);

  Parser& parser_;
  const Grammar& grammar_;
  std::vector<Event> events_;
  Interner event_ids_;
  Interner stacks_;
  std::unordered_map<uint32_t, std::vector<ContinuationId>> innermost_;
  std::unordered_map<uint32_t, std::optional<ContinuationId>> sole_rules_;
  std::unordered_map<uint32_t, std::vector<Link>> links_;
  std::unordered_map<uint32_t, std::vector<uint32_t>> terminals_with_ends_;
};

template <class F>
void Marks::for_each_way(const Place& place, Words residuals, F f) {
  const ItemSet& set = parser_.at(place.items);
  const bool is_sole = place.ways.size() == 1 && place.ways[0].items.empty() && sole_rule(place.items).has_value();
  std::set<uint64_t> edges;
  bool is_ignored = false;
  for (size_t i = 0; i < residuals.size(); i += 2) {
    const ItemSet::Slot& slot = set.slot(residuals[i]);
    for (uint32_t e = slot.first_edge; e < slot.last_edge; ++e) {
      const ItemSet::Edge& edge = set.edges[e];
      if (edge.is_ignore()) {
        is_ignored = true;
      } else if (is_sole) {
        const Way& way = place.ways[0];
        f(begin_all(way.history, way.begun, place.position), std::optional(edge.source));
      } else {
        edges.insert(edge.item.packed());
      }
    }
  }
  if (is_ignored) {
    for (const Way& way : place.ways) f(way.history, std::optional<uint32_t>());
  }
  if (edges.empty()) return;
  const std::vector<Link>& all = links(place.items);
  for (const Way& way : place.ways) {
    for (const Link& link : all) {
      if (!edges.contains(link.edge) || !suits(way, link)) continue;
      const HistoryId history = begin_all(way.history, way.begun, place.position);
      const Symbol head = parser_.rests_[Item::unpack(link.edge).rest.value].head;
      f(begin_all(history, link.begun, place.position), std::optional(head.index()));
    }
  }
}

}  // namespace cfgmask
