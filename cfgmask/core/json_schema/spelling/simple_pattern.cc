#include "json_schema/spelling/simple_pattern.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <utility>

namespace cfgmask {

namespace {

constexpr uint32_t kMaxCodePoint = 0x10FFFF;
constexpr uint32_t kMaxCount = 100'000;
// Groups inside of groups.
constexpr uint64_t kMaxPatternDepth = 40;
// Places looked at before it is left open whether a pattern is found in a text.
constexpr uint64_t kMaxSteps = 20'000;
// Longer ones name nothing.
constexpr size_t kMaxPropertyName = 64;

using Ranges = std::vector<CodePointRange>;
using SyntaxKind = SyntaxNode::Kind;

Ranges sorted(Ranges ranges) {
  std::sort(ranges.begin(), ranges.end(), [](auto a, auto b) { return a.low < b.low; });
  Ranges out;
  for (const CodePointRange& range : ranges) {
    if (!out.empty() && range.low <= out.back().high + 1) {
      out.back().high = std::max(out.back().high, range.high);
    } else {
      out.push_back(range);
    }
  }
  return out;
}

// Every code point but these, which are sorted.
Ranges complement(const Ranges& ranges) {
  Ranges out;
  uint32_t next = 0;
  for (const CodePointRange& range : ranges) {
    if (range.low > next) out.push_back({next, range.low - 1});
    next = range.high + 1;
  }
  if (next <= kMaxCodePoint) out.push_back({next, kMaxCodePoint});
  return out;
}

// Without surrogates, which no text holds.
Ranges characters(const Ranges& ranges) {
  Ranges out;
  for (const auto& [low, high] : ranges) {
    if (low < 0xD800) out.push_back({low, std::min(high, 0xD7FFU)});
    if (high > 0xDFFF) out.push_back({std::max(low, 0xE000U), high});
  }
  return out;
}

const Ranges& digits() {
  static const Ranges kRanges{{'0', '9'}};
  return kRanges;
}

const Ranges& word_characters() {
  static const Ranges kRanges{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
  return kRanges;
}

const Ranges& white_space() {
  static const Ranges kRanges{{0x9, 0xD},       {0x20, 0x20},     {0xA0, 0xA0},     {0x1680, 0x1680}, {0x2000, 0x200A},
                              {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}, {0xFEFF, 0xFEFF}};
  return kRanges;
}

const Ranges& line_ends() {
  static const Ranges kRanges{{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}};
  return kRanges;
}

bool is_lead_byte(char c) { return (static_cast<uint8_t>(c) & 0xC0) != 0x80; }

}  // namespace

namespace {

template <typename Characters>
Characters decoded(std::string_view text) {
  Characters out;
  out.reserve(text.size());
  for (char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    if ((byte & 0xC0) == 0x80) {
      out.back() = (out.back() << 6) | (byte & 0x3FU);
    } else {
      out.push_back(byte < 0x80 ? byte : byte < 0xE0 ? byte & 0x1FU : byte < 0xF0 ? byte & 0xFU : byte & 0x7U);
    }
  }
  return out;
}

}  // namespace

std::vector<uint32_t> code_points(std::string_view text) { return decoded<std::vector<uint32_t>>(text); }
std::u32string characters_of_utf8(std::string_view text) { return decoded<std::u32string>(text); }

// A syntax tree to a simple pattern, if it is one.
class PatternReading {
 public:
  PatternReading(std::u32string_view pattern, const SyntaxTree& tree, uint64_t max_nesting,
                 CharacterProperties* properties)
      : pattern_(pattern),
        tree_(tree),
        max_depth_(std::min(kMaxPatternDepth, max_nesting / 4)),
        properties_(properties) {}

  std::optional<SimplePattern> read(SyntaxTree::Id root) {
    try {
      if (tree_[root].kind == SyntaxKind::kSequence || tree_[root].kind == SyntaxKind::kChoice) {
        out_.branches_ = together(alternatives(root, 0));
      } else {
        out_.branches_ = {{add_sequence({node(root, 0)}), false, false}};
      }
      out_.nodes_->finish();
    } catch (const Unsupported&) {
      return std::nullopt;
    }
    return std::move(out_);
  }

 private:
  using Branch = SimplePattern::Branch;
  using Kind = SimplePattern::Kind;
  using Id = SyntaxTree::Id;
  struct Unsupported {};

  static void require(bool holds) {
    if (!holds) throw Unsupported();
  }

  PatternNodes& nodes() { return *out_.nodes_; }
  uint32_t add_class(const Ranges& ranges) {
    Ranges kept = characters(ranges);
    require(!kept.empty());
    return nodes().add_class(kept);
  }
  uint32_t add_sequence(const std::vector<uint32_t>& parts) { return nodes().add_parts(Kind::kSequence, parts); }

