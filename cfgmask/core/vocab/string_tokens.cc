#include "vocab/string_tokens.h"

#include <algorithm>
#include <optional>

#include "vocab/characters.h"

namespace cfgmask {

namespace {

ByteSet plain_ascii() {
  ByteSet set = ByteSet::range(0x20, 0x7F);
  set.remove('"');
  set.remove('\\');
  return set;
}

bool is_itself(char c) { return c != '"' && c != '\\' && static_cast<uint8_t>(c) >= 0x20; }

// The characters of a part of a JSON string, one that is begun at its end among them; nullopt with escapes by digits.
std::optional<uint32_t> n_characters_of(std::string_view text) {
  uint32_t n = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && ++i < text.size() && text[i] == 'u') return std::nullopt;
    if (i >= text.size() || !is_continuation(text[i])) ++n;
  }
  return n;
}

// How many bytes tokens must have so that few have them, and few in all.
uint32_t many_bytes(const Texts& texts, size_t most, size_t most_bytes) {
  std::vector<uint32_t> n_equal;
  for (TokenId token = 0; token < texts.size(); ++token) {
    const size_t size = texts[token].size();
    if (size >= n_equal.size()) n_equal.resize(size + 1);
    ++n_equal[size];
  }
  size_t n = 0;
  size_t n_bytes = 0;
  auto many = static_cast<uint32_t>(n_equal.size());
  for (; many > 1; --many) {
    n += n_equal[many - 1];
    n_bytes += size_t{n_equal[many - 1]} * (many - 1);
    if (n > most || n_bytes > most_bytes) break;
  }
  return many;
}

}  // namespace

StringTokens::StringTokens(const Texts& texts, const Trie& trie) : effects_(texts.size()) {
  const ByteSet plain = plain_ascii();
  const auto segments = trie.segments();
  for (TokenId token = 0; token < texts.size(); ++token) {
    const std::string_view text = texts[token];
    if (text.empty()) continue;
    const Segment& segment = segments[trie.segment_of(token)];
    // Most tokens are of a class that tells.
    const bool is_ascii = !segment.is_rest && !segment.multibyte && !trie.below(segment).multibyte;
    if (is_ascii && plain.holds(segment.ascii) && plain.holds(trie.below(segment).ascii)) {
      if (text.size() < kEnds) effects_[token] = static_cast<uint8_t>(text.size());
      continue;
    }
    const auto other = std::find_if_not(text.begin(), text.end(), is_itself);
    if (other != text.end()) {
      if (*other == '"') effects_[token] = kEnds;
      continue;
    }
    const auto n = std::count_if(text.begin(), text.end(), [](char c) { return !is_continuation(c); });
    if (n < kEnds) effects_[token] = static_cast<uint8_t>(n);
  }
  add_long(texts);
}

void StringTokens::add_long(const Texts& texts) {
  const uint32_t many = many_bytes(texts, kMostLong, kMostBytesOfLong);
  n_of_others_ = many - 1;
  for (TokenId token = 0; token < texts.size(); ++token) {
    const std::string_view text = texts[token];
    if (text.size() < many) continue;
    size_t end = 0;
    while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
    const std::string_view written = text.substr(0, end);
    const auto n_bytes = static_cast<uint32_t>(written.size());
    const auto n = n_characters_of(written);
    if (n.value_or(n_bytes) <= n_of_others_) continue;
    (n ? long_ : vague_).push_back({static_cast<uint32_t>(bytes_.size()), n_bytes, n.value_or(n_bytes)});
    bytes_ += written;
  }
  std::sort(long_.begin(), long_.end(), [](const Long& a, const Long& b) { return a.n_characters > b.n_characters; });
}

}  // namespace cfgmask
