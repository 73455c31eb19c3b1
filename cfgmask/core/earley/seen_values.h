// Registers of values: the JSON scalars of a list in which no value may come twice.
//
// A register is an interned set of values, so equal sets are one id whatever the order they came in. Values are
// compared as JSON Schema does: strings by what they decode to, numbers by what they are worth.
//
// Threads: guarded by the owner.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "regex/regex.h"
#include "util/chunked_vector.h"
#include "util/hash_table.h"
#include "util/ids.h"
#include "util/interner.h"
#include "util/limits.h"

namespace cfgmask {

using SeenId = Id<struct SeenTag>;
using TextId = Id<struct TextTag>;

class SeenValues {
 public:
  // Registers and texts are charged as item sets, of which each may begin one.
  SeenValues(RegexStore& regexes, uint64_t max_item_sets);

  // No set is open; a set is, and nothing has been seen in it.
  static constexpr SeenId none() { return SeenId(0U); }
  static constexpr SeenId empty() { return SeenId(1U); }
  // The register with the value of a lexeme.
  SeenId add(SeenId seen, TextId text);
  // The lexemes of `regex` whose values are not in the register; RegexStore::nothing() if there are none. Remembered.
  RegexId without(RegexId regex, SeenId seen);

  // Texts of lexemes, one byte after the other. no_text() stands for a text that nobody needs.
  static constexpr TextId no_text() { return TextId(0U); }
  static constexpr TextId empty_text() { return TextId(1U); }
  TextId append(TextId text, unsigned b);

  size_t bytes() const;

 private:
  struct Text {
    TextId shorter;
    uint8_t last = 0;
  };

  std::string spelled(TextId text) const;
  RegexId subtract(RegexId regex, RegexId strings, RegexId others);

  RegexStore& regexes_;
  Account account_;
  ChunkedVector<Text> texts_;
  HashTable text_ids_;  // (text, byte)
  Interner value_ids_;  // words of the value's bytes; see value_of()
  ChunkedVector<std::string> values_;
  Interner seen_ids_;      // sorted values
  HashTable differences_;  // (regex, register)
};

}  // namespace cfgmask
