#include "pattern/combiner.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "pattern/rounds.h"
#include "util/pause.h"

namespace cfgmask {

namespace {

// Bounds on what one pattern may grow to. Patterns in use stay below a quarter of them.
constexpr size_t kMostCases = 48;
constexpr uint64_t kMostRounds = 64;
// Longer sequences of parts with assertions are put together by halves, so that the tree stays flat.
constexpr size_t kMostInOrder = 32;

// Whether the text ends here, whatever it was.
bool is_end(const Meaning& meaning) {
  return meaning.size() == 1 && meaning[0].before == TextTrees::kAnyText && meaning[0].tree == TextTrees::kEmptyText &&
         meaning[0].after == TextTrees::kEmptyText;
}

// Whether the text begins here, whatever it will be.
bool is_start(const PatternPart& part) {
  const auto* meaning = std::get_if<Meaning>(&part);
  return meaning != nullptr && meaning->size() == 1 && (*meaning)[0].after == TextTrees::kAnyText &&
         (*meaning)[0].before == TextTrees::kEmptyText && (*meaning)[0].tree == TextTrees::kEmptyText;
}

// Whether nothing that one part says concerns the other.
bool is_run(const PatternPart& first, const PatternPart& second) {
  const auto* left = std::get_if<Meaning>(&first);
  const auto* right = std::get_if<Meaning>(&second);
  return left != nullptr && right != nullptr && left->size() == 1 && right->size() == 1 &&
         (*left)[0].after == TextTrees::kAnyText && (*right)[0].before == TextTrees::kAnyText;
}

bool all_empty(const Meaning& meaning) {
  return std::all_of(meaning.begin(), meaning.end(), [](const auto& c) { return c.tree == TextTrees::kEmptyText; });
}

}  // namespace

TextTrees::Id MeaningCombiner::whole_text(PatternPartList parts) {
  parts.insert(parts.begin(), at_text_start());
  parts.push_back(at_text_end());
  std::vector<Id> ways;
  for (const TextCase& one : sequence(std::move(parts))) ways.push_back(one.tree);
  return trees_.alternation(ways);
}

Meaning MeaningCombiner::alternation(const std::vector<Meaning>& parts) {
  Meaning all;
  for (const Meaning& part : parts) all.insert(all.end(), part.begin(), part.end());
  return merged(all);
}

Meaning MeaningCombiner::intersection(const std::vector<Meaning>& parts) {
  Meaning found = parts[0];
  for (const Meaning& part : std::span(parts).subspan(1)) {
    Meaning shared;
    for (const TextCase& left : found) {
      for (const TextCase& right : part) {
        shared.push_back({splitter_.both(left.before, right.before), splitter_.both(left.tree, right.tree),
                          splitter_.both(left.after, right.after), static_cast<uint8_t>(left.origins | right.origins)});
      }
    }
    found = merged(shared);
  }
  return found;
}

Meaning MeaningCombiner::sequence(PatternPartList parts) {
  if (parts.size() == 1) return cases(parts[0]);
  const PatternPartList all = joined(std::move(parts));
  if (all.size() > kMostInOrder) {
    std::vector<Meaning> meanings;
    meanings.reserve(all.size());
    for (const PatternPart& part : all) meanings.push_back(cases(part));
    return halves(std::move(meanings));
  }
  // From the end, where the end of the text may be known: a condition on all that follows is then met at once.
  Meaning found = all.empty() ? no_text() : cases(all.back());
  for (size_t place = all.size() - std::min<size_t>(all.size(), 1); place-- > 0;) {
    const auto* tempered = std::get_if<Tempered>(&all[place]);
    Meaning to_end;
    if (tempered != nullptr && is_end(found))
      to_end = tempered_to_end(*tempered, place > 0 && is_start(all[place - 1]));
    found = to_end.empty() ? pair(cases(all[place]), found) : to_end;
  }
  return found;
}

PatternPart MeaningCombiner::repetition(PatternPartList parts, uint64_t minimum, uint64_t maximum) {
  const bool has_tempered =
      std::any_of(parts.begin(), parts.end(), [](const auto& part) { return std::holds_alternative<Tempered>(part); });
  if (parts.size() == 2 && !has_tempered) {
    const Meaning& guard = std::get<Meaning>(parts[0]);
    const Meaning& step = std::get<Meaning>(parts[1]);
    if (all_empty(guard) && is_plain(step) && trees_.fixed_size(step[0].tree) == 1)
      return Tempered{guard, step[0].tree, minimum, maximum};
  }
  return repeated(sequence(std::move(parts)), minimum, maximum);
}

Meaning MeaningCombiner::repeated(const Meaning& body, uint64_t minimum, uint64_t maximum) {
  if (is_plain(body)) return plain_meaning(trees_.repetition(body[0].tree, minimum, maximum));
  if (maximum == 0 || body.empty()) return minimum == 0 || maximum == 0 ? no_text() : Meaning();
  if (all_empty(body)) return minimum == 0 ? no_text() : body;
  if (minimum == 0 && maximum == 1) return alternation({no_text(), body});
  if (minimum <= 1 && maximum == TextTrees::kNoMaximum) {
    const Meaning any = any_times(body);
    return minimum == 0 ? any : pair(body, any);
  }
  if (const auto size = common_size(body)) {
    const auto times = [&](uint64_t count) {
      if (count != 0 && *size > UINT32_MAX / count) throw TooEntangled();
      return count * *size;
    };
    const Id counted = trees_.repetition(TextTrees::kAnyCharacter, times(minimum),
                                         maximum == TextTrees::kNoMaximum ? maximum : times(maximum));
    Meaning found;
    for (const TextCase& one : any_times(body))
      found.push_back({one.before, splitter_.both(one.tree, counted), one.after, one.origins});
    return merged(found);
  }
  return unrolled(body, minimum, maximum);
}

Meaning MeaningCombiner::lookahead(PatternPartList parts, bool negative, uint8_t origin) {
  parts.push_back(plain_meaning(TextTrees::kAnyText));
  parts.push_back(at_text_end());
  Meaning holds;
  for (const TextCase& one : sequence(std::move(parts)))
    holds.push_back({one.before, TextTrees::kEmptyText, one.tree, origin});
  holds = merged(holds);
  return negative ? negation(holds) : holds;
}

Meaning MeaningCombiner::lookbehind(PatternPartList parts, bool negative, uint8_t origin) {
  PatternPartList all{at_text_start(), plain_meaning(TextTrees::kAnyText)};
  std::move(parts.begin(), parts.end(), std::back_inserter(all));
  Meaning holds;
  for (const TextCase& one : sequence(std::move(all)))
    holds.push_back({reversal(one.tree), TextTrees::kEmptyText, one.after, origin});
  holds = merged(holds);
  return negative ? negation(holds) : holds;
}

Meaning MeaningCombiner::between(const std::vector<std::pair<Id, Id>>& sides, uint8_t origin) {
  Meaning found;
  for (const auto& [before, after] : sides) found.push_back({before, TextTrees::kEmptyText, after, origin});
  return merged(found);
}

PatternPartList MeaningCombiner::joined(PatternPartList parts) {
  if (parts.size() < 2) return parts;
  PatternPartList found;
  for (size_t first = 0, last = 0; first < parts.size(); first = last) {
    last = first + 1;
    while (last < parts.size() && is_run(parts[last - 1], parts[last])) ++last;
    if (last == first + 1) {
      found.push_back(std::move(parts[first]));
    } else {
      found.push_back(run(std::span(parts).subspan(first, last - first)));
    }
  }
  return found;
}

Meaning MeaningCombiner::run(std::span<const PatternPart> parts) {
  std::vector<Id> trees;
  trees.reserve(parts.size());
  for (const PatternPart& part : parts) trees.push_back(std::get<Meaning>(part)[0].tree);
  const TextCase& first = std::get<Meaning>(parts.front())[0];
  const TextCase& last = std::get<Meaning>(parts.back())[0];
  const auto origins = static_cast<uint8_t>(first.origins | last.origins);
  return merged({{first.before, trees_.concatenation(trees), last.after, origins}});
}

Meaning MeaningCombiner::cases(const PatternPart& part) {
  if (const auto* meaning = std::get_if<Meaning>(&part)) return *meaning;
  const auto& tempered = std::get<Tempered>(part);
  const Meaning body = pair(tempered.guard, plain_meaning(tempered.character));
  return repeated(body, tempered.minimum, tempered.maximum);
}

// The assertion must fail nowhere: no text of what does not meet it may stand behind any place but the last.
Meaning MeaningCombiner::tempered_to_end(const Tempered& part, bool at_start) {
  const Meaning fails = negation(part.guard);
  const auto is_anywhere = [](const TextCase& one) { return one.before == TextTrees::kAnyText; };
  if (!at_start && !std::all_of(fails.begin(), fails.end(), is_anywhere)) return {};
  const Id something = trees_.repetition(TextTrees::kAnyCharacter, 1, TextTrees::kNoMaximum);
  std::vector<Id> wrong;
  for (const TextCase& one : fails)
    wrong.push_back(trees_.concatenation({reversal(one.before), splitter_.both(one.after, something)}));
  const Id counted = trees_.repetition(part.character, part.minimum, part.maximum);
  const Id tree = trees_.intersection({counted, trees_.complement(trees_.alternation(wrong))});
  uint8_t origins = 0;
  for (const TextCase& one : part.guard) origins |= one.origins;
  return merged({{at_start ? TextTrees::kEmptyText : TextTrees::kAnyText, tree, TextTrees::kEmptyText, origins}});
}

Meaning MeaningCombiner::halves(std::vector<Meaning> meanings) {
  while (meanings.size() > 1) {
    std::vector<Meaning> pairs;
    for (size_t i = 0; i + 1 < meanings.size(); i += 2) pairs.push_back(pair(meanings[i], meanings[i + 1]));
    if (meanings.size() % 2 == 1) pairs.push_back(std::move(meanings.back()));
    meanings = std::move(pairs);
  }
  return meanings[0];
}

Meaning MeaningCombiner::pair(const Meaning& first, const Meaning& second) {
  Meaning found;
  for (const TextCase& left : first) {
    for (const TextCase& right : second) add_neighbours(left, right, found);
  }
  return merged(found);
}

void MeaningCombiner::add_neighbours(const TextCase& left, const TextCase& right, Meaning& found) {
  Pause::tick();
  const auto origins = static_cast<uint8_t>(left.origins | right.origins);
  const auto ahead = under_before(left, right.before);
  const auto behind = under_after(right, left.after);
  for (const auto& [first, before] : ahead) {
    for (const auto& [second, after] : behind)
      found.push_back({before, trees_.concatenation({first, second}), after, origins});
  }
}

TextSplitter::Splits MeaningCombiner::under_before(const TextCase& given, Id condition) {
  if (given.before == TextTrees::kEmptyText)
    return {{splitter_.restrict_to(given.tree, reversal(condition)), TextTrees::kEmptyText}};
  auto found = splitter_.split_back(given.tree, condition);
  for (auto& split : found) split.rest = splitter_.both(given.before, split.rest);
  return found;
}

TextSplitter::Splits MeaningCombiner::under_after(const TextCase& given, Id condition) {
  if (given.after == TextTrees::kEmptyText)
    return {{splitter_.restrict_to(given.tree, condition), TextTrees::kEmptyText}};
  auto found = splitter_.split(given.tree, condition);
  for (auto& split : found) split.rest = splitter_.both(given.after, split.rest);
  return found;
}

Meaning MeaningCombiner::merged(const Meaning& given) {
  std::vector<Meaning> found;
  std::map<std::pair<Id, Id>, size_t> places;
  for (const TextCase& one : given) {
    if (one.before == TextTrees::kNothing || one.tree == TextTrees::kNothing || one.after == TextTrees::kNothing)
      continue;
    const auto [place, is_new] = places.emplace(std::pair(one.before, one.after), found.size());
    if (is_new) found.emplace_back();
    found[place->second].push_back(one);
  }
  if (found.size() > kMostCases) throw TooEntangled();
  Meaning all;
  for (const Meaning& same : found) all.push_back(united_cases(same));
  return all;
}

TextCase MeaningCombiner::united_cases(const Meaning& given) {
  TextCase found = given[0];
  if (given.size() > 1) {
    std::vector<Id> ways;
    for (const TextCase& one : given) {
      ways.push_back(one.tree);
      found.origins |= one.origins;
    }
    found.tree = trees_.alternation(ways);
  }
  if (found.is_plain()) found.origins = 0;
  return found;
}

Meaning MeaningCombiner::negation(const Meaning& holds) {
  Meaning found = no_text();
  for (const TextCase& one : holds) {
    const Meaning fails{
        {trees_.complement(one.before), TextTrees::kEmptyText, TextTrees::kAnyText, one.origins},
        {TextTrees::kAnyText, TextTrees::kEmptyText, trees_.complement(one.after), one.origins},
    };
    found = pair(found, merged(fails));
  }
  return found;
}

std::optional<uint64_t> MeaningCombiner::common_size(const Meaning& body) const {
  const auto size = trees_.fixed_size(body[0].tree);
  const bool agree =
      std::all_of(body.begin(), body.end(), [&](const TextCase& one) { return trees_.fixed_size(one.tree) == size; });
  return agree ? size : std::nullopt;
}

Meaning MeaningCombiner::any_times(const Meaning& body) { return merged(any_rounds(body, trees_, splitter_)); }

Meaning MeaningCombiner::unrolled(const Meaning& body, uint64_t minimum, uint64_t maximum) {
  const bool is_unbounded = maximum == TextTrees::kNoMaximum;
  if (minimum > kMostRounds || (!is_unbounded && maximum > kMostRounds)) throw TooEntangled();
  Meaning found = is_unbounded ? any_times(body) : no_text();
  for (uint64_t i = minimum; !is_unbounded && i < maximum; ++i) found = alternation({no_text(), pair(body, found)});
  for (uint64_t i = 0; i < minimum; ++i) found = pair(body, found);
  return found;
}

}  // namespace cfgmask
