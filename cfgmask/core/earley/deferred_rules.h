// Rules that are made when a text first comes to them.
//
// A large grammar consists of parts of which a text meets few. A nonterminal of such a part is there from the moment
// that something names it; its alternatives, and what they name, come when it is first called. That each derives some
// text, and none of them the empty one, is known before.
//
// Threads: guarded by the owner of the grammar.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "earley/grammar.h"
#include "regex/regex.h"

namespace cfgmask {

class DeferredRules {
 public:
  virtual ~DeferredRules() = default;

  // Adds the first of them to a grammar that has scopes alone, and returns the start symbol, which may be deferred,
  // too. Throws LimitExceeded.
  virtual Symbol start(Grammar& grammar, RegexStore& regexes) = 0;
  // Gives a deferred nonterminal its alternatives. New nonterminals have their order, which fits those that are there,
  // and are analysed or deferred themselves. Throws LimitExceeded, and leaves the nonterminal deferred.
  virtual void define(uint32_t nonterminal, Grammar& grammar, RegexStore& regexes) = 0;
  // The same for the regex of a deferred terminal.
  virtual void define_terminal(uint32_t terminal, Grammar& grammar, RegexStore& regexes) = 0;

  // What comes after the key of a member of an object, or after another text of a choice. Throws LimitExceeded.
  virtual std::vector<Symbol> after_key(uint32_t object, uint32_t member, Grammar& grammar, RegexStore& regexes) = 0;
  // The terminal of that text alone, for those who ask for its name.
  virtual uint32_t terminal_of_key(uint32_t object, uint32_t member, Grammar& grammar, RegexStore& regexes) = 0;

  virtual size_t bytes() const = 0;
};

}  // namespace cfgmask
