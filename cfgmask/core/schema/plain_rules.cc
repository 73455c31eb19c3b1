#include "schema/plain_rules.h"

#include <algorithm>
#include <array>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "earley/deferred_rules.h"
#include "earley/grammar.h"
#include "regex/endless.h"
#include "schema/array_forks.h"
#include "schema/large_lists.h"
#include "schema/large_unions.h"
#include "schema/object_forks.h"
#include "schema/scalars_together.h"
#include "schema/text_names.h"
#include "schema/witnesses.h"
#include "util/chunked_vector.h"
#include "util/hash_table.h"
#include "util/limits.h"
#include "util/lists.h"

namespace cfgmask {

namespace {

constexpr size_t kShownValues = 8;

// Orders of nonterminals (Nonterminal::order): forks, which come first, begin with states of objects and with values,
// the states of an object with later ones, those of arrays and objects with values, values with their alternatives, and
// what begins with a terminal comes last.
constexpr uint32_t kFirstState = ObjectForks::kOrders;
constexpr uint32_t kValues = 1U << 30;
constexpr uint32_t kBeginsWithTerminal = 1U << 31;

// Where choices are of a fork, Choice::object begins here.
constexpr uint32_t kFirstFork = 1U << 31;

class Rules : public DeferredRules {
 public:
  Rules(std::shared_ptr<const PlainSchema> schema, uint32_t scope, OutsideRegexes outside,
        std::vector<std::string> outside_names, uint32_t max_digits, uint64_t max_rules)
      : kept_(std::move(schema)),
        schema_(*kept_),
        rules_{"max_rules", max_rules},
        scope_(scope),
        outside_(std::move(outside)),
        outside_names_(std::move(outside_names)),
        max_digits_(max_digits),
        forks_(schema_),
        array_forks_(schema_) {}

  Symbol start(Grammar& grammar, RegexStore& regexes) override {
    grammar_ = &grammar;
    regexes_ = &regexes;
    grammar.has_keys = schema_.overview().has_endless_keys;
    open_object_ = mark("{", KeyRole::kOpensObject);
    close_object_ = mark("}", KeyRole::kClosesObject);
    open_array_ = mark("[");
    close_array_ = mark("]");
    comma_ = mark(",");
    colon_ = mark(":");
    const Symbol start{rule_of(schema_.root())};
    for (PlainValueId id : schema_.overview().with_many_states) define(Symbol{rule_of(id)}.index());
    return start;
  }

  void define(uint32_t nonterminal, Grammar& grammar, RegexStore& regexes) override {
    grammar_ = &grammar;
    regexes_ = &regexes;
    define(nonterminal);
  }

  void define_terminal(uint32_t index, Grammar& grammar, RegexStore& regexes) override {
    grammar_ = &grammar;
    regexes_ = &regexes;
    Terminal& terminal = grammar.terminals[index];
    terminal.regex = regex_of(schema_.terminal(terminal_of_.at(index)), terminal.distinct);
    terminal.is_deferred = false;
  }

  std::vector<Symbol> after_key(uint32_t object, uint32_t member, Grammar& grammar, RegexStore& regexes) override {
    grammar_ = &grammar;
    regexes_ = &regexes;
    if (object >= kFirstFork) return symbols(after_text(fork_choices_[object - kFirstFork], member));
    const auto value = object_at(object).members[member].value;
    return {Symbol{colon_}, Symbol{symbol_of(value)}, Symbol{rule_of(ObjectState{object, member + 1})}};
  }

  uint32_t terminal_of_key(uint32_t object, uint32_t member, Grammar& grammar, RegexStore& regexes) override {
    grammar_ = &grammar;
    regexes_ = &regexes;
    const std::string& text = object >= kFirstFork ? fork_choices_[object - kFirstFork].ways->text(member)
                                                   : schema_.name_at(object_at(object).members[member].name);
    return Symbol{string(text)}.index();
  }

  size_t bytes() const override { return schema_.bytes(); }

 private:
  using Symbols = std::vector<uint32_t>;

  // So many members of an object are passed at a level.
  struct ObjectState {
    uint32_t level;
    uint32_t n_passed;
  };
  // So many items of an array are written.
  struct ArrayState {
    PlainValueId array;
    uint32_t n_written;
  };
  struct ForkState {
    uint32_t number;
  };
  struct ArrayForkState {
    uint32_t number;
  };
  // What rules are made of when they are first called.
  using Deferred = std::variant<PlainValueId, ObjectState, ArrayState, ForkState, ArrayForkState>;

  // ---- the grammar

  uint32_t add_terminal(RegexId regex, std::string name, bool distinct = false, KeyRole role = KeyRole::kNone) {
    Terminal& made = grammar_->terminals.emplace_back();
    made.regex = regex;
    made.scope = scope_;
    made.name = std::move(name);
    made.distinct = distinct;
    made.key_role = role;
    return Symbol::make(SymbolKind::kTerminal, grammar_->terminals.size() - 1).value;
  }

  uint32_t add_nonterminal(uint32_t order) {
    rules_.charge();
    grammar_->nonterminals.emplace_back().order = order;
    return Symbol::make(SymbolKind::kNonterminal, grammar_->nonterminals.size() - 1).value;
  }

  // One whose distinct terminals must not repeat each other.
  uint32_t add_set() {
    const uint32_t made = add_nonterminal(kBeginsWithTerminal);
    if (grammar_->set_bounds.empty()) grammar_->set_bounds.emplace_back();
    grammar_->nonterminals.back().opens_set = 0;
    return made;
  }

  uint32_t add_repeat(uint32_t body, uint32_t minimum, uint32_t maximum) {
    grammar_->repeats.push_back({Symbol{body}, minimum, maximum});
    return Symbol::make(SymbolKind::kRepeat, grammar_->repeats.size() - 1).value;
  }

  void add_alternative(uint32_t rule, std::span<const uint32_t> symbols) {
    rules_.charge();
    Alternative& made = grammar_->nonterminals[Symbol{rule}.index()].alternatives.emplace_back();
    made.symbols.reserve(symbols.size());
    for (uint32_t symbol : symbols) made.symbols.push_back(Symbol{symbol});
  }

  // ---- when rules are made

