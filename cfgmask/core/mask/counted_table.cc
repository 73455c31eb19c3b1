#include "mask/counted_table.h"

#include <algorithm>
#include <array>

#include "mask/segment_walk.h"

namespace cfgmask {

namespace {

// Stable, and linear: a token has few characters. (A merge took a quarter of the time of a table.)
template <class T, class Number>
void sort_by(std::vector<T>& all, Number number) {
  std::vector<size_t> place;
  for (const T& one : all) {
    if (number(one) + 1 >= place.size()) place.resize(number(one) + 2);
    ++place[number(one) + 1];
  }
  for (size_t i = 1; i < place.size(); ++i) place[i] += place[i - 1];
  std::vector<T> sorted(all.size());
  for (const T& one : all) sorted[place[number(one)]++] = one;
  all = std::move(sorted);
}

// The steps of one state, each looked up once: most nodes of a walk stand where a run goes on.
class StepsOf {
 public:
  StepsOf(Lexer& lexer, LexerStateId state) : lexer_(lexer), state_(state) {}
  LexerStateId next(unsigned byte) {
    if (!is_known_[byte]) {
      next_[byte] = lexer_.next(state_, byte);
      is_known_[byte] = true;
    }
    return next_[byte];
  }

 private:
  Lexer& lexer_;
  LexerStateId state_;
  std::array<LexerStateId, 256> next_{};
  std::array<bool, 256> is_known_{};
};

}  // namespace

std::shared_ptr<const CountedTable> CountedTable::build(const Trie& trie, Lexer& lexer, RegexStore& regexes,
                                                        RegexId unbounded) {
  struct Frame {
    uint32_t end;
    LexerStateId state;
    uint32_t count;
    bool in_tail;
  };
  auto table = std::make_shared<CountedTable>();
  table->trie = &trie;
  const LexerStateId run = lexer.inside(0, unbounded);  // between characters; inside one, the state is another
  table->matched_run = lexer.matched(run);
  const ByteSet tail = regexes.after_run(unbounded);
  const bool has_tail = table->has_tail = !tail.empty();
  const uint32_t n = trie.n_nodes();
  std::vector<Frame> stack{{n, run, 0, false}};
  StepsOf run_steps(lexer, run);
  const SlotSetId matched_run = table->matched_run;
  uint32_t last_parent_end = 0;
  for (const Segment& segment : trie.segments()) {
    if (segment.first != segment.last && stays(lexer, run, segment)) table->segments.push_back(&segment);
  }
  auto skipped = table->segments.begin();
  for (uint32_t node = 1; node < n;) {
    if (skipped != table->segments.end() && node == (*skipped)->first) {
      node = (*skipped++)->last;
      continue;
    }
    while (stack.back().end <= node) stack.pop_back();
    const Frame at = stack.back();
    const uint32_t end = trie.end(node);
    const unsigned byte = trie.byte(node);
    const LexerStateId next = at.state == run ? run_steps.next(byte) : lexer.next(at.state, byte);
    if (next == Lexer::dead()) {
      const SlotSetId matched = at.state == run ? matched_run : lexer.matched(at.state);
      if (matched != Lexer::no_slots()) table->exits.push_back({{matched, node, end}, at.count});
      node = end;
      continue;
    }
    const bool between = !at.in_tail && at.state == run;
    if (!has_tail && between) {
      // Neighbouring siblings, found one after the other, are one exit.
      auto& more = table->more;
      if (!more.empty() && more.back().count == at.count && more.back().exit.last == node &&
          last_parent_end == at.end) {
        more.back().exit.last = end;
      } else {
        more.push_back({{matched_run, node, end}, at.count});
      }
      last_parent_end = at.end;
    }
    const bool in_tail = at.in_tail || (between && tail.has(byte));
    const uint32_t count = at.count + (between && !in_tail ? 1 : 0);
    for (TokenId token : trie.tokens(node)) (in_tail ? table->in_tail : table->inside).push_back({token, count});
    if (next != run && !lexer.can_continue(next)) {
      // The lexeme ends here whatever comes.
      if (node + 1 != end) table->exits.push_back({{lexer.matched(next), node + 1, end}, count});
      node = end;
      continue;
    }
    if (node + 1 != end) stack.push_back({end, next, count, in_tail});
    ++node;
  }
  uint32_t most = 0;
  for (const Token& token : table->inside) most = std::max(most, token.count);
  sort_by(table->inside, [most](const Token& token) { return most - token.count; });
  table->in_tail.shrink_to_fit();
  table->exits.shrink_to_fit();
  sort_by(table->more, [](const Exit& exit) { return exit.count; });
  return table;
}

void CountedTable::restrict(uint32_t minimum, uint32_t maximum, std::vector<TokenId>& less) const {
  for (const Token& token : inside) {
    if (token.count <= maximum) break;
    less.push_back(token.id);
  }
  for (const Segment* segment : segments) {
    const auto longer = trie->longer_than(maximum, *segment);
    less.insert(less.end(), longer.begin(), longer.end());
  }
  for (const Token& token : in_tail) {
    if (token.count < minimum || token.count > maximum) less.push_back(token.id);
  }
}

void CountedTable::restrict_exits(uint32_t minimum, uint32_t maximum, std::vector<LexerTable::Range>& replaced) const {
  for (const Exit& exit : exits) {
    if (exit.count < minimum || exit.count > maximum) replaced.push_back({exit.exit.first, exit.exit.last});
  }
}

void CountedTable::set_exits(uint32_t minimum, uint32_t maximum, std::vector<LexerTable::Exit>& out) const {
  for (const Exit& exit : exits) {
    if (exit.count >= minimum && exit.count <= maximum) out.push_back(exit.exit);
  }
  auto by_count = [](const Exit& exit, uint32_t count) { return exit.count < count; };
  for (auto it = std::lower_bound(more.begin(), more.end(), maximum, by_count);
       it != more.end() && it->count == maximum; ++it) {
    out.push_back(it->exit);
  }
  for (const Segment* segment : segments) add_ends(*segment, maximum, out);
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
}

// What follows a text of so many characters in a segment.
void CountedTable::add_ends(const Segment& segment, uint32_t n_characters, std::vector<LexerTable::Exit>& out) const {
  struct Frame {
    uint32_t end;
    uint32_t count;
  };
  if (segment.height <= n_characters) return;
  std::vector<Frame> stack{{segment.last, 0}};
  for (uint32_t node = segment.first; node < segment.last;) {
    while (stack.back().end <= node) stack.pop_back();
    const Frame at = stack.back();
    const bool begins = (trie->byte(node) & 0xC0) != 0x80;
    if (begins && at.count == n_characters) {
      out.push_back({matched_run, node, at.end});
      node = at.end;
      continue;
    }
    const uint32_t end = trie->end(node);
    const uint32_t count = at.count + (begins ? 1 : 0);
    const uint32_t height = trie->height(node);
    if (height < Trie::kTallest && count + height <= n_characters) {
      node = end;  // nothing is so long
    } else {
      if (node + 1 != end) stack.push_back({end, count});
      ++node;
    }
  }
}

}  // namespace cfgmask
