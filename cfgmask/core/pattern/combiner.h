// The meaning of patterns with assertions (anchors, word boundaries, lookaround) without assertions.
//
// An assertion looks at what stands before or behind it. So a part of a pattern means a set of *cases*: texts, with a
// condition on all that stands before them and one on all that follows. `\b` has two cases, both of the empty text: a
// word character before and none behind, and the other way round.
//
// In a sequence the condition that one part has on what follows it falls on the next part, and what that part does not
// decide is left for the one behind (pattern/splits.h). At the ends of the whole text the conditions must hold of
// nothing more. So `a(?!b)` and then `[a-z]*` is `a([ac-z][a-z]*)?`, with the condition that no `b` follows where the
// repetition takes nothing. That is exact, and bounded: a condition has finitely many states, and each pair of
// conditions is one case.
//
// In a repetition the conditions of one round fall on the rounds before and behind it (pattern/rounds.h).
//
// Threads: for one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "pattern/cases.h"
#include "pattern/splits.h"
#include "pattern/text_trees.h"

namespace cfgmask {

// Puts meanings together. All methods throw TooEntangled where that takes more than is allowed for one pattern.
class MeaningCombiner {
 public:
  using Id = TextTrees::Id;

  explicit MeaningCombiner(TextTrees& trees) : trees_(trees), splitter_(trees) {}

  // The texts that the parts in order are, all of them from their first to their last character.
  Id whole_text(PatternPartList parts);
  // Any of the parts.
  Meaning alternation(const std::vector<Meaning>& parts);
  // What is a text of each of the parts, where it stands.
  Meaning intersection(const std::vector<Meaning>& parts);
  // The parts in order.
  Meaning sequence(PatternPartList parts);
  // The parts in order, from `minimum` to `maximum` times.
  PatternPart repetition(PatternPartList parts, uint64_t minimum, uint64_t maximum);
  // The empty text, where the parts in order begin what follows; with `negative`, where they do not.
  Meaning lookahead(PatternPartList parts, bool negative, uint8_t origin);
  // The empty text, where the parts in order end what stands before; with `negative`, where they do not.
  Meaning lookbehind(PatternPartList parts, bool negative, uint8_t origin);
  // The empty text between two conditions, of any pair of them.
  Meaning between(const std::vector<std::pair<Id, Id>>& sides, uint8_t origin);
  // The texts of a condition read backwards.
  Id reversal(Id tree) { return splitter_.reversal(tree); }
  // The condition that a character of a class comes next, in the direction of the condition.
  Id beginning(const CodePoints& members) {
    return trees_.concatenation({trees_.char_class(members), TextTrees::kAnyText});
  }
  // The parts, with what needs no thought put together: texts anywhere, and conditions at their outer sides.
  PatternPartList joined(PatternPartList parts);

 private:
  Meaning repeated(const Meaning& body, uint64_t minimum, uint64_t maximum);
  Meaning run(std::span<const PatternPart> parts);
  Meaning cases(const PatternPart& part);
  // The part where the text ends behind it; nothing where its assertion looks at more than is known before it.
  Meaning tempered_to_end(const Tempered& part, bool at_start);
  Meaning halves(std::vector<Meaning> meanings);
  Meaning pair(const Meaning& first, const Meaning& second);
  // The texts of one case and then those of another.
  void add_neighbours(const TextCase& left, const TextCase& right, Meaning& found);
  // The texts of a case under a condition on them and what stands before them, with what must stand there.
  TextSplitter::Splits under_before(const TextCase& given, Id condition);
  // The same of what follows them.
  TextSplitter::Splits under_after(const TextCase& given, Id condition);
  // One case for each pair of conditions, without those that cannot be met.
  Meaning merged(const Meaning& given);
  TextCase united_cases(const Meaning& given);
  // Where no case of an assertion holds: each of them fails on one of its sides.
  Meaning negation(const Meaning& holds);
  // How many characters every text of the body has, if they agree.
  std::optional<uint64_t> common_size(const Meaning& body) const;
  Meaning any_times(const Meaning& body);
  Meaning unrolled(const Meaning& body, uint64_t minimum, uint64_t maximum);

  TextTrees& trees_;
  TextSplitter splitter_;
};

}  // namespace cfgmask
