#include "mask/bounded_strings.h"

#include <algorithm>
#include <utility>

namespace cfgmask {

BoundedString BoundedStrings::from(LexerStateId state, const StringTokens& tokens) {
  Known& known = known_[state.value % kStates];
  if (known.state != state) known = {state, find(state, tokens)};
  return known.string;
}

BoundedString BoundedStrings::find(LexerStateId state, const StringTokens& tokens) {
  const Words live = lexer_.residuals(state);
  if (live.size() != 2 || lexer_.is_boundary(state)) return {};
  const auto bounds = regexes_.bounded_string(RegexId(live[1]));
  if (!bounds) return {};
  BoundedString found{lexer_.inside(0, bounds->without), bounds->maximum, bounds->farthest};
  found.room = room(found, tokens);
  return found;
}

uint32_t BoundedStrings::room(const BoundedString& string, const StringTokens& tokens) {
  // A token with no more characters than this always fits, and one with more than the maximum never does.
  const uint32_t surely = string.reach();
  uint32_t longest = tokens.n_of_others();
  if (surely <= longest) return 0;
  for (const StringTokens::Long& token : tokens.vague_ones()) {
    if (may_take(string.loop, tokens.text(token))) longest = std::max(longest, token.n_characters);
  }
  for (const StringTokens::Long& token : tokens.long_ones(string.maximum)) {
    if (token.n_characters <= longest) break;
    if (!may_take(string.loop, tokens.text(token))) continue;
    longest = token.n_characters;
    break;
  }
  return surely - std::min(surely, longest);
}

// False if the text leads nowhere from the loop. Where it leads when it has left the loop is not looked at.
bool BoundedStrings::may_take(LexerStateId loop, std::string_view text) {
  LexerStateId state = loop;
  for (const char c : text) {
    const auto b = static_cast<uint8_t>(c);
    state = lexer_.next(state, b);
    if (state == Lexer::dead()) return false;
    if (state != loop && b < 0x80) return true;
  }
  return true;
}

LexerStateId BoundedStrings::after(LexerStateId state, uint32_t n_characters, const StringTokens& tokens) {
  const Words live = lexer_.residuals(state);
  const LexerStateId next = lexer_.inside(live[0], regexes_.after_loops(RegexId(live[1]), n_characters));
  Known& known = known_[next.value % kStates];
  if (known.state != next) {
    BoundedString rest = from(state, tokens);
    rest.maximum -= n_characters;
    rest.room = room(rest, tokens);
    known = {next, rest};
  }
  return next;
}

}  // namespace cfgmask
