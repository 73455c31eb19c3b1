// JSON Schemas as Python values to plain schemas (schema/plain_schema.h), or the finding that one is not plain.
//
// Whatever is unusual ends the reading: keywords that meet others, forms that are wrong, references that lead
// elsewhere. The general way in Python then reads the schema again, and tells what is wrong with it if something is.
//
// Threads: a reader is immutable; a reading belongs to one thread, which holds the GIL.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "schema/plain_schema.h"
#include "util/limits.h"

namespace cfgmask {

namespace nb = nanobind;

// A plain schema, and how many regexes it was given for what it asked.
struct PyPlainSchema {
  PlainSchema schema;
  size_t n_regexes = 0;
};

// How the schemas of one dialect are read.
class PlainReader {
 public:
  // asserted: the keywords that restrict instances; formats: those that do; identifier: the keyword that gives a schema
  // a URI.
  PlainReader(const nb::iterable& asserted, const nb::iterable& formats, const std::string& identifier,
              bool reference_hides_siblings)
      : formats_(nb::set(formats)), hides_siblings_(reference_hides_siblings) {
    for (nb::handle keyword : asserted) codes_[keyword] = code_of(nb::str(keyword).c_str());
    codes_[identifier.c_str()] = static_cast<int>(kIdentifier);
  }

  // None for a schema that is not plain. Throws LimitExceeded (max_rules), and what `answer` raises. Linear.
  nb::object read(const nb::object& schema, const nb::callable& answer, uint64_t max_nesting, uint64_t max_rules) const;

 private:
  friend class PlainReading;

  enum Keyword : uint8_t {
    kOther,  // not for a plain schema
    kType,
    kEnum,
    kConst,
    kReference,
    kAnyOf,
    kOneOf,
    kAllOf,
    kProperties,
    kPatternProperties,
    kRequired,
    kAdditionalProperties,
    kMinProperties,
    kMaxProperties,
    kItems,
    kPrefixItems,
    kAdditionalItems,
    kMinItems,
    kMaxItems,
    kUniqueItems,
    kMinimum,
    kMaximum,
    kExclusiveMinimum,
    kExclusiveMaximum,
    kMultipleOf,
    kMinLength,
    kMaxLength,
    kPattern,
    kFormat,
    kIdentifier,
    kNumKeywords,
  };
  static constexpr std::array<std::string_view, kIdentifier> kNames = {
      "",
      "type",
      "enum",
      "const",
      "$ref",
      "anyOf",
      "oneOf",
      "allOf",
      "properties",
      "patternProperties",
      "required",
      "additionalProperties",
      "minProperties",
      "maxProperties",
      "items",
      "prefixItems",
      "additionalItems",
      "minItems",
      "maxItems",
      "uniqueItems",
      "minimum",
      "maximum",
      "exclusiveMinimum",
      "exclusiveMaximum",
      "multipleOf",
      "minLength",
      "maxLength",
      "pattern",
      "format",
  };

  static int code_of(std::string_view keyword) {
    const auto at = std::find(kNames.begin() + 1, kNames.end(), keyword);
    return at == kNames.end() ? kOther : static_cast<int>(at - kNames.begin());
  }

  nb::dict codes_;
  nb::set formats_;
  bool hides_siblings_;
};

class PlainReading {
 public:
  struct NotPlain {};

  PlainReading(const PlainReader& reader, nb::handle root, nb::callable answer, uint64_t max_nesting,
               uint64_t max_rules)
      : reader_(reader),
        root_(root),
        answer_(std::move(answer)),
        max_nesting_(max_nesting),
        max_depth_(std::min(max_nesting, kMaxDepth)),
        max_rules_(max_rules) {}

  // Throws NotPlain, LimitExceeded.
  PyPlainSchema read() {
    check_json(root_, 0);
    if (!PyDict_CheckExact(root_.ptr()) || PyDict_GetItemString(root_.ptr(), "x-guidance") != nullptr) throw NotPlain();
    request({{"type", nb::str("number")}});
    schema_.set_root(value(root_, "#", 0));
    for (const auto& branches : exclusive_) check_exclusive(branches);
    require(schema_.find_live() && schema_.is_live(schema_.root()));
    return {std::move(schema_), n_regexes_};
  }

 private:
  using Keyword = PlainReader::Keyword;
  using Said = std::array<nb::handle, PlainReader::kNumKeywords>;
  using Value = PlainSchema::Value;
  using Source = PlainSchema::Keys::Source;

