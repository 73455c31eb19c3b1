#include "regex/endless.h"

#include <vector>

#include "util/hash_table.h"

namespace cfgmask {

namespace {

constexpr size_t kMostEndless = 500;
// Of all of these together: each derivative takes one of every part.
constexpr size_t kMostParts = 20'000;

}  // namespace

// Where finitely many strings are left, nothing is after the longest of them: there is a residual without a next one.
bool is_endless(RegexStore& regexes, RegexId node) {
  if (regexes.is_endless_at_sight(node) || regexes.is_empty(node)) return true;
  std::vector<RegexId> residuals{node};
  HashTable known;
  known.insert(node.value, 0);
  size_t n_parts = 0;
  for (size_t i = 0; i < residuals.size(); ++i) {
    n_parts += regexes.parts(residuals[i]).size();
    if (i > 0 && n_parts > kMostParts) return false;
    bool goes_on = false;
    for (ByteSet left = regexes.first(residuals[i]); !left.empty();) {
      const unsigned b = left.lowest();
      left -= regexes.alike(residuals[i], b);
      const RegexId rest = regexes.derivative(residuals[i], b);
      if (regexes.is_empty(rest)) continue;
      goes_on = true;
      if (known.find(rest.value)) continue;
      if (residuals.size() == kMostEndless) return false;
      known.insert(rest.value, 0);
      residuals.push_back(rest);
    }
    if (!goes_on) return false;
  }
  return true;
}

}  // namespace cfgmask
