#include "pattern/splits.h"

#include <algorithm>
#include <map>
#include <string>

#include "regex/regex.h"
#include "util/pause.h"

namespace cfgmask {

namespace {

// Derivatives of one pattern, some hundredths of a second.
constexpr uint64_t kMostDerivatives = 50'000;
// States of one condition. Lookarounds in use have one for each character of a word that they look for.
constexpr size_t kMostStates = 24;
// Into how many alternatives a piece is taken apart by its first character, instead of intersecting it as a whole.
constexpr size_t kMostStarts = 3;
// A search that takes longer is given up: what may be empty is kept, which is right but larger.
constexpr uint64_t kMostEmptinessSteps = 500;
constexpr uint64_t kMostEmptinessNodes = 20'000;
constexpr uint64_t kMostEmptinessHeight = 1'600;
constexpr size_t kMostGivenUp = 10;

uint64_t pair_of(uint32_t a, uint32_t b) { return uint64_t{a} << 32 | b; }

}  // namespace

// ---- derivatives

TextTrees::Id TextDerivatives::after(Id tree, uint32_t character) {
  trees_.each(
      tree, [&](Id part) { return after_.contains(pair_of(character, part)); },
      [&](Id part) {
        Pause::tick();
        if (++n_steps_ > kMostDerivatives) throw TooEntangled();
        after_.emplace(pair_of(character, part), after_by_parts(part, character));
      });
  return after_.at(pair_of(character, tree));
}

TextTrees::Id TextDerivatives::after_by_parts(Id tree, uint32_t character) {
  using Kind = TextTrees::Kind;
  const auto below = [&](Id part) { return after_.at(pair_of(character, part)); };
  const std::vector<Id> parts(trees_.parts(tree).begin(), trees_.parts(tree).end());
  std::vector<Id> rests;
  for (Id part : parts) rests.push_back(below(part));
  switch (trees_.kind(tree)) {
    case Kind::kLiteral: {
      const auto text = trees_.characters(tree);
      if (text.empty() || text[0] != character) return TextTrees::kNothing;
      const std::vector<uint32_t> rest(text.begin() + 1, text.end());
      return trees_.literal(rest);
    }
    case Kind::kClass: {
      const CodePoints members = trees_.members(tree);
      const bool found = std::any_of(members.begin(), members.end(),
                                     [&](const auto& r) { return r.low <= character && character <= r.high; });
      return found ? TextTrees::kEmptyText : TextTrees::kNothing;
    }
    case Kind::kAlternation:
      return trees_.alternation(rests);
    case Kind::kIntersection:
      return trees_.intersection(rests);
    case Kind::kComplement:
      return trees_.complement(rests[0]);
    case Kind::kRepetition: {
      const uint64_t minimum = trees_.minimum(tree), maximum = trees_.maximum(tree);
      const uint64_t fewer = maximum == TextTrees::kNoMaximum ? maximum : maximum - 1;
      return trees_.concatenation({rests[0], trees_.repetition(parts[0], minimum == 0 ? 0 : minimum - 1, fewer)});
    }
    case Kind::kConcatenation: {
      std::vector<Id> ways;
      for (size_t i = 0; i < parts.size(); ++i) {
        std::vector<Id> way{rests[i]};
        way.insert(way.end(), parts.begin() + static_cast<ptrdiff_t>(i) + 1, parts.end());
        ways.push_back(trees_.concatenation(way));
        if (!trees_.is_nullable(parts[i])) break;
      }
      return trees_.alternation(ways);
    }
    case Kind::kSubstring:
      break;
  }
  throw TooEntangled();
}

const std::vector<TextDerivatives::Move>& TextDerivatives::moves(Id tree) {
  if (const auto known = moves_.find(tree); known != moves_.end()) return known->second;
  std::vector<Move> found;
  for (const CodePoints& characters : partition(front(tree))) {
    const Id rest = after(tree, characters[0].low);
    if (rest == TextTrees::kNothing) continue;
    const auto same = std::find_if(found.begin(), found.end(), [&](const Move& move) { return move.rest == rest; });
    if (same == found.end()) {
      found.push_back({characters, rest});
    } else {
      same->characters.insert(same->characters.end(), characters.begin(), characters.end());
    }
  }
  for (Move& move : found) move.characters = code_point_set(std::move(move.characters));
  return moves_.emplace(tree, std::move(found)).first->second;
}

TextTrees::Id TextDerivatives::reversal(Id tree) {
  trees_.each(
      tree, [&](Id part) { return reversed_.contains(part); },
      [&](Id part) { reversed_.emplace(part, reversed(part)); });
  return reversed_.at(tree);
}

TextTrees::Id TextDerivatives::reversed(Id tree) {
  using Kind = TextTrees::Kind;
  std::vector<Id> below;
  for (Id part : trees_.parts(tree)) below.push_back(reversed_.at(part));
  switch (trees_.kind(tree)) {
    case Kind::kLiteral:
    case Kind::kSubstring: {
      const auto text = trees_.characters(tree);
      const std::vector<uint32_t> backwards(text.rbegin(), text.rend());
      return trees_.kind(tree) == Kind::kLiteral ? trees_.literal(backwards) : trees_.substring(backwards);
    }
    case Kind::kConcatenation:
      std::reverse(below.begin(), below.end());
      return trees_.concatenation(below);
    case Kind::kAlternation:
      return trees_.alternation(below);
    case Kind::kIntersection:
      return trees_.intersection(below);
    case Kind::kComplement:
      return trees_.complement(below[0]);
    case Kind::kRepetition:
      return trees_.repetition(below[0], trees_.minimum(tree), trees_.maximum(tree));
    case Kind::kClass:
      break;
  }
  return tree;
}

const std::vector<uint32_t>& TextDerivatives::front(Id tree) {
  using Kind = TextTrees::Kind;
  const auto class_number = [&](const CodePoints& members) {
    return classes_.intern({&members[0].low, 2 * members.size()}).first;
  };
  const auto known = [&](Id part) { return fronts_.contains(part); };
  trees_.each(tree, known, [&](Id part) {
    std::vector<uint32_t> found;
    switch (trees_.kind(part)) {
      case Kind::kLiteral:
        if (const auto text = trees_.characters(part); !text.empty())
          found.push_back(class_number({{text[0], text[0]}}));
        break;
      case Kind::kClass:
        found.push_back(class_number(trees_.members(part)));
        break;
      case Kind::kSubstring:
        throw TooEntangled();
      default:
        for (Id inside : trees_.parts(part)) {
          const auto& more = fronts_.at(inside);
          found.insert(found.end(), more.begin(), more.end());
          if (trees_.kind(part) == Kind::kConcatenation && !trees_.is_nullable(inside)) break;
        }
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    fronts_.emplace(part, std::move(found));
  });
  return fronts_.at(tree);
}

// The coarsest partition of all characters that each of the classes is a union of.
std::vector<CodePoints> TextDerivatives::partition(const std::vector<uint32_t>& classes) const {
  std::map<uint32_t, std::vector<size_t>> edges;  // of the classes that begin or end there
  for (size_t i = 0; i < classes.size(); ++i) {
    const Words ranges = classes_.at(classes[i]);
    for (size_t at = 0; at < ranges.size(); at += 2) {
      edges[ranges[at]].push_back(i);
      edges[ranges[at + 1] + 1].push_back(i);
    }
  }
  edges[0];
  edges[kLastCodePoint + 1];
  std::vector<CodePoints> found;
  std::map<std::vector<bool>, size_t> places;
  std::vector<bool> inside(classes.size());
  for (auto edge = edges.begin(); std::next(edge) != edges.end(); ++edge) {
    for (size_t i : edge->second) inside[i] = !inside[i];
    const auto [place, is_new] = places.emplace(inside, found.size());
    if (is_new) found.emplace_back();
    found[place->second].push_back({edge->first, std::next(edge)->first - 1});
  }
  std::vector<CodePoints> sets;
  for (CodePoints& ranges : found) {
    CodePoints set = code_point_set(std::move(ranges));
    if (!set.empty()) sets.push_back(std::move(set));
  }
  return sets;
}

// ---- ways

std::vector<std::optional<TextTrees::Id>> ways_through(TextTrees& trees, size_t size,
                                                       std::vector<std::optional<TextTrees::Id>> edges) {
  using Way = std::pair<size_t, TextTrees::Id>;
  auto& ways = edges;
  const auto way = [&](size_t start, size_t end) -> std::optional<TextTrees::Id>& { return ways[start * size + end]; };
  for (size_t middle = size; middle-- > 0;) {
    const auto around =
        way(middle, middle) ? trees.repetition(*way(middle, middle), 0, TextTrees::kNoMaximum) : TextTrees::kEmptyText;
    std::vector<Way> into;
    std::vector<Way> out;
    for (size_t other = 0; other < size; ++other) {
      if (way(other, middle)) into.emplace_back(other, *way(other, middle));
      if (way(middle, other)) out.emplace_back(other, *way(middle, other));
    }
    for (const auto& [start, before] : into) {
      for (const auto& [end, behind] : out) {
        if (start == middle && end == middle) continue;
        Pause::tick();
        // What goes in or out of the middle itself is one of the rounds.
        std::vector<TextTrees::Id> through;
        if (start != middle) through.push_back(before);
        through.push_back(around);
        if (end != middle) through.push_back(behind);
        const TextTrees::Id detour = trees.concatenation(through);
        auto& known = way(start, end);
        known = known && start != middle && end != middle ? trees.alternation({*known, detour}) : detour;
      }
    }
    if (way(middle, middle)) way(middle, middle) = around;
  }
  for (size_t node = 0; node < size; ++node) {
    auto& around = way(node, node);
    around = around ? trees.alternation({TextTrees::kEmptyText, *around}) : TextTrees::kEmptyText;
  }
  return edges;
}

// ---- emptiness

// Whether nothing matches, as far as a short search tells.
class TextSplitter::Emptiness {
 public:
  explicit Emptiness(const TextTrees& trees) : trees_(trees) {}

  bool is_empty(Id tree) {
    if (const auto known = known_.find(tree); known != known_.end()) return known->second;
    std::optional<bool> found = searched(tree);
    if (!found) {
      // The nodes of earlier questions count as well.
      search_.reset();
      found = searched(tree);
    }
    if (!found && ++n_given_up_ > kMostGivenUp) throw TooEntangled();
    return known_.emplace(tree, found.value_or(false)).first->second;
  }

 private:
  struct Search {
    RegexStore store{kMostEmptinessHeight, kMostEmptinessSteps};
    Account account{.limit = "max_regex_nodes", .allowed = kMostEmptinessNodes};
    std::unordered_map<Id, RegexId> nodes;
  };

  // nullopt if it takes too long to find out.
  std::optional<bool> searched(Id tree) {
    if (!search_) search_ = std::make_unique<Search>();
    RegexStore& store = search_->store;
    store.charge_to(&search_->account);
    std::optional<bool> found;
    try {
      found = store.is_empty(node(tree));
    } catch (const LimitExceeded&) {
      // It was too hard.
    }
    store.charge_to(nullptr);
    return found;
  }

  RegexId node(Id tree) {
    auto& nodes = search_->nodes;
    trees_.each(tree, [&](Id part) { return nodes.contains(part); }, [&](Id part) { nodes.emplace(part, made(part)); });
    return nodes.at(tree);
  }

  RegexId made(Id tree) {
    using Kind = TextTrees::Kind;
    RegexStore& store = search_->store;
    std::vector<RegexId> parts;
    for (Id part : trees_.parts(tree)) parts.push_back(search_->nodes.at(part));
    switch (trees_.kind(tree)) {
      case Kind::kLiteral: {
        std::string text;
        for (uint32_t c : trees_.characters(tree)) append_utf8(c, text);
        return store.literal(text);
      }
      case Kind::kClass:
        return store.char_class(trees_.members(tree));
      case Kind::kConcatenation: {
        RegexId whole = RegexStore::empty_text();
        for (size_t i = parts.size(); i-- > 0;) whole = store.concatenation(parts[i], whole);
        return whole;
      }
      case Kind::kAlternation:
        return store.alternation(std::move(parts));
      case Kind::kRepetition: {
        const uint64_t minimum = trees_.minimum(tree), maximum = trees_.maximum(tree);
        const bool is_unbounded = maximum == TextTrees::kNoMaximum;
        if (minimum >= kUnbounded || (!is_unbounded && maximum >= kUnbounded))
          throw LimitExceeded("max_search_steps", kMostEmptinessSteps);
        return store.repetition(parts[0], static_cast<uint32_t>(minimum),
                                is_unbounded ? kUnbounded : static_cast<uint32_t>(maximum));
      }
      case Kind::kIntersection:
        return store.intersection(std::move(parts));
      case Kind::kComplement:
        return store.intersection({store.any_text(), store.complement(parts[0])});
      case Kind::kSubstring:
        break;
    }
    std::vector<std::string> characters;
    for (uint32_t c : trees_.characters(tree)) append_utf8(c, characters.emplace_back());
    return store.substring(characters);
  }

  const TextTrees& trees_;
  std::unique_ptr<Search> search_;
  std::unordered_map<Id, bool> known_;
  size_t n_given_up_ = 0;
};

// ---- splits

TextSplitter::TextSplitter(TextTrees& trees)
    : trees_(trees), derivatives_(trees), emptiness_(std::make_unique<Emptiness>(trees)) {}

TextSplitter::~TextSplitter() = default;

const TextSplitter::Splits& TextSplitter::split(Id piece, Id condition) {
  const uint64_t key = pair_of(piece, condition);
  if (const auto known = splits_.find(key); known != splits_.end()) return known->second;
  Splits found = find_splits(piece, condition);
  return splits_.emplace(key, std::move(found)).first->second;
}

TextSplitter::Splits TextSplitter::split_back(Id piece, Id condition) {
  if (condition == TextTrees::kAnyText) return {{piece, condition}};
  Splits found = split(reversal(piece), condition);
  for (Split& one : found) one.text = reversal(one.text);
  return found;
}

TextTrees::Id TextSplitter::both(Id first, Id second) {
  const Id tree = trees_.intersection({first, second});
  return tree != first && tree != second && emptiness_->is_empty(tree) ? TextTrees::kNothing : tree;
}

TextTrees::Id TextSplitter::restrict_to(Id piece, Id condition) {
  if (condition == TextTrees::kAnyText || piece == TextTrees::kNothing) return piece;
  const auto kind = trees_.kind(piece);
  if (kind == TextTrees::Kind::kLiteral || kind == TextTrees::Kind::kClass || !alternatives(piece).empty() ||
      decides_at_once(condition)) {
    std::vector<Id> met;
    for (const auto& [text, rest] : split(piece, condition)) {
      if (trees_.is_nullable(rest)) met.push_back(text);
    }
    return trees_.alternation(met);
  }
  return both(piece, condition);
}

TextSplitter::Splits TextSplitter::find_splits(Id piece, Id condition) {
  using Kind = TextTrees::Kind;
  if (piece == TextTrees::kNothing || condition == TextTrees::kNothing) return {};
  if (piece == TextTrees::kEmptyText || condition == TextTrees::kAnyText) return {{piece, condition}};
  if (condition == TextTrees::kEmptyText)
    return trees_.is_nullable(piece) ? Splits{{TextTrees::kEmptyText, TextTrees::kEmptyText}} : Splits();
  if (trees_.kind(piece) == Kind::kLiteral) {
    Id rest = condition;
    const std::vector<uint32_t> text(trees_.characters(piece).begin(), trees_.characters(piece).end());
    for (uint32_t c : text) {
      if (rest == TextTrees::kNothing || rest == TextTrees::kAnyText) break;
      rest = derivatives_.after(rest, c);
    }
    return rest == TextTrees::kNothing ? Splits() : Splits{{piece, rest}};
  }
  if (trees_.kind(piece) == Kind::kClass) {
    Splits found;
    const CodePoints characters = trees_.members(piece);
    for (const auto& [members, rest] : derivatives_.moves(condition)) {
      const CodePoints some = common(characters, members);
      if (!some.empty()) found.push_back({trees_.char_class(some), rest});
    }
    return found;
  }
  if (trees_.kind(piece) == Kind::kConcatenation)
    return split_sequence({trees_.parts(piece).begin(), trees_.parts(piece).end()}, condition);
  if (const auto ways = alternatives(piece); !ways.empty()) {
    Splits found;
    for (Id way : ways) {
      const Splits& some = split(way, condition);
      found.insert(found.end(), some.begin(), some.end());
    }
    return merged(found);
  }
  return decides_at_once(condition) ? split_at_first(piece, condition) : split_anywhere(piece, condition);
}

TextSplitter::Splits TextSplitter::split_sequence(const std::vector<Id>& parts, Id condition) {
  Splits ways{{TextTrees::kEmptyText, condition}};
  for (Id part : parts) {
    Splits further;
    for (const auto& [before, left] : ways) {
      for (const auto& [text, rest] : split(part, left))
        further.push_back({trees_.concatenation({before, text}), rest});
    }
    ways = merged(further);
  }
  return ways;
}

bool TextSplitter::decides_at_once(Id condition) {
  const auto& moves = derivatives_.moves(condition);
  return std::all_of(moves.begin(), moves.end(), [](const auto& move) { return move.rest == TextTrees::kAnyText; });
}

TextSplitter::Splits TextSplitter::split_at_first(Id piece, Id condition) {
  Splits ways;
  if (trees_.is_nullable(piece)) ways.push_back({TextTrees::kEmptyText, condition});
  for (const auto& [good, rest] : derivatives_.moves(condition)) {
    const Id started = after_first(piece, good);
    if (started != TextTrees::kNothing) ways.push_back({started, TextTrees::kAnyText});
  }
  return ways;
}

TextTrees::Id TextSplitter::after_first(Id piece, const CodePoints& good) {
  using Kind = TextTrees::Kind;
  if (trees_.kind(piece) == Kind::kRepetition && trees_.kind(trees_.parts(piece)[0]) == Kind::kClass) {
    std::vector<std::pair<CodePoints, Id>> starts;
    for (const auto& [members, rest] : derivatives_.moves(piece)) {
      CodePoints some = common(members, good);
      if (!some.empty()) starts.emplace_back(std::move(some), rest);
    }
    if (starts.size() <= kMostStarts) {
      std::vector<Id> ways;
      for (const auto& [members, rest] : starts)
        ways.push_back(trees_.concatenation({trees_.char_class(members), rest}));
      return trees_.alternation(ways);
    }
  }
  return both(piece, trees_.concatenation({trees_.char_class(good), TextTrees::kAnyText}));
}

TextSplitter::Splits TextSplitter::split_anywhere(Id piece, Id condition) {
  Splits found;
  for (const auto& [texts, state] : automaton(condition)) {
    const Id some = both(piece, texts);
    if (some != TextTrees::kNothing) found.push_back({some, state});
  }
  return found;
}

const TextSplitter::Splits& TextSplitter::automaton(Id condition) {
  if (const auto known = automata_.find(condition); known != automata_.end()) return known->second;
  std::vector<Id> states{condition};
  std::unordered_map<Id, size_t> numbers{{condition, 0}};
  std::vector<Id> pending{condition};
  std::vector<std::tuple<size_t, size_t, Id>> steps;
  while (!pending.empty()) {
    const Id state = pending.back();
    pending.pop_back();
    for (const auto& [members, rest] : derivatives_.moves(state)) {
      if (numbers.emplace(rest, states.size()).second) {
        states.push_back(rest);
        pending.push_back(rest);
      }
      steps.emplace_back(numbers.at(state), numbers.at(rest), trees_.char_class(members));
    }
    if (states.size() > kMostStates) throw TooEntangled();
  }
  std::vector<std::optional<Id>> edges(states.size() * states.size());
  for (const auto& [start, end, members] : steps) edges[start * states.size() + end] = members;
  const auto ways = ways_through(trees_, states.size(), std::move(edges));
  Splits found;
  for (size_t i = 0; i < states.size(); ++i) found.push_back({ways[i].value(), states[i]});
  return automata_.emplace(condition, std::move(found)).first->second;
}

TextSplitter::Splits TextSplitter::merged(const Splits& splits) {
  std::vector<std::pair<Id, std::vector<Id>>> found;
  std::unordered_map<Id, size_t> places;
  for (const auto& [text, rest] : splits) {
    if (text == TextTrees::kNothing) continue;
    const auto [place, is_new] = places.emplace(rest, found.size());
    if (is_new) found.emplace_back(rest, std::vector<Id>());
    found[place->second].second.push_back(text);
  }
  Splits all;
  for (const auto& [rest, texts] : found) all.push_back({trees_.alternation(texts), rest});
  return all;
}

std::vector<TextTrees::Id> TextSplitter::alternatives(Id piece) const {
  using Kind = TextTrees::Kind;
  const auto parts = trees_.parts(piece);
  if (trees_.kind(piece) == Kind::kAlternation) return {parts.begin(), parts.end()};
  const bool is_optional =
      trees_.kind(piece) == Kind::kRepetition && trees_.minimum(piece) == 0 && trees_.maximum(piece) == 1;
  return is_optional ? std::vector<Id>{TextTrees::kEmptyText, parts[0]} : std::vector<Id>();
}

}  // namespace cfgmask
