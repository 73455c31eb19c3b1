// The rules of a schema, made as texts come to them.
//
// One class, whose parts are files: values and terminals (value_rules.cc), arrays (array_rules.cc), objects
// (object_rules.cc), objects with keys in any order (unordered_object_rules.cc), choices between many of either
// (union_rules.cc), the lines of YAML (yaml_block_rules.cc), values that are told apart by all that is in them
// (distinct_composites.cc) or by their steps (item_steps.cc), and forms that are not JSON (form_rules.cc).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
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
#include "json_schema/layouts/schema_form.h"
#include "json_schema/layouts/value_layout.h"
#include "json_schema/layouts/yaml_layout.h"
#include "json_schema/sets/array_unions.h"
#include "json_schema/sets/indexed_lists.h"
#include "json_schema/sets/indexed_unions.h"
#include "json_schema/sets/object_unions.h"
#include "json_schema/sets/scalars_together.h"
#include "json_schema/sets/schema_ir.h"
#include "json_schema/sets/value_counts.h"
#include "json_schema/sets/witnesses.h"
#include "util/chunked_vector.h"
#include "util/hash_table.h"
#include "util/known_or_made.h"
#include "util/limits.h"
#include "util/text_hash.h"

namespace cfgmask {

class IndentedRules;

// Each value becomes rules when a text first comes to it.
class SchemaRules : public DeferredPart {
 public:
  // `scope` is the grammar's.
  // `form`: null for JSON; `tokens`: the symbols of its tokens.
  SchemaRules(std::shared_ptr<const SchemaWithLayout> parts, uint32_t scope,
              std::shared_ptr<const SchemaForm> form = nullptr, std::vector<uint32_t> tokens = {});
  // The rules of indented text at one column: see indented_rules.h.
  SchemaRules(std::shared_ptr<const SchemaWithLayout> parts, uint32_t scope, IndentedRules& whole, uint32_t column);
  // The rules of values that YAML writes in brackets, on one line: see yaml_block_rules.cc.
  SchemaRules(std::shared_ptr<const SchemaWithLayout> parts, uint32_t scope, const YamlLayout& flow);
  // Whether some text that is not empty writes a value of the schema in a form. Makes all rules, if it is not certain
  // that the form can write each value. Throws LimitExceeded.
  static bool has_form_texts(const std::shared_ptr<const SchemaWithLayout>& parts,
                             const std::shared_ptr<const SchemaForm>& form, RegexStore& regexes, Account& rules);
  static bool has_keys(const SchemaIR& schema) {
    return schema.overview().has_endless_keys || schema.overview().has_endless_items;
  }
  bool has_keys() const override { return writes_json_ && has_keys(schema_); }
  bool fits_in_limits() const override {
    return !has_any_order_ && !form_has_any_order_ && !schema_.overview().needs_distinct;
  }
  Symbol start(const DeferredAdditions& to) override;
  void define(uint32_t nonterminal, const DeferredAdditions& to) override;
  void define_terminal(uint32_t index, const DeferredAdditions& to) override;
  std::vector<Symbol> after_key(uint32_t object, uint32_t member, const DeferredAdditions& to) override;
  uint32_t terminal_of_key(uint32_t object, uint32_t member, const DeferredAdditions& to) override;
  size_t bytes() const override { return schema_.bytes(); }

 private:
  // Orders of nonterminals (Nonterminal::order): unions, which come first, begin with states of objects and with
  // values, the states of an object with later ones, those of arrays and objects with values, values with their
  // alternatives, and what begins with a terminal comes last.
  static constexpr uint32_t kFirstState = kFirstDeferredOrder + ObjectUnions::kOrders;
  static constexpr uint32_t kValues = 1U << 30;
  static constexpr uint32_t kBeginsWithTerminal = 1U << 31;
  // In YAML values begin with blocks, and those with the states of objects, since there are no opening marks.
  static constexpr uint32_t kBlocks = kValues + (1U << 29);
  static constexpr uint32_t kFirstBlockState = kBlocks + 1;
  // No symbol: nothing is written there.
  static constexpr uint32_t kNoSymbol = UINT32_MAX;
  // Items that are told apart by their steps begin with sets, and these with values.
  static constexpr uint32_t kItemValues = kBeginsWithTerminal - 1;
  static constexpr uint32_t kItemSets = kItemValues - 1;
  static constexpr uint32_t kItems = kItemSets - 1;

