#include "lexer/automaton.h"

#include <unordered_map>
#include <utility>

namespace cfgmask {

namespace {

using Successors = std::vector<std::pair<LexerStateId, ByteSet>>;

void add(LexerStateId next, const ByteSet& bytes, Successors& found) {
  for (auto& [known, known_bytes] : found) {
    if (known == next) {
      known_bytes |= bytes;
      return;
    }
  }
  found.emplace_back(next, bytes);
}

// Each with all bytes that lead to it. Bytes that no residual tells apart are tried once.
Successors successors(Lexer& lexer, LexerStateId state) {
  Successors found;
  ByteSet rest = lexer.first(state);
  while (!rest.empty()) {
    const unsigned b = rest.lowest();
    ByteSet alike = lexer.alike(state, b);
    alike &= rest;
    const LexerStateId next = lexer.next(state, b);
    if (next != Lexer::dead()) add(next, alike, found);
    rest -= alike;
  }
  return found;
}

}  // namespace

std::optional<Automaton> automaton(Lexer& lexer, std::span<const RegexId> terminals, size_t max_states) {
  std::vector<LexerStateId> known{lexer.start(terminals)};
  std::unordered_map<uint32_t, uint32_t> numbers{{known[0].value, 0}};
  Automaton out;
  for (size_t i = 0; i < known.size(); ++i) {
    if (known.size() > max_states) return std::nullopt;
    Automaton::State state;
    const Words live = lexer.residuals(known[i]);
    for (size_t at = 0; at < live.size(); at += 2) state.live.push_back(live[at]);
    const Words matched = lexer.slots(lexer.matched(known[i]));
    state.matched.assign(matched.begin(), matched.end());
    for (const auto& [next, bytes] : successors(lexer, known[i])) {
      const auto [number, is_new] = numbers.try_emplace(next.value, static_cast<uint32_t>(known.size()));
      if (is_new) known.push_back(next);
      state.moves.push_back({bytes, number->second});
    }
    out.states.push_back(std::move(state));
  }
  return out;
}

}  // namespace cfgmask
