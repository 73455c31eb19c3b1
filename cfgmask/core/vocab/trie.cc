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
  bool valid = true;  // whole characters of UTF-8 only
  bool space_beyond_ascii = false;
};

bool is_space_beyond_ascii(uint32_t c) {
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
         c == 0x202F || c == 0x205F || c == 0x3000 || c == 0xFEFF;
}

Characters characters_of(std::string_view text) {
  Characters out;
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<uint8_t>(text[i]);
    const size_t length = std::max(1, std::countl_one(lead));
    const bool leads = lead < 0x80 || (lead >= 0xC2 && lead < 0xF5);
    if (!leads || i + length > text.size()) return {false, false};
    uint32_t c = length == 1 ? lead : lead & (0x7FU >> length);
    for (size_t j = 1; j < length; ++j) {
      const auto b = static_cast<uint8_t>(text[i + j]);
      if ((b & 0xC0) != 0x80) return {false, false};
      c = (c << 6) | (b & 0x3F);
    }
    static constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (c < kSmallest[length] || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) return {false, false};
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

// Texts in the order of their bytes, then of their ids. Most are told apart by their first eight bytes, and three times
// as fast.
void sort_texts(std::span<const std::string_view> tokens, std::vector<TokenId>& ids) {
  struct Key {
    uint64_t head;
    TokenId id;
  };
  std::vector<Key> keys;
  keys.reserve(ids.size());
  for (TokenId id : ids) {
    uint64_t head = 0;
    for (size_t i = 0; i < 8; ++i)
      head = (head << 8) | (i < tokens[id].size() ? static_cast<uint8_t>(tokens[id][i]) : 0);
    keys.push_back({head, id});
  }
  std::sort(keys.begin(), keys.end(), [&](const Key& a, const Key& b) {
    if (a.head != b.head) return a.head < b.head;
    const int c = tokens[a.id].compare(tokens[b.id]);
    return c != 0 ? c < 0 : a.id < b.id;
  });
  std::transform(keys.begin(), keys.end(), ids.begin(), [](const Key& key) { return key.id; });
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
  height_.push_back(0);
  end_.push_back(0);
  first_token_.push_back(0);
  for (size_t i = 0; i < segments_.size(); ++i) {
    segments_[i].first = n_nodes();
    for (TokenId id : members[i])
      segments_[i].height = std::max(segments_[i].height, static_cast<uint32_t>(tokens[id].size()));
    sort_texts(tokens, members[i]);
    add(tokens, members[i]);
    segments_[i].last = n_nodes();
  }
  end_[0] = n_nodes();
  first_token_.push_back(static_cast<uint32_t>(tokens_.size()));
  longest_first_.resize(tokens_.size());
  for (Segment& segment : segments_) {
    if (!segment.is_rest) sort_by_length(tokens, segment);
  }
}

// By the characters that they have, counted.
void Trie::sort_by_length(std::span<const std::string_view> tokens, Segment& segment) {
  const auto ids = tokens_between(segment.first, segment.last);
  std::vector<uint32_t> characters(ids.size());
  std::vector<uint32_t> n_equal(segment.height + 1);
  for (size_t i = 0; i < ids.size(); ++i) {
    const std::string_view text = tokens[ids[i]];
    const auto starts = std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
    characters[i] = static_cast<uint32_t>(starts);
    ++n_equal[characters[i]];
  }
  segment.n_longer.resize(n_equal.size());
  for (size_t i = n_equal.size(); i-- > 1;) segment.n_longer[i - 1] = segment.n_longer[i] + n_equal[i];
  std::vector<uint32_t> next = segment.n_longer;
  for (size_t i = 0; i < ids.size(); ++i) longest_first_[first_token_[segment.first] + next[characters[i]]++] = ids[i];
}

// Adds the trie of some tokens, in the order of their bytes, under the root.
void Trie::add(std::span<const std::string_view> tokens, std::span<TokenId> ids) {
  std::vector<uint32_t> path{0};  // nodes of the previous token, from the root
  std::string_view previous;
  auto close = [&](size_t depth) {
    for (; path.size() > depth + 1; path.pop_back()) {
      end_[path.back()] = n_nodes();
      uint8_t& above = height_[path[path.size() - 2]];
      above = static_cast<uint8_t>(std::max<uint32_t>(above, std::min(kTallest, height_[path.back()] + 1U)));
    }
  };
  for (TokenId id : ids) {
    const std::string_view text = tokens[id];
    const auto [p, t] = std::mismatch(previous.begin(), previous.end(), text.begin(), text.end());
    const auto common = static_cast<size_t>(t - text.begin());
    close(common);
    for (size_t i = common; i < text.size(); ++i) {
      path.push_back(n_nodes());
      byte_.push_back(static_cast<uint8_t>(text[i]));
      height_.push_back(0);
      end_.push_back(0);
      first_token_.push_back(static_cast<uint32_t>(tokens_.size()));
    }
    tokens_.push_back(id);
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
  return byte_.capacity() + height_.capacity() +
         (end_.capacity() + first_token_.capacity() + tokens_.capacity() + longest_first_.capacity()) *
             sizeof(uint32_t);
}

ByteSet Trie::single_bytes() const {
  ByteSet single;
  for (uint32_t node = 1; node < n_nodes(); node = end(node)) {
    if (!tokens(node).empty()) single.add(byte(node));
  }
  return single;
}

}  // namespace cfgmask
