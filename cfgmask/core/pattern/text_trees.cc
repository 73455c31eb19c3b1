#include "pattern/text_trees.h"

#include <numeric>
#include <unordered_set>
#include <utility>

namespace cfgmask {

namespace {

// Sequences and alternations in others of their kind are spliced in up to this size. A longer one may be shared by many
// trees, and copying it into each would be quadratic.
constexpr size_t kMostSpliced = 64;
constexpr uint64_t kLargestRepetition = (uint64_t{1} << 31) - 1;

uint64_t multiplied(uint64_t a, uint64_t b) {
  return a != 0 && b > TextTrees::kNoMaximum / a ? TextTrees::kNoMaximum : a * b;
}

uint64_t added(uint64_t a, uint64_t b) {
  const uint64_t sum = a + b;
  return sum < a ? TextTrees::kNoMaximum : sum;
}

// The characters of a text; nullopt if it is no UTF-8.
std::optional<std::vector<uint32_t>> valid_characters(std::string_view text) {
  std::vector<uint32_t> found;
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<uint8_t>(text[i]);
    const size_t size = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
    if (size == 0 || size > text.size() - i) return std::nullopt;
    uint32_t c = size == 1 ? lead : lead & (0x7FU >> size);
    for (size_t tail = 1; tail < size; ++tail) {
      const auto byte = static_cast<uint8_t>(text[i + tail]);
      if ((byte & 0xC0) != 0x80) return std::nullopt;
      c = c << 6 | (byte & 0x3FU);
    }
    static constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
    if (c < kLeast[size] || c > kLastCodePoint || (0xD800 <= c && c <= 0xDFFF)) return std::nullopt;
    found.push_back(c);
    i += size;
  }
  return found;
}

}  // namespace

TextTrees::TextTrees() {
  unique(Kind::kAlternation, {});
  unique(Kind::kLiteral, {});
  static_assert(sizeof(CodePointRange) == 2 * sizeof(uint32_t));
  unique(Kind::kClass, {&kCharacters[0].low, 2 * kCharacters.size()});
  static constexpr Id kBody = kAnyCharacter;
  unique(Kind::kRepetition, {&kBody, 1}, 0, kNoMaximum);
}

CodePoints TextTrees::members(Id tree) const {
  const auto all = words(tree);
  CodePoints found;
  found.reserve(all.size() / 2);
  for (size_t i = 0; i < all.size(); i += 2) found.push_back({all[i], all[i + 1]});
  return found;
}

TextTrees::Id TextTrees::literal(std::span<const uint32_t> characters) {
  return characters.empty() ? kEmptyText : unique(Kind::kLiteral, characters);
}

TextTrees::Id TextTrees::char_class(const CodePoints& members) {
  if (members.empty()) return kNothing;
  if (members.size() == 1 && members[0].low == members[0].high) return character(members[0].low);
  return unique(Kind::kClass, {&members[0].low, 2 * members.size()});
}

TextTrees::Id TextTrees::concatenation(std::span<const Id> parts) {
  std::vector<Id> flat;
  std::vector<uint32_t> run;
  const auto end_run = [&] {
    if (!run.empty()) flat.push_back(literal(run));
    run.clear();
  };
  for (const Id& part : parts) {
    if (part == kNothing) return kNothing;
    const bool is_nested = kind(part) == Kind::kConcatenation && nodes_[part].size <= kMostSpliced;
    // What is made on the way may move the words.
    const std::vector<Id> pieces =
        is_nested ? std::vector<Id>(words(part).begin(), words(part).end()) : std::vector{part};
    for (Id piece : pieces) {
      if (kind(piece) == Kind::kLiteral) {
        const auto text = words(piece);
        run.insert(run.end(), text.begin(), text.end());
        continue;
      }
      end_run();
      if (piece != kAnyText || flat.empty() || flat.back() != kAnyText) flat.push_back(piece);
    }
  }
  end_run();
  if (flat.size() < 2) return flat.empty() ? kEmptyText : flat[0];
  if ((flat.front() == kAnyText || flat.back() == kAnyText) &&
      std::all_of(flat.begin(), flat.end(), [&](Id part) { return is_nullable(part); }))
    return kAnyText;
  return unique(Kind::kConcatenation, flat);
}

TextTrees::Id TextTrees::alternation(std::span<const Id> parts) {
  std::vector<Id> flat;
  std::unordered_set<Id> seen;
  CodePoints characters;
  std::optional<size_t> place;  // of the class of all single characters: where the first of them stood
  for (const Id& part : parts) {
    const bool is_nested = kind(part) == Kind::kAlternation && nodes_[part].size <= kMostSpliced;
    for (Id piece : is_nested ? words(part) : std::span<const Id>(&part, 1)) {
      if (piece == kAnyText) return kAnyText;
      if (const auto single = as_characters(piece)) {
        if (!place) {
          place = flat.size();
          flat.push_back(kNothing);
        }
        characters.insert(characters.end(), single->begin(), single->end());
      } else if (seen.insert(piece).second) {
        flat.push_back(piece);
      }
    }
  }
  if (place) flat[*place] = char_class(code_point_set(std::move(characters)));
  if (flat.size() < 2) return flat.empty() ? kNothing : flat[0];
  return unique(Kind::kAlternation, flat);
}

