// Values by key, of which those that nobody asked for in a while are forgotten, a few at a time. (A std::unordered_map
// of all tables made pauses of 8 and 17 ms where it grew, in MaskBench's texts; and who forgets everything at once has
// to make anew what is in use.)
//
// Two generations: what is found in the older one moves to the younger. When the younger one has grown enough, it takes
// the place of the older one, whose values are freed by and by.
//
// Threads: guarded by the owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "util/chunked_vector.h"
#include "util/hash_table.h"
#include "util/in_step.h"

namespace cfgmask {

// T has bytes(). A value may be null.
template <class T>
class RecentValues {
 public:
  using Value = std::shared_ptr<const T>;

  // The value outlives its being forgotten.
  std::optional<Value> find(uint64_t key) {
    if (const auto at = young_.index.find(key)) return young_.values[*at];
    const auto at = old_.index.find(key);
    if (!at) return std::nullopt;
    Value value = old_.values[*at];
    add(key, value);  // before anything of the older one changes, for it may have no memory
    old_.values[*at] = nullptr;
    const size_t bytes = bytes_of(value);
    old_.bytes -= bytes < old_.bytes ? bytes : old_.bytes;
    ++old_.n_moved;
    return value;
  }
  // The caller knows that there is none.
  void add(uint64_t key, Value value) {
    const size_t bytes = bytes_of(value);
    insert_with(young_.index, key, young_.values, std::move(value));
    young_.bytes += bytes;
  }
  // A value that was found has grown.
  void charge(size_t bytes) { young_.bytes += bytes; }

  // What was not asked for since the last time is forgotten. What is still to be freed from then, is freed now.
  void age() {
    dying_ = std::exchange(old_, std::exchange(young_, {}));
    n_freed_ = 0;
  }
  // Frees a few of the values that were forgotten.
  void free_some() {
    if (dying_.values.size() == 0) return;
    for (size_t n = 0; n < kFreed && n_freed_ < dying_.values.size(); ++n) dying_.values[n_freed_++] = nullptr;
    if (n_freed_ == dying_.values.size()) dying_ = {};
  }

  size_t size() const { return young_.values.size() + old_.values.size() - old_.n_moved; }
  // Of the younger generation alone, which age() is for, and of both.
  size_t young_bytes() const { return young_.bytes; }
  size_t bytes() const { return young_.bytes + old_.bytes; }

 private:
  // Far more than are added between two calls.
  static constexpr size_t kFreed = 16;
  // Bytes of a place in a generation, about.
  static constexpr size_t kPlace = 48;

  struct Generation {
    HashTable index;
    ChunkedVector<Value> values;
    size_t bytes = 0;
    size_t n_moved = 0;  // to the younger one
  };

  static size_t bytes_of(const Value& value) { return kPlace + (value == nullptr ? 0 : value->bytes()); }

  Generation young_;
  Generation old_;
  Generation dying_;
  size_t n_freed_ = 0;
};

}  // namespace cfgmask
