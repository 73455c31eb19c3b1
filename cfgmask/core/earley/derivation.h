// One way in which the rules of a grammar make a text, read from its last lexeme to its first.
//
// Item sets have no positions, but a chart of them has: which set followed which, by which lexemes. An item of a set
// was predicted by another of the same set, or it is what a lexeme made of an item of the set before, completing rules
// on the way. So a derivation is a walk from the last set to the first, with a stack of the callers of the rules that
// it has entered at their ends and not yet left at their beginnings. Any item that suits the top of the stack has a
// beginning, since a continuation holds nothing but callers that wait at one place; so the walk never turns back.
//
// Cost: for each lexeme, the size of the item set that it begins at. Threads: guarded by the owner of the parser.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "earley/parser.h"

namespace cfgmask {

// The item sets of a text and the lexemes between them.
struct Chart {
  static constexpr uint32_t kNoToken = UINT32_MAX;
  struct Lexeme {
    uint32_t from;              // the node at which it begins
    SlotSetId matched;          // slots of that node's items; none: nothing was read
    TextId text;                // as `Parser::scan` takes it
    uint32_t token = kNoToken;  // taken by its id instead
  };
  struct Node {
    ItemSetId items;
    size_t position;
    std::vector<Lexeme> incoming;  // that end here; more than one where the text is cut in several ways
  };
  std::vector<Node> nodes;  // the first is where the text begins
};

class Derivation {
 public:
  // A part of the text that a capture names.
  struct Span {
    uint32_t nonterminal;
    std::optional<uint32_t> terminal;  // of the last lexeme, if the rule begins an alternative with it
    size_t begin;
    size_t end;
  };
  // A lexeme that ends with something of its own.
  struct EndedLexeme {
    uint32_t terminal;
    size_t begin;
    size_t end;
  };

  Derivation(Parser& parser, const Grammar& grammar, const Chart& chart)
      : parser_(parser), grammar_(grammar), chart_(chart) {}

  // The first node of a text whose parser was at `start()`.
  static void begin(const Parser& parser, Chart& chart);

  // Walks back from an item of a node; the rules around that item have no end yet.
  void run(uint32_t node, Item item);

  // From the last to the first: captured rules by where they begin, and lexemes.
  const std::vector<Span>& spans() const { return spans_; }
  const std::vector<EndedLexeme>& ended_lexemes() const { return ended_lexemes_; }

 private:
  // A rule that the walk has entered at its end: what waited for it, and if it is captured where it ends.
  struct Frame {
    uint64_t caller;
    std::optional<Span> capture;
  };
  // An item on the way to one of the same set's kernel, and how deep the stack is then.
  struct Step {
    uint64_t item;
    size_t depth;
    friend bool operator==(const Step&, const Step&) = default;
  };

  void climb();
  bool descend();
  bool descend(const Chart::Lexeme& lexeme);
  bool descend(const Chart::Lexeme& lexeme, const Item& before, Item after, std::optional<uint32_t> terminal);
  bool is_at_hand(const Item& item) const;
  bool unskip(const Chart::Lexeme& lexeme);
  void predecessors(const Item& item, size_t depth, const Parser::Trace& closure, std::vector<Step>& steps) const;
  bool is_alternative(RestId rest, uint32_t nonterminal) const;
  RegisterId seen_of(const Item& item) const;
  bool waits(ContinuationId continuation, uint64_t caller) const;
  bool suits(const Item& item, size_t depth) const;
  void leave(size_t depth);
  const Parser::Trace& trace(ItemSetId items);

  Parser& parser_;
  const Grammar& grammar_;
  const Chart& chart_;
  std::unordered_map<uint32_t, Parser::Trace> traces_;
  std::vector<Frame> stack_;
  std::vector<Span> spans_;
  std::vector<EndedLexeme> ended_lexemes_;
  uint32_t node_ = 0;
  Item item_;
  size_t next_begin_ = 0;  // where the next lexeme that is not ignored begins
};

}  // namespace cfgmask
