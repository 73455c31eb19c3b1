#include "mask/key_endings.h"

#include <algorithm>
#include <utility>

#include "regex/begun_string.h"

namespace cfgmask {

namespace {

// Found in the trie, since a look at the text of every token takes ten times as long.
std::vector<TokenId> tokens_with_quote(const Trie& trie) {
  std::vector<TokenId> found;
  for (uint32_t node = 1; node < trie.n_nodes();) {
    if (trie.byte(node) != '"') {
      ++node;
      continue;
    }
    const auto below = trie.tokens_between(node, trie.end(node));
    found.insert(found.end(), below.begin(), below.end());
    node = trie.end(node);
  }
  std::sort(found.begin(), found.end());
  return found;
}

FewTokens with_quotes(const Vocabulary& vocabulary, const std::vector<TokenId>& tokens, ptrdiff_t least) {
  std::vector<TokenId> found;
  for (TokenId token : tokens) {
    const std::string_view text = vocabulary.text(token);
    if (std::count(text.begin(), text.end(), '"') >= least) found.push_back(token);
  }
  return FewTokens(std::move(found));
}

}  // namespace

KeyEndings::KeyEndings(const Vocabulary& vocabulary)
    : with_quote_(tokens_with_quote(*vocabulary.trie)),
      two_quotes_(with_quotes(vocabulary, with_quote_, 2)),
      three_quotes_(with_quotes(vocabulary, with_quote_, 3)) {
  for (TokenId token : with_quote_) {
    const std::string_view text = vocabulary.text(token);
    const size_t inside = whole_units(text);
    if (inside >= text.size() || text[inside] != '"') continue;
    std::string added = decode_begun_string('"' + std::string(text.substr(0, inside))).text;
    longest_ = std::max(longest_, added.size());
    auto& ways = endings_[std::move(added)];
    const std::string_view spelling = text.substr(0, inside + 1);
    auto way = std::find_if(ways.begin(), ways.end(), [&](const Ending& e) { return e.spelling == spelling; });
    if (way == ways.end()) way = ways.insert(way, Ending{std::string(spelling), {}});
    way->tokens.push_back(token);
  }
}

std::span<const KeyEndings::Ending> KeyEndings::of(std::string_view text) const {
  const auto found = endings_.find(text);
  return found == endings_.end() ? std::span<const Ending>() : std::span<const Ending>(found->second);
}

}  // namespace cfgmask
