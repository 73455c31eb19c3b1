#include "mask/stretches.h"

#include <algorithm>

#include "vocab/characters.h"

namespace cfgmask {

Stretch Stretches::from(LexerStateId state, const StringTokens& tokens) {
  Known& known = known_[state.value % kStates];
  if (known.state != state) known = {state, find(state, tokens)};
  return known.stretch;
}

Stretch Stretches::find(LexerStateId state, const StringTokens& tokens) {
  const Words live = lexer_.residuals(state);
  if (live.size() != 2 || lexer_.is_boundary(state)) return {};
  const auto bounds = regexes_.bounded_string(RegexId(live[1]));
  if (!bounds) return {};
  // A token with no more characters than this always fits, and one with more than the maximum never does.
  const uint32_t surely = bounds->maximum - std::min(bounds->maximum, bounds->farthest);
  uint32_t longest = tokens.n_of_others();
  if (surely <= longest) return {};
  const LexerStateId loop = lexer_.inside(0, bounds->without);
  for (const Lengths& needed : lengths(loop, tokens)) {
    if (needed.most <= surely) {
      longest = std::max(longest, needed.most);
    } else if (needed.least <= bounds->maximum) {
      return {};
    }
  }
  return {loop, surely - longest, surely};
}

// Those of tokens that lead on from the loop, and of all that leave it for other states: which of them die later is not
// looked at.
const std::vector<Stretches::Lengths>& Stretches::lengths(LexerStateId loop, const StringTokens& tokens) {
  Loop& known = loops_[loop.value % kLoops];
  if (known.state == loop) return known.lengths;
  known = {loop, {}};
  lexer_.first(loop).for_each([&](unsigned b) { add_lengths(loop, tokens.long_ones(b), tokens, known.lengths); });
  return known.lengths;
}

void Stretches::add_lengths(LexerStateId loop, std::span<const StringTokens::Long> some, const StringTokens& tokens,
                            std::vector<Lengths>& lengths) {
  uint32_t n_taken = 0;  // bytes of the token before that lead around the loop
  uint32_t n_dead = 0;   // that lead nowhere; 0: none do
  for (const StringTokens::Long& token : some) {
    if (n_dead > 0 && token.n_common >= n_dead) continue;
    const std::string_view text = tokens.text(token);
    n_taken = std::min(n_taken, token.n_common);
    while (n_taken > 0 && n_taken < text.size() && is_continuation(text[n_taken])) --n_taken;
    n_dead = 0;
    LexerStateId state = loop;
    for (uint32_t i = n_taken; i < text.size(); ++i) {
      state = lexer_.next(state, static_cast<uint8_t>(text[i]));
      if (state == Lexer::dead()) {
        n_dead = i + 1;
        break;
      }
      if (state == loop) {
        n_taken = i + 1;
      } else if (static_cast<uint8_t>(text[i]) < 0x80) {
        break;
      }
    }
    if (n_dead == 0) lengths.push_back({token.n_least, token.n_most});
  }
}

LexerStateId Stretches::after(LexerStateId state, uint32_t n_characters) {
  const Words live = lexer_.residuals(state);
  return lexer_.inside(live[0], regexes_.after_loops(RegexId(live[1]), n_characters));
}

}  // namespace cfgmask