TextTrees::Id TextTrees::repetition(Id body, uint64_t minimum, uint64_t maximum) {
  while (true) {
    if (maximum == 0 || body == kEmptyText || (body == kNothing && minimum == 0)) return kEmptyText;
    if (body == kNothing || (minimum == 1 && maximum == 1)) return body;
    if (kind(body) != Kind::kRepetition || nodes_[body].minimum > 1) break;
    // The counts k * (0 or 1) to k * m leave no gap as k grows, so the two repetitions are one.
    const uint64_t inner = nodes_[body].maximum;
    const bool is_unbounded = maximum == kNoMaximum || inner == kNoMaximum;
    const uint64_t product = is_unbounded ? kNoMaximum : multiplied(maximum, inner);
    if (!is_unbounded && product > kLargestRepetition) break;
    minimum *= nodes_[body].minimum;
    maximum = product;
    body = words(body)[0];
  }
  return unique(Kind::kRepetition, {&body, 1}, minimum, maximum);
}

TextTrees::Id TextTrees::intersection(std::span<const Id> parts) {
  std::vector<Id> flat;
  std::unordered_set<Id> seen;
  for (const Id& part : parts) {
    for (Id piece : kind(part) == Kind::kIntersection ? words(part) : std::span<const Id>(&part, 1)) {
      if (piece == kNothing) return kNothing;
      if (piece != kAnyText && seen.insert(piece).second) flat.push_back(piece);
    }
  }
  if (flat.size() < 2) return flat.empty() ? kAnyText : flat[0];
  if (seen.contains(kEmptyText)) {
    const bool all_nullable = std::all_of(flat.begin(), flat.end(), [&](Id part) { return is_nullable(part); });
    return all_nullable ? kEmptyText : kNothing;
  }
  return unique(Kind::kIntersection, flat);
}

TextTrees::Id TextTrees::complement(Id body) {
  if (body == kNothing) return kAnyText;
  if (body == kAnyText) return kNothing;
  if (kind(body) == Kind::kComplement) return words(body)[0];
  return unique(Kind::kComplement, {&body, 1});
}

TextTrees::Id TextTrees::substring(std::span<const uint32_t> characters) {
  return unique(Kind::kSubstring, characters);
}

std::optional<std::vector<TextTrees::Id>> TextTrees::adopt(const RegexData& data) {
  using Given = RegexData::Kind;
  std::vector<Id> made;
  made.reserve(data.size());
  for (uint32_t node = 0; node < data.size(); ++node) {
    std::vector<Id> below;
    for (uint32_t part : data.parts(node)) below.push_back(made[part]);
    switch (data.kind(node)) {
      case Given::kLiteral: {
        const auto text = valid_characters(data.texts(node)[0]);
        if (!text) return std::nullopt;
        made.push_back(literal(*text));
        break;
      }
      case Given::kCharClass: {
        const auto ranges = data.ranges(node);
        made.push_back(char_class({ranges.begin(), ranges.end()}));
        break;
      }
      case Given::kConcatenation:
        made.push_back(concatenation(below));
        break;
      case Given::kAlternation:
        made.push_back(alternation(below));
        break;
      case Given::kIntersection:
        made.push_back(intersection(below));
        break;
      case Given::kComplement:
        made.push_back(complement(below[0]));
        break;
      case Given::kRepetition: {
        const auto [minimum, maximum] = data.counts(node);
        made.push_back(repetition(below[0], minimum, maximum == kUnbounded ? kNoMaximum : maximum));
        break;
      }
      case Given::kSubstring: {
        std::vector<uint32_t> whole;
        for (const std::string& chunk : data.texts(node)) {
          const auto only = valid_characters(chunk);
          if (!only || only->size() != 1) return std::nullopt;
          whole.push_back((*only)[0]);
        }
        made.push_back(substring(whole));
        break;
      }
      default:
        return std::nullopt;
    }
  }
  return made;
}

