#include "matcher/batch.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <utility>
#include <vector>

#include "util/limits.h"
#include "util/pause.h"
#include "util/workers.h"

namespace cfgmask {

namespace {

// What ended the work of the thread that waits for all of it; then the others stop at their next row.
struct Ending {
  std::atomic<bool> is_ended = false;
  std::exception_ptr error = nullptr;
};

// Never throws: a worker calls it, and what is left over a limit may take memory that is not there, too.
NextMask find_mask(BatchRow& row, Ending& ending) noexcept {
  try {
    try {
      return row.matcher->next_mask();
    } catch (const LimitExceeded& limit) {
      row.error = std::current_exception();
      row.matcher->grammar().counts()->add_limit(limit.limit());
      return row.matcher->next_mask_over_limit();
    }
  } catch (const Pause::Ended&) {
    ending.error = std::current_exception();
    ending.is_ended = true;
    return {};
  } catch (...) {
    row.error = std::current_exception();
    return {};
  }
}

// Whether the row is written; else its mask has to be found.
bool write_known(const BatchRow& row) {
  if (row.matcher == nullptr) {
    std::fill(row.bits.begin(), row.bits.end(), UINT32_MAX);
    return true;
  }
  const size_t n_words = row.matcher->grammar().vocabulary().n_words();
  std::fill(row.bits.begin() + static_cast<std::ptrdiff_t>(n_words), row.bits.end(), 0);
  return row.matcher->fill_known_mask(row.bits.first(n_words));
}

// The rows by the store of their matchers.
std::vector<std::vector<BatchRow*>> by_store(std::span<BatchRow* const> rows) {
  std::map<const SharedStore*, std::vector<BatchRow*>> found;
  for (BatchRow* row : rows) found[row->matcher->grammar().store()].push_back(row);
  std::vector<std::vector<BatchRow*>> out;
  for (auto& [store, its_rows] : found) out.push_back(std::move(its_rows));
  return out;
}

}  // namespace

// A known row takes a fifth of a microsecond, and to wake a thread and wait for it as long as some tens of them: of two
// threads that took one row at a time, 1,024 rows took half again as long as of one.
void fill_masks(std::span<BatchRow> rows, size_t threads) {
  constexpr size_t kRowsPerThread = 128;
  constexpr size_t kRowsAtATime = 32;
  std::vector<uint8_t> is_written(rows.size());
  const size_t helpers = std::min(threads - 1, rows.size() / kRowsPerThread);
  Workers::shared().for_each(rows.size(), helpers, kRowsAtATime,
                             [&](size_t i) { is_written[i] = write_known(rows[i]) ? 1 : 0; });
  std::vector<BatchRow*> others;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (is_written[i] == 0) others.push_back(&rows[i]);
  }
  if (others.empty()) return;
  const auto parts = by_store(others);
  Ending ending;
  Workers::shared().for_each(parts.size(), threads - 1, 1, [&](size_t i) {
    for (BatchRow* row : parts[i]) {
      if (ending.is_ended) return;
      const Vocabulary& vocabulary = row->matcher->grammar().vocabulary();
      const NextMask found = find_mask(*row, ending);
      row->cost = found.cost();
      found.write(vocabulary, row->bits.first(vocabulary.n_words()));
    }
  });
  if (ending.error) std::rethrow_exception(ending.error);
}

}  // namespace cfgmask
