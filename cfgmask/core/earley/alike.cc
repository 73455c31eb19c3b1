// Item sets that are alike to some depth: the same items, which await the same items, and so on, whatever comes further
// out. What a few lexemes lead to is then alike too, since no lexeme looks further than into what it completes.
//
// Levels count from the continuations of a set's items, which are the first. A scan that completes nonterminals n deep
// leads to items whose continuations are at most n + 1 levels further out: one for those that are completed each, and
// one since a tail call looks at who awaits its caller. So after scans whose `reach` is the sum of these, nothing was
// looked at beyond the level that it gives.
//
// Continuations are compared as they are shared, not as the trees that they stand for: each of one set has one of the
// other. Then the walks are the same step by step.
#include <algorithm>
#include <vector>

#include "earley/parser.h"
#include "util/hash_table.h"

namespace cfgmask {

namespace {

// That are compared at most.
constexpr size_t kMostPairs = 48;

}  // namespace

uint64_t Parser::shape(ItemSetId set) const {
  const Words words = kernel_ids_.at(set.value);
  uint64_t hash = words.size();
  for (size_t i = 1; i < words.size(); i += 2) hash = mix(hash ^ words[i]);
  return hash;
}

bool Parser::alike(ItemSetId a, ItemSetId b, uint32_t depth) const {
  struct Pair {
    ContinuationId a;
    ContinuationId b;
  };
  std::vector<Pair> pairs;
  const auto add = [&](uint64_t word_a, uint64_t word_b) {
    const Item item_a = Item::unpack(word_a);
    const Item item_b = Item::unpack(word_b);
    if (item_a.rest != item_b.rest || item_a.gap != item_b.gap) return false;
    const Pair pair{item_a.continuation, item_b.continuation};
    for (const Pair& known : pairs) {
      if (known.a == pair.a || known.b == pair.b) return known.a == pair.a && known.b == pair.b;
    }
    pairs.push_back(pair);
    return pairs.size() <= kMostPairs;
  };
  const auto add_all = [&](const std::vector<uint64_t>& of_a, const std::vector<uint64_t>& of_b) {
    return std::ranges::equal(of_a, of_b, add);
  };
  if (!add_all(kernel_of(a), kernel_of(b))) return false;
  size_t level_begin = 0;
  for (; depth > 0 && level_begin < pairs.size(); --depth) {
    const size_t level_end = pairs.size();
    for (size_t i = level_begin; i < level_end; ++i) {
      const Pair pair = pairs[i];
      if (pair.a == kRoot || pair.b == kRoot) {
        if (pair.a != pair.b) return false;
        continue;
      }
      const Continuation& of_a = continuations_[pair.a.value];
      const Continuation& of_b = continuations_[pair.b.value];
      if (!is_plain(pair.a) || !is_plain(pair.b) || of_a.kind != of_b.kind || of_a.marked != of_b.marked) return false;
      if (!add_all(of_a.members, of_b.members)) return false;
    }
    level_begin = level_end;
  }
  return true;
}

// Whether its members are all that counts.
bool Parser::is_plain(ContinuationId id) const {
  const Continuation& continuation = continuations_[id.value];
  return continuation.seen == DistinctRegister::none() && continuation.deadline == kUnbounded &&
         continuation.ends_with == id;
}

}  // namespace cfgmask