  // Where keys, or strings in an array, are kept of which none may come twice: nowhere if none can, in an open set of
  // the parser (earley/distinct_register.h), or by the matcher as texts (mask/written_keys.h), which takes less and is
  // for those that never run out.
  enum class Kept { kNowhere, kInSet, kAsTexts };

  using Symbols = std::vector<uint32_t>;
  // The marks that close an array or object: right after the opening mark, and after an item or member.
  struct Closing {
    uint32_t empty = kNoSymbol;
    uint32_t further = kNoSymbol;

    uint32_t after(bool some) const { return some ? further : empty; }
  };
  // What comes before the first item or member, and before a further one.
  struct Separator {
    uint32_t first = kNoSymbol;
    uint32_t further = kNoSymbol;
  };
  // A value whose block, if it is one, begins at this place of a column.
  struct PlacedValue {
    ValueId id;
    BlockPlace place = BlockPlace::kHere;

    uint64_t key() const { return (uint64_t{place == BlockPlace::kBelow} << 32) | id.value; }
  };
  // So many members of an object are passed at a level.
  struct ObjectState {
    uint32_t level;
    uint32_t n_passed;
  };
  // So many items of an array are written.
  struct ArrayState {
    ValueId array;
    uint32_t n_written;
  };
  // Some or no members are written of an object with keys in any order, at a level.
  struct UnorderedState {
    uint32_t level;
    bool some;
  };
  struct UnionState {
    uint32_t number;
  };
  struct ArrayUnionState {
    uint32_t number;
  };
  struct PlacedTerminal {
    uint32_t index;
    BlockPlace place;
  };
  // The strings of a terminal, between delimiters.
  struct DelimitedString {
    uint32_t terminal;
    bool distinct;
  };
  // A value in tags, or an array or object that is it, with what ends it: that of a name, or of items.
  struct Tagged {
    enum class Kind : uint8_t { kValue, kArray, kObject };

    Kind kind;
    ValueId id;
    uint32_t name;
    bool distinct = false;  // whether its scalars are values of a set

    friend auto operator<=>(const Tagged&, const Tagged&) = default;
  };
  static constexpr uint32_t kItem = UINT32_MAX;  // instead of a name
  // A value in an item that is told apart by its steps, with so many ends behind it.
  struct StepValue {
    ValueId id;
    uint32_t ends;
    bool is_composite;  // only the arrays and objects among them

    friend auto operator<=>(const StepValue&, const StepValue&) = default;
  };
  // So much is written of an array or object in one. Of a list, an array without equal items, ends are counted by
  // themselves.
  struct StepState {
    enum class Kind : uint8_t { kArray, kList, kObject };

    Kind kind;
    ValueId id;
    uint32_t n_passed = 0;   // items, or members
    uint32_t n_written = 0;  // members
    uint32_t ends = 1;       // behind it

