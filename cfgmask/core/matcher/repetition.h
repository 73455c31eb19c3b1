// Whether a text ends in one piece over and over: the smallest period of its last symbols.
//
// The symbols come from the last to the first, so that most texts are told from repetition by their last few bytes. A
// period of the reversed symbols is one of the symbols; it is what the failure function of Knuth, Morris and Pratt
// (1977) leaves of each prefix.
//
// Threads: belongs to one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cfgmask {

class Repetition {
 public:
  // Pieces of more symbols are not looked for.
  static constexpr size_t kLongestPiece = 128;

  // Adds the symbol before those seen so far. False once no piece is short enough: then nothing more is to be added.
  bool add(uint32_t symbol);
  size_t size() const { return symbols_.size(); }
  // Whether all symbols are one short piece, at least twice.
  bool repeats() const { return !symbols_.empty() && 2 * period_ <= symbols_.size(); }

 private:
  std::vector<uint32_t> symbols_;
  std::vector<uint32_t> borders_;  // for each prefix its longest one that it also ends in
  size_t period_ = 0;              // of all of them
};

}  // namespace cfgmask