  // Some key of these mostly does not match a pattern.
  static constexpr std::array<std::string_view, 6> kSomeKeys = {"", " ", "-", "0", "a", "~!"};
  // Deeper schemas are left to the general way, which does not recurse.
  static constexpr uint64_t kMaxDepth = 200;
  static constexpr size_t kMaxPointer = 200;
  static constexpr size_t kMaxBranches = 64;
  static constexpr uint64_t kMaxCount = INT32_MAX - 1;
  static constexpr uint64_t kStepsPerRule = 10;

  enum class Progress : uint8_t { kNew, kReading, kDone };
  struct Known {
    Progress progress = Progress::kNew;
    std::optional<PlainValueId> id;  // known when done, or where the schema refers to itself
  };

  static void require(bool holds) {
    if (!holds) throw NotPlain();
  }

  // ---- JSON

  static std::string_view text(nb::handle value) {
    Py_ssize_t size = 0;
    const char* data = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
    if (data == nullptr) {
      PyErr_Clear();  // half of a surrogate pair
      throw NotPlain();
    }
    return {data, static_cast<size_t>(size)};
  }

  // Whether the general way would take the value for JSON; it is asked where that is not certain.
  void check_json(nb::handle value, uint64_t depth) const {
    require(depth <= max_depth_);
    PyObject* v = value.ptr();
    if (PyUnicode_CheckExact(v)) {
      if (!PyUnicode_IS_ASCII(v)) text(value);
    } else if (PyDict_CheckExact(v)) {
      PyObject *key = nullptr, *member = nullptr;
      for (Py_ssize_t at = 0; PyDict_Next(v, &at, &key, &member) != 0;) {
        require(PyUnicode_CheckExact(key));
        if (!PyUnicode_IS_ASCII(key)) text(key);
        check_json(member, depth + 1);
      }
    } else if (PyList_CheckExact(v)) {
      for (Py_ssize_t i = 0; i < PyList_GET_SIZE(v); ++i) check_json(PyList_GET_ITEM(v, i), depth + 1);
    } else if (PyLong_CheckExact(v)) {
      integer(value);
    } else if (PyFloat_CheckExact(v)) {
      require(std::isfinite(PyFloat_AS_DOUBLE(v)));
    } else {
      require(v == Py_None || v == Py_True || v == Py_False);
    }
  }

  // What fits 64 bits is a number of few enough digits.
  static int64_t integer(nb::handle value) {
    int overflow = 0;
    const int64_t found = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
    require(overflow == 0);
    return found;
  }

  static uint32_t count(nb::handle value) {
    require(PyLong_CheckExact(value.ptr()));
    const int64_t found = integer(value);
    require(0 <= found && static_cast<uint64_t>(found) <= kMaxCount);
    return static_cast<uint32_t>(found);
  }

  static bool is_text(nb::handle value) { return PyUnicode_CheckExact(value.ptr()); }
  static bool is_boolean(nb::handle value) { return value.ptr() == Py_True || value.ptr() == Py_False; }
  static bool is_number(nb::handle value) { return PyLong_CheckExact(value.ptr()) || PyFloat_CheckExact(value.ptr()); }
  static bool is_false(nb::handle value) { return value.ptr() == Py_False; }

  // ---- schemas

  Said keywords(nb::handle schema) const {
    Said said{};
    PyObject *key = nullptr, *held = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(schema.ptr(), &at, &key, &held) != 0;) {
      PyObject* code = PyDict_GetItemWithError(reader_.codes_.ptr(), key);
      if (code == nullptr) continue;
      said[static_cast<size_t>(PyLong_AsLong(code))] = held;
    }
    return said;
  }

  // Whether a schema says something beside these keywords.
  static bool says_more(Said said, std::initializer_list<Keyword> known) {
    for (Keyword keyword : known) said[keyword] = nb::handle();
    said[PlainReader::kIdentifier] = nb::handle();
    return std::any_of(said.begin(), said.end(), [](nb::handle held) { return held.is_valid(); });
  }

  // The values that a schema allows. Those of equal schemas are one.
  PlainValueId value(nb::handle schema, const std::string& pointer, uint64_t depth) {
    if (schema.ptr() == Py_True) return PlainSchema::any();
    if (is_false(schema)) return schema_.never();
    require(PyDict_CheckExact(schema.ptr()) && depth <= max_depth_);
    // A schema that leads to itself without going into a value.
    require(std::find(level_.begin(), level_.end(), schema.ptr()) == level_.end());
    Known& known = known_[schema.ptr()];
    if (known.progress == Progress::kReading && !known.id) known.id = schema_.reserve();
    if (known.progress != Progress::kNew) return *known.id;
    known.progress = Progress::kReading;
    level_.push_back(schema.ptr());
    const Said said = keywords(schema);
    const bool inside = inside_identified_;
    if (has_own_uri(said)) {
      // What `$schema` says there would count from there on.
      require(is_root() || PyDict_GetItemString(schema.ptr(), "$schema") == nullptr);
      inside_identified_ = !is_root();
    }
    PlainValueId id = is_reference(said) ? referred(said, depth) : described(schema, said, pointer, depth);
    inside_identified_ = inside;
    level_.pop_back();
    Known& finished = known_[schema.ptr()];  // the table may have grown
    if (finished.id) {
      Value same;
      same.name = pointer;
      same.alternatives.push_back(id);
      schema_.define(*finished.id, std::move(same));
      id = *finished.id;
    }
    finished = {Progress::kDone, id};
    return id;
  }

