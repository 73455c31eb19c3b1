// Registers of values: the scalars of a list, or the keys of an object, in which no value may come twice, as JSON or
// YAML spells them.
//
// A register is an interned set of values and the bounds of that set, so equal sets are one id whatever the order they
// came in. Values are compared as JSON Schema does: strings by what they decode to, numbers by what they are worth.
// Bounds leave no set that cannot be completed: once only the required values have room, nothing else fits.
//
// Threads: guarded by the owner.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "earley/grammar.h"
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
  // Registers and texts are charged as item sets, of which each may begin one. `bounds` outlives this.
  SeenValues(RegexStore& regexes, const std::vector<SetBounds>& bounds, uint64_t max_item_sets);

  // No set is open.
  static constexpr SeenId none() { return SeenId(0U); }
  // A set with bounds[i] is, and nothing has been seen in it.
  SeenId open(uint32_t i);
  // The register with the value of a lexeme.
  SeenId add(SeenId seen, TextId text);
  // The lexemes of `regex` whose values may be added to the register: those that are not in it and for which it has
  // room. RegexStore::nothing() if there are none. Remembered.
  RegexId addable(RegexId regex, SeenId seen);
  // Whether the register has all that its bounds ask for.
  bool may_close(SeenId seen) const;

  // Texts of lexemes, one byte after the other. no_text() stands for a text that nobody needs.
  static constexpr TextId no_text() { return TextId(0U); }
  static constexpr TextId empty_text() { return TextId(1U); }
  // Some text or other: what may follow it is a superset of what may follow any.
  static constexpr TextId any_text() { return TextId(2U); }
  TextId append(TextId text, unsigned b);

  size_t bytes() const;

 private:
  struct Text {
    TextId shorter;
    uint8_t last = 0;
  };

  // The values of a register as regexes: strings over their decoded text, anything else as it is spelled.
  struct Unwanted {
    RegexId strings;
    RegexId others;
  };

  const Unwanted& unwanted(SeenId seen);
  Unwanted compute_unwanted(SeenId seen);
  uint32_t intern_value(std::string value);
  Words values(SeenId seen) const { return seen_ids_.at(seen.value).subspan(1); }
  const SetBounds& bounds(SeenId seen) const;
  std::vector<std::string> missing(SeenId seen) const;
  RegexId compute_addable(RegexId regex, SeenId seen);
  std::string spelled(TextId text) const;
  RegexId subtract(RegexId regex, const Unwanted& unwanted);
  RegexId without(RegexId regex, RegexId unwanted);

  RegexStore& regexes_;
  const std::vector<SetBounds>& bounds_;
  Account account_;
  ChunkedVector<Text> texts_;
  HashTable text_ids_;  // (text, byte)
  Interner value_ids_;  // words of the value's bytes; see value_of()
  ChunkedVector<std::string> values_;
  Interner seen_ids_;       // index of the bounds, then sorted values
  HashTable addable_;       // (regex, register)
  HashTable unwanted_ids_;  // by register; every terminal that may come next asks for the same
  ChunkedVector<Unwanted> unwanted_;
};

}  // namespace cfgmask
