// Rules that are made when a text first comes to them.
//
// A large grammar consists of parts of which a text meets few. A nonterminal of such a part is there from the moment
// that something names it; its alternatives, and what they name, come when it is first called. That each derives some
// text is known before, and whether it derives the empty one (Nonterminal::nullable). What a part begins with does not.
//
// Threads: guarded by the owner of the grammar.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "earley/grammar.h"
#include "regex/regex.h"
#include "util/limits.h"

namespace cfgmask {

// Nonterminals of parts have orders from here on, all others lower ones: no part begins with them.
inline constexpr uint32_t kFirstDeferredOrder = 1U << 29;

// What the rules of a part are added to, for the time of a call.
struct DeferredAdditions {
  Grammar& grammar;
  RegexStore& regexes;
  Account& rules;         // that are charged for what is added
  uint32_t first_object;  // Choice::object of this part lie in [first_object, first_object + n_objects)
  uint32_t n_objects;
  // Whether terminals may have key roles: where a text has one reading, its matcher keeps the keys
  // (mask/written_keys.h).
  bool has_key_roles;
  // Whether keys and other texts may be terminals of which several are a choice; else each is one by itself. Within a
  // limit on tokens it has to be known how each is closed.
  bool has_choices;
  // Whether states may stand for several alternatives at once: a text meets few of them, but all together they may be
  // exponentially many.
  bool has_unions;
};

// A part of a grammar: what one schema says. None of its nonterminals is left-recursive.
class DeferredPart {
 public:
  virtual ~DeferredPart() = default;

  // Whether some terminal gets a key role if it may.
  virtual bool has_keys() const = 0;
  // Whether it can be closed within a limit on tokens by what is told of it: no value needs several others that differ
  // (see GrammarBuilder::close_within_limits), and each text may be a terminal by itself.
  virtual bool fits_in_limits() const = 0;
  // Adds the first rules, and returns the start symbol, which may be deferred, too. Throws LimitExceeded; a second call
  // may follow then.
  virtual Symbol start(const DeferredAdditions& to) = 0;
  // Gives a deferred nonterminal its alternatives. New nonterminals have their order, which fits those that are there,
  // and are analysed or deferred themselves. Throws LimitExceeded, and leaves the nonterminal deferred.
  virtual void define(uint32_t nonterminal, const DeferredAdditions& to) = 0;
  // The same for the regex of a deferred terminal.
  virtual void define_terminal(uint32_t terminal, const DeferredAdditions& to) = 0;

  // What comes after the key of a member of an object, or after another text of a choice. Throws LimitExceeded.
  virtual std::vector<Symbol> after_key(uint32_t object, uint32_t member, const DeferredAdditions& to) = 0;
  // The terminal of that text alone, for those who ask for its name.
  virtual uint32_t terminal_of_key(uint32_t object, uint32_t member, const DeferredAdditions& to) = 0;

  virtual size_t bytes() const = 0;
};

// All such parts of a grammar. Each begins at a nonterminal that others may call; whatever is added while a part makes
// rules belongs to it.
class DeferredRules {
 public:
  // Before any of what follows, in the order of the nonterminals.
  void add(uint32_t nonterminal, std::shared_ptr<DeferredPart> part);
  // The rules that the grammar has and may have.
  void set_account(Account rules) { rules_ = rules; }
  // Before any rule is made; see DeferredAdditions.
  void set_key_roles(bool has_key_roles) { has_key_roles_ = has_key_roles; }
  // All rules are made, for those who look at them: without key roles, choices and unions. Before any is.
  void spell_out() { is_spelled_out_ = true; }
  // Whether some terminal may have a key role.
  bool has_keys() const;
  // The part that begins at this nonterminal is within a limit on tokens, and makes no choices; false if it does not
  // fit there. Before any of its rules is made.
  bool limit(uint32_t nonterminal);

  // As of the parts.
  void define(uint32_t nonterminal, Grammar& grammar, RegexStore& regexes);
  void define_terminal(uint32_t terminal, Grammar& grammar, RegexStore& regexes);
  std::vector<Symbol> after_key(uint32_t object, uint32_t member, Grammar& grammar, RegexStore& regexes);
  uint32_t terminal_of_key(uint32_t object, uint32_t member, Grammar& grammar, RegexStore& regexes);

  // The nonterminal at which the part begins that this one belongs to; itself if it belongs to none.
  uint32_t first_of(uint32_t nonterminal) const;
  uint32_t first_of_object(uint32_t object) const { return parts_[object / n_objects()].nonterminal; }

  size_t bytes() const;

 private:
  struct Part {
    uint32_t nonterminal;
    std::shared_ptr<DeferredPart> rules;
    bool has_choices = true;
  };
  // Numbers from `first` up to the next run.
  struct Run {
    uint32_t first;
    uint32_t part;
  };

  bool is_of_part(uint32_t nonterminal) const {
    return !nonterminals_.empty() && nonterminal >= nonterminals_.front().first;
  }
  static uint32_t part_at(const std::vector<Run>& runs, uint32_t number);
  static void extend(std::vector<Run>& runs, uint32_t part, size_t before, size_t after);
  // The number of the part that begins at this nonterminal.
  uint32_t part_from(uint32_t nonterminal) const;
  uint32_t n_objects() const { return UINT32_MAX / static_cast<uint32_t>(parts_.size()); }
  // What `act(part, to)` returns, and what it adds is the part's.
  template <class F>
  auto in_part(uint32_t part, Grammar& grammar, RegexStore& regexes, F act);

  std::vector<Part> parts_;
  std::vector<Run> nonterminals_;
  std::vector<Run> terminals_;
  Account rules_;
  bool has_key_roles_ = false;
  bool is_spelled_out_ = false;
};

}  // namespace cfgmask
