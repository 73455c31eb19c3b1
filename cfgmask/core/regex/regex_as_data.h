// The nodes of a store as data again (regex/regex_data.h), for those who look at rules: characters where the store has
// their bytes, texts where it has one byte after the other.
//
// Threads: guarded by the owner of the store.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "regex/regex.h"
#include "regex/regex_data.h"
#include "util/byte_set.h"

namespace cfgmask {

class RegexAsData {
 public:
  explicit RegexAsData(RegexStore& store);

  // The number of a node in `data()`. A complement is taken for one of texts in UTF-8, which is all that a body of JSON
  // strings or a part of an intersection needs. Throws std::invalid_argument for a node of which bytes were read, and
  // for kSubstring, whose chunks the store does not keep; LimitExceeded. Linear in the node; no recursion over it.
  uint32_t add(RegexId node);
  const RegexData& data() const { return data_; }

 private:
  using Ranges = std::vector<CodePointRange>;
  // What a node consists of: a text, a class of characters or of bytes, or a node.
  struct Item {
    enum class Is : uint8_t { kText, kCharacters, kBytes, kNode };

    Is is;
    std::string text = {};
    Ranges ranges = {};
    RegexId node = RegexStore::nothing();
  };
  // A node to be made once what it consists of is. One of a single item that is a concatenation or an alternation is
  // that item.
  struct Plan {
    RegexId of;
    RegexData::Kind kind;
    std::vector<Item> items = {};
    std::vector<std::string> texts = {};
    uint32_t minimum = 0;
    uint32_t maximum = 0;
  };

  Plan plan(RegexId node);
  void plan_concatenation(RegexId node, Plan& into);
  void plan_alternation(const std::vector<RegexId>& parts, Plan& into);
  uint32_t make(const Plan& plan);
  uint32_t number_of(const Item& item);
  // The characters of which a node matches one; nullopt for another node.
  std::optional<Ranges> characters(RegexId node);
  bool collect(RegexId node, uint32_t bits, int n_more, Ranges& into);
  // The text that is the only one of a set.
  std::optional<std::string> only_text(RegexId node) const;
  // How many bytes of a character each string of a node is, behind its first one; 0 for other nodes.
  int continuation(RegexId node, int most) const;
  ByteSet bytes_of(RegexId node) const;

  RegexStore& store_;
  RegexData data_;
  std::unordered_map<uint32_t, uint32_t> known_;  // by node
  std::unordered_map<uint32_t, std::optional<Ranges>> characters_;
  RegexId any_continuation_[4];
};

}  // namespace cfgmask