  void define(uint32_t nonterminal) {
    const auto n_before = static_cast<uint32_t>(grammar_->nonterminals.size());
    const uint32_t rule = Symbol::make(SymbolKind::kNonterminal, nonterminal).value;
    const Deferred deferred = deferred_.at(nonterminal);
    try {
      std::visit([&](const auto& of) { add_rules(rule, of); }, deferred);
    } catch (const LimitExceeded&) {
      grammar_->nonterminals[nonterminal].alternatives.clear();
      throw;
    }
    grammar_->nonterminals[nonterminal].is_deferred = false;
    const auto* value = std::get_if<PlainValueId>(&deferred);
    if (value != nullptr && may_have_dead_ends(schema_.at(*value))) prune_since(*grammar_, n_before, nonterminal);
  }

  // A rule that is made when it is first called.
  uint32_t defer(uint32_t order, Deferred of) {
    const uint32_t rule = add_nonterminal(order);
    grammar_->nonterminals.back().is_deferred = true;
    deferred_.emplace(Symbol{rule}.index(), of);
    return rule;
  }

  // Where witnesses may leave no way on after some of the members or items.
  static bool may_have_dead_ends(const PlainSchema::Value& value) {
    return value.may_have_many_states() || (value.object && !value.object->witnesses.empty());
  }

  // ---- terminals

  uint32_t mark(std::string_view text, KeyRole role = KeyRole::kNone) {
    return add_terminal(regexes_->literal(text), shown(text), false, grammar_->has_keys ? role : KeyRole::kNone);
  }

  // A string that is written as one of these, or as a key: printable characters only as themselves.
  RegexId fixed(const std::vector<std::string>& texts) {
    SpelledTexts spelled(texts, [](const std::string& text) -> std::string_view { return text; });
    std::array<std::vector<std::string_view>, 2> of;
    for (const std::string& text : texts) {
      const auto [has_escapes, written] = spelled.add(text);
      of[has_escapes ? 1 : 0].push_back(written);
    }
    RegexStore& r = *regexes_;
    const RegexId others = r.key_set(std::move(of[1]));
    return r.alternation({r.key_set(std::move(of[0])), r.json_string(others, JsonEscapes::kLiteral)});
  }

  // The same as one string, of which values can be taken away.
  RegexId listed(const std::vector<std::string>& texts) {
    return regexes_->json_string(regexes_->key_set(texts), JsonEscapes::kLiteral);
  }

  // Exactly this string. The text is one of the schema's own.
  uint32_t string(const std::string& text, KeyRole role = KeyRole::kNone) {
    if (role != KeyRole::kNone) return add_terminal(fixed({text}), shortened(shown(text)), false, role);
    const auto [at, is_new] = strings_.try_emplace(text, 0);
    if (is_new) at->second = add_terminal(fixed({text}), shortened(shown(text)));
    return at->second;
  }

  uint32_t key(uint32_t name) { return string(schema_.name_at(name)); }

  // What the register of an object must know of the keys that are no members.
  enum class Register { kNone, kCounting, kEndless };

  Register register_of(const PlainSchema::Object& object) {
    if (!object.may_repeat_others()) return Register::kNone;
    if (object.counts_others()) return Register::kCounting;
    return never_run_out(object) ? Register::kEndless : Register::kCounting;
  }

  // Whether it is sure that whatever begins a key that is no member begins infinitely many.
  bool never_run_out(const PlainSchema::Object& object) {
    const bool has_others = object.others && schema_.is_live(*object.others);
    const auto is_live = [&](const PlainSchema::KeyClass& c) { return schema_.is_live(c.value); };
    if (has_others && std::all_of(object.classes.begin(), object.classes.end(), is_live)) return true;
    std::vector<RegexId> all;
    for (const auto& c : object.classes) {
      if (is_live(c)) all.push_back(schema_.keys_regex(c.keys, *regexes_, outside_));
    }
    if (has_others) all.push_back(schema_.keys_regex(object.others_keys, *regexes_, outside_));
    const RegexId either = regexes_->alternation(std::move(all));
    const auto [at, is_new] = endless_.try_emplace(either, false);
    if (is_new) at->second = is_endless_at_sight(either, *regexes_);
    return at->second;
  }

  static bool is_endless_at_sight(RegexId keys, RegexStore& r) {
    try {
      return is_endless(r, keys);
    } catch (const LimitExceeded&) {
      return false;
    }
  }

  // The keys of a class but those of the members; all keys but those where there are no classes.
  uint32_t other_key(const PlainSchema::Object& object, const PlainSchema::Keys& keys, Register seen,
                     const std::shared_ptr<const LargeObject>& large) {
    if (large) return other_key(regexes_->key_set(large->names), keys, seen);
    std::vector<std::string_view> names;
    for (const auto& member : object.members) names.push_back(schema_.name_at(member.name));
    return other_key(regexes_->key_set(std::move(names)), keys, seen);
  }

  uint32_t other_key(RegexId names, const PlainSchema::Keys& keys, Register seen) {
    RegexStore& r = *regexes_;
    std::vector<RegexId> conditions{schema_.keys_regex(keys, r, outside_)};
    if (names != RegexStore::nothing()) conditions.push_back(r.complement(names));
    const RegexId body = conditions.size() == 1 ? conditions[0] : r.intersection(std::move(conditions));
    return add_terminal(r.json_string(body, JsonEscapes::kAny), "KEY", seen == Register::kCounting,
                        seen == Register::kEndless ? KeyRole::kKey : KeyRole::kNone);
  }

  // A key that is no member, and its value; one rule where there are several kinds.
  std::optional<Symbols> other_member(const PlainSchema::Object& object, Register seen,
                                      const std::shared_ptr<const LargeObject>& large) {
    std::vector<Symbols> ways;
    for (const auto& c : object.classes) {
      if (schema_.is_live(c.value))
        ways.push_back({other_key(object, c.keys, seen, large), colon_, symbol_of(c.value)});
    }
    if (object.others && schema_.is_live(*object.others))
      ways.push_back({other_key(object, object.others_keys, seen, large), colon_, symbol_of(*object.others)});
    if (ways.empty()) return std::nullopt;
    if (ways.size() == 1) return ways[0];
    const uint32_t either = add_nonterminal(kBeginsWithTerminal);
    for (const Symbols& way : ways) add_alternative(either, way);
    return Symbols{either};
  }

  uint32_t terminal(uint32_t index) {
    if (const auto known = terminals_.find(index)) return *known;
    const uint32_t made = new_terminal(index, false);
    terminals_.insert(index, made);
    return made;
  }

  // A terminal of an item that must not be equal to another.
  uint32_t distinct_terminal(uint32_t index) {
    const auto [at, is_new] = distinct_terminals_.try_emplace(index, 0);
    if (is_new) at->second = new_terminal(index, true);
    return at->second;
  }

