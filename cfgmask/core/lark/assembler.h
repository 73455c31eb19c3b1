// Puts a statement together by the steps of its parser (lark/syntax.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "lark/lexer.h"
#include "lark/syntax.h"

namespace cfgmask {

// What stands for symbols that were read: a token, a node, or the parts of a rule that is its parent's.
template <typename Node>
struct LarkPiece {
  uint32_t start;
  uint32_t end;
  const LarkToken* token = nullptr;
  Node node = {};
  LarkRule rule = {};  // that the node was made by
  std::vector<LarkPiece> parts = {};
};

template <typename Node>
using LarkPieces = std::vector<LarkPiece<Node>>;

template <typename Node>
LarkPieces<Node> lark_parts(std::span<LarkPiece<Node>> symbols, std::string_view taken) {
  // A list that grows goes on with what it has.
  const bool is_list = !taken.empty() && taken.front() == '*';
  LarkPieces<Node> parts = is_list ? std::move(symbols[0].parts) : LarkPieces<Node>();
  for (size_t i = is_list; i < symbols.size(); ++i) {
    if (taken[i] == '*') {
      std::move(symbols[i].parts.begin(), symbols[i].parts.end(), std::back_inserter(parts));
    } else if (taken[i] == '1') {
      parts.push_back(std::move(symbols[i]));
    }
  }
  return parts;
}

// `make(rule, parts, start, end)` makes the node of a rule that was read there, of its parts; an empty sequence alone
// has none. Linear but for what that takes.
template <typename Node, typename Make>
Node assemble_lark(std::span<const LarkToken> tokens, std::span<const LarkStep> steps, Make&& make) {
  LarkPieces<Node> stack;
  size_t n_read = 0;
  for (const LarkStep step : steps) {
    if (step == nullptr) {
      const LarkToken& token = tokens[n_read++];
      stack.push_back({.start = token.start, .end = token.end, .token = &token});
      continue;
    }
    const size_t n_symbols = step->taken.size();
    LarkPieces<Node> parts = lark_parts(std::span(stack).last(n_symbols), step->taken);
    stack.resize(stack.size() - n_symbols);
    if (parts.empty()) {
      const uint32_t behind = n_read > 0 ? tokens[n_read - 1].end : 0;
      stack.push_back({.start = behind, .end = behind, .node = make(LarkRule::kSequence, parts, behind, behind)});
      continue;
    }
    if (step->may_vanish && parts.size() == 1) {
      stack.push_back(std::move(parts.front()));
      continue;
    }
    LarkPiece<Node> piece{.start = parts.front().start, .end = parts.back().end, .rule = step->rule};
    if (step->is_inline) {
      piece.parts = std::move(parts);
    } else {
      piece.node = make(step->rule, parts, piece.start, piece.end);
    }
    stack.push_back(std::move(piece));
  }
  return std::move(stack.front().node);
}

}  // namespace cfgmask
