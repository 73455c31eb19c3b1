#include "json_schema/sets/schema_algebra.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "json_schema/document/json_document.h"
#include "json_schema/sets/witnesses.h"
#include "regex/held_bytes.h"

namespace cfgmask {

namespace {

// Objects that two unions come to together, if it is more than each of them has.
constexpr size_t kMaxAlternatives = 1'000;
// Of two sets of scalars of one kind, and what it takes to look at one.
constexpr uint64_t kMaxScalarPairs = 100'000;
// Sets of numbers that are one value.
constexpr size_t kMaxNumberSets = 20'000;
constexpr uint64_t kWorkPerScalarPair = 4;
constexpr size_t kMaxArrays = 20'000;
// Sets that a union is made of, and names for sets on the way to these.
constexpr size_t kMaxParts = 100'000;
// The same where many sets are asked whether they can be worked out.
constexpr size_t kMaxNames = 4'000;
// So many of them cost as much as to combine a member with another.
constexpr uint64_t kNamesPerStep = 8;
constexpr size_t kMaxWitnesses = 8;
constexpr size_t kManyTerms = 1'000;
// Sets inside of sets that are worked out for each other's sake. Each takes up to 2.5 KB of the stack.
constexpr int kMaxMeetDepth = 30;
// Required members of required members that are looked at to tell that there is no such object.
constexpr int kMaxProbe = 2;
constexpr uint32_t kMaxProbedItems = 16;
constexpr size_t kMaxQuestion = 200'000;
// Sets of numbers that are one terminal.
constexpr size_t kMaxJoined = 1'000;
// What it takes to combine sets of numbers, beside looking at their parts.
constexpr uint64_t kWorkPerUnion = 512;
constexpr uint32_t kMaxCountedItems = 1'000;
// Of an array.
constexpr size_t kMostKinds = 62;
// Of the search for what bytes write.
constexpr uint64_t kMaxWrittenNesting = 200;
constexpr uint64_t kMaxWrittenSteps = 200'000;

// Leaves what is made of each shape, where anything is.
template <class Shape, class Make>
void restrict(std::vector<std::shared_ptr<const Shape>>& shapes, const Make& make) {
  std::vector<std::shared_ptr<const Shape>> left;
  for (const auto& shape : shapes) {
    if (auto made = SchemaIR::shared(make(*shape))) left.push_back(std::move(made));
  }
  shapes = std::move(left);
}

template <class T>
void add_new(std::vector<T>& list, const T& item) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
}

}  // namespace

void SchemaAlgebra::work(uint64_t steps) {
  work_ += steps;
  if (work_ > max_work_) throw TooMuchWork{place()};
}

// ---- combinations

// A combination that came to listed scalars alone is these, however it was made: conditions on one member otherwise
// make lists of terms as long as the conditions are many, a new one for each pair of them. What others come to may be
// asked of Python, and was asked more often without their history: oneOf of 80 overlapping objects took four times as
// long.
ValueId SchemaAlgebra::without_history(ValueId id) const {
  if (!terms_of_.contains(id.value) || pending_.contains(id.value)) return id;
  const ValueId found = schema_.resolved(id);
  const Value& value = schema_.at(found);
  if (value.is_empty()) return SchemaIR::never();
  const auto is_listed = [&](uint32_t index) {
    using Spelling = SchemaIR::Spelling;
    const auto& terminal = schema_.terminal(index);
    return terminal.spelling == Spelling::kWord || terminal.spelling == Spelling::kListed ||
           (terminal.spelling == Spelling::kNumbers && terminal.numbers->is_listed());
  };
  const bool is_simple = !value.array && !value.object && value.alternatives.empty() &&
                         std::all_of(value.terminals.begin(), value.terminals.end(), is_listed);
  return is_simple ? found : id;
}

void SchemaAlgebra::add_term(Term term, Terms& terms) const {
  term.id = without_history(term.id);
  const auto made_of = terms_of_.find(term.id.value);
  if (made_of != terms_of_.end() && !term.negated) {
    for (const Term& inner : made_of->second) add_new(terms, inner);
  } else if (made_of != terms_of_.end() && made_of->second.size() == 1 && made_of->second[0].negated && !annotates_) {
    // What is negated twice evaluates nothing.
    add_term({made_of->second[0].id}, terms);
  } else if (term.id != (term.negated ? SchemaIR::never() : SchemaIR::any())) {
    add_new(terms, term);
  }
}

// What `all` gives, where a look is enough: most members of an object are met by another one that says nothing of them.
ValueId SchemaAlgebra::both(ValueId a, ValueId b) {
  if (a == b || b == SchemaIR::any()) return a;
  if (a == SchemaIR::any()) return b;
  if (a == SchemaIR::never() || b == SchemaIR::never()) return SchemaIR::never();
  return all({{a}, {b}}, schema_.at(a).name);
}

ValueId SchemaAlgebra::all(const Terms& terms, std::string name) {
  Terms flat;
  for (const Term& term : terms) add_term(term, flat);
  const auto has = [&](Term term) { return std::find(flat.begin(), flat.end(), term) != flat.end(); };
  const auto is_contradiction = [&](const Term& term) {
    if (!term.negated) return term.id == SchemaIR::never();
    const auto made_of = terms_of_.find(term.id.value);
    return term.id == SchemaIR::any() || has({term.id}) ||
           (made_of != terms_of_.end() && std::all_of(made_of->second.begin(), made_of->second.end(), has));
  };
  if (std::any_of(flat.begin(), flat.end(), is_contradiction)) return SchemaIR::never();
  if (flat.empty()) return SchemaIR::any();
  if (flat.size() == 1 && !flat[0].negated) return flat[0].id;
  std::string key;
  for (const Term& term : flat) key += (term.negated ? '-' : '+') + std::to_string(term.id.value);
  const auto [at, is_new] = known_.try_emplace(std::move(key), ValueId());
  if (!is_new) return at->second;
  work(flat.size());
  at->second = schema_.reserve();
  pending_[at->second.value] = {std::move(name), flat, std::nullopt, false};
  for (const Term& term : flat) {
    if (term.negated) schema_.keep_apart(at->second, term.id);
  }
  terms_of_[at->second.value] = std::move(flat);
  return at->second;
}

std::vector<uint32_t> SchemaAlgebra::strings(ValueId id) {
  if (!is_known(id, kMaxParts)) throw Unsupported();
  std::vector<uint32_t> found = parts_of(id).terminals;
  std::erase_if(found, [&](uint32_t t) { return schema_.terminal(t).kind != SchemaIR::kString; });
  return found;
}

void SchemaAlgebra::finish() {
  std::vector<bool> seen;
  std::vector<ValueId> todo{schema_.root()};
  while (!todo.empty()) {
    const ValueId id = todo.back();
    todo.pop_back();
    if (seen.size() <= id.value) seen.resize(schema_.n_values());
    if (seen[id.value]) continue;
    seen[id.value] = true;
    settle(id);
    sort_keys(id);
    find_kinds(id);
    const Value& value = schema_.at(id);
    compares_items_ = compares_items_ || (value.array && (value.array->distinct || value.array->repeats));
    has_witnesses_ = has_witnesses_ || (value.object && !value.object->witnesses.empty());
    SchemaIR::for_each_inside(value, [&](ValueId inside) { todo.push_back(inside); });
    find_common(id, todo);
  }
  seen.resize(schema_.n_values());
  for (uint32_t id = 0; id < seen.size(); ++id) {
    if (seen[id]) join_numbers(ValueId(id));
  }
  seen.resize(schema_.n_values(), true);  // with the alternatives that were made of numbers
  const auto define_each = [&](const auto& made_of) {
    std::vector<std::pair<ValueId, Value>> made;
    for (uint32_t id = 0; id < seen.size(); ++id) {
      if (seen[id]) made.emplace_back(id, made_of(ValueId(id)));
    }
    for (auto& [id, value] : made) schema_.define(id, std::move(value));
  };
  if (annotates_) define_each([&](ValueId id) { return without_annotations(id); });
  if (writable_ == nullptr) return;
  if (!writable_->strings.empty()) written_strings_ = ask(writable_->strings);
  regexes_ = std::make_unique<RegexStore>(kMaxWrittenNesting, kMaxWrittenSteps);
  define_each([&](ValueId id) { return written(id); });
}

template <class Change>
void SchemaAlgebra::if_few(const Change& change) {
  try {
    change();
  } catch (const TooManyAlternatives&) {
    left_ = std::nullopt;
  }
}