  // One that gets its regex when a text comes to it.
  uint32_t new_terminal(uint32_t index, bool distinct) {
    const uint32_t made = add_terminal(RegexId(), terminal_name(schema_.terminal(index)), distinct);
    grammar_->terminals.back().is_deferred = true;
    terminal_of_.emplace(Symbol{made}.index(), index);
    return made;
  }

  std::string terminal_name(const PlainSchema::Terminal& terminal) const {
    if (terminal.spelling == PlainSchema::Spelling::kOutside) return outside_names_[terminal.outside];
    if (terminal.spelling != PlainSchema::Spelling::kListed) return std::string(terminal.name);
    std::string name;
    for (size_t i = 0; i < std::min(terminal.listed.size(), kShownValues); ++i)
      name += (i == 0 ? "" : " | ") + shown(terminal.listed[i]);
    return shortened(std::move(name));
  }

  RegexId regex_of(const PlainSchema::Terminal& terminal, bool distinct) {
    switch (terminal.spelling) {
      case PlainSchema::Spelling::kWord:
        return regexes_->literal(terminal.name);
      case PlainSchema::Spelling::kAnyString:
      case PlainSchema::Spelling::kText:
        return regexes_->json_string(schema_.text_regex(terminal, *regexes_), JsonEscapes::kAny);
      case PlainSchema::Spelling::kListed:
        if (distinct) return listed(terminal.listed);
        return terminal.large ? terminal.large->regex(*regexes_) : fixed(terminal.listed);
      case PlainSchema::Spelling::kNumbers: {
        if (terminal.large_numbers) return terminal.large_numbers->regex(*regexes_, max_digits_);
        using Exponents = NumberSet::Exponents;
        return terminal.numbers->regex(*regexes_, max_digits_, distinct ? Exponents::kNo : Exponents::kYes);
      }
      case PlainSchema::Spelling::kOutside:
        break;
    }
    return outside_[terminal.outside]->in(*regexes_);
  }

  // A value as one symbol: a scalar that is one terminal is that terminal.
  uint32_t symbol_of(PlainValueId id) {
    id = schema_.resolved(id);
    const PlainSchema::Value& value = schema_.at(id);
    const bool one = value.terminals.size() == 1 && !value.array && !value.object && value.alternatives.empty();
    return one ? terminal(value.terminals[0]) : rule_of(id);
  }

  uint32_t rule_of(PlainValueId id) {
    id = schema_.resolved(id);
    if (const auto known = values_.find(id.value)) return *known;
    const PlainSchema::Order order = schema_.order(id);
    const uint32_t rule = defer(kValues + order.number, id);
    grammar_->nonterminals.back().left_recursive = order.loops;
    values_.insert(id.value, rule);
    return rule;
  }

  void add_rules(uint32_t rule, PlainValueId id) {
    const PlainSchema::Value& value = schema_.at(id);
    for (uint32_t t : value.terminals) add_alternative(rule, Symbols{terminal(t)});
    const auto together = schema_.together(id);
    if (together) add_scalars(rule, together);
    if (const auto large = schema_.large_union(id)) {
      add_large(rule, *large);
      add_either(rule, large->rest);
    } else {
      add_either(rule, together ? together->others : value.alternatives);
    }
    if (value.array) add_array(rule, id);
    if (value.object) add_object(rule, id);
  }

  void add_scalars(uint32_t rule, const std::shared_ptr<const ScalarsTogether>& scalars) {
    if (scalars->texts) {
      const RegexId strings = regexes_->json_string(regexes_->prefixed(scalars->texts), JsonEscapes::kAny);
      add_alternative(rule, Symbols{add_terminal(strings, "STRING")});
    }
    if (const auto numbers = ScalarsTogether::numbers(scalars, max_digits_))
      add_alternative(rule, Symbols{add_terminal(regexes_->prefixed(numbers), "NUMBER")});
  }

  // What the schema has, stays.
  void add_large(uint32_t rule, const LargeUnion& large) {
    if (large.objects) {
      forks_.add_room(large.objects->room);
      const uint32_t state = forks_.first(large.objects->places);
      large_objects_.emplace(state, &*large.objects);
      for (const LargeUnion::Others& others : large.objects->others) {
        for (const bool some : {false, true}) large_others_.emplace(forks_.others(others.places, some), &others);
      }
      add_alternative(rule, Symbols{open_object_, fork(state)});
    }
    if (large.arrays) {
      array_forks_.add_room(large.arrays->room);
      const uint32_t state = array_forks_.first(large.arrays->places);
      large_arrays_.emplace(state, &*large.arrays);
      add_alternative(rule, Symbols{open_array_, array_fork(state)});
    }
  }

  void add_either(uint32_t rule, const std::vector<PlainValueId>& alternatives) {
    std::vector<PlainValueId> objects;
    std::vector<PlainValueId> arrays;
    for (PlainValueId alternative : alternatives) {
      if (!schema_.is_live(alternative)) continue;
      const PlainValueId id = schema_.resolved(alternative);
      if (alternatives.size() >= ObjectForks::kMany && is_open_object(id)) {
        objects.push_back(id);
      } else if (alternatives.size() >= ObjectForks::kMany && ArrayForks::takes(schema_, id)) {
        arrays.push_back(id);
      } else {
        add_alternative(rule, Symbols{symbol_of(id)});
      }
    }
    if (objects.size() >= ObjectForks::kMany) {
      add_alternative(rule, Symbols{open_object_, fork_of(std::move(objects))});
    } else {
      for (PlainValueId id : objects) add_alternative(rule, Symbols{rule_of(id)});
    }
    if (arrays.size() >= ObjectForks::kMany) {
      add_alternative(rule, Symbols{open_array_, array_fork_of(std::move(arrays))});
    } else {
      for (PlainValueId id : arrays) add_alternative(rule, Symbols{rule_of(id)});
    }
  }

  void add_array(uint32_t rule, PlainValueId id) {
    const PlainSchema::Array& array = *schema_.at(id).array;
    if (!array.witnesses.empty()) return add_array_with_witnesses(rule, array);
    if (!schema_.can_be(array)) return;
    if (array.forbids_equal_items()) {
      const uint32_t whole = add_set();
      add_alternative(rule, Symbols{whole});
      rule = whole;
    }
    add_alternative(rule, Symbols{open_array_, rule_of(ArrayState{id, 0})});
  }

  // Calls stand in tail position.
  uint32_t rule_of(const ArrayState& state) {
    const uint64_t key = (uint64_t{state.array.value} << 32) | state.n_written;
    if (const auto known = array_states_.find(key)) return *known;
    const uint32_t rule = defer(kFirstState, state);
    array_states_.insert(key, rule);
    return rule;
  }