std::optional<uint32_t> TextTrees::append_to(RegexData& data, Id root) const {
  using Made = RegexData::Kind;
  std::vector<std::optional<uint32_t>> made(size());
  bool fits = true;
  const auto add = [&](Id tree) -> uint32_t {
    std::vector<uint32_t> below;
    for (Id part : parts(tree)) below.push_back(*made[part]);
    switch (kind(tree)) {
      case Kind::kLiteral: {
        std::string text;
        for (uint32_t c : characters(tree)) append_utf8(c, text);
        return data.texts(Made::kLiteral, {std::move(text)});
      }
      case Kind::kClass:
        return data.ranges(Made::kCharClass, members(tree));
      case Kind::kConcatenation:
        return data.parts(Made::kConcatenation, below);
      case Kind::kAlternation:
        return data.parts(Made::kAlternation, below);
      case Kind::kIntersection:
        return data.parts(Made::kIntersection, below);
      case Kind::kComplement:
        return data.parts(Made::kComplement, below);
      case Kind::kRepetition: {
        const bool is_unbounded = maximum(tree) == kNoMaximum;
        fits = fits && minimum(tree) <= kLargestRepetition && (is_unbounded || maximum(tree) <= kLargestRepetition);
        if (!fits) return below[0];
        const uint32_t most = is_unbounded ? kUnbounded : static_cast<uint32_t>(maximum(tree));
        return data.repetition(below[0], static_cast<uint32_t>(minimum(tree)), most);
      }
      case Kind::kSubstring:
        break;
    }
    std::vector<std::string> chunks;
    for (uint32_t c : characters(tree)) append_utf8(c, chunks.emplace_back());
    return data.texts(Made::kSubstring, std::move(chunks));
  };
  each(root, [&](Id tree) { return made[tree].has_value(); }, [&](Id tree) { made[tree] = add(tree); });
  return fits ? made[root] : std::nullopt;
}

TextTrees::Id TextTrees::unique(Kind kind, std::span<const uint32_t> words, uint64_t minimum, uint64_t maximum) {
  std::vector<uint32_t> key{static_cast<uint32_t>(kind)};
  if (kind == Kind::kRepetition) {
    for (uint64_t count : {minimum, maximum})
      key.insert(key.end(), {static_cast<uint32_t>(count), static_cast<uint32_t>(count >> 32)});
  }
  key.insert(key.end(), words.begin(), words.end());
  if (kind == Kind::kAlternation || kind == Kind::kIntersection) std::sort(key.begin() + 1, key.end());
  const auto [id, is_new] = known_.intern(key);
  if (!is_new) return id;
  const bool has_parts = kind >= Kind::kConcatenation && kind != Kind::kSubstring;
  const auto parts = has_parts ? words : std::span<const Id>();
  uint64_t weight = has_parts && !parts.empty() ? 0 : 1;
  for (Id part : parts) weight = added(weight, nodes_[part].weight);
  const Node node{kind,
                  found_nullable(kind, parts, minimum) || (kind == Kind::kLiteral && words.empty()),
                  static_cast<uint32_t>(words_.size()),
                  static_cast<uint32_t>(words.size()),
                  minimum,
                  maximum,
                  found_size(kind, words, minimum, maximum),
                  weight};
  // The words may be among those that are kept.
  const std::vector<uint32_t> copied(words.begin(), words.end());
  words_.insert(words_.end(), copied.begin(), copied.end());
  nodes_.push_back(node);
  return id;
}

bool TextTrees::found_nullable(Kind kind, std::span<const Id> parts, uint64_t minimum) const {
  const auto nullable = [&](Id part) { return nodes_[part].nullable; };
  switch (kind) {
    case Kind::kConcatenation:
    case Kind::kIntersection:
      return std::all_of(parts.begin(), parts.end(), nullable);
    case Kind::kAlternation:
      return std::any_of(parts.begin(), parts.end(), nullable);
    case Kind::kRepetition:
      return minimum == 0 || nullable(parts[0]);
    case Kind::kComplement:
      return !nullable(parts[0]);
    case Kind::kSubstring:
      return true;
    case Kind::kLiteral:
    case Kind::kClass:
      return false;
  }
  return false;
}

uint64_t TextTrees::found_size(Kind kind, std::span<const uint32_t> words, uint64_t minimum, uint64_t maximum) const {
  const auto size_of = [&](Id part) { return nodes_[part].fixed_size; };
  switch (kind) {
    case Kind::kLiteral:
      return words.size();
    case Kind::kClass:
      return 1;
    case Kind::kConcatenation: {
      uint64_t sum = 0;
      for (Id part : words) sum = size_of(part) == kNoMaximum ? kNoMaximum : added(sum, size_of(part));
      return sum;
    }
    case Kind::kAlternation: {
      const bool are_equal =
          std::all_of(words.begin(), words.end(), [&](Id p) { return size_of(p) == size_of(words[0]); });
      return words.empty() || !are_equal ? kNoMaximum : size_of(words[0]);
    }
    case Kind::kIntersection: {
      const auto known = std::find_if(words.begin(), words.end(), [&](Id part) { return size_of(part) != kNoMaximum; });
      return known == words.end() ? kNoMaximum : size_of(*known);
    }
    case Kind::kRepetition:
      return minimum == maximum && size_of(words[0]) != kNoMaximum ? multiplied(size_of(words[0]), minimum)
                                                                   : kNoMaximum;
    case Kind::kComplement:
    case Kind::kSubstring:
      break;
  }
  return kNoMaximum;
}

std::optional<CodePoints> TextTrees::as_characters(Id tree) const {
  if (kind(tree) == Kind::kClass) return members(tree);
  if (kind(tree) != Kind::kLiteral || nodes_[tree].size != 1) return std::nullopt;
  const uint32_t c = words(tree)[0];
  return CodePoints{{c, c}};
}

}  // namespace cfgmask
