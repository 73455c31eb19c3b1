// Whether symbols are one piece over and over.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace cfgmask {

// Pieces of more symbols are not looked for.
constexpr size_t kLongestPiece = 128;
// So many symbols decide which piece it can be: where these and all are pieces over and over, of lengths p and q, p
// divides q, since two periods that fit together into a text have their divisor for one (Fine and Wilf 1965).
constexpr size_t kDecisive = 2 * kLongestPiece;

// Whether the symbols repeat what stands `piece` before them.
inline bool repeats(std::span<const uint32_t> symbols, size_t piece) {
  return std::equal(symbols.begin() + static_cast<std::ptrdiff_t>(piece), symbols.end(), symbols.begin());
}

// The length of the shortest piece that the symbols are, at least twice; 0 if there is none. Most texts are told by the
// first symbol for each length.
inline size_t shortest_piece(std::span<const uint32_t> symbols) {
  for (size_t piece = 1; piece <= std::min(kLongestPiece, symbols.size() / 2); ++piece) {
    if (repeats(symbols, piece)) return piece;
  }
  return 0;
}

}  // namespace cfgmask