// Each alternative loses what those before it have, if that may be something.
SchemaAlgebra::Parts SchemaAlgebra::parted(ValueId id) {
  const std::vector<ValueId> parts = schema_.alternatives_of({id});
  Parts all;
  for (size_t i = 0; i < parts.size(); ++i) {
    Parts left = parts_of(parts[i]);
    left.terminals = parted(left.terminals);
    for (const ObjectRef& object : std::exchange(left.objects, {})) {
      for (ObjectRef& each : by_first_to_meet(object)) left.objects.push_back(std::move(each));
    }
    for (size_t j = 0; j < i; ++j) {
      if (!disjoint(parts[i], parts[j])) left = without(std::move(left), parts_of(parts[j]));
    }
    for (uint32_t terminal : left.terminals) keep_apart(terminal, all.terminals);
    all.terminals.insert(all.terminals.end(), left.terminals.begin(), left.terminals.end());
    all.arrays.insert(all.arrays.end(), left.arrays.begin(), left.arrays.end());
    all.objects.insert(all.objects.end(), left.objects.begin(), left.objects.end());
  }
  return all;
}

void SchemaAlgebra::part(ValueId id) {
  const std::string name = schema_.at(id).name;
  const At here(*this, &name);
  if_few([&] { schema_.define(id, value_of(parted(id), name)); });
}

std::vector<SchemaAlgebra::ObjectRef> SchemaAlgebra::by_first_to_meet(const ObjectRef& object) {
  if (object->witnesses.empty() || object->others || !object->classes.empty()) return {object};
  Object before = *object;
  const KeyWitness witness = std::move(before.witnesses.back());
  before.witnesses.pop_back();
  std::vector<ObjectRef> found;
  for (size_t i = 0; i < before.members.size() && !is_plainly_empty(before); ++i) {
    Member& member = before.members[i];
    if (!witness.admits(member.name) || !admits(witness.keys, member.name)) continue;
    Object first = before;
    first.members[i].value = both(member.value, witness.value);
    first.members[i].required = true;
    if (!is_plainly_empty(first)) {
      for (ObjectRef& each : by_first_to_meet(std::make_shared<const Object>(std::move(first))))
        found.push_back(std::move(each));
    }
    if (found.size() > kMaxAlternatives) throw TooManyAlternatives();
    work(before.members.size());
    member.value = both(member.value, neither(witness.value));
  }
  return found;
}

std::vector<uint32_t> SchemaAlgebra::parted(const std::vector<uint32_t>& terminals) {
  std::vector<uint32_t> found;
  for (size_t i = 0; i < terminals.size(); ++i) {
    std::vector<uint32_t> before;
    for (size_t j = 0; j < i; ++j) {
      if (!schema_.are_apart(terminals[i], terminals[j])) before.push_back(terminals[j]);
    }
    const auto left = before.empty() ? std::optional(terminals[i]) : without(terminals[i], before);
    if (!left) continue;
    keep_apart(*left, found);
    found.push_back(*left);
  }
  return found;
}

// Says of a terminal that it shares nothing with these, as it was made so.
void SchemaAlgebra::keep_apart(uint32_t terminal, const std::vector<uint32_t>& others) {
  for (uint32_t other : others) {
    if (!schema_.are_apart(terminal, other)) schema_.keep_apart(terminal, other);
  }
}

// ---- what can be written

SchemaAlgebra::Value SchemaAlgebra::written(ValueId id) {
  Parts found = parts_of(id);
  std::vector<uint32_t> terminals;
  for (uint32_t terminal : found.terminals) {
    if (const auto left = written_scalars(terminal)) add_new(terminals, *left);
  }
  found.terminals = std::move(terminals);
  const auto of = [&](const auto& shape) { return written(shape); };
  restrict(found.arrays, of);
  restrict(found.objects, of);
  return value_of(std::move(found), schema_.at(id).name);
}

std::optional<uint32_t> SchemaAlgebra::written_scalars(uint32_t index) {
  using Spelling = SchemaIR::Spelling;
  const auto [at, is_new] = written_.try_emplace(index, std::nullopt);
  if (!is_new) return at->second;
  // A copy: what is added below moves the terminals.
  const SchemaIR::Terminal terminal = schema_.terminal(index);
  work(1);
  std::optional<uint32_t> left = index;
  if (terminal.kind == SchemaIR::kNumber) {
    left = written_numbers(index);
  } else if (terminal.spelling == Spelling::kWord) {
    const auto has = [&](char c) { return writable_->held.has(static_cast<uint8_t>(c)); };
    if (!std::ranges::all_of(terminal.name, has)) left = std::nullopt;
  } else if (!writable_->has_strings) {
    left = std::nullopt;
  } else if (terminal.spelling == Spelling::kListed) {
    std::vector<std::string> texts;
    std::ranges::copy_if(terminal.listed, std::back_inserter(texts),
                         [&](const std::string& text) { return writable_->is_written(text, false); });
    left = schema_.some_listed(std::move(texts));
  } else if (!writable_->strings.empty()) {
    left = written_strings_ ? meet_terminals(index, *written_strings_) : std::nullopt;
  }
  return written_[index] = left;
}

std::optional<uint32_t> SchemaAlgebra::written_numbers(uint32_t index) {
  const SchemaIR::Terminal terminal = schema_.terminal(index);
  HeldBytes held(*regexes_, writable_->held);
  const auto is_written = [&](RegexId regex) { return !regexes_->is_empty(held.of(regex)); };
  const auto* listed = terminal.numbers ? terminal.numbers->listed() : nullptr;
  if (listed == nullptr) {
    const bool is_some = is_written(schema_.number_union(terminal).regex(*regexes_, writable_->numbers));
    return is_some ? std::optional(index) : std::nullopt;
  }
  std::vector<Decimal> values;
  std::ranges::copy_if(*listed, std::back_inserter(values), [&](const Decimal& value) {
    work(1);
    return is_written(NumberSet::of({value}).regex(*regexes_, writable_->numbers));
  });
  return values.empty() ? std::nullopt : schema_.numbers(NumberSet::of(std::move(values)));
}

std::optional<SchemaIR::Array> SchemaAlgebra::written(Array array) {
  if (!writable_->has_arrays || writable_->most_items < array.minimum) return std::nullopt;
  array.maximum = std::min(array.maximum, writable_->most_items);
  if (array.prefix.size() > array.maximum) array.prefix.resize(array.maximum);
  return array;
}

std::optional<SchemaIR::Object> SchemaAlgebra::written(Object object) {
  if (!writable_->has_objects) return std::nullopt;
  if (writable_->most_keys < std::max<size_t>(object.minimum, object.n_required())) return std::nullopt;
  object.maximum = std::min(object.maximum, writable_->most_keys);
  for (Member& member : object.members) {
    if (writable_->is_written(schema_.name_at(member.name), true)) continue;
    if (member.required) return std::nullopt;
    member.value = SchemaIR::never();
  }
  if (writable_->strings.empty()) return object;
  if (!written_strings_) {
    object.classes.clear();
    object.others = std::nullopt;
    return object;
  }
  const uint32_t condition = schema_.add_key_condition({*written_strings_, schema_.definition(*written_strings_)});
  Object keys;
  keys.classes.push_back({{{condition}, {}}, SchemaIR::any()});
  for (KeyWitness& witness : object.witnesses) {
    const auto found = both(witness.keys, {{condition}, {}});
    if (!found) return std::nullopt;
    witness.keys = *found;
  }
  Object found;
  meet_keys(object, keys, found);
  object.classes = std::move(found.classes);
  object.others = found.others;
  object.others_keys = std::move(found.others_keys);
  name_besides(object);
  sort_keys(object);
  if (is_plainly_empty(object)) return std::nullopt;
  return object;
}

void SchemaAlgebra::doubt(ValueId id, SchemaRefusal::Kind kind, std::string place) {
  doubts_.push_back({id, {kind, std::move(place)}});
}

