// Intersections of plain sets of values, as cfgmask/json_schema/{algebra,object_algebra,array_algebra}.py define them.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "schema/plain_schema.h"

namespace cfgmask {

namespace {

constexpr size_t kMaxAlternatives = 64;
// Values inside of values. Recursive schemas that meet have no end.
constexpr int kMaxDepth = 8;
constexpr int kMaxMeetings = 4096;

}  // namespace

class PlainSchema::Meeting {
 public:
  explicit Meeting(PlainSchema& schema) : schema_(schema) {}

  std::optional<Value> meet(PlainValueId a, PlainValueId b, int depth) {
    if (a == b || b == any()) return copy(a);
    if (a == any()) return copy(b);
    if (depth == kMaxDepth || ++n_meetings_ > kMaxMeetings) return std::nullopt;
    if (!schema_.defined_[a.value] || !schema_.defined_[b.value]) return std::nullopt;
    // Copies: what is added below moves the values.
    const Value x = schema_.at(a);
    const Value y = schema_.at(b);
    if (!x.alternatives.empty() || !y.alternatives.empty()) return distribute(a, b, x, y, depth);
    Value both;
    both.name = x.name;
    if (!meet_terminals(x, y, both)) return std::nullopt;
    if (x.array && y.array && !meet_arrays(*x.array, *y.array, both, depth)) return std::nullopt;
    if (x.object && y.object && !meet_objects(*x.object, *y.object, both, depth)) return std::nullopt;
    return both;
  }

 private:
  // What two sets of members or items have in common.
  enum class Outcome { kSome, kNothing, kUnknown };
  struct Inner {
    Outcome outcome;
    PlainValueId id;
  };

  std::optional<Value> copy(PlainValueId id) const {
    if (schema_.defined_[id.value]) return schema_.at(id);
    Value same;
    same.alternatives.push_back(id);
    return same;
  }

  Inner inner(PlainValueId a, PlainValueId b, int depth) {
    if (a == b || b == any()) return {Outcome::kSome, a};
    if (a == any()) return {Outcome::kSome, b};
    auto both = meet(a, b, depth + 1);
    if (!both) return {Outcome::kUnknown, any()};
    if (both->is_empty()) return {Outcome::kNothing, any()};
    return {Outcome::kSome, schema_.add(std::move(*both))};
  }

  std::optional<Value> distribute(PlainValueId a, PlainValueId b, const Value& x, const Value& y, int depth) {
    Value either;
    either.name = x.name;
    const bool split_a = !x.alternatives.empty();
    for (PlainValueId part : split_a ? x.alternatives : y.alternatives) {
      const Inner found = split_a ? inner(part, b, depth) : inner(a, part, depth);
      if (found.outcome == Outcome::kUnknown || either.alternatives.size() == kMaxAlternatives) return std::nullopt;
      if (found.outcome == Outcome::kSome) either.alternatives.push_back(found.id);
    }
    return either;
  }

  // False where it takes more than a look.
  bool meet_terminals(const Value& x, const Value& y, Value& both) {
    for (uint32_t word : {null(), true_(), false_()}) {
      if (has(x, word) && has(y, word)) both.terminals.push_back(word);
    }
    return meet_kind(kNumber, any_number(), x, y, both) && meet_kind(kString, any_string(), x, y, both);
  }

  static bool has(const Value& value, uint32_t terminal) {
    return std::find(value.terminals.begin(), value.terminals.end(), terminal) != value.terminals.end();
  }

  std::vector<uint32_t> of_kind(const Value& value, Kind kind) const {
    std::vector<uint32_t> found;
    for (uint32_t t : value.terminals) {
      if (schema_.terminal(t).kind == kind) found.push_back(t);
    }
    return found;
  }

  bool meet_kind(Kind kind, uint32_t everything, const Value& x, const Value& y, Value& both) {
    const auto of_x = of_kind(x, kind);
    const auto of_y = of_kind(y, kind);
    if (of_x.empty() || of_y.empty()) return true;
    const bool takes_x = has(y, everything) || of_x == of_y;
    if (takes_x || has(x, everything)) {
      const auto& taken = takes_x ? of_x : of_y;
      both.terminals.insert(both.terminals.end(), taken.begin(), taken.end());
      return true;
    }
    if (of_x.size() > 1 || of_y.size() > 1) return false;
    // Copies: what is added below moves the terminals.
    const Terminal s = schema_.terminal(of_x[0]);
    const Terminal t = schema_.terminal(of_y[0]);
    if (s.spelling == Spelling::kListed) return meet_listed(s.listed, t, both);
    if (t.spelling == Spelling::kListed) return meet_listed(t.listed, s, both);
    return s.spelling == Spelling::kText && t.spelling == Spelling::kText && meet_texts(s.text, t.text, both);
  }

  bool meet_listed(const std::vector<std::string>& listed, const Terminal& other, Value& both) {
    std::vector<std::string> common;
    for (const std::string& text : listed) {
      std::optional<bool> is_in;
      if (other.spelling == Spelling::kListed)
        is_in = std::find(other.listed.begin(), other.listed.end(), text) != other.listed.end();
      if (other.spelling == Spelling::kText) is_in = schema_.admits(other.text, text);
      if (!is_in) return false;
      if (*is_in) common.push_back(text);
    }
    if (!common.empty()) both.terminals.push_back(schema_.listed(std::move(common)));
    return true;
  }

