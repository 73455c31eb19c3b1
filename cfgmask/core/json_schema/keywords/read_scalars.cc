#include <algorithm>
#include <utility>

#include "json_schema/keywords/schema_reading.h"
#include "json_schema/spelling/doubles.h"
#include "json_schema/spelling/number_spelling.h"
#include "util/hash_table.h"
#include "util/text_hash.h"

namespace cfgmask {

SchemaReading::Types SchemaReading::allowed_types(Held type) const {
  if (!type) return {};
  Types types{0, true};
  const auto add = [&](JsonId name) {
    const std::string_view called = text(name);
    const uint32_t kind = kind_of(called);
    require(kind != 0);
    types.kinds |= kind;
    if (called == "number") types.integers = false;
  };
  if (is_array(*type)) {
    for (JsonId name : items(*type)) add(name);
  } else {
    add(*type);
  }
  require(types.kinds != 0);
  if ((types.kinds & SchemaIR::kNumber) == 0) types.integers = false;
  return types;
}

uint32_t SchemaReading::kind_of(std::string_view type) {
  if (type == "string") return SchemaIR::kString;
  if (type == "object") return SchemaIR::kObject;
  if (type == "integer" || type == "number") return SchemaIR::kNumber;
  if (type == "array") return SchemaIR::kArray;
  if (type == "boolean") return SchemaIR::kBoolean;
  if (type == "null") return SchemaIR::kNull;
  return 0;
}

void SchemaReading::check_scalar_keywords(const Said& said) const {
  for (Keyword keyword : kOfNumbers) {
    if (!said[keyword]) continue;
    const bool exclusive = keyword == kExclusiveMinimum || keyword == kExclusiveMaximum;
    const bool is_bound = !exclusive || reader().exclusive_ != SchemaReader::Exclusive::kBoolean;
    const bool is_mark = exclusive && reader().exclusive_ != SchemaReader::Exclusive::kNumber;
    if (!is_bound || !is_number(*said[keyword])) {
      require(is_mark && is_boolean(*said[keyword]));
      continue;
    }
    // It has to be one that can be held, though there may be no numbers here.
    const Decimal number = decimal(*said[keyword]);
    require(keyword != kMultipleOf || number > Decimal());
  }
  for (Keyword keyword : {kMinLength, kMaxLength}) {
    if (said[keyword]) count(*said[keyword]);
  }
  for (Keyword keyword : {kPattern, kFormat}) {
    if (said[keyword]) require(is_text(*said[keyword]));
  }
}

void SchemaReading::add_scalars(const Said& said, Types types, Value& value) {
  if ((types.kinds & SchemaIR::kNull) != 0) value.terminals.push_back(SchemaIR::null());
  if ((types.kinds & SchemaIR::kBoolean) != 0) {
    value.terminals.push_back(SchemaIR::true_());
    value.terminals.push_back(SchemaIR::false_());
  }
  if ((types.kinds & SchemaIR::kNumber) != 0) {
    add_terminal(numbers(types, said), value);
  }
  if ((types.kinds & SchemaIR::kString) != 0) {
    add_terminal(string(said), value);
  }
}

std::optional<SchemaIR::Text> SchemaReading::text_conditions(const Said& said) {
  SchemaIR::Text text_of;
  text_of.minimum = count_or(said[kMinLength], 0);
  text_of.maximum = count_or(said[kMaxLength], kUnbounded);
  bool is_plain = !said[kFormat] || !reader().strings_->has_format(text(*said[kFormat]));
  if (said[kPattern]) {
    text_of.pattern = simple_pattern(text(*said[kPattern]));
    is_plain = is_plain && text_of.pattern.has_value();
  }
  return is_plain ? std::optional(text_of) : std::nullopt;
}

std::optional<uint32_t> SchemaReading::simple_pattern(std::string_view pattern) {
  return reader().strings_->reads_ecma() ? schema_.pattern(pattern, max_nesting_, properties_) : std::nullopt;
}

std::optional<uint32_t> SchemaReading::string(const Said& said) {
  if (!said.has_any(kOfStrings)) return SchemaIR::any_string();
  if (count_or(said[kMinLength], 0) > count_or(said[kMaxLength], kUnbounded)) return std::nullopt;
  const auto conditions = text_conditions(said);
  const auto found = conditions ? schema_.text(*conditions) : std::nullopt;
  return found ? found : strings(said);
}

std::optional<uint32_t> SchemaReading::numbers(Types types, const Said& said, const std::vector<JsonId>& listed) {
  using Integers = NumberSet::Integers;
  const bool draft_4 = reader().exclusive_ == SchemaReader::Exclusive::kBoolean;
  NumberSet set(!types.integers ? Integers::kNo : draft_4 ? Integers::kUnfractioned : Integers::kYes);
  for (const auto& [keyword, mark] : {std::pair(kMinimum, kExclusiveMinimum), std::pair(kMaximum, kExclusiveMaximum)}) {
    const auto side = keyword == kMinimum ? NumberSet::from : NumberSet::to;
    const bool is_marked = said[mark] && is(*said[mark], Json::kTrue);
    if (said[keyword]) set = set & side({decimal(*said[keyword]), is_marked});
    if (said[mark] && is_number(*said[mark])) set = set & side({decimal(*said[mark]), true});
  }
  if (said[kMultipleOf]) {
    const auto step = NumberStep::of(decimal(*said[kMultipleOf]));
    const auto multiples = step ? std::optional(NumberSet::multiples(*step)) : std::nullopt;
    if (!multiples || !NumberSet::can_meet(set, *multiples)) {
      refuse(SchemaRefusal::Kind::kMultipleOf, algebra_.place());
    } else {
      algebra_.work(kWorkPerRule * kStepsPerQuestion);
      set = set & *multiples;
    }
  }
  if (!listed.empty()) {
    std::vector<Decimal> values;
    values.reserve(listed.size());
    for (JsonId value : listed) values.push_back(decimal(value));
    NumberSet found = NumberSet::of(std::move(values));
    set = set.is_everything() ? std::move(found) : set & found;
  }
  return schema_.numbers(std::move(set));
}

std::optional<uint32_t> SchemaReading::added_numbers(const SchemaAlgebra::MakeNumbers& make) {
  // All searches of a schema take as much as so many of the longest kind.
  static constexpr uint64_t kSearches = 2;
  try {
    const NumberUnion made = make();
    if (!number_regexes_) number_regexes_ = std::make_unique<RegexStore>(max_nesting_, max_search_steps_);
    const NumberStyle style{kUnbounded, reader().numbers_};
    if (number_regexes_->n_search_steps() > kSearches * max_search_steps_)
      throw LimitExceeded("max_search_steps", max_search_steps_);
    return schema_.numbers(made.with_numbers(*number_regexes_, style));
  } catch (const NumberUnion::TooManyDigits&) {
    refuse(SchemaRefusal::Kind::kMultipleOf, algebra_.place());
    return SchemaIR::any_number();
  } catch (const NumberUnion::TooManyShapes&) {
    throw SchemaAlgebra::TooManyAlternatives();
  }
}

Decimal SchemaReading::decimal(JsonId number) const {
  auto found = Decimal::parse(document_.text(number));
  require(found.has_value());
  // Of others, where they stand decides what is wrong with them.
  if (reader().numbers_ == NumberStyle::Spelling::kPlain && refusals_ == nullptr)
    require(found->is_integer() ? found->whole.size() <= NumberSpelling::kMostWhole : doubles::is_printed(*found));
  return *std::move(found);
}

std::optional<uint32_t> SchemaReading::strings(const Said& said, const std::vector<JsonId>& listed) {
  std::string asked = "{\"type\":\"string\"";
  const auto begin = [&](std::string_view keyword) { (asked += ",\"").append(keyword) += "\":"; };
  for (Keyword keyword : kOfStrings) {
    if (!said[keyword]) continue;
    begin(kKeywordNames[keyword]);
    document_.write(*said[keyword], asked);
  }
  for (size_t i = 0; i < listed.size(); ++i) {
    if (i == 0) begin("enum");
    asked += i == 0 ? '[' : ',';
    document_.write(listed[i], asked);
  }
  if (!listed.empty()) asked += ']';
  return ask_strings(asked + '}');
}

ValueId SchemaReading::listed(const Said& said, Types types, const Value& shape) {
  if (said[kEnum] && said[kConst]) {
    Said without_constant = said;
    without_constant.remove(kConst);
    return both(listed(without_constant, types, shape), constant(*said[kConst], shape.name), shape.name);
  }
  Value value;
  value.name = shape.name;
  std::vector<JsonId> composites;
  std::vector<std::string> texts;
  HashIndex seen;
  std::vector<JsonId> strings;
  std::vector<JsonId> listed_numbers;
  std::array<bool, 3> words{};
  const auto add = [&](JsonId item) {
    if (is_text(item)) {
      const std::string_view found = text(item);
      const auto hash = static_cast<uint32_t>(text_hash(found));
      if ((types.kinds & SchemaIR::kString) == 0 || seen.find(hash, [&](uint32_t i) { return texts[i] == found; }))
        return;
      seen.insert(hash, static_cast<uint32_t>(texts.size()));
      texts.emplace_back(found);
      strings.push_back(item);
    } else if (is_number(item)) {
      if ((types.kinds & SchemaIR::kNumber) != 0) listed_numbers.push_back(item);
    } else if (is_boolean(item)) {
      if ((types.kinds & SchemaIR::kBoolean) != 0)
        words[is_false(item) ? SchemaIR::false_() : SchemaIR::true_()] = true;
    } else if (is(item, Json::kNull)) {
      if ((types.kinds & SchemaIR::kNull) != 0) words[SchemaIR::null()] = true;
    } else {
      composites.push_back(item);
    }
  };
  if (said[kEnum]) {
    for (JsonId item : items(*said[kEnum])) add(item);
  } else {
    add(*said[kConst]);
  }
  for (uint32_t word = 0; word < words.size(); ++word) {
    if (words[word]) value.terminals.push_back(word);
  }
  if (!listed_numbers.empty()) add_terminal(numbers(types, said, listed_numbers), value);
  if (!said.has_any(kOfStrings)) {
    add_terminal(schema_.some_listed(std::move(texts)), value);
  } else if (!texts.empty()) {
    const auto conditions = text_conditions(said);
    auto divided = conditions ? schema_.divided(texts, *conditions) : std::nullopt;
    const auto found = divided ? schema_.some_listed(std::move(divided->in)) : this->strings(said, strings);
    add_terminal(found, value);
  }
  std::vector<ValueId> parts{added(std::move(value))};
  const Value& any = schema_.at(SchemaIR::any());
  std::optional<ValueId> shapes;
  for (JsonId composite : composites) {
    const ValueId exactly = constant(composite, shape.name);
    const bool is_free = is_array(composite) ? shape.array == any.array : shape.object == any.object;
    if (!is_free && !shapes) shapes = added(shape);
    parts.push_back(is_free ? exactly : both(exactly, *shapes, shape.name));
  }
  return either(std::move(parts), shape.name);
}

ValueId SchemaReading::constant(JsonId json, const std::string& pointer) {
  Value value;
  if (is_array(json)) {
    SchemaIR::Array array;
    array.prefix.reserve(items(json).size());
    for (JsonId item : items(json)) array.prefix.push_back(constant(item, pointer));
    array.minimum = array.maximum = static_cast<uint32_t>(array.prefix.size());
    value.array = std::make_shared<SchemaIR::Array>(std::move(array));
  } else if (is_object(json)) {
    SchemaIR::Object object;
    object.members.reserve(members(json).size());
    for (const auto& [key, held] : members(json))
      object.members.push_back({schema_.name(document_.key_text(key)), constant(held, pointer), true, true});
    value.object = std::make_shared<SchemaIR::Object>(std::move(object));
  } else if (is_text(json)) {
    value.terminals.push_back(schema_.listed({std::string(text(json))}));
  } else if (is_number(json)) {
    add_terminal(schema_.numbers(NumberSet::of({decimal(json)})), value);
  } else {
    value.terminals.push_back(is(json, Json::kNull) ? SchemaIR::null()
                              : is_false(json)      ? SchemaIR::false_()
                                                    : SchemaIR::true_());
  }
  return added(std::move(value), pointer);
}

std::optional<uint32_t> SchemaReading::ask_strings(const std::string& schema) {
  const auto [at, is_new] = answers_.try_emplace(schema, std::nullopt);
  if (!is_new) return at->second;
  algebra_.work(kWorkPerRule * (kStepsPerQuestion + schema.size() / kCharactersPerStep));
  auto strings = strings_.strings(schema);
  require(strings.has_value());
  if (strings->regex != nullptr) {
    at->second = schema_.outside(std::move(strings->regex), schema);
  } else {
    at->second = schema_.some_listed(std::move(strings->listed));
  }
  return at->second;
}

}  // namespace cfgmask
