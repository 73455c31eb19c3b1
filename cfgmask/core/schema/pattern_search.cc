#include "schema/pattern_search.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "pattern/parser.h"
#include "regex/lengths.h"
#include "schema/pattern_trees.h"

namespace cfgmask {

namespace {

using Ranges = std::vector<CodePointRange>;

// Nodes for one pattern, as many steps, and kinds of characters before a part.
constexpr size_t kMaxSearchNodes = 20'000;
constexpr size_t kMaxKinds = 8;
// Each time is translated on its own.
constexpr uint32_t kMaxTimes = 1'000;
// Groups inside of groups.
constexpr uint64_t kMaxSearchDepth = 40;
constexpr std::array<CodePointRange, 4> kWordCharacters{{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}};

Ranges shared(std::span<const CodePointRange> a, std::span<const CodePointRange> b) {
  Ranges found;
  for (const auto& x : a) {
    for (const auto& y : b) {
      const uint32_t low = std::max(x.low, y.low);
      const uint32_t high = std::min(x.high, y.high);
      if (low <= high) found.push_back({low, high});
    }
  }
  return found;
}

Ranges opposite_of(std::span<const CodePointRange> ranges) {
  Ranges found;
  uint32_t next = 0;
  for (const auto& range : ranges) {
    if (range.low > next) found.push_back({next, range.low - 1});
    next = range.high + 1;
  }
  if (next <= 0x10FFFF) found.push_back({next, 0x10FFFF});
  return shared(found, kCharacters);
}

bool has(std::span<const CodePointRange> ranges, uint32_t c) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const auto& r) { return r.low <= c && c <= r.high; });
}

}  // namespace

std::optional<PatternSearch::Found> PatternSearch::find(std::string_view pattern, uint64_t max_nesting,
                                                        CharacterProperties& properties, RegexData& data) {
  const std::u32string text = characters_of_utf8(pattern);
  const PatternSyntax read = read_plainly(text, PlainPattern::Syntax::kEcma, max_nesting);
  if (read.stop || !read.problems.empty()) return std::nullopt;
  try {
    PatternSearch search(text, read.tree, max_nesting, properties, data);
    return Found{search.whole(search.translated(read.root, search.same(search.any()), 0))};
  } catch (const NotRead&) {
    return std::nullopt;
  }
}

PatternSearch::PatternSearch(std::u32string_view pattern, const SyntaxTree& tree, uint64_t max_nesting,
                             CharacterProperties& properties, RegexData& data)
    : pattern_(pattern),
      tree_(tree),
      max_nesting_(max_nesting),
      max_depth_(std::min(kMaxSearchDepth, max_nesting / 4)),
      properties_(properties),
      data_(data),
      n_before_(data.size()),
      empty_(data.texts(RegexData::Kind::kLiteral, {""})),
      any_(data.repetition(data.ranges(RegexData::Kind::kCharClass, kCharacters), 0, kUnbounded)) {
  find_assertions();
  divide_characters();
}

// Parts come before what holds them.
void PatternSearch::find_assertions() {
  has_assertions_.resize(tree_.size());
  for (Id id = 0; id < tree_.size(); ++id) {
    const SyntaxNode& node = tree_[id];
    const bool is_assertion =
        node.kind == Kind::kAnchor || node.kind == Kind::kBoundary || node.kind == Kind::kLookaround;
    const auto parts = tree_.parts(node);
    has_assertions_[id] =
        is_assertion || std::any_of(parts.begin(), parts.end(), [&](Id part) { return has_assertions_[part]; });
  }
}

void PatternSearch::divide_characters() {
  kinds_.emplace_back(kCharacters.begin(), kCharacters.end());
  for (Id id = 0; id < tree_.size(); ++id) {
    const SyntaxNode& node = tree_[id];
    if (node.kind == Kind::kBoundary) {
      divide_by({kWordCharacters.begin(), kWordCharacters.end()});
    } else if (node.kind == Kind::kLookaround && node.option) {
      auto before = one_character(tree_.parts(node)[0]);
      require(before.has_value());
      divide_by(*before);
      looked_at_.emplace(id, *std::move(before));
    }
  }
}

