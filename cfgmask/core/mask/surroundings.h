// What the conditions of terminals on the text around their lexemes have come to.
//
// Surroundings are an interned list: what all of the text that follows must be (RegexStore::all() if anything), and for
// each condition on all that stands before a lexeme, its residual after the text so far. A byte moves all of them to
// their derivatives. What follows may be anything again as soon as it may be any valid UTF-8 that the vocabulary can
// write, so most texts are in few surroundings: those of `\b` are "behind a word character" and "behind none".
//
// Threads: guarded by the owner.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "earley/grammar.h"
#include "regex/regex.h"
#include "util/byte_set.h"
#include "util/hash_table.h"
#include "util/ids.h"
#include "util/interner.h"
#include "util/limits.h"

namespace cfgmask {

using SurroundingsId = Id<struct SurroundingsTag>;
// Which conditions on what stands before a lexeme hold.
using HoldingId = Id<struct HoldingTag>;

class Surroundings {
 public:
  // `held`: the bytes that texts consist of. New surroundings are charged as item sets, of which each may begin one.
  Surroundings(RegexStore& regexes, const std::vector<RegexId>& befores, const ByteSet& held, uint64_t max_item_sets);

  // Before any text.
  SurroundingsId start() const { return start_; }
  // After one more byte; nullopt if no text that begins with it may follow. Remembered.
  std::optional<SurroundingsId> next(SurroundingsId at, unsigned b);
  // The same where what follows must also be a text of `condition`; nullopt if there is none. Remembered.
  std::optional<SurroundingsId> demand(SurroundingsId at, RegexId condition);

  // Whether the text may end here.
  bool may_end(SurroundingsId at) const { return regexes_.nullable(rest(at)); }
  // Whether something is demanded of what follows.
  bool is_pending(SurroundingsId at) const { return rest(at) != RegexStore::all(); }
  // Whether the text so far meets a condition of Grammar::befores.
  bool holds(SurroundingsId at, uint32_t before) const {
    return regexes_.nullable(RegexId(words_.at(at.value)[before + 1]));
  }
  HoldingId holding(SurroundingsId at) const { return HoldingId(holding_[at.value]); }

  size_t bytes() const;
  uint64_t n_charged() const { return account_.used; }
  Account& account() { return account_; }

 private:
  RegexId rest(SurroundingsId at) const { return RegexId(words_.at(at.value)[0]); }
  std::optional<SurroundingsId> with_rest(RegexId rest);
  bool is_anything(RegexId rest);
  RegexId any_text();

  RegexStore& regexes_;
  ByteSet held_;
  std::optional<RegexId> any_text_;
  Account account_;
  Interner words_;  // what follows, then the residuals of what stands before
  ChunkedVector<uint32_t> holding_;
  Interner holding_ids_;
  HashTable next_;      // (surroundings, byte) -> surroundings + 1, 0 for none
  HashTable demanded_;  // (surroundings, condition), likewise
  HashTable anything_;  // regex -> whether every text is one of its own
  std::vector<uint32_t> scratch_;
  SurroundingsId start_;
};

}  // namespace cfgmask
