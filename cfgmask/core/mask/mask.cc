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

void walk_longest(const Trie& trie, Stepper& stepper, Configuration at, uint32_t first, uint32_t last,
                  std::vector<TokenId>& out) {
  struct Frame {
    uint32_t end;
    Configuration at;
  };
  std::vector<Frame> stack{{last, at}};
  for (uint32_t node = first; node < last;) {
    while (stack.back().end <= node) stack.pop_back();
    const uint32_t end = trie.end(node);
    const auto next = stepper.longest(stack.back().at, trie.byte(node));
    if (!next) {
      node = end;
      continue;
    }
    const auto tokens = trie.tokens(node);
    out.insert(out.end(), tokens.begin(), tokens.end());
    if (node + 1 != end) stack.push_back({end, *next});
    ++node;
  }
}

}  // namespace cfgmask