void SchemaAlgebra::join_numbers(ValueId id) {
  const auto is_condition = [&](uint32_t index) {
    const auto& terminal = schema_.terminal(index);
    return terminal.number_union || (terminal.numbers && terminal.numbers->has_step());
  };
  const auto only_condition = [&](ValueId alternative) -> std::optional<uint32_t> {
    const Value& held = schema_.at(schema_.resolved(alternative));
    const bool one = held.terminals.size() == 1 && !held.array && !held.object && held.alternatives.empty();
    return one && is_condition(held.terminals[0]) ? std::optional(held.terminals[0]) : std::nullopt;
  };
  const Value& held = schema_.at(id);
  std::vector<uint32_t> found;
  for (uint32_t terminal : held.terminals) {
    if (is_condition(terminal)) add_new(found, terminal);
  }
  for (ValueId alternative : held.alternatives) {
    if (const auto terminal = only_condition(alternative)) add_new(found, *terminal);
  }
  if (found.size() < 2 || found.size() > kMaxJoined) return;
  const auto together = numbers([&] {
    std::vector<NumberUnion> parts;
    for (uint32_t terminal : found) parts.push_back(schema_.number_union(schema_.terminal(terminal)));
    return NumberUnion::any_of(parts, spending());
  });
  Value value = schema_.at(id);
  std::erase_if(value.terminals, is_condition);
  std::erase_if(value.alternatives, [&](ValueId alternative) { return only_condition(alternative).has_value(); });
  if (together && value.alternatives.empty()) {
    value.terminals.push_back(*together);
  } else if (together) {
    // A value with alternatives has nothing else.
    Value joined;
    joined.name = value.name;
    joined.terminals.push_back(*together);
    value.alternatives.push_back(schema_.add(std::move(joined)));
  }
  schema_.define(id, std::move(value));
}

void SchemaAlgebra::sort_keys(ValueId id) {
  const auto& before = schema_.at(id).object;
  const auto has_keys = [](const KeyWitness& witness) { return !witness.keys.is_any(); };
  if (!before || !(before->has_classes() || std::ranges::any_of(before->witnesses, has_keys))) return;
  schema_.change_object(id, [&](Object& object) { sort_keys(object); });
}

void SchemaAlgebra::sort_keys(Object& object) {
  std::vector<uint32_t> names;
  for (const Member& member : object.members) names.push_back(member.name);
  std::vector<SchemaIR::KeyClass> classes = std::move(object.classes);
  std::vector<SchemaIR::KeyClass> others;
  if (object.others) others.push_back({object.others_keys, *object.others});
  const auto n_needed =
      static_cast<uint32_t>(std::max<size_t>(object.minimum, object.n_required()) - object.n_required());
  for (auto* kinds : {&classes, &others}) {
    sort_by_witnesses(object, *kinds);
    work(kinds->size() * names.size() / kNamesPerStep);
    std::erase_if(*kinds, [&](const auto& kind) {
      const auto found = kind.keys.is_any() ? std::optional(true) : keys_.has_keys(kind.keys, names);
      if (!found) throw keys_.exceeded();
      return !*found;
    });
    for (auto& kind : *kinds) {
      const auto count = keys_.count(n_needed, kind.keys, names);
      if (!count) throw keys_.exceeded();
      kind.count = *count;
    }
  }
  object.others = std::nullopt;
  if (!others.empty()) {
    object.others = others.back().value;
    object.others_keys = std::move(others.back().keys);
    object.others_meet = others.back().meets;
    object.n_others = others.back().count;
    others.pop_back();
  }
  object.classes = std::move(classes);
  object.classes.insert(object.classes.end(), others.begin(), others.end());
}

void SchemaAlgebra::sort_by_witnesses(const Object& object, std::vector<SchemaIR::KeyClass>& kinds) {
  for (size_t i = 0; i < object.witnesses.size(); ++i) {
    const SchemaIR::Keys& met = object.witnesses[i].keys;
    if (met.is_any()) continue;
    std::vector<SchemaIR::KeyClass> sorted;
    for (const auto& kind : kinds) {
      if (const auto inside = both(kind.keys, met)) sorted.push_back({*inside, kind.value, kind.meets});
      for (auto& outside : difference(kind.keys, met))
        sorted.push_back({std::move(outside), kind.value, kind.meets & ~(1U << i)});
    }
    work(sorted.size());
    kinds = std::move(sorted);
  }
}

std::vector<SchemaIR::Keys> SchemaAlgebra::difference(const SchemaIR::Keys& keys, const SchemaIR::Keys& others) {
  std::vector<SchemaIR::Keys> found;
  SchemaIR::Keys inside = keys;
  const auto leave_out = [&](uint32_t condition, bool is_met) {
    const SchemaIR::Keys met{{condition}, {}};
    const SchemaIR::Keys broken{{}, {condition}};
    if (auto outside = both(inside, is_met ? broken : met)) found.push_back(std::move(*outside));
    const auto left = both(inside, is_met ? met : broken);
    if (left) inside = *left;
    return left.has_value();
  };
  work(others.met.size() + others.broken.size());
  for (uint32_t condition : others.met) {
    if (!leave_out(condition, true)) return found;
  }
  for (uint32_t condition : others.broken) {
    if (!leave_out(condition, false)) return found;
  }
  return found;
}

// What values have in common with the witnesses that they may meet: rules need to know.
void SchemaAlgebra::find_common(ValueId id, std::vector<ValueId>& found) {
  const Value& value = schema_.at(id);
  const CommonValue common = [&](ValueId a, ValueId b) {
    // Not asked twice: what is said of a value may be known in another way once it is settled, under another number.
    work(1);
    if (const auto known = schema_.known_common(a, b)) {
      // It may hold sets that were changed since the last call.
      found.push_back(*known);
      return *known;
    }
    const ValueId both = this->both(a, b);
    schema_.set_common(a, b, both);
    found.push_back(both);
    return both;
  };
  const IsPossible possible = [](ValueId id) { return id != SchemaIR::never(); };
  if (value.object && value.object->has_particular_witnesses()) can_be_met(*value.object, common, possible);
  if (value.array && !value.array->witnesses.empty() && !(value.array->repeats && value.array->kinds)) {
    const auto states =
        counted_items(*value.array) > kMaxCountedItems ? std::nullopt : item_states(*value.array, common);
    if (states) return work(states->size());
    doubt(id, SchemaRefusal::Kind::kContainsSize, value.name);
    schema_.change_array(id, [](Array& array) { array.witnesses.clear(); });
  }
}

// ---- equal items

void SchemaAlgebra::find_kinds(ValueId id) {
  if (schema_.at(id).array && schema_.at(id).array->repeats) sort_items(id);
}

void SchemaAlgebra::sort_items(ValueId id) {
  if (counted_items(*schema_.at(id).array) > kMaxCountedItems) return;
  if_few([&] { schema_.change_array(id, [&](Array& array) { array.kinds = item_kinds(array); }); });
}

std::shared_ptr<const SchemaIR::ItemKinds> SchemaAlgebra::item_kinds(const Array& array) {
  SchemaIR::ItemKinds found;
  const auto n_prefix = static_cast<uint32_t>(std::min<size_t>(array.prefix.size(), array.maximum));
  for (uint32_t i = 0; i < n_prefix; ++i) add_new(found.sets, array.prefix[i]);
  if (array.rest && array.maximum > n_prefix) add_new(found.sets, *array.rest);
  const size_t n_places = found.sets.size();
  for (const ItemWitness& witness : array.witnesses) add_new(found.sets, witness.value);
  if (found.sets.size() > kMostKinds) return nullptr;
  auto& kinds = found.kinds;
  const auto add = [&](ValueId items, uint64_t within) {
    const Parts parts = items == SchemaIR::never() ? Parts() : parts_of(items);
    if (!parts.terminals.empty() || !parts.arrays.empty() || !parts.objects.empty()) kinds.push_back({items, within});
  };
  Terms outside;
  for (size_t i = 0; i < found.sets.size(); ++i) {
    const uint64_t bit = uint64_t{1} << i;
    const Term in{found.sets[i]};
    const Term out{found.sets[i], true};
    for (const auto& kind : std::exchange(kinds, {})) {
      add(all({{kind.items}, in}, ""), kind.within | bit);
      add(all({{kind.items}, out}, ""), kind.within);
    }
    if (i < n_places) {
      Terms terms = outside;
      terms.push_back(in);
      add(all(terms, ""), bit);
      outside.push_back(out);
    }
    if (kinds.size() > kMostKinds) return nullptr;
  }
  return std::make_shared<SchemaIR::ItemKinds>(std::move(found));
}