  void add_rules(uint32_t rule, const ArrayState& state) {
    const PlainSchema::Array& array = *schema_.at(state.array).array;
    const uint32_t i = state.n_written;
    if (i >= array.prefix.size()) return add_further_items(rule, array, i);
    if (i >= array.minimum) add_alternative(rule, Symbols{close_array_});
    if (i >= array.maximum || !schema_.is_live(array.prefix[i])) return;
    Symbols item = separated(i > 0);
    item.insert(item.end(), {item_of(array, array.prefix[i]), rule_of(ArrayState{state.array, i + 1})});
    add_alternative(rule, item);
  }

  // What follows items that have a position of their own.
  void add_further_items(uint32_t state, const PlainSchema::Array& array, uint32_t written) {
    const uint32_t least = array.minimum > written ? array.minimum - written : 0;
    const uint32_t most = array.maximum == kUnbounded ? kUnbounded : array.maximum - std::min(array.maximum, written);
    if (!array.rest || most == 0 || !schema_.is_live(*array.rest)) {
      if (least == 0) add_alternative(state, Symbols{close_array_});
      return;
    }
    add_repeated(state, written > 0, Symbols{item_of(array, *array.rest)}, least, most, close_array_);
  }

  uint32_t item_of(const PlainSchema::Array& array, PlainValueId item) {
    return array.forbids_equal_items() ? distinct_scalar(schema_.resolved(item)) : symbol_of(item);
  }

  // A value that has scalars only, one of those that must not come twice.
  uint32_t distinct_scalar(PlainValueId id) {
    const PlainSchema::Value& value = schema_.at(id);
    if (value.terminals.size() == 1) return distinct_terminal(value.terminals[0]);
    const auto [at, is_new] = distinct_scalars_.try_emplace(id, 0);
    if (!is_new) return at->second;
    const PlainSchema::Order order = schema_.order(id);
    const uint32_t rule = at->second = add_nonterminal(kValues + order.number);
    grammar_->nonterminals.back().left_recursive = order.loops;
    for (uint32_t t : value.terminals) add_alternative(rule, Symbols{distinct_terminal(t)});
    for (PlainValueId alternative : value.alternatives) {
      if (schema_.is_live(alternative)) add_alternative(rule, Symbols{distinct_scalar(schema_.resolved(alternative))});
    }
    return rule;
  }

  void add_array_with_witnesses(uint32_t rule, const PlainSchema::Array& array) {
    const auto states = item_states(array, common_).value();
    std::vector<uint32_t> rules;
    for (size_t i = 0; i < states.size(); ++i) rules.push_back(add_nonterminal(kFirstState));
    add_alternative(rule, Symbols{open_array_, rules[0]});
    for (size_t i = 0; i < states.size(); ++i) {
      const ItemState& state = states[i];
      if (state.is_met) {
        add_further_items(rules[i], array, state.position);
        continue;
      }
      if (state.may_end) add_alternative(rules[i], Symbols{close_array_});
      for (const auto& item : state.items) {
        if (!schema_.is_live(item.value)) continue;
        Symbols written = separated(state.position > 0);
        written.insert(written.end(), {symbol_of(item.value), rules[item.after]});
        add_alternative(rules[i], written);
      }
    }
  }

  // Whether a value is objects of which nothing is counted, and nothing else.
  bool is_open_object(PlainValueId id) {
    return ObjectForks::takes(schema_, id) && register_of(*schema_.at(id).object) != Register::kCounting;
  }

  // The number of the objects of a value.
  uint32_t open_object(PlainValueId id, Register seen) {
    const auto [at, is_new] = open_object_of_.try_emplace(id.value, static_cast<uint32_t>(open_objects_.size()));
    if (is_new) {
      const auto& object = schema_.at(id).object;
      open_objects_.push_back({object, object->bounds(), schema_.large(id), seen, {}, {}, {}, {}});
    }
    return at->second;
  }

  void add_object(uint32_t rule, PlainValueId id) {
    const PlainSchema::Object& object = *schema_.at(id).object;
    if (!schema_.can_be(object)) return;
    const Register seen = register_of(object);
    if (seen == Register::kCounting) {
      const uint32_t whole = add_set();
      add_alternative(rule, Symbols{whole});
      rule = whole;
    }
    if (!object.witnesses.empty()) return add_object_with_witnesses(rule, object, seen);
    add_alternative(rule, Symbols{open_object_, rule_of(ObjectState{level(open_object(id, seen), 0), 0})});
  }

  // Texts that have numbers, in ascending order: those of one spelling, or those that may be written with escapes.
  struct Numbered {
    bool are_strings = false;
    std::vector<uint32_t> numbers = {};
    uint32_t list = 0;  // where they are several
  };
  // Members up to the first that is required, of which any may come next, as far as they can be written.
  struct Stretch {
    uint32_t first;
    uint32_t last;
    bool is_optional;  // as a whole
    std::array<Numbered, 2> keys;
  };
  // An object without witnesses.
  struct OpenObject {
    std::shared_ptr<const PlainSchema::Object> object;
    PlainSchema::Object::Bounds bounds;
    std::shared_ptr<const LargeObject> large;  // or null
    Register seen;
    std::optional<Symbols> other;
    std::vector<uint32_t> required;         // the last of each stretch; found when a state is first defined
    std::map<uint32_t, Stretch> stretches;  // by their last members
    std::vector<uint32_t> n_left;           // where a minimum counts: how many members from each on may be written

    // As many keys make no difference to each other.
    uint32_t counted_to() const {
      return std::max({1U, bounds.minimum, bounds.maximum == kUnbounded ? 0 : bounds.maximum});
    }
    bool ends_in_stretch() const { return !object->members.empty() && !object->members.back().required; }
    uint32_t n_required_from(uint32_t member) const {
      const auto from = std::lower_bound(required.begin(), required.end(), member);
      return static_cast<uint32_t>(required.end() - from) - (ends_in_stretch() ? 1 : 0);
    }
  };
  // So many keys of such an object are written, as far as they are counted.
  struct Level {
    uint32_t object;
    uint32_t written;
  };

  uint32_t level(uint32_t object, uint32_t written) {
    const uint64_t key = (uint64_t{object} << 32) | std::min(written, open_objects_[object].counted_to());
    if (const auto known = level_ids_.find(key)) return *known;
    const auto made = static_cast<uint32_t>(levels_.size());
    levels_.push_back({object, static_cast<uint32_t>(key)});
    level_ids_.insert(key, made);
    return made;
  }

