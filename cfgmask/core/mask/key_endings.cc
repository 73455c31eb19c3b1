#include "mask/key_endings.h"

#include <algorithm>
#include <utility>

#include "regex/regex.h"

namespace cfgmask {

namespace {

constexpr size_t kHexEscape = 6;  // \uXXXX

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

bool is_hex_escape(std::string_view text) {
  return text.size() >= kHexEscape && text[0] == '\\' && text[1] == 'u' &&
         std::all_of(text.begin() + 2, text.begin() + kHexEscape, is_hex);
}

// Of \uXXXX: D800 to DBFF, or DC00 to DFFF.
bool is_surrogate(std::string_view escape, bool high) {
  const char d = static_cast<char>(escape[2] | 0x20);
  const char next = static_cast<char>(escape[3] | 0x20);
  const bool is_low = next >= 'c';
  const bool is_either = next == '8' || next == '9' || next >= 'a';
  return d == 'd' && is_either && is_low != high;
}

// The bytes of the first character or escape of what is inside of a string; 0 where it is not whole, or is none.
size_t unit(std::string_view text) {
  if (text[0] != '\\') return 1;
  if (text.size() < 2) return 0;
  if (text[1] != 'u') return 2;
  if (!is_hex_escape(text) || is_surrogate(text, false)) return 0;
  if (!is_surrogate(text, true)) return kHexEscape;
  const std::string_view low = text.substr(kHexEscape);
  return is_hex_escape(low) && is_surrogate(low, false) ? 2 * kHexEscape : 0;
}

// How much of a text is whole inside of a string, up to its first quote.
size_t whole_units(std::string_view text) {
  size_t n = 0;
  while (n < text.size() && text[n] != '"') {
    const size_t more = unit(text.substr(n));
    if (more == 0) break;
    n += more;
  }
  return n;
}

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

std::string decode(std::string_view inside) { return decode_json_string('"' + std::string(inside) + '"'); }

}  // namespace

KeyEndings::KeyEndings(const Vocabulary& vocabulary)
    : with_quote_(tokens_with_quote(*vocabulary.trie)),
      two_quotes_(with_quotes(vocabulary, with_quote_, 2)),
      three_quotes_(with_quotes(vocabulary, with_quote_, 3)) {
  for (TokenId token : with_quote_) {
    const std::string_view text = vocabulary.text(token);
    const size_t inside = whole_units(text);
    if (inside >= text.size() || text[inside] != '"') continue;
    std::string added = decode(text.substr(0, inside));
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

BegunString decode_begun_string(std::string_view spelling) {
  const std::string_view inside = spelling.substr(1);
  const size_t whole = whole_units(inside);
  return {decode(inside.substr(0, whole)), whole < inside.size()};
}

}  // namespace cfgmask