    friend auto operator<=>(const StepState&, const StepState&) = default;
  };
  // Values in tags begin with arrays and objects, those with sets, and all of these with states.
  static constexpr uint32_t kTaggedSet = kValues + 2;
  static constexpr uint32_t kTaggedState = kValues + 3;
  // What rules are made of when they are first called.
  using Deferred = std::variant<PlacedValue, ObjectState, UnorderedState, ArrayState, UnionState, ArrayUnionState,
                                DelimitedString, Tagged, StepValue, StepState>;
  // Texts that have numbers, in ascending order: those of one spelling, or those that may be written with escapes.
  struct Numbered {
    bool are_strings = false;
    std::vector<uint32_t> numbers = {};
    uint32_t list = 0;  // where they are several
  };
  // Members up to the first that is required, of which any may come next, as far as they can be written.
  struct OptionalRun {
    uint32_t first;
    uint32_t last;
    bool is_optional;  // as a whole
    std::array<Numbered, 2> keys;
  };
  // An object without witnesses, or with keys in any order.
  struct OpenObject {
    std::shared_ptr<const SchemaIR::Object> object;
    SchemaIR::Object::Bounds bounds;
    std::shared_ptr<const IndexedObject> large;  // or null
    Kept seen;
    std::optional<Symbols> other;
    std::vector<uint32_t> required;         // the last of each run; found when a state is first defined
    std::map<uint32_t, OptionalRun> runs;   // by their last members
    std::vector<uint32_t> n_left;           // where a minimum counts: how many members from each on may be written
    std::optional<uint64_t> n_others = {};  // how many keys without names may be written
    // Those keys, by their kinds, where witnesses tell them apart by what they hold.
    std::vector<uint32_t> other_keys = {};
    uint32_t required_to = 0;  // no member from this one on is required

    // As many keys make no difference to each other.
    uint32_t counted_to() const {
      return std::max({1U, bounds.minimum, bounds.maximum == kUnbounded ? 0 : bounds.maximum});
    }
    bool ends_in_optional_run() const { return !object->members.empty() && !object->members.back().required; }
    uint32_t n_required_from(uint32_t member) const {
      const auto from = std::lower_bound(required.begin(), required.end(), member);
      return static_cast<uint32_t>(required.end() - from) - (ends_in_optional_run() ? 1 : 0);
    }
  };
  // So many keys of such an object are written, as far as they are counted; or, of one with keys in any order, these
  // witnesses are missing, as bits.
  struct Level {
    uint32_t object;
    uint32_t written;
  };
  // What follows the texts of a choice at a union: the keys of members, strings as values or as items, or keys that are
  // no members of the objects that are left behind them.
  struct UnionChoice {
    enum class Of { kMembers, kStrings, kItems, kOthers };

    std::shared_ptr<const ObjectUnions::Ways> ways;
    Of of;
    uint32_t others = 0;  // for kOthers: the state of all objects

    bool are_keys() const { return of == Of::kMembers || of == Of::kOthers; }
  };
  // So many keys written, and which witnesses are still missing, as bits.
  using Progress = std::pair<uint32_t, uint32_t>;

  friend class IndentedRules;

  // The rules of values that are told apart, beside those of the others.
  explicit SchemaRules(SchemaRules& main);

  void enter(const DeferredAdditions& to);
  // Whether a matcher may keep keys and strings as texts. It reads them as JSON.
  bool may_keep_texts() const { return to_->has_key_roles && writes_json_; }

  // ---- indented text (indented_rules.h)
  // The room of values at a place of this column, and of what is in an array or object that begins there.
  uint32_t room(BlockPlace place = BlockPlace::kHere) const;
  bool is_live_item(ValueId id) const { return schema_.is_live(id, item_room_); }
  bool is_live_member(ValueId id) const { return schema_.is_live(id, member_room_); }
  // Whether the limit on depth excludes no value inside of brackets at this column.
  bool is_roomy() const {
    return whole_ == nullptr || (schema_.nesting().in_array(room()) && schema_.is_roomy(item_room_));
  }
  uint32_t symbol_of_item(ValueId id);
  uint32_t symbol_of_member(ValueId id);
  // ---- values that are told apart (distinct_composites.cc)
  bool tells_apart() const { return main_ != nullptr; }
  SchemaRules& apart();
  void make_marks_of_sets();
  uint32_t closing_set(uint32_t mark);
  uint32_t add_set_of(Holds holds, std::optional<uint32_t> ends = std::nullopt);
  uint32_t add_set_of(Holds holds, uint32_t order);
  uint32_t item_told_apart(ValueId id);
  uint32_t items_of_kinds(ValueId array);
  bool has_composites(ValueId id);
  // Whether a nonterminal or a terminal is deferred here or in the rules beside these.
  bool owns(uint32_t nonterminal) const;
  bool owns_terminal(uint32_t terminal) const;

