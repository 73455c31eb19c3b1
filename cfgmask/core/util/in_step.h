// A list of values, in step with an interner or a table that finds their places in it.
//
// Either allocation may fail, and the owner is used again later. So the value is written first, and then the entry that
// finds it: an error leaves at most a value that nothing finds. In an interner the ids are the places, so such a value
// is overwritten by the next one.
#pragma once

#include <cstdint>
#include <utility>

#include "util/hash_table.h"
#include "util/interner.h"

namespace cfgmask {

// Adds words that `find` did not find, and their value. Returns their id, the value's place in the list.
template <class List, class T>
uint32_t add_with(Interner& ids, Words words, uint32_t hash, List& list, T value) {
  if (list.size() == ids.size()) {
    list.push_back(std::move(value));
  } else {
    list[ids.size()] = std::move(value);
  }
  return ids.add(words, hash);
}

template <class List, class T>
uint32_t add_with(Interner& ids, Words words, List& list, T value) {
  return add_with(ids, words, Interner::hash(words), list, std::move(value));
}

// Adds a key that `find` did not find, and its value. Returns the value's place in the list.
template <class List, class T>
uint32_t insert_with(HashTable& places, uint64_t key, List& list, T value) {
  const auto place = static_cast<uint32_t>(list.size());
  list.push_back(std::move(value));
  places.insert(key, place);
  return place;
}

}  // namespace cfgmask