void PatternSearch::divide_by(const Ranges& ranges) {
  std::vector<Ranges> divided;
  for (const Ranges& kind : kinds_) {
    for (Ranges part : {shared(kind, ranges), shared(kind, opposite_of(ranges))}) {
      if (!part.empty()) divided.push_back(std::move(part));
    }
  }
  require(divided.size() <= kMaxKinds);
  kinds_ = std::move(divided);
}

// The match may begin anywhere.
std::optional<PatternSearch::Tree> PatternSearch::whole(const Rests& rests) {
  if (are_same(rests)) {
    const Rest found = then(any_, true, rests[0]);
    return found.form == Rest::Form::kNothing ? std::nullopt : std::optional(found.tree);
  }
  std::vector<Rest> ways{rests[0]};
  for (size_t kind = 1; kind < n_kinds(); ++kind)
    ways.push_back(then(joined({any_, char_class(kinds_[kind - 1])}), false, rests[kind]));
  const Rest found = either(ways);
  return found.form == Rest::Form::kNothing ? std::nullopt : std::optional(found.tree);
}

PatternSearch::Rests PatternSearch::translated(Id id, const Rests& after, uint64_t depth) {
  require(depth <= max_depth_);
  check_size();
  if (!has_assertions_[id]) return plain(piece(id), after);
  const SyntaxNode& node = tree_[id];
  switch (node.kind) {
    case Kind::kGroup:
      return translated(node.low, after, depth + 1);
    case Kind::kSequence:
      return sequence(tree_.parts(node), after, depth);
    case Kind::kChoice: {
      std::vector<Rests> ways;
      for (Id part : tree_.parts(node)) ways.push_back(translated(part, after, depth));
      return for_each_kind(ways, [&](const std::vector<Rest>& some) { return either(some); });
    }
    case Kind::kRepeat:
      return repeated(node, after, depth + 1);
    case Kind::kAnchor: {
      require(!node.option && (node.letter == 's' || node.letter == 'e'));
      Rests found = after;
      for (size_t kind = 0; kind < n_kinds(); ++kind) {
        if (node.letter == 'e') found[kind] = after[kind].nullable ? empty_text() : nothing();
        if (node.letter == 's' && kind > 0) found[kind] = nothing();
      }
      return found;
    }
    case Kind::kBoundary:
      require((node.letter == 'b' || node.letter == 'B') && node.flags.bits() == 0);
      return boundary(node.letter == 'b', after);
    case Kind::kLookaround:
      return lookaround(node, id, after, depth + 1);
    default:
      throw NotRead();
  }
}

PatternSearch::Rests PatternSearch::sequence(std::span<const Id> items, Rests after, uint64_t depth) {
  for (size_t i = items.size(); i-- > 0;) after = translated(items[i], after, depth);
  return after;
}

PatternSearch::Rests PatternSearch::plain(const Piece& piece, const Rests& after) {
  if (are_same(after)) return same(then(piece.tree, piece.nullable, after[0]));
  std::vector<Rest> ways;
  for (size_t kind = 1; kind < n_kinds(); ++kind) {
    for (const auto& branch : piece.pattern.branches()) {
      const auto ending = ending_in(piece.pattern, branch.body, kinds_[kind - 1]);
      if (ending) ways.push_back(then(*ending, false, after[kind]));
    }
  }
  const Rest some = either(ways);
  Rests found;
  for (const Rest& rest : after) found.push_back(piece.nullable ? either({some, rest}) : some);
  return found;
}

PatternSearch::Rests PatternSearch::repeated(const SyntaxNode& node, const Rests& after, uint64_t depth) {
  require(node.letter != 'p' && node.low <= kMaxTimes && (node.high <= kMaxTimes || node.high == kUnbounded));
  const Id body = tree_.parts(node)[0];
  // Where anything may follow, the fewest times are enough.
  const bool is_least = after == same(any());
  const uint32_t most = is_least ? node.low : node.high;
  Rests found = most == kUnbounded ? any_times(body, after, depth) : after;
  for (uint32_t times = most == kUnbounded ? node.low : most; times-- > 0;) {
    found = translated(body, found, depth);
    if (times >= node.low)
      found = for_each_kind({found, after}, [&](const std::vector<Rest>& some) { return either(some); });
  }
  return found;
}

