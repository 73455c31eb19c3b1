// Hash tables that grow a little with each insertion instead of all at once.
//
// Open addressing with linear probing. When a table is three quarters full, a table of twice the size is started and
// every later insertion moves kMove entries over, in their order. What was not reached yet stays in the old table, and
// is added there as well, so that pages of the new one are met one after the other: the system makes each when it is
// first looked at, and tables of a hundred megabytes whose pages were met in any order made pauses of 10 ms. The
// longest pause is one allocation. Nothing is ever erased, which is what interning needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "util/hash_seed.h"
#include "util/zeroed_array.h"

namespace cfgmask {

inline uint64_t mix(uint64_t x) {
  // The finaliser of SplitMix64 (Steele, Lea, Flood 2014).
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

// With the secret of this process: the words may be a text that a stranger wrote.
inline uint64_t hash_words(const uint32_t* words, size_t n) {
  uint64_t h = kHashSeed + 0x9e3779b97f4a7c15ULL * (n + 1);
  for (size_t i = 0; i < n; ++i) h = mix(h ^ words[i]) + 0x9e3779b97f4a7c15ULL;
  return h;
}

// Slots of tables; all zeroes is an empty one. An exact one has a key of 64 bits, any but the greatest.
class ExactSlot {
 public:
  ExactSlot() = default;
  ExactSlot(uint64_t key, uint32_t value)
      : low_(static_cast<uint32_t>(~key)), high_(static_cast<uint32_t>(~key >> 32)), value_(value) {}
  bool is_used() const { return (low_ | high_) != 0; }
  uint64_t key() const { return ~((uint64_t{high_} << 32) | low_); }
  uint32_t value() const { return value_; }

 private:
  uint32_t low_;  // halves, for an alignment of four bytes
  uint32_t high_;
  uint32_t value_;
};

// One of an index has half a hash, and a value that is not the greatest.
class IndexSlot {
 public:
  IndexSlot() = default;
  IndexSlot(uint64_t hash, uint32_t value) : hash_(static_cast<uint32_t>(hash)), value_after_(value + 1) {}
  bool is_used() const { return value_after_ != 0; }
  uint32_t key() const { return hash_; }
  uint32_t value() const { return value_after_ - 1; }

 private:
  uint32_t hash_;
  uint32_t value_after_;
};

// Entries of (key, 32-bit value); several entries may have the same key where keys are hashes.
template <class Slot>
class OpenTable {
 public:
  using Key = decltype(Slot().key());

  // The value of the first entry with this key for which `same(value)` holds.
  template <class Same>
  std::optional<uint32_t> find(Key key, Same same) const {
    if (old_.empty()) return probe(slots_, key, same);
    size_t i = mix(key) & (old_.size() - 1);
    if (i >= moved_) {
      for (; i < old_.size() && old_[i].is_used(); ++i) {
        if (old_[i].key() == key && same(old_[i].value())) return old_[i].value();
      }
      if (i < old_.size()) return std::nullopt;
    }
    if (auto found = probe(slots_, key, same)) return found;
    return probe(old_, key, same);
  }

  std::optional<uint32_t> find(Key key) const {
    return find(key, [](uint32_t) { return true; });
  }

  // Adds an entry. One that is there already stays, and either may be found.
  void insert(Key key, uint32_t value) {
    if ((count_ + 1) * 4 > slots_.size() * 3) grow();
    if (!place_in_old(key, value)) place(key, value);
    ++count_;
    if (!old_.empty()) move_some();
  }

  // Leaves room for as many entries as before, unless they were many.
  void clear() {
    old_ = Slots();
    if (slots_.size() > kKept) slots_ = Slots();
    if (count_ > 0) slots_.clear();
    moved_ = count_ = 0;
  }

  size_t size() const { return count_; }
  size_t bytes() const { return slots_.bytes() + old_.bytes(); }

 private:
  using Slots = ZeroedArray<Slot>;
  static constexpr size_t kFirst = 16;
  static constexpr size_t kMove = 16;
  static constexpr size_t kKept = 256;

  template <class Same>
  static std::optional<uint32_t> probe(const Slots& slots, Key key, Same same) {
    if (slots.empty()) return std::nullopt;
    const size_t mask = slots.size() - 1;
    for (size_t i = mix(key) & mask; slots[i].is_used(); i = (i + 1) & mask) {
      if (slots[i].key() == key && same(slots[i].value())) return slots[i].value();
    }
    return std::nullopt;
  }

  void place(Key key, uint32_t value) {
    const size_t mask = slots_.size() - 1;
    size_t i = mix(key) & mask;
    while (slots_[i].is_used()) i = (i + 1) & mask;
    slots_[i] = Slot(key, value);
  }

  // Where the move will come by; not beyond the end, for it has been at the beginning.
  bool place_in_old(Key key, uint32_t value) {
    if (old_.empty()) return false;
    size_t i = mix(key) & (old_.size() - 1);
    if (i < moved_) return false;
    while (i < old_.size() && old_[i].is_used()) ++i;
    if (i == old_.size()) return false;
    old_[i] = Slot(key, value);
    return true;
  }

  void grow() {
    while (!old_.empty()) move_some();
    Slots larger(slots_.empty() ? kFirst : slots_.size() * 2);
    old_ = std::exchange(slots_, std::move(larger));
    moved_ = 0;
  }

  // Entries stay in `old_` after they were copied, so that its probe chains hold; the whole is freed at the end. Until
  // then it grows by a sixteenth at most.
  void move_some() {
    const size_t end = moved_ + kMove < old_.size() ? moved_ + kMove : old_.size();
    for (; moved_ < end; ++moved_) {
      if (old_[moved_].is_used()) place(old_[moved_].key(), old_[moved_].value());
    }
    if (moved_ == old_.size()) old_ = Slots();
  }

  Slots slots_;
  Slots old_;
  size_t moved_ = 0;
  size_t count_ = 0;
};

using HashTable = OpenTable<ExactSlot>;
using HashIndex = OpenTable<IndexSlot>;

}  // namespace cfgmask
