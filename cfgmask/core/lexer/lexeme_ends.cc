#include "lexer/lexeme_ends.h"

#include <algorithm>
#include <map>
#include <utility>

namespace cfgmask {

LexemeEnds::LexemeEnds(Automaton automaton) : automaton_(std::move(automaton)) {
  std::map<std::vector<uint32_t>, uint32_t> numbers;
  for (const Automaton::State& state : automaton_.states) {
    ByteSet taken;
    for (const Automaton::Move& move : state.moves) taken |= move.bytes;
    taken_.push_back(taken);
    if (state.matched.empty()) {
      matched_.push_back(kNothing);
      continue;
    }
    const auto [place, is_new] = numbers.try_emplace(state.matched, static_cast<uint32_t>(matched_sets_.size()));
    if (is_new) matched_sets_.push_back(state.matched);
    matched_.push_back(place->second);
  }
}

bool LexemeEnds::is_live(size_t state, uint32_t terminal) const {
  const std::vector<uint32_t>& live = automaton_.states[state].live;
  return std::binary_search(live.begin(), live.end(), terminal);
}

bool LexemeEnds::is_matched(size_t state, uint32_t terminal) const {
  const std::vector<uint32_t>& matched = automaton_.states[state].matched;
  return std::binary_search(matched.begin(), matched.end(), terminal);
}

std::vector<uint32_t> LexemeEnds::end_of_states(uint32_t terminal, std::vector<End>& ends) const {
  std::vector<uint32_t> found(automaton_.states.size(), kNothing);
  for (size_t state = 0; state < found.size(); ++state) {
    if (!is_matched(state, terminal)) continue;
    const End end{matched_[state], taken_[state]};
    const auto place = std::find(ends.begin(), ends.end(), end);
    found[state] = static_cast<uint32_t>(place - ends.begin());
    if (place == ends.end()) ends.push_back(end);
  }
  return found;
}

std::vector<LexemeEnds::End> LexemeEnds::ends(uint32_t terminal) const {
  std::vector<End> found;
  end_of_states(terminal, found);
  return found;
}

bool LexemeEnds::always_reaches(uint32_t terminal, std::span<const uint32_t> good) const {
  std::vector<End> ends;
  const std::vector<uint32_t> end_of = end_of_states(terminal, ends);
  const size_t n = automaton_.states.size();
  std::vector<std::vector<uint32_t>> before(n);
  std::vector<bool> reaches(n, false);
  std::vector<uint32_t> pending;
  size_t n_live = 0;
  // The first state is before the lexeme.
  for (uint32_t state = 1; state < n; ++state) {
    if (!is_live(state, terminal)) continue;
    ++n_live;
    for (const Automaton::Move& move : automaton_.states[state].moves) {
      if (is_live(move.target, terminal)) before[move.target].push_back(state);
    }
    if (end_of[state] != kNothing && std::find(good.begin(), good.end(), end_of[state]) != good.end()) {
      reaches[state] = true;
      pending.push_back(state);
    }
  }
  for (size_t i = 0; i < pending.size(); ++i) {
    for (const uint32_t earlier : before[pending[i]]) {
      if (reaches[earlier]) continue;
      reaches[earlier] = true;
      pending.push_back(earlier);
    }
  }
  return pending.size() == n_live;
}

bool LexemeEnds::can_be_left(uint32_t terminal, const ByteSet& begin, const ByteSet& wanted,
                             const std::vector<bool>& chosen) const {
  std::vector<bool> seen(automaton_.states.size(), false);
  std::vector<uint32_t> pending;
  const auto visit = [&](uint32_t state) {
    if (seen[state] || !is_live(state, terminal)) return;
    seen[state] = true;
    pending.push_back(state);
  };
  for (const Automaton::Move& move : automaton_.states[0].moves) {
    ByteSet bytes = move.bytes;
    bytes &= begin;
    if (!bytes.empty()) visit(move.target);
  }
  for (size_t i = 0; i < pending.size(); ++i) {
    const uint32_t state = pending[i];
    ByteSet free = wanted;
    free -= taken_[state];
    if (is_matched(state, terminal) && !free.empty() && chosen[matched_[state]]) return true;
    for (const Automaton::Move& move : automaton_.states[state].moves) visit(move.target);
  }
  return false;
}

}  // namespace cfgmask