  std::vector<Branch> alternatives(Id id, uint64_t depth) {
    require(depth <= max_depth_);
    if (tree_[id].kind == SyntaxKind::kSequence) return alternative(id, depth);
    std::vector<Branch> found;
    for (Id part : tree_.parts(tree_[id])) {
      const auto some = alternative(part, depth);
      found.insert(found.end(), some.begin(), some.end());
    }
    return found;
  }

  // One alternative; those of a group that has anchors inside, where the group is all there is. Where all of a group
  // that comes first begin with the text, the alternative does, and likewise at its end.
  std::vector<Branch> alternative(Id id, uint64_t depth) {
    std::span<const Id> items = tree_.parts(tree_[id]);
    const bool anchored = !items.empty() && is_anchor(items.front(), 's');
    bool from_start = anchored;
    if (anchored) items = items.subspan(1);
    std::vector<uint32_t> parts;
    for (size_t i = 0; i < items.size(); ++i) {
      const SyntaxNode& item = tree_[items[i]];
      const bool is_last = i + 1 == items.size();
      if (is_last && is_anchor(items[i], 'e')) return {{add_sequence(parts), from_start, true}};
      if (item.kind != SyntaxKind::kGroup) {
        parts.push_back(node(items[i], depth));
        continue;
      }
      auto inside = group(item, depth);
      const size_t n_from_start = n_with(&Branch::from_start, inside);
      const size_t n_to_end = n_with(&Branch::to_end, inside);
      if (n_from_start == inside.size() && n_to_end == 0 && parts.empty()) {
        from_start = true;
      } else if (n_to_end == inside.size() && n_from_start == 0 && is_last) {
        parts.push_back(joined(inside));
        return {{add_sequence(parts), from_start, true}};
      } else if (n_from_start + n_to_end > 0) {
        require(parts.empty());
        const bool to_end = i + 2 == items.size() && is_anchor(items[i + 1], 'e');
        require(is_last || to_end);
        for (Branch& branch : inside) {
          branch.from_start = branch.from_start || from_start;
          branch.to_end = branch.to_end || to_end;
        }
        return inside;
      }
      parts.push_back(joined(inside));
    }
    return {{add_sequence(parts), from_start, false}};
  }

  static size_t n_with(bool Branch::* anchor, const std::vector<Branch>& branches) {
    return static_cast<size_t>(std::count_if(branches.begin(), branches.end(), std::mem_fn(anchor)));
  }
  bool is_anchor(Id id, char which) const { return tree_[id].kind == SyntaxKind::kAnchor && tree_[id].letter == which; }

  // Many branches, those of the same anchors as one: before each that begins anywhere may be any text, and after each
  // byte of that all of them may begin.
  std::vector<Branch> together(std::vector<Branch> branches) {
    if (branches.size() < PrefixedParts::kMany) return branches;
    std::vector<Branch> found;
    for (const bool from_start : {true, false}) {
      for (const bool to_end : {true, false}) {
        std::vector<Branch> alike;
        std::copy_if(branches.begin(), branches.end(), std::back_inserter(alike),
                     [&](const Branch& b) { return b.from_start == from_start && b.to_end == to_end; });
        if (alike.size() > 1) {
          const uint32_t ways[] = {joined(alike)};
          found.push_back({nodes().add_parts(Kind::kSequence, ways), from_start, to_end});
        } else {
          found.insert(found.end(), alike.begin(), alike.end());
        }
      }
    }
    return found;
  }

  std::vector<Branch> group(const SyntaxNode& node, uint64_t depth) { return alternatives(node.low, depth + 1); }

  uint32_t joined(const std::vector<Branch>& branches) {
    if (branches.size() == 1) return branches[0].body;
    std::vector<uint32_t> parts;
    for (const Branch& branch : branches) parts.push_back(branch.body);
    return nodes().add_parts(Kind::kAlternation, parts);
  }

  // Anything without anchors.
  uint32_t node(Id id, uint64_t depth) {
    const SyntaxNode& found = tree_[id];
    switch (found.kind) {
      case SyntaxKind::kGroup: {
        const auto inside = group(found, depth);
        require(n_with(&Branch::from_start, inside) + n_with(&Branch::to_end, inside) == 0);
        return joined(inside);
      }
      case SyntaxKind::kRepeat: {
        // Lazy ones find the same texts.
        require(found.letter != 'p' && found.low <= kMaxCount && (found.high <= kMaxCount || found.high == kUnbounded));
        const Id body = tree_.parts(found)[0];
        const bool is_character = tree_[body].kind == SyntaxKind::kText;
        const uint32_t once = is_character ? add_class(one_character(tree_[body])) : node(body, depth);
        return nodes().add_repetition(once, found.low, found.high);
      }
      case SyntaxKind::kText:
        return is_escape(found) ? add_class(one_character(found)) : run(found);
      default:
        return add_class(set(found));
    }
  }

