#include "mask/indentation.h"

#include <algorithm>
#include <array>

#include "util/in_step.h"

namespace cfgmask {

namespace {

constexpr uint32_t kWidest = UINT32_MAX - 2;

}  // namespace

Indentation::Indentation(const Grammar& grammar, Parser& parser, RegexStore& regexes, uint64_t max_item_sets)
    : parser_(parser),
      regexes_(regexes),
      account_{"max_item_sets", max_item_sets},
      tab_len_(grammar.indenter ? grammar.indenter->tab_len : 0) {
  const uint32_t no_blocks[] = {0, kNoBlocks.value};
  blocks_.intern(no_blocks);
  intern({kNoBlocks, 0, kNoWidth});
}

size_t Indentation::bytes() const {
  return blocks_.bytes() + registers_.bytes() + fitting_.bytes() + widths_.bytes() + place_ids_.bytes() +
         places_.bytes();
}

IndentationId Indentation::intern(const Register& found) {
  const uint32_t words[] = {found.blocks.value, found.brackets, found.width};
  if (auto known = registers_.find(words)) return IndentationId(*known);
  account_.charge();
  return IndentationId(registers_.intern(words).first);
}

bool Indentation::may_stand(LineRole role, IndentationId at) const {
  switch (role) {
    case LineRole::kNewline:
      return !in_brackets(at);
    case LineRole::kSkippedNewline:
    case LineRole::kClose:
      return in_brackets(at);
    case LineRole::kNone:
    case LineRole::kOpen:
      return true;
  }
  return true;
}

uint32_t Indentation::widened(uint32_t width, unsigned b) const {
  if (b == '\n') return 1;
  if (width == kNoWidth || (b != ' ' && b != '\t')) return kNoWidth;
  return width + std::min(b == ' ' ? 1 : tab_len_, kWidest - width);
}

IndentationId Indentation::longer(IndentationId at, unsigned b) {
  Register next = read(at);
  const uint32_t width = widened(next.width, b);
  if (width == next.width) return at;
  next.width = width;
  return intern(next);
}

IndentationId Indentation::without_width(IndentationId at) {
  Register next = read(at);
  if (next.width == kNoWidth) return at;
  next.width = kNoWidth;
  return intern(next);
}

std::optional<Indentation::Ended> Indentation::end_lexeme(LineRole role, ItemSetId items, IndentationId at) {
  Register next = read(at);
  if (role == LineRole::kNewline) return end_newline(items, next);
  if (role == LineRole::kOpen) ++next.brackets;
  if (role == LineRole::kClose) --next.brackets;
  next.width = kNoWidth;
  return Ended{items, intern(next)};
}

std::optional<Indentation::Ended> Indentation::end_newline(ItemSetId items, const Register& at) {
  if (at.width == kNoWidth) return std::nullopt;
  const uint32_t width = at.width - 1;
  BlocksId blocks = at.blocks;
  Ended ended{items, start()};
  if (width > width_of(blocks)) {
    const uint32_t words[] = {width, blocks.value};
    blocks = BlocksId(blocks_.intern(words).first);
    ended.n_tokens = 1;
    const auto to = parser_.scan_indent(items, kIndent);
    if (!to) return std::nullopt;
    ended.items = *to;
  } else {
    ended.token = kDedent;
    for (; width < width_of(blocks); blocks = outer(blocks), ++ended.n_tokens) {
      const auto to = parser_.scan_indent(ended.items, kDedent);
      if (!to) return std::nullopt;
      ended.items = *to;
    }
    if (width != width_of(blocks)) return std::nullopt;
  }
  ended.indentation = intern({blocks, 0, kNoWidth});
  return ended;
}

std::optional<Indentation::Ended> Indentation::end_text(ItemSetId items, IndentationId at) {
  Ended ended{items, start(), kDedent};
  for (BlocksId blocks = read(at).blocks; blocks != kNoBlocks; blocks = outer(blocks), ++ended.n_tokens) {
    const auto to = parser_.scan_indent(ended.items, kDedent);
    if (!to) return std::nullopt;
    ended.items = *to;
  }
  return ended;
}

// ---- whether a newline may still fit

Indentation::FittingId Indentation::fitting(ItemSetId items, BlocksId blocks) {
  const uint64_t key = (uint64_t{items.value} << 32) | blocks.value;
  if (auto known = fitting_.find(key)) return FittingId(*known);
  std::vector<uint32_t> widths{width_of(blocks), parser_.scan_indent(items, kIndent) ? 1U : 0U, width_of(blocks)};
  for (std::optional at = items; blocks != kNoBlocks; widths.push_back(width_of(blocks))) {
    at = parser_.scan_indent(*at, kDedent);
    if (!at) break;
    blocks = outer(blocks);
  }
  const FittingId found(widths_.intern(widths).first);
  fitting_.insert(key, found.value);
  return found;
}

bool Indentation::fits(FittingId fitting, uint32_t width) const {
  const Words words = widths_.at(fitting.value);
  if (width == kNoWidth) return false;
  if (width - 1 > words[0]) return words[1] != 0;
  const Words widths = words.subspan(2);
  return std::binary_search(widths.begin(), widths.end(), width - 1, std::greater<>());
}

std::optional<bool> Indentation::known(FittingId fitting, RegexId residual, uint32_t width) const {
  const uint32_t words[] = {fitting.value, residual.value, width};
  const auto id = place_ids_.find(words);
  return id ? std::optional(places_[*id]) : std::nullopt;
}

void Indentation::remember(FittingId fitting, RegexId residual, uint32_t width, bool fits) {
  const uint32_t words[] = {fitting.value, residual.value, width};
  const uint32_t hash = Interner::hash(words);
  if (!place_ids_.find(words, hash)) add_with(place_ids_, words, hash, places_, fits);
}

bool Indentation::may_fit(ItemSetId items, RegexId residual, IndentationId at) {
  const Register now = read(at);
  const FittingId widths = fitting(items, now.blocks);
  const uint32_t width = std::min(now.width, widths_.at(widths.value)[0] + 2);
  if (auto fits = known(widths, residual, width)) return *fits;
  return search(widths, residual, width);
}

// All widths beyond the innermost block's are as good as one another. Depth first, line feeds first: a line of no
// blanks mostly fits, and else some blanks behind it do. On success, whatever led there fits as well; on failure
// nothing that was seen does.
bool Indentation::search(FittingId fitting, RegexId residual, uint32_t width) {
  struct Place {
    RegexId residual;
    uint32_t width;
    size_t from;
  };
  const uint32_t beyond = widths_.at(fitting.value)[0] + 2;
  std::vector<Place> places{{residual, width, 0}};
  std::vector<size_t> waiting{0};
  HashTable seen;
  auto visit = [&](const Place& place) {
    const uint64_t key = (uint64_t{place.residual.value} << 32) | place.width;
    if (regexes_.is_empty(place.residual) || seen.find(key)) return;
    seen.insert(key, 0);
    waiting.push_back(places.size());
    places.push_back(place);
  };
  while (!waiting.empty()) {
    const size_t at = waiting.back();
    waiting.pop_back();
    const Place place = places[at];
    const auto answer = known(fitting, place.residual, place.width);
    if (answer.value_or(regexes_.nullable(place.residual) && fits(fitting, place.width))) {
      for (size_t i = at; i != 0; i = places[i].from) remember(fitting, places[i].residual, places[i].width, true);
      remember(fitting, residual, width, true);
      return true;
    }
    if (answer) continue;
    auto take = [&](unsigned b) {
      visit({regexes_.derivative(place.residual, b), std::min(widened(place.width, b), beyond), at});
    };
    ByteSet left = regexes_.first(place.residual);
    constexpr std::array<unsigned, 3> kCounted{'\t', ' ', '\n'};
    for (unsigned b : kCounted) left.remove(b);
    for (unsigned b = left.lowest(); !left.empty(); b = left.lowest()) {
      left -= regexes_.alike(place.residual, b);
      left.remove(b);
      take(b);
    }
    for (unsigned b : kCounted) take(b);
  }
  for (const Place& place : places) remember(fitting, place.residual, place.width, false);
  return false;
}

}  // namespace cfgmask
