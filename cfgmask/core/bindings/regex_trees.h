// Regex trees of Python (cfgmask.grammar.regex_tree) to regexes as data, and to nodes of a builder's store.
//
// A first mask waits for this: in Python it was a quarter of the time from a schema to its first mask.
//
// Threads: as a builder's.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bindings/long_call.h"
#include "matcher/grammar_builder.h"
#include "regex/regex.h"
#include "regex/regex_data.h"
#include "util/limits.h"

namespace cfgmask {

namespace nb = nanobind;

// The most levels of nesting that a limit may allow, so that what recurses over them fits any stack.
constexpr uint64_t kMostNesting = 400;

constexpr uint64_t bounded_nesting(uint64_t max_nesting) { return std::min(max_nesting, kMostNesting); }

// Reads trees into one list of nodes. A tree object is read once, however often it occurs, in however many trees.
class RegexTreeReader {
 public:
  // max_nesting bounds how high a tree may be, for the sake of what recurses over nodes later.
  explicit RegexTreeReader(uint64_t max_nesting)
      : max_nesting_(bounded_nesting(max_nesting)),
        data_(interned("data")),
        ranges_(interned("ranges")),
        parts_(interned("parts")),
        body_(interned("body")),
        minimum_(interned("minimum")),
        maximum_(interned("maximum")),
        keys_(interned("keys")),
        modulus_(interned("modulus")),
        chunks_(interned("chunks")),
        words_(interned("words")),
        escapes_(interned("escapes")) {
    const nb::object module = nb::module_::import_("cfgmask.grammar.regex_tree");
    for (size_t kind = 0; kind < kNames.size(); ++kind) types_[kind] = module.attr(kNames[kind]);
  }

  // The number of a tree among the nodes that are read into, which are the same at each call. Throws LimitExceeded
  // (max_nesting) and std::overflow_error for counts beyond 31 bits. Linear in the objects not seen before; no
  // recursion.
  uint32_t add(const nb::object& tree, RegexData& into) {
    std::vector<nb::handle> pending{tree};
    while (!pending.empty()) {
      const nb::handle part = pending.back();
      if (known_.contains(part.ptr())) {
        pending.pop_back();
        continue;
      }
      const Kind kind = kind_of(part);
      const nb::tuple held = inner(part, kind);
      const std::span<PyObject* const> trees = elements(held);
      const size_t waiting = pending.size();
      for (PyObject* child : trees) {
        if (!known_.contains(child)) pending.emplace_back(child);
      }
      if (pending.size() > waiting) continue;
      pending.pop_back();
      const uint32_t made = make(part, kind, trees, into);
      if (into.height(made) > max_nesting_ * RegexData::kHeightPerNesting)
        throw LimitExceeded("max_nesting", max_nesting_);
      kept_.push_back(nb::borrow(part));
      known_.emplace(part.ptr(), made);
    }
    return known_.at(tree.ptr());
  }

  using Kind = RegexData::Kind;

  // The class of such trees.
  static const char* name_of(Kind kind) { return kNames[static_cast<size_t>(kind)]; }

 private:
  static constexpr int64_t kMaxCount = INT32_MAX;

  // In the order of Kind.
  static constexpr std::array<const char*, 13> kNames = {
      "Literal",    "CharClass", "ByteClass", "Concatenation", "Alternation", "Repetition", "Intersection",
      "Complement", "KeySet",    "Divisible", "JsonString",    "Substring",   "Multiples"};

  using Ranges = std::vector<std::pair<uint32_t, uint32_t>>;

  static nb::object interned(const char* name) { return nb::steal(PyUnicode_InternFromString(name)); }

  static nb::object get(nb::handle tree, const nb::object& name) {
    PyObject* value = PyObject_GetAttr(tree.ptr(), name.ptr());
    if (value == nullptr) nb::raise_python_error();
    return nb::steal(value);
  }

  Kind kind_of(nb::handle tree) const {
    const nb::handle type = tree.type();
    for (size_t kind = 0; kind < types_.size(); ++kind) {
      if (types_[kind].is(type)) return static_cast<Kind>(kind);
    }
    throw nb::type_error("not a regex tree");
  }

  // The trees right inside a tree.
  nb::tuple inner(nb::handle tree, Kind kind) const {
    switch (kind) {
      case Kind::kConcatenation:
      case Kind::kAlternation:
      case Kind::kIntersection: {
        const nb::object parts = get(tree, parts_);
        if (!nb::isinstance<nb::tuple>(parts)) throw nb::type_error("the parts of a regex tree must be a tuple");
        return nb::borrow<nb::tuple>(parts);
      }
      case Kind::kRepetition:
      case Kind::kComplement:
      case Kind::kJsonString:
        return nb::make_tuple(get(tree, body_));
      default:
        return nb::tuple();
    }
  }

  static std::span<PyObject* const> elements(const nb::tuple& trees) {
    return {&PyTuple_GET_ITEM(trees.ptr(), 0), nb::len(trees)};
  }