  static bool is_escape(const SyntaxNode& node) { return node.end - node.start > node.size; }
  Ranges one_character(const SyntaxNode& node) const {
    check_flags(node);
    const char32_t c = tree_.text(node)[0];
    return {{c, c}};
  }
  uint32_t run(const SyntaxNode& node) {
    check_flags(node);
    std::string text;
    for (char32_t c : tree_.text(node)) append_utf8(c, text);
    return nodes().add_text(text);
  }
  // Flags that change inside of the pattern are not simple.
  void check_flags(const SyntaxNode& node) const { require(node.flags.bits() == PatternFlags().bits()); }

  // What matches one character.
  Ranges set(const SyntaxNode& node) {
    check_flags(node);
    Ranges found;
    switch (node.kind) {
      case SyntaxKind::kDot:
        return complement(line_ends());
      case SyntaxKind::kShorthand:
        found = node.letter == 'd' ? digits() : node.letter == 'w' ? word_characters() : white_space();
        break;
      case SyntaxKind::kProperty:
        found = property(node);
        break;
      case SyntaxKind::kSet: {
        const auto terms = tree_.parts(node);
        require(terms.size() == 1);
        for (Id member : tree_.parts(tree_[terms[0]])) {
          const SyntaxNode& part = tree_[member];
          if (part.kind == SyntaxKind::kRange) {
            found.push_back({part.low, part.high});
            continue;
          }
          const Ranges more = set(part);
          found.insert(found.end(), more.begin(), more.end());
        }
        require(!found.empty() || node.negated);
        found = sorted(std::move(found));
        break;
      }
      default:
        throw Unsupported();
    }
    return node.negated ? complement(found) : found;
  }

  Ranges property(const SyntaxNode& node) const {
    require(properties_ != nullptr);
    std::u32string_view written = pattern_.substr(node.first, node.size);
    if (node.value_size > 0) {
      // Other signs than `=` are no syntax of ECMA's.
      require(node.value_first == node.first + node.size + 1 && pattern_[node.value_first - 1] == U'=');
      written = pattern_.substr(node.first, node.size + 1 + node.value_size);
    }
    require(written.size() <= kMaxPropertyName);
    const Ranges* found = properties_->find(std::string(written.begin(), written.end()));
    require(found != nullptr);
    return *found;
  }

