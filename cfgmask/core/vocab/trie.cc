#include "vocab/trie.h"

#include <algorithm>
#include <array>
#include <bit>

#include "vocab/characters.h"

namespace cfgmask {

namespace {

ByteSet bytes_of(std::string_view text) {
  ByteSet set;
  for (char c : text) set.add(static_cast<uint8_t>(c));
  return set;
}

// Chosen on three vocabularies: the classes of names and words, which most patterns are made of, then text as JSON
// strings hold it. Each token belongs to the first that holds it. White space makes classes of its own, since many
// patterns take all but that. Of 58,008 tokens of Llama 3 with a space 355 have one behind the first byte, blanks in a
// row or beside line breaks, which are longer than all else, too.
std::vector<Segment> classes() {
  const auto with = [](ByteSet set, std::string_view more) {
    set |= bytes_of(more);
    return set;
  };
  std::vector<Segment> all;
  const auto add = [&](const ByteSet& ascii, bool multibyte) {
    Segment& s = all.emplace_back();
    s.ascii = ascii;
    s.multibyte = multibyte;
    s.further = static_cast<uint8_t>(all.size() - 1);
    return s.further;
  };
  const auto add_behind_space = [&](uint8_t further) {
    const Segment class_of_further = all[further];
    all[add(with(class_of_further.ascii, " "), class_of_further.multibyte)].further = further;
  };
  const ByteSet lower = ByteSet::range('a', 'z');
  ByteSet names = lower;
  names |= ByteSet::range('A', 'Z');
  names |= ByteSet::range('0', '9');
  ByteSet visible = ByteSet::range(0x21, 0x7E);
  visible -= bytes_of("\"\\");
  add(lower, false);
  add_behind_space(add(names, false));
  add(with(names, "_-"), false);
  add(with(names, "_-."), false);
  add_behind_space(add(visible, false));
  add(with(visible, " "), false);
  add_behind_space(add(names, true));
  add({}, false);
  all.back().is_rest = true;
  return all;
}

// Which segment a text belongs to, of at most sixteen.
class Sorter {
 public:
  explicit Sorter(std::span<const Segment> segments) {
    for (size_t i = 0; i < segments.size(); ++i) {
      const Segment& segment = segments[i];
      const auto bit = static_cast<uint16_t>(1U << i);
      if (segment.is_rest) rest_ |= bit;
      for (unsigned b = 0; b < 256; ++b) {
        const auto in_class = [&](const Segment& s) { return b < 0x80 ? s.ascii.has(b) : s.multibyte; };
        if (segment.is_rest || in_class(segment)) first_[b] |= bit;
        if (segment.is_rest || in_class(segments[segment.further])) further_[b] |= bit;
      }
    }
  }

  // The first that holds a text, which is not empty, and how many characters it has.
  struct Place {
    size_t segment;
    uint32_t n_characters;  // 0 for what is no UTF-8
  };
  Place place(std::string_view text) const {
    uint16_t holding = first_[static_cast<uint8_t>(text[0])];
    auto all = static_cast<uint8_t>(text[0]);
    for (char c : text.substr(1)) {
      holding &= further_[static_cast<uint8_t>(c)];
      all |= static_cast<uint8_t>(c);
    }
    auto n_characters = static_cast<uint32_t>(text.size());
    if (all >= 0x80) {
      const Characters characters = characters_of(text);
      if (!characters.valid || characters.space_beyond_ascii) holding &= rest_;
      n_characters = characters.count;
    }
    return {static_cast<size_t>(std::countr_zero(holding)), n_characters};
  }

