// Captures are not part of a state: they are found when they are asked for, by reading the text of a matcher again.
// That makes them right after any rollback, and costs nothing else.
#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "earley/derivation.h"
#include "matcher/compiled_grammar.h"
#include "matcher/key_steps.h"

namespace cfgmask {

namespace {

// Reads a text and keeps which item sets it led to.
class ChartBuilder {
 public:
  // `endings`: of a grammar with keys.
  ChartBuilder(Parser& parser, Lexer& lexer, Stepper& stepper, const KeyEndings* endings, const Grammar& grammar,
               const Configuration& start)
      : parser_(parser),
        lexer_(lexer),
        stepper_(stepper),
        endings_(endings),
        complete_(grammar.complete),
        has_keys_(grammar.has_keys) {
    Derivation::begin(parser, chart_);
    readings_.push_back({start, static_cast<uint32_t>(chart_.nodes.size() - 1)});
  }

  void take_bytes(std::string_view text) {
    for (char c : text) take_byte(static_cast<uint8_t>(c));
    if (!text.empty()) end_token();
  }

  // A token is read by its id, by its bytes, or both.
  void take_token(TokenId token, std::string_view text) {
    const std::vector<Reading> by_id = read_by_id(token, text.size());
    const size_t before = position_;
    if (text.empty()) {
      readings_.clear();
      lexeme_.clear();
    } else {
      take_bytes(text);
    }
    position_ = before + text.size();
    readings_.insert(readings_.begin(), by_id.begin(), by_id.end());
    keep_first_of_each(readings_);
  }

  const Chart& chart() const { return chart_; }

  // A node and an item of it from which the text can be walked back: its end if it may end here, else some place that
  // it has come to.
  std::pair<uint32_t, Item> last() {
    for (const Reading& reading : readings_) {
      for (const End& end : ends(reading)) {
        if (!stepper_.may_end(end.at)) continue;
        const auto ended = *stepper_.end_text(end.at);
        const uint32_t node = add_indents(end.node, ended.token, ended.n_tokens);
        return {node, parser_.at(ended.items).accepts[0]};
      }
    }
    return {readings_[0].node, live_item(readings_[0].at)};
  }

 private:
  struct Reading {
    Configuration at;
    uint32_t node;  // where its lexeme begins
  };
  struct End {
    Boundary at;
    uint32_t node;
  };
  // Lexemes and tokens that lead to one item set.
  struct United {
    std::vector<ItemSetId> sets;
    std::vector<Chart::Lexeme> incoming;
  };

  uint32_t add_node(ItemSetId items, size_t position, std::vector<Chart::Lexeme> incoming) {
    chart_.nodes.push_back({items, position, std::move(incoming)});
    return static_cast<uint32_t>(chart_.nodes.size() - 1);
  }

  // After a lexeme, and what an indenter put behind it.
  uint32_t add_ended(uint32_t node, const Ended& ended, size_t position, TextId text) {
    return add_indents(add_node(ended.scanned, position, {{node, ended.matched, text}}), ended.token, ended.n_tokens);
  }

  uint32_t add_indents(uint32_t node, uint32_t token, uint32_t n_tokens) {
    for (; n_tokens > 0; --n_tokens) {
      const ItemSetId items = *parser_.scan_indent(chart_.nodes[node].items, token);
      node = add_node(items, chart_.nodes[node].position, {{node, Lexer::no_slots(), SeenValues::no_text(), token}});
    }
    return node;
  }

  void take_byte(unsigned b) {
    std::vector<Reading> next;
    if (complete_) {
      step_complete(b, next);
    } else if (has_keys_) {
      for (const Reading& reading : readings_) step_with_keys(reading, b, next);
    } else {
      for (const Reading& reading : readings_) step_longest(reading, b, next);
    }
    keep_first_of_each(next);
    readings_ = std::move(next);
    ++position_;
  }

  void end_token() {
    std::vector<Reading> next;
    for (const Reading& reading : readings_) {
      stepper_.end_token(
          reading.at,
          [&](const Configuration& lexeme, const Ended& ended) {
            if (ended.matched != Lexer::no_slots()) return add_ended(reading.node, ended, position_, lexeme.text);
            // The same place at another time.
            Chart::Node later = chart_.nodes[reading.node];
            later.items = ended.to.items;
            chart_.nodes.push_back(std::move(later));
            return static_cast<uint32_t>(chart_.nodes.size() - 1);
          },
          [&](const Configuration& to, std::optional<uint32_t> node) {
            next.push_back({to, node.value_or(reading.node)});
          });
    }
    keep_first_of_each(next);
    readings_ = std::move(next);
  }

  void step_longest(const Reading& reading, unsigned b, std::vector<Reading>& next) {
    stepper_.longest(
        reading.at, reading.node, b,
        [&](uint32_t node, const Configuration& lexeme, const Ended& ended, bool with_byte) {
          return add_ended(node, ended, position_ + (with_byte ? 1 : 0), lexeme.text);
        },
        [&](const Configuration& to, uint32_t node) { next.push_back({to, node}); });
  }