  const PlainSchema::Object& object_at(uint32_t level) const { return *open_objects_[levels_[level].object].object; }

  // As for values: of an object with many members a text meets few states at first. Calls stand in tail position.
  uint32_t rule_of(const ObjectState& state) {
    const uint64_t key = (uint64_t{state.level} << 32) | state.n_passed;
    if (const auto known = states_.find(key)) return *known;
    const uint32_t rule = defer(kFirstState + state.n_passed, state);
    states_.insert(key, rule);
    return rule;
  }

  // The stretch that a member is in.
  const Stretch& stretch_of(OpenObject& open, uint32_t member) {
    const auto& members = open.object->members;
    if (open.required.empty()) {
      for (uint32_t i = 0; i < members.size(); ++i) {
        if (members[i].required || i + 1 == members.size()) open.required.push_back(i);
      }
    }
    const auto last = std::lower_bound(open.required.begin(), open.required.end(), member);
    const auto [at, is_new] = open.stretches.try_emplace(*last);
    if (is_new) at->second = make_stretch(open, last == open.required.begin() ? 0 : last[-1] + 1, *last);
    return at->second;
  }

  Stretch make_stretch(const OpenObject& open, uint32_t first, uint32_t last) {
    const auto& members = open.object->members;
    if (open.large) {
      const auto same = [&](const LargeObject::Stretch& stretch) { return stretch.first == first; };
      const auto known = std::find_if(open.large->stretches.begin(), open.large->stretches.end(), same);
      if (known != open.large->stretches.end()) return {first, last, !members[last].required, numbered(known->keys)};
    }
    std::vector<NumberedText> names;
    for (uint32_t i = first; i <= last; ++i) {
      if (schema_.is_live(members[i].value)) names.emplace_back(&schema_.name_at(members[i].name), i - first);
    }
    return {first, last, !members[last].required, numbered(numbered_texts(names))};
  }

  std::array<Numbered, 2> numbered(std::array<NumberedTexts, 2> texts) {
    std::array<Numbered, 2> made;
    for (size_t kind : {0, 1}) {
      made[kind] = {kind == 1, std::move(texts[kind].numbers), 0};
      if (texts[kind].list) made[kind].list = regexes_->number_keys(texts[kind].list);
    }
    return made;
  }

  // Whether keys that are no members may fill up what is missing.
  const Symbols& other_member(OpenObject& open) {
    if (!open.other) open.other = other_member(*open.object, open.seen, open.large).value_or(Symbols{});
    return *open.other;
  }

  // What may come next is one choice. A chain of rules, one for each member, made 41 ms of a first mask out of 11,000
  // optional members, and each state had an item for each. No state is a dead end: whether the members and keys that
  // are left are as many as the bounds ask for is known before.
  void add_rules(uint32_t rule, const ObjectState state) {
    const auto [object, written] = levels_[state.level];
    OpenObject& open = open_objects_[object];
    const auto n_members = static_cast<uint32_t>(open.object->members.size());
    if (state.n_passed == n_members) return add_end(rule, open, written);
    const Stretch& stretch = stretch_of(open, state.n_passed);
    const uint32_t after = level(object, written + 1);
    const auto [first, last] = members_to_come(open, stretch, state.n_passed, written);
    for (const auto& [are_strings, numbers, list] : stretch.keys) {
      const auto next = std::lower_bound(numbers.begin(), numbers.end(), first - stretch.first);
      const auto end = std::lower_bound(next, numbers.end(), last - stretch.first);
      if (next == end) continue;
      if (next + 1 == end) {
        add_member(rule, {after, stretch.first + *next}, written > 0);
      } else {
        Symbols taken = separated(written > 0);
        taken.push_back(choice({after, stretch.first, list, *next, end[-1] + 1, are_strings}));
        add_alternative(rule, taken);
      }
    }
    if (stretch.is_optional && (written >= open.bounds.minimum || !other_member(open).empty()))
      add_alternative(rule, Symbols{rule_of(ObjectState{state.level, n_members})});
  }

  // Those of a stretch that leave room for the required ones and enough to come: [first, last).
  std::pair<uint32_t, uint32_t> members_to_come(OpenObject& open, const Stretch& stretch, uint32_t n_passed,
                                                uint32_t written) {
    const auto [minimum, maximum] = open.bounds;
    const uint32_t end = stretch.last + 1;
    if (maximum != kUnbounded && written + 1 + open.n_required_from(n_passed) > maximum)
      return {stretch.is_optional ? end : stretch.last, end};
    if (written >= minimum || !other_member(open).empty()) return {n_passed, end};
    if (open.n_left.empty()) open.n_left = n_left(open.object->members);
    const auto from = open.n_left.begin() + n_passed;
    const auto enough = [&](uint32_t left) { return written + left >= minimum; };
    const auto last = std::partition_point(from, open.n_left.begin() + end, enough);
    return {n_passed, static_cast<uint32_t>(last - open.n_left.begin())};
  }

  std::vector<uint32_t> n_left(const std::vector<PlainSchema::Member>& members) const {
    std::vector<uint32_t> found(members.size() + 1, 0);
    for (size_t i = members.size(); i-- > 0;) found[i] = found[i + 1] + (schema_.is_live(members[i].value) ? 1 : 0);
    return found;
  }

  // Behind all members.
  void add_end(uint32_t rule, OpenObject& open, uint32_t written) {
    add_other_keys(rule, other_member(open), open.bounds, written);
  }

  // So many keys without names that the bounds hold, and the closing mark.
  void add_other_keys(uint32_t rule, const Symbols& other, const PlainSchema::Object::Bounds& bounds, uint32_t written,
                      uint32_t needed = 0) {
    const uint32_t least = std::max(needed, bounds.minimum > written ? bounds.minimum - written : 0);
    const uint32_t further = bounds.maximum == kUnbounded ? kUnbounded : bounds.maximum - written;
    if (!other.empty() && further >= std::max(1U, least)) {
      add_repeated(rule, written > 0, other, least, further, close_object_);
    } else if (least == 0) {
      add_alternative(rule, Symbols{close_object_});
    }
  }

  void add_member(uint32_t rule, const ObjectState& at, bool some) {
    const PlainSchema::Member& member = object_at(at.level).members[at.n_passed];
    const uint32_t after = rule_of(ObjectState{at.level, at.n_passed + 1});
    const std::array taken{comma_, key(member.name), colon_, symbol_of(member.value), after};
    add_alternative(rule, std::span(taken).subspan(some ? 0 : 1));
  }

