#include "mask/closing_counts.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "regex/minimum_length.h"

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

// Its texts out of bytes that are tokens by themselves, which mostly all are.
RegexId ClosingCounts::spelled(RegexId residual) {
  if (single_bytes_ == ByteSet::all()) return residual;
  return regexes_.intersection({residual, regexes_.repetition(regexes_.bytes(single_bytes_), 0, kUnbounded)});
}

uint32_t ClosingCounts::count(RegexId residual) {
  const auto text = regexes_.shortest(spelled(residual));
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
  if (single_bytes_ != ByteSet::all()) return kUnbounded;
  const uint32_t farthest = regexes_.lengths().farthest(residual);
  return farthest < kNoLength ? farthest : kUnbounded;
}

}  // namespace cfgmask
