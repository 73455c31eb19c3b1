#include "schema/plain_pattern.h"

#include <algorithm>
#include <array>
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

std::vector<uint32_t> code_points(std::string_view text) {
  std::vector<uint32_t> out;
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

class PatternReading {
 public:
  PatternReading(std::string_view pattern, uint64_t max_nesting, PlainPattern::Syntax syntax,
                 CharacterProperties* properties)
      : text_(code_points(pattern)),
        max_depth_(std::min(kMaxPatternDepth, max_nesting / 4)),
        syntax_(syntax),
        properties_(properties) {}

  std::optional<PlainPattern> read() {
    try {
      out_.branches_ = together(alternatives(0));
      require(at_ == text_.size());
      out_.nodes_->finish();
    } catch (const NotPlain&) {
      return std::nullopt;
    }
    return std::move(out_);
  }

 private:
  using Branch = PlainPattern::Branch;
  using Kind = PlainPattern::Kind;
  using Syntax = PlainPattern::Syntax;
  struct NotPlain {};

  static void require(bool holds) {
    if (!holds) throw NotPlain();
  }

  bool is_python() const { return syntax_ != Syntax::kEcma; }

  bool next_is(uint32_t c) const { return at_ < text_.size() && text_[at_] == c; }
  bool take(uint32_t c) {
    if (!next_is(c)) return false;
    ++at_;
    return true;
  }
  uint32_t peek() const {
    require(at_ < text_.size());
    return text_[at_];
  }
  uint32_t take_any() {
    const uint32_t c = peek();
    ++at_;
    return c;
  }

  PatternNodes& nodes() { return *out_.nodes_; }
  uint32_t add_class(const Ranges& ranges) {
    Ranges kept = characters(ranges);
    require(!kept.empty());
    return nodes().add_class(kept);
  }

  std::vector<Branch> alternatives(uint64_t depth) {
    require(depth <= max_depth_);
    std::vector<Branch> found;
    do {
      const auto some = alternative(depth);
      found.insert(found.end(), some.begin(), some.end());
    } while (take('|'));
    return found;
  }

  // One alternative; those of a group that has anchors inside, where the group is all there is. Where all of a group
  // that comes first begin with the text, the alternative does, and likewise at its end.
  std::vector<Branch> alternative(uint64_t depth) {
    // Python's `$` also holds before a line break that ends the text.
    require(!is_python() || !next_is('^'));
    bool from_start = take('^');
    require(!from_start || !quantifier_follows());
    std::vector<uint32_t> parts;
    while (at_ < text_.size() && !next_is('|') && !next_is(')')) {
      if (stands_alone()) {
        parts.push_back(run());
        continue;
      }
      if (take('$')) {
        require(!is_python());
        require(alternative_ends());
        return {{nodes().add_parts(Kind::kSequence, parts), from_start, true}};
      }
      if (take('(')) {
        auto inside = group(depth);
        const size_t n_from_start = n_with(&Branch::from_start, inside);
        const size_t n_to_end = n_with(&Branch::to_end, inside);
        require(n_from_start + n_to_end == 0 || !quantifier_follows());
        if (n_from_start == inside.size() && n_to_end == 0 && parts.empty()) {
          from_start = true;
        } else if (n_to_end == inside.size() && n_from_start == 0 && alternative_ends()) {
          parts.push_back(joined(inside));
          return {{nodes().add_parts(Kind::kSequence, parts), from_start, true}};
        } else if (n_from_start + n_to_end > 0) {
          require(parts.empty());
          const bool to_end = take('$');
          require(alternative_ends());
          for (Branch& branch : inside) {
            branch.from_start = branch.from_start || from_start;
            branch.to_end = branch.to_end || to_end;
          }
          return inside;
        }
        parts.push_back(quantified(joined(inside)));
      } else {
        parts.push_back(quantified(add_class(atom())));
      }
    }
    return {{nodes().add_parts(Kind::kSequence, parts), from_start, false}};
  }

  static size_t n_with(bool Branch::* anchor, const std::vector<Branch>& branches) {
    return static_cast<size_t>(std::count_if(branches.begin(), branches.end(), std::mem_fn(anchor)));
  }
  bool alternative_ends() const { return at_ == text_.size() || next_is('|') || next_is(')'); }

  // Whether a character is next that means itself, once.
  bool stands_alone() const {
    if (at_ == text_.size() || is_special(text_[at_]) || (0xD800 <= text_[at_] && text_[at_] <= 0xDFFF)) return false;
    return at_ + 1 == text_.size() || !is_quantifier(text_[at_ + 1]);
  }
  static bool is_quantifier(uint32_t c) { return c == '*' || c == '+' || c == '?' || c == '{'; }
  static bool is_special(uint32_t c) {
    static constexpr auto kSpecial = [] {
      std::array<bool, 0x80> found{};
      for (const char special : std::string_view("\\^$.|?*+()[]{}")) found[static_cast<size_t>(special)] = true;
      return found;
    }();
    return c < kSpecial.size() && kSpecial[c];
  }

  // All such characters from here on.
  uint32_t run() {
    std::string text;
    for (; stands_alone(); ++at_) {
      if (text_[at_] < 0x80) {
        text += static_cast<char>(text_[at_]);
      } else {
        append_utf8(text_[at_], text);
      }
    }
    return nodes().add_text(text);
  }

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

  std::vector<Branch> group(uint64_t depth) {
    if (take('?')) require(take(':'));
    auto inside = alternatives(depth + 1);
    require(take(')'));
    return inside;
  }

  uint32_t joined(const std::vector<Branch>& branches) {
    if (branches.size() == 1) return branches[0].body;
    std::vector<uint32_t> parts;
    for (const Branch& branch : branches) parts.push_back(branch.body);
    return nodes().add_parts(Kind::kAlternation, parts);
  }

  bool quantifier_follows() const { return at_ < text_.size() && is_quantifier(text_[at_]); }

  uint32_t quantified(uint32_t body) {
    uint32_t minimum = 0;
    uint32_t maximum = kUnbounded;
    if (take('*')) {
    } else if (take('+')) {
      minimum = 1;
    } else if (take('?')) {
      maximum = 1;
    } else if (take('{')) {
      minimum = maximum = number();
      if (take(',')) maximum = next_is('}') ? kUnbounded : number();
      require(take('}') && minimum <= maximum);
    } else {
      return body;
    }
    take('?');  // lazy ones find the same texts
    require(!quantifier_follows());
    return nodes().add_repetition(body, minimum, maximum);
  }

  uint32_t number() {
    require(at_ < text_.size() && is_digit(text_[at_]));
    uint32_t n = 0;
    while (at_ < text_.size() && is_digit(text_[at_])) {
      n = n * 10 + (text_[at_++] - '0');
      require(n <= kMaxCount);
    }
    return n;
  }

  static bool is_digit(uint32_t c) { return '0' <= c && c <= '9'; }
  static bool stands_for_itself(uint32_t c) {
    return c < 0x80 && !is_digit(c) && !('a' <= (c | 0x20) && (c | 0x20) <= 'z');
  }

  // One character outside of a class, or a class.
  Ranges atom() {
    const uint32_t c = take_any();
    if (c == '[') return char_class();
    if (c == '.') return any_but_line_ends();
    if (c == '\\') return escape();
    require(c != '*' && c != '+' && c != '?' && c != '{' && c != '}' && c != ']' && c != '^');
    return {{c, c}};
  }

  // What a dot is.
  Ranges any_but_line_ends() const {
    if (syntax_ == Syntax::kPythonDotAll) return {{0, kMaxCodePoint}};
    return complement(is_python() ? Ranges{{'\n', '\n'}} : line_ends());
  }

  Ranges char_class() {
    const bool negated = take('^');
    Ranges all;
    require(!next_is(']'));
    while (!take(']')) {
      const auto [first, first_is_one] = class_atom();
      all.insert(all.end(), first.begin(), first.end());
      if (!next_is('-') || (at_ + 1 < text_.size() && text_[at_ + 1] == ']')) continue;
      take('-');
      const auto [last, last_is_one] = class_atom();
      if (first_is_one && last_is_one) {
        require(first[0].low <= last[0].low);
        all.push_back({first[0].low, last[0].low});
      } else {
        all.push_back({'-', '-'});
        all.insert(all.end(), last.begin(), last.end());
      }
    }
    all = sorted(std::move(all));
    return negated ? complement(all) : all;
  }

  // What one place in a class stands for, and whether that is a character, which may begin a range.
  std::pair<Ranges, bool> class_atom() {
    const uint32_t c = take_any();
    if (c != '\\') return {{{c, c}}, true};
    const bool one = std::string_view("dDsSwWpP").find(static_cast<char>(peek())) == std::string_view::npos;
    return {escape(), one};
  }

  Ranges escape() {
    const uint32_t c = take_any();
    if (is_python()) {
      // The named classes are those of Unicode.
      require(std::string_view("dDsSwW").find(static_cast<char>(c)) == std::string_view::npos);
      if (c == 'U') return hex(8);
    }
    switch (c) {
      case 'd':
        return digits();
      case 'D':
        return complement(digits());
      case 'w':
        return word_characters();
      case 'W':
        return complement(word_characters());
      case 's':
        return white_space();
      case 'S':
        return complement(white_space());
      case 't':
        return {{'\t', '\t'}};
      case 'n':
        return {{'\n', '\n'}};
      case 'v':
        return {{'\v', '\v'}};
      case 'f':
        return {{'\f', '\f'}};
      case 'r':
        return {{'\r', '\r'}};
      case 'x':
        return hex(2);
      case 'u':
        return hex(4);
      case 'p':
        return property();
      case 'P':
        return complement(property());
      default:
        require(stands_for_itself(c));
        return {{c, c}};
    }
  }

  // What the braces that follow name.
  const Ranges& property() {
    require(properties_ != nullptr && take('{'));
    std::string name;
    while (!take('}')) {
      const uint32_t c = take_any();
      require(c < 0x80 && name.size() < kMaxPropertyName);
      name += static_cast<char>(c);
    }
    const Ranges* found = properties_->find(name);
    require(found != nullptr);
    return *found;
  }

  Ranges hex(int n_digits) {
    uint32_t value = 0;
    for (int i = 0; i < n_digits; ++i) {
      const uint32_t c = take_any();
      const uint32_t letter = c | 0x20;
      require((is_digit(c) || (c < 0x80 && 'a' <= letter && letter <= 'f')) && value <= kMaxCodePoint / 16);
      value = value * 16 + (is_digit(c) ? c - '0' : letter - 'a' + 10);
    }
    require(value < 0xD800 || value > 0xDFFF);  // pairs of surrogates are one character
    return {{value, value}};
  }

  std::vector<uint32_t> text_;
  uint64_t max_depth_;
  Syntax syntax_;
  CharacterProperties* properties_;
  size_t at_ = 0;
  PlainPattern out_;
};

std::optional<PlainPattern> PlainPattern::parse(std::string_view pattern, uint64_t max_nesting, Syntax syntax,
                                                CharacterProperties* properties) {
  auto found = PatternReading(pattern, max_nesting, syntax, properties).read();
  if (found) found->start_ = found->found_start();
  return found;
}

RegexId PlainPattern::regex(RegexStore& store, Sequences how) const {
  std::vector<RegexId> ways;
  for (const Branch& branch : branches_) ways.push_back(regex(store, *nodes_, branch, how));
  return store.alternation(std::move(ways));
}

RegexId PlainPattern::regex(RegexStore& store, const PatternNodes& nodes, const Branch& branch, Sequences how) {
  const RegexId any = store.repetition(store.char_class(characters({{0, kMaxCodePoint}})), 0, kUnbounded);
  const RegexId way =
      store.concatenation(nodes.regex(store, branch.body, how), branch.to_end ? RegexStore::empty_text() : any);
  return branch.from_start ? way : store.concatenation(any, way);
}

std::optional<bool> PlainPattern::found_in(std::string_view text) const {
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
PlainPattern::Positions PlainPattern::ends(uint32_t id, Positions starts, const std::vector<uint32_t>& text,
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

std::optional<std::string> PlainPattern::only_text() const {
  if (branches_.size() != 1 || !branches_[0].from_start || !branches_[0].to_end) return std::nullopt;
  std::string text;
  std::vector<uint32_t> todo{branches_[0].body};
  while (!todo.empty()) {
    const Node next = node(todo.back());
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

std::string PlainPattern::found_start() const {
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

bool PlainPattern::has_text(uint32_t least, uint32_t most) const {
  static constexpr LengthRange kAny{0, kNoLength, 1, true};
  return std::any_of(branches_.begin(), branches_.end(), [&](const Branch& branch) {
    const LengthRange of_body = lengths(branch.body);
    const bool is_whole = branch.from_start && branch.to_end;
    return (is_whole ? of_body : LengthRange::sum(of_body, kAny)).any_within(least, most) == true;
  });
}

bool PlainPattern::only_empty(uint32_t id) const {
  const Node node = (*nodes_)[id];
  if (node.kind == Kind::kClass || node.kind == Kind::kText) return false;
  if (node.maximum == 0) return true;
  return std::all_of(node.parts.begin(), node.parts.end(), [&](uint32_t part) { return only_empty(part); });
}

// The characters of its texts.
LengthRange PlainPattern::lengths(uint32_t id) const {
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
