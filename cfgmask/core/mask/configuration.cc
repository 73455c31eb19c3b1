#include "mask/configuration.h"

#include <algorithm>
#include <array>
#include <map>

#include "util/in_step.h"

namespace cfgmask {

// The lexer's state with only the terminals that may begin here.
LexerStateId Stepper::lexer_start(Boundary at) {
  const uint64_t context =
      2 * uint64_t{surroundings_.holding(at.around).value} + (indentation_.in_brackets(at.indentation) ? 1 : 0);
  const uint64_t key = (uint64_t{at.items.value} << 32) | context;
  if (auto known = starts_.find(key)) return LexerStateId(*known);
  const ItemSet& set = parser_.at(at.items);
  std::vector<uint32_t> holding;
  for (const ItemSet::Slot& slot : set.slots) {
    if (may_begin(slot, at) && indentation_.may_stand(slot.role, at.indentation)) holding.push_back(slot.first_number);
  }
  const LexerStateId start = lexer_.start(set.start, holding);
  starts_.insert(key, start.value);
  return start;
}

// Whether the condition on what stands before it holds.
bool Stepper::may_begin(const ItemSet::Slot& slot, Boundary at) const {
  return slot.around.before == kNoCondition || surroundings_.holds(at.around, slot.around.before);
}

// Where every segmentation counts, a terminal that conditions leave no way on inside of it has ended elsewhere.
bool Stepper::closes_in_time(Configuration at) {
  const bool at_boundary = lexer_.is_boundary(at.lexer);
  if (has_indenter_ && at_boundary && may_end({at.items, at.around, at.indentation})) return true;
  const Words live = lexer_.residuals(at.lexer);
  if (!complete_ || !has_conditions_ || at_boundary) return parser_.fits(at.items, at.clock, live, at_boundary);
  const std::vector<uint32_t> slots(live.begin(), live.end());
  for (size_t i = 0; i < slots.size(); i += 2) {
    Configuration alone = at;
    const std::array<uint32_t, 2> slot{slots[i], slots[i + 1]};
    alone.lexer = lexer_.inside(slot[0], RegexId(slot[1]));
    if (is_open(alone) && parser_.fits(at.items, at.clock, slot, at_boundary)) return true;
  }
  return false;
}

// ---- indentation

bool Stepper::has_newline(ItemSetId items, LexerStateId lexer) const {
  const uint32_t slot = parser_.at(items).newline_slot;
  const Words live = lexer_.residuals(lexer);
  for (size_t i = 0; i < live.size(); i += 2) {
    if (live[i] == slot) return true;
  }
  return false;
}

// The lexer takes b, which leads it to `next`.
IndentationId Stepper::line_after(Configuration at, LexerStateId next, unsigned b) {
  if (indentation_.in_brackets(at.indentation)) return at.indentation;
  return has_newline(at.items, next) ? indentation_.longer(at.indentation, b)
                                     : indentation_.without_width(at.indentation);
}

// Whether a lexeme that can be nothing but a newline may still begin a line that fits.
bool Stepper::may_fit(Configuration at) {
  const uint32_t newline = parser_.at(at.items).newline_slot;
  const Words live = lexer_.residuals(at.lexer);
  if (live.size() != 2 || live[0] != newline) return true;
  const ItemSetId after = parser_.scan(at.items, lexer_.slot_set(newline), DistinctRegister::no_text(), at.clock);
  return indentation_.may_fit(after, RegexId(live[1]), at.indentation);
}

// Lexemes of different roles have different futures.
void Stepper::end_by_role(Configuration at, Words matched, SurroundingsId around, std::vector<Ended>& ended) {
  const ItemSet& set = parser_.at(at.items);
  auto end = [&](LineRole role, SlotSetId slots) {
    const ItemSetId scanned = parser_.scan(at.items, slots, at.text, at.clock);
    const auto to = indentation_.end_lexeme(role, scanned, at.indentation);
    if (to) ended.push_back({slots, {to->items, around, to->indentation}, scanned, to->token, to->n_tokens});
  };
  const LineRole first = set.slot(matched[0]).role;
  if (std::all_of(matched.begin(), matched.end(), [&](uint32_t slot) { return set.slot(slot).role == first; }))
    return end(first, lexer_.slot_set(matched));
  int32_t best = INT32_MIN;
  for (uint32_t slot : matched) best = std::max(best, set.slot(slot).priority);
  std::map<LineRole, std::vector<uint32_t>> by_role;
  for (uint32_t slot : matched) {
    if (set.slot(slot).priority == best) by_role[set.slot(slot).role].push_back(slot);
  }
  for (const auto& [role, slots] : by_role) end(role, lexer_.slot_set(Words(slots)));
}

// ---- lexer: longest

void Stepper::longest(Configuration at, unsigned b, std::vector<Configuration>& out) {
  if (!has_context_) {
    if (auto next = longest(at, b)) out.push_back(*next);
    return;
  }
  std::vector<Configuration> found;
  step_longest(at, b, found);
  for (const Configuration& next : found) {
    if (is_open(next)) out.push_back(next);
  }
}

void Stepper::step_longest(Configuration at, unsigned b, std::vector<Configuration>& out) {
  struct Nowhere {};
  step_longest(
      at, Nowhere(), b, [](Nowhere, const Configuration&, const Ended&, bool) { return Nowhere(); },
      [&](const Configuration& next, Nowhere) { out.push_back(next); });
}

std::vector<Ended> Stepper::end_lexeme(Configuration at) {
  const SlotSetId matched = lexer_.matched(at.lexer);
  if (matched == Lexer::no_slots()) return {};
  const ItemSet& set = parser_.at(at.items);
  const Words slots = lexer_.slots(matched);
  const auto asks_nothing = [&](uint32_t slot) { return set.slot(slot).around.after == RegexStore::all(); };
  if (!std::all_of(slots.begin(), slots.end(), asks_nothing)) return end_by_conditions(at, slots);
  std::vector<Ended> ended;
  end_by_role(at, slots, at.around, ended);
  return ended;
}

// What follows decides which terminals the lexeme is. There is one boundary for each way in which their conditions may
// hold or fail together; what they demand excludes each other, so of these boundaries one will be left.
std::vector<Ended> Stepper::end_by_conditions(Configuration at, Words matched) {
  struct Outcome {
    SurroundingsId around;
    std::vector<uint32_t> slots;
  };
  const ItemSet& set = parser_.at(at.items);
  std::vector<RegexId> conditions;
  for (uint32_t slot : matched) conditions.push_back(set.slot(slot).around.after);
  std::sort(conditions.begin(), conditions.end());
  conditions.erase(std::unique(conditions.begin(), conditions.end()), conditions.end());
  std::vector<Outcome> outcomes{{at.around, {}}};
  for (RegexId condition : conditions) {
    std::vector<Outcome> refined;
    for (const Outcome& outcome : outcomes) {
      if (auto fails = surroundings_.demand(outcome.around, regexes_.complement(condition)))
        refined.push_back({*fails, outcome.slots});
      if (auto holds = surroundings_.demand(outcome.around, condition)) {
        Outcome& more = refined.emplace_back(*holds, outcome.slots);
        for (uint32_t slot : matched) {
          if (set.slot(slot).around.after == condition) more.slots.push_back(slot);
        }
      }
    }
    outcomes = std::move(refined);
  }
  std::vector<Ended> ended;
  for (Outcome& outcome : outcomes) {
    if (outcome.slots.empty()) continue;
    std::sort(outcome.slots.begin(), outcome.slots.end());
    end_by_role(at, outcome.slots, outcome.around, ended);
  }
  return ended;
}

// ---- lexer: complete

std::vector<Configuration> Stepper::complete(std::span<const Configuration> all, unsigned b) {
  std::vector<Configuration> out = step_complete(all, b);
  std::erase_if(out, [&](const Configuration& at) { return !is_open(at); });
  return out;
}

std::optional<Configuration> Stepper::complete(Configuration at, unsigned b, std::vector<Ended>& ended) {
  const LexerStateId next = lexer_.next(at.lexer, b);
  if (next == Lexer::dead()) return std::nullopt;
  const auto around = has_conditions_ ? surroundings_.next(at.around, b) : at.around;
  if (!around) return std::nullopt;
  const TextId text = longer(at.text, b);
  const SlotSetId matched = lexer_.matched(next);
  if (matched != Lexer::no_slots() && !has_conditions_) {
    const ItemSetId to = parser_.scan(at.items, matched, text, at.clock);
    ended.push_back({matched, {to, *around, at.indentation}, to});
  } else {
    for (uint32_t slot : lexer_.slots(matched)) {
      const auto demanded = surroundings_.demand(*around, parser_.at(at.items).slot(slot).around.after);
      const SlotSetId alone = lexer_.slot_set(slot);
      if (!demanded) continue;
      const ItemSetId to = parser_.scan(at.items, alone, text, at.clock);
      ended.push_back({alone, {to, *demanded, at.indentation}, to});
    }
  }
  if (!lexer_.can_continue(next)) return std::nullopt;
  return Configuration{at.items, next, text, *around, at.indentation, at.clock};
}

std::vector<Configuration> Stepper::step_complete(std::span<const Configuration> all, unsigned b) {
  std::vector<Configuration> out;
  std::vector<Ended> ended;
  for (const Configuration& at : all) {
    if (auto inside = complete(at, b, ended)) out.push_back(*inside);
  }
  const auto key = [&](const Ended& e) { return std::pair(e.to.around, parser_.at(e.to.items).clock); };
  std::sort(ended.begin(), ended.end(), [&](const Ended& x, const Ended& y) { return key(x) < key(y); });
  for (size_t i = 0; i < ended.size();) {
    std::vector<ItemSetId> sets;
    const auto together = key(ended[i]);
    for (; i < ended.size() && key(ended[i]) == together; ++i) sets.push_back(ended[i].to.items);
    out.push_back(at_boundary({parser_.unite(sets), together.first, Indentation::start()}));
  }
  return out;
}

// ---- both

void Stepper::ends(Configuration at, std::vector<Boundary>& out) {
  if (lexer_.is_boundary(at.lexer)) {
    out.push_back({at.items, at.around, at.indentation});
  } else if (!complete_) {
    for (const Ended& ended : end_lexeme(at)) out.push_back(ended.to);
  }
}

bool Stepper::is_open(Configuration at, uint32_t bytes_ahead) {
  if (bytes_ahead == 0 || is_settled(at)) return true;
  const uint32_t words[] = {at.items.value,       at.lexer.value, at.text.value, at.around.value,
                            at.indentation.value, at.clock,       bytes_ahead};
  if (auto known = open_ids_.find(words)) return open_[*known];
  const bool open = goes_further(at, bytes_ahead);
  add_with(open_ids_, words, open_, open);
  return open;
}

bool Stepper::is_settled(Configuration at) {
  if (surroundings_.is_pending(at.around)) return false;
  if (!lexer_.is_boundary(at.lexer)) return lexer_.goes_on(at.lexer);
  const ItemSet& set = parser_.at(at.items);
  const Boundary boundary{at.items, at.around, at.indentation};
  return !set.asks_before || std::all_of(set.slots.begin(), set.slots.end(),
                                         [&](const ItemSet::Slot& slot) { return may_begin(slot, boundary); });
}

bool Stepper::goes_further(Configuration at, uint32_t bytes_ahead) {
  std::vector<Boundary> ended;
  ends(at, ended);
  for (const Boundary& end : ended) {
    if (may_end(end) || !parser_.at(end.items).token_edges.empty()) return true;
  }
  for (unsigned b = 0; b < 256; ++b) {
    std::vector<Configuration> next;
    if (complete_) {
      next = step_complete({&at, 1}, b);
    } else {
      step_longest(at, b, next);
    }
    for (const Configuration& to : next) {
      if (is_open(to, bytes_ahead - 1)) return true;
    }
  }
  return false;
}

}  // namespace cfgmask
