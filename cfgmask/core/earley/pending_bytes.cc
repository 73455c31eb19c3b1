#include "earley/pending_bytes.h"

#include <algorithm>
#include <vector>

#include "regex/minimum_length.h"
#include "util/hash_table.h"

namespace cfgmask {

// Of what may be lexemes of the grammar.
const Item* PendingBytes::first(ItemSetId set) const {
  for (const ItemSet::Edge& edge : parser_.at(set).edges) {
    if (!edge.is_ignore()) return &edge.item;
  }
  return nullptr;
}

uint32_t PendingBytes::bytes(ItemSetId set) {
  const Item* item = first(set);
  return item == nullptr ? 0 : around(item->continuation);
}

RegexId PendingBytes::lexemes(ItemSetId set, TextId text) {
  const Item* item = first(set);
  if (item == nullptr || text == DistinctRegister::no_text()) return RegexStore::nothing();
  return parser_.distinct_register_.missing_lexemes(parser_.continuations_[item->continuation.value].seen, text);
}

RegexId PendingBytes::keys(ItemSetId set, RegexId left) {
  const Item* item = first(set);
  if (item == nullptr) return RegexStore::nothing();
  return parser_.distinct_register_.missing_keys(parser_.continuations_[item->continuation.value].seen, left);
}

// A register is handed on to what follows until the rule that opened it ends.
uint32_t PendingBytes::around(ContinuationId continuation) {
  struct Open {
    uint64_t key;
    uint32_t bytes;  // of its own register, if that ends here
  };
  std::vector<Open> path;
  HashTable is_passed;
  uint32_t found = 0;
  for (RegisterId seen = parser_.continuations_[continuation.value].seen;;) {
    const uint64_t key = (uint64_t{seen.value} << 32) | continuation.value;
    if (const auto known = known_.find(key); known != known_.end()) {
      found = known->second;
      break;
    }
    if (is_passed.find(key)) break;  // left recursion comes back here
    is_passed.insert(key, 0);
    const Parser::Continuation& here = parser_.continuations_[continuation.value];
    const bool is_end = here.kind == Parser::ContinuationKind::kRestores || here.members.empty();
    path.push_back({key, is_end ? parser_.distinct_register_.bytes_to_close(seen) : 0});
    if (here.members.empty()) break;
    continuation = Item::unpack(here.members[0]).continuation;
    const RegisterId own = parser_.continuations_[continuation.value].seen;
    if (is_end || own != DistinctRegister::none()) seen = own;
  }
  for (size_t i = path.size(); i-- > 0;) {
    found = add_lengths(found, path[i].bytes);
    known_[path[i].key] = found;
  }
  return found;
}

}  // namespace cfgmask
