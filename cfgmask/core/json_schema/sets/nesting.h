// How deep values may be nested where the indentation of lines is bounded.
//
// A room is a number: what may still be opened at a place. In JSON that is the number of brackets. In YAML it is told
// by how far the place is indented and by whether a block begins right there or below a key. The more room there is,
// the more values fit, with one exception: see `is_least`.
//
// Immutable.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "regex/regex.h"

namespace cfgmask {

// Where the block of an array or object begins: where the text stands, or on a line of its own, below a key. Of JSON
// all is `kHere`.
enum class BlockPlace : uint8_t { kHere, kBelow };

class Nesting {
 public:
  // At most so many brackets.
  static Nesting of_brackets(uint32_t most) { return {most, 1, 1, false}; }
  // At most so many units of indentation. An item is so many further to the right than the dash before it, and a block
  // than the key above it; but an array may begin right below its key.
  static Nesting of_blocks(uint32_t most_units, uint32_t below_dash, uint32_t below_key) {
    return {most_units, below_dash, below_key, true};
  }

  // At a place with so many units or brackets around it.
  uint32_t room(uint32_t around, BlockPlace place = BlockPlace::kHere) const {
    if (!is_of_blocks_) return most_ - around;
    // The outermost block is no unit further to the right, and there may be one without any unit left.
    return 2 * (most_ + 1 - std::min(around, most_ + 1)) + (place == BlockPlace::kHere ? 1 : 0);
  }
  // The room of the items of an array that is at a place of this room, and of the values of an object's members; none:
  // there is no room for an array or object.
  std::optional<uint32_t> in_array(uint32_t room) const {
    if (room == kUnbounded) return room;
    if (!is_of_blocks_) return room == 0 ? std::nullopt : std::optional(room - 1);
    const uint32_t here = room | 1;
    if (here < kSomeHere) return std::nullopt;
    return here > 2 * below_dash_ ? here - 2 * below_dash_ : 1;
  }
  std::optional<uint32_t> in_object(uint32_t room) const {
    if (room == kUnbounded || !is_of_blocks_) return in_array(room);
    if ((room & 1) == 1) return room < kSomeHere ? std::nullopt : std::optional(room - 1);
    return room < 2 * below_key_ + kSomeBelow ? std::nullopt : std::optional(room - 2 * below_key_);
  }
  // Whether whatever fits into this room fits into every room with a greater number.
  bool is_least(uint32_t room) const { return !is_of_blocks_ || (room & 1) == 0; }

 private:
  static constexpr uint32_t kSomeBelow = 2;
  static constexpr uint32_t kSomeHere = 3;

  Nesting(uint32_t most, uint32_t below_dash, uint32_t below_key, bool is_of_blocks)
      : most_(most), below_dash_(below_dash), below_key_(below_key), is_of_blocks_(is_of_blocks) {}

  uint32_t most_;
  uint32_t below_dash_;
  uint32_t below_key_;
  bool is_of_blocks_;
};

}  // namespace cfgmask
