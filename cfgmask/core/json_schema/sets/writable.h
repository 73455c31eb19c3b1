// Which values can be written where texts lack some bytes or escapes.
//
// How many values an array without equal items may have, and which keys an object, depends on what can be written. So
// what cannot leaves the sets of values before anything is counted; its spellings leave the terminals anyway.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "json_schema/spelling/number_spelling.h"
#include "regex/regex.h"
#include "util/byte_set.h"

namespace cfgmask {

struct Writable {
  ByteSet held = ByteSet::all();
  NumberStyle numbers = {};
  bool has_strings = true;
  bool has_arrays = true;
  bool has_objects = true;
  uint32_t most_items = kUnbounded;
  uint32_t most_keys = kUnbounded;
  std::string strings = {};  // the strings that can be written, as a schema in JSON; empty: all
  // Whether a string that a schema lists, or the name of a member, is written.
  std::function<bool(const std::string& text, bool is_name)> is_written;
};

}  // namespace cfgmask