PatternSearch::Rests PatternSearch::any_times(Id body, const Rests& after, uint64_t depth) {
  require(are_same(after));
  if (after[0].form == Rest::Form::kEmptyText) {
    if (const auto found = guarded(body, depth)) return same(*found);
  }
  // What follows `$` is empty. So one time that ends there is the last, if nothing has to follow.
  require(asserts_ends_alone(body));
  Rest last = after[0];
  if (last.nullable) {
    const Rests ended = translated(body, same(empty_text()), depth);
    require(are_same(ended));
    last = either({last, ended[0]});
  }
  const auto open = without_end(body, depth);
  if (!open) return same(last);
  return same(then(data_.repetition(*open, 0, kUnbounded), true, last));
}

// Characters up to the end of the text, before each of which lookahead holds: no part of the text up to its end may
// break it.
std::optional<PatternSearch::Rest> PatternSearch::guarded(Id body, uint64_t depth) {
  while (tree_[body].kind == Kind::kGroup) body = tree_[body].low;
  if (tree_[body].kind != Kind::kSequence) return std::nullopt;
  const auto items = tree_.parts(tree_[body]);
  Rest holds = any();
  for (Id item : items.first(items.empty() ? 0 : items.size() - 1)) {
    if (tree_[item].kind != Kind::kLookaround || tree_[item].option) return std::nullopt;
    const Rests here = lookaround(tree_[item], item, same(any()), depth);
    if (!are_same(here)) return std::nullopt;
    holds = both(holds, here[0]);
  }
  const auto character = items.empty() ? std::nullopt : one_character(items.back());
  if (!character) return std::nullopt;
  const Tree some = data_.repetition(data_.ranges(RegexData::Kind::kCharClass, kCharacters), 1, kUnbounded);
  const Rest wrong = both(opposite(holds), {Rest::Form::kOther, some, false});
  const Rest whole{Rest::Form::kOther, data_.repetition(char_class(*character), 0, kUnbounded), true};
  return both(whole, opposite(then(any_, true, wrong)));
}

bool PatternSearch::asserts_ends_alone(Id id) const {
  if (!has_assertions_[id]) return true;
  const SyntaxNode& node = tree_[id];
  if (node.kind == Kind::kAnchor) return node.letter == 'e' && !node.option;
  if (node.kind == Kind::kBoundary || node.kind == Kind::kLookaround) return false;
  const auto parts = tree_.parts(node);
  return std::all_of(parts.begin(), parts.end(), [&](Id part) { return asserts_ends_alone(part); });
}

std::optional<PatternSearch::Tree> PatternSearch::without_end(Id id, uint64_t depth) {
  require(depth <= max_depth_);
  if (!has_assertions_[id]) return piece(id).tree;
  const SyntaxNode& node = tree_[id];
  switch (node.kind) {
    case Kind::kGroup:
      return without_end(node.low, depth + 1);
    case Kind::kSequence: {
      std::vector<Tree> parts;
      for (Id part : tree_.parts(node)) {
        const auto found = without_end(part, depth);
        if (!found) return std::nullopt;
        parts.push_back(*found);
      }
      return joined(std::move(parts));
    }
    case Kind::kChoice: {
      std::vector<Tree> ways;
      for (Id part : tree_.parts(node)) {
        if (const auto found = without_end(part, depth)) ways.push_back(*found);
      }
      return any_of(ways);
    }
    case Kind::kRepeat: {
      require(node.letter != 'p');
      const auto body = without_end(tree_.parts(node)[0], depth + 1);
      if (body) return data_.repetition(*body, node.low, node.high);
      return node.low == 0 ? std::optional(empty_) : std::nullopt;
    }
    case Kind::kAnchor:
      return std::nullopt;
    default:
      throw NotRead();
  }
}

PatternSearch::Rests PatternSearch::boundary(bool at_edge, const Rests& after) {
  const Rest word = then(char_class({kWordCharacters.begin(), kWordCharacters.end()}), false, any());
  const Rest other = either({empty_text(), then(char_class(opposite_of(kWordCharacters)), false, any())});
  Rests found;
  for (size_t kind = 0; kind < n_kinds(); ++kind) {
    const bool is_word = kind > 0 && has(kWordCharacters, kinds_[kind - 1][0].low);
    found.push_back(both(after[kind], is_word == at_edge ? other : word));
  }
  return found;
}

