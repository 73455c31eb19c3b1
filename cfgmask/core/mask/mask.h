// The set of tokens that may come next, stored as what differs from a table that many masks share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "mask/configuration.h"
#include "mask/lexer_table.h"

namespace cfgmask {

// Tokens of a mask that begin and end a key, and these keys.
struct WholeKeys {
  std::vector<TokenId> tokens;
  std::vector<std::string> keys;
  bool outside = false;  // some belong to an object around the one that is open

  size_t bytes() const {
    size_t n = sizeof(*this) + tokens.capacity() * sizeof(TokenId) + keys.capacity() * sizeof(std::string);
    for (const std::string& key : keys) n += key.capacity();
    return n;
  }
};

struct Mask {
  std::shared_ptr<const LexerTable> base;  // or null
  std::vector<TokenId> more;               // allowed besides, if few
  std::vector<uint32_t> bits;              // else all that is allowed
  std::unique_ptr<WholeKeys> whole_keys;   // or null

  void write(std::span<uint32_t> out) const;
  // Those of a few tokens that are allowed; in no order.
  std::vector<TokenId> allowed(const FewTokens& few) const;
  // One that leaves the lexeme is allowed no more.
  void remove(TokenId token);
  size_t bytes() const {
    return sizeof(*this) + (more.capacity() + bits.capacity()) * sizeof(uint32_t) +
           (whole_keys == nullptr ? 0 : whole_keys->bytes());
  }
};

// Siblings [first, last) of the trie and what is below them, from `at`, which was reached on the way as Parser has it.
struct WalkPart {
  Configuration at;
  uint64_t reached;
  uint32_t first;
  uint32_t last;
};

// Walks of the trie with lexer and parser (lexer: longest). Kept between walks to spare an allocation for each of the
// thousand short ones that a string's exits take.
class ParserWalk {
 public:
  ParserWalk(Lexer& lexer, Stepper& stepper) : lexer_(lexer), stepper_(stepper) {}

  // Calls take(tokens of a node) for each node that fits from `at`, of the siblings [first, last) and what is below
  // them. `trie` is a Trie or an ExitTrie. `reached`: on the way to `at`.
  template <class Nodes, class Take>
  void run(Configuration at, uint64_t reached, const Nodes& trie, uint32_t first, uint32_t last, Take take) {
    run(at, reached, trie, first, last, take, [](const WalkPart&) { return false; });
  }
  // The same but for parts that a table is to tell of: at a node that fits, leave(from there on) says whether it does.
  template <class Nodes, class Take, class Leave>
  void run(Configuration at, uint64_t reached, const Nodes& trie, uint32_t first, uint32_t last, Take take,
           Leave leave);

  // The furthest that one of the ways since has reached; see Parser::reached().
  uint64_t furthest() const { return furthest_; }
  // How often a byte was taken where what may come is a superset, see DistinctRegister::is_overapproximate, but for
  // ignored text.
  uint64_t n_overapproximate() const { return n_overapproximate_; }
  void forget_furthest() { furthest_ = 0; }
  void reach(uint64_t reached) { furthest_ = std::max(furthest_, reached); }

 private:
  struct Frame {
    uint32_t end;
    Configuration at;
    uint64_t reached;
    const ByteSet* taken;  // other bytes are dead; null where they may begin another lexeme
    bool is_overapproximate;
  };

  void push(uint32_t end, Configuration at, uint64_t reached);

  Lexer& lexer_;
  Stepper& stepper_;
  std::vector<Frame> stack_;
  uint64_t furthest_ = 0;
  uint64_t n_overapproximate_ = 0;
};

template <class Nodes, class Take, class Leave>
void ParserWalk::run(Configuration at, uint64_t reached, const Nodes& trie, uint32_t first, uint32_t last, Take take,
                     Leave leave) {
  stack_.clear();
  push(last, at, reached);
  for (uint32_t node = first; node < last;) {
    while (stack_.back().end <= node) stack_.pop_back();
    const uint32_t end = trie.end(node);
    const Frame& here = stack_.back();
    const uint8_t byte = trie.byte(node);
    if (here.taken != nullptr && !here.taken->has(byte)) {
      node = end;
      continue;
    }
    const uint64_t before = stepper_.reached();
    bool is_overapproximate = here.is_overapproximate;
    auto next = stepper_.longest(here.at, byte, [&](const Configuration& lexeme, SlotSetId matched, bool with_byte) {
      if (!with_byte) is_overapproximate = stepper_.is_overapproximate_after(lexeme, matched);
      return matched;
    });
    const uint64_t then_reached = here.reached + (stepper_.reached() - before);
    reach(then_reached);
    if (!next) {
      node = end;
      continue;
    }
    if (!here.is_overapproximate && leave(WalkPart{here.at, here.reached, node, here.end})) {
      node = here.end;
      continue;
    }
    if (is_overapproximate && !stepper_.is_skipping(*next)) ++n_overapproximate_;
    take(trie.tokens(node));
    if (node + 1 != end) {
      next->lexer = lexer_.without_far_bounds(next->lexer);
      push(end, *next, then_reached);
    }
    ++node;
  }
}

}  // namespace cfgmask