  // The values of a member or an item.
  PlainValueId inner(nb::handle schema, const std::string& pointer, uint64_t depth) {
    std::vector<PyObject*> outer;
    outer.swap(level_);
    const PlainValueId found = value(schema, pointer, depth + 1);
    level_.swap(outer);
    return found;
  }

  static std::string below(const std::string& pointer, std::string_view keyword, std::string_view key = {}) {
    if (pointer.size() > kMaxPointer) return pointer;
    std::string out = pointer;
    out += '/';
    out += keyword;
    if (key.data() != nullptr) {
      out += '/';
      for (char c : key.substr(0, kMaxPointer)) {
        if (c == '~' || c == '/') {
          out += c == '~' ? "~0" : "~1";
        } else {
          out += c;
        }
      }
    }
    return out;
  }

  // Whether a schema is nothing but a reference.
  bool is_reference(const Said& said) const {
    return said[PlainReader::kReference].is_valid() &&
           (reader_.hides_siblings_ || !says_more(said, {PlainReader::kReference}));
  }

  // Whether references inside a schema are relative to a URI of its own.
  bool has_own_uri(const Said& said) const {
    const nb::handle identifier = said[PlainReader::kIdentifier];
    if (!identifier.is_valid() || !is_text(identifier)) return false;
    if (reader_.hides_siblings_ && said[PlainReader::kReference].is_valid()) return false;
    return !text(identifier).starts_with('#');
  }

  PlainValueId referred(const Said& said, uint64_t depth) {
    require(!inside_identified_);
    require(is_text(said[PlainReader::kReference]));
    const std::string_view reference = text(said[PlainReader::kReference]);
    require(!reference.empty() && reference[0] == '#' && reference.find('%') == std::string_view::npos);
    const nb::handle found = target(reference.substr(1));
    const PlainValueId id = value(found, std::string(reference), depth + 1);
    inside_identified_ = false;
    return id;
  }

  bool is_root() const { return level_.size() == 1 && level_[0] == root_.ptr(); }

  // What a JSON Pointer leads to, and whether that stands inside of a schema with a URI of its own.
  nb::handle target(std::string_view pointer) {
    nb::handle at = root_;
    require(pointer.empty() || pointer[0] == '/');
    while (!pointer.empty()) {
      const size_t end = std::min(pointer.find('/', 1), pointer.size());
      if (at.ptr() != root_.ptr() && PyDict_CheckExact(at.ptr()) && has_own_uri(keywords(at)))
        inside_identified_ = true;
      at = step(at, unescaped(pointer.substr(1, end - 1)));
      pointer.remove_prefix(end);
    }
    return at;
  }

  static std::string unescaped(std::string_view token) {
    std::string out;
    for (size_t i = 0; i < token.size(); ++i) {
      if (token[i] != '~') {
        out += token[i];
        continue;
      }
      require(i + 1 < token.size() && (token[i + 1] == '0' || token[i + 1] == '1'));
      out += token[++i] == '0' ? '~' : '/';
    }
    return out;
  }

  static nb::handle step(nb::handle value, const std::string& token) {
    require(PyDict_CheckExact(value.ptr()));
    const nb::str key(token.data(), token.size());
    PyObject* found = PyDict_GetItemWithError(value.ptr(), key.ptr());
    require(found != nullptr);
    return found;
  }

  PlainValueId described(nb::handle schema, const Said& said, const std::string& pointer, uint64_t depth) {
    require(!said[PlainReader::kOther].is_valid());
    const PlainValueId own = described_here(said, pointer, depth);
    if (!said[PlainReader::kAnyOf].is_valid() && !said[PlainReader::kOneOf].is_valid() &&
        !said[PlainReader::kAllOf].is_valid() && !said[PlainReader::kReference].is_valid())
      return own;
    return combined(schema, said, own, pointer, depth);
  }

