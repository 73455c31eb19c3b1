// The tokens of a vocabulary that end a JSON string, by what they add to it: which of them end a given key is one
// look-up, however they spell it.
//
// Threads: immutable.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mask/lexer_table.h"
#include "vocab/vocabulary.h"

namespace cfgmask {

class KeyEndings {
 public:
  // Linear in the vocabulary.
  explicit KeyEndings(const Vocabulary& vocabulary);

  // Tokens that begin with `spelling`, the rest of a string and its quote.
  struct Ending {
    std::string spelling;
    std::vector<TokenId> tokens;
  };
  // Those that add a text to a string whose last escape is complete.
  std::span<const Ending> of(std::string_view text) const;
  // Of the longest of these texts.
  size_t longest() const { return longest_; }
  // Tokens with a quote, which may end a string whatever precedes.
  const std::vector<TokenId>& with_quote() const { return with_quote_; }
  // Tokens that may hold a whole string: those that end another before it if one is `pending`.
  const FewTokens& with_string(bool pending) const { return pending ? three_quotes_ : two_quotes_; }

 private:
  std::map<std::string, std::vector<Ending>, std::less<>> endings_;
  size_t longest_ = 0;
  std::vector<TokenId> with_quote_;
  FewTokens two_quotes_;  // or more
  FewTokens three_quotes_;
};

}  // namespace cfgmask
