// Captures are not part of a state: they are found when they are asked for, by reading the text of a matcher again.
// That makes them right after any rollback, and costs nothing else.
#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "earley/derivation.h"
#include "matcher/compiled_grammar.h"
#include "matcher/readings.h"

namespace cfgmask {

namespace {

// Keeps which item sets a text led to.
class ChartBuilder {
 public:
  using Place = uint32_t;

  explicit ChartBuilder(const Parser& parser) { Derivation::begin(parser, chart_); }

  Place first() const { return static_cast<Place>(chart_.nodes.size() - 1); }
  Place lead(const std::vector<LexemeFrom<Place>>& incoming, ItemSetId items, size_t position) {
    Chart::Node node{items, position, {}};
    for (const auto& lexeme : incoming)
      node.incoming.push_back({lexeme.from, lexeme.matched, lexeme.text, lexeme.token});
    return add(std::move(node));
  }
  Place again(Place place, ItemSetId items) {
    Chart::Node later = chart_.nodes[place];
    later.items = items;
    return add(std::move(later));
  }
  static Place inside(Place place, unsigned) { return place; }
  static bool is_plain(Place) { return true; }
  size_t position(Place place) const { return chart_.nodes[place].position; }

  const Chart& chart() const { return chart_; }

 private:
  Place add(Chart::Node node) {
    chart_.nodes.push_back(std::move(node));
    return static_cast<Place>(chart_.nodes.size() - 1);
  }

  Chart chart_;
};

// An item that the text so far may go on with.
Item live_item(const Parser& parser, const Lexer& lexer, const Configuration& at) {
  const ItemSet& set = parser.at(at.items);
  const Words live = lexer.residuals(at.lexer);
  for (size_t i = 0; i < live.size(); i += 2) {
    const ItemSet::Edge& edge = set.edges[set.slot(live[i]).first_edge];
    if (!edge.is_ignore()) return edge.item;
  }
  if (!set.accepts.empty()) return set.accepts[0];
  if (!set.token_edges.empty()) return set.token_edges[0].item;
  return std::find_if(set.edges.begin(), set.edges.end(), [](const auto& e) { return !e.is_ignore(); })->item;
}

bool matches(RegexStore& regexes, RegexId regex, std::string_view text) {
  for (char c : text) {
    if (regex == RegexStore::nothing()) return false;
    regex = regexes.derivative(regex, static_cast<uint8_t>(c));
  }
  return regexes.nullable(regex);
}

// How much of a lexeme comes before what ends it.
size_t body_length(RegexStore& regexes, const Suffix& suffix, std::string_view lexeme) {
  RegexId body = suffix.body;
  for (size_t i = 0; i < lexeme.size(); ++i) {
    if (regexes.nullable(body) && matches(regexes, suffix.end, lexeme.substr(i))) return i;
    body = regexes.derivative(body, static_cast<uint8_t>(lexeme[i]));
  }
  return lexeme.size();
}

}  // namespace

bool CompiledGrammar::has_captures() const {
  auto captures = [](const Nonterminal& n) { return n.is_captured(); };
  auto captures_end = [](const Terminal& t) { return t.suffix && !t.suffix->capture.empty(); };
  return std::any_of(grammar_.nonterminals.begin(), grammar_.nonterminals.end(), captures) ||
         std::any_of(grammar_.terminals.begin(), grammar_.terminals.end(), captures_end);
}

std::vector<CompiledGrammar::Capture> CompiledGrammar::captures(std::span<const Consumed> consumed) {
  std::string text;
  ChartBuilder builder(parser_);
  Readings<ChartBuilder> readings(parser_, store_->lexer, stepper_, store_->key_endings.get(), grammar_,
                                  configurations(start_)[0], builder.first());
  for (const Consumed& part : consumed) {
    text += part.text;
    if (part.token == Consumed::kBytes) {
      readings.take_bytes(builder, part.text);
    } else {
      readings.take_token(builder, part.token, part.text, part.text.size());
    }
  }
  // The end of the text if it may end here, else some place that it has come to.
  uint32_t node = readings.all()[0].place;
  Item item;
  if (const auto end = readings.end(builder)) {
    node = end->first;
    item = parser_.at(end->second).accepts[0];
  } else {
    item = live_item(parser_, store_->lexer, readings.all()[0].at);
  }
  Derivation derivation(parser_, grammar_, builder.chart());
  derivation.run(node, item);

  struct Found {
    size_t end;
    size_t begin;
    const std::string* name;
  };
  std::vector<Found> found;
  auto end_of_body = [&](const Suffix& suffix, size_t begin, size_t end) {
    return begin + body_length(store_->regexes, suffix, std::string_view(text).substr(begin, end - begin));
  };
  for (const auto& span : derivation.spans()) {
    const Suffix* suffix = span.terminal ? grammar_.terminals[*span.terminal].suffix.get() : nullptr;
    found.push_back({suffix != nullptr ? end_of_body(*suffix, span.begin, span.end) : span.end, span.begin,
                     &grammar_.nonterminals[span.nonterminal].mark->capture});
  }
  for (const auto& lexeme : derivation.ended_lexemes()) {
    const Suffix& suffix = *grammar_.terminals[lexeme.terminal].suffix;
    if (!suffix.capture.empty())
      found.push_back({lexeme.end, end_of_body(suffix, lexeme.begin, lexeme.end), &suffix.capture});
  }
  // In the order in which they end, inner ones first.
  std::stable_sort(found.begin(), found.end(),
                   [](const Found& a, const Found& b) { return a.end != b.end ? a.end < b.end : a.begin > b.begin; });
  Account account{"max_capture_bytes", max_capture_bytes_};
  for (const Found& each : found) account.charge(each.end - each.begin);
  std::vector<Capture> out;
  for (const Found& each : found) out.push_back({*each.name, text.substr(each.begin, each.end - each.begin)});
  return out;
}

}  // namespace cfgmask
