#include "mask/mask.h"

#include <algorithm>

namespace cfgmask {

void Mask::write(std::span<uint32_t> out) const {
  if (!bits.empty()) {
    copy_words(bits, out);
    return;
  }
  if (base != nullptr) {
    base->write_inside(out);
  } else {
    clear_words(out);
  }
  for (TokenId token : more) set_bit(out, token);
}

std::vector<TokenId> Mask::allowed(const FewTokens& few) const {
  std::vector<TokenId> out;
  if (!bits.empty()) {
    add_set(bits, few, out);
    return out;
  }
  if (base != nullptr) base->add_inside(few, out);
  add_common(more, few, out);
  return out;
}

void Mask::remove(TokenId token) {
  if (!bits.empty()) {
    clear_bit(bits, token);
  } else {
    std::erase(more, token);
  }
}

void ParserWalk::push(uint32_t end, Configuration at, uint64_t reached) {
  // Most siblings are dead, at a boundary nearly all.
  const bool may_end = lexer_.matched(at.lexer) != Lexer::no_slots();
  stack_.push_back({end, at, reached, may_end ? nullptr : &lexer_.first(at.lexer), stepper_.is_overapproximate(at)});
}

}  // namespace cfgmask