  // A terminal of the keys of several members, of which the first tells the others.
  uint32_t choice(const Choice& keys) {
    const uint64_t first = keys.key(keys.from);
    if (const auto known = choices_.find(first)) return *known;
    const uint32_t made = choice_terminal(keys, "KEY");
    choices_.insert(first, made);
    return made;
  }

  uint32_t choice_terminal(const Choice& keys, const char* name, KeyRole role = KeyRole::kNone) {
    const RegexId regex = keys.are_strings ? regexes_->numbered_strings(keys.list, keys.from, keys.to)
                                           : regexes_->numbered_keys(keys.list, keys.from, keys.to);
    const uint32_t made = add_terminal(regex, name, false, role);
    grammar_->terminals.back().choice = static_cast<uint32_t>(grammar_->choices.size());
    grammar_->choices.push_back(keys);
    return made;
  }

  // ---- unions of arrays

  // What stands in one of some arrays, behind its opening mark.
  uint32_t array_fork_of(std::vector<PlainValueId> arrays) {
    const ArrayForks::Places places = ObjectForks::at_beginning(std::move(arrays));
    array_forks_.add_room(ArrayForks::room_for(schema_, places));
    return array_fork(array_forks_.first(places));
  }

  uint32_t array_fork(uint32_t state) {
    if (const auto known = rule_of_array_fork_.find(state)) return *known;
    const uint32_t rule = defer(array_forks_.order(state), ArrayForkState{state});
    rule_of_array_fork_.insert(state, rule);
    return rule;
  }

  void add_rules(uint32_t rule, const ArrayForkState& state) {
    const auto [kind, places] = array_forks_.at(state.number);
    switch (kind) {
      case ArrayForks::Kind::kItem: {
        if (const auto large = large_arrays_.find(state.number); large != large_arrays_.end())
          return add_first_item(rule, *large->second);
        const ArrayForks::Next next = array_forks_.next(places);
        return add_items(rule, next, places[0].member > 0, array_forks_.held(next.items));
      }
      case ArrayForks::Kind::kHeld: {
        if (const auto large = large_items_.find(state.number); large != large_items_.end()) {
          add_item_values(rule, large->second->values);
          return add_choice(rule, {}, {large->second->strings.ways, ForkChoice::Of::kItems},
                            large->second->strings.texts);
        }
        ObjectForks::Held held = array_forks_.held_at(places);
        add_item_values(rule, held.values);
        return add_choice(rule, {}, std::move(held.strings), ForkChoice::Of::kItems);
      }
      case ArrayForks::Kind::kEach:
        for (ArrayForks::Place place : places) add_alternative(rule, Symbols{array_state(place)});
    }
  }

  void add_first_item(uint32_t rule, const LargeUnion::Arrays& large) {
    const uint32_t held = array_forks_.held(large.next.items);
    large_items_.emplace(held, &large);
    add_items(rule, large.next, false, held);
  }

  void add_items(uint32_t rule, const ArrayForks::Next& next, bool some, uint32_t held) {
    if (next.may_end) add_alternative(rule, Symbols{close_array_});
    if (next.items.empty()) return;
    Symbols item = separated(some);
    item.push_back(array_fork(held));
    add_alternative(rule, item);
  }

  void add_item_values(uint32_t rule, const std::vector<ObjectForks::Held::Of>& values) {
    for (const auto& of : values) add_alternative(rule, Symbols{symbol_of(of.value), after_items(of.places)});
  }

  uint32_t array_state(ArrayForks::Place place) { return rule_of(ArrayState{place.of, place.member}); }

  uint32_t after_items(std::span<const ArrayForks::Place> items) {
    if (items.size() > 1) return array_fork(array_forks_.after(items));
    return array_state(array_forks_.passed(items[0]));
  }

  // ---- unions of open objects

  // What follows the texts of a choice at a fork: the keys of members, strings as values or as items, or keys that are
  // no members of the objects that are left behind them.
  struct ForkChoice {
    enum class Of { kMembers, kStrings, kItems, kOthers };

    std::shared_ptr<const ObjectForks::Ways> ways;
    Of of;
    uint32_t others = 0;  // for kOthers: the state of all objects

    bool are_keys() const { return of == Of::kMembers || of == Of::kOthers; }
  };

  static std::vector<Symbol> symbols(const Symbols& words) {
    std::vector<Symbol> found;
    for (uint32_t word : words) found.push_back(Symbol{word});
    return found;
  }

  // What stands in one of some objects, behind its opening mark.
  uint32_t fork_of(std::vector<PlainValueId> objects) {
    const ObjectForks::Places places = ObjectForks::at_beginning(std::move(objects));
    forks_.add_room(ObjectForks::room_for(schema_, places));
    return fork(forks_.first(places));
  }

  uint32_t fork(uint32_t state) {
    const auto known = rule_of_fork_.find(state);
    if (known) return *known;
    const uint32_t rule = defer(forks_.order(state), ForkState{state});
    rule_of_fork_.insert(state, rule);
    return rule;
  }

  void add_rules(uint32_t rule, const ForkState& state) {
    using Kind = ObjectForks::Kind;
    const ObjectForks::State at = forks_.at(state.number);
    switch (at.kind) {
      case Kind::kFirst:
      case Kind::kFurther:
        if (const auto large = large_objects_.find(state.number); large != large_objects_.end())
          return add_first_keys(rule, *large->second);
        return add_keys(rule, at.places, at.kind == Kind::kFurther);
      case Kind::kHeld:
        return add_held(rule, at.places);
      case Kind::kEach:
        return add_each(rule, at.places, true);
      case Kind::kFirstOther:
      case Kind::kFurtherOther:
        if (const auto large = large_others_.find(state.number); large != large_others_.end())
          return add_large_others(rule, state.number, *large->second, at.kind == Kind::kFurtherOther);
        return add_other_keys(rule, state.number, at.places, at.kind == Kind::kFurtherOther);
      case Kind::kWithout:
        for (const ObjectForks::Half& half : forks_.halves(at)) {
          if (half.is_left()) add_half(rule, half);
        }
    }
  }

  void add_each(uint32_t rule, const ObjectForks::Places& places, bool some) {
    for (ObjectForks::Place place : places) add_alternative(rule, Symbols{state_at(place, some ? 1 : 0)});
  }

  // Where an object goes on by itself, so many of its keys written.
  uint32_t state_at(ObjectForks::Place place, uint32_t written) {
    const uint32_t object = open_object(place.of, register_of(*schema_.at(place.of).object));
    return rule_of(ObjectState{level(object, written), place.member});
  }

