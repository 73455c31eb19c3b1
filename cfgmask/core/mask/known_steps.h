// Steps that were taken before, of all grammars of a vocabulary: where a token leads from a state, and what it does to
// the keys of a text. Two thirds of MaskBench's steps are such (texts of one schema are alike), and to look one up
// takes a third of the time that its bytes take in lexer and parser.
//
// A table of one size: a step that comes to the place of another puts it out. So no grammar pays for it with memory,
// and a server's many grammars share what there is by how much they are used.
//
// Threads: as SharedStore.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "util/hash_table.h"
#include "util/ids.h"
#include "vocab/trie.h"

namespace cfgmask {

using StateId = Id<struct StateTag>;

// What the text of a token does to the keys that are written and to the pending lexeme, whatever they are.
struct KeyEffects {
  enum Kind : uint8_t { kOpensObject, kClosesObject, kEndsKey };
  struct Event {
    Kind kind;
    uint8_t begin;  // of a key's lexeme, in the token
    uint8_t end;
  };
  // Of a lexeme that begins before the token; tokens that are this long or longer are not remembered.
  static constexpr uint8_t kBefore = UINT8_MAX;
  static constexpr uint8_t kMostEvents = 3;

  std::array<Event, kMostEvents> events{};
  uint8_t n_events = 0;
  uint8_t lexeme = 0;  // where the one begins that may be a key; the token's length if there is none
};

class KnownSteps {
 public:
  struct Step {
    uint64_t grammar;  // from 1
    StateId state;
    TokenId token;
    StateId next;
    KeyEffects effects;
  };

  // Valid until the next `put`.
  const Step* find(uint64_t grammar, StateId state, TokenId token) const {
    if (steps_.empty()) return nullptr;
    const Step& step = steps_[place(grammar, state, token)];
    return step.token == token && step.state == state && step.grammar == grammar ? &step : nullptr;
  }
  void put(const Step& step) {
    if (steps_.empty()) steps_.resize(kSteps);
    steps_[place(step.grammar, step.state, step.token)] = step;
  }
  size_t bytes() const { return steps_.capacity() * sizeof(Step); }

 private:
  // As many as a hundred texts take that are written at once; half a megabyte.
  static constexpr size_t kSteps = size_t{1} << 14;

  static size_t place(uint64_t grammar, StateId state, TokenId token) {
    return mix(((uint64_t{state.value} << 32) | token) + grammar * 0x9e3779b97f4a7c15ULL) % kSteps;
  }

  std::vector<Step> steps_;
};

static_assert(sizeof(KnownSteps::Step) == 32);

}  // namespace cfgmask
