#include "regex/count.h"

#include <algorithm>
#include <map>
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

// Calls take(residual, how many of the bytes lead to it), perhaps several times for one.
template <class Take>
void for_each_rest(RegexStore& regexes, RegexId node, const ByteSet& bytes, Take take) {
  ByteSet left = regexes.first(node);
  left &= bytes;
  while (!left.empty()) {
    const unsigned b = left.lowest();
    ByteSet same = regexes.alike(node, b);
    same &= left;
    left -= same;
    take(regexes.derivative(node, b), static_cast<uint32_t>(same.count()));
  }
}

Open open(RegexStore& regexes, RegexId node) {
  Open out{node, {}, 0, regexes.nullable(node) ? 1U : 0U};
  for_each_rest(regexes, node, ByteSet::all(), [&](RegexId rest, uint32_t n_bytes) {
    if (!regexes.is_empty(rest)) out.rests.emplace_back(rest, n_bytes);
  });
  return out;
}

// Whether its shortest texts of ASCII alone are more: where residuals are many, as those of an address within 2,048
// characters are, most often so. Some milliseconds at the most.
bool has_more_short_ones(RegexStore& regexes, RegexId node, uint32_t at_most) {
  constexpr size_t kMostVisits = 2'000;
  const ByteSet ascii = ByteSet::range(0, 0x7f);
  constexpr uint64_t kMany = UINT32_MAX;
  std::map<uint32_t, uint64_t> level{{node.value, 1}};  // residuals, each with how many texts of a length lead to it
  uint64_t found = 0;
  for (size_t n_visits = 0; !level.empty();) {
    std::map<uint32_t, uint64_t> next;
    for (const auto& [at, n_texts] : level) {
      if (regexes.nullable(RegexId(at))) found += n_texts;
      if (found > at_most) return true;
      if (++n_visits > kMostVisits) return false;
      for_each_rest(regexes, RegexId(at), ascii, [&, n = n_texts](RegexId rest, uint32_t n_bytes) {
        if (rest == RegexStore::nothing()) return;
        uint64_t& known = next[rest.value];
        known = std::min(kMany, known + n * n_bytes);
      });
    }
    level = std::move(next);
  }
  return false;
}

}  // namespace

// Residuals depth first, each counted once. One that leads to itself comes again and again.
std::optional<uint32_t> count_texts(RegexStore& regexes, RegexId node, uint32_t at_most) {
  if (has_more_short_ones(regexes, node, at_most)) return std::nullopt;
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
