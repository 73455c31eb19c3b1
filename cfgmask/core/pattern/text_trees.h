// Regexes over characters in a normal form, for what assertions mean: few nodes, and equal ones are one.
//
// Neighbouring literals are one, single characters of an alternation are a class, and what matches nothing, the empty
// text or any text is gone where it changes nothing. Alternations and intersections are equal whatever the order of
// their parts. Whole patterns are left to `RegexStore`, which knows more equalities and needs more for each node.
//
// Threads: for one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "pattern/code_points.h"
#include "regex/regex_data.h"
#include "util/interner.h"

namespace cfgmask {

class TextTrees {
 public:
  using Id = uint32_t;
  enum class Kind : uint8_t {
    kLiteral,  // characters
    kClass,    // one character
    kConcatenation,
    kAlternation,
    kRepetition,  // one part
    kIntersection,
    kComplement,  // one part
    kSubstring,   // consecutive characters, none included
  };
  static constexpr Id kNothing = 0;
  static constexpr Id kEmptyText = 1;
  static constexpr Id kAnyCharacter = 2;
  static constexpr Id kAnyText = 3;
  static constexpr uint64_t kNoMaximum = UINT64_MAX;

  TextTrees();

  Kind kind(Id tree) const { return nodes_[tree].kind; }
  size_t size() const { return nodes_.size(); }
  // The trees right inside of one, in order.
  std::span<const Id> parts(Id tree) const {
    return kind(tree) >= Kind::kConcatenation && kind(tree) != Kind::kSubstring ? words(tree) : std::span<const Id>();
  }
  // The characters of a literal or a substring.
  std::span<const uint32_t> characters(Id tree) const { return words(tree); }
  CodePoints members(Id tree) const;  // of a class
  uint64_t minimum(Id tree) const { return nodes_[tree].minimum; }
  uint64_t maximum(Id tree) const { return nodes_[tree].maximum; }
  // Whether the empty text matches.
  bool is_nullable(Id tree) const { return nodes_[tree].nullable; }
  // How many characters every text has; nullopt if they differ, or if it would take a search to know.
  std::optional<uint64_t> fixed_size(Id tree) const {
    const uint64_t size = nodes_[tree].fixed_size;
    return size == kNoMaximum ? std::nullopt : std::optional(size);
  }
  // How many leaves there are, shared ones as often as they occur.
  uint64_t weight(Id tree) const { return nodes_[tree].weight; }

  Id literal(std::span<const uint32_t> characters);
  Id character(uint32_t c) { return literal({&c, 1}); }
  Id char_class(const CodePoints& members);
  Id concatenation(std::span<const Id> parts);
  Id concatenation(std::initializer_list<Id> parts) { return concatenation(std::span(parts.begin(), parts.size())); }
  Id alternation(std::span<const Id> parts);
  Id alternation(std::initializer_list<Id> parts) { return alternation(std::span(parts.begin(), parts.size())); }
  Id repetition(Id body, uint64_t minimum, uint64_t maximum);
  Id intersection(std::span<const Id> parts);
  Id intersection(std::initializer_list<Id> parts) { return intersection(std::span(parts.begin(), parts.size())); }
  Id complement(Id body);
  Id substring(std::span<const uint32_t> characters);
  // The trees of all nodes of some data; nullopt if there are nodes of other kinds. Linear.
  std::optional<std::vector<Id>> adopt(const RegexData& data);
  // Adds the nodes of a tree to some data; the number of its own. nullopt for counts beyond those of regexes. Linear.
  std::optional<uint32_t> append_to(RegexData& data, Id root) const;

  // Calls work(part) for what `known(part)` is false of, parts before what they are in; `known` holds afterwards. No
  // recursion.
  template <class Known, class Work>
  void each(Id root, Known known, Work work) const {
    std::vector<Id> pending{root};
    while (!pending.empty()) {
      const Id tree = pending.back();
      const size_t waiting = pending.size();
      if (!known(tree)) {
        const auto inside = parts(tree);
        for (size_t i = inside.size(); i-- > 0;) {
          if (!known(inside[i])) pending.push_back(inside[i]);
        }
      }
      if (pending.size() > waiting) continue;
      pending.pop_back();
      if (!known(tree)) work(tree);
    }
  }

 private:
  struct Node {
    Kind kind;
    bool nullable;
    uint32_t first;
    uint32_t size;
    uint64_t minimum;
    uint64_t maximum;
    uint64_t fixed_size;  // kNoMaximum: none
    uint64_t weight;
  };

  std::span<const uint32_t> words(Id tree) const {
    return std::span(words_).subspan(nodes_[tree].first, nodes_[tree].size);
  }
  Id unique(Kind kind, std::span<const uint32_t> words, uint64_t minimum = 0, uint64_t maximum = 0);
  bool found_nullable(Kind kind, std::span<const Id> parts, uint64_t minimum) const;
  uint64_t found_size(Kind kind, std::span<const uint32_t> words, uint64_t minimum, uint64_t maximum) const;
  // The characters that a tree matches, if it matches single characters.
  std::optional<CodePoints> as_characters(Id tree) const;

  std::vector<Node> nodes_;
  std::vector<uint32_t> words_;
  Interner known_;  // what is said of each node
};

}  // namespace cfgmask
