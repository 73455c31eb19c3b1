#include "mask/text_walk.h"

#include <algorithm>

namespace cfgmask {

bool TextWalk::run(LexerStateId state) {
  if (!find_texts(state)) return false;
  for (const Segment& segment : trie_.segments()) {
    for (size_t first = 0; first < texts_.size();) {
      const size_t last = end_of_byte(first, texts_.size(), 0);
      const uint32_t top = segment.tops[static_cast<uint8_t>(texts_[first].left[0])];
      if (top != 0) todo_.push_back({top, first, last, 1});
      first = last;
      while (!todo_.empty()) {
        const Place at = todo_.back();
        todo_.pop_back();
        visit(at);
      }
    }
  }
  return true;
}

// What is left of all texts, if there is nothing else, sorted and none the beginning of another.
bool TextWalk::find_texts(LexerStateId state) {
  const Words live = lexer_.residuals(state);
  size_t n = 0;
  for (size_t i = 1; i < live.size(); i += 2) {
    const RegexId residual(live[i]);
    if (!regexes_.is_set_of_texts(residual)) return false;
    n += regexes_.most_texts(residual);
  }
  if (n > kMostTexts) return false;
  texts_.reserve(n);
  for (size_t i = 0; i < live.size(); i += 2) {
    regexes_.for_each_text(RegexId(live[i + 1]),
                           [&](std::string_view left, uint32_t number) { texts_.push_back({left, live[i] + number}); });
  }
  if (!std::is_sorted(texts_.begin(), texts_.end())) std::sort(texts_.begin(), texts_.end());
  if (texts_.empty() || texts_[0].left.empty()) return false;
  const auto begins_next = [](const Text& a, const Text& b) {
    return a.left.size() != b.left.size() && b.left.starts_with(a.left);
  };
  return std::adjacent_find(texts_.begin(), texts_.end(), begins_next) == texts_.end();
}

// One past the texts whose byte at `depth` is that of the first.
size_t TextWalk::end_of_byte(size_t first, size_t last, size_t depth) const {
  const char byte = texts_[first].left[depth];
  size_t end = first + 1;
  while (end < last && texts_[end].left[depth] == byte) ++end;
  return end;
}

// The node stays inside, and all texts are complete there or none is.
void TextWalk::visit(const Place& at) {
  const auto tokens = trie_.tokens(at.node);
  table_.more_.insert(table_.more_.end(), tokens.begin(), tokens.end());
  if (texts_[at.first].left.size() == at.depth) return leave(at);
  const auto n_waiting = static_cast<ptrdiff_t>(todo_.size());
  // Siblings stand in the order of their bytes, as the texts do.
  size_t first = at.first;
  for (uint32_t node = at.node + 1; node < trie_.end(at.node); node = trie_.end(node)) {
    const uint8_t byte = trie_.byte(node);
    while (first < at.last && static_cast<uint8_t>(texts_[first].left[at.depth]) < byte) ++first;
    if (first == at.last) break;
    if (static_cast<uint8_t>(texts_[first].left[at.depth]) != byte) continue;
    const size_t last = end_of_byte(first, at.last, at.depth);
    todo_.push_back({node, first, last, at.depth + 1});
    first = last;
  }
  std::reverse(todo_.begin() + n_waiting, todo_.end());
}

void TextWalk::leave(const Place& at) {
  const uint32_t end = trie_.end(at.node);
  if (at.node + 1 == end) return;
  std::vector<uint32_t> slots;
  for (size_t i = at.first; i < at.last; ++i) slots.push_back(texts_[i].slot);
  table_.exits_.push_back({lexer_.slot_set(Words(slots)), at.node + 1, end});
}

}  // namespace cfgmask
