// What the core tells about grammars, as plain tuples and lists of Python; see cfgmask/_core.pyi.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <string_view>

#include "bindings/byte_bits.h"
#include "lexer/automaton.h"
#include "matcher/matcher.h"

namespace cfgmask {

inline nanobind::object to_python(const Automaton& automaton) {
  nanobind::list states;
  for (const Automaton::State& state : automaton.states) {
    nanobind::list moves;
    for (const Automaton::Move& move : state.moves) {
      moves.append(nanobind::make_tuple(to_bits(move.bytes), move.target));
    }
    states.append(nanobind::make_tuple(state.live, state.matched, moves));
  }
  return states;
}

inline nanobind::object to_python(const Matcher& matcher, TokenId token) {
  const Vocabulary& vocabulary = matcher.grammar().vocabulary();
  const bool is_known = token < vocabulary.n_vocab;
  const bool is_end = vocabulary.is_end(token) || matcher.is_stop(token);
  const std::string_view text = is_known && !is_end ? vocabulary.text(token) : std::string_view();
  return nanobind::make_tuple(is_known, is_end, nanobind::bytes(text.data(), text.size()), matcher.is_finished());
}

inline nanobind::object to_python(const Matcher::TokenFate& fate) {
  nanobind::list expected;
  for (const auto& [symbol, rules] : fate.expected) {
    const nanobind::object place =
        symbol.place == kNoPlace ? nanobind::none() : nanobind::object(nanobind::cast(symbol.place));
    expected.append(nanobind::make_tuple(symbol.name, place, rules));
  }
  return nanobind::make_tuple(fate.allowed, fate.too_far, fate.n_bytes, fate.may_end, expected);
}

}  // namespace cfgmask