  std::u32string_view pattern_;
  const SyntaxTree& tree_;
  uint64_t max_depth_;
  CharacterProperties* properties_;
  SimplePattern out_;
};

std::optional<SimplePattern> SimplePattern::parse(std::string_view pattern, uint64_t max_nesting,
                                                  CharacterProperties* properties) {
  const std::u32string text = characters_of_utf8(pattern);
  const PatternSyntax read = read_pattern(text, PatternDialect::Name::kEcma, U"", ecma_reading(max_nesting));
  if (read.stop || !read.problems.empty()) return std::nullopt;
  auto found = PatternReading(text, read.tree, max_nesting, properties).read(read.root);
  if (found) found->start_ = found->found_start();
  return found;
}

PatternReadingOptions ecma_reading(uint64_t max_nesting, uint64_t max_parts) {
  const auto is_word = [](char32_t c) { return is_ascii_letter(c) || is_ascii_digit(c); };
  const auto is_space = [](char32_t c) { return c == U' ' || (U'\t' <= c && c <= U'\r'); };
  return {.kinds = {.is_word = is_word, .is_digit = is_ascii_digit, .is_space = is_space},
          .named = nullptr,
          .shared_names = {},
          .max_nesting = max_nesting,
          .max_parts = max_parts,
          .max_lazy = std::nullopt};
}

RegexId SimplePattern::regex(RegexStore& store, Sequences how) const {
  std::vector<RegexId> ways;
  for (const Branch& branch : branches_) ways.push_back(regex(store, *nodes_, branch, how));
  return store.alternation(std::move(ways));
}

RegexId SimplePattern::regex(RegexStore& store, const PatternNodes& nodes, const Branch& branch, Sequences how) {
  const RegexId any = store.repetition(store.char_class(characters({{0, kMaxCodePoint}})), 0, kUnbounded);
  const RegexId way =
      store.concatenation(nodes.regex(store, branch.body, how), branch.to_end ? RegexStore::empty_text() : any);
  return branch.from_start ? way : store.concatenation(any, way);
}

std::optional<bool> SimplePattern::found_in(std::string_view text) const {
  if (!text.starts_with(start_)) return false;
  const auto characters_of = code_points(text);
  uint64_t steps = kMaxSteps;
  for (const Branch& branch : branches_) {
    Positions starts(characters_of.size() + 1, !branch.from_start);
    starts[0] = true;
    const Positions found = ends(branch.body, std::move(starts), characters_of, steps);
    if (steps == 0) return std::nullopt;
    if (branch.to_end ? found.back() : std::find(found.begin(), found.end(), true) != found.end()) return true;
  }
  return false;
}

// Where the texts of a node end that begin at one of these places. Nothing in particular once `steps` are used up.
SimplePattern::Positions SimplePattern::ends(uint32_t id, Positions starts, const std::vector<uint32_t>& text,
                                             uint64_t& steps) const {
  const Node node = (*nodes_)[id];
  Positions found(starts.size(), false);
  steps -= std::min<uint64_t>(steps, starts.size());
  if (steps == 0) return found;
  const auto add = [&](const Positions& some) {
    for (size_t i = 0; i < some.size(); ++i) found[i] = found[i] || some[i];
  };
  switch (node.kind) {
    case Kind::kText: {
      const std::vector<uint32_t> run = code_points(node.text);
      for (size_t i = 0; i + run.size() <= text.size(); ++i) {
        const auto here = text.begin() + static_cast<ptrdiff_t>(i);
        if (starts[i] && std::equal(run.begin(), run.end(), here)) found[i + run.size()] = true;
      }
      return found;
    }
    case Kind::kClass:
      for (size_t i = 0; i < text.size(); ++i) {
        if (!starts[i]) continue;
        found[i + 1] = std::any_of(node.ranges.begin(), node.ranges.end(),
                                   [&](const CodePointRange& r) { return r.low <= text[i] && text[i] <= r.high; });
      }
      return found;
    case Kind::kSequence:
      for (uint32_t part : node.parts) starts = ends(part, std::move(starts), text, steps);
      return starts;
    case Kind::kAlternation:
      for (uint32_t part : node.parts) add(ends(part, starts, text, steps));
      return found;
    case Kind::kRepetition:
      break;
  }
  for (uint32_t times = 0; times <= node.maximum; ++times) {
    if (times >= node.minimum) add(starts);
    Positions next = ends(node.parts[0], starts, text, steps);
    // Nothing is left, or further repetitions are empty.
    if (next == starts) {
      add(starts);
      break;
    }
    starts = std::move(next);
  }
  return found;
}

std::optional<std::string> SimplePattern::only_text() const {
  if (branches_.size() != 1 || !branches_[0].from_start || !branches_[0].to_end) return std::nullopt;
  std::string text;
  std::vector<uint32_t> todo{branches_[0].body};
  while (!todo.empty()) {
    const Node next = (*nodes_)[todo.back()];
    todo.pop_back();
    if (next.append_to(text)) continue;
    if (next.kind == Kind::kSequence) {
      todo.insert(todo.end(), next.parts.rbegin(), next.parts.rend());
    } else {
      return std::nullopt;
    }
  }
  return text;
}

std::string SimplePattern::found_start() const {
  constexpr uint32_t kAscii = 0x80;
  std::string found;
  const auto is_ascii = [](char c) { return static_cast<uint8_t>(c) < kAscii; };
  if (branches_.size() != 1 || !branches_[0].from_start) return found;
  const std::vector<uint32_t> whole{branches_[0].body};
  const Node body = (*nodes_)[branches_[0].body];
  for (uint32_t part : body.kind == Kind::kSequence ? body.parts : std::span<const uint32_t>(whole)) {
    if (!(*nodes_)[part].append_to(found) || !std::all_of(found.begin(), found.end(), is_ascii)) break;
  }
  found.erase(std::find_if_not(found.begin(), found.end(), is_ascii), found.end());
  return found;
}

bool SimplePattern::has_text(uint32_t least, uint32_t most) const {
  static constexpr LengthRange kAny{0, kNoLength, 1, true};
  return std::any_of(branches_.begin(), branches_.end(), [&](const Branch& branch) {
    const LengthRange of_body = lengths(branch.body);
    const bool is_whole = branch.from_start && branch.to_end;
    return (is_whole ? of_body : LengthRange::sum(of_body, kAny)).any_within(least, most) == true;
  });
}

// The characters of its texts.
LengthRange SimplePattern::lengths(uint32_t id) const {
  const Node node = (*nodes_)[id];
  std::vector<LengthRange> of_parts;
  for (uint32_t part : node.parts) of_parts.push_back(lengths(part));
  switch (node.kind) {
    case Kind::kText:
      break;
    case Kind::kClass:
      return LengthRange::only(1);
    case Kind::kRepetition:
      return of_parts[0].repeated(node.minimum, node.maximum);
    case Kind::kSequence:
      return std::accumulate(of_parts.begin(), of_parts.end(), LengthRange::only(0), LengthRange::sum);
    case Kind::kAlternation:
      return LengthRange::any_of(std::move(of_parts));
  }
  return LengthRange::only(static_cast<uint32_t>(std::count_if(node.text.begin(), node.text.end(), is_lead_byte)));
}

}  // namespace cfgmask