  // ---- items that are told apart by their steps (item_steps.cc)
  SchemaRules& inside();
  uint32_t item_by_steps(ValueId id, Kept strings);
  uint32_t item_set(ValueId id, std::optional<uint32_t> ends);
  uint32_t item_value(ValueId id, uint32_t ends);
  bool has_composites_inside(ValueId id) const;
  uint32_t list_item(ValueId id, uint32_t ends);
  uint32_t rule_of(const StepValue& of);
  uint32_t rule_of(const StepState& of);
  uint32_t mark_step(uint32_t mark, uint32_t ends);
  uint32_t with_step(uint32_t terminal, uint32_t ends);
  uint32_t add_set(SetBounds bounds, std::optional<uint32_t> ends, uint32_t order);
  const ArrayEnds& array_ends(ValueId id);
  const ObjectEnds& object_ends(ValueId id);
  ListEnds list_ends(ValueId id) const;
  void add_rules(uint32_t rule, const StepValue& of);
  void add_rules(uint32_t rule, const StepState& of);
  Symbols separated_by_step(bool some, uint32_t ends);
  void add_items(uint32_t rule, const StepState& of);
  void add_list_items(uint32_t rule, const StepState& of);
  void add_members(uint32_t rule, const StepState& of);

  // ---- marks
  void make_marks();
  void make_marks_of_lines();

  // ---- YAML (yaml_block_rules.cc)
  Symbol yaml_start();
  void make_marks_of_blocks();
  uint32_t terminal_below(uint32_t index);
  void add_value(uint32_t rule, const PlacedValue& of);
  void add_scalar(uint32_t rule, uint32_t index, BlockPlace place);
  void add_empty(uint32_t rule, const char* brackets, BlockPlace place);
  std::vector<uint32_t> columns_of_array(BlockPlace place) const;
  void add_array_block(uint32_t rule, ValueId id, const Symbols& before);
  void add_object_block(uint32_t rule, ValueId id, const Symbols& before);
  void add_block(uint32_t rule, Symbols block, bool has_set, uint32_t state);
  static bool has_empty(const SchemaIR::Array& array);
  static bool has_empty(const SchemaIR::Object& object);
  uint32_t order_of_state(uint32_t n_passed) const { return (yaml_ ? kFirstBlockState : kFirstState) + n_passed; }
  bool may_end(const Deferred& of) const;
  void mark_nullable(uint32_t first);

