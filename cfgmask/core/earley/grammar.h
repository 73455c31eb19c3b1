// A context-free grammar over terminals and token sets, as the parser reads it. Immutable once analysed, but for what
// deferred rules add at its end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "earley/parameter.h"
#include "regex/regex.h"
#include "util/ids.h"

namespace cfgmask {

enum class SymbolKind : uint32_t { kTerminal, kNonterminal, kTokenSet, kRepeat, kCall };

// A grammar symbol: what it is in the top three bits, which one in the rest. Repeats are interned by the parser, since
// counting down makes new ones.
struct Symbol {
  static constexpr uint32_t kIndexBits = 29;
  uint32_t value = 0;

  static constexpr Symbol make(SymbolKind kind, size_t index) {
    return Symbol{(static_cast<uint32_t>(kind) << kIndexBits) | static_cast<uint32_t>(index)};
  }
  SymbolKind kind() const { return static_cast<SymbolKind>(value >> kIndexBits); }
  uint32_t index() const { return value & ((1U << kIndexBits) - 1); }
  friend auto operator<=>(Symbol, Symbol) = default;
};

// How a text of a terminal falls into a body and what ends it: the shortest body that leaves a text of `end`.
struct Suffix {
  RegexId body;
  RegexId end;
  std::string capture;  // under this name the text of the end is captured, if it is not empty
};

inline constexpr uint32_t kNoCondition = UINT32_MAX;

// What a lexeme asks of the text around it.
struct Conditions {
  uint32_t before = kNoCondition;     // index into Grammar::befores: all of the text before it is one of these
  RegexId after = RegexStore::all();  // all of the text after it is
  friend auto operator<=>(const Conditions&, const Conditions&) = default;
};

// What a lexeme does to indentation; see mask/indentation.h.
enum class LineRole : uint8_t {
  kNone,
  kNewline,
  kSkippedNewline,  // a newline inside of brackets
  kOpen,            // of brackets
  kClose,
};

// Strings that must not come twice and never run out: the keys of an object, or the items of an array.
enum class Endless : uint8_t { kNone, kKeys, kItems };

// What a lexeme does to the keys of a text, or items that are kept like keys; see mask/written_keys.h.
enum class KeyRole : uint8_t { kNone, kOpens, kCloses, kKey };

inline constexpr uint32_t kNoChoice = UINT32_MAX;

// Where a symbol stands in what somebody wrote, a number that means something to the front end alone.
inline constexpr uint32_t kNoPlace = UINT32_MAX;

// A place in the rules of an item, see Holds::kItem.
struct Step {
  uint32_t place = 0;          // its number; 0: nothing else may stand there
  uint32_t ways = kUnbounded;  // how many different ends of the item may follow; kUnbounded: more than are counted
};

struct Terminal {
  RegexId regex;  // without the empty text
  // Its regex, which matches something, comes when it is first met; see earley/deferred_rules.h.
  bool is_deferred = false;
  bool nullable = false;  // whether the grammar's regex matched the empty text too
  uint32_t scope = 0;
  int32_t priority = 0;
  std::string name;
  uint32_t place = kNoPlace;
  // Its lexemes are scalars, as ir.py says of which kind, none of them equal to one before it in the open set.
  bool distinct = false;
  // Distinct: JSON strings of which nothing that begins one begins finitely many, and which are equal to no other value
  // of their set but those of such terminals. No bounds of the set are on them.
  Endless endless = Endless::kNone;
  // It may come only where the open set has all that its bounds ask for and, if that is a value, where the set around
  // it may have it.
  bool closes_set = false;
  // In a set that holds an item. If the terminal is not distinct, its lexemes are all of one value.
  Step step;
  // lexer: longest. Where it is complete the lexeme ends, and terminals that are not lazy drop out.
  bool lazy = false;
  // A lexeme of it has bytes of so many tokens at most.
  uint32_t max_tokens = kUnbounded;
  std::unique_ptr<const Suffix> suffix;  // or null
  Conditions around;
  LineRole role = LineRole::kNone;
  KeyRole key_role = KeyRole::kNone;
  // Its lexemes are numbered keys, and which it was decides what follows: index into Grammar::choices. Last of its
  // alternative. If it is distinct, too, the set knows a key by its number, and no text is kept of it; no other
  // terminal of the set has any of the keys, and the set is of values (Holds::kValues).
  uint32_t choice = kNoChoice;
};

// The members of an object whose keys have numbers in [from, to) in a list; what follows each is made by deferred
// rules. Those of one object, first member and list end with the same key.
struct Choice {
  uint32_t object;  // or whatever else deferred rules number
  uint32_t first;   // the member of number 0
  uint32_t list;
  uint32_t from;
  uint32_t to;
  bool are_strings = false;  // the keys are those of RegexStore::numbered_strings

