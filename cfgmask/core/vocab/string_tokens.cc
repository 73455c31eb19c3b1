#include "vocab/string_tokens.h"

#include <algorithm>

#include "vocab/characters.h"

namespace cfgmask {

namespace {

ByteSet bytes_as_themselves() {
  ByteSet set = ByteSet::range(0x20, 0xFF);
  set.remove('"');
  set.remove('\\');
  return set;
}

// What of a token belongs to the string that it comes in: its characters, one that is begun at the end among them.
struct Written {
  uint32_t n_bytes = 0;
  uint32_t n_characters = 0;
  bool has_digits = false;  // of escapes
};

Written before_quote(std::string_view text) {
  Written found;
  size_t i = 0;
  for (; i < text.size() && text[i] != '"'; ++i) {
    if (text[i] == '\\' && ++i < text.size() && text[i] == 'u') found.has_digits = true;
    if (i >= text.size() || !is_continuation(text[i])) ++found.n_characters;
  }
  found.n_bytes = static_cast<uint32_t>(std::min(i, text.size()));
  return found;
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
  const ByteSet plain = bytes_as_themselves();
  const auto is_itself = [&](char c) { return plain.has(static_cast<uint8_t>(c)); };
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
    const Written written = before_quote(text);
    const uint32_t most = written.has_digits ? written.n_bytes : written.n_characters;
    if (most <= n_of_others_) continue;
    auto& found = written.has_digits ? vague_ : long_;
    found.push_back({static_cast<uint32_t>(bytes_.size()), written.n_bytes, most});
    bytes_ += text.substr(0, written.n_bytes);
  }
  std::sort(long_.begin(), long_.end(), [](const Long& a, const Long& b) { return a.n_characters > b.n_characters; });
}

}  // namespace cfgmask
