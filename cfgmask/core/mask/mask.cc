#include "mask/mask.h"

#include <algorithm>

namespace cfgmask {

void Mask::write(std::span<uint32_t> out) const {
  if (!bits.empty()) {
    std::copy(bits.begin(), bits.end(), out.begin());
    return;
  }
  if (base != nullptr) {
    base->write_inside(out);
  } else {
    std::fill(out.begin(), out.end(), 0);
  }
  for (TokenId token : more) set_bit(out, token);
}

void ParserWalk::push(uint32_t end, Configuration at) {
  // Most siblings are dead, at a boundary nearly all.
  const bool may_end = lexer_.matched(at.lexer) != Lexer::no_slots();
  stack_.push_back({end, at, may_end ? nullptr : &lexer_.first(at.lexer)});
}

void ParserWalk::run(Configuration at, uint32_t first, uint32_t last, std::vector<TokenId>& out) {
  stack_.clear();
  push(last, at);
  for (uint32_t node = first; node < last;) {
    while (stack_.back().end <= node) stack_.pop_back();
    const uint32_t end = trie_.end(node);
    const Frame& here = stack_.back();
    const uint8_t byte = trie_.byte(node);
    if (here.taken != nullptr && !here.taken->has(byte)) {
      node = end;
      continue;
    }
    const auto next = stepper_.longest(here.at, byte);
    if (!next) {
      node = end;
      continue;
    }
    if (lexer_.end_token(next->lexer) != Lexer::dead()) {
      const auto tokens = trie_.tokens(node);
      out.insert(out.end(), tokens.begin(), tokens.end());
    }
    if (node + 1 != end) push(end, *next);
    ++node;
  }
}

}  // namespace cfgmask