uint32_t SchemaAlgebra::counted_items(const Array& array) {
  uint32_t most = std::max(array.minimum, array.maximum == kUnbounded ? 0 : array.maximum);
  for (const auto& witness : array.witnesses)
    most = std::max({most, witness.start, witness.least, witness.most == kUnbounded ? 0 : witness.most});
  return most;
}

void SchemaAlgebra::settle(ValueId id) {
  const auto found = pending_.find(id.value);
  if (found == pending_.end()) return;
  if (found->second.active) throw Unsupported{SchemaRefusal::Kind::kReferenceLoop};
  if (depth_ == kMaxMeetDepth) throw TooManyAlternatives();
  found->second.active = true;
  ++depth_;
  const Pending pending = found->second;
  Value value;
  try {
    const std::string place = place_of(pending);
    const At at(*this, &place);
    value = made_of(pending);
  } catch (...) {
    // It may be tried again.
    --depth_;
    pending_.at(id.value).active = false;
    throw;
  }
  --depth_;
  if (!value.is_empty()) {
    Value same;
    same.name = pending.name;
    same.alternatives.push_back(schema_.add(std::move(value)));
    value = std::move(same);
  }
  schema_.define(id, std::move(value));
  pending_.erase(id.value);
}

SchemaAlgebra::Value SchemaAlgebra::made_of(const Pending& pending) {
  if (pending.choice) return chosen(*pending.choice, pending.name);
  if (pending.closing) return value_of(closed(*pending.closing), pending.name);
  return value_of(pending.any_of.empty() ? worked_out(pending) : any_of(pending.any_of), pending.name);
}

ValueId SchemaAlgebra::pend(Pending pending) {
  const ValueId id = schema_.reserve();
  work(1);
  pending_[id.value] = std::move(pending);
  return id;
}

// ---- what was evaluated

ValueId SchemaAlgebra::any_of(std::vector<ValueId> parts, const std::string& name) {
  Pending pending{name, {}, std::nullopt};
  pending.any_of = std::move(parts);
  return pend(std::move(pending));
}

ValueId SchemaAlgebra::closed(ValueId id, bool are_keys, ValueId value, const std::string& name) {
  Pending pending{name, {}, std::nullopt};
  pending.closing = {id, are_keys, value};
  return pend(std::move(pending));
}

// To have looked at more never forbids anything. So for values in some of the parts, one alternative for what is in
// these at least is enough, and none is needed where one of two parts has looked at all that the other one has.
SchemaAlgebra::Parts SchemaAlgebra::any_of(const std::vector<ValueId>& parts) {
  Parts found;
  std::vector<std::vector<ArrayRef>> arrays;
  std::vector<std::vector<ObjectRef>> objects;
  for (ValueId part : parts) {
    Parts next = parts_of(part);
    for (uint32_t terminal : next.terminals) add_new(found.terminals, terminal);
    for (const ArrayRef& array : next.arrays) add_new(found.arrays, array);
    for (const ObjectRef& object : next.objects) add_new(found.objects, object);
    arrays.push_back(std::move(next.arrays));
    objects.push_back(std::move(next.objects));
  }
  add_common(arrays, found.arrays);
  add_common(objects, found.objects);
  return found;
}

template <class Shape>
void SchemaAlgebra::add_common(const std::vector<std::vector<std::shared_ptr<const Shape>>>& parts,
                               std::vector<std::shared_ptr<const Shape>>& found) {
  using Ref = std::shared_ptr<const Shape>;
  std::vector<Ref> known;
  for (const auto& shapes : parts) {
    std::vector<Ref> common;
    for (const Ref& a : known) {
      for (const Ref& b : shapes) {
        if (a->evaluated.are_within(b->evaluated) || b->evaluated.are_within(a->evaluated)) continue;
        if (auto both = meet(a, b); both && !has_none(*both, 0)) common.push_back(std::move(both));
        if (known.size() + common.size() > kMaxAlternatives) throw TooManyAlternatives();
      }
    }
    known.insert(known.end(), shapes.begin(), shapes.end());
    known.insert(known.end(), common.begin(), common.end());
    found.insert(found.end(), common.begin(), common.end());
  }
}

SchemaAlgebra::Parts SchemaAlgebra::closed(const Closing& closing) {
  Parts found = parts_of(closing.id);
  const auto of = [&](const auto& shape) { return closed(shape, closing.value); };
  if (closing.are_keys) {
    restrict(found.objects, of);
  } else {
    restrict(found.arrays, of);
  }
  return found;
}

std::optional<SchemaIR::Object> SchemaAlgebra::closed(Object object, ValueId value) {
  const EvaluatedKeys evaluated = std::exchange(object.evaluated, EvaluatedKeys{true});
  // Where something was left out, which keys were evaluated is unknown.
  if (evaluated.all || object.is_overapproximate) return object;
  const auto covers = [&](uint32_t name) {
    return std::ranges::binary_search(evaluated.names, name) ||
           std::ranges::any_of(evaluated.conditions, [&](uint32_t c) { return admits({{c}, {}}, name); });
  };
  work(object.members.size() + 1);
  for (Member& member : object.members) {
    if (!covers(member.name)) member.value = both(member.value, value);
  }
  std::vector<SchemaIR::KeyClass> kinds;
  for (const auto& kind : object.kinds()) {
    std::vector<SchemaIR::Keys> outside{kind.keys};
    for (uint32_t condition : evaluated.conditions) {
      std::vector<SchemaIR::Keys> left;
      for (const auto& keys : outside) {
        if (auto inside = both(keys, {{condition}, {}})) kinds.push_back({*std::move(inside), kind.value});
        if (auto rest = both(keys, {{}, {condition}})) left.push_back(*std::move(rest));
      }
      outside = std::move(left);
    }
    const ValueId held = both(kind.value, value);
    if (held == SchemaIR::never()) continue;
    for (auto& keys : outside) kinds.push_back({std::move(keys), held});
  }
  work(kinds.size());
  // Those that meet no condition are the others, if there are such.
  object.others = std::nullopt;
  object.others_keys = {};
  for (auto kind = kinds.begin(); kind != kinds.end(); ++kind) {
    if (!kind->keys.met.empty()) continue;
    object.others = kind->value;
    object.others_keys = std::move(kind->keys);
    kinds.erase(kind);
    break;
  }
  object.classes = std::move(kinds);
  if (is_plainly_empty(object)) return std::nullopt;
  return object;
}

std::optional<SchemaIR::Array> SchemaAlgebra::closed(Array array, ValueId value) {
  const EvaluatedItems evaluated = std::exchange(array.evaluated, EvaluatedItems{kUnbounded});
  if (evaluated.are_all()) return array;
  std::vector<ValueId> allowed{value};
  allowed.insert(allowed.end(), evaluated.containing.begin(), evaluated.containing.end());
  Array rest = of_length(0, kUnbounded);
  rest.prefix.assign(evaluated.first, SchemaIR::any());
  rest.rest = either(std::move(allowed));
  if (rest.rest == SchemaIR::never()) {
    rest.rest = std::nullopt;
    rest.maximum = evaluated.first;
  }
  return meet(array, rest);
}

ValueId SchemaAlgebra::either(std::vector<ValueId> parts) {
  Value union_of;
  for (ValueId part : parts) {
    if (part == SchemaIR::any()) return part;
    if (part != SchemaIR::never()) add_new(union_of.alternatives, part);
  }
  if (union_of.alternatives.size() == 1) return union_of.alternatives[0];
  return union_of.alternatives.empty() ? SchemaIR::never() : schema_.add(std::move(union_of));
}

SchemaAlgebra::Value SchemaAlgebra::without_annotations(ValueId id) {
  Parts found = parts_of(id);
  const auto strip = [](auto& shapes) {
    for (auto& shape : shapes) {
      if (shape->evaluated.are_none()) continue;
      auto bare = *shape;
      bare.evaluated = {};
      shape = std::make_shared<const decltype(bare)>(std::move(bare));
    }
  };
  strip(found.arrays);
  strip(found.objects);
  return value_of(std::move(found), schema_.at(id).name);
}

// Where a set stands, or the first that has a place of those it is made of: what is inside of a constant has none.
std::string SchemaAlgebra::place_of(const Pending& pending) const {
  if (!pending.name.empty()) return pending.name;
  for (const Term& term : pending.terms) {
    if (const std::string& name = schema_.at(term.id).name; !name.empty()) return name;
  }
  return place();
}

