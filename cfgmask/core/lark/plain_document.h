// Lark grammars as most are: rules, with parameters or without, and terminals of names, strings, regexes, ranges,
// groups, operators and quantifiers, special tokens, limits on tokens, `%json`, `%ignore`, terminals from modules, and
// options. Whatever else a grammar says, or says wrong, is left to the reader in Python (cfgmask/lark/reader.py).
//
// Threads: immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "earley/parameter.h"
#include "lark/lexer.h"

namespace cfgmask {

class PlainLarkDocument {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  enum class Kind : uint8_t {
    kName,
    kString,
    kPattern,
    kRange,
    kSequence,
    kChoice,
    kIntersection,
    kComplement,
    kRepeat,
    kGuarded,
    kAlias,
    kJson,
    kTokens,
  };
  // A part of the text.
  struct Place {
    uint32_t start = 0;
    uint32_t end = 0;
  };
  // `first` and `last` bound its parts in a list of all; of a pattern, what stands between the slashes, in the text; of
  // JSON, that, in the text; of a string, its value in a list of all.
  struct Node {
    Kind kind;
    bool ignores_case = false;
    Place place = {};
    uint32_t first = 0;
    uint32_t last = 0;
    uint32_t minimum = 0;  // of repeats, or the first character of a range
    uint32_t maximum = 0;  // kUnbounded where there is none; or the last character
    // Of what is guarded, its condition; of a name, what it is given, if anything: both in lists of all.
    uint32_t parameter = kNone;
  };
  struct Definition {
    Place name;
    bool is_terminal;
    bool parametric;
    int32_t priority;
    std::optional<uint32_t> max_tokens;
    uint32_t body;
  };
  // `%import module.name -> alias`
  struct Import {
    std::u32string module;
    Place name;
    Place alias;
  };
  // `%cfgmask {...}`, or `%llguidance {...}`; the place is that of the braces.
  struct Options {
    Place value;
    bool of_llguidance;
  };
  enum class Others : uint8_t { kRefuse, kLeaveOut };

  // Null where the text has another statement, unless those are to be left out, or is not cut into statements.
  // max_tokens, max_nesting  as of cut_lark
  // Linear.
  static std::shared_ptr<const PlainLarkDocument> read(std::u32string text, const CharacterKinds& kinds,
                                                       uint64_t max_tokens, uint64_t max_nesting, Others others);

  std::u32string_view text(Place place) const {
    return std::u32string_view(text_).substr(place.start, place.end - place.start);
  }
  const Node& operator[](uint32_t node) const { return nodes_[node]; }
  std::span<const uint32_t> parts(const Node& node) const {
    return std::span(parts_).subspan(node.first, node.last - node.first);
  }
  // Of a string, escapes resolved.
  std::u32string_view value(const Node& node) const {
    return std::u32string_view(values_).substr(node.first, node.last - node.first);
  }
  std::u32string_view pattern(const Node& node) const { return text({node.first, node.last}); }
  std::u32string_view json(const Node& node) const { return text({node.first, node.last}); }
  std::u32string_view flags(const Node& node) const { return text({node.last + 1, node.place.end}); }

  const Argument& argument(uint32_t number) const { return arguments_[number]; }
  const Condition& condition(uint32_t number) const { return conditions_[number]; }

  const std::vector<Definition>& definitions() const { return definitions_; }
  const std::vector<uint32_t>& ignored() const { return ignored_; }
  const std::vector<Import>& imports() const { return imports_; }
  const std::vector<Options>& options() const { return options_; }

 private:
  friend class PlainLarkReading;

  std::u32string text_;
  std::u32string values_;
  std::vector<Node> nodes_;
  std::vector<uint32_t> parts_;
  std::vector<Argument> arguments_;
  std::vector<Condition> conditions_;
  std::vector<Definition> definitions_;
  std::vector<uint32_t> ignored_;
  std::vector<Import> imports_;
  std::vector<Options> options_;
};

}  // namespace cfgmask
