// Decimals, without sign and exponent, that are multiples of some numbers and not of others.
//
// With the point moved `places` to the right, all of these numbers are integers: the steps. Whether decimals are
// multiples of them is told by the remainder of their digits modulo the least common multiple of all steps, so one
// state is enough for any combination. What may still become of a remainder is found by arithmetic: k more digits add
// every number below 10^k.
//
// Threads: immutable once made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "util/byte_set.h"

namespace cfgmask {

class Multiples {
 public:
  // Numbers that one of the cases takes are taken.
  struct Case {
    uint64_t step;                  // they are multiples of it
    std::vector<uint64_t> without;  // and of none of these
    uint32_t most_places;           // this many digits behind the point; UINT32_MAX: any number of them
    bool finer;                     // whether what has other digits than zeros behind `places` is taken as well
  };

  // A number that has been written in part.
  struct Position {
    enum class Phase : uint32_t { kStart, kZero, kWhole, kFraction, kFiner };
    Phase phase = Phase::kStart;
    uint32_t written = 0;    // digits behind the point
    uint32_t left = 0;       // how many more may stand before it
    uint64_t remainder = 0;  // of all digits up to `places`
  };

  // Larger common multiples do not fit: ten times a remainder has 64 bits.
  static constexpr uint64_t kMostModulus = 1'000'000'000'000'000'000;
  static constexpr uint32_t kMostPlaces = 400;

  // most_digits  before the point, and behind it where a case has no bound of its own; UINT32_MAX: any number
  // Throws std::invalid_argument where a step is 0, their common multiple is not below kMostModulus, or there are too
  // many places. Linear, and about 100 ns for each remainder where these have classes, which are few.
  Multiples(uint32_t places, uint32_t most_digits, std::vector<Case> cases);

  // The same of words: the places, the most digits, and for each case the step as two words, the lower one first, the
  // most places, 1 if finer, how many there are without, and these as two words each. Throws std::invalid_argument.
  static Multiples of_words(std::span<const uint32_t> words);

  // nullopt if there is no such number.
  std::optional<Position> start() const;
  // nullopt if no number goes on like that.
  std::optional<Position> after(const Position& at, unsigned byte) const;
  // Whether a number may end here.
  bool accepts(const Position& at) const;
  // The bytes that `after` takes; and those that it takes to the same position as one of them, if that is plain.
  ByteSet first(const Position& at) const;
  ByteSet alike(const Position& at, unsigned byte) const;
  // The fewest bytes to an end, the most from here or any later position to the nearest end, and to any end at all.
  uint32_t shortest(const Position& at) const;
  uint32_t farthest() const { return n_digits_ + places_ + 3; }
  std::optional<uint32_t> longest(const Position& at) const;

  size_t bytes() const;

 private:
  // A case where so many digits of a fraction are written, as conditions on the integer that the digits make without a
  // point: the rest are zeros. No `step`: nothing is taken.
  struct Written {
    uint64_t step = 0;
    std::vector<uint64_t> without;
  };
  struct Rule {
    Case given;
    std::vector<Written> written;  // by the digits behind the point, up to `places` of them
    uint32_t last = 0;             // of these, how many it may have at most
  };

  static bool takes(const Written& condition, uint64_t number);
  bool may_follow(const Written& condition, uint64_t remainder, uint32_t n_digits) const;
  bool is_live(const Position& at) const;
  bool is_live(const Rule& rule, const Position& at) const;
  bool may_be_finer(const Rule& rule, uint32_t written) const;
  std::optional<Position> next(const Position& at, unsigned byte) const;
  uint64_t with_digit(uint64_t remainder, unsigned byte) const;
  uint32_t shortest(const Rule& rule, const Position& at) const;
  void find_classes();

  uint32_t places_;
  uint32_t most_digits_;
  uint64_t modulus_ = 1;
  uint32_t n_digits_ = 0;      // so many digits make every remainder of any
  uint32_t most_written_ = 0;  // digits behind the point, beyond which counts do not differ
  bool unbounded_ = false;     // whether there may be any number of them
  std::vector<Rule> rules_;
  // The least remainder that has the same future, where some have; else empty.
  std::vector<uint32_t> classes_;
};

}  // namespace cfgmask
