// Steps that are known before they are taken, of all grammars of a vocabulary.
//
// KnownLoops: tokens that lead back to the state, as in most places of most strings, a sixth of MaskBench's steps.
// Neither what they spell nor the state after them is looked up.
//
// KnownSteps: where a token led from a state before, and what it does to the keys of a text. Half of MaskBench's steps
// are such (texts of one schema are alike), and to look one up takes a third of the time that its bytes take in lexer
// and parser. A table of one size: a step that comes to the place of another puts it out. So no grammar pays for it
// with memory, and a server's many grammars share what there is by how much they are used.
//
// Threads: as SharedStore.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lexer/lexer.h"
#include "mask/segment_walk.h"
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

class KnownLoops {
 public:
  explicit KnownLoops(const Trie& trie) : trie_(trie) {}

  // Whether a token is known to go on with the lexeme and to lead back to the lexer's state.
  bool has(LexerStateId state, TokenId token) const {
    const Loops& loops = loops_[place(state)];
    const uint8_t segment = trie_.segment_of(token);
    return loops.state == state && segment < kSegments && (loops.kept & (1U << segment)) != 0;
  }
  // A token was seen to. Asks once for each segment whether all of its tokens do.
  void learn(Lexer& lexer, LexerStateId state, TokenId token) {
    const uint8_t segment = trie_.segment_of(token);
    if (segment >= kSegments) return;
    Loops& loops = loops_[place(state)];
    if (loops.state != state) loops = {state, 0, 0};
    const auto bit = static_cast<uint16_t>(1U << segment);
    if ((loops.asked & bit) != 0) return;
    loops.asked |= bit;
    if (stays(lexer, state, trie_.segments()[segment])) loops.kept |= bit;
  }

 private:
  static constexpr size_t kStates = 1024;  // 8 KB
  static constexpr uint8_t kSegments = 16;
  struct Loops {
    LexerStateId state = Lexer::dead();
    uint16_t asked = 0;  // by segment
    uint16_t kept = 0;
  };

  static size_t place(LexerStateId state) { return state.value % kStates; }

  const Trie& trie_;
  std::array<Loops, kStates> loops_{};
};

}  // namespace cfgmask