  bool has_end_of(const Choice& other) const {
    return object == other.object && first == other.first && list == other.list;
  }

  // The object and the member of a number, in one.
  uint64_t key(uint32_t number) const { return (uint64_t{object} << 32) | (first + number); }
};

// What an indenter puts behind a newline: tokens that no vocabulary has.
inline constexpr uint32_t kIndent = UINT32_MAX - 1;
inline constexpr uint32_t kDedent = UINT32_MAX - 2;

struct TokenSet {
  std::vector<uint32_t> ids;  // sorted
  uint32_t scope = 0;
  std::string name;
  uint32_t place = kNoPlace;

  bool is_indent() const { return !ids.empty() && ids[0] >= kDedent; }
};

// How newlines become indentation.
struct Indenter {
  RegexId newline;     // of the terminals with that role
  uint32_t scope = 0;  // whose ignored text newlines are inside of brackets
  uint32_t tab_len = 8;
  std::string name;  // of these terminals
};

// What may be skipped before the terminals of one grammar (a %json block has a scope of its own).
struct Scope {
  struct Ignored {
    RegexId regex;
    Conditions around;
    std::string name;
  };
  std::vector<Ignored> ignored;  // each under other conditions
  bool ignore_once = false;      // at most one skip in a gap
};

// What a set of seen values is of. Arrays and objects are values themselves, of the set around them.
enum class Holds : uint8_t {
  kValues,         // no two are equal
  kArray,          // the items of an array
  kDistinctArray,  // of which no two are equal
  kObject,         // keys, none of which comes twice, each with its value behind it
  // What is written of an item of the set around it so far, or of a part of an item: lexemes and sets, each with the
  // place where it stands. None comes after which all ends that the item may have there are those of items before it.
  kItem,
  // The same of an array that is a part of an item, of whose items no two are equal.
  kList,
  // What is written of the members of an object, in any order, that is a part of an item: keys, none of which comes
  // twice, each with its value behind it, an item by itself of which the ends are those of the value alone.
  kMembers,
  // A value that came in the set around it, which is of values and begins anew behind it.
  kAgain,
};

// A key that may be in a set of members, or a class of such.
struct SetMember {
  std::string name;
  uint32_t ways = kUnbounded;  // how many values it may have; kUnbounded: more than are counted
  bool is_required = false;
  // Keys without names, none of them required, and how many there are. Classes come behind keys with names.
  bool is_class = false;
  uint32_t n_keys = 1;
};

// What a set of seen values must come to.
struct SetBounds {
  std::vector<std::string> required;  // strings, decoded
  uint32_t minimum = 0;
  uint32_t maximum = kUnbounded;
  // The set has no bounds, and nothing in it but values of endless terminals.
  bool endless = false;
  Holds holds = Holds::kValues;
  Step step;  // where it is a part of an item
  std::vector<SetMember> members;
};

struct Alternative {
  std::vector<Symbol> symbols;
  Condition condition;  // on the parameter of its nonterminal; empty for none
};

// What one must be able to tell of being inside a nonterminal.
struct Mark {
  // Under this name its texts are captured, if it is not empty.
  std::string capture;
  // The sampling temperature that the grammar asks for inside.
  std::optional<double> temperature;
};

struct Nonterminal {
  uint32_t place = kNoPlace;  // of its rule
  std::vector<Alternative> alternatives;
  // Its alternatives come when it is first called; see earley/deferred_rules.h.
  bool is_deferred = false;
  // It derives the empty text if every condition holds.
  bool nullable = false;
  // What it derives depends on a parameter, its own or that of something it leads to.
  bool conditional = false;
  // Whichever conditions hold, it is one terminal that is not empty, and nothing has to be known of being inside.
  bool chooses_terminal = false;
  // What it derives has a set of its own for the values of distinct terminals, with these bounds of the grammar's. If
  // that is a value, each alternative ends with a terminal that closes the set.
  std::optional<uint32_t> opens_set;
  // Where a set is open, nothing in it counts for that set, and something can always be written. Sets inside are
  // others.
  bool hides_set = false;
  // Who called it goes on with the set that was open at the call.
  bool restores_set() const { return opens_set || hides_set; }
  std::unique_ptr<const Mark> mark;  // or null
  // Each text of it has bytes of so many tokens at most.
  uint32_t max_tokens = kUnbounded;
  // The tokens that close it from its beginning; see earley/deadlines.cc. Known in grammars with such limits.
  uint32_t closing_tokens = kUnbounded;
  // It leads to something that has a limit on its tokens, or has one.
  bool leads_to_limit = false;
  bool is_captured() const { return mark != nullptr && !mark->capture.empty(); }
  // Position of its component in an order in which callers at the left edge come first; see analyse().
  uint32_t order = 0;
  bool left_recursive = false;
};

struct Repeat {
  Symbol body;
  uint32_t minimum = 0;
  uint32_t maximum = kUnbounded;
};

// A nonterminal with a parameter.
struct Call {
  uint32_t nonterminal;
  Argument argument;
  friend auto operator<=>(const Call&, const Call&) = default;
};

class DeferredRules;

struct Grammar {
  std::vector<Terminal> terminals;
  std::vector<TokenSet> token_sets;
  std::vector<Scope> scopes;
  std::vector<Nonterminal> nonterminals;
  std::vector<Repeat> repeats;
  std::vector<Call> calls;
  std::vector<SetBounds> set_bounds;
  std::vector<Choice> choices;
  std::shared_ptr<DeferredRules> deferred;  // or null
  Symbol start;
  uint32_t start_scope = 0;
  std::vector<RegexId> befores;  // what terminals may ask of the text before them
  bool has_conditions = false;   // some terminal asks something of the text around it
  bool has_keys = false;         // some terminal has a key role
  bool has_deadlines = false;    // some nonterminal has a limit on its tokens
  bool has_limits = false;       // some terminal has one
  std::optional<Indenter> indenter;
  bool complete = false;  // lexer: every segmentation instead of the longest match
  bool ignore_initial = true;
  bool ignore_final = true;