  // ---- values and terminals
  uint32_t add_terminal(RegexId regex, std::string name, bool distinct = false, KeyRole role = KeyRole::kNone);
  uint32_t add_nonterminal(uint32_t order);
  uint32_t add_set(SetBounds bounds);
  uint32_t add_repeat(uint32_t body, uint32_t minimum, uint32_t maximum);
  void add_alternative(uint32_t rule, std::span<const uint32_t> symbols);
  void define(uint32_t nonterminal);
  uint32_t defer(uint32_t order, Deferred of);
  static bool may_have_dead_ends(const SchemaIR::Value& value);
  uint32_t mark(std::string_view text, const JsonMarks::Regex& regex, KeyRole role = KeyRole::kNone);
  RegexId fixed(const std::vector<std::string>& texts);
  RegexId listed(const std::vector<std::string>& texts);
  RegexId with_escapes(RegexId string);
  uint32_t string(const std::string& text, KeyRole role = KeyRole::kNone);
  uint32_t key(uint32_t name) { return string(schema_.name_at(name)); }
  static bool is_endless_at_sight(RegexId keys, RegexStore& r);
  uint32_t terminal(uint32_t index);
  RegexId json_regex_of(const SchemaIR::Terminal& terminal, bool distinct);
  uint32_t new_terminal(uint32_t index, bool distinct, KeyRole role = KeyRole::kNone,
                        BlockPlace place = BlockPlace::kHere);
  std::string terminal_name(const SchemaIR::Terminal& terminal) const;
  RegexId regex_of(const SchemaIR::Terminal& terminal, bool distinct);
  RegexId yaml_string(const SchemaIR::Terminal& terminal);
  RegexId python_regex_of(const SchemaIR::Terminal& terminal, bool distinct);
  uint32_t symbol_of(ValueId id, BlockPlace place = BlockPlace::kHere);
  uint32_t rule_of(ValueId id, BlockPlace place = BlockPlace::kHere);
  void add_rules(uint32_t rule, const PlacedValue& of);
  void add_scalars(uint32_t rule, const std::shared_ptr<const ScalarsTogether>& scalars);
  void add_either(uint32_t rule, const std::vector<ValueId>& alternatives);
  static std::vector<Symbol> symbols(const Symbols& words);
  void add_repeated(uint32_t state, bool some, const Symbols& body, uint32_t least, uint32_t most, Separator separator,
                    Closing close);
  // The symbols before an item or a member.
  Symbols before_item(bool some) const { return {some ? items_.further : items_.first}; }
  Symbols before_member(bool some) const { return {some ? members_.further : members_.first}; }
  void add_end(uint32_t rule, Closing close, bool some);

  // ---- arrays
  uint32_t distinct_terminal(uint32_t index, Kept strings);
  void add_array(uint32_t rule, ValueId id, std::optional<uint32_t> ends = std::nullopt);
  uint32_t rule_of(const ArrayState& state);
  void add_rules(uint32_t rule, const ArrayState& state);
  void add_further_items(uint32_t state, ValueId id, uint32_t written);
  uint32_t item_of(ValueId array, ValueId item);
  Kept kept_strings(ValueId array);
  Kept find_kept_strings(ValueId array);
  bool keeps_all_as_texts(ValueId array);
  uint32_t distinct_scalar(ValueId id, Kept strings);
  void add_repeating_array(uint32_t rule, ValueId id, const Symbols& before);
  void add_array_with_witnesses(uint32_t rule, ValueId id, const Symbols& before);

  // ---- objects
  Kept kept_keys(const SchemaIR::Object& object);
  bool never_run_out(const SchemaIR::Object& object);
  uint32_t other_key(const SchemaIR::Object& object, const SchemaIR::Keys& keys, Kept seen,
                     const std::shared_ptr<const IndexedObject>& large);
  uint32_t other_key(RegexId names, const SchemaIR::Keys& keys, Kept seen);
  std::optional<Symbols> other_member(const SchemaIR::Object& object, Kept seen,
                                      const std::shared_ptr<const IndexedObject>& large);
  bool is_open_object(ValueId id);
  uint32_t open_object(ValueId id, Kept seen);
  // ends  how many may follow, if it is a part of an item that is told apart by its steps
  void add_object(uint32_t rule, ValueId id, std::optional<uint32_t> ends = std::nullopt);
  uint32_t level(uint32_t object, uint32_t written);
  const SchemaIR::Object& object_at(uint32_t level) const { return *open_objects_[levels_[level].object].object; }
  uint32_t rule_of(const ObjectState& state);
  const OptionalRun& run_of(OpenObject& open, uint32_t member);
  OptionalRun make_run(const OpenObject& open, uint32_t first, uint32_t last);
  std::array<Numbered, 2> numbered(std::array<NumberedTexts, 2> texts);
  const Symbols& other_member(OpenObject& open);
  uint64_t n_others(OpenObject& open);
  void add_rules(uint32_t rule, const ObjectState state);
  std::pair<uint32_t, uint32_t> members_to_come(OpenObject& open, const OptionalRun& run, uint32_t n_passed,
                                                uint32_t written);
  std::vector<uint32_t> n_left(const std::vector<SchemaIR::Member>& members) const;
  void add_end(uint32_t rule, OpenObject& open, uint32_t written);
  void add_other_keys(uint32_t rule, const Symbols& other, const SchemaIR::Object::Bounds& bounds, uint32_t written,
                      uint32_t needed = 0);
  void add_member(uint32_t rule, const ObjectState& at, bool some);
  uint32_t choice_object(size_t number, bool of_union) const;
  uint32_t first_union() const { return to_->first_object + to_->n_objects / 2; }
  bool is_of_union(uint32_t object) const { return object >= first_union(); }
  uint32_t choice(const Choice& keys);
  uint32_t choice_terminal(const Choice& keys, const char* name, KeyRole role = KeyRole::kNone);
  void add_object_with_witnesses(uint32_t whole, const SchemaIR::Object& object, Kept seen, const Symbols& before);
  void add_ways_of_others(const SchemaIR::Object& object, std::map<Progress, uint32_t>& states, uint32_t counted_to,
                          Kept seen);

