// A set of texts that is sorted before a store knows it, for those who read a large list once and need it in many
// stores: to a store it is a look-up and no copy.
//
// Threads: immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "util/interner.h"

namespace cfgmask {

class KeyList {
 public:
  explicit KeyList(std::vector<uint32_t> words) : words_(std::move(words)), hash_(Interner::hash(words_)) {}

  // As RegexStore::key_set takes them; at least one text.
  static std::shared_ptr<const KeyList> of(std::vector<std::string_view> texts);

  Words words() const { return words_; }
  uint32_t hash() const { return hash_; }

 private:
  std::vector<uint32_t> words_;
  uint32_t hash_;
};

}  // namespace cfgmask
