#include "matcher/segments.h"

#include <algorithm>

namespace cfgmask {

// ---- the chart

SegmentChart::Place SegmentChart::begin(Marks::Place at) {
  std::shared_ptr<Lexeme> lexeme;
  const std::vector<uint32_t>& terminals = marks_.terminals_with_ends(at.items);
  if (!terminals.empty()) {
    lexeme = std::make_shared<Lexeme>(Lexeme{at.position, {}});
    for (uint32_t terminal : terminals)
      lexeme->bodies.push_back({terminal, grammar_.terminals[terminal].suffix->body, {}});
  }
  return {std::make_shared<const Marks::Place>(std::move(at)), std::move(lexeme)};
}

SegmentChart::Place SegmentChart::lead(const std::vector<LexemeFrom<Place>>& incoming, ItemSetId items,
                                       size_t position) {
  std::vector<std::vector<Marks::BodyEnd>> ends(incoming.size());
  std::vector<Marks::Lexeme> lexemes;
  for (size_t i = 0; i < incoming.size(); ++i) {
    const auto& lexeme = incoming[i];
    if (lexeme.from.lexeme != nullptr && lexeme.matched != Lexer::no_slots()) {
      for (const Body& body : lexeme.from.lexeme->bodies) {
        const auto is_end = [&](const Candidate& end) { return regexes_.nullable(end.left); };
        const auto shortest = std::find_if(body.ends.begin(), body.ends.end(), is_end);
        ends[i].push_back({body.terminal, shortest != body.ends.end() ? shortest->position : position});
      }
    }
    lexemes.push_back({lexeme.from.at.get(), lexeme.matched, lexeme.text, lexeme.token, ends[i]});
  }
  return begin(marks_.lead(lexemes, items, position));
}

SegmentChart::Place SegmentChart::again(const Place& place, ItemSetId items) {
  Marks::Place later = *place.at;
  later.items = items;
  return begin(std::move(later));
}

SegmentChart::Place SegmentChart::inside(const Place& place, unsigned b) {
  if (place.lexeme == nullptr) return place;
  auto longer = std::make_shared<Lexeme>(*place.lexeme);
  const auto byte = static_cast<uint8_t>(b);
  for (Body& body : longer->bodies) {
    if (regexes_.nullable(body.left))
      body.ends.push_back({longer->position, grammar_.terminals[body.terminal].suffix->end});
    body.left = regexes_.derivative(body.left, byte);
    std::vector<Candidate> left;
    for (const Candidate& end : body.ends) {
      const RegexId rest = regexes_.derivative(end.left, byte);
      const auto is_same = [&](const Candidate& other) { return other.left == rest; };
      if (rest != RegexStore::nothing() && std::none_of(left.begin(), left.end(), is_same))
        left.push_back({end.position, rest});
    }
    body.ends = std::move(left);
  }
  ++longer->position;
  return {place.at, std::move(longer)};
}

size_t SegmentChart::decided(const Place& place, uint32_t terminal, size_t position) {
  if (place.lexeme == nullptr) return position;
  for (const Body& body : place.lexeme->bodies) {
    if (body.terminal == terminal && !body.ends.empty()) return body.ends[0].position;
  }
  return position;
}

// ---- segments

Segments::Segments(std::shared_ptr<CompiledGrammar> grammar)
    : grammar_(std::move(grammar)),
      chart_([&] {
        const CompiledGrammar::Guard guard(*grammar_);
        return std::make_shared<SegmentChart>(grammar_->parser_, grammar_->grammar_, grammar_->store_->regexes);
      }()),
      readings_([&] {
        const CompiledGrammar::Guard guard(*grammar_);
        return Chart(grammar_->parser_, grammar_->store_->lexer, grammar_->stepper_,
                     grammar_->store_->key_endings.get(), grammar_->grammar_,
                     grammar_->configurations(grammar_->start_)[0], chart_->first());
      }()) {}

size_t Segments::take_bytes(std::string_view text) {
  const CompiledGrammar::Guard guard(*grammar_);
  return readings_.take_bytes(*chart_, text);
}

bool Segments::take_token(TokenId token, size_t shown) {
  const Vocabulary& vocabulary = grammar_->vocabulary();
  if (token >= vocabulary.n_vocab) return false;
  const CompiledGrammar::Guard guard(*grammar_);
  Chart next = readings_;
  const std::string_view text = vocabulary.text(token);
  if (!next.take_token(*chart_, token, text, text.empty() ? shown : text.size())) return false;
  readings_ = std::move(next);
  return true;
}

std::vector<Segments::Event> Segments::events_since(Marks::HistoryId told, Marks::HistoryId history) const {
  const Marks& marks = chart_->marks();
  std::vector<Event> found;
  for (const uint32_t depth = marks.event(told).depth; marks.event(history).depth > depth;) {
    const Marks::Event& event = marks.event(history);
    found.push_back({event.begins, *event.name, event.position});
    history = event.before;
  }
  std::reverse(found.begin(), found.end());
  return found;
}

Segments::Decided Segments::decide() {
  const CompiledGrammar::Guard guard(*grammar_);
  Marks& marks = chart_->marks();
  const size_t here = readings_.position();
  struct Possible {
    Marks::HistoryId history;
    size_t position;
  };
  std::vector<Possible> all;
  const auto add = [&](Marks::HistoryId history, size_t position) {
    for (Possible& other : all) {
      if (other.history != history) continue;
      other.position = std::min(other.position, position);
      return;
    }
    all.push_back({history, position});
  };
  const Lexer& lexer = grammar_->store_->lexer;
  for (const auto& reading : readings_.all()) {
    const Marks::Place& place = *reading.place.at;
    if (lexer.is_boundary(reading.at.lexer)) {
      for (const Marks::Way& way : place.ways) add(way.history, place.solid);
      continue;
    }
    marks.for_each_way(place, lexer.residuals(reading.at.lexer),
                       [&](Marks::HistoryId history, std::optional<uint32_t> terminal) {
                         add(history, terminal ? SegmentChart::decided(reading.place, *terminal, here) : place.solid);
                       });
  }
  if (all.empty()) return {{}, 0};
  if (all.size() == 1) {
    Decided decided{events_since(told_, all[0].history), all[0].position};
    told_ = all[0].history;
    return decided;
  }
  // The events that all have in common. Equal ones of different rules are as good as the same.
  const uint32_t depth = marks.event(told_).depth;
  std::vector<std::vector<Marks::HistoryId>> ways;
  for (const Possible& possible : all) {
    std::vector<Marks::HistoryId>& way = ways.emplace_back();
    for (auto history = possible.history; marks.event(history).depth > depth; history = marks.event(history).before)
      way.push_back(history);
    std::reverse(way.begin(), way.end());
  }
  const auto is_common = [&](size_t i) {
    return std::all_of(ways.begin(), ways.end(), [&](const auto& way) {
      if (i >= way.size()) return false;
      const Marks::Event& event = marks.event(way[i]);
      const Marks::Event& other = marks.event(ways[0][i]);
      return event.begins == other.begins && *event.name == *other.name && event.position == other.position;
    });
  };
  size_t n = 0;
  while (n < ways[0].size() && is_common(n)) ++n;
  size_t position = here;
  for (size_t i = 0; i < ways.size(); ++i) {
    const bool has_more = ways[i].size() > n;
    position = std::min(position, has_more ? marks.event(ways[i][n]).position : all[i].position);
  }
  const Marks::HistoryId common = n == 0 ? told_ : ways[0][n - 1];
  Decided decided{events_since(told_, common), position};
  told_ = common;
  return decided;
}

std::optional<Segments::Decided> Segments::finish() {
  const CompiledGrammar::Guard guard(*grammar_);
  const auto end = readings_.end(*chart_);
  if (!end) return std::nullopt;
  return Decided{events_since(told_, chart_->marks().at_end(*end->first.at)), readings_.position()};
}

StateId Segments::state() {
  std::vector<Configuration> all;
  for (const auto& reading : readings_.all()) all.push_back(reading.at);
  return grammar_->intern(std::move(all));
}

std::vector<std::string> Segments::expected() {
  const CompiledGrammar::Guard guard(*grammar_);
  return grammar_->expected(state());
}

bool Segments::may_end() {
  const CompiledGrammar::Guard guard(*grammar_);
  return grammar_->accepting(state());
}

std::vector<std::string> Segments::names() const {
  const CompiledGrammar::Guard guard(*grammar_);
  std::vector<std::string> names;
  for (const Nonterminal& n : grammar_->grammar_.nonterminals) {
    if (n.is_captured()) names.push_back(n.mark->capture);
  }
  for (const Terminal& t : grammar_->grammar_.terminals) {
    if (t.suffix && !t.suffix->capture.empty()) names.push_back(t.suffix->capture);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace cfgmask
