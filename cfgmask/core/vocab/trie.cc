#include "vocab/trie.h"

#include <algorithm>
#include <bit>

namespace cfgmask {

namespace {

ByteSet bytes_of(std::string_view text) {
  ByteSet set;
  for (char c : text) set.add(static_cast<uint8_t>(c));
  return set;
}

// Chosen on three vocabularies: the classes of names and words, which most patterns are made of, then text as JSON
// strings hold it. Each token belongs to the first that holds it.
std::vector<Segment> classes() {
  auto segment = [](ByteSet ascii, bool multibyte) {
    Segment s;
    s.ascii = ascii;
    s.multibyte = multibyte;
    return s;
  };
  const ByteSet lower = ByteSet::range('a', 'z');
  ByteSet names = lower;
  names |= ByteSet::range('A', 'Z');
  names |= ByteSet::range('0', '9');
  ByteSet words = names;
  words.add(' ');
  ByteSet joined = words;
  joined |= bytes_of("_-.");
  ByteSet text = ByteSet::range(0x20, 0x7E);
  for (char c : {'"', '\\'}) text.remove(static_cast<uint8_t>(c));
  std::vector<Segment> all{segment(lower, false),  segment(names, false), segment(words, false),
                           segment(joined, false), segment(text, false),  segment(words, true)};
  all.push_back(Segment{});
  all.back().is_rest = true;
  return all;
}

struct Characters {
  uint32_t count = 0;
  bool valid = true;  // whole characters of UTF-8 only
  bool space_beyond_ascii = false;
};

bool is_space_beyond_ascii(uint32_t c) {
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
         c == 0x202F || c == 0x205F || c == 0x3000 || c == 0xFEFF;
}

Characters characters_of(std::string_view text) {
  Characters out;
  for (size_t i = 0; i < text.size(); ++out.count) {
    const auto lead = static_cast<uint8_t>(text[i]);
    const size_t length = std::max(1, std::countl_one(lead));
    const bool leads = lead < 0x80 || (lead >= 0xC2 && lead < 0xF5);
    if (!leads || i + length > text.size()) return {out.count, false, false};
    uint32_t c = length == 1 ? lead : lead & (0x7FU >> length);
    for (size_t j = 1; j < length; ++j) {
      const auto b = static_cast<uint8_t>(text[i + j]);
      if ((b & 0xC0) != 0x80) return {out.count, false, false};
      c = (c << 6) | (b & 0x3F);
    }
    static constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (c < kSmallest[length] || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) return {out.count, false, false};
    out.space_beyond_ascii = out.space_beyond_ascii || is_space_beyond_ascii(c);
    i += length;
  }
  return out;
}

bool holds(const Segment& segment, const ByteSet& bytes, const Characters& characters) {
  if (segment.is_rest) return true;
  for (size_t i = 0; i < 4; ++i) {
    if ((bytes.words[i] & ~segment.ascii.words[i]) != 0) return false;
  }
  const bool beyond_ascii = (bytes.words[4] | bytes.words[5] | bytes.words[6] | bytes.words[7]) != 0;
  return !beyond_ascii || (segment.multibyte && characters.valid && !characters.space_beyond_ascii);
}

}  // namespace

Trie::Trie(std::span<const std::string_view> tokens) : segments_(classes()) {
  std::vector<std::vector<TokenId>> members(segments_.size());
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].empty()) continue;
    const ByteSet bytes = bytes_of(tokens[i]);
    const Characters characters = characters_of(tokens[i]);
    size_t segment = 0;
    while (!holds(segments_[segment], bytes, characters)) ++segment;
    members[segment].push_back(static_cast<TokenId>(i));
    segments_[segment].first_bytes.add(static_cast<uint8_t>(tokens[i][0]));
  }
  byte_.push_back(0);
  end_.push_back(0);
  first_token_.push_back(0);
  for (size_t i = 0; i < segments_.size(); ++i) {
    segments_[i].first = n_nodes();
    add(tokens, members[i]);
    segments_[i].last = n_nodes();
  }
  end_[0] = n_nodes();
  first_token_.push_back(static_cast<uint32_t>(tokens_.size()));
}

// Adds the trie of some tokens under the root.
void Trie::add(std::span<const std::string_view> tokens, std::span<TokenId> ids) {
  std::sort(ids.begin(), ids.end(), [&](TokenId a, TokenId b) {
    const int c = tokens[a].compare(tokens[b]);
    return c != 0 ? c < 0 : a < b;
  });
  std::vector<uint32_t> path{0};  // nodes of the previous token, from the root
  std::string_view previous;
  auto close = [&](size_t depth) {
    for (; path.size() > depth + 1; path.pop_back()) end_[path.back()] = n_nodes();
  };
  for (TokenId id : ids) {
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
    characters_.push_back(characters_of(text).count);
    max_depth_ = std::max(max_depth_, text.size());
    previous = text;
  }
  close(0);
}

std::vector<uint8_t> Trie::path(uint32_t node) const {
  std::vector<uint8_t> bytes;
  for (uint32_t at = 1; at != node;) {
    if (end_[at] <= node) {
      at = end_[at];
    } else {
      bytes.push_back(byte_[at]);
      ++at;
    }
  }
  return bytes;
}

size_t Trie::bytes() const {
  return byte_.capacity() +
         (end_.capacity() + first_token_.capacity() + tokens_.capacity() + characters_.capacity()) * sizeof(uint32_t);
}

ByteSet Trie::single_bytes() const {
  ByteSet single;
  for (uint32_t node = 1; node < n_nodes(); node = end(node)) {
    if (!tokens(node).empty()) single.add(byte(node));
  }
  return single;
}

}  // namespace cfgmask
