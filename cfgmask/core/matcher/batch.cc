#include "matcher/batch.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "util/limits.h"
#include "util/workers.h"

namespace cfgmask {

namespace {

NextMask find_mask(BatchRow& row) {
  if (row.matcher == nullptr) return {};
  try {
    return row.matcher->next_mask();
  } catch (const LimitExceeded&) {
    row.error = std::current_exception();
    return row.matcher->next_mask_over_limit();
  } catch (...) {
    row.error = std::current_exception();
    return {};
  }
}

void write(const BatchRow& row, const NextMask& mask) {
  if (row.matcher == nullptr) {
    std::fill(row.bits.begin(), row.bits.end(), UINT32_MAX);
    return;
  }
  const Vocabulary& vocabulary = row.matcher->grammar().vocabulary();
  std::fill(row.bits.begin() + static_cast<std::ptrdiff_t>(vocabulary.n_words()), row.bits.end(), 0);
  mask.write(vocabulary, row.bits.first(vocabulary.n_words()));
}

// The rows by the store of their matchers.
std::vector<std::vector<BatchRow*>> by_store(std::span<BatchRow> rows) {
  std::map<const SharedStore*, std::vector<BatchRow*>> found;
  for (BatchRow& row : rows) found[row.matcher == nullptr ? nullptr : row.matcher->grammar().store()].push_back(&row);
  std::vector<std::vector<BatchRow*>> out;
  for (auto& [store, its_rows] : found) out.push_back(std::move(its_rows));
  return out;
}

void fill_alone(std::span<BatchRow> rows, size_t threads) {
  std::vector<NextMask> masks;
  masks.reserve(rows.size());
  for (BatchRow& row : rows) masks.push_back(find_mask(row));
  Workers::shared().for_each(rows.size(), threads - 1, [&](size_t i) { write(rows[i], masks[i]); });
}

}  // namespace

void fill_masks(std::span<BatchRow> rows, size_t threads) {
  if (threads == 1) return fill_alone(rows, threads);
  const auto parts = by_store(rows);
  if (parts.size() == 1) return fill_alone(rows, threads);
  Workers::shared().for_each(parts.size(), threads - 1, [&](size_t i) {
    for (BatchRow* row : parts[i]) write(*row, find_mask(*row));
  });
}

}  // namespace cfgmask