 private:
  // By byte, a bit for each segment whose texts it may begin, or be a further one of.
  std::array<uint16_t, 256> first_{};
  std::array<uint16_t, 256> further_{};
  uint16_t rest_ = 0;
};

// Sorts tokens in the order of their bytes, then of their ids. Most are told apart by their first eight bytes, and
// three times as fast.
void sort_by_bytes(const Texts& texts, std::vector<TokenId>& ids) {
  struct Key {
    uint64_t head;
    TokenId id;
  };
  std::vector<Key> keys;
  keys.reserve(ids.size());
  for (TokenId id : ids) {
    const std::string_view text = texts[id];
    uint64_t head = 0;
    for (size_t i = 0; i < 8; ++i) head = (head << 8) | (i < text.size() ? static_cast<uint8_t>(text[i]) : 0);
    keys.push_back({head, id});
  }
  std::sort(keys.begin(), keys.end(), [&](const Key& a, const Key& b) {
    if (a.head != b.head) return a.head < b.head;
    const int c = texts[a.id].compare(texts[b.id]);
    return c != 0 ? c < 0 : a.id < b.id;
  });
  std::transform(keys.begin(), keys.end(), ids.begin(), [](const Key& key) { return key.id; });
}

}  // namespace

Trie::Trie(const Texts& texts) : segments_(classes()), segment_of_(texts.size(), kNoSegment) {
  const Sorter sorter(segments_);
  std::vector<uint32_t> n_characters(texts.size());
  std::vector<std::vector<TokenId>> members(segments_.size());
  for (TokenId id = 0; id < texts.size(); ++id) {
    const std::string_view text = texts[id];
    if (text.empty()) continue;
    const Sorter::Place place = sorter.place(text);
    n_characters[id] = place.n_characters;
    members[place.segment].push_back(id);
    segment_of_[id] = static_cast<uint8_t>(place.segment);
    Segment& segment = segments_[place.segment];
    segment.first_bytes.add(static_cast<uint8_t>(text[0]));
    segment.height = std::max(segment.height, static_cast<uint32_t>(text.size()));
  }
  nodes_.push_back({});
  first_token_.push_back(0);
  for (size_t i = 0; i < segments_.size(); ++i) {
    segments_[i].first = n_added();
    sort_by_bytes(texts, members[i]);
    add(texts, members[i]);
    segments_[i].last = n_added();
    for (uint32_t node = segments_[i].first; node < n_added(); node = end(node)) {
      segments_[i].tops[byte(node)] = node;
      n_nodes_of_[byte(node)] += end(node) - node;
    }
  }
  nodes_[0].end = n_added();
  nodes_.push_back({});
  first_token_.push_back(static_cast<uint32_t>(tokens_.size()));
  longest_first_.resize(tokens_.size());
  for (Segment& segment : segments_) {
    if (!segment.is_rest) sort_by_length(n_characters, segment);
    set_bits(segment);
  }
}

void Trie::set_bits(Segment& segment) const {
  const auto ids = tokens_between(segment.first, segment.last);
  if (ids.empty()) return;
  segment.bits.resize(*std::max_element(ids.begin(), ids.end()) / 32 + 1);
  for (TokenId id : ids) segment.bits[id >> 5] |= 1U << (id & 31);
}

// By the characters that they have, counted.
void Trie::sort_by_length(std::span<const uint32_t> n_characters, Segment& segment) {
  const auto ids = tokens_between(segment.first, segment.last);
  std::vector<uint32_t> n_equal(segment.height + 1);
  for (TokenId id : ids) ++n_equal[n_characters[id]];
  segment.n_longer.resize(n_equal.size());
  for (size_t i = n_equal.size(); i-- > 1;) segment.n_longer[i - 1] = segment.n_longer[i] + n_equal[i];
  std::vector<uint32_t> next = segment.n_longer;
  for (TokenId id : ids) longest_first_[first_token_[segment.first] + next[n_characters[id]]++] = id;
}

// Adds the trie of some tokens, in the order of their bytes, under the root.
void Trie::add(const Texts& texts, std::span<const TokenId> ids) {
  std::vector<uint32_t> path{0};  // nodes of the previous token, from the root
  std::string_view previous;
  auto close = [&](size_t depth) {
    for (; path.size() > depth + 1; path.pop_back()) {
      nodes_[path.back()].end = n_added();
      uint8_t& above = nodes_[path[path.size() - 2]].height;
      above = static_cast<uint8_t>(std::max<uint32_t>(above, std::min(kTallest, height(path.back()) + 1U)));
    }
  };
  for (TokenId id : ids) {
    const std::string_view text = texts[id];
    const auto [p, t] = std::mismatch(previous.begin(), previous.end(), text.begin(), text.end());
    const auto common = static_cast<size_t>(t - text.begin());
    close(common);
    for (size_t i = common; i < text.size(); ++i) {
      path.push_back(n_added());
      nodes_.push_back({0, static_cast<uint8_t>(text[i]), 0, static_cast<uint8_t>(std::min<size_t>(i, kDeepest))});
    }
    first_token_.resize(nodes_.size(), static_cast<uint32_t>(tokens_.size()));
    tokens_.push_back(id);
    max_depth_ = std::max(max_depth_, text.size());
    previous = text;
  }
  close(0);
}

std::vector<uint8_t> Trie::path(uint32_t node) const {
  std::vector<uint8_t> bytes;
  for (uint32_t at = 1; at != node;) {
    if (end(at) <= node) {
      at = end(at);
    } else {
      bytes.push_back(byte(at));
      ++at;
    }
  }
  return bytes;
}

size_t Trie::bytes() const {
  size_t n_words = first_token_.capacity() + tokens_.capacity() + longest_first_.capacity();
  for (const Segment& segment : segments_) n_words += segment.n_longer.capacity() + segment.bits.capacity();
  return nodes_.capacity() * sizeof(Node) + segment_of_.capacity() + n_words * sizeof(uint32_t);
}

ByteSet Trie::single_bytes() const {
  ByteSet single;
  for (uint32_t node = 1; node < n_nodes(); node = end(node)) {
    if (!tokens(node).empty()) single.add(byte(node));
  }
  return single;
}

}  // namespace cfgmask