  bool meet_texts(const Text& s, const Text& t, Value& both) {
    if (s.pattern && t.pattern && s.pattern != t.pattern) return false;
    const Text text{s.pattern ? s.pattern : t.pattern, std::max(s.minimum, t.minimum), std::min(s.maximum, t.maximum)};
    if (text.minimum > text.maximum) return true;
    const auto found = schema_.text(text);
    if (found) both.terminals.push_back(*found);
    return found.has_value();
  }

  bool meet_arrays(const Array& x, const Array& y, Value& both, int depth) {
    Array array;
    array.minimum = std::max(x.minimum, y.minimum);
    array.maximum = std::min(x.maximum, y.maximum);
    const size_t n_prefix = std::max(x.prefix.size(), y.prefix.size());
    for (size_t i = 0; i <= n_prefix && i < array.maximum; ++i) {
      const auto of_x = x.item(i);
      const auto of_y = y.item(i);
      const Inner found = of_x && of_y ? inner(*of_x, *of_y, depth) : Inner{Outcome::kNothing, any()};
      if (found.outcome == Outcome::kUnknown) return false;
      if (found.outcome == Outcome::kNothing) {
        array.maximum = static_cast<uint32_t>(i);
      } else if (i < n_prefix) {
        array.prefix.push_back(found.id);
      } else {
        array.rest = found.id;
      }
    }
    if (array.minimum <= array.maximum) both.array = std::move(array);
    return true;
  }

  bool meet_objects(const Object& x, const Object& y, Value& both, int depth) {
    if (is_any(x) || is_any(y)) {
      both.object = is_any(x) ? y : x;
      return true;
    }
    if (x.has_classes() || y.has_classes()) return false;
    Object object;
    object.minimum = std::max(x.minimum, y.minimum);
    object.maximum = std::min(x.maximum, y.maximum);
    if (x.others && y.others) {
      const Inner found = inner(*x.others, *y.others, depth);
      if (found.outcome == Outcome::kUnknown) return false;
      if (found.outcome == Outcome::kSome) object.others = found.id;
    }
    std::unordered_map<uint32_t, const Member*> in_y;
    for (const Member& member : y.members) in_y.emplace(member.name, &member);
    std::unordered_map<uint32_t, bool> in_x;
    Outcome outcome = Outcome::kSome;
    for (const Member& member : x.members) {
      if (outcome != Outcome::kSome) break;
      in_x.emplace(member.name, true);
      const auto found = in_y.find(member.name);
      outcome = add_member(member, found == in_y.end() ? nullptr : found->second, y, object, depth);
    }
    for (const Member& member : y.members) {
      if (outcome != Outcome::kSome) break;
      if (!in_x.contains(member.name)) outcome = add_member(member, nullptr, x, object, depth);
    }
    if (outcome != Outcome::kSome) return outcome == Outcome::kNothing;
    sort_members(x, y, object.members);
    if (std::max<size_t>(object.minimum, object.n_required()) > object.maximum) return true;
    if (!object.others && object.members.size() < object.minimum) return true;
    both.object = std::move(object);
    return true;
  }

  // Those that properties list first, each kind from left to right.
  static void sort_members(const Object& x, const Object& y, std::vector<Member>& members) {
    std::unordered_map<uint32_t, size_t> rank;
    for (const Object* object : {&x, &y}) {
      for (const Member& member : object->members) {
        if (member.listed) rank.emplace(member.name, rank.size());
      }
    }
    const auto rank_of = [&](const Member& member) {
      const auto found = rank.find(member.name);
      return found == rank.end() ? rank.size() : found->second;
    };
    std::stable_sort(members.begin(), members.end(),
                     [&](const Member& a, const Member& b) { return rank_of(a) < rank_of(b); });
  }

  static bool is_any(const Object& object) {
    return object.members.empty() && !object.has_classes() && object.others == any() && object.minimum == 0 &&
           object.maximum == kUnbounded;
  }

  // Adds what a member comes to beside that of another object, or beside what that one allows of other keys. kNothing:
  // no object is left.
  Outcome add_member(const Member& member, const Member* other, const Object& beside, Object& object, int depth) {
    const bool required = member.required || (other != nullptr && other->required);
    const bool listed = member.listed || (other != nullptr && other->listed);
    const auto value = other != nullptr ? std::optional(other->value) : beside.others;
    const Inner found = value ? inner(member.value, *value, depth) : Inner{Outcome::kNothing, any()};
    if (found.outcome == Outcome::kUnknown || (found.outcome == Outcome::kNothing && required)) return found.outcome;
    // That a key must not come has to be said only where other keys may.
    if (found.outcome == Outcome::kNothing && !object.others) return Outcome::kSome;
    const PlainValueId held = found.outcome == Outcome::kSome ? found.id : schema_.never();
    object.members.push_back({member.name, held, required, listed});
    return Outcome::kSome;
  }

  PlainSchema& schema_;
  int n_meetings_ = 0;
};

std::optional<PlainSchema::Value> PlainSchema::meet(PlainValueId a, PlainValueId b) {
  return Meeting(*this).meet(a, b, 0);
}

}  // namespace cfgmask
