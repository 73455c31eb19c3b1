#include "regex/regex.h"

#include <algorithm>

#include "regex/minimum_length.h"
#include "util/in_step.h"
#include "util/pause.h"

namespace cfgmask {

RegexStore::RegexStore(uint64_t max_depth, uint64_t max_search_steps)
    : max_depth_(max_depth), max_search_steps_(max_search_steps), lengths_(std::make_unique<MinimumLengths>(*this)) {
  first_sets_.push_back(ByteSet{});
  left_out_.intern({});
  intern(RegexKind::kNothing, {});
  intern(RegexKind::kEmptyText, {});
  const uint32_t none[] = {nothing().value};
  intern(RegexKind::kComplement, none);
}

RegexStore::~RegexStore() = default;

size_t RegexStore::bytes() const {
  return nodes_.bytes() + props_.bytes() + first_sets_.bytes() + derivatives_.bytes() + uncounted_.bytes() +
         clipped_.bytes() + within_.bytes() + common_classes_.bytes() + ends_in_loop_.bytes() + bounded_ids_.bytes() +
         bounded_.bytes() + portable_.bytes() + key_tables_.bytes() + numbered_tables_.bytes() + left_out_.bytes() +
         automaton_ids_.bytes() + automaton_bytes_ + multiples_ids_.bytes() + multiples_.bytes() + multiples_bytes_ +
         prefixed_ids_.bytes() + prefixed_.bytes() + prefixed_bytes_ + sequence_ids_.bytes() + sequences_.bytes() +
         sequence_bytes_ + kept_lists_.bytes() + kept_bytes_ + lengths_->bytes();
}

// A node of many parts is charged as several, so that the bound on nodes bounds memory and time as well.
void RegexStore::charge(size_t n_words) {
  constexpr size_t kWordsPerCharge = 16;
  if (account_ != nullptr) account_->charge(1 + n_words / kWordsPerCharge);
}

// Repetitions with counts inside each other, as ((a b?){1,9} c?){1,9}, may be in as many combinations of their counts
// after each byte: of a hundred, one mask took 3 s to come to the limit.
void RegexStore::charge_node(const Props& p, size_t n_operands) {
  constexpr uint8_t kFewCounted = 4;
  charge(n_operands);
  if (account_ != nullptr && p.n_counted > kFewCounted) account_->charge(p.n_counted - kFewCounted);
}

void RegexStore::charge_work(size_t n_parts) {
  constexpr size_t kPartsPerCharge = 8;
  if (account_ != nullptr && n_parts >= kFreeWork) account_->charge(n_parts / kPartsPerCharge);
}

void RegexStore::charge_parts(size_t n_parts) {
  constexpr size_t kFreeParts = 16;
  if (account_ != nullptr && n_parts >= kFreeParts) account_->charge(n_parts / 2);
}

RegexId RegexStore::intern(RegexKind kind, std::span<const uint32_t> operands) {
  uint32_t small[16];
  std::vector<uint32_t> large;
  uint32_t* words = small;
  if (operands.size() + 1 > std::size(small)) {
    large.resize(operands.size() + 1);
    words = large.data();
  }
  words[0] = static_cast<uint32_t>(kind);
  std::copy(operands.begin(), operands.end(), words + 1);
  const Words key{words, operands.size() + 1};
  const uint32_t hash = Interner::hash(key);
  if (auto known = nodes_.find(key, hash)) return RegexId(*known);
  // Bounds are checked before the node is entered: one that crosses them is refused each time it is asked for.
  const Props p = properties(kind, operands);
  if (p.depth > max_depth_) throw LimitExceeded("max_nesting", max_depth_);
  charge_node(p, operands.size());
  Pause::tick();
  return RegexId(add_with(nodes_, key, hash, props_, p));
}

RegexStore::Props RegexStore::properties(RegexKind kind, std::span<const uint32_t> operands) {
  Props p;
  p.kind = kind;
  auto all_of = [&](auto member) {
    return std::all_of(operands.begin(), operands.end(), [&](uint32_t i) { return props_[i].*member; });
  };
  auto any_of = [&](auto member) {
    return std::any_of(operands.begin(), operands.end(), [&](uint32_t i) { return props_[i].*member; });
  };
  auto deepest = [&] {
    uint32_t depth = 0;
    for (uint32_t i : operands) depth = std::max(depth, props_[i].depth);
    return depth;
  };
  auto bounds_of_parts = [&] {
    for (uint32_t i : operands) {
      p.n_counted = std::max(p.n_counted, props_[i].n_counted);
      p.most_characters = std::max(p.most_characters, props_[i].most_characters);
      p.most_rounds = std::max(p.most_rounds, props_[i].most_rounds);
    }
  };
  switch (kind) {
    case RegexKind::kNothing:
      p.emptiness = Emptiness::kEmpty;
      break;
    case RegexKind::kDivisible:
      p.nullable = operands[1] == 0;
      break;
    case RegexKind::kMultiples:
      p.nullable = multiples_of(operands).accepts(position_of(operands));
      break;
    case RegexKind::kSubstring:
      p.nullable = operands[4] == 0;
      break;
    case RegexKind::kEmptyText:
      p.nullable = true;
      break;
    case RegexKind::kBytes:
    case RegexKind::kPrefixed:
      break;
    case RegexKind::kNumberedKeys:
      p.nullable = numbered_table(operands[0]).keys[operands[1]].size() == operands[3];
      break;
    case RegexKind::kKeySet: {
      const KeyTable table = key_table(operands[0]);
      p.nullable = table[operands[1]].size() == operands[3];
      break;
    }
    case RegexKind::kSequence:
      p.nullable = sequences_[operands[0]]->nullable_from(operands[1]);
      break;
    case RegexKind::kConcatenation:
      // A long tail is walked in a loop, so only heads count as depth.
      p.nullable = all_of(&Props::nullable);
      p.may_be_empty = any_of(&Props::may_be_empty);
      p.depth = std::max(props_[operands[0]].depth + 1, props_[operands[1]].depth);
      bounds_of_parts();
      break;
    case RegexKind::kAlternation:
      p.nullable = any_of(&Props::nullable);
      p.may_be_empty = any_of(&Props::may_be_empty);
      p.depth = deepest() + 1;
      bounds_of_parts();
      break;
    case RegexKind::kIntersection:
      p.nullable = all_of(&Props::nullable);
      p.may_be_empty = true;
      p.depth = deepest() + 1;
      bounds_of_parts();
      break;
    case RegexKind::kComplement:
      p.nullable = !props_[operands[0]].nullable;
      p.may_be_empty = true;
      p.depth = deepest() + 1;
      p.n_counted = props_[operands[0]].n_counted;
      break;
    case RegexKind::kRepetition:
      p.nullable = operands[1] == 0 || props_[operands[0]].nullable;
      p.may_be_empty = operands[1] > 0 && props_[operands[0]].may_be_empty;
      p.depth = props_[operands[0]].depth + 1;
      p.n_counted = props_[operands[0]].n_counted;
      if ((operands[1] > 1 || (operands[2] > 1 && operands[2] != kUnbounded)) && p.n_counted < UINT8_MAX) ++p.n_counted;
      // A greater minimum would change with every character, and the bounds with it.
      if (operands[1] <= 1 && operands[2] != kUnbounded) {
        (is_class(RegexId(operands[0])) ? p.most_characters : p.most_rounds) = operands[2];
      }
      break;
    case RegexKind::kJsonString:
      p.may_be_empty = props_[operands[0]].may_be_empty;
      p.depth = props_[operands[0]].depth + 1;
      p.n_counted = props_[operands[0]].n_counted;
      p.most_characters = props_[operands[0]].most_characters;
      p.most_rounds = props_[operands[0]].most_rounds;
      break;
  }
  if (p.nullable) p.emptiness = Emptiness::kNonempty;
  return p;
}

std::vector<RegexId> RegexStore::parts(RegexId node) const {
  std::vector<RegexId> out;
  for (uint32_t part : operands(node)) out.emplace_back(part);
  return out;
}

}  // namespace cfgmask
