// What a condition on a text becomes when a part of the text is taken off its front.
//
// A condition is the tree of the texts that meet it. `split` answers, for a piece T and a condition L on the whole of
// the piece and what follows it: which texts of T are possible, and what do they leave to be met? The answers (T', L')
// partition T: some text v w with v in T meets L exactly if v is in some T' and w in its L'.
//
// Threads: for one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "pattern/text_trees.h"
#include "util/interner.h"

namespace cfgmask {

// Thrown where assertions take more states, cases or steps than are allowed for one pattern.
struct TooEntangled {};

// Derivatives of trees by characters (Brzozowski 1964) and reversals, each worked out once. Throws TooEntangled after
// a fixed number of them.
class TextDerivatives {
 public:
  using Id = TextTrees::Id;
  struct Move {
    CodePoints characters;
    Id rest;
  };

  explicit TextDerivatives(TextTrees& trees) : trees_(trees) {}

  // What may follow a character in texts of a tree.
  Id after(Id tree, uint32_t character);
  // Disjoint classes of first characters, each with what may follow it; nothing follows any other character.
  const std::vector<Move>& moves(Id tree);
  // The texts read backwards.
  Id reversal(Id tree);

 private:
  Id after_by_parts(Id tree, uint32_t character);
  Id reversed(Id tree);
  // The classes by which the first character of a text is told from others, as numbers in order.
  const std::vector<uint32_t>& front(Id tree);
  std::vector<CodePoints> partition(const std::vector<uint32_t>& classes) const;

  TextTrees& trees_;
  uint64_t n_steps_ = 0;
  std::unordered_map<uint64_t, Id> after_;
  std::unordered_map<Id, std::vector<Move>> moves_;
  std::unordered_map<Id, std::vector<uint32_t>> fronts_;
  std::unordered_map<Id, Id> reversed_;
  Interner classes_;  // their ranges
};

// The texts that lead through a labelled graph (Kleene 1956): for every two nodes, those along the ways from one to the
// other, if there are any. `edges` has size * size places. Cubic in the nodes; sparse graphs cost less.
std::vector<std::optional<TextTrees::Id>> ways_through(TextTrees& trees, size_t size,
                                                       std::vector<std::optional<TextTrees::Id>> edges);

// Splits pieces by conditions, each once. All methods throw TooEntangled.
class TextSplitter {
 public:
  using Id = TextTrees::Id;
  struct Split {
    Id text;
    Id rest;
  };
  using Splits = std::vector<Split>;

  explicit TextSplitter(TextTrees& trees);
  ~TextSplitter();
  TextSplitter(const TextSplitter&) = delete;
  TextSplitter& operator=(const TextSplitter&) = delete;

  // The texts of `piece` by what they leave of a condition on them and what follows them.
  const Splits& split(Id piece, Id condition);
  // The same of a condition on `piece` and what comes before it. Such conditions are on reversed texts.
  Splits split_back(Id piece, Id condition);
  Id reversal(Id tree) { return derivatives_.reversal(tree); }
  // What meets both conditions; nothing if that is known to be impossible.
  Id both(Id first, Id second);
  // The texts of `piece` that meet a condition.
  Id restrict_to(Id piece, Id condition);

 private:
  class Emptiness;

  Splits find_splits(Id piece, Id condition);
  Splits split_sequence(const std::vector<Id>& parts, Id condition);
  // Whether the first character decides.
  bool decides_at_once(Id condition);
  Splits split_at_first(Id piece, Id condition);
  // The texts of `piece` that begin with some character.
  Id after_first(Id piece, const CodePoints& good);
  // By the states of the condition's automaton: the texts of `piece` that lead to each of them.
  Splits split_anywhere(Id piece, Id condition);
  // Every state that some text leads to, with these texts.
  const Splits& automaton(Id condition);
  // The same with one split for each rest.
  Splits merged(const Splits& splits);
  // The alternatives of a piece that is made of some.
  std::vector<Id> alternatives(Id piece) const;

  TextTrees& trees_;
  TextDerivatives derivatives_;
  std::unique_ptr<Emptiness> emptiness_;
  std::unordered_map<uint64_t, Splits> splits_;
  std::unordered_map<Id, Splits> automata_;
};

}  // namespace cfgmask
