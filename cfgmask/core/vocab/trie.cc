#include "vocab/trie.h"

#include <algorithm>
#include <numeric>

namespace cfgmask {

Trie::Trie(std::span<const std::string_view> tokens) {
  std::vector<TokenId> order;
  order.reserve(tokens.size());
  size_t total = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].empty()) continue;
    order.push_back(static_cast<TokenId>(i));
    total += tokens[i].size();
  }
  std::sort(order.begin(), order.end(), [&](TokenId a, TokenId b) {
    const int c = tokens[a].compare(tokens[b]);
    return c != 0 ? c < 0 : a < b;
  });
  const size_t guess = std::min(total, order.size() * 3) + 1;
  byte_.reserve(guess);
  end_.reserve(guess);
  first_token_.reserve(guess + 1);
  tokens_.reserve(order.size());

  std::vector<uint32_t> path{0};  // nodes of the previous token, from the root
  byte_.push_back(0);
  end_.push_back(0);
  first_token_.push_back(0);
  std::string_view previous;
  auto close = [&](size_t depth) {
    for (; path.size() > depth + 1; path.pop_back()) end_[path.back()] = n_nodes();
  };
  for (TokenId id : order) {
    const std::string_view text = tokens[id];
    const auto [p, t] = std::mismatch(previous.begin(), previous.end(), text.begin(), text.end());
    const auto common = static_cast<size_t>(t - text.begin());
    close(common);
    for (size_t i = common; i < text.size(); ++i) {
      path.push_back(n_nodes());
      byte_.push_back(static_cast<uint8_t>(text[i]));
      end_.push_back(0);
      first_token_.push_back(static_cast<uint32_t>(tokens_.size()));
    }
    tokens_.push_back(id);
    max_depth_ = std::max(max_depth_, text.size());
    previous = text;
  }
  close(0);
  end_[0] = n_nodes();
  first_token_.push_back(static_cast<uint32_t>(tokens_.size()));
}

size_t Trie::bytes() const {
  return byte_.capacity() + (end_.capacity() + first_token_.capacity() + tokens_.capacity()) * sizeof(uint32_t);
}

}  // namespace cfgmask
