#include "schema/plain_rules.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "regex/endless.h"
#include "schema/witnesses.h"

namespace cfgmask {

namespace {

// What messages show of a terminal; the Python front end cuts names in the same way.
constexpr size_t kMaxName = 60;
constexpr size_t kShownValues = 8;

std::string shortened(std::string name) {
  size_t characters = 0;
  size_t cut = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    if ((static_cast<uint8_t>(name[i]) & 0xC0) == 0x80) continue;
    if (characters++ == kMaxName - 3) cut = i;
  }
  if (characters <= kMaxName) return name;
  name.resize(cut);
  return name + "...";
}

// A string as JSON writes it, with no more escapes than it needs.
std::string shown(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (char c : text) {
    switch (c) {
      case '"':
      case '\\':
        out += '\\';
        out += c;
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      default:
        if (static_cast<uint8_t>(c) < 0x20) {
          out += "\\u00";
          out += kHex[c >> 4];
          out += kHex[c & 15];
        } else {
          out += c;
        }
    }
  }
  return out + '"';
}

// Whether a text may be written with escapes where printable characters stand as themselves alone.
bool has_escapes(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return c < ' ' || c > '~' || c == '"' || c == '/' || c == '\\'; });
}

class Rules {
 public:
  Rules(const PlainSchema& schema, GrammarBuilder& builder, uint32_t scope, std::span<const uint32_t> outside,
        std::span<const std::string> outside_names, uint32_t max_digits)
      : schema_(schema),
        builder_(builder),
        scope_(scope),
        outside_(outside),
        outside_names_(outside_names),
        max_digits_(max_digits),
        terminals_(schema.n_terminals()),
        values_(schema.n_values()) {
    open_object_ = mark("{");
    close_object_ = mark("}");
    open_array_ = mark("[");
    close_array_ = mark("]");
    comma_ = mark(",");
    colon_ = mark(":");
  }

  uint32_t all() {
    const uint32_t start = rule_of(schema_.root());
    while (!todo_.empty()) {
      const PlainValueId id = todo_.back();
      todo_.pop_back();
      add_value(id);
    }
    return start;
  }

 private:
  using Symbols = std::vector<uint32_t>;

  uint32_t mark(std::string text) {
    const RegexId regex = builder_.with([&](RegexStore& r) { return r.literal(text); });
    return builder_.terminal(regex.value, scope_, 0, shown(text));
  }

  // A string that is written as one of these, or as a key: printable characters only as themselves. Most have one
  // spelling, whose bytes a lexer steps through in a third of the time that it takes to decode them.
  RegexId fixed(std::vector<std::string> texts) {
    return builder_.with([&](RegexStore& r) {
      const auto spelled = std::partition(texts.begin(), texts.end(), has_escapes);
      std::for_each(spelled, texts.end(), [](std::string& text) { text.insert(0, 1, '"').push_back('"'); });
      std::vector<std::string> quoted;
      std::move(spelled, texts.end(), std::back_inserter(quoted));
      texts.erase(spelled, texts.end());
      const RegexId others = texts.empty() ? RegexStore::nothing() : r.key_set(std::move(texts));
      return r.alternation({r.key_set(std::move(quoted)), r.json_string(others, JsonEscapes::kLiteral)});
    });
  }

  // The same as one string, of which values can be taken away.
  RegexId listed(std::vector<std::string> texts) {
    return builder_.with(
        [&](RegexStore& r) { return r.json_string(r.key_set(std::move(texts)), JsonEscapes::kLiteral); });
  }