  void add_keys(uint32_t rule, const ObjectForks::Places& places, bool some) {
    ObjectForks::Next next = forks_.next(places);
    const auto is_apart = [&](const PlainSchema::Object& object) {
      return object.has_classes() || register_of(object) != Register::kEndless;
    };
    add_ends(rule, forks_.ends(next.ends, is_apart), some);
    add_choice(rule, separated(some), std::move(next.keys), ForkChoice::Of::kMembers);
  }

  void add_first_keys(uint32_t rule, const LargeUnion::Objects& large) {
    add_ends(rule, large.ends, false);
    add_choice(rule, {}, {large.keys.ways, ForkChoice::Of::kMembers}, large.keys.texts);
  }

  void add_ends(uint32_t rule, const ObjectForks::Ends& ends, bool some) {
    if (ends.may_close) add_alternative(rule, Symbols{close_object_});
    add_each(rule, ends.apart, some);
    for (const auto& of : ends.others) add_alternative(rule, Symbols{fork(forks_.others(of.places, some))});
  }

  // Keys that are no members of any of the objects, and those that are members of some.
  void add_other_keys(uint32_t rule, uint32_t state, const ObjectForks::Places& objects, bool some) {
    auto [names, missing] = forks_.other_keys(objects);
    add_other_key(rule, regexes_->key_set(std::move(names)), objects, some);
    add_choice(rule, separated(some), std::move(missing), ForkChoice::Of::kOthers, state);
  }

  void add_large_others(uint32_t rule, uint32_t state, const LargeUnion::Others& large, bool some) {
    add_other_key(rule, regexes_->key_set(large.names), large.places, some);
    add_choice(rule, separated(some), {large.missing.ways, ForkChoice::Of::kOthers, state}, large.missing.texts);
  }

  // A key that is none of the names, of all of the objects, or their end.
  void add_other_key(uint32_t rule, RegexId names, const ObjectForks::Places& objects, bool some) {
    const PlainSchema::Object& one = *schema_.at(objects[0].of).object;
    add_alternative(rule, Symbols{close_object_});
    Symbols taken = separated(some);
    const uint32_t key = other_key(names, one.others_keys, Register::kEndless);
    taken.insert(taken.end(), {key, colon_, symbol_of(*one.others), fork(forks_.others(objects, true))});
    add_alternative(rule, taken);
  }

  void add_half(uint32_t rule, const ObjectForks::Half& half) {
    if (half.places.size() < ObjectForks::kMany) {
      ObjectForks::Places left;
      std::set_difference(half.places.begin(), half.places.end(), half.missing.begin(), half.missing.end(),
                          std::back_inserter(left));
      return add_each(rule, left, true);
    }
    const uint32_t whole = forks_.others(half.places, true);
    add_alternative(rule, Symbols{fork(half.missing.empty() ? whole : forks_.without(whole, half.missing))});
  }

  void add_held(uint32_t rule, const ObjectForks::Places& members) {
    ObjectForks::Held held = forks_.held_at(members);
    for (const auto& of : held.values) add_alternative(rule, Symbols{symbol_of(of.value), after_values(of.places)});
    add_choice(rule, {}, std::move(held.strings), ForkChoice::Of::kStrings);
  }

  // Texts, one of which comes next, behind some symbols.
  void add_choice(uint32_t rule, const Symbols& before, ObjectForks::Ways ways, ForkChoice::Of of,
                  uint32_t others = 0) {
    LargeWays sorted = LargeWays::of(std::move(ways));
    add_choice(rule, before, {std::move(sorted.ways), of, others}, std::move(sorted.texts));
  }

  void add_choice(uint32_t rule, const Symbols& before, ForkChoice made, std::array<NumberedTexts, 2> texts) {
    // Known before its terminals are, which stay where a limit is crossed behind them.
    const auto fork = static_cast<uint32_t>(fork_choices_.size());
    const ForkChoice& choice = fork_choices_.push_back(std::move(made));
    const KeyRole role = choice.of == ForkChoice::Of::kOthers ? KeyRole::kKey : KeyRole::kNone;
    for (const auto& [are_strings, numbers, list] : numbered(std::move(texts))) {
      if (numbers.empty()) continue;
      Symbols taken = before;
      if (numbers.size() == 1) {
        taken.push_back(string(choice.ways->text(numbers[0]), role));
        const Symbols after = after_text(choice, numbers[0]);
        taken.insert(taken.end(), after.begin(), after.end());
      } else {
        const Choice any{kFirstFork + fork, 0, list, 0, numbers.back() + 1, are_strings};
        taken.push_back(choice_terminal(any, choice.are_keys() ? "KEY" : "STRING", role));
      }
      add_alternative(rule, taken);
    }
  }

  Symbols after_text(const ForkChoice& choice, uint32_t number) {
    const auto members = choice.ways->places(number);
    if (choice.of == ForkChoice::Of::kStrings) return {after_values(members)};
    if (choice.of == ForkChoice::Of::kItems) return {after_items(members)};
    if (choice.of == ForkChoice::Of::kOthers) {
      const PlainValueId value = *schema_.at(members[0].of).object->others;
      return {colon_, symbol_of(value), fork(forks_.without(choice.others, {members.begin(), members.end()}))};
    }
    if (const auto value = forks_.only_value(members)) return {colon_, symbol_of(*value), after_values(members)};
    return {colon_, fork(forks_.held({members.begin(), members.end()}))};
  }

  uint32_t after_values(std::span<const ObjectForks::Place> members) {
    if (members.size() > 1) return fork(forks_.after(members));
    return state_at({members[0].of, members[0].member + 1}, 1);
  }

  // So many keys written, and which witnesses are still missing, as bits.
  using Progress = std::pair<uint32_t, uint32_t>;