  // Whether which lexemes may come, or what they lead to, depends on more than the parser.
  bool has_context() const { return has_conditions || counts_tokens() || indenter.has_value(); }
  // Whether it matters where tokens end.
  bool counts_tokens() const { return has_deadlines || has_limits; }
  // The symbol without its argument, if it is a call.
  Symbol skeleton(Symbol symbol) const {
    return symbol.kind() == SymbolKind::kCall
               ? Symbol::make(SymbolKind::kNonterminal, calls[symbol.index()].nonterminal)
               : symbol;
  }
  // A symbol derives the empty text if every condition holds. Valid after analyse().
  bool nullable(Symbol symbol) const;
};

// Nonterminals and all that their alternatives lead to, each once, callers before callees that no other caller had. Of
// what is deferred that is nothing. Linear.
std::vector<uint32_t> reached_from(const Grammar& grammar, std::span<const uint32_t> nonterminals);

// In a grammar with limits on the tokens of nonterminals, finds what closes each, where `needed` is how many tokens the
// closing text of a regex has. Nonterminals whose limit is smaller derive nothing. Before analyse(). What is deferred
// counts as one token: see earley/closings.h. Returns the nonterminals that have a limit, and those that they lead
// to.
std::vector<uint32_t> find_closing_tokens(Grammar& grammar, const std::function<uint32_t(RegexId)>& needed);

// Drops alternatives that derive nothing, then finds nullable and conditional nonterminals, the order of components and
// left recursion (hidden left recursion too), all as if every condition held; see Instances for when they do not.
// Linear. Returns whether the start symbol then derives anything.
bool analyse(Grammar& grammar);

// Drops alternatives that derive nothing, of the nonterminals from `first` on and one more. Linear in these.
void prune_since(Grammar& grammar, uint32_t first, uint32_t besides);

// Gives back the room that was left for more.
void fit(Grammar& grammar);

}  // namespace cfgmask
