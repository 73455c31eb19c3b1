// The table of a lexer state in which nothing but some texts is live, as in what is left of a key or of listed values.
//
// The trie is walked beside the texts, sorted: no state of the lexer is made for the bytes on the way, as TableWalk
// makes one for each. Most such states would never be looked at again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "lexer/lexer.h"
#include "mask/lexer_table.h"
#include "regex/regex.h"
#include "vocab/trie.h"

namespace cfgmask {

class TextWalk {
 public:
  // Writes more_ and exits_ of `table`, which is empty.
  TextWalk(const Trie& trie, const RegexStore& regexes, Lexer& lexer, LexerTable& table)
      : trie_(trie), regexes_(regexes), lexer_(lexer), table_(table) {}

  // False, and nothing is written, where something else is live, where the texts are many, or where one of them begins
  // with another. Else linear in the texts and in the nodes beside those that some text comes by.
  bool run(LexerStateId state);

 private:
  struct Text {
    std::string_view left;
    uint32_t slot;
    friend auto operator<=>(const Text&, const Text&) = default;
  };
  // The texts [first, last) begin with the bytes on the way to a node, `depth` of them.
  struct Place {
    uint32_t node;
    size_t first;
    size_t last;
    size_t depth;
  };
  static constexpr size_t kMostTexts = 1'000;

  bool find_texts(LexerStateId state);
  size_t end_of_byte(size_t first, size_t last, size_t depth) const;
  void visit(const Place& at);
  void leave(const Place& at);

  const Trie& trie_;
  const RegexStore& regexes_;
  Lexer& lexer_;
  LexerTable& table_;
  std::vector<Text> texts_;  // sorted
  std::vector<Place> todo_;  // the next one last
};

}  // namespace cfgmask
