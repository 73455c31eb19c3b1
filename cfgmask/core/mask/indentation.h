// Indentation, as Lark's `Indenter` counts it: a register of a state, interned.
//
// It holds the widths of the blocks around, how many brackets are open, and, inside of a newline's lexeme, how wide the
// line is that it begins. Outside of brackets, where a newline ends, its width decides what the indenter puts behind
// it: an indent if it is larger than the innermost block's, or a dedent for each block that is wider. At the end of the
// text all blocks end. Inside of brackets newlines are ignored text.
//
// Threads: guarded by the owner.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "earley/parser.h"
#include "regex/regex.h"
#include "util/chunked_vector.h"
#include "util/hash_table.h"
#include "util/ids.h"
#include "util/interner.h"
#include "util/limits.h"

namespace cfgmask {

using IndentationId = Id<struct IndentationTag>;

class Indentation {
 public:
  // New registers are charged as item sets, of which each may begin one.
  Indentation(const Grammar& grammar, Parser& parser, RegexStore& regexes, uint64_t max_item_sets);

  // No block and no bracket; all that there is without an indenter.
  static constexpr IndentationId start() { return IndentationId(0U); }

  bool in_brackets(IndentationId at) const { return registers_.at(at.value)[1] != 0; }
  // Whether a lexeme of this role may stand there.
  bool may_stand(LineRole role, IndentationId at) const;
  // After one more byte of what may be a newline, outside of brackets.
  IndentationId longer(IndentationId at, unsigned b);
  // Of a lexeme that is no newline.
  IndentationId without_width(IndentationId at);
  // Whether a width is known: spaces would change it.
  bool has_width(IndentationId at) const { return registers_.at(at.value)[2] != kNoWidth; }

  struct Ended {
    ItemSetId items;
    IndentationId indentation;
    uint32_t token = kIndent;
    uint32_t n_tokens = 0;
  };
  // After a lexeme that led the parser to `items`; nullopt where it must not end so.
  std::optional<Ended> end_lexeme(LineRole role, ItemSetId items, IndentationId at);
  // At the end of the text.
  std::optional<Ended> end_text(ItemSetId items, IndentationId at);
  // Whether what is left of a newline's lexeme, which would lead to `items`, may still begin a line that fits.
  // Remembered; linear in the widths on the way to one.
  bool may_fit(ItemSetId items, RegexId residual, IndentationId at);

  size_t bytes() const;
  uint64_t n_charged() const { return account_.used; }
  Account& account() { return account_; }

 private:
  // Widths of blocks, innermost first, as a list with shared tails.
  using BlocksId = Id<struct BlocksTag>;
  // Which widths fit.
  using FittingId = Id<struct FittingTag>;

  static constexpr BlocksId kNoBlocks{0U};
  static constexpr uint32_t kNoWidth = 0;  // widths are stored plus one

  struct Register {
    BlocksId blocks;
    uint32_t brackets;
    uint32_t width;
  };

  Register read(IndentationId at) const {
    const Words words = registers_.at(at.value);
    return {BlocksId(words[0]), words[1], words[2]};
  }
  uint32_t width_of(BlocksId blocks) const { return blocks_.at(blocks.value)[0]; }
  BlocksId outer(BlocksId blocks) const { return BlocksId(blocks_.at(blocks.value)[1]); }
  IndentationId intern(const Register& found);
  uint32_t widened(uint32_t width, unsigned b) const;
  std::optional<Ended> end_newline(ItemSetId items, const Register& at);
  FittingId fitting(ItemSetId items, BlocksId blocks);
  bool fits(FittingId fitting, uint32_t width) const;
  bool search(FittingId fitting, RegexId residual, uint32_t width);
  std::optional<bool> known(FittingId fitting, RegexId residual, uint32_t width) const;
  void remember(FittingId fitting, RegexId residual, uint32_t width, bool fits);

  Parser& parser_;
  RegexStore& regexes_;
  Account account_;
  uint32_t tab_len_;
  Interner blocks_;     // words width, outer blocks
  Interner registers_;  // words blocks, brackets, width
  HashTable fitting_;   // (item set, blocks) -> which widths fit
  Interner widths_;     // words: the largest that counts, whether larger ones fit, and those that fit, falling
  Interner place_ids_;  // words which fit, residual, width
  ChunkedVector<bool> places_;
};

}  // namespace cfgmask
