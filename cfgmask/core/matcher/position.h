// Where a text is: the grammar's state, and what the text alone knows.
#pragma once

#include <cstdint>

#include "mask/known_steps.h"
#include "mask/written_keys.h"
#include "util/shared_text.h"

namespace cfgmask {

struct Position {
  StateId state;
  // Of a grammar with keys, else empty.
  WrittenKeys keys;
  SharedText lexeme;  // so far, where it may be a key
};

// A position, or the place so many characters behind it at which the same tokens lead on; see mask/stretches.h.
struct PositionAhead {
  Position of;
  uint32_t n_ahead = 0;
};

}  // namespace cfgmask
