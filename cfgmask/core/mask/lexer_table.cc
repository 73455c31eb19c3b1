#include "mask/lexer_table.h"

#include <algorithm>

namespace cfgmask {

void LexerTable::add_inside(std::span<uint32_t> out) const {
  for (size_t i = 0; i < bits.size(); ++i) out[i] |= bits[i];
  for (TokenId token : tokens) set_bit(out, token);
}

std::shared_ptr<const LexerTable> LexerTables::get(LexerStateId state) {
  auto found = tables_.find(state.value);
  if (found != tables_.end()) return found->second;
  std::shared_ptr<const LexerTable> table = build(state);
  bytes_ += table->bytes();
  tables_.emplace(state.value, table);
  return table;
}

void LexerTables::trim(size_t max_bytes) {
  if (bytes_ > max_bytes) clear();
}

void LexerTables::clear() {
  tables_.clear();
  bytes_ = 0;
}

std::shared_ptr<LexerTable> LexerTables::build(LexerStateId state) {
  struct Frame {
    uint32_t end;
    LexerStateId state;
  };
  auto table = std::make_shared<LexerTable>();
  const Trie& trie = *trie_;
  const uint32_t n = trie.n_nodes();
  std::vector<Frame> stack{{n, state}};
  stack.reserve(trie.max_depth() + 1);
  auto& exits = table->exits;
  uint32_t last_parent_end = 0;
  auto leave = [&](SlotSetId matched, uint32_t first, uint32_t last) {
    if (first == last) return;
    // Neighbouring siblings that leave alike are one exit.
    if (!exits.empty() && exits.back().matched == matched && exits.back().last == first && last_parent_end == stack.back().end) {
      exits.back().last = last;
    } else {
      exits.push_back({matched, first, last});
    }
    last_parent_end = stack.back().end;
  };
  std::vector<TokenId> inside;
  for (uint32_t node = 1; node < n;) {
    while (stack.back().end <= node) stack.pop_back();
    const LexerStateId at = stack.back().state;
    const uint32_t end = trie.end(node);
    const LexerStateId next = lexer_.next(at, trie.byte(node));
    if (next == Lexer::dead()) {
      const SlotSetId matched = lexer_.matched(at);
      if (matched != Lexer::no_slots()) leave(matched, node, end);
      node = end;
      continue;
    }
    const auto tokens = trie.tokens(node);
    inside.insert(inside.end(), tokens.begin(), tokens.end());
    if (!lexer_.can_continue(next)) {
      // The lexeme ends here whatever comes: what is below begins a new one.
      if (node + 1 != end) exits.push_back({lexer_.matched(next), node + 1, end});
      last_parent_end = 0;
      node = end;
      continue;
    }
    if (node + 1 != end) stack.push_back({end, next});
    ++node;
  }
  exits.shrink_to_fit();
  if (inside.size() > n_words_) {
    table->bits.assign(n_words_, 0);
    for (TokenId token : inside) set_bit(table->bits, token);
  } else {
    inside.shrink_to_fit();
    table->tokens = std::move(inside);
  }
  return table;
}

}  // namespace cfgmask