  // ---- objects with keys in any order
  bool is_in_any_order(const SchemaIR::Object& object) const;
  Kept kept_unordered(const SchemaIR::Object& object);
  void add_unordered(uint32_t rule, ValueId id, std::optional<uint32_t> ends);
  uint32_t rule_of(const UnorderedState& state);
  void add_rules(uint32_t rule, const UnorderedState& state);
  void add_other_keys(uint32_t rule, const UnorderedState& state);
  std::vector<uint32_t> choices_of(uint32_t level);
  uint32_t unordered_level(uint32_t object, uint32_t missing);
  Symbols after_unordered(uint32_t level, const SchemaIR::Member& member);

  // ---- unions
  void add_large(uint32_t rule, const IndexedUnion& large);
  uint32_t array_union_of(std::vector<ValueId> arrays);
  uint32_t array_union(uint32_t state);
  void add_rules(uint32_t rule, const ArrayUnionState& state);
  void add_first_item(uint32_t rule, const IndexedUnion::Arrays& large);
  void add_items(uint32_t rule, const ArrayUnions::Next& next, bool some, uint32_t held);
  void add_item_values(uint32_t rule, const std::vector<ObjectUnions::Held::Of>& values);
  uint32_t array_state(ArrayUnions::Place place) { return rule_of(ArrayState{place.of, place.member}); }
  uint32_t after_items(std::span<const ArrayUnions::Place> items);
  uint32_t union_of(std::vector<ValueId> objects);
  uint32_t union_rule(uint32_t state);
  void add_rules(uint32_t rule, const UnionState& state);
  void add_each(uint32_t rule, const ObjectUnions::Places& places, bool some);
  uint32_t state_at(ObjectUnions::Place place, uint32_t written);
  void add_keys(uint32_t rule, const ObjectUnions::Places& places, bool some);
  void add_first_keys(uint32_t rule, const IndexedUnion::Objects& large);
  void add_ends(uint32_t rule, const ObjectUnions::Ends& ends, bool some);
  void add_other_keys(uint32_t rule, uint32_t state, const ObjectUnions::Places& objects, bool some);
  void add_large_others(uint32_t rule, uint32_t state, const IndexedUnion::Others& large, bool some);
  void add_other_key(uint32_t rule, RegexId names, const ObjectUnions::Places& objects, bool some);
  void add_half(uint32_t rule, const ObjectUnions::Half& half);
  void add_held(uint32_t rule, const ObjectUnions::Places& members);
  void add_choice(uint32_t rule, const Symbols& before, ObjectUnions::Ways ways, UnionChoice::Of of,
                  uint32_t others = 0);
  void add_choice(uint32_t rule, const Symbols& before, UnionChoice made, std::array<NumberedTexts, 2> texts);
  Symbols after_text(const UnionChoice& choice, uint32_t number);
  uint32_t after_values(std::span<const ObjectUnions::Place> members);

