// The texts in which a pattern of ECMA-262 with assertions is found: lookaround, word boundaries, anchors anywhere.
//
// A pattern is translated from its end, so that what may follow a part is known when the part is: a lookahead is an
// intersection with that, and `$` asks whether it may be empty. What stands before a part matters by its last character
// alone, so there is one regex for each kind of character that the pattern tells apart. cfgmask/regex translates all
// patterns, and is what this is tested against.
//
// Threads: for one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "pattern/syntax_tree.h"
#include "regex/regex_data.h"
#include "schema/plain_pattern.h"

namespace cfgmask {

class PatternSearch {
 public:
  using Tree = uint32_t;  // a node of the data
  // The texts: none, or those of a node.
  struct Found {
    std::optional<Tree> texts;
  };

  // Adds nodes to `data`, a bounded number. nullopt for a pattern that is wrong, and for assertions that this does not
  // read: longer lookbehind, and some in repetitions without a bound.
  static std::optional<Found> find(std::string_view pattern, uint64_t max_nesting, CharacterProperties& properties,
                                   RegexData& data);

 private:
  using Id = SyntaxTree::Id;
  using Kind = SyntaxNode::Kind;
  using Ranges = std::vector<CodePointRange>;
  struct NotRead {};
  // What may be left of a text, up to its end.
  struct Rest {
    enum class Form : uint8_t { kNothing, kEmptyText, kAny, kOther };

    Form form = Form::kNothing;
    Tree tree = 0;  // of all but nothing
    bool nullable = false;

    bool operator==(const Rest&) const = default;
  };
  // By the kind of the character before: 0 if there is none.
  using Rests = std::vector<Rest>;
  // A part without assertions.
  struct Piece {
    PlainPattern pattern;
    Tree tree;
    bool nullable;
  };

  PatternSearch(std::u32string_view pattern, const SyntaxTree& tree, uint64_t max_nesting,
                CharacterProperties& properties, RegexData& data);

  static void require(bool holds) {
    if (!holds) throw NotRead();
  }
  void find_assertions();
  void divide_characters();
  void divide_by(const Ranges& ranges);

  std::optional<Tree> whole(const Rests& rests);
  Rests translated(Id id, const Rests& after, uint64_t depth);
  Rests sequence(std::span<const Id> items, Rests after, uint64_t depth);
  Rests plain(const Piece& piece, const Rests& after);
  Rests repeated(const SyntaxNode& node, const Rests& after, uint64_t depth);
  // Any number of times.
  Rests any_times(Id body, const Rests& after, uint64_t depth);
  // Up to the end of the text, lookahead and one character; nullopt for another body.
  std::optional<Rest> guarded(Id body, uint64_t depth);
  // The texts of a part before which `$` holds nowhere; none if there are no such texts.
  std::optional<Tree> without_end(Id id, uint64_t depth);
  bool asserts_ends_alone(Id id) const;
  Rests boundary(bool at_edge, const Rests& after);
  Rests lookaround(const SyntaxNode& node, Id id, const Rests& after, uint64_t depth);

  Piece piece(Id id) const;
  std::optional<Ranges> one_character(Id id) const;
  // The texts of a node that end in a character of a kind.
  std::optional<Tree> ending_in(const PlainPattern& pattern, uint32_t node, const Ranges& kind);

  Rests same(const Rest& rest) const { return Rests(n_kinds(), rest); }
  static bool are_same(const Rests& rests);
  template <class Make>
  Rests for_each_kind(const std::vector<Rests>& given, Make make);
  size_t n_kinds() const { return kinds_.size() + 1; }

  Rest nothing() const { return {}; }
  Rest empty_text() const { return {Rest::Form::kEmptyText, empty_, true}; }
  Rest any() const { return {Rest::Form::kAny, any_, true}; }
  Rest either(const std::vector<Rest>& ways);
  Rest both(const Rest& a, const Rest& b);
  Rest opposite(const Rest& a);
  Rest then(Tree tree, bool nullable, const Rest& after);
  std::optional<Tree> any_of(const std::vector<Tree>& ways);  // none for no ways
  Tree joined(std::vector<Tree> parts);
  Tree char_class(const Ranges& ranges);
  void check_size();

  std::u32string_view pattern_;
  const SyntaxTree& tree_;
  uint64_t max_nesting_;
  uint64_t max_depth_;
  CharacterProperties& properties_;
  RegexData& data_;
  size_t n_before_;
  size_t n_steps_ = 0;
  std::vector<bool> has_assertions_;          // by node of the syntax tree
  std::vector<Ranges> kinds_;                 // of characters, apart from each other
  std::unordered_map<Id, Ranges> looked_at_;  // by lookbehind: the character before
  Tree empty_;
  Tree any_;
};

}  // namespace cfgmask