SchemaAlgebra::Parts SchemaAlgebra::worked_out(const Pending& pending) {
  Parts found = meet_all(pending.terms, pending.name);
  Parts holes;
  for (const Term& term : pending.terms) {
    if (!term.negated) continue;
    Parts hole = parts_of(term.id);
    for (uint32_t terminal : hole.terminals) add_new(holes.terminals, terminal);
    std::move(hole.arrays.begin(), hole.arrays.end(), std::back_inserter(holes.arrays));
    std::move(hole.objects.begin(), hole.objects.end(), std::back_inserter(holes.objects));
  }
  return without(std::move(found), holes);
}

// The values of all terms that are not negated.
SchemaAlgebra::Parts SchemaAlgebra::meet_all(const Terms& terms, const std::string& name) {
  Terms all;
  std::copy_if(terms.begin(), terms.end(), std::back_inserter(all), [](const Term& term) { return !term.negated; });
  for (auto term = all.begin(); term != all.end() && all.size() > 1; ++term) {
    const auto known = choices_.find(term->id.value);
    if (known == choices_.end()) continue;
    Choice& choice = known->second;
    if (!overlaps(choice)) continue;
    // What stands around the choice often tells its parts apart.
    Choice within = choice;
    within.before.insert(within.before.begin(), all.begin(), term);
    within.after.insert(within.after.end(), term + 1, all.end());
    return parts_of(choose(std::move(within), name));
  }
  if (all.empty()) return parts_of(SchemaIR::any());
  std::vector<Parts> parts;
  for (const Term& term : all) parts.push_back(parts_of(term.id));
  try {
    return meet_in_turn(parts);
  } catch (const TooManyAlternatives&) {
    left_ = std::nullopt;
    if (all.size() > kManyTerms) throw TooMuchWork{name};
    throw;
  }
}

SchemaAlgebra::Parts SchemaAlgebra::meet_in_turn(std::span<const Parts> parts) {
  // Those of one shape are met two by two: in turn, thousands of members would be copied for each.
  const auto has_one_shape = [](const Parts& p) { return p.arrays.size() <= 1 && p.objects.size() <= 1; };
  std::optional<Parts> found;
  for (auto at = parts.begin(); at != parts.end();) {
    auto end = std::find_if_not(at, parts.end(), has_one_shape);
    if (end == at) ++end;
    Parts next = meet_in_halves({at, end});
    found = found ? meet(*found, next) : std::move(next);
    at = end;
  }
  return *std::move(found);
}

SchemaAlgebra::Parts SchemaAlgebra::meet_in_halves(std::span<const Parts> parts) {
  if (parts.size() == 1) return parts[0];
  const size_t half = parts.size() / 2;
  const Parts first = meet_in_halves(parts.first(half));
  return meet(first, meet_in_halves(parts.subspan(half)));
}

SchemaAlgebra::Parts SchemaAlgebra::parts_of(ValueId id) {
  Parts found;
  std::unordered_set<uint32_t> seen;
  std::unordered_set<uint32_t> terminals;
  std::vector<ValueId> todo{id};
  while (!todo.empty()) {
    const ValueId next = todo.back();
    todo.pop_back();
    if (!seen.insert(next.value).second) continue;
    settle(next);
    const Value& value = schema_.at(next);
    todo.insert(todo.end(), value.alternatives.rbegin(), value.alternatives.rend());
    for (uint32_t terminal : value.terminals)
      if (terminals.insert(terminal).second) found.terminals.push_back(terminal);
    if (value.array) found.arrays.push_back(value.array);
    if (value.object) found.objects.push_back(value.object);
    if (seen.size() > kMaxParts) throw TooManyAlternatives();
  }
  work(seen.size() / kNamesPerStep);
  return found;
}

SchemaAlgebra::Value SchemaAlgebra::value_of(Parts parts, const std::string& name) {
  Value first;
  first.name = name;
  first.terminals = std::move(parts.terminals);
  if (!parts.arrays.empty()) first.array = std::move(parts.arrays[0]);
  if (!parts.objects.empty()) first.object = std::move(parts.objects[0]);
  spend_(first);
  if (parts.arrays.size() <= 1 && parts.objects.size() <= 1) return first;
  Value either;
  either.name = name;
  std::unordered_set<uint32_t> known;
  const auto add_known = [&](Value value) {
    const ValueId id = schema_.add(std::move(value));
    if (known.insert(id.value).second) either.alternatives.push_back(id);
  };
  add_known(std::move(first));
  const auto add = [&](Value value) {
    value.name = name;
    spend_(value);
    add_known(std::move(value));
  };
  for (size_t i = 1; i < parts.arrays.size(); ++i) {
    Value value;
    value.array = std::move(parts.arrays[i]);
    add(std::move(value));
  }
  for (size_t i = 1; i < parts.objects.size(); ++i) {
    Value value;
    value.object = std::move(parts.objects[i]);
    add(std::move(value));
  }
  return either;
}

// Whether no value is in the set; true is a proof.
bool SchemaAlgebra::is_never(ValueId id, int depth) {
  if (id == SchemaIR::never()) return true;
  const auto known = looked_at_.find(id.value);
  if (known != looked_at_.end() && known->second <= depth) return false;
  if (has_no_part(id, depth)) return true;
  looked_at_[id.value] = depth;
  return false;
}

bool SchemaAlgebra::has_no_part(ValueId id, int depth) {
  const auto pending = pending_.find(id.value);
  if (pending != pending_.end()) {
    // What is being worked out is known later.
    if (depth == kMaxProbe || depth_ == kMaxMeetDepth || !is_known(id, kMaxNames)) return false;
    settle(id);
  }
  if (!schema_.is_defined(id)) return false;  // it is being read
  const Value value = schema_.at(id);
  if (!value.terminals.empty()) return false;
  if (value.array && !has_none(*value.array, depth + 1)) return false;
  if (value.object && !has_none(*value.object, depth + 1)) return false;
  return std::all_of(value.alternatives.begin(), value.alternatives.end(),
                     [&](ValueId part) { return is_never(part, depth); });
}

// Whether a set can be worked out without one that is being read or worked out.
bool SchemaAlgebra::is_known(ValueId id, size_t most) const {
  std::unordered_set<uint32_t> seen;
  std::vector<ValueId> todo{id};
  while (!todo.empty()) {
    const ValueId next = todo.back();
    todo.pop_back();
    if (!seen.insert(next.value).second) continue;
    if (seen.size() > most) return false;
    const auto found = pending_.find(next.value);
    if (found == pending_.end()) {
      if (!schema_.is_defined(next)) return false;
      const auto& alternatives = schema_.at(next).alternatives;
      todo.insert(todo.end(), alternatives.begin(), alternatives.end());
      continue;
    }
    const Pending& pending = found->second;
    if (pending.active) return false;
    todo.insert(todo.end(), pending.any_of.begin(), pending.any_of.end());
    if (pending.closing) todo.push_back(pending.closing->id);
    for (const Term& term : pending.terms) todo.push_back(term.id);
    if (!pending.choice) continue;
    todo.insert(todo.end(), pending.choice->parts.begin(), pending.choice->parts.end());
    for (const Terms* terms : {&pending.choice->before, &pending.choice->after})
      for (const Term& term : *terms) todo.push_back(term.id);
  }
  return true;
}

bool SchemaAlgebra::has_none(const Array& array, int depth) {
  for (uint32_t i = 0; i < std::min(array.minimum, kMaxProbedItems); ++i) {
    const auto item = array.item(i);
    if (!item || (depth <= kMaxProbe && is_never(*item, depth))) return true;
  }
  return false;
}

bool SchemaAlgebra::has_none(const Object& object, int depth) {
  return depth <= kMaxProbe && std::any_of(object.members.begin(), object.members.end(), [&](const Member& member) {
           return member.required && is_never(member.value, depth);
         });
}

SchemaAlgebra::Parts SchemaAlgebra::meet(const Parts& a, const Parts& b) {
  Parts both;
  for (uint32_t word : {SchemaIR::null(), SchemaIR::true_(), SchemaIR::false_()}) {
    if (has(a, word) && has(b, word)) both.terminals.push_back(word);
  }
  meet_kind(SchemaIR::kNumber, SchemaIR::any_number(), a, b, both);
  meet_kind(SchemaIR::kString, SchemaIR::any_string(), a, b, both);
  const size_t most_arrays = std::max({kMaxArrays, a.arrays.size(), b.arrays.size()});
  for (const ArrayRef& x : a.arrays) {
    for (const ArrayRef& y : b.arrays) {
      if (auto found = meet(x, y)) both.arrays.push_back(std::move(found));
      if (both.arrays.size() > most_arrays) throw TooManyAlternatives();
    }
  }
  const size_t most = std::max({kMaxAlternatives, a.objects.size(), b.objects.size()});
  for (const ObjectRef& x : a.objects) {
    for (const ObjectRef& y : b.objects) {
      if (auto found = meet(x, y)) both.objects.push_back(std::move(found));
      if (both.objects.size() > most) throw TooManyAlternatives();
    }
  }
  return both;
}

