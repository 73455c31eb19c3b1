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
// Threads: steps are found without a lock. What is learnt, as in SharedStore.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "lexer/lexer.h"
#include "mask/segment_walk.h"
#include "util/hash_table.h"
#include "util/ids.h"
#include "util/seqlock.h"
#include "util/zeroed_array.h"
#include "vocab/trie.h"

namespace cfgmask {

using StateId = Id<struct StateTag>;

// What the text of a token does to the keys that are written and to the pending lexeme, whatever they are.
class KeyEffects {
 public:
  enum Kind : uint8_t { kOpens, kCloses, kEndsKey };
  struct Event {
    Kind kind;
    uint8_t begin;  // of a key's lexeme, in the token
    uint8_t end;
  };
  // Of a lexeme that begins before the token, and of one that is no key's. Tokens of that many bytes or more are not
  // remembered.
  static constexpr uint8_t kBefore = UINT8_MAX;
  static constexpr uint8_t kNone = UINT8_MAX - 1;
  static constexpr uint8_t kMostEvents = 3;

  // Whether it does nothing, so that the text need not be looked at: that is seldom in a cache.
  bool is_nothing() const { return kinds_ == 0 && lexeme == kNone; }
  size_t n_events() const { return kinds_ >> kNumber; }
  Event event(size_t i) const { return {static_cast<Kind>((kinds_ >> (kKindBits * i)) & kKind), begins_[i], ends_[i]}; }
  // There is room for it.
  void add(const Event& event) {
    const size_t i = n_events();
    kinds_ = static_cast<uint8_t>(((i + 1) << kNumber) | (kinds_ & kKinds) |
                                  (static_cast<size_t>(event.kind) << (kKindBits * i)));
    begins_[i] = event.begin;
    ends_[i] = event.end;
  }

  uint8_t lexeme = kNone;  // where the one begins that may be a key

 private:
  static constexpr uint8_t kKindBits = 2;
  static constexpr uint8_t kNumber = kKindBits * kMostEvents;
  static constexpr uint8_t kKind = (1U << kKindBits) - 1;
  static constexpr uint8_t kKinds = (1U << kNumber) - 1;

  uint8_t kinds_ = 0;  // of the events, and above them how many there are
  std::array<uint8_t, kMostEvents> begins_{};
  std::array<uint8_t, kMostEvents> ends_{};
};

// What a token does in some state.
struct KnownStep {
  TokenId token = UINT32_MAX;  // none
  StateId next;
  KeyEffects effects;
};
static_assert(sizeof(KnownStep) == 16);

class KnownSteps {
 public:
  // `grammar`: from 1.
  std::optional<KnownStep> find(uint64_t grammar, StateId state, TokenId token) const {
    const Place* places = places_.load(std::memory_order_acquire);
    if (places == nullptr) return std::nullopt;
    const std::optional<Entry> entry = places[place(grammar, state, token)].read();
    const bool is_it = entry && entry->step.token == token && entry->state == state && entry->grammar() == grammar;
    return is_it ? std::optional(entry->step) : std::nullopt;
  }
  // The caller holds the store's mutex.
  void put(uint64_t grammar, StateId state, const KnownStep& step) {
    if (owned_.empty()) {
      owned_ = ZeroedArray<Place>(kSteps);
      places_.store(owned_.data(), std::memory_order_release);
    }
    const auto low = static_cast<uint32_t>(grammar);
    owned_[place(grammar, state, step.token)].write({low, static_cast<uint32_t>(grammar >> 32), state, step});
  }
  size_t bytes() const { return owned_.bytes(); }

 private:
  struct Entry {
    uint32_t low;  // of the grammar's number
    uint32_t high;
    StateId state;
    KnownStep step;

    uint64_t grammar() const { return (uint64_t{high} << 32) | low; }
  };
  using Place = SeqLock<Entry>;
  static_assert(sizeof(Place) == 32);

  // As many as a hundred texts take that are written at once; half a megabyte.
  static constexpr size_t kSteps = size_t{1} << 14;

  static size_t place(uint64_t grammar, StateId state, TokenId token) {
    return mix(((uint64_t{state.value} << 32) | token) + grammar * 0x9e3779b97f4a7c15ULL) % kSteps;
  }

  ZeroedArray<Place> owned_;  // made by the first `put`
  std::atomic<const Place*> places_ = nullptr;
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
