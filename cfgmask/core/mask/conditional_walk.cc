#include "mask/conditional_walk.h"

namespace cfgmask {

ConditionalWalk::Tables ConditionalWalk::run(Configuration at) {
  answers_.begin_walk();
  for (const Segment& segment : trie_.segments()) {
    if (segment.first == segment.last) continue;
    if (takes_all(at, segment, segment.height)) {
      keep(segment.first, segment.last);
    } else {
      add({segment.first, segment.last, at}, segment);
    }
  }
  add_later();
  return std::move(found_);
}

ConditionalWalk::Tables ConditionalWalk::leave(Configuration at, const LexerTable& table) {
  answers_.begin_walk();
  add_exits(at, table);
  add_later();
  return std::move(found_);
}

void ConditionalWalk::add_later() {
  while (!later_.empty()) {
    const auto [part, segment] = later_.back();
    later_.pop_back();
    add(part, *segment);
  }
}

void ConditionalWalk::add_exits(Configuration at, const LexerTable& table) {
  auto segment = trie_.segments().begin();
  table.for_each_exit_apart([&](const LexerTable::Exit& exit, LexerStateId before) {
    while (segment->last <= exit.first) ++segment;
    const Configuration inside = stepper_.inside(at, before, [&] { return trie_.path(exit.first); });
    if (exit.matched == Lexer::no_slots()) return walk_all({exit.first, exit.last, inside}, *segment);
    for (const Ended& ended : stepper_.end_lexeme(inside)) {
      add({exit.first, exit.last, stepper_.at_boundary(ended.to)}, *segment);
    }
  });
}

// A large part by tables, but for bytes that may begin a newline, whose widths count.
void ConditionalWalk::add(const Part& part, const Segment& segment) {
  const bool by_table = part.last - part.first > kLargeRange && stepper_.is_up_to_lexer_but_for_lines(part.at) &&
                        !stepper_.asks_before() && stepper_.has_room(part.at);
  if (!by_table) return end_and_add(part, segment);
  const ByteSet lines = stepper_.line_bytes(part.at);
  uint32_t first = part.first;
  const auto add_until = [&](uint32_t last) {
    if (first != last) add_by_table({first, last, part.at}, segment);
  };
  if (!lines.empty()) {
    trie_.for_each_sibling(part.first, part.last, lines, [&](uint32_t node) {
      add_until(node);
      first = trie_.end(node);
      walk_all({node, first, part.at}, segment);
    });
  }
  add_until(part.last);
}

// What the lexeme takes is walked; what ends it begins another.
void ConditionalWalk::end_and_add(const Part& part, const Segment& segment) {
  const ByteSet& taken = stepper_.first(part.at);
  if (stepper_.is_at_boundary(part.at) || part.last - part.first <= kLargeRange) {
    return trie_.for_each_sibling(part.first, part.last, stepper_.may_take(part.at),
                                  [&](uint32_t node) { walk_all({node, trie_.end(node), part.at}, segment); });
  }
  uint32_t first = part.first;
  const auto end_until = [&](uint32_t last) {
    if (first == last) return;
    for (const Ended& ended : stepper_.end_lexeme(part.at)) add({first, last, stepper_.at_boundary(ended.to)}, segment);
  };
  trie_.for_each_sibling(part.first, part.last, ByteSet(taken), [&](uint32_t node) {
    end_until(node);
    first = trie_.end(node);
    walk_all({node, first, part.at}, segment);
  });
  end_until(part.last);
}

void ConditionalWalk::add_by_table(const Part& part, const Segment& segment) {
  if (part.last - part.first <= kLargeRange) return walk_all(part, segment);
  auto table = tables_.apart(part.at.lexer, part.first, part.last, segment);
  add_exits(part.at, *table);
  if (!table->add_few_inside(out_)) found_.push_back(std::move(table));
}

// With every reading.
void ConditionalWalk::walk_all(const Part& part, const Segment& segment) {
  left_.assign(1, part);
  while (!left_.empty()) {
    const Part next = left_.back();
    left_.pop_back();
    walk(next, segment);
  }
}

void ConditionalWalk::walk(const Part& part, const Segment& segment) {
  stack_.assign(1, {part.last, part.at, stepper_.is_plain(part.at)});
  for (uint32_t node = part.first; node < part.last;) {
    while (stack_.back().end <= node) stack_.pop_back();
    node = visit(node, segment);
  }
}

// Returns the node to go on with.
uint32_t ConditionalWalk::visit(uint32_t node, const Segment& segment) {
  const Frame& top = stack_.back();
  const unsigned b = trie_.byte(node);
  if (top.is_plain) {
    if (const auto next = stepper_.next_plain(top.at, b)) {
      keep_if_fitting(node, *next);
      return enter(node, segment, *next, true);
    }
  }
  const uint32_t end = trie_.end(node);
  next_.clear();
  stepper_.longest(top.at, b, next_);
  if (next_.empty()) return end;
  for (size_t i = 1; i < next_.size() && node + 1 < end; ++i) left_.push_back({node + 1, end, next_[i]});
  for (const Configuration& next : next_) {
    if (keep_if_fitting(node, next)) break;
  }
  return enter(node, segment, next_[0], stepper_.is_plain(next_[0]));
}

// Whether a token may end at the node, in this reading.
bool ConditionalWalk::keep_if_fitting(uint32_t node, const Configuration& next) {
  if (!trie_.tokens(node).empty() && may_end_token(next)) {
    keep(node, node + 1);
    return true;
  }
  return false;
}

// Most tokens that leave a lexeme lead to few places.
bool ConditionalWalk::may_end_token(const Configuration& at) {
  if (!stepper_.counts_tokens()) return true;
  const auto [known, is_new] = may_end_.try_emplace(at, false);
  if (is_new) known->second = stepper_.may_end_token(at);
  return known->second;
}

// The bytes of the node lead to `next`.
uint32_t ConditionalWalk::enter(uint32_t node, const Segment& segment, const Configuration& next, bool is_plain) {
  const uint32_t end = trie_.end(node);
  if (node + 1 == end) return end;
  if (end - node > kLargeSubtree && takes_all(next, trie_.below(segment), trie_.height(node))) {
    keep(node + 1, end);
    return end;
  }
  if (end - node > kLargeRange && stepper_.is_at_boundary(next)) {
    later_.push_back({{node + 1, end, next}, &segment});
    return end;
  }
  stack_.push_back({end, next, is_plain});
  return node + 1;
}

void ConditionalWalk::keep(uint32_t first, uint32_t last) {
  const auto tokens = trie_.tokens_between(first, last);
  out_.insert(out_.end(), tokens.begin(), tokens.end());
}

}  // namespace cfgmask