  uint32_t key(uint32_t name) {
    if (name >= keys_.size()) keys_.resize(name + 1);
    const std::string& text = schema_.name_at(name);
    if (!keys_[name]) keys_[name] = builder_.terminal(fixed({text}).value, scope_, 0, shortened(shown(text)));
    return *keys_[name];
  }

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
    return builder_.with([&](RegexStore& r) {
      std::vector<RegexId> all;
      for (const auto& c : object.classes) {
        if (is_live(c)) all.push_back(schema_.keys_regex(c.keys, r, outside_));
      }
      if (has_others) all.push_back(schema_.keys_regex(object.others_keys, r, outside_));
      const RegexId either = r.alternation(std::move(all));
      const auto [at, is_new] = endless_.try_emplace(either, false);
      if (is_new) at->second = is_endless_at_sight(either, r);
      return at->second;
    });
  }

  static bool is_endless_at_sight(RegexId keys, RegexStore& r) {
    try {
      return is_endless(r, keys);
    } catch (const LimitExceeded&) {
      return false;
    }
  }

  // The keys of a class but those of the members; all keys but those where there are no classes.
  uint32_t other_key(const PlainSchema::Object& object, const PlainSchema::Keys& keys, Register seen) {
    std::vector<std::string> names;
    for (const auto& member : object.members) names.push_back(schema_.name_at(member.name));
    const RegexId regex = builder_.with([&](RegexStore& r) {
      std::vector<RegexId> conditions{schema_.keys_regex(keys, r, outside_)};
      if (!names.empty()) conditions.push_back(r.complement(r.key_set(std::move(names))));
      const RegexId body = conditions.size() == 1 ? conditions[0] : r.intersection(std::move(conditions));
      return r.json_string(body, JsonEscapes::kAny);
    });
    const uint32_t made = builder_.terminal(regex.value, scope_, 0, "KEY", seen != Register::kNone);
    if (seen == Register::kEndless) builder_.endless(made);
    return made;
  }

  // A key that is no member, and its value; one rule where there are several kinds.
  std::optional<Symbols> other_member(const PlainSchema::Object& object, const std::string& name, Register seen) {
    std::vector<Symbols> ways;
    for (const auto& c : object.classes) {
      if (schema_.is_live(c.value)) ways.push_back({other_key(object, c.keys, seen), colon_, symbol_of(c.value)});
    }
    if (object.others && schema_.is_live(*object.others))
      ways.push_back({other_key(object, object.others_keys, seen), colon_, symbol_of(*object.others)});
    if (ways.empty()) return std::nullopt;
    if (ways.size() == 1) return ways[0];
    const uint32_t either = builder_.nonterminal(name + ".other");
    for (const Symbols& way : ways) builder_.alternative(either, way);
    return Symbols{either};
  }

  uint32_t terminal(uint32_t index) {
    auto& made = terminals_[index];
    if (!made) made = new_terminal(schema_.terminal(index), false);
    return *made;
  }

  // A terminal of an item that must not be equal to another.
  uint32_t distinct_terminal(uint32_t index) {
    const auto [at, is_new] = distinct_terminals_.try_emplace(index, 0);
    if (is_new) at->second = new_terminal(schema_.terminal(index), true);
    return at->second;
  }

  uint32_t new_terminal(const PlainSchema::Terminal& terminal, bool distinct) {
    const auto made = [&](RegexId regex, std::string name) {
      return builder_.terminal(regex.value, scope_, 0, std::move(name), distinct);
    };
    switch (terminal.spelling) {
      case PlainSchema::Spelling::kWord: {
        const RegexId regex = builder_.with([&](RegexStore& r) { return r.literal(terminal.name); });
        return made(regex, terminal.name);
      }
      case PlainSchema::Spelling::kAnyString: {
        return made(string(terminal), terminal.name);
      }
      case PlainSchema::Spelling::kListed: {
        std::string name;
        for (size_t i = 0; i < std::min(terminal.listed.size(), kShownValues); ++i)
          name += (i == 0 ? "" : " | ") + shown(terminal.listed[i]);
        return made(distinct ? listed(terminal.listed) : fixed(terminal.listed), shortened(std::move(name)));
      }
      case PlainSchema::Spelling::kText: {
        return made(string(terminal), terminal.name);
      }
      case PlainSchema::Spelling::kNumbers: {
        using Exponents = NumberSet::Exponents;
        const RegexId regex = builder_.with([&](RegexStore& r) {
          return terminal.numbers.regex(r, max_digits_, distinct ? Exponents::kNo : Exponents::kYes);
        });
        return made(regex, terminal.name);
      }
      case PlainSchema::Spelling::kOutside:
        break;
    }
    return made(RegexId(outside_[terminal.outside]), outside_names_[terminal.outside]);
  }

  RegexId string(const PlainSchema::Terminal& terminal) {
    return builder_.with(
        [&](RegexStore& r) { return r.json_string(schema_.text_regex(terminal, r), JsonEscapes::kAny); });
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
    auto& rule = values_[id.value];
    if (!rule) {
      rule = builder_.nonterminal(schema_.at(id).name);
      todo_.push_back(id);
    }
    return *rule;
  }

  void add_value(PlainValueId id) {
    const PlainSchema::Value& value = schema_.at(id);
    const uint32_t rule = *values_[id.value];
    for (uint32_t t : value.terminals) builder_.alternative(rule, Symbols{terminal(t)});
    for (PlainValueId alternative : value.alternatives) {
      if (schema_.is_live(alternative)) builder_.alternative(rule, Symbols{symbol_of(alternative)});
    }
    if (value.array) add_array(rule, *value.array, value.name);
    if (value.object) add_object(rule, *value.object, value.name);
  }

  // Each state, so many of the items written, is a rule whose calls stand in tail position.
  void add_array(uint32_t rule, const PlainSchema::Array& array, const std::string& name) {
    if (!array.witnesses.empty()) return add_array_with_witnesses(rule, array, name);
    if (array.forbids_equal_items()) {
      const uint32_t whole = builder_.nonterminal(name, SetBounds{});
      builder_.alternative(rule, Symbols{whole});
      rule = whole;
    }
    uint32_t state = builder_.nonterminal(name + ".0");
    builder_.alternative(rule, Symbols{open_array_, state});
    for (uint32_t i = 0; i < array.prefix.size(); ++i) {
      if (i >= array.minimum) builder_.alternative(state, Symbols{close_array_});
      if (i >= array.maximum || !schema_.is_live(array.prefix[i])) return;
      const uint32_t next = builder_.nonterminal(name + "." + std::to_string(i + 1));
      Symbols item = separated(i > 0);
      item.insert(item.end(), {item_of(array, array.prefix[i]), next});
      builder_.alternative(state, item);
      state = next;
    }
    add_further_items(state, array, static_cast<uint32_t>(array.prefix.size()), name);
  }

  // What follows items that have a position of their own.
  void add_further_items(uint32_t state, const PlainSchema::Array& array, uint32_t written, const std::string& name) {
    const uint32_t least = array.minimum > written ? array.minimum - written : 0;
    const uint32_t most = array.maximum == kUnbounded ? kUnbounded : array.maximum - std::min(array.maximum, written);
    if (!array.rest || most == 0 || !schema_.is_live(*array.rest)) {
      if (least == 0) builder_.alternative(state, Symbols{close_array_});
      return;
    }
    add_repeated(state, written > 0, Symbols{item_of(array, *array.rest)}, least, most, close_array_, name);
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
    const uint32_t rule = at->second = builder_.nonterminal(value.name);
    for (uint32_t t : value.terminals) builder_.alternative(rule, Symbols{distinct_terminal(t)});
    for (PlainValueId alternative : value.alternatives) {
      if (schema_.is_live(alternative))
        builder_.alternative(rule, Symbols{distinct_scalar(schema_.resolved(alternative))});
    }
    return rule;
  }

  void add_array_with_witnesses(uint32_t rule, const PlainSchema::Array& array, const std::string& name) {
    const auto states = item_states(array, common_).value();
    std::vector<uint32_t> rules;
    for (const ItemState& state : states)
      rules.push_back(builder_.nonterminal(name + "." + std::to_string(state.position)));
    builder_.alternative(rule, Symbols{open_array_, rules[0]});
    for (size_t i = 0; i < states.size(); ++i) {
      const ItemState& state = states[i];
      if (state.is_met) {
        add_further_items(rules[i], array, state.position, name);
        continue;
      }
      if (state.may_end) builder_.alternative(rules[i], Symbols{close_array_});
      for (const auto& item : state.items) {
        if (!schema_.is_live(item.value)) continue;
        Symbols written = separated(state.position > 0);
        written.insert(written.end(), {symbol_of(item.value), rules[item.after]});
        builder_.alternative(rules[i], written);
      }
    }
  }

  // So many keys written, and which witnesses are still missing, as bits.
  using Progress = std::pair<uint32_t, uint32_t>;

  // Each state, so many of the members passed and what was written of them, is a rule whose calls stand in tail
  // position.
  void add_object(uint32_t rule, PlainSchema::Object object, const std::string& name) {
    for (const auto& member : object.members) {
      if (member.required && !schema_.is_live(member.value)) return;
    }
    object.drop_idle_bounds();
    const auto most = object.maximum == kUnbounded ? 0 : object.maximum;
    const auto counted_to = static_cast<uint32_t>(std::max({1U, object.minimum, most}));
    // The states before a member.
    const Progress start{0, (1U << object.witnesses.size()) - 1};
    std::map<Progress, uint32_t> now{{start, builder_.nonterminal(name + ".0")}};
    const Register seen = register_of(object);
    uint32_t whole = rule;
    if (seen != Register::kNone) {
      SetBounds bounds;
      bounds.endless = seen == Register::kEndless;
      whole = builder_.nonterminal(name, std::move(bounds));
      builder_.alternative(rule, Symbols{whole});
    }
    builder_.alternative(whole, Symbols{open_object_, now[start]});
    for (size_t i = 0; i < object.members.size(); ++i) {
      const PlainSchema::Member& member = object.members[i];
      std::map<Progress, uint32_t> next;
      const auto state = [&](Progress progress) {
        const auto [at, is_new] = next.try_emplace(progress, 0);
        if (is_new) at->second = builder_.nonterminal(name + "." + std::to_string(i + 1));
        return at->second;
      };
      for (const auto& [progress, rule_before] : now) {
        const auto [written, missing] = progress;
        for (const KeyWay& way : key_ways(object, member.name, member.value, missing, common_)) {
          if (written >= object.maximum || !schema_.is_live(way.value)) continue;
          Symbols taken = separated(written > 0);
          const uint32_t after = state({std::min(written + 1, counted_to), way.missing});
          taken.insert(taken.end(), {key(member.name), colon_, symbol_of(way.value), after});
          builder_.alternative(rule_before, taken);
        }
        if (!member.required) builder_.alternative(rule_before, Symbols{state(progress)});
      }
      now = std::move(next);
    }
    if (object.has_valued_witnesses() && object.others) add_ways_of_others(object, now, counted_to, seen, name);
    const auto other = other_member(object, name, seen);
    for (const auto& [progress, state] : now) {
      const auto [written, missing] = progress;
      if (missing != 0 && object.has_valued_witnesses()) continue;
      // A key without a name is what all witnesses wait for.
      const uint32_t needed = missing == 0 ? 0 : 1;
      const uint32_t least = std::max(needed, object.minimum > written ? object.minimum - written : 0);
      const uint32_t further = object.maximum == kUnbounded ? kUnbounded : object.maximum - written;
      if (other && further >= std::max(1U, least)) {
        add_repeated(state, written > 0, *other, least, further, close_object_, name);
      } else if (least == 0) {
        builder_.alternative(state, Symbols{close_object_});
      }
    }
  }

  // Adds the states that other keys lead to where some of them must have a certain value, and the keys.
  void add_ways_of_others(const PlainSchema::Object& object, std::map<Progress, uint32_t>& states, uint32_t counted_to,
                          Register seen, const std::string& name) {
    const uint32_t key = other_key(object, object.others_keys, seen);
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
          at->second = builder_.nonterminal(name + "." + std::to_string(object.members.size()));
          todo.push_back(after);
        }
        Symbols taken = separated(written > 0);
        taken.insert(taken.end(), {key, colon_, symbol_of(way.value), at->second});
        builder_.alternative(states.at(before), taken);
      }
    }
  }

  // `body`, separated by commas, so many times, then the closing mark; `some`: a comma comes before the first too.
  void add_repeated(uint32_t state, bool some, const Symbols& body, uint32_t least, uint32_t most, uint32_t close,
                    const std::string& name) {
    const uint32_t more = builder_.nonterminal(name + ".more");
    Symbols after_comma{comma_};
    after_comma.insert(after_comma.end(), body.begin(), body.end());
    builder_.alternative(more, after_comma);
    if (some) {
      builder_.alternative(state, Symbols{builder_.repeat(more, least, most), close});
      return;
    }
    if (least == 0) builder_.alternative(state, Symbols{close});
    Symbols whole = body;
    const uint32_t further = most == kUnbounded ? kUnbounded : most - 1;
    whole.insert(whole.end(), {builder_.repeat(more, least == 0 ? 0 : least - 1, further), close});
    builder_.alternative(state, whole);
  }

  Symbols separated(bool some) const { return some ? Symbols{comma_} : Symbols{}; }

  const PlainSchema& schema_;
  const CommonValue common_ = [this](PlainValueId a, PlainValueId b) { return schema_.common(a, b); };
  GrammarBuilder& builder_;
  uint32_t scope_;
  std::span<const uint32_t> outside_;
  std::span<const std::string> outside_names_;
  uint32_t max_digits_;
  std::map<RegexId, bool> endless_;
  uint32_t open_object_, close_object_, open_array_, close_array_, comma_, colon_;
  std::vector<std::optional<uint32_t>> terminals_;
  std::map<uint32_t, uint32_t> distinct_terminals_;
  std::vector<std::optional<uint32_t>> values_;
  std::map<PlainValueId, uint32_t> distinct_scalars_;
  std::vector<std::optional<uint32_t>> keys_;
  std::vector<PlainValueId> todo_;
};

}  // namespace

uint32_t add_rules(const PlainSchema& schema, GrammarBuilder& builder, uint32_t scope,
                   std::span<const uint32_t> outside, std::span<const std::string> outside_names, uint32_t max_digits) {
  return Rules(schema, builder, scope, outside, outside_names, max_digits).all();
}

}  // namespace cfgmask
