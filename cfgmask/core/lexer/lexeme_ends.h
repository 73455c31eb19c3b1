// How the lexemes of an automaton's terminals end, for proofs that a text can always go on; cf. analysis/dead_ends.py.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lexer/automaton.h"
#include "util/byte_set.h"

namespace cfgmask {

// Immutable. All questions are linear in the automaton; terminals are numbers into the list that it was made of.
class LexemeEnds {
 public:
  // What is complete in some states of the automaton, as a number into `matched_sets`, and the bytes they all take.
  struct End {
    uint32_t matched;
    ByteSet taken;
    friend bool operator==(const End&, const End&) = default;
  };

  explicit LexemeEnds(Automaton automaton);

  const Automaton& automaton() const { return automaton_; }
  // The different sets of terminals that are complete together, none of them empty.
  const std::vector<std::vector<uint32_t>>& matched_sets() const { return matched_sets_; }
  // The different ends of a terminal's lexemes.
  std::vector<End> ends(uint32_t terminal) const;
  // Whether every beginning of a terminal's lexeme can go on to one of these ends, which are numbers into `ends`.
  bool always_reaches(uint32_t terminal, std::span<const uint32_t> good) const;
  // Whether a lexeme of a terminal that begins with one of `begin` can end where some byte of `wanted` is not taken.
  // `chosen` has, for each of the matched sets, whether the parser is given the terminal there.
  bool can_be_left(uint32_t terminal, const ByteSet& begin, const ByteSet& wanted,
                   const std::vector<bool>& chosen) const;

 private:
  static constexpr uint32_t kNothing = UINT32_MAX;

  bool is_live(size_t state, uint32_t terminal) const;
  bool is_matched(size_t state, uint32_t terminal) const;
  // The number of the state's end in `ends`; kNothing if the terminal is not complete there.
  std::vector<uint32_t> end_of_states(uint32_t terminal, std::vector<End>& ends) const;

  Automaton automaton_;
  std::vector<ByteSet> taken_;
  std::vector<uint32_t> matched_;  // of each state, a number into matched_sets_; kNothing if nothing is complete
  std::vector<std::vector<uint32_t>> matched_sets_;
};

}  // namespace cfgmask