  uint32_t make(nb::handle tree, Kind kind, std::span<PyObject* const> trees, RegexData& into) {
    std::vector<uint32_t> parts;
    for (PyObject* part : trees) parts.push_back(known_.at(part));
    switch (kind) {
      case Kind::kLiteral: {
        const auto data = nb::cast<nb::bytes>(get(tree, data_));
        return into.texts(kind, {std::string(data.c_str(), data.size())});
      }
      case Kind::kCharClass:
        return into.ranges(kind, code_points(tree, 0x10FFFF));
      case Kind::kByteClass:
        return into.ranges(kind, code_points(tree, 0xFF));
      case Kind::kConcatenation:
      case Kind::kAlternation:
      case Kind::kIntersection:
      case Kind::kComplement:
        return into.parts(kind, parts);
      case Kind::kRepetition: {
        const uint32_t least = count(get(tree, minimum_));
        const nb::object most = get(tree, maximum_);
        return into.repetition(parts[0], least, most.is_none() ? kUnbounded : count(most));
      }
      case Kind::kKeySet:
        return into.texts(kind, texts(tree, keys_));
      case Kind::kSubstring:
        return into.texts(kind, texts(tree, chunks_));
      case Kind::kDivisible: {
        const auto modulus = nb::cast<uint32_t>(get(tree, modulus_));
        if (modulus == 0) throw std::invalid_argument("nothing is divided by zero");
        return into.divisible(modulus);
      }
      case Kind::kMultiples: {
        const auto words = nb::cast<std::vector<uint32_t>>(get(tree, words_));
        Multiples::of_words(words);  // throws what is wrong with them
        return into.multiples(words);
      }
      case Kind::kJsonString:
        return into.json_string(parts[0], escapes_named(nb::str(get(tree, escapes_)).c_str()));
    }
    throw nb::type_error("not a regex tree");
  }

  static JsonEscapes escapes_named(std::string_view name) {
    if (name == "any") return JsonEscapes::kAny;
    if (name == "literal") return JsonEscapes::kLiteral;
    if (name == "canonical") return JsonEscapes::kCanonical;
    if (name == "yaml") return JsonEscapes::kYaml;
    throw nb::value_error("escapes must be 'any', 'literal', 'canonical' or 'yaml'");
  }

  static std::vector<std::string> texts(nb::handle tree, const nb::object& name) {
    std::vector<std::string> out;
    for (const nb::handle text : get(tree, name)) {
      Pause::tick();
      const auto data = nb::cast<nb::bytes>(text);
      out.emplace_back(data.c_str(), data.size());
    }
    return out;
  }

  std::vector<CodePointRange> code_points(nb::handle tree, uint32_t limit) const {
    auto ranges = nb::cast<Ranges>(get(tree, ranges_));
    std::sort(ranges.begin(), ranges.end());
    std::vector<CodePointRange> out;
    for (const auto& [low, high] : ranges) {
      if (low > high || high > limit) throw nb::value_error("a range is empty or lies beyond the last character");
      if (!out.empty() && low <= out.back().high) throw nb::value_error("the ranges overlap");
      out.push_back({low, high});
    }
    return out;
  }

  static uint32_t count(const nb::object& value) {
    int overflow = 0;
    const int64_t n = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
    if (n == -1 && PyErr_Occurred() != nullptr) nb::raise_python_error();
    if (overflow > 0 || n > kMaxCount) throw std::overflow_error("a repetition counts too far");
    if (overflow < 0 || n < 0) throw nb::value_error("a repetition counts below zero");
    return static_cast<uint32_t>(n);
  }

  uint64_t max_nesting_;
  // The trees are kept because an address stays theirs only as long as they live.
  std::unordered_map<PyObject*, uint32_t> known_;
  std::vector<nb::object> kept_;
  std::array<nb::object, kNames.size()> types_;
  nb::object data_, ranges_, parts_, body_, minimum_, maximum_, keys_, modulus_, chunks_, words_, escapes_;
};

// A set is one step of a store, in which nothing looks up: with so many texts, it takes a millisecond and more.
inline constexpr size_t kSlowTexts = 10'000;

// Lowers trees into one builder.
class RegexTrees {
 public:
  RegexTrees(nb::object builder, uint64_t max_nesting)
      : builder_object_(std::move(builder)), builder_(nb::cast<RegexBuilder&>(builder_object_)), reader_(max_nesting) {}

  // The node of a tree. Throws what the reader does, and LimitExceeded (max_regex_nodes) from the store.
  uint32_t node(const nb::object& tree) {
    const size_t before = read_.n_texts();
    const uint32_t number = [&] {
      LongCall reading(nullptr, LongCall::Gil::kHeld);
      return reader_.add(tree, read_);
    }();
    LongCall call(nullptr);
    if (read_.n_texts() - before > kSlowTexts) call.release();
    builder_.with([&](RegexStore& r) {
      read_.make(r, made_);
      return 0;
    });
    return made_[number].value;
  }

 private:
  nb::object builder_object_;
  RegexBuilder& builder_;
  RegexTreeReader reader_;
  RegexData read_;
  std::vector<RegexId> made_;  // of what was read
};

// The regex of a tree, for any builder.
inline std::shared_ptr<PortableRegex> portable_regex(const nb::object& tree, uint64_t max_nesting) {
  LongCall call(nullptr, LongCall::Gil::kHeld);
  RegexTreeReader reader(max_nesting);
  RegexData read;
  reader.add(tree, read);
  return std::make_shared<PortableRegex>(read);
}

}  // namespace cfgmask
