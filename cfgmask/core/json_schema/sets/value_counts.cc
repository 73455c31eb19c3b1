#include "json_schema/sets/value_counts.h"

namespace cfgmask {

namespace {

constexpr size_t kMaxPlaces = 1'000;

}  // namespace

ArrayEnds::ArrayEnds(const SchemaIR::Array& array, const CountOf& n_values) {
  const auto n_prefix = static_cast<uint32_t>(array.prefix.size());
  const uint32_t n_rest = array.rest ? n_values(*array.rest) : 0;
  const auto may_end = [&](uint32_t n_items) { return n_items >= array.minimum ? 1U : 0U; };
  most_ = n_rest > 0 ? array.maximum : std::min(array.maximum, n_prefix);
  if (most_ == kUnbounded) {
    alike_from_ = std::max({1U, n_prefix, array.minimum});
  } else if (most_ >= n_prefix) {
    last_from_ = most_;
    last_.push_back(may_end(most_));
    while (last_from_ > n_prefix && last_.back() < kEndless && !too_many_) {
      --last_from_;
      last_.push_back(n_either(may_end(last_from_), n_pairs(n_rest, last_.back())));
      too_many_ = last_.size() > kMaxPlaces;
    }
    std::ranges::reverse(last_);
  }
  std::vector<uint32_t> first;
  uint32_t next = most_ >= n_prefix ? after(n_prefix) : 0;
  for (uint32_t i = n_prefix; i-- > 0;) {
    next = i < most_ ? n_either(may_end(i), n_pairs(n_values(array.prefix[i]), next)) : may_end(i);
    first.push_back(next);
  }
  std::ranges::reverse(first);
  first_ = std::move(first);
}

uint32_t ArrayEnds::after(uint32_t n_items) const {
  if (n_items < first_.size()) return first_[n_items];
  if (n_items < last_from_) return kEndless;
  const uint32_t at = n_items - last_from_;
  return at < last_.size() ? last_[at] : 0;
}

ListEnds::ListEnds(uint32_t n_values, uint32_t minimum, uint32_t maximum) : n_values_(n_values) {
  const uint32_t most = n_values >= kEndless ? maximum : std::min(n_values, maximum);
  if (most == kUnbounded) {
    alike_from_ = std::max(1U, minimum);
    return;
  }
  last_from_ = most;
  last_.push_back(most >= minimum ? 1 : 0);
  while (last_from_ > 0 && last_.back() < kEndless) {
    --last_from_;
    last_.push_back(n_either(last_from_ >= minimum ? 1 : 0, n_pairs(n_left(last_from_), last_.back())));
  }
  std::ranges::reverse(last_);
}

uint32_t ListEnds::after(uint32_t n_items) const {
  if (n_items < last_from_) return kEndless;
  const uint32_t at = n_items - last_from_;
  return at < last_.size() ? last_[at] : 0;
}

ObjectEnds::ObjectEnds(const SchemaIR::Object& object, const CountOf& n_values) {
  // As many keys as there are members, or more, make no difference.
  const auto most = static_cast<uint32_t>(object.members.size()) + 1;
  const uint32_t minimum = std::min(object.bounds().minimum, most);
  maximum_ = std::min(object.bounds().maximum, most);
  counted_to_ = std::max({1U, minimum, maximum_ < most ? maximum_ : 0});
  const size_t n_counts = size_t{counted_to_} + 1;
  ends_.resize(object.members.size() + 1);
  for (uint32_t written = 0; written < n_counts; ++written)
    ends_.back().push_back(written >= minimum && written <= maximum_ ? 1 : 0);
  for (size_t i = object.members.size(); i-- > 0;) {
    const SchemaIR::Member& member = object.members[i];
    const uint32_t n_held = n_values(member.value);
    for (uint32_t written = 0; written < n_counts; ++written) {
      const uint32_t taken = has_room(written) ? n_pairs(n_held, ends_[i + 1][counted(written + 1)]) : 0;
      ends_[i].push_back(n_either(taken, member.required ? 0 : ends_[i + 1][written]));
    }
  }
}

}  // namespace cfgmask
