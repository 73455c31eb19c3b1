// The part of the lexer that one boundary state leads to, as a table: for looking at grammars, not for matching.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lexer/lexer.h"
#include "util/byte_set.h"

namespace cfgmask {

struct Automaton {
  struct Move {
    ByteSet bytes;
    uint32_t target;
  };
  struct State {
    std::vector<uint32_t> live;     // the terminals that may still match
    std::vector<uint32_t> matched;  // those that match what was read
    std::vector<Move> moves;        // to different states
  };
  std::vector<State> states;  // the first is the one before any byte
};

// All terminals at once, in order; none may be nullable. nullopt where there are more than `max_states`.
std::optional<Automaton> automaton(Lexer& lexer, std::span<const RegexId> terminals, size_t max_states);

}  // namespace cfgmask
