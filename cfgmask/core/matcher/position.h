// Where a text is: the grammar's state, and what the text alone knows.
#pragma once

#include <cstdint>
#include <utility>

#include "mask/known_steps.h"
#include "mask/written_keys.h"
#include "util/shared_text.h"

namespace cfgmask {

struct Position {
  Position() = default;
  Position(StateId at, WrittenKeys written, SharedText pending)
      : keys(std::move(written)), lexeme(std::move(pending)), state(at) {}

  // Of a grammar with keys, else empty.
  WrittenKeys keys;
  SharedText lexeme;  // so far, where it may be a key
  StateId state;
};

// A position, or the place so many characters behind it at which the same may come, token by token and symbol by
// symbol; see mask/bounded_strings.h.
struct OffsetPosition {
  [[no_unique_address]] Position of;  // a step keeps one of these: there is room for a number behind the state
  uint32_t n_ahead = 0;
};

}  // namespace cfgmask