  // What the keywords say that look at the value without further schemas for the same value.
  PlainValueId described_here(const Said& said, const std::string& pointer, uint64_t depth) {
    const Types types = allowed_types(said[PlainReader::kType]);
    Value value;
    value.name = pointer;
    auto array = array_shape(said, pointer, depth);
    auto object = object_shape(said, pointer, depth);
    check_scalar_keywords(said);
    if (said[PlainReader::kEnum].is_valid() || said[PlainReader::kConst].is_valid()) {
      add_listed(said, types, value);
    } else {
      add_scalars(said, types, value);
      if ((types.kinds & PlainSchema::kArray) != 0) value.array = std::move(array);
      if ((types.kinds & PlainSchema::kObject) != 0) value.object = std::move(object);
      if (value.array)
        require(!said[PlainReader::kUniqueItems].is_valid() || is_false(said[PlainReader::kUniqueItems]) ||
                value.array->maximum <= 1);
    }
    count_rules(value);
    return added(std::move(value));
  }

  PlainValueId added(Value value) {
    // Whether there are keys enough of a few classes takes more than a look.
    if (value.object) require(!value.object->has_classes() || !value.object->counts_others());
    if (value.alternatives.size() == 1) return value.alternatives[0];
    return schema_.add(std::move(value));
  }

  PlainValueId both(PlainValueId a, PlainValueId b, const std::string& pointer) {
    if (a == b || b == PlainSchema::any()) return a;
    if (a == PlainSchema::any()) return b;
    auto found = schema_.meet(a, b);
    require(found.has_value());
    spend(found->object ? n_states(*found->object) : 1);
    found->name = pointer;
    return added(std::move(*found));
  }

  // What a value costs of max_rules; as cfgmask/json_schema/rules.py and object_algebra.py count.
  void count_rules(const Value& value) {
    spend(kStepsPerRule *
          (1 + (value.array ? 2 + value.array->prefix.size() : 0) + (value.object ? n_states(*value.object) : 0)));
  }

  // How many rules an object takes at most.
  static uint64_t n_states(PlainSchema::Object object) {
    object.drop_idle_bounds();
    const uint64_t most = object.maximum == kUnbounded ? 0 : object.maximum;
    const uint64_t counts = std::max({uint64_t{1}, uint64_t{object.minimum}, most});
    return (object.members.size() + 1) * (1 + std::min<uint64_t>(counts, object.members.size() + 1));
  }

  void spend(uint64_t steps) {
    n_steps_ += steps;
    if (n_steps_ > max_rules_) throw LimitExceeded("max_rules", max_rules_);
  }

  struct Types {
    uint32_t kinds = PlainSchema::kAnyKind;
    bool integers = false;  // of the numbers, only these
  };

  static Types allowed_types(nb::handle type) {
    if (!type.is_valid()) return {};
    Types types{0, true};
    const auto add = [&](nb::handle name) {
      require(is_text(name));
      const std::string_view called = text(name);
      const uint32_t kind = kind_of(called);
      require(kind != 0);
      types.kinds |= kind;
      if (called == "number") types.integers = false;
    };
    if (PyList_CheckExact(type.ptr())) {
      for (Py_ssize_t i = 0; i < PyList_GET_SIZE(type.ptr()); ++i) add(PyList_GET_ITEM(type.ptr(), i));
    } else {
      add(type);
    }
    require(types.kinds != 0);
    if ((types.kinds & PlainSchema::kNumber) == 0) types.integers = false;
    return types;
  }

  static uint32_t kind_of(std::string_view type) {
    if (type == "string") return PlainSchema::kString;
    if (type == "object") return PlainSchema::kObject;
    if (type == "integer" || type == "number") return PlainSchema::kNumber;
    if (type == "array") return PlainSchema::kArray;
    if (type == "boolean") return PlainSchema::kBoolean;
    if (type == "null") return PlainSchema::kNull;
    return 0;
  }

