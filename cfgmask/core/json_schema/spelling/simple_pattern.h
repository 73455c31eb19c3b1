// Patterns of ECMA-262 as schemas mostly have them: characters, classes, groups, quantifiers, and anchors at the ends
// of alternatives. They become nodes that make regexes only where a text comes to them. All other patterns are
// translated as a whole (pattern/meaning.h), which is what this is tested against.
//
// Threads: immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json_schema/spelling/character_properties.h"
#include "json_schema/spelling/pattern_nodes.h"
#include "pattern/parser.h"
#include "regex/lengths.h"
#include "regex/regex.h"

namespace cfgmask {

// The code points of a text in UTF-8, which must be valid.
std::vector<uint32_t> code_points(std::string_view text);
std::u32string characters_of_utf8(std::string_view text);

class SimplePattern {
 public:
  using Kind = PatternNode::Kind;
  using Node = PatternNode;
  using Sequences = PatternNodes::Sequences;
  // An alternative of the whole pattern, and whether it begins and ends where the text does.
  struct Branch {
    uint32_t body;  // a sequence
    bool from_start;
    bool to_end;
  };

  // nullopt for a pattern that is not of this kind, right or wrong. properties: those that it may name; null for none.
  // Linear.
  static std::optional<SimplePattern> parse(std::string_view pattern, uint64_t max_nesting,
                                            CharacterProperties* properties = nullptr);

  // The texts in which the pattern is found.
  RegexId regex(RegexStore& store, Sequences how = Sequences::kByPart) const;
  // Those of one branch.
  static RegexId regex(RegexStore& store, const PatternNodes& nodes, const Branch& branch,
                       Sequences how = Sequences::kByPart);
  const std::vector<Branch>& branches() const { return branches_; }
  // Null where there are several.
  const Branch* only_branch() const { return branches_.size() == 1 ? branches_.data() : nullptr; }
  const std::shared_ptr<PatternNodes>& nodes() const { return nodes_; }
  // nullopt where that takes long to tell.
  std::optional<bool> found_in(std::string_view text) const;
  // The only text in which it is found, if there plainly is just one.
  std::optional<std::string> only_text() const;
  // Characters of ASCII that all texts in which it is found plainly begin with.
  std::string_view start() const { return start_; }
  // True if some text of so many characters certainly contains a match.
  bool has_text(uint32_t least, uint32_t most) const;

 private:
  friend class PatternReading;
  using Positions = std::vector<bool>;

  Positions ends(uint32_t node, Positions starts, const std::vector<uint32_t>& text, uint64_t& steps) const;
  LengthRange lengths(uint32_t node) const;
  std::string found_start() const;

  std::shared_ptr<PatternNodes> nodes_ = std::make_shared<PatternNodes>();
  std::vector<Branch> branches_;
  std::string start_;
};

// How patterns of ECMA-262 are read. Letters and digits beyond ASCII are not known.
PatternReadingOptions ecma_reading(uint64_t max_nesting, uint64_t max_parts = UINT64_MAX);

}  // namespace cfgmask
