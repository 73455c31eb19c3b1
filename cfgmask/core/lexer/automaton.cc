#include "lexer/automaton.h"

#include <unordered_map>

namespace cfgmask {

namespace {

// The successors of a state, each with all bytes that lead to it.
std::vector<std::pair<LexerStateId, ByteSet>> successors(Lexer& lexer, LexerStateId state) {
  std::vector<std::pair<LexerStateId, ByteSet>> found;
  for (unsigned b = 0; b < 256; ++b) {
    const LexerStateId next = lexer.next(state, b);
    if (next == Lexer::dead()) continue;
    size_t i = found.size();
    while (i > 0 && found[i - 1].first != next) --i;
    if (i == 0) {
      found.emplace_back(next, ByteSet::only(b));
    } else {
      found[i - 1].second.add(b);
    }
  }
  return found;
}

}  // namespace

std::optional<Automaton> automaton(Lexer& lexer, std::span<const RegexId> regexes, size_t max_states) {
  std::vector<LexerStateId> known{lexer.start(regexes)};
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
