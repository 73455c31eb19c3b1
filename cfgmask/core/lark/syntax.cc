#include "lark/syntax.h"

#include <algorithm>
#include <cstdint>

#include "util/pause.h"

namespace cfgmask {

namespace {

std::span<const LarkAction> actions_in(int16_t state) {
  const auto number = static_cast<size_t>(state);
  return std::span(kLarkActions)
      .subspan(kLarkFirstActions[number], kLarkFirstActions[number + 1] - kLarkFirstActions[number]);
}

std::optional<int16_t> action_in(int16_t state, uint8_t symbol) {
  const auto actions = actions_in(state);
  const auto found = std::lower_bound(actions.begin(), actions.end(), symbol,
                                      [](const LarkAction& action, uint8_t wanted) { return action.symbol < wanted; });
  if (found == actions.end() || found->symbol != symbol) return std::nullopt;
  return found->action;
}

uint8_t number_of(LarkTerminal terminal) { return static_cast<uint8_t>(terminal); }
uint8_t number_of(LarkRule rule) { return static_cast<uint8_t>(kLarkTerminalNames.size() + static_cast<size_t>(rule)); }

std::vector<LarkTerminal> expected_in(int16_t state) {
  std::vector<LarkTerminal> found;
  for (const LarkAction& action : actions_in(state)) {
    if (action.symbol < kLarkTerminalNames.size()) found.push_back(static_cast<LarkTerminal>(action.symbol));
  }
  return found;
}

bool changes_nothing(const LarkReduction& reduction) {
  return reduction.is_inline ? reduction.taken == "*" : reduction.may_vanish && reduction.taken == "1";
}

}  // namespace

std::optional<LarkSyntaxError> parse_lark_statement(std::span<const LarkToken> tokens, std::vector<LarkStep>& steps) {
  steps.clear();
  std::vector<int16_t> states = {0};
  for (size_t i = 0;;) {
    Pause::tick();
    const LarkTerminal type = i < tokens.size() ? tokens[i].type : LarkTerminal::kEnd;
    const auto action = action_in(states.back(), number_of(type));
    if (!action) {
      if (states.back() == kLarkEndState && i == tokens.size()) return std::nullopt;
      return LarkSyntaxError{i, expected_in(states.back())};
    }
    if (*action >= 0) {
      states.push_back(*action);
      steps.push_back(nullptr);
      ++i;
      continue;
    }
    const LarkReduction& reduction = kLarkReductions[static_cast<size_t>(~*action)];
    states.resize(states.size() - reduction.taken.size());
    // What a rule leads to is in the table wherever the rule may stand.
    states.push_back(action_in(states.back(), number_of(reduction.rule)).value());
    if (!changes_nothing(reduction)) steps.push_back(&reduction);
  }
}

}  // namespace cfgmask
