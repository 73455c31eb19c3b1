// What a part of a pattern means where assertions are around: texts, under conditions on what stands beside them.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "pattern/text_trees.h"

namespace cfgmask {

// Texts of a part, where they stand between certain others.
struct TextCase {
  // What all that stands before must be, read backwards; any text: no condition, the empty text: the text begins.
  TextTrees::Id before = TextTrees::kAnyText;
  TextTrees::Id tree = TextTrees::kEmptyText;
  // What all that follows must be.
  TextTrees::Id after = TextTrees::kAnyText;
  // Kinds of assertions that the conditions come from: lookahead that stands for a lazy repetition, and others.
  uint8_t origins = 0;

  static constexpr uint8_t kGuard = 1;
  static constexpr uint8_t kAssertion = 2;

  // Whether it may stand anywhere.
  bool is_plain() const { return before == TextTrees::kAnyText && after == TextTrees::kAnyText; }
};

using Meaning = std::vector<TextCase>;

// These texts, anywhere.
inline Meaning plain_meaning(TextTrees::Id tree) { return {{.tree = tree}}; }
inline Meaning no_text() { return plain_meaning(TextTrees::kEmptyText); }
inline Meaning at_text_start() { return {{.before = TextTrees::kEmptyText}}; }
inline Meaning at_text_end() { return {{.after = TextTrees::kEmptyText}}; }
// Whether there is no assertion that matters.
inline bool is_plain(const Meaning& meaning) { return meaning.size() == 1 && meaning[0].is_plain(); }

// Single characters, so many of them, before each of which an assertion holds: `(?:(?!foo).)*`. Next to the ends of the
// text this is one complement, however much the assertion looks for; elsewhere it is a repetition like others.
struct Tempered {
  Meaning guard;
  TextTrees::Id character;
  uint64_t minimum;
  uint64_t maximum;
};

// Parts of a pattern in order. They are put together where the whole sequence is known: next to the end of a text, an
// assertion is met by an intersection, without taking apart what stands there.
using PatternPart = std::variant<Meaning, Tempered>;
using PatternPartList = std::vector<PatternPart>;

}  // namespace cfgmask
