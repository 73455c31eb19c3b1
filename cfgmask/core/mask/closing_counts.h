// How many tokens of a vocabulary it takes to complete a lexeme.
//
// The closing text of a residual is its shortest text, the smallest of the shortest bytewise, among those whose bytes
// are all tokens by themselves. What is left of it after some of its tokens is the closing text of what is left of the
// residual, so whoever follows it always gets there with one token fewer at each step. A longer text may take fewer
// tokens; that minimum takes a search of the vocabulary from each residual on the way.
//
// Threads: guarded by the owner, like RegexStore.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "lexer/token_counts.h"
#include "regex/regex.h"
#include "vocab/trie.h"

namespace cfgmask {

class ClosingCounts : public TokenCounts {
 public:
  ClosingCounts(std::shared_ptr<const Trie> trie, RegexStore& regexes);

  // The fewest tokens that spell the closing text. Cost of a first call: a search for it.
  uint32_t needed(RegexId residual) override;
  // By bytes, where each is a token.
  uint32_t most_needed(RegexId residual) override;

  size_t bytes() const { return needed_.size() * 4 * sizeof(uint32_t); }

 private:
  RegexId spelled(RegexId residual);
  uint32_t count(RegexId residual);

  std::shared_ptr<const Trie> trie_;
  RegexStore& regexes_;
  ByteSet single_bytes_;
  std::unordered_map<uint32_t, uint32_t> needed_;  // by residual
};

}  // namespace cfgmask
