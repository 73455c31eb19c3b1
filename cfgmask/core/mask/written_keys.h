// The keys that a text has written in the JSON objects that are open, where none may come twice and none run out.
// Strings of arrays in which no item may come twice, and which never run out, are kept like keys of an object.
//
// They belong to a text, not to the grammar: a state with them would be the state of one text alone, so that nothing
// learnt there would serve another. The grammar's states and masks know nothing of them, and a matcher takes away the
// few tokens that would end a key that is there already. There always is another key, so that takes no way to the end.
//
// A copy costs a pointer. The keys are a list, the last one first, that copies share. Every 16th of an object has an
// index beside it, of as many keys as its number is a multiple of, which are a power of two: so few indexes together
// have all keys up to any one (those of a Fenwick tree), and none ever changes.
//
// Threads: as SharedList.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mask/key_endings.h"
#include "util/shared_list.h"

namespace cfgmask {

class WrittenKeys {
 public:
  // None are known: those that are added belong to an object that may have begun before.
  WrittenKeys() = default;
  // An object begins inside of those that are open.
  void open() { entries_.push(size_t{0}, std::string(), nullptr); }
  // The innermost one ends.
  void close();
  // The innermost one has one more key. `endings`: of the vocabulary, the same each time.
  void add(std::string key, const KeyEndings& endings);
  // Whether the innermost one has it.
  bool has(std::string_view key) const;
  // Whether the innermost one has some key.
  bool has_any() const { return n_keys() > 0; }
  // Whether some key of the innermost one begins so.
  bool has_beginning(std::string_view text) const;
  // Calls f(rest) for the keys of the innermost one that are `begun` and a rest: for all whose rest is empty or among
  // the endings, and for some others. Logarithmic in the keys, and linear in the calls.
  template <class F>
  void for_each_rest(std::string_view begun, F f) const {
    for_each_part(
        [&](std::string_view key) {
          if (key.starts_with(begun)) f(key.substr(begun.size()));
        },
        [&](const std::vector<Split>& splits) {
          const auto range = std::ranges::equal_range(splits, begun, {}, &Split::begun);
          for (const Split& split : range) f(split.rest);
        });
  }
  // Whether no object is open.
  bool is_empty() const { return entries_.top() == nullptr; }
  // Equal where the open objects have the same keys, in whatever order. Linear in all of them.
  std::string content() const;

 private:
  static constexpr size_t kIndexed = 16;

  // Of a key, which lives elsewhere.
  struct Split {
    std::string_view begun;
    std::string_view rest;
  };
  struct Entry;
  using Node = SharedList<Entry>::Node;
  struct Index {
    std::vector<Split> splits;  // sorted by `begun`; of each key the one without a rest, and those before an ending
    const Node* below;          // what it leaves out
  };
  struct Entry {
    size_t number;  // in its object, from 1; 0 where an object begins
    std::string key;
    std::unique_ptr<const Index> index;
  };

  size_t n_keys() const { return is_empty() ? 0 : entries_.top()->value.number; }
  // Calls of_key(key) for the keys without an index, and of_index(splits) for the indexes, of the innermost object.
  template <class OfKey, class OfIndex>
  void for_each_part(OfKey of_key, OfIndex of_index) const {
    for (const Node* node = entries_.top(); node != nullptr && node->value.number > 0;) {
      if (const Index* index = node->value.index.get()) {
        of_index(index->splits);
        node = index->below;
      } else {
        of_key(std::string_view(node->value.key));
        node = node->below;
      }
    }
  }
  static std::unique_ptr<const Index> index(const Node* last, const KeyEndings& endings);
  static void add_splits(std::string_view key, const KeyEndings& endings, std::vector<Split>& out);

  SharedList<Entry> entries_;
};

}  // namespace cfgmask
