#include "vocab/string_tokens.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "vocab/characters.h"

namespace cfgmask {

namespace {

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

StringTokens::StringTokens(const Texts& texts) : effects_(texts.size()) {
  for (TokenId token = 0; token < texts.size(); ++token) {
    const std::string_view text = texts[token];
    const auto other = std::find_if_not(text.begin(), text.end(), is_itself);
    if (other != text.end()) {
      if (*other == '"') effects_[token] = kEnds;
    } else {
      const auto n = std::count_if(text.begin(), text.end(), [](char c) { return !is_continuation(c); });
      if (n < kEnds) effects_[token] = static_cast<uint8_t>(n);
    }
  }
  add_long(texts);
}

void StringTokens::add_long(const Texts& texts) {
  const uint32_t many = many_bytes(texts, kMostLong, kMostBytesOfLong);
  n_of_others_ = many - 1;
  std::vector<std::string_view> written;
  for (TokenId token = 0; token < texts.size(); ++token) {
    const std::string_view text = texts[token];
    if (text.size() < many) continue;
    size_t end = 0;
    while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
    if (end > 0) written.push_back(text.substr(0, end));
  }
  std::sort(written.begin(), written.end());
  std::string_view before;
  for (const std::string_view text : written) {
    const auto n = n_characters_of(text);
    const auto n_bytes = static_cast<uint32_t>(text.size());
    const auto [b, t] = std::mismatch(before.begin(), before.end(), text.begin(), text.end());
    long_.push_back({static_cast<uint32_t>(bytes_.size()), n_bytes, n.value_or(0), n.value_or(n_bytes),
                     static_cast<uint32_t>(t - text.begin())});
    bytes_ += text;
    ++first_long_[static_cast<uint8_t>(text[0]) + 1];
    before = text;
  }
  std::partial_sum(first_long_.begin(), first_long_.end(), first_long_.begin());
}

}  // namespace cfgmask
