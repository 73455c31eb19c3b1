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

void ParserWalk::run(Configuration at, uint32_t first, uint32_t last, std::vector<TokenId>& out) {
  // At a boundary a byte outside the first-byte set is dead, and most siblings are.
  const ByteSet* filter = lexer_.is_boundary(at.lexer) ? &lexer_.first(at.lexer) : nullptr;
  for (uint32_t top = first; top < last;) {
    const uint32_t top_end = trie_.end(top);
    if (filter != nullptr && !filter->has(trie_.byte(top))) {
      top = top_end;
      continue;
    }
    stack_.assign(1, {top_end, at});
    for (uint32_t node = top; node < top_end;) {
      while (stack_.back().end <= node) stack_.pop_back();
      const uint32_t end = trie_.end(node);
      const auto next = stepper_.longest(stack_.back().at, trie_.byte(node));
      if (!next) {
        node = end;
        continue;
      }
      if (lexer_.end_token(next->lexer) != Lexer::dead()) {
        const auto tokens = trie_.tokens(node);
        out.insert(out.end(), tokens.begin(), tokens.end());
      }
      if (node + 1 != end) stack_.push_back({end, *next});
      ++node;
    }
    top = top_end;
  }
}

}  // namespace cfgmask
