#include "mask/surroundings.h"

#include "regex/held_bytes.h"
#include "util/in_step.h"

namespace cfgmask {

namespace {

std::optional<SurroundingsId> remembered(uint32_t value) {
  return value == 0 ? std::nullopt : std::optional(SurroundingsId(value - 1));
}

}  // namespace

Surroundings::Surroundings(RegexStore& regexes, const std::vector<RegexId>& befores, const ByteSet& held,
                           uint64_t max_item_sets)
    : regexes_(regexes), held_(held), account_{"max_item_sets", max_item_sets} {
  scratch_.assign(1, RegexStore::all().value);
  for (RegexId before : befores) scratch_.push_back(before.value);
  start_ = *with_rest(RegexStore::all());
}

size_t Surroundings::bytes() const {
  return words_.bytes() + holding_.bytes() + holding_ids_.bytes() + next_.bytes() + demanded_.bytes() +
         anything_.bytes();
}

std::optional<SurroundingsId> Surroundings::next(SurroundingsId at, unsigned b) {
  const uint64_t key = (uint64_t{at.value} << 8) | b;
  if (auto known = next_.find(key)) return remembered(*known);
  const Words words = words_.at(at.value);
  scratch_.assign(1, 0);
  for (size_t i = 1; i < words.size(); ++i) scratch_.push_back(regexes_.derivative(RegexId(words[i]), b).value);
  const auto to = with_rest(regexes_.derivative(rest(at), b));
  next_.insert(key, to ? to->value + 1 : 0);
  return to;
}

std::optional<SurroundingsId> Surroundings::demand(SurroundingsId at, RegexId condition) {
  if (condition == RegexStore::all()) return at;
  const uint64_t key = (uint64_t{at.value} << 32) | condition.value;
  if (auto known = demanded_.find(key)) return remembered(*known);
  const Words words = words_.at(at.value);
  scratch_.assign(words.begin(), words.end());
  const auto to = with_rest(regexes_.intersection({any_text(), rest(at), condition}));
  demanded_.insert(key, to ? to->value + 1 : 0);
  return to;
}

// The surroundings of scratch_, whose first word is still to be set.
std::optional<SurroundingsId> Surroundings::with_rest(RegexId rest) {
  if (regexes_.is_empty(rest)) return std::nullopt;
  scratch_[0] = is_anything(rest) ? RegexStore::all().value : rest.value;
  if (auto known = words_.find(scratch_)) return SurroundingsId(*known);
  account_.charge();
  std::vector<uint32_t> holding;
  for (uint32_t i = 1; i < scratch_.size(); ++i) {
    if (regexes_.nullable(RegexId(scratch_[i]))) holding.push_back(i);
  }
  return SurroundingsId(add_with(words_, scratch_, holding_, holding_ids_.intern(holding).first));
}

// Valid UTF-8 that the vocabulary can write.
RegexId Surroundings::any_text() {
  if (!any_text_) {
    const RegexId all = regexes_.any_text();
    any_text_ = held_ == ByteSet::all() ? all : HeldBytes(regexes_, held_).of(all);
  }
  return *any_text_;
}

bool Surroundings::is_anything(RegexId rest) {
  if (rest == RegexStore::all()) return true;
  if (auto known = anything_.find(rest.value)) return *known != 0;
  const bool anything = regexes_.is_empty(regexes_.intersection({any_text(), regexes_.complement(rest)}));
  anything_.insert(rest.value, anything ? 1 : 0);
  return anything;
}

}  // namespace cfgmask
