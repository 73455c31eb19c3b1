// Masks where terminals have conditions on the text around them, lines are indented, or tokens are counted (lexer:
// longest).
//
// A lexer table knows none of these: they decide which terminals begin, and whether a lexeme may end where it does. So
// where a lexeme ends, the trie is walked with the stepper. What stays inside is a table's, as long as nothing is
// pending that looks at each byte; else it is walked as well, and answered by whole segments.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "mask/configuration.h"
#include "mask/lexer_table.h"
#include "mask/segment_walk.h"
#include "vocab/trie.h"

namespace cfgmask {

class ConditionalWalk {
 public:
  ConditionalWalk(const Trie& trie, LexerTables& tables, Stepper& stepper, std::vector<TokenId>& out)
      : trie_(trie), tables_(tables), answers_(tables.segment_answers()), stepper_(stepper), out_(out) {}

  using Tables = std::vector<std::shared_ptr<const LexerTable>>;
  // Appends the tokens that fit from `at`, some of them more than once, but for those inside of the tables that it
  // returns.
  Tables run(Configuration at);
  // The same for those that leave the lexeme, or are the last of it, where the lexer decides what stays inside: the
  // exits of `table`, which is one apart.
  Tables leave(Configuration at, const LexerTable& table);

 private:
  struct Frame {
    uint32_t end;
    Configuration at;
    bool is_plain;  // see Stepper
  };
  // Siblings in [first, last) and what is below them, from `at`.
  struct Part {
    uint32_t first;
    uint32_t last;
    Configuration at;
  };

  // Nodes below which a walk is cheaper than the question whether it is needed.
  static constexpr uint32_t kLargeSubtree = 48;
  // Nodes below which a walk is cheaper than to add a table.
  static constexpr uint32_t kLargeRange = 256;

  // All that is put off.
  void add_later();
  void add_exits(Configuration at, const LexerTable& table);
  void add(const Part& part, const Segment& segment);
  void add_by_table(const Part& part, const Segment& segment);
  void end_and_add(const Part& part, const Segment& segment);
  void walk_all(const Part& part, const Segment& segment);
  void walk(const Part& part, const Segment& segment);
  uint32_t visit(uint32_t node, const Segment& segment);
  uint32_t enter(uint32_t node, const Segment& segment, const Configuration& next, bool is_plain);
  bool takes_all(Configuration at, const Segment& segment, uint32_t height) {
    if (!stepper_.is_inside(at) || stepper_.counts_tokens(at)) return false;
    if (!stepper_.counts_lines(at)) return answers_.takes_more(at.lexer, segment, height);
    return !segment.ascii.has('\n') && answers_.keeps(at.lexer, segment);
  }
  void keep(uint32_t first, uint32_t last);
  bool keep_if_fitting(uint32_t node, const Configuration& next);
  bool may_end_token(const Configuration& at);

  const Trie& trie_;
  LexerTables& tables_;
  SegmentAnswers& answers_;
  Stepper& stepper_;
  std::vector<TokenId>& out_;
  Tables found_;
  std::vector<std::pair<Part, const Segment*>> later_;  // large parts before a lexeme
  std::vector<Part> left_;                              // where a lexeme ended in several ways, all but one
  std::vector<Frame> stack_;
  std::vector<Configuration> next_;
  std::map<Configuration, bool> may_end_;  // where tokens are counted, of those that are not inside of a lexeme
};

}  // namespace cfgmask