  // Grammars with keys have one reading.
  void step_with_keys(const Reading& reading, unsigned b, std::vector<Reading>& next) {
    uint32_t node = reading.node;
    KeySteps steps(parser_, lexer_, stepper_, *endings_, reading.at, {{}, keys_, lexeme_});
    const bool taken = steps.take(b, [&](const Configuration& lexeme, SlotSetId matched, bool with_byte) {
      const ItemSetId to = parser_.scan(lexeme.items, matched, lexeme.text, 0);
      const size_t position = position_ + (with_byte ? 1 : 0);
      node = add_node(to, position, {{node, matched, lexeme.text}});
    });
    if (!taken) return;
    keys_ = steps.keys();
    lexeme_ = steps.lexeme();
    next.push_back({steps.at(), node});
  }

  void step_complete(unsigned b, std::vector<Reading>& next) {
    std::map<std::pair<SurroundingsId, uint32_t>, United> united;  // by clock, too
    for (const Reading& reading : readings_) {
      std::vector<Ended> ended;
      if (auto inside = stepper_.complete(reading.at, b, ended)) next.push_back({*inside, reading.node});
      const TextId text = stepper_.longer(reading.at.text, b);
      for (const Ended& each : ended) {
        United& together = united[{each.to.around, parser_.at(each.to.items).clock}];
        together.sets.push_back(each.to.items);
        together.incoming.push_back({reading.node, each.matched, text});
      }
    }
    for (auto& [registers, lexemes] : united) {
      const ItemSetId items = parser_.unite(lexemes.sets);
      const Configuration at = stepper_.at_boundary({items, registers.first, Indentation::start()});
      next.push_back({at, add_node(items, position_ + 1, std::move(lexemes.incoming))});
    }
    std::erase_if(next, [&](const Reading& reading) { return !stepper_.is_open(reading.at); });
  }

  std::vector<Reading> read_by_id(TokenId token, size_t length) {
    std::map<std::tuple<SurroundingsId, IndentationId, uint32_t>, United> united;
    for (const Reading& reading : readings_) {
      for (const End& end : ends(reading)) {
        United& before = united[{end.at.around, end.at.indentation, parser_.at(end.at.items).clock}];
        before.sets.push_back(end.at.items);
        before.incoming.push_back({end.node, Lexer::no_slots(), SeenValues::no_text(), token});
      }
    }
    std::vector<Reading> found;
    for (auto& [registers, before] : united) {
      const auto items = parser_.scan_token(before.sets, token);
      if (!items) continue;
      const Configuration at = stepper_.at_boundary({*items, std::get<0>(registers), std::get<1>(registers)});
      if (stepper_.is_open(at)) found.push_back({at, add_node(*items, position_ + length, std::move(before.incoming))});
    }
    return found;
  }

  // Where a lexeme ends here.
  std::vector<End> ends(const Reading& reading) {
    if (lexer_.is_boundary(reading.at.lexer))
      return {{{reading.at.items, reading.at.around, reading.at.indentation}, reading.node}};
    std::vector<End> found;
    if (complete_) return found;  // what may end here has done so, in another reading
    for (const Ended& ended : stepper_.end_lexeme(reading.at)) {
      found.push_back({ended.to, add_ended(reading.node, ended, position_, reading.at.text)});
    }
    return found;
  }

  // Equal configurations go on alike; the first has the longer lexeme.
  static void keep_first_of_each(std::vector<Reading>& readings) {
    std::vector<Reading> kept;
    for (const Reading& reading : readings) {
      auto same = [&](const Reading& other) { return other.at == reading.at; };
      if (std::none_of(kept.begin(), kept.end(), same)) kept.push_back(reading);
    }
    readings = std::move(kept);
  }

  Item live_item(Configuration at) {
    const ItemSet& set = parser_.at(at.items);
    const Words live = lexer_.residuals(at.lexer);
    for (size_t i = 0; i < live.size(); i += 2) {
      const ItemSet::Edge& edge = set.edges[set.slot(live[i]).first_edge];
      if (!edge.is_ignore()) return edge.item;
    }
    if (!set.accepts.empty()) return set.accepts[0];
    if (!set.token_edges.empty()) return set.token_edges[0].item;
    return std::find_if(set.edges.begin(), set.edges.end(), [](const auto& e) { return !e.is_ignore(); })->item;
  }

  Parser& parser_;
  Lexer& lexer_;
  Stepper& stepper_;
  const KeyEndings* endings_;
  bool complete_;
  bool has_keys_;
  WrittenKeys keys_;
  SharedText lexeme_;
  Chart chart_;
  std::vector<Reading> readings_;
  size_t position_ = 0;
};

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
  ChartBuilder builder(parser_, store_->lexer, stepper_, store_->key_endings.get(), grammar_,
                       configurations(start_)[0]);
  for (const Consumed& part : consumed) {
    text += part.text;
    if (part.token == Consumed::kBytes) {
      builder.take_bytes(part.text);
    } else {
      builder.take_token(part.token, part.text);
    }
  }
  const auto [node, item] = builder.last();
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