  // ---- forms
  uint32_t form_start();
  void add_form_object(uint32_t start, const SchemaIR::Object& object, const FormReading& reading);
  void define_all(uint32_t first, uint32_t first_terminal);
  // What is written of an outermost object, as far as it counts.
  struct FormState {
    uint32_t rule = 0;
    bool may_end = false;  // with nothing more
  };
  // While the rules of an outermost object are made.
  struct FormObject {
    const SchemaIR::Object& object;
    SchemaIR::Object::Bounds bounds;
    const FormReading& reading;
    std::vector<SchemaIR::Member> members;              // that have a value
    std::vector<std::map<Progress, FormState>> states;  // before each of them, and after all
    std::optional<RegexId> unnamed;                     // the keys without names
    Symbols end;                                        // what must come last
    uint32_t first_order;                               // of the states
  };
  uint32_t form_states(FormObject& writing);
  void add_form_ends(FormObject& writing, uint32_t counted_to);
  void add_form_others(uint32_t rule, uint32_t other, bool some, uint32_t least, uint32_t most);
  static bool may_end(const FormObject& writing, Progress at);
  Symbols before_form_member(bool some);
  std::optional<uint32_t> form_other(FormObject& writing, const SchemaIR::Keys& keys, ValueId value);
  template <class AddKey>
  Symbols form_entry(uint32_t name, ValueId value, const AddKey& add_key, const FormReading& reading);
  Symbols form_member(const SchemaIR::Member& member, const FormReading& reading);
  void add_pieces(Symbols& to, const SchemaForm::Pieces& pieces, std::string_view key);
  uint32_t form_value(ValueId id, SchemaIR::Kind kind, const FormReading::Values& values, const FormReading& reading);
  uint32_t make_form_value(ValueId id, const FormReading::Values& values, const FormReading& reading);
  Symbols form_brackets(ValueId id, const FormReading::Values& values, const FormReading& reading);
  void add_form_object_in_any_order(uint32_t rule, const SchemaIR::Object& object);
  uint32_t distinct_key(uint32_t name);
  void add_ended(Symbols& to, RegexId texts, const SchemaForm::Pieces& end, std::string_view key, std::string name,
                 bool distinct = false);
  uint32_t delimited_string(uint32_t terminal, bool distinct);
  void add_rules(uint32_t rule, const DelimitedString& of);
  uint32_t rule_of(const Tagged& of);
  void add_rules(uint32_t rule, const Tagged& of);
  void add_tagged_value(uint32_t rule, const Tagged& of);
  void add_tagged_object(uint32_t rule, const Tagged& of);
  void add_tagged_array(uint32_t rule, const Tagged& of);
  Symbols tagged_item(ValueId id, bool distinct);
  const SchemaForm::Pieces& tagged_end(const Tagged& of) const {
    return of.name == kItem ? form_->after_item : form_->after_end;
  }

