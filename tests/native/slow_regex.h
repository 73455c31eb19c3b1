// A regex matcher that is slow and obvious: for a node and a start, the set of places where a match may end.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "regex/regex.h"

namespace cfgmask::testing {

struct SlowRegex {
  enum class Kind {
    kLiteral,
    kBytes,
    kCharacters,
    kConcatenation,
    kAlternation,
    kIntersection,
    kComplement,
    kRepetition,
    kKeySet,
    kJsonString,
    kDivisible,
    kSubstring,
    kMultiples,
  };
  Kind kind = Kind::kLiteral;
  std::vector<std::string> keys;       // kLiteral (one), kKeySet, kSubstring (its chunks)
  ByteSet bytes;                       // kBytes
  std::vector<CodePointRange> ranges;  // kCharacters
  std::vector<std::shared_ptr<const SlowRegex>> parts;
  uint32_t minimum = 0;
  uint32_t maximum = 0;
  JsonEscapes escapes = JsonEscapes::kAny;
  uint32_t modulus = 1;  // kDivisible
  // kMultiples; these may be so many digits behind the point as the minimum says, and the maximum bounds all.
  std::vector<Multiples::Case> cases;
};

// Bit e of the result: some match of text[start:] ends before position e. The text has at most 63 bytes.
uint64_t match_ends(const SlowRegex& regex, std::string_view text, size_t start);

bool matches(const SlowRegex& regex, std::string_view text);

// The text that a JSON string literal stands for; nullopt if it is none, or spells a character in a way `escapes`
// forbids.
std::optional<std::string> decode_json_string(std::string_view literal, JsonEscapes escapes);

}  // namespace cfgmask::testing