SchemaAlgebra::Parts SchemaAlgebra::without(Parts a, const Parts& hole) {
  Parts found;
  for (uint32_t terminal : a.terminals) {
    if (const auto left = without(terminal, hole.terminals)) add_new(found.terminals, *left);
  }
  found.arrays = std::move(a.arrays);
  for (const ArrayRef& other : hole.arrays) found.arrays = pieces(found.arrays, other);
  found.objects = std::move(a.objects);
  for (const ObjectRef& other : hole.objects) found.objects = pieces(found.objects, other);
  return found;
}

template <class Shape>
std::vector<Shape> SchemaAlgebra::pieces(const std::vector<Shape>& shapes, const Shape& hole) {
  std::vector<Shape> found;
  for (const Shape& shape : shapes) {
    auto left = without(shape, *hole);
    found.insert(found.end(), left.begin(), left.end());
    if (found.size() > kMaxAlternatives) throw TooManyAlternatives();
  }
  return found;
}

template <class Shape>
void SchemaAlgebra::take(std::optional<Shape>& held, const Shape& met, const Shape& broken,
                         std::vector<std::shared_ptr<const Shape>>& outside) {
  if (!held) return;
  if (auto piece = SchemaIR::shared(meet(*held, broken))) outside.push_back(std::move(piece));
  held = meet(*held, met);
}

// ---- scalars

bool SchemaAlgebra::has(const Parts& parts, uint32_t terminal) {
  return std::find(parts.terminals.begin(), parts.terminals.end(), terminal) != parts.terminals.end();
}

void SchemaAlgebra::meet_kind(Kind kind, uint32_t everything, const Parts& a, const Parts& b, Parts& both) {
  const auto of_kind = [&](const Parts& parts) {
    std::vector<uint32_t> found;
    std::copy_if(parts.terminals.begin(), parts.terminals.end(), std::back_inserter(found),
                 [&](uint32_t t) { return schema_.terminal(t).kind == kind; });
    return found;
  };
  auto of_a = of_kind(a);
  auto of_b = of_kind(b);
  if (has(a, everything)) of_a = of_b;
  if (has(b, everything)) of_b = of_a;
  if (of_a == of_b) {
    both.terminals.insert(both.terminals.end(), of_a.begin(), of_a.end());
    return;
  }
  const uint64_t n_pairs = uint64_t{of_a.size()} * of_b.size();
  // Strings are joined as far as they go, and numbers are not.
  if (kind == SchemaIR::kNumber && n_pairs > kMaxScalarPairs) throw TooManyAlternatives();
  work(n_pairs * kWorkPerScalarPair);
  std::unordered_set<uint32_t> known(both.terminals.begin(), both.terminals.end());
  for (uint32_t s : of_a) {
    for (uint32_t t : of_b) {
      const auto found = meet_terminals(s, t);
      if (found && known.insert(*found).second) both.terminals.push_back(*found);
    }
  }
  if (kind == SchemaIR::kNumber && known.size() > kMaxNumberSets) throw TooManyAlternatives();
}

std::optional<uint32_t> SchemaAlgebra::meet_terminals(uint32_t a, uint32_t b) {
  using Spelling = SchemaIR::Spelling;
  if (a == b) return a;
  // Copies: what is added below moves the terminals.
  const SchemaIR::Terminal s = schema_.terminal(a);
  const SchemaIR::Terminal t = schema_.terminal(b);
  for (const auto& [listed, other] : {std::pair(&s, &t), std::pair(&t, &s)}) {
    if (listed->spelling != Spelling::kListed) continue;
    if (const auto among = schema_.divided(listed->listed, *other)) return schema_.some_listed(among->in);
  }
  if (schema_.plainly_apart(s, t)) return std::nullopt;
  const bool one_pattern = !(s.text.pattern && t.text.pattern && s.text.pattern != t.text.pattern);
  if (s.spelling == Spelling::kText && t.spelling == Spelling::kText && one_pattern) {
    const SchemaIR::Text text{s.text.pattern ? s.text.pattern : t.text.pattern,
                              std::max(s.text.minimum, t.text.minimum), std::min(s.text.maximum, t.text.maximum)};
    if (text.minimum > text.maximum) return std::nullopt;
    if (const auto found = schema_.text(text)) return found;
  }
  if (s.kind == Kind::kNumber) {
    if (s.numbers && t.numbers && NumberSet::can_meet(*s.numbers, *t.numbers))
      return schema_.numbers(*s.numbers & *t.numbers);
    return numbers([&] { return NumberUnion::both(schema_.number_union(s), schema_.number_union(t), spending()); });
  }
  std::string asked = "{\"allOf\":[";
  asked += schema_.definition(a);
  asked += ',';
  asked += schema_.definition(b);
  asked += "]}";
  return ask(asked);
}

std::optional<uint32_t> SchemaAlgebra::without(uint32_t a, const std::vector<uint32_t>& holes) {
  using Spelling = SchemaIR::Spelling;
  using Terminal = SchemaIR::Terminal;
  std::optional<Terminal> rest;  // what is left, once that is less
  std::string unknown;
  std::vector<NumberUnion> taken;
  for (uint32_t hole : holes) {
    const Terminal& s = rest ? *rest : schema_.terminal(a);
    const Terminal& t = schema_.terminal(hole);
    if (t.kind != s.kind) continue;
    if (a == hole || hole == SchemaIR::any_string() || hole == SchemaIR::any_number()) return std::nullopt;
    if (s.spelling == Spelling::kWord) continue;
    if (s.spelling == Spelling::kListed) {
      if (auto among = schema_.divided(s.listed, t)) {
        if (among->out.empty()) return std::nullopt;
        rest = Terminal{s.name, s.kind, s.spelling, std::move(among->out)};
        continue;
      }
    }
    if (schema_.plainly_apart(s, t)) continue;
    if (s.numbers && t.numbers) {
      if (auto numbers = *s.numbers - *t.numbers) {
        if (numbers->is_empty()) return std::nullopt;
        rest = Terminal{s.name, s.kind, s.spelling, {}, {}, std::make_shared<const NumberSet>(*std::move(numbers))};
        continue;
      }
    }
    if (s.kind == Kind::kNumber) {
      taken.push_back(schema_.number_union(t));
    } else {
      if (!unknown.empty()) unknown += ',';
      unknown += schema_.definition(hole);
    }
  }
  uint32_t left = a;
  if (rest && rest->spelling == Spelling::kListed) left = schema_.listed(std::move(rest->listed));
  if (rest && rest->spelling == Spelling::kNumbers) left = schema_.numbers(*rest->numbers).value();
  if (!taken.empty()) {
    const NumberUnion whole = schema_.number_union(schema_.terminal(left));
    return numbers([&] { return NumberUnion::difference(whole, taken, spending()); });
  }
  return unknown.empty() ? left : ask(difference(left, unknown));
}

std::string SchemaAlgebra::difference(uint32_t terminal, std::string_view holes) const {
  std::string definition = "{\"allOf\":[";
  definition += schema_.definition(terminal);
  definition += "],\"not\":{\"anyOf\":[";
  definition += holes;
  return definition += "]}}";
}

std::optional<uint32_t> SchemaAlgebra::ask(const std::string& schema) {
  if (schema.size() > kMaxQuestion) throw TooManyAlternatives();
  return ask_(schema);
}

std::optional<uint32_t> SchemaAlgebra::numbers(const MakeNumbers& make) {
  work(kWorkPerUnion);
  return add_numbers_(make);
}

// ---- arrays