  std::shared_ptr<const SchemaWithLayout> kept_;
  const std::shared_ptr<const SchemaForm> form_;
  const bool writes_python_ = false;       // whether values are literals of Python
  const bool delimits_ = false;            // whether strings have delimiters
  const bool writes_json_ = true;          // neither, nor YAML
  const bool has_any_order_ = false;       // of keys in JSON
  const bool form_has_any_order_ = false;  // of keys in a form with braces
  std::vector<uint32_t> form_tokens_;
  SchemaRules* const main_ = nullptr;       // of values that are told apart: the rules of the others; else null
  std::unique_ptr<SchemaRules> apart_;      // of others, those; made when a text needs them
  IndentedRules* const whole_ = nullptr;    // of indented text; else null
  const uint32_t column_ = 0;               // of that
  const YamlLayout* const yaml_ = nullptr;  // of blocks
  const YamlLayout* const flow_ = nullptr;  // of values in brackets
  const SchemaWithLayout& parts_;
  const SchemaIR& schema_;
  const uint32_t item_room_ = kUnbounded;
  const uint32_t member_room_ = kUnbounded;
  const CommonValue common_ = [this](ValueId a, ValueId b) { return schema_.common(a, b); };
  // During a call from outside.
  const DeferredAdditions* to_ = nullptr;
  Grammar* grammar_ = nullptr;
  RegexStore* regexes_ = nullptr;
  uint32_t scope_;
  std::map<Holds, uint32_t> default_sets_;  // bounds that bound nothing
  std::map<RegexId, bool> endless_;
  bool has_marks_ = false;
  uint32_t open_object_ = kNoSymbol;
  Closing close_object_;
  Closing close_set_;  // the same, where the keys are all there that must be
  uint32_t open_array_ = kNoSymbol;
  Closing close_array_;
  Separator items_;
  Separator members_;
  uint32_t colon_ = kNoSymbol;
  uint32_t line_ = kNoSymbol;   // of YAML
  uint32_t blank_ = kNoSymbol;  // after a key, where it is a lexeme of its own
  uint32_t gap_ = 0;
  std::map<std::pair<ValueId, uint32_t>, uint32_t> form_values_;  // by kind
  std::map<Tagged, uint32_t> tagged_;
  HashTable terminals_;
  std::map<std::pair<uint32_t, bool>, uint32_t> distinct_terminals_;  // and whether it never runs out
  HashTable values_;
  HashTable terminals_below_;
  std::unordered_map<uint32_t, PlacedTerminal> terminal_of_;  // by its index in the grammar
  std::deque<OpenObject> open_objects_;
  HashTable states_;        // of objects: (level, members passed) -> rule
  HashTable unordered_;     // (level, whether some are written) -> rule
  HashTable choices_;       // (level behind, first member) -> terminal
  HashTable array_states_;  // (array, items written) -> rule
  std::vector<Level> levels_;
  HashTable level_ids_;                                            // by object and keys written
  std::unordered_map<uint32_t, Deferred> deferred_;                // by the index of its rule
  std::map<std::pair<ValueId, bool>, uint32_t> distinct_scalars_;  // and whether its strings never run out
  std::map<ValueId, Kept> kept_strings_;                           // by array
  std::map<ValueId, bool> has_composites_;
  std::map<ValueId, uint32_t> items_told_apart_;  // in blocks
  std::map<ValueId, uint32_t> items_by_steps_;
  std::map<std::pair<ValueId, uint32_t>, uint32_t> item_sets_;  // by the ends behind them; 0: in no item
  std::map<StepValue, uint32_t> item_values_;
  std::map<StepState, uint32_t> item_states_;
  std::map<ValueId, ArrayEnds> array_ends_;
  std::map<ValueId, ObjectEnds> object_ends_;
  TextMap<std::string_view, uint32_t> strings_;
  HashTable distinct_keys_;                                // by name
  std::unordered_map<uint32_t, uint32_t> open_object_of_;  // by value
  ObjectUnions unions_;
  HashTable rule_of_union_;  // by its state
  ArrayUnions array_unions_;
  HashTable rule_of_array_union_;  // by its state
  ChunkedVector<UnionChoice> union_choices_;
  // The states of unions by their numbers, as far as reading the schema found them out.
  std::unordered_map<uint32_t, const IndexedUnion::Objects*> indexed_objects_;
  std::unordered_map<uint32_t, const IndexedUnion::Others*> indexed_others_;
  std::unordered_map<uint32_t, const IndexedUnion::Arrays*> indexed_arrays_;
  std::unordered_map<uint32_t, const IndexedUnion::Arrays*> indexed_items_;
};

}  // namespace cfgmask
