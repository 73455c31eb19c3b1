// The rules of a schema all at once, for those who look at them: what is checked, shown and written out is what texts
// are matched with. A matcher makes the same rules one by one, and what many of them have in common as one.
#pragma once

#include <cstdint>
#include <memory>

#include "earley/grammar.h"
#include "json_schema/layouts/value_layout.h"
#include "regex/regex.h"
#include "util/limits.h"

namespace cfgmask {

struct SchemaForm;

struct RuleExpansion {
  std::unique_ptr<RegexStore> regexes;
  // Of one scope, its start the nonterminal 0. Token sets are the tokens of the form, in order; their ids mean nothing.
  // Nonterminals that are deferred still are beyond what was asked for: the frontier.
  Grammar grammar;
  bool is_whole;  // nothing is deferred
};

// Makes rules, those first that are nearest to the start, until there are so many nonterminals; then those that are
// named get no rules. Throws LimitExceeded for other limits.
// form      as in `hand_over`
// n_tokens  of the form
RuleExpansion expand(std::shared_ptr<const SchemaWithLayout> parts, std::shared_ptr<const SchemaForm> form,
                     uint32_t n_tokens, const Limits& limits, uint64_t max_nonterminals);

}  // namespace cfgmask