PatternSearch::Rests PatternSearch::lookaround(const SyntaxNode& node, Id id, const Rests& after, uint64_t depth) {
  Rests found;
  if (node.option) {
    const Ranges& before = looked_at_.at(id);
    for (size_t kind = 0; kind < n_kinds(); ++kind) {
      const bool holds = kind > 0 && has(before, kinds_[kind - 1][0].low);
      found.push_back(holds != node.negated ? after[kind] : nothing());
    }
    return found;
  }
  return for_each_kind(
      {translated(tree_.parts(node)[0], same(any()), depth), after},
      [&](const std::vector<Rest>& sides) { return both(node.negated ? opposite(sides[0]) : sides[0], sides[1]); });
}

// ---- parts without assertions

PatternSearch::Piece PatternSearch::piece(Id id) const {
  auto pattern = PlainPattern::of(pattern_, tree_, id, max_nesting_, PlainPattern::Syntax::kEcma, &properties_);
  require(pattern.has_value());
  RegexDataMaker maker(data_);
  const Tree tree = PatternTrees(*pattern, maker).whole();
  const bool nullable = std::any_of(pattern->branches().begin(), pattern->branches().end(),
                                    [&](const auto& branch) { return pattern->nodes()->least(branch.body) == 0; });
  return {*std::move(pattern), tree, nullable};
}

std::optional<PatternSearch::Ranges> PatternSearch::one_character(Id id) const {
  if (has_assertions_[id]) return std::nullopt;
  const auto pattern = PlainPattern::of(pattern_, tree_, id, max_nesting_, PlainPattern::Syntax::kEcma, &properties_);
  const auto* branch = pattern ? pattern->only_branch() : nullptr;
  if (branch == nullptr) return std::nullopt;
  auto node = pattern->node(branch->body);
  if (node.kind == PlainPattern::Kind::kSequence && node.parts.size() == 1) node = pattern->node(node.parts[0]);
  if (node.kind == PlainPattern::Kind::kClass) return Ranges(node.ranges.begin(), node.ranges.end());
  if (node.kind != PlainPattern::Kind::kText) return std::nullopt;
  const auto text = code_points(node.text);
  return text.size() == 1 ? std::optional(Ranges{{text[0], text[0]}}) : std::nullopt;
}

std::optional<PatternSearch::Tree> PatternSearch::ending_in(const PlainPattern& pattern, uint32_t id,
                                                            const Ranges& kind) {
  using PlainKind = PlainPattern::Kind;
  const auto node = pattern.node(id);
  RegexDataMaker maker(data_);
  const PatternTrees trees(pattern, maker);
  std::vector<Tree> ways;
  switch (node.kind) {
    case PlainKind::kText: {
      const auto text = code_points(node.text);
      if (!text.empty() && has(kind, text.back())) ways.push_back(trees.tree(id));
      break;
    }
    case PlainKind::kClass: {
      const Ranges some = shared(node.ranges, kind);
      if (!some.empty()) ways.push_back(char_class(some));
      break;
    }
    case PlainKind::kSequence:
      for (size_t i = node.parts.size(); i-- > 0;) {
        if (const auto last = ending_in(pattern, node.parts[i], kind)) {
          std::vector<Tree> parts;
          for (uint32_t part : node.parts.first(i)) parts.push_back(trees.tree(part));
          parts.push_back(*last);
          ways.push_back(joined(std::move(parts)));
        }
        if (pattern.nodes()->least(node.parts[i]) > 0) break;
      }
      break;
    case PlainKind::kRepetition: {
      const auto last = node.maximum == 0 ? std::nullopt : ending_in(pattern, node.parts[0], kind);
      if (!last) break;
      const bool nullable = pattern.nodes()->least(node.parts[0]) == 0;
      const uint32_t least = nullable || node.minimum == 0 ? 0 : node.minimum - 1;
      const uint32_t most = node.maximum == kUnbounded ? kUnbounded : node.maximum - 1;
      ways.push_back(joined({data_.repetition(trees.tree(node.parts[0]), least, most), *last}));
      break;
    }
    case PlainKind::kAlternation:
      for (uint32_t part : node.parts) {
        if (const auto some = ending_in(pattern, part, kind)) ways.push_back(*some);
      }
      break;
  }
  check_size();
  return any_of(ways);
}

