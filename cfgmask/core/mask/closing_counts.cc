#include "mask/closing_counts.h"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace cfgmask {

ClosingCounts::ClosingCounts(std::shared_ptr<const Trie> trie, RegexStore& regexes)
    : trie_(std::move(trie)), regexes_(regexes), single_bytes_(trie_->single_bytes()) {}

uint32_t ClosingCounts::needed(RegexId residual) {
  if (regexes_.nullable(residual)) return 0;
  const auto known = needed_.find(residual.value);
  if (known != needed_.end()) return known->second;
  const uint32_t count = this->count(residual);
  needed_.emplace(residual.value, count);
  return count;
}

uint32_t ClosingCounts::count(RegexId residual) {
  const RegexId spelled = regexes_.repetition(regexes_.bytes(single_bytes_), 0, kUnbounded);
  const auto text = regexes_.shortest(regexes_.intersection({residual, spelled}));
  if (!text) return kUnbounded;
  std::vector<uint32_t> best(text->size() + 1, kUnbounded);
  best.back() = 0;
  for (size_t i = text->size(); i-- > 0;) {
    trie_->for_each_prefix(std::string_view(*text).substr(i), [&](size_t length, TokenId) {
      if (best[i + length] != kUnbounded) best[i] = std::min(best[i], best[i + length] + 1);
    });
  }
  return best[0];
}

uint32_t ClosingCounts::most_needed(RegexId residual) {
  const auto known = most_.find(residual.value);
  if (known != most_.end()) return known->second;
  const uint32_t most = search_most(residual);
  most_.emplace(residual.value, most);
  return most;
}

uint32_t ClosingCounts::search_most(RegexId residual) {
  uint32_t most = 0;
  std::vector<RegexId> found{residual};
  std::unordered_set<uint32_t> seen{residual.value};
  for (size_t i = 0; i < found.size(); ++i) {
    most = std::max(most, needed(found[i]));
    if (most == kUnbounded || found.size() > kMostResiduals) return kUnbounded;
    ByteSet left = regexes_.first(found[i]);
    while (!left.empty()) {
      const unsigned b = left.lowest();
      left -= regexes_.alike(found[i], b);
      const RegexId after = regexes_.derivative(found[i], b);
      if (!regexes_.is_empty(after) && seen.insert(after.value).second) found.push_back(after);
    }
  }
  return most;
}

}  // namespace cfgmask