std::optional<SchemaIR::Array> SchemaAlgebra::meet(const Array& a, const Array& b) {
  Array both;
  both.minimum = std::max(a.minimum, b.minimum);
  both.maximum = std::min(a.maximum, b.maximum);
  both.distinct = a.distinct || b.distinct;
  both.distinct_at = a.distinct ? a.distinct_at : b.distinct_at;
  both.repeats = a.repeats || b.repeats;
  both.repeats_at = a.repeats ? a.repeats_at : b.repeats_at;
  both.evaluated = a.evaluated.with(b.evaluated);
  both.witnesses = a.witnesses;
  for (const auto& witness : b.witnesses) add_new(both.witnesses, witness);
  if (both.witnesses.size() > kMaxWitnesses) throw TooManyAlternatives();
  const size_t n_prefix = std::max(a.prefix.size(), b.prefix.size());
  work(n_prefix + 1);
  for (size_t i = 0; i <= n_prefix && i < both.maximum; ++i) {
    const auto x = a.item(i);
    const auto y = b.item(i);
    const ValueId item = x && y ? this->both(*x, *y) : SchemaIR::never();
    if (item == SchemaIR::never()) {
      both.maximum = static_cast<uint32_t>(i);
    } else if (i < n_prefix) {
      both.prefix.push_back(item);
    } else {
      both.rest = item;
    }
  }
  if (is_plainly_empty(both) || has_none(both, 0)) return std::nullopt;
  return both;
}

bool SchemaAlgebra::is_plainly_empty(const Array& array) {
  if (array.minimum > array.maximum || (array.distinct && array.repeats)) return true;
  return std::any_of(array.witnesses.begin(), array.witnesses.end(), [&](const ItemWitness& witness) {
    if (witness.least > witness.most) return true;
    return witness.least > 0 && (witness.value == SchemaIR::never() || array.maximum < witness.start ||
                                 array.maximum - witness.start < witness.least);
  });
}

SchemaIR::Array SchemaAlgebra::of_length(uint32_t minimum, uint32_t maximum) {
  Array array;
  array.rest = SchemaIR::any();
  array.minimum = minimum;
  array.maximum = maximum;
  return array;
}

SchemaIR::Array SchemaAlgebra::containing(uint32_t start, ValueId value, uint32_t least, uint32_t most) {
  if (value == SchemaIR::any())
    return of_length(least == 0 ? 0 : start + least, most == kUnbounded ? kUnbounded : start + most);
  Array array = of_length(0, kUnbounded);
  if (least == 0 && most == 0) {
    array.prefix.assign(start, SchemaIR::any());
    array.rest = neither(value);
    if (array.rest == SchemaIR::never()) array = of_length(0, start);
  } else if (least > 0 || (most != kUnbounded && value != SchemaIR::never())) {
    array.witnesses.push_back({start, value, neither(value), least, most});
  }
  return array;
}

// As for objects.
std::vector<SchemaAlgebra::ArrayRef> SchemaAlgebra::without(const ArrayRef& a, const Array& hole) {
  if (!meet(*a, hole)) return {a};
  std::vector<ArrayRef> outside;
  std::optional<Array> held = *a;
  const auto take = [&](const Array& met, const Array& broken) { this->take(held, met, broken, outside); };
  const auto with_item = [&](size_t index, ValueId item, bool needed) {
    Array array = of_length(needed ? static_cast<uint32_t>(index) + 1 : 0, kUnbounded);
    array.prefix.assign(index, SchemaIR::any());
    array.prefix.push_back(item);
    return array;
  };
  if (hole.minimum > 0) take(of_length(hole.minimum, kUnbounded), of_length(0, hole.minimum - 1));
  const auto n_prefix = static_cast<uint32_t>(hole.prefix.size());
  const auto most = hole.rest ? hole.maximum : std::min(hole.maximum, n_prefix);
  if (most != kUnbounded) take(of_length(0, most), of_length(most + 1, kUnbounded));
  for (uint32_t i = 0; i < n_prefix; ++i) {
    const ValueId item = hole.prefix[i];
    if (item != SchemaIR::any()) take(with_item(i, item, false), with_item(i, neither(item), true));
  }
  if (hole.rest && *hole.rest != SchemaIR::any()) {
    const ValueId wrong = neither(*hole.rest);
    take(containing(n_prefix, wrong, 0, 0), containing(n_prefix, wrong, 1, kUnbounded));
  }
  for (const ItemWitness& witness : hole.witnesses) {
    const auto counted = [&](uint32_t least, uint32_t most) {
      return containing(witness.start, witness.value, least, most);
    };
    if (witness.least > 0) take(counted(witness.least, kUnbounded), counted(0, witness.least - 1));
    if (witness.most != kUnbounded) take(counted(0, witness.most), counted(witness.most + 1, kUnbounded));
  }
  Array distinct = of_length(0, kUnbounded);
  Array repeating = of_length(2, kUnbounded);
  distinct.distinct = repeating.repeats = true;
  distinct.distinct_at = repeating.repeats_at = hole.distinct ? hole.distinct_at : hole.repeats_at;
  if (hole.distinct) take(distinct, repeating);
  if (hole.repeats) take(repeating, distinct);
  return outside;
}

// ---- objects

ValueId SchemaAlgebra::held(const Object& object, uint32_t name) {
  for (const Member& member : object.members) {
    if (member.name == name) return member.value;
  }
  return held(object.kinds(), name);
}

ValueId SchemaAlgebra::held(const std::vector<SchemaIR::KeyClass>& kinds, uint32_t name) {
  for (const auto& kind : kinds) {
    if (admits(kind.keys, name)) return kind.value;
  }
  return SchemaIR::never();
}

SchemaIR::Object SchemaAlgebra::with_member(uint32_t name, ValueId value, bool required) {
  Object object;
  object.others = SchemaIR::any();
  object.members.push_back({name, value, required, false});
  return object;
}

SchemaAlgebra::ObjectRef SchemaAlgebra::meet(const ObjectRef& a, const ObjectRef& b) {
  if (a->is_any()) return b;
  return b->is_any() ? a : SchemaIR::shared(meet(*a, *b));
}

std::optional<SchemaIR::Object> SchemaAlgebra::meet(const Object& a, const Object& b) {
  if (a.is_any()) return b;
  if (b.is_any()) return a;
  work(a.members.size() + b.members.size() + 1);
  work((a.classes.size() * b.members.size() + b.classes.size() * a.members.size()) / kKeysPerStep);
  Object both;
  both.minimum = std::max(a.minimum, b.minimum);
  both.maximum = std::min(a.maximum, b.maximum);
  both.is_overapproximate = a.is_overapproximate || b.is_overapproximate;
  both.evaluated = a.evaluated.with(b.evaluated);
  both.witnesses = a.witnesses;
  for (const auto& witness : b.witnesses) add_new(both.witnesses, witness);
  if (both.witnesses.size() > kMaxWitnesses) throw TooManyAlternatives();
  meet_keys(a, b, both);
  std::unordered_map<uint32_t, const Member*> in_b;
  for (const Member& member : b.members) in_b.emplace(member.name, &member);
  const auto kinds_of_a = a.kinds();
  const auto kinds_of_b = b.kinds();
  both.members.reserve(a.members.size() + b.members.size());
  for (const Member& member : a.members) {
    const auto found = in_b.find(member.name);
    const bool shared = found != in_b.end();
    const ValueId beside = shared ? found->second->value : held(kinds_of_b, member.name);
    add_member({member.name, this->both(member.value, beside), member.required || (shared && found->second->required),
                member.listed || (shared && found->second->listed)},
               both);
    if (shared) in_b.erase(found);
  }
  for (const Member& member : b.members) {
    if (!in_b.contains(member.name)) continue;
    add_member({member.name, this->both(held(kinds_of_a, member.name), member.value), member.required, member.listed},
               both);
  }
  sort_members(a, b, both.members);
  name_besides(both);
  if (is_plainly_empty(both) || has_none(both, 0)) return std::nullopt;
  return both;
}

// That a key must not come has to be said only where other keys may.
void SchemaAlgebra::add_member(const Member& member, Object& object) {
  const bool closed = !object.others && object.classes.empty();
  if (!member.required && closed && member.value == SchemaIR::never()) return;
  object.members.push_back(member);
}

