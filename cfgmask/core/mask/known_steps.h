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

// What a token does in some state.
struct KnownStep {
  TokenId token = UINT32_MAX;  // none
  StateId next;
  KeyEffects effects;
};

class KnownSteps {
 public:
  // Valid until the next `put`. `grammar`: from 1.
  const KnownStep* find(uint64_t grammar, StateId state, TokenId token) const {
    if (steps_.empty()) return nullptr;
    const Entry& entry = steps_[place(grammar, state, token)];
    const bool is_it = entry.step.token == token && entry.state == state && entry.grammar == grammar;
    return is_it ? &entry.step : nullptr;
  }
  void put(uint64_t grammar, StateId state, const KnownStep& step) {
    if (steps_.empty()) steps_.resize(kSteps);
    steps_[place(grammar, state, step.token)] = {grammar, state, step};
  }
  size_t bytes() const { return steps_.capacity() * sizeof(Entry); }

 private:
  struct Entry {
    uint64_t grammar;
    StateId state;
    KnownStep step;
  };
  static_assert(sizeof(Entry) == 32);

  // As many as a hundred texts take that are written at once; half a megabyte.
  static constexpr size_t kSteps = size_t{1} << 14;

  static size_t place(uint64_t grammar, StateId state, TokenId token) {
    return mix(((uint64_t{state.value} << 32) | token) + grammar * 0x9e3779b97f4a7c15ULL) % kSteps;
  }

  std::vector<Entry> steps_;
};

class KnownLoops {
 public:
  explicit KnownLoops(const Trie& trie) : trie_(trie) {}

  // The bit of the segment that a token belongs to; 0 for some.
  uint16_t bit(TokenId token) const {
    const uint8_t segment = trie_.segment_of(token);
    return static_cast<uint16_t>(segment < kSegments ? 1U << segment : 0U);
  }
  // The bits of those whose tokens are known to go on with the lexeme and to lead back to the lexer's state.
  uint16_t kept(LexerStateId state) const {
    const Loops& loops = loops_[place(state)];
    return loops.state == state ? loops.kept : 0;
  }
  // A token was seen to. Asks once for each segment whether all of its tokens do.
  void learn(Lexer& lexer, LexerStateId state, TokenId token) {
    const uint16_t asked = bit(token);
    if (asked == 0) return;
    Loops& loops = loops_[place(state)];
    if (loops.state != state) loops = {state, 0, 0};
    if ((loops.asked & asked) != 0) return;
    loops.asked |= asked;
    if (stays(lexer, state, trie_.segments()[trie_.segment_of(token)])) loops.kept |= asked;
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
