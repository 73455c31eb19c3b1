// Hash tables whose keys are texts that strangers wrote: property names, patterns, values, names of rules.
//
// The hash of the standard library has no secret: 16,384 property names that collide took 4.1 s of reading instead of
// 0.28. This one is SipHash-1-3 (Aumasson, Bernstein 2012) with a key of this process: without the key, collisions
// can't be found better than by chance. Cost: about a nanosecond per byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace cfgmask {

uint64_t text_hash(std::string_view text);

struct TextHash {
  using is_transparent = void;

  size_t operator()(std::string_view text) const { return text_hash(text); }
  size_t operator()(std::u32string_view text) const {
    return text_hash({reinterpret_cast<const char*>(text.data()), text.size() * sizeof(char32_t)});
  }
};

// Text: a string or a view, of char or char32_t. Look-ups take views.
template <class Text, class Value>
using TextMap = std::unordered_map<Text, Value, TextHash, std::equal_to<>>;
template <class Text>
using TextSet = std::unordered_set<Text, TextHash, std::equal_to<>>;

}  // namespace cfgmask
