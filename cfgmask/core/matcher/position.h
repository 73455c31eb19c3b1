// Where a text is: the grammar's state, and what the text alone knows.
#pragma once

#include "mask/written_keys.h"
#include "util/ids.h"
#include "util/shared_text.h"

namespace cfgmask {

using StateId = Id<struct StateTag>;

struct Position {
  StateId state;
  // Of a grammar with keys, else empty.
  WrittenKeys keys;
  SharedText lexeme;  // so far, where it may be a key
};

}  // namespace cfgmask