  // Each state, so many of the members passed and what was written of them, is a rule whose calls stand in tail
  // position.
  void add_object_with_witnesses(uint32_t whole, const PlainSchema::Object& object, Register seen) {
    const PlainSchema::Object::Bounds bounds = object.bounds();
    const auto most = bounds.maximum == kUnbounded ? 0 : bounds.maximum;
    const auto counted_to = static_cast<uint32_t>(std::max({1U, bounds.minimum, most}));
    // The states before a member.
    const Progress start{0, (1U << object.witnesses.size()) - 1};
    std::map<Progress, uint32_t> now{{start, add_nonterminal(kFirstState)}};
    add_alternative(whole, Symbols{open_object_, now[start]});
    for (size_t i = 0; i < object.members.size(); ++i) {
      const PlainSchema::Member& member = object.members[i];
      std::map<Progress, uint32_t> next;
      const auto state = [&](Progress progress) {
        const auto [at, is_new] = next.try_emplace(progress, 0);
        if (is_new) at->second = add_nonterminal(kFirstState + static_cast<uint32_t>(i) + 1);
        return at->second;
      };
      for (const auto& [progress, rule_before] : now) {
        const auto [written, missing] = progress;
        for (const KeyWay& way : key_ways(object, member.name, member.value, missing, common_)) {
          if (written >= bounds.maximum || !schema_.is_live(way.value)) continue;
          Symbols taken = separated(written > 0);
          const uint32_t after = state({std::min(written + 1, counted_to), way.missing});
          taken.insert(taken.end(), {key(member.name), colon_, symbol_of(way.value), after});
          add_alternative(rule_before, taken);
        }
        if (!member.required) add_alternative(rule_before, Symbols{state(progress)});
      }
      now = std::move(next);
    }
    if (object.has_valued_witnesses() && object.others) add_ways_of_others(object, now, counted_to, seen);
    const Symbols other = other_member(object, seen, nullptr).value_or(Symbols{});
    for (const auto& [progress, state] : now) {
      const auto [written, missing] = progress;
      // A key without a name is what all witnesses wait for.
      if (missing == 0 || !object.has_valued_witnesses())
        add_other_keys(state, other, bounds, written, missing == 0 ? 0 : 1);
    }
  }

  // Adds the states that other keys lead to where some of them must have a certain value, and the keys.
  void add_ways_of_others(const PlainSchema::Object& object, std::map<Progress, uint32_t>& states, uint32_t counted_to,
                          Register seen) {
    const uint32_t key = other_key(object, object.others_keys, seen, nullptr);
    std::vector<Progress> todo;
    for (const auto& [progress, state] : states) todo.push_back(progress);
    while (!todo.empty()) {
      const Progress before = todo.back();
      const auto [written, missing] = before;
      todo.pop_back();
      if (missing == 0 || written >= object.maximum) continue;
      for (const KeyWay& way : key_ways(object, std::nullopt, *object.others, missing, common_)) {
        if (!schema_.is_live(way.value)) continue;
        const Progress after{std::min(written + 1, counted_to), way.missing};
        const auto [at, is_new] = states.try_emplace(after, 0);
        if (is_new) {
          at->second = add_nonterminal(kFirstState + static_cast<uint32_t>(object.members.size()));
          todo.push_back(after);
        }
        Symbols taken = separated(written > 0);
        taken.insert(taken.end(), {key, colon_, symbol_of(way.value), at->second});
        add_alternative(states.at(before), taken);
      }
    }
  }

  // `body`, separated by commas, so many times, then the closing mark; `some`: a comma comes before the first too.
  void add_repeated(uint32_t state, bool some, const Symbols& body, uint32_t least, uint32_t most, uint32_t close) {
    const auto further = [&](uint32_t minimum, uint32_t maximum) {
      const uint32_t more = add_nonterminal(kBeginsWithTerminal);
      Symbols after_comma{comma_};
      after_comma.insert(after_comma.end(), body.begin(), body.end());
      add_alternative(more, after_comma);
      return add_repeat(more, minimum, maximum);
    };
    if (some) {
      add_alternative(state, Symbols{further(least, most), close});
      return;
    }
    if (least == 0) add_alternative(state, Symbols{close});
    Symbols whole = body;
    if (most > 1) whole.push_back(further(least == 0 ? 0 : least - 1, most == kUnbounded ? kUnbounded : most - 1));
    whole.push_back(close);
    add_alternative(state, whole);
  }

  Symbols separated(bool some) const { return some ? Symbols{comma_} : Symbols{}; }

  std::shared_ptr<const PlainSchema> kept_;
  const PlainSchema& schema_;
  const CommonValue common_ = [this](PlainValueId a, PlainValueId b) { return schema_.common(a, b); };
  Grammar* grammar_ = nullptr;  // during a call from outside
  RegexStore* regexes_ = nullptr;
  Account rules_;
  uint32_t scope_;
  OutsideRegexes outside_;
  std::vector<std::string> outside_names_;
  uint32_t max_digits_;
  std::map<RegexId, bool> endless_;
  uint32_t open_object_ = 0;
  uint32_t close_object_ = 0;
  uint32_t open_array_ = 0;
  uint32_t close_array_ = 0;
  uint32_t comma_ = 0;
  uint32_t colon_ = 0;
  HashTable terminals_;
  std::map<uint32_t, uint32_t> distinct_terminals_;
  HashTable values_;
  std::unordered_map<uint32_t, uint32_t> terminal_of_;  // by its index in the grammar
  std::deque<OpenObject> open_objects_;
  HashTable states_;        // of objects: (level, members passed) -> rule
  HashTable choices_;       // (level behind, first member) -> terminal
  HashTable array_states_;  // (array, items written) -> rule
  std::vector<Level> levels_;
  HashTable level_ids_;                              // by object and keys written
  std::unordered_map<uint32_t, Deferred> deferred_;  // by the index of its rule
  std::map<PlainValueId, uint32_t> distinct_scalars_;
  std::unordered_map<std::string_view, uint32_t> strings_;
  std::unordered_map<uint32_t, uint32_t> open_object_of_;  // by value
  ObjectForks forks_;
  HashTable rule_of_fork_;  // by its state
  ArrayForks array_forks_;
  HashTable rule_of_array_fork_;  // by its state
  ChunkedVector<ForkChoice> fork_choices_;
  // What is known of states of forks from when the schema was read, by their numbers.
  std::unordered_map<uint32_t, const LargeUnion::Objects*> large_objects_;
  std::unordered_map<uint32_t, const LargeUnion::Others*> large_others_;
  std::unordered_map<uint32_t, const LargeUnion::Arrays*> large_arrays_;
  std::unordered_map<uint32_t, const LargeUnion::Arrays*> large_items_;
};

}  // namespace

uint32_t defer_rules(std::shared_ptr<const PlainSchema> schema, GrammarBuilder& builder, uint32_t scope,
                     OutsideRegexes outside, std::vector<std::string> outside_names, uint32_t max_digits) {
  return builder.defer(std::make_shared<Rules>(std::move(schema), scope, std::move(outside), std::move(outside_names),
                                               max_digits, builder.limits().max_rules));
}

}  // namespace cfgmask