// Those that properties list first, each kind from left to right.
void SchemaAlgebra::sort_members(const Object& a, const Object& b, std::vector<Member>& members) {
  std::unordered_map<uint32_t, size_t> rank;
  for (const Object* object : {&a, &b}) {
    for (const Member& member : object->members) {
      if (member.listed) rank.emplace(member.name, rank.size());
    }
  }
  std::vector<std::pair<size_t, size_t>> order;  // rank, place
  order.reserve(members.size());
  for (const Member& member : members) {
    const auto found = rank.find(member.name);
    order.emplace_back(found == rank.end() ? rank.size() : found->second, order.size());
  }
  if (std::is_sorted(order.begin(), order.end())) return;
  std::sort(order.begin(), order.end());
  std::vector<Member> sorted;
  sorted.reserve(members.size());
  for (const auto& [_, place] : order) sorted.push_back(members[place]);
  members = std::move(sorted);
}

void SchemaAlgebra::meet_keys(const Object& a, const Object& b, Object& both) {
  const auto kinds_of_a = a.kinds();
  const auto kinds_of_b = b.kinds();
  work(kinds_of_a.size() * kinds_of_b.size());
  for (size_t i = 0; i < kinds_of_a.size(); ++i) {
    for (size_t j = 0; j < kinds_of_b.size(); ++j) {
      const ValueId value = this->both(kinds_of_a[i].value, kinds_of_b[j].value);
      if (value == SchemaIR::never()) continue;
      const auto keys = this->both(kinds_of_a[i].keys, kinds_of_b[j].keys);
      if (!keys) continue;
      if (i >= a.classes.size() && j >= b.classes.size()) {
        both.others = value;
        both.others_keys = *keys;
      } else {
        both.classes.push_back({*keys, value});
      }
    }
  }
  const auto overlaps = [](const auto& c) { return c.keys.met.size() > 1; };
  const auto n_overlaps = std::count_if(both.classes.begin(), both.classes.end(), overlaps);
  if (are_too_many(both.classes.size(), static_cast<size_t>(n_overlaps)))
    throw Unsupported{SchemaRefusal::Kind::kKeyClasses};
}

void SchemaAlgebra::restrict_keys(const Object& allowed, Object& object) {
  for (Member& member : object.members) member.value = both(member.value, held(allowed, member.name));
  Object keys;
  meet_keys(object, allowed, keys);
  object.classes = std::move(keys.classes);
  object.others = keys.others;
  object.others_keys = std::move(keys.others_keys);
}

std::optional<SchemaIR::Keys> SchemaAlgebra::both(const SchemaIR::Keys& a, const SchemaIR::Keys& b) {
  auto keys = KeyConditions::both(a, b);
  if (!keys) return std::nullopt;
  const auto has_keys = keys_.has_keys(*keys, {});
  if (!has_keys) throw keys_.exceeded();
  return *has_keys ? keys : std::nullopt;
}

bool SchemaAlgebra::admits(const SchemaIR::Keys& keys, uint32_t name) {
  const auto found = keys_.admits(keys, name);
  if (!found) throw keys_.exceeded();
  return *found;
}

bool SchemaAlgebra::is_plainly_empty(const Object& object) {
  if (std::max<size_t>(object.minimum, object.n_required()) > object.maximum) return true;
  if (object.others || !object.classes.empty()) return false;
  const auto may_come = [&](const Member& member) { return member.value != SchemaIR::never(); };
  if (static_cast<size_t>(std::count_if(object.members.begin(), object.members.end(), may_come)) < object.minimum)
    return true;
  return std::any_of(object.witnesses.begin(), object.witnesses.end(), [&](const KeyWitness& witness) {
    return std::none_of(object.members.begin(), object.members.end(),
                        [&](const Member& member) { return may_come(member) && witness.admits(member.name); });
  });
}

// Whether a key that one of them needs cannot have a value of both.
bool SchemaAlgebra::share_none(const Object& a, const Object& b) {
  work(a.n_required() + b.n_required() + 1);
  for (const Object* object : {&a, &b}) {
    for (const Member& member : object->members) {
      if (member.required && is_never(both(held(a, member.name), held(b, member.name)))) return true;
    }
  }
  return false;
}

// The alternatives are disjoint: each breaks one condition of the hole and meets those before it. What tells
// alternatives of a schema apart is mostly the value of a required member, so these come first.
std::vector<SchemaAlgebra::ObjectRef> SchemaAlgebra::without(const ObjectRef& a, const Object& hole) {
  if (hole.is_any()) return {};
  // Which of the objects are of the shape is unknown.
  if (hole.is_overapproximate) return {a};
  if (share_none(*a, hole) || !meet(*a, hole)) return {a};
  std::vector<ObjectRef> outside;
  std::optional<Object> held = *a;
  const auto take = [&](const Object& met, const Object& broken) { this->take(held, met, broken, outside); };
  for (bool required : {true, false}) {
    for (const Member& member : hole.members) {
      if (member.required != required || (!required && member.value == SchemaIR::any())) continue;
      take(with_member(member.name, member.value, required),
           with_member(member.name, neither(member.value), !required));
    }
  }
  const auto counted = [](uint32_t minimum, uint32_t maximum) {
    Object object;
    object.others = SchemaIR::any();
    object.minimum = minimum;
    object.maximum = maximum;
    return object;
  };
  if (hole.minimum > 0) take(counted(hole.minimum, kUnbounded), counted(0, hole.minimum - 1));
  if (hole.maximum != kUnbounded) take(counted(0, hole.maximum), counted(hole.maximum + 1, kUnbounded));
  for (const KeyWitness& witness : hole.witnesses) take(with_witness(witness), without_witness(witness));
  if (!held || (!hole.has_classes() && hole.others == SchemaIR::any())) return outside;
  if (!held->others && held->classes.empty()) {
    // The names that it may have are few, so each is a condition of its own.
    const auto members = held->members;
    for (const Member& member : members) {
      const bool named = std::any_of(hole.members.begin(), hole.members.end(),
                                     [&](const Member& other) { return other.name == member.name; });
      const ValueId value = this->held(hole, member.name);
      if (!named && value != SchemaIR::any())
        take(with_member(member.name, value, false), with_member(member.name, neither(value), true));
    }
    return outside;
  }
  for (const KeyWitness& other : other_keys(hole)) take(without_witness(other), with_witness(other));
  return outside;
}

std::vector<SchemaIR::KeyWitness> SchemaAlgebra::other_keys(const Object& object) {
  std::vector<uint32_t> names;
  for (const Member& member : object.members) names.push_back(member.name);
  std::sort(names.begin(), names.end(),
            [&](uint32_t x, uint32_t y) { return schema_.name_at(x) < schema_.name_at(y); });
  if (!object.has_classes()) return {{names, object.others ? neither(*object.others) : SchemaIR::any()}};
  std::vector<KeyWitness> found;
  std::vector<SchemaIR::Keys> outside{{}};
  for (const auto& kind : object.kinds()) {
    if (kind.value != SchemaIR::any()) found.push_back({names, neither(kind.value), kind.keys});
    std::vector<SchemaIR::Keys> left;
    for (const auto& keys : outside) {
      for (auto& piece : difference(keys, kind.keys)) left.push_back(std::move(piece));
    }
    work(left.size());
    outside = std::move(left);
  }
  for (auto& keys : outside) found.push_back({names, SchemaIR::any(), std::move(keys)});
  return found;
}

void SchemaAlgebra::name_besides(Object& object) {
  for (KeyWitness& witness : object.witnesses) {
    if (witness.keys.is_any()) continue;
    work(object.members.size() / kKeysPerStep + 1);
    for (const Member& member : object.members) {
      if (witness.admits(member.name) && !admits(witness.keys, member.name)) witness.besides.push_back(member.name);
    }
  }
}

SchemaIR::Object SchemaAlgebra::without_witness(const KeyWitness& witness) {
  Object found;
  for (uint32_t name : witness.besides) found.members.push_back({name, SchemaIR::any(), false, false});
  const auto held = witness.value == SchemaIR::any() ? std::nullopt : std::optional(neither(witness.value));
  if (witness.keys.is_any()) {
    found.others = held;
    return found;
  }
  if (held) found.classes.push_back({witness.keys, *held});
  for (auto& keys : difference({}, witness.keys)) {
    if (found.others) found.classes.push_back({std::move(found.others_keys), *found.others});
    found.others = SchemaIR::any();
    found.others_keys = std::move(keys);
  }
  return found;
}

SchemaIR::Object SchemaAlgebra::with_witness(const KeyWitness& witness) {
  Object found;
  for (uint32_t name : witness.besides) found.members.push_back({name, SchemaIR::any(), false, false});
  found.others = SchemaIR::any();
  found.witnesses.push_back(witness);
  return found;
}

}  // namespace cfgmask
