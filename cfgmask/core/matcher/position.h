// Where a text is: the grammar's state, and what the text alone knows.
#pragma once

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

}  // namespace cfgmask
