// What becomes complete with a nonterminal: those who await it, and who awaits those that have nothing left to do.
//
// After n lexemes of `s: s s | "a"` the items of all n places before await an `s`, as they did at each of these: so n
// squared ways lead to n items, and to follow them all took 21 s for 1,788 lexemes. So a continuation of many members
// knows `enough` of them: the others come about as well by way of these and of continuations that were there before it.
// Captures, which ask for one derivation, follow the same.
#include <algorithm>
#include <optional>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "earley/parser.h"
#include "util/pause.h"

namespace cfgmask {

namespace {

// Ways in which the items of one set may come about, for each of the items that it may have.
constexpr uint64_t kWaysPerItem = 16;
constexpr size_t kWorthSifting = 16;  // members that are worth to be sifted

// Looks at members of continuations that cost as much as a set of items: of counts inside of counts, a hundred deep,
// one set of a few items took seconds.
constexpr uint64_t kLooksPerCharge = 8;
constexpr uint64_t kFreeLooks = 256;  // for each set

bool add_new(HashTable& known, uint64_t key) {
  if (known.find(key)) return false;
  known.insert(key, 0);
  return true;
}

uint8_t further(uint8_t depth) { return depth == kFarReach ? depth : static_cast<uint8_t>(depth + 1); }

}  // namespace

// The nonterminal that `continuation` awaits ends here, and with it whatever becomes complete by that.
void Parser::complete(ContinuationId continuation, Kernel& kernel) {
  std::vector<Completing>& pending = completing_;
  pending.assign(1, {continuation, 1});
  uint64_t n_ways = 0;
  while (!pending.empty()) {
    const uint8_t depth = pending.back().depth;
    const ContinuationId at = continuations_[pending.back().continuation.value].ends_with;
    pending.pop_back();
    if (kernel.completed.find(at.value)) continue;
    kernel.completed.insert(at.value, 0);
    kernel.depth = std::max(kernel.depth, depth);
    if (at == kRoot) {
      kernel.items.push_back(Item{kNil, kRoot}.packed());
      continue;
    }
    const Continuation& ended = continuations_[at.value];
    // All of them, since they are what memory holds.
    n_ways += ended.members.size();
    if (n_ways > kWaysPerItem * max_items_) throw LimitExceeded("max_items", max_items_);
    for (uint64_t word : ended.enough.empty() ? ended.members : ended.enough) {
      const auto item = go_on(word, ended);
      if (!item) continue;
      if (item->rest != kNil) kernel.items.push_back(item->packed());
      if (rests_[item->rest.value].nullable) pending.push_back({item->continuation, further(depth)});
    }
  }
}

// A member of a continuation that has ended; nullopt if that was a value which must not come there.
std::optional<Item> Parser::go_on(uint64_t member, const Continuation& ended) {
  Item item = Item::unpack(member);
  RegisterId seen = ended.seen;
  if (ended.kind == ContinuationKind::kRestores) {
    const auto with_value = distinct_register_.add_ended(continuations_[item.continuation.value].seen, ended.seen);
    if (!with_value) return std::nullopt;
    seen = *with_value;
  }
  item.continuation = with_seen(item.continuation, seen);
  return item;
}

// Whether some register takes the value of the set that is open there, once that is closed.
bool Parser::may_end(ContinuationId continuation) {
  std::vector<ContinuationId> todo{continuation};
  std::unordered_set<uint32_t> known;
  while (!todo.empty()) {
    const ContinuationId at = todo.back();
    todo.pop_back();
    if (!known.insert(at.value).second) continue;
    const Continuation& ended = continuations_[at.value];
    if (at == kRoot) return true;
    for (const uint64_t word : ended.members) {
      const Item item = Item::unpack(word);
      if (ended.kind != ContinuationKind::kRestores) {
        if (rests_[item.rest.value].nullable) todo.push_back(with_seen(item.continuation, ended.seen));
      } else if (distinct_register_.admits(continuations_[item.continuation.value].seen, ended.seen)) {
        return true;
      }
    }
  }
  return false;
}

bool Parser::is_sifted(const Continuation& continuation) const {
  return continuation.kind != ContinuationKind::kRestores && continuation.seen == DistinctRegister::none();
}

// Finds `enough` of the members. Continuations from `oldest` on are not looked into: what they lead to may lead back.
void Parser::sift(ContinuationId id, ContinuationId oldest) {
  Continuation& continuation = continuations_[id.value];
  if (continuation.members.size() < kWorthSifting || !continuation.enough.empty() || !is_sifted(continuation)) return;
  // Those that pass completion on come first, the newest of them foremost: they lead to most.
  auto order = [&](uint64_t word) {
    const Item item = Item::unpack(word);
    return std::tuple(rests_[item.rest.value].nullable, item.continuation, item.rest);
  };
  std::vector<uint64_t> members = continuation.members;
  std::sort(members.begin(), members.end(), [&](uint64_t a, uint64_t b) { return order(a) > order(b); });
  Reached reached;
  // Kept once it is complete: a limit may end the search.
  std::vector<uint64_t> enough;
  for (const uint64_t word : members) {
    if (reach(word, oldest, reached)) enough.push_back(word);
  }
  continuation.enough = std::move(enough);
}

// Adds all that a member leads to; whether any of it is new.
bool Parser::reach(uint64_t member, ContinuationId oldest, Reached& reached) {
  bool is_new = false;
  std::vector<uint64_t> pending{member};
  while (!pending.empty()) {
    const uint64_t word = pending.back();
    const Item item = Item::unpack(word);
    pending.pop_back();
    if (++reached.n_looks > kFreeLooks && reached.n_looks % kLooksPerCharge == 0) {
      item_set_account_.charge();
      Pause::tick();
    }
    if (item.rest != kNil) is_new = add_new(reached.items, word) || is_new;
    if (!rests_[item.rest.value].nullable) continue;
    const ContinuationId next = continuations_[item.continuation.value].ends_with;
    if (!add_new(reached.continuations, next.value)) continue;
    is_new = true;
    const Continuation& ended = continuations_[next.value];
    if (next >= oldest || next == kRoot || !is_sifted(ended)) continue;
    const std::vector<uint64_t>& enough = ended.enough.empty() ? ended.members : ended.enough;
    pending.insert(pending.end(), enough.begin(), enough.end());
  }
  return is_new;
}

}  // namespace cfgmask