  // With the schemas that apply to the same value. Keys are written in the order in which the schema names them, so
  // keywords that name keys are taken in the order in which they stand.
  PlainValueId combined(nb::handle schema, const Said& said, PlainValueId own, const std::string& pointer,
                        uint64_t depth) {
    std::vector<PlainValueId> parts;
    bool own_place_taken = false;
    PyObject *key = nullptr, *held = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(schema.ptr(), &at, &key, &held) != 0;) {
      PyObject* code = PyDict_GetItemWithError(reader_.codes_.ptr(), key);
      if (code == nullptr) continue;
      const auto keyword = static_cast<Keyword>(PyLong_AsLong(code));
      if (keyword == PlainReader::kProperties) {
        parts.push_back(own);
        own_place_taken = true;
      } else if (keyword == PlainReader::kReference) {
        parts.push_back(referred(said, depth));
      } else if (keyword == PlainReader::kAllOf) {
        const auto all = branches(held, "allOf", pointer, depth);
        parts.insert(parts.end(), all.begin(), all.end());
      } else if (keyword == PlainReader::kAnyOf) {
        parts.push_back(either(branches(held, "anyOf", pointer, depth), pointer));
      } else if (keyword == PlainReader::kOneOf) {
        auto narrowed = branches(held, "oneOf", pointer, depth);
        for (PlainValueId& id : narrowed) id = own_place_taken ? both(own, id, pointer) : both(id, own, pointer);
        if (narrowed.size() > 1) exclusive_.push_back(narrowed);
        parts.push_back(either(std::move(narrowed), pointer));
      }
    }
    if (!own_place_taken) parts.push_back(own);
    PlainValueId whole = parts[0];
    for (size_t i = 1; i < parts.size(); ++i) whole = both(whole, parts[i], pointer);
    return whole;
  }

  std::vector<PlainValueId> branches(nb::handle held, const char* keyword, const std::string& pointer, uint64_t depth) {
    require(PyList_CheckExact(held.ptr()) && PyList_GET_SIZE(held.ptr()) > 0);
    std::vector<PlainValueId> found;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(held.ptr()); ++i)
      found.push_back(value(PyList_GET_ITEM(held.ptr(), i), below(pointer, keyword, std::to_string(i)), depth + 1));
    return found;
  }

  PlainValueId either(std::vector<PlainValueId> parts, const std::string& pointer) {
    Value union_of;
    union_of.name = pointer;
    for (PlainValueId part : parts) {
      auto& known = union_of.alternatives;
      if (part == schema_.never()) continue;
      if (std::find(known.begin(), known.end(), part) == known.end()) known.push_back(part);
    }
    return added(std::move(union_of));
  }

  void check_exclusive(const std::vector<PlainValueId>& branches) const {
    require(branches.size() <= kMaxBranches);
    for (size_t i = 0; i < branches.size(); ++i) {
      for (size_t j = i + 1; j < branches.size(); ++j) require(schema_.disjoint(branches[i], branches[j]));
    }
  }

  // ---- arrays and objects

  // None: there is no such array.
  std::optional<PlainSchema::Array> array_shape(const Said& said, const std::string& pointer, uint64_t depth) {
    PlainSchema::Array array;
    array.rest = PlainSchema::any();
    nb::handle items = said[PlainReader::kItems];
    nb::handle prefix = said[PlainReader::kPrefixItems];
    nb::handle further = items;
    const nb::handle additional = said[PlainReader::kAdditionalItems];
    if (items.is_valid() && PyList_CheckExact(items.ptr())) {
      require(!prefix.is_valid());
      // Only where a draft that writes it so is declared is that beyond doubt.
      require(!reader_.codes_.contains("prefixItems"));
      prefix = items;
      further = additional;
    } else if (additional.is_valid()) {
      // It says nothing there, but has to be a schema.
      inner(additional, below(pointer, "additionalItems"), depth);
    }
    if (prefix.is_valid()) {
      require(PyList_CheckExact(prefix.ptr()) && PyList_GET_SIZE(prefix.ptr()) > 0);
      for (Py_ssize_t i = 0; i < PyList_GET_SIZE(prefix.ptr()); ++i)
        array.prefix.push_back(
            inner(PyList_GET_ITEM(prefix.ptr(), i), below(pointer, "prefixItems", std::to_string(i)), depth));
    }
    if (said[PlainReader::kMinItems].is_valid()) array.minimum = count(said[PlainReader::kMinItems]);
    if (said[PlainReader::kMaxItems].is_valid()) array.maximum = count(said[PlainReader::kMaxItems]);
    if (said[PlainReader::kUniqueItems].is_valid()) require(is_boolean(said[PlainReader::kUniqueItems]));
    if (further.is_valid()) {
      if (is_false(further)) {
        array.rest = std::nullopt;
        array.maximum = std::min(array.maximum, static_cast<uint32_t>(array.prefix.size()));
      } else {
        array.rest = inner(further, below(pointer, "items"), depth);
      }
    }
    if (array.minimum > array.maximum) return std::nullopt;
    if (array.prefix.size() > array.maximum) array.prefix.resize(array.maximum);
    if (array.maximum == array.prefix.size()) array.rest = std::nullopt;
    return array;
  }

  // None: there is no such object.
  std::optional<PlainSchema::Object> object_shape(const Said& said, const std::string& pointer, uint64_t depth) {
    PlainSchema::Object object;
    object.others = PlainSchema::any();
    const nb::handle additional = said[PlainReader::kAdditionalProperties];
    if (additional.is_valid()) {
      object.others = std::nullopt;
      if (!is_false(additional)) object.others = inner(additional, below(pointer, "additionalProperties"), depth);
    }
    std::unordered_map<uint32_t, bool> needed;
    std::vector<uint32_t> order;
    if (const nb::handle required = said[PlainReader::kRequired]; required.is_valid()) {
      require(PyList_CheckExact(required.ptr()));
      for (Py_ssize_t i = 0; i < PyList_GET_SIZE(required.ptr()); ++i) {
        require(is_text(PyList_GET_ITEM(required.ptr(), i)));
        const uint32_t name = schema_.name(text(PyList_GET_ITEM(required.ptr(), i)));
        if (needed.emplace(name, true).second) order.push_back(name);
      }
    }
    if (const nb::handle properties = said[PlainReader::kProperties]; properties.is_valid()) {
      require(PyDict_CheckExact(properties.ptr()));
      PyObject *key = nullptr, *held = nullptr;
      for (Py_ssize_t at = 0; PyDict_Next(properties.ptr(), &at, &key, &held) != 0;) {
        const std::string_view called = text(key);
        const uint32_t name = schema_.name(called);
        const PlainValueId member = inner(held, below(pointer, "properties", called), depth);
        const auto found = needed.find(name);
        object.members.push_back({name, member, found != needed.end(), true});
        if (found != needed.end()) found->second = false;
      }
    }
    for (uint32_t name : order) {
      if (!needed[name]) continue;
      object.members.push_back({name, object.others.value_or(schema_.never()), true, false});
    }
    if (said[PlainReader::kPatternProperties].is_valid())
      add_classes(said[PlainReader::kPatternProperties], object, pointer, depth);
    if (said[PlainReader::kMinProperties].is_valid()) object.minimum = count(said[PlainReader::kMinProperties]);
    if (said[PlainReader::kMaxProperties].is_valid()) object.maximum = count(said[PlainReader::kMaxProperties]);
    if (std::max<size_t>(object.minimum, object.n_required()) > object.maximum) return std::nullopt;
    const bool closed = !object.others && object.classes.empty();
    if (closed && object.members.size() < object.minimum) return std::nullopt;
    return object;
  }

  void add_classes(nb::handle patterns, PlainSchema::Object& object, const std::string& pointer, uint64_t depth) {
    require(PyDict_CheckExact(patterns.ptr()));
    nb::list asked;
    PyObject *key = nullptr, *held = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(patterns.ptr(), &at, &key, &held) != 0;) {
      asked.append(nb::handle(key));
      object.classes.push_back({{}, inner(held, below(pointer, "patternProperties", text(key)), depth)});
    }
    if (object.classes.empty()) return;
    if (object.classes.size() == 1 && add_one_class(text(asked[0]), object)) return;
    ask_for_classes(asked, object, pointer);
  }

  // Whether it is plain that no member matches the pattern, and that there are keys that do and others that do not.
  bool add_one_class(std::string_view text, PlainSchema::Object& object) {
    const auto pattern = schema_.pattern(text, max_nesting_);
    if (!pattern) return false;
    const PlainPattern& keys = schema_.pattern_at(*pattern);
    const auto is_other = [&](std::string_view key) { return keys.found_in(key) == false; };
    std::unordered_map<std::string_view, bool> names;
    for (const auto& member : object.members) {
      const std::string& name = schema_.name_at(member.name);
      if (!is_other(name)) return false;
      names.emplace(name, true);
    }
    const auto is_new = [&](std::string_view key) { return !names.contains(key) && is_other(key); };
    if (std::none_of(kSomeKeys.begin(), kSomeKeys.end(), is_new)) return false;
    object.classes[0].keys = {Source::kMatching, *pattern};
    object.others_keys = {Source::kOther, *pattern};
    return true;
  }

  void ask_for_classes(const nb::list& asked, PlainSchema::Object& object, const std::string& pointer) {
    nb::list names;
    for (const auto& member : object.members) {
      const std::string& name = schema_.name_at(member.name);
      names.append(nb::str(name.data(), name.size()));
    }
    nb::tuple asked_for = nb::make_tuple(nb::tuple(asked), nb::tuple(names));
    const nb::object answer = answer_(nb::repr(asked_for), asked_for);
    require(!answer.is_none());
    // For each pattern, then for the other keys: the regex, and which of the names match.
    const auto found = nb::cast<std::vector<std::pair<int64_t, std::vector<size_t>>>>(answer);
    std::vector<PlainSchema::KeyClass> classes;
    std::vector<bool> described;
    for (const auto& member : object.members) described.push_back(member.listed);
    for (size_t i = 0; i < object.classes.size(); ++i) {
      const PlainValueId held = object.classes[i].value;
      for (size_t at : found[i].second) {
        // What other keys hold says nothing about a key that matches a pattern.
        auto& member = object.members[at];
        member.value = described[at] ? both(member.value, held, pointer) : held;
        described[at] = true;
      }
      if (found[i].first >= 0) classes.push_back({{Source::kOutside, outside_regex(found[i].first)}, held});
    }
    object.classes = std::move(classes);
    if (found.back().first < 0) {
      object.others = std::nullopt;
    } else {
      object.others_keys = PlainSchema::Keys{Source::kOutside, outside_regex(found.back().first)};
    }
  }

  uint32_t outside_regex(int64_t regex) {
    n_regexes_ = std::max(n_regexes_, static_cast<size_t>(regex) + 1);
    return static_cast<uint32_t>(regex);
  }

  // ---- scalars

  static constexpr std::array kOfNumbers = {PlainReader::kMinimum, PlainReader::kMaximum,
                                            PlainReader::kExclusiveMinimum, PlainReader::kExclusiveMaximum,
                                            PlainReader::kMultipleOf};
  static constexpr std::array kOfStrings = {PlainReader::kMinLength, PlainReader::kMaxLength, PlainReader::kPattern,
                                            PlainReader::kFormat};

  static void check_scalar_keywords(const Said& said) {
    for (Keyword keyword : kOfNumbers) {
      if (!said[keyword].is_valid()) continue;
      const bool exclusive = keyword == PlainReader::kExclusiveMinimum || keyword == PlainReader::kExclusiveMaximum;
      // What a boolean means, and whether it may stand there, depends on the draft: its form is looked at in Python.
      require(is_number(said[keyword]) || (exclusive && is_boolean(said[keyword])));
    }
    for (Keyword keyword : {PlainReader::kMinLength, PlainReader::kMaxLength}) {
      if (said[keyword].is_valid()) count(said[keyword]);
    }
    for (Keyword keyword : {PlainReader::kPattern, PlainReader::kFormat}) {
      if (said[keyword].is_valid()) require(is_text(said[keyword]));
    }
  }

  void add_scalars(const Said& said, Types types, Value& value) {
    if ((types.kinds & PlainSchema::kNull) != 0) value.terminals.push_back(PlainSchema::null());
    if ((types.kinds & PlainSchema::kBoolean) != 0) {
      value.terminals.push_back(PlainSchema::true_());
      value.terminals.push_back(PlainSchema::false_());
    }
    if ((types.kinds & PlainSchema::kNumber) != 0) {
      const nb::str type(types.integers ? "integer" : "number");
      add_terminal(conditional(type, said, kOfNumbers), value);
    } else {
      // The form of a boolean bound is looked at where numbers are.
      require(!said[PlainReader::kExclusiveMinimum].is_valid() || is_number(said[PlainReader::kExclusiveMinimum]));
      require(!said[PlainReader::kExclusiveMaximum].is_valid() || is_number(said[PlainReader::kExclusiveMaximum]));
      require(!said[PlainReader::kMultipleOf].is_valid());
    }
    if ((types.kinds & PlainSchema::kString) != 0) {
      add_terminal(string(said), value);
    }
  }

  // The strings under the conditions; none: there are no such strings.
  std::optional<uint32_t> string(const Said& said) {
    if (!says(said, kOfStrings)) return PlainSchema::any_string();
    PlainSchema::Text text_of;
    if (said[PlainReader::kMinLength].is_valid()) text_of.minimum = count(said[PlainReader::kMinLength]);
    if (said[PlainReader::kMaxLength].is_valid()) text_of.maximum = count(said[PlainReader::kMaxLength]);
    if (text_of.minimum > text_of.maximum) return std::nullopt;
    const nb::handle pattern = said[PlainReader::kPattern];
    const nb::handle format = said[PlainReader::kFormat];
    bool is_plain = !format.is_valid() || !reader_.formats_.contains(format);
    if (pattern.is_valid()) {
      text_of.pattern = schema_.pattern(text(pattern), max_nesting_);
      is_plain = is_plain && text_of.pattern.has_value();
    }
    const auto found = is_plain ? schema_.text(text_of) : std::nullopt;
    return found ? found : conditional(nb::str("string"), said, kOfStrings);
  }

  static void add_terminal(std::optional<uint32_t> terminal, Value& value) {
    if (terminal) value.terminals.push_back(*terminal);
  }

  // `enum` and `const`.
  void add_listed(const Said& said, Types types, Value& value) {
    const nb::handle listed = said[PlainReader::kEnum];
    require(!(listed.is_valid() && said[PlainReader::kConst].is_valid()));
    require(!listed.is_valid() || PyList_CheckExact(listed.ptr()));
    std::vector<std::string> texts;
    std::unordered_map<std::string, bool> seen;
    nb::list strings;
    nb::list numbers;
    std::array<bool, 3> words{};
    const auto add = [&](nb::handle item) {
      if (is_text(item)) {
        std::string found(text(item));
        if ((types.kinds & PlainSchema::kString) == 0 || !seen.emplace(found, true).second) return;
        texts.push_back(std::move(found));
        strings.append(item);
      } else if (is_number(item)) {
        if ((types.kinds & PlainSchema::kNumber) != 0) numbers.append(item);
      } else if (is_boolean(item)) {
        if ((types.kinds & PlainSchema::kBoolean) != 0)
          words[is_false(item) ? PlainSchema::false_() : PlainSchema::true_()] = true;
      } else {
        require(item.is_none());
        if ((types.kinds & PlainSchema::kNull) != 0) words[PlainSchema::null()] = true;
      }
    };
    if (listed.is_valid()) {
      require(PyList_GET_SIZE(listed.ptr()) > 0);
      for (Py_ssize_t i = 0; i < PyList_GET_SIZE(listed.ptr()); ++i) add(PyList_GET_ITEM(listed.ptr(), i));
    } else {
      add(said[PlainReader::kConst]);
    }
    for (uint32_t word = 0; word < words.size(); ++word) {
      if (words[word]) value.terminals.push_back(word);
    }
    if (nb::len(numbers) > 0) {
      const nb::str type(types.integers ? "integer" : "number");
      add_terminal(conditional(type, said, kOfNumbers, std::move(numbers)), value);
    }
    if (texts.empty()) return;
    if (says(said, kOfStrings)) {
      add_terminal(conditional(nb::str("string"), said, kOfStrings, std::move(strings)), value);
    } else {
      value.terminals.push_back(schema_.listed(std::move(texts)));
    }
  }

  template <size_t N>
  static bool says(const Said& said, const std::array<Keyword, N>& keywords) {
    return std::any_of(keywords.begin(), keywords.end(), [&](Keyword k) { return said[k].is_valid(); });
  }

  template <size_t N>
  std::optional<uint32_t> conditional(nb::object type, const Said& said, const std::array<Keyword, N>& keywords,
                                      nb::object listed = {}) {
    std::vector<std::pair<const char*, nb::object>> asked{{"type", std::move(type)}};
    for (Keyword keyword : keywords) {
      if (said[keyword].is_valid()) asked.emplace_back(PlainReader::kNames[keyword].data(), nb::borrow(said[keyword]));
    }
    if (listed.is_valid()) asked.emplace_back("enum", std::move(listed));
    return request(std::move(asked));
  }

  // The terminal of a scalar with conditions; the same one for the same conditions. None: there is no such scalar.
  std::optional<uint32_t> request(std::vector<std::pair<const char*, nb::object>> asked) {
    std::string key;
    nb::dict schema;
    for (const auto& [keyword, held] : asked) {
      key += keyword;
      key += '=';
      key += text(nb::repr(held));
      key += ';';
      schema[keyword] = held;
    }
    const auto [at, is_new] = requested_.try_emplace(key, std::nullopt);
    if (!is_new) return at->second;
    const nb::object answer = answer_(key, schema);
    require(!answer.is_none());
    const auto regex = nb::cast<int64_t>(answer);
    if (regex == 0) {
      n_regexes_ = std::max<size_t>(n_regexes_, 1);
      at->second = PlainSchema::any_number();
    } else if (regex > 0) {
      const bool string = asked[0].second.equal(nb::str("string"));
      at->second = schema_.outside(string ? PlainSchema::kString : PlainSchema::kNumber, outside_regex(regex));
    }
    return at->second;
  }

  const PlainReader& reader_;
  nb::handle root_;
  nb::callable answer_;
  uint64_t max_nesting_;
  uint64_t max_depth_;
  uint64_t max_rules_;
  uint64_t n_steps_ = 0;
  PlainSchema schema_;
  size_t n_regexes_ = 0;
  bool inside_identified_ = false;  // not in the root's own document any more
  std::unordered_map<std::string, std::optional<uint32_t>> requested_;
  std::unordered_map<PyObject*, Known> known_;
  std::vector<PyObject*> level_;  // the schemas being read that say something about the same value
  std::vector<std::vector<PlainValueId>> exclusive_;
};

inline nb::object PlainReader::read(const nb::object& schema, const nb::callable& answer, uint64_t max_nesting,
                                    uint64_t max_rules) const {
  try {
    return nb::cast(PlainReading(*this, schema, answer, max_nesting, max_rules).read());
  } catch (const PlainReading::NotPlain&) {
    return nb::none();
  }
}

}  // namespace cfgmask