// ---- sets of texts

// What `make` makes of the rests of each kind; the same where these are the same.
template <class Make>
PatternSearch::Rests PatternSearch::for_each_kind(const std::vector<Rests>& given, Make make) {
  Rests found;
  std::vector<std::vector<Rest>> known;
  for (size_t kind = 0; kind < n_kinds(); ++kind) {
    std::vector<Rest> here;
    for (const Rests& rests : given) here.push_back(rests[kind]);
    const auto same = std::find(known.begin(), known.end(), here);
    found.push_back(same == known.end() ? make(here) : found[static_cast<size_t>(same - known.begin())]);
    known.push_back(std::move(here));
  }
  return found;
}

bool PatternSearch::are_same(const Rests& rests) {
  return std::all_of(rests.begin(), rests.end(), [&](const Rest& rest) { return rest == rests[0]; });
}

PatternSearch::Rest PatternSearch::either(const std::vector<Rest>& ways) {
  std::vector<Rest> some;
  for (const Rest& way : ways) {
    if (way.form == Rest::Form::kAny) return any();
    if (way.form != Rest::Form::kNothing && std::find(some.begin(), some.end(), way) == some.end()) some.push_back(way);
  }
  if (some.size() < 2) return some.empty() ? nothing() : some[0];
  std::vector<Tree> trees;
  bool nullable = false;
  for (const Rest& way : some) {
    trees.push_back(way.tree);
    nullable = nullable || way.nullable;
  }
  return {Rest::Form::kOther, data_.parts(RegexData::Kind::kAlternation, trees), nullable};
}

PatternSearch::Rest PatternSearch::both(const Rest& a, const Rest& b) {
  using Form = Rest::Form;
  if (a.form == Form::kAny || b.form == Form::kNothing || a == b) return b;
  if (b.form == Form::kAny || a.form == Form::kNothing) return a;
  if (a.form == Form::kEmptyText || b.form == Form::kEmptyText)
    return a.nullable && b.nullable ? empty_text() : nothing();
  return {Form::kOther, data_.parts(RegexData::Kind::kIntersection, std::array{a.tree, b.tree}),
          a.nullable && b.nullable};
}

PatternSearch::Rest PatternSearch::opposite(const Rest& a) {
  if (a.form == Rest::Form::kNothing) return any();
  if (a.form == Rest::Form::kAny) return nothing();
  return {Rest::Form::kOther, data_.parts(RegexData::Kind::kComplement, {&a.tree, 1}), !a.nullable};
}

PatternSearch::Rest PatternSearch::then(Tree tree, bool nullable, const Rest& after) {
  if (after.form == Rest::Form::kNothing || tree == empty_) return after;
  if (after.form == Rest::Form::kAny && nullable) return after;
  if (after.form == Rest::Form::kEmptyText) return {Rest::Form::kOther, tree, nullable};
  return {Rest::Form::kOther, joined({tree, after.tree}), nullable && after.nullable};
}

std::optional<PatternSearch::Tree> PatternSearch::any_of(const std::vector<Tree>& ways) {
  if (ways.empty()) return std::nullopt;
  return ways.size() == 1 ? ways[0] : data_.parts(RegexData::Kind::kAlternation, ways);
}

PatternSearch::Tree PatternSearch::joined(std::vector<Tree> parts) {
  if (parts.empty()) return empty_;
  return parts.size() == 1 ? parts[0] : data_.parts(RegexData::Kind::kConcatenation, parts);
}

PatternSearch::Tree PatternSearch::char_class(const Ranges& ranges) {
  return data_.ranges(RegexData::Kind::kCharClass, ranges);
}

void PatternSearch::check_size() {
  require(data_.size() - n_before_ <= kMaxSearchNodes && ++n_steps_ <= kMaxSearchNodes);
}

}  // namespace cfgmask
