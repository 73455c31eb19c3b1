#include "regex/count.h"

#include <unordered_map>
#include <utility>
#include <vector>

#include "util/limits.h"

namespace cfgmask {

namespace {

constexpr size_t kMostResiduals = 20'000;

struct Open {
  RegexId node;
  std::vector<std::pair<RegexId, uint32_t>> rests;  // each with how many bytes lead to it
  size_t next = 0;
  uint64_t found = 0;
};

Open open(RegexStore& regexes, RegexId node) {
  Open out{node, {}, 0, regexes.nullable(node) ? 1U : 0U};
  for (ByteSet left = regexes.first(node); !left.empty();) {
    const unsigned b = left.lowest();
    ByteSet same = regexes.alike(node, b);
    same &= left;
    left -= same;
    const RegexId rest = regexes.derivative(node, b);
    if (!regexes.is_empty(rest)) out.rests.emplace_back(rest, static_cast<uint32_t>(same.count()));
  }
  return out;
}

}  // namespace

// Residuals depth first, each counted once. One that leads to itself comes again and again.
std::optional<uint32_t> count_texts(RegexStore& regexes, RegexId node, uint32_t at_most) {
  if (regexes.is_empty(node)) return 0;
  if (regexes.is_infinite(node)) return std::nullopt;
  std::unordered_map<uint32_t, uint64_t> counts;
  std::vector<Open> path;
  path.push_back(open(regexes, node));
  while (true) {
    Open& at = path.back();
    if (at.found > at_most) return std::nullopt;
    if (at.next == at.rests.size()) {
      const uint64_t found = at.found;
      if (path.size() == 1) return static_cast<uint32_t>(found);
      counts.emplace(at.node.value, found);
      path.pop_back();
      continue;
    }
    const auto [rest, n_bytes] = at.rests[at.next];
    if (const auto known = counts.find(rest.value); known != counts.end()) {
      at.found += known->second * n_bytes;
      ++at.next;
    } else {
      if (counts.size() + path.size() > kMostResiduals) throw LimitExceeded("max_search_steps", kMostResiduals);
      path.push_back(open(regexes, rest));
    }
  }
}

}  // namespace cfgmask
