#include "regex/long_sequence.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "regex/minimum_length.h"
#include "regex/regex.h"
#include "util/in_step.h"

namespace cfgmask {

LongSequence::LongSequence(const std::vector<uint32_t>& least, std::vector<Run> runs)
    : least_(least.size() + 1, 0), nullable_(least.size()), runs_(std::move(runs)) {
  static std::atomic<uint32_t> last{0};
  number_ = ++last;
  for (size_t i = least.size(); i-- > 0;) {
    nullable_[i] = least[i] == 0;
    least_[i] = std::min(add_lengths(least[i], least_[i + 1]), kNoLength - 1);
  }
}

const LongSequence::Run* LongSequence::run_at(uint32_t i) const {
  const auto next =
      std::upper_bound(runs_.begin(), runs_.end(), i, [](uint32_t at, const Run& r) { return at < r.last; });
  return next != runs_.end() && next->first <= i ? &*next : nullptr;
}

size_t LongSequence::bytes() const { return least_.capacity() * sizeof(uint32_t) + runs_.capacity() * sizeof(Run); }

RegexId RegexStore::sequence(const std::shared_ptr<const LongSequence>& parts, uint32_t first) {
  auto known = sequence_ids_.find(parts->number());
  if (!known) {
    known = insert_with(sequence_ids_, parts->number(), sequences_, parts);
    sequence_bytes_ += parts->bytes();
  }
  return sequence_from(*known, first);
}

RegexId RegexStore::sequence_from(uint32_t sequence, uint32_t first) {
  const LongSequence& parts = *sequences_[sequence];
  if (first == parts.size()) return empty_text();
  if (first + 1 == parts.size()) return parts.part(first, *this);
  const uint32_t node[] = {sequence, first};
  return intern(RegexKind::kSequence, node);
}

// Calls f(regex, number of the part behind it) for what a sequence may go on with: its first part, and those behind
// parts that may be left out. A run of these is one, which has all behind it in it already.
template <class F>
void RegexStore::for_each_beginning(RegexId node, F f) {
  const Words o = operands(node);
  const LongSequence& parts = *sequences_[o[0]];
  uint32_t i = o[1];
  for (size_t n = 1; i < parts.size(); ++n) {
    if (n % kFreeWork == 0) charge_work(kFreeWork);
    if (const auto* run = parts.run_at(i)) {
      f(prefixed(run->beginnings, i == run->first ? 0 : i), parts.size());
      i = run->last;
      continue;
    }
    f(parts.part(i, *this), i + 1);
    if (!parts.nullable(i)) return;
    ++i;
  }
}

RegexId RegexStore::derive_sequence(RegexId node, unsigned b) {
  std::vector<RegexId> ways;
  for_each_beginning(node, [&](RegexId beginning, uint32_t next) {
    if (first(beginning).has(b))
      ways.push_back(concatenation(derivative(beginning, b), sequence_from(operands(node)[0], next)));
  });
  return alternation(std::move(ways));
}

ByteSet RegexStore::first_of_sequence(RegexId node) {
  ByteSet set;
  for_each_beginning(node, [&](RegexId beginning, uint32_t) { set |= first(beginning); });
  return set;
}

}  // namespace cfgmask
