// Reads a text anew, and tells a chart of each lexeme that ends: what `captures` and `Segments` are made of.
//
// A chart has places, values that stand for where a lexeme begins:
//   Place lead(incoming, items, position)  where these lexemes lead; each has the place `from` which it came
//   Place again(place, items)              the same place at another time
//   Place inside(place, b)                 the lexeme that begins there, or has begun there, has taken one more byte
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "mask/configuration.h"
#include "matcher/key_steps.h"

namespace cfgmask {

// A lexeme on its way from one place of a chart to another.
template <class Place>
struct LexemeFrom {
  static constexpr uint32_t kNoToken = UINT32_MAX;
  Place from;                 // where it begins
  SlotSetId matched;          // slots of that place's items; none: nothing was read
  TextId text;                // as `Parser::scan` takes it
  uint32_t token = kNoToken;  // taken by its id instead
};

template <class Chart>
class Readings {
 public:
  using Place = typename Chart::Place;
  using Lexeme = LexemeFrom<Place>;
  struct Reading {
    Configuration at;
    Place place;  // where its lexeme begins
  };

  // `endings`: of a grammar with keys.
  Readings(Parser& parser, Lexer& lexer, Stepper& stepper, const KeyEndings* endings, const Grammar& grammar,
           const Configuration& start, Place place)
      : parser_(&parser),
        lexer_(&lexer),
        stepper_(&stepper),
        endings_(endings),
        complete_(grammar.complete),
        has_keys_(grammar.has_keys),
        has_context_(grammar.has_context()) {
    readings_.push_back({start, std::move(place)});
  }

  // How many bytes of a text, without a token, fit.
  size_t take_bytes(Chart& chart, std::string_view text) {
    for (size_t n = 0; n < text.size(); ++n) {
      n += go_on(text.substr(n));
      if (n == text.size()) break;
      if (!take_byte(chart, static_cast<uint8_t>(text[n]))) return n;
    }
    if (!text.empty()) end_token(chart);
    return text.size();
  }

  // A token is read by its id, by its bytes, or both. If it does not fit, nothing may be asked any more. The position
  // moves on by `shown`, which is the size of its text, if it has one.
  bool take_token(Chart& chart, TokenId token, std::string_view text, size_t shown) {
    std::vector<Reading> by_id = read_by_id(chart, token, shown);
    const size_t before = position_;
    if (text.empty() || take_bytes(chart, text) < text.size()) {
      readings_.clear();
      lexeme_.clear();
    }
    position_ = before + shown;
    readings_.insert(readings_.begin(), by_id.begin(), by_id.end());
    keep_first_of_each(readings_);
    return !readings_.empty();
  }

  const std::vector<Reading>& all() const { return readings_; }
  size_t position() const { return position_; }

  // The place at the end of the text, and the item set there, if the text may end.
  std::optional<std::pair<Place, ItemSetId>> end(Chart& chart) {
    for (const Reading& reading : readings_) {
      for (const End& end : ends(chart, reading)) {
        if (!stepper_->may_end(end.at)) continue;
        const auto ended = *stepper_->end_text(end.at);
        return std::pair(add_indents(chart, end.place, end.at.items, ended.token, ended.n_tokens), ended.items);
      }
    }
    return std::nullopt;
  }

 private:
  struct End {
    Boundary at;
    Place place;
  };
  // Lexemes and tokens that lead to one item set.
  struct United {
    std::vector<ItemSetId> sets;
    std::vector<Lexeme> incoming;
  };

  // After a lexeme, and what an indenter put behind it.
  Place add_ended(Chart& chart, const Place& place, const Ended& ended, size_t position, TextId text) {
    Place to = chart.lead({{place, ended.matched, text}}, ended.scanned, position);
    return add_indents(chart, std::move(to), ended.scanned, ended.token, ended.n_tokens);
  }

  Place add_indents(Chart& chart, Place place, ItemSetId items, uint32_t token, uint32_t n_tokens) {
    for (; n_tokens > 0; --n_tokens) {
      items = *parser_->scan_indent(items, token);
      place =
          chart.lead({{place, Lexer::no_slots(), DistinctRegister::no_text(), token}}, items, chart.position(place));
    }
    return place;
  }

  // The only reading moves on inside of its lexeme, where nothing but the lexer has to be asked; by how many bytes.
  size_t go_on(std::string_view text) {
    if (complete_ || has_keys_ || has_context_ || readings_.size() != 1) return 0;
    Reading& only = readings_[0];
    if (!Chart::is_plain(only.place)) return 0;
    const size_t n = stepper_->go_on(only.at, text);
    position_ += n;
    return n;
  }

  bool take_byte(Chart& chart, unsigned b) {
    std::vector<Reading> next;
    if (complete_) {
      step_complete(chart, b, next);
    } else if (has_keys_) {
      for (const Reading& reading : readings_) step_with_keys(chart, reading, b, next);
    } else {
      for (const Reading& reading : readings_) step_longest(chart, reading, b, next);
    }
    if (next.empty()) return false;
    keep_first_of_each(next);
    readings_ = std::move(next);
    ++position_;
    return true;
  }

  void end_token(Chart& chart) {
    std::vector<Reading> next;
    for (const Reading& reading : readings_) {
      std::vector<Place> places;  // those that end_token() is told of by their numbers
      stepper_->end_token(
          reading.at,
          [&](const Configuration& lexeme, const Ended& ended) {
            places.push_back(ended.matched != Lexer::no_slots()
                                 ? add_ended(chart, reading.place, ended, position_, lexeme.text)
                                 : chart.again(reading.place, ended.to.items));
            return static_cast<uint32_t>(places.size() - 1);
          },
          [&](const Configuration& to, std::optional<uint32_t> place) {
            next.push_back({to, place ? places[*place] : reading.place});
          });
    }
    keep_first_of_each(next);
    readings_ = std::move(next);
  }

  // A place where the lexer has taken a byte.
  Place begun(Chart& chart, const Configuration& at, const Place& place, unsigned b) {
    return lexer_->is_boundary(at.lexer) ? place : chart.inside(place, b);
  }

  void step_longest(Chart& chart, const Reading& reading, unsigned b, std::vector<Reading>& next) {
    stepper_->longest(
        reading.at, reading.place, b,
        [&](const Place& place, const Configuration& lexeme, const Ended& ended, bool with_byte) {
          const size_t position = position_ + (with_byte ? 1 : 0);
          return add_ended(chart, with_byte ? chart.inside(place, b) : place, ended, position, lexeme.text);
        },
        [&](const Configuration& to, const Place& place) { next.push_back({to, begun(chart, to, place, b)}); });
  }

  // Grammars with keys have one reading.
  void step_with_keys(Chart& chart, const Reading& reading, unsigned b, std::vector<Reading>& next) {
    Place place = reading.place;
    KeySteps steps(*parser_, *lexer_, *stepper_, *endings_, reading.at, {{}, keys_, lexeme_});
    const bool taken = steps.take(b, [&](const Configuration& lexeme, SlotSetId matched, bool with_byte) {
      const ItemSetId to = parser_->scan(lexeme.items, matched, lexeme.text, 0);
      const size_t position = position_ + (with_byte ? 1 : 0);
      if (with_byte) place = chart.inside(place, b);
      place = chart.lead({{place, matched, lexeme.text}}, to, position);
    });
    if (!taken) return;
    keys_ = steps.keys();
    lexeme_ = steps.lexeme();
    next.push_back({steps.at(), begun(chart, steps.at(), place, b)});
  }

  void step_complete(Chart& chart, unsigned b, std::vector<Reading>& next) {
    std::map<std::pair<SurroundingsId, uint32_t>, United> united;  // by clock, too
    for (const Reading& reading : readings_) {
      std::vector<Ended> ended;
      const Place after = chart.inside(reading.place, b);
      if (auto inside = stepper_->complete(reading.at, b, ended)) next.push_back({*inside, after});
      const TextId text = stepper_->longer(reading.at.text, b);
      for (const Ended& each : ended) {
        United& together = united[{each.to.around, parser_->at(each.to.items).clock}];
        together.sets.push_back(each.to.items);
        together.incoming.push_back({after, each.matched, text});
      }
    }
    for (auto& [registers, lexemes] : united) {
      const ItemSetId items = parser_->unite(lexemes.sets);
      const Configuration at = stepper_->at_boundary({items, registers.first, Indentation::start()});
      next.push_back({at, chart.lead(std::move(lexemes.incoming), items, position_ + 1)});
    }
    std::erase_if(next, [&](const Reading& reading) { return !stepper_->is_open(reading.at); });
  }

  std::vector<Reading> read_by_id(Chart& chart, TokenId token, size_t length) {
    std::map<std::tuple<SurroundingsId, IndentationId, uint32_t>, United> united;
    for (const Reading& reading : readings_) {
      for (const End& end : ends(chart, reading)) {
        United& before = united[{end.at.around, end.at.indentation, parser_->at(end.at.items).clock}];
        before.sets.push_back(end.at.items);
        before.incoming.push_back({end.place, Lexer::no_slots(), DistinctRegister::no_text(), token});
      }
    }
    std::vector<Reading> found;
    for (auto& [registers, before] : united) {
      const auto items = parser_->scan_token(before.sets, token);
      if (!items) continue;
      const Configuration at = stepper_->at_boundary({*items, std::get<0>(registers), std::get<1>(registers)});
      if (stepper_->is_open(at))
        found.push_back({at, chart.lead(std::move(before.incoming), *items, position_ + length)});
    }
    return found;
  }

  // Where a lexeme ends here.
  std::vector<End> ends(Chart& chart, const Reading& reading) {
    if (lexer_->is_boundary(reading.at.lexer))
      return {{{reading.at.items, reading.at.around, reading.at.indentation}, reading.place}};
    std::vector<End> found;
    if (complete_) return found;  // what may end here has done so, in another reading
    for (const Ended& ended : stepper_->end_lexeme(reading.at)) {
      found.push_back({ended.to, add_ended(chart, reading.place, ended, position_, reading.at.text)});
    }
    return found;
  }

  // Equal configurations go on alike; the first has the longer lexeme.
  static void keep_first_of_each(std::vector<Reading>& readings) {
    if (readings.size() < 2) return;
    std::vector<Reading> kept;
    for (const Reading& reading : readings) {
      auto same = [&](const Reading& other) { return other.at == reading.at; };
      if (std::none_of(kept.begin(), kept.end(), same)) kept.push_back(reading);
    }
    readings = std::move(kept);
  }

  Parser* parser_;
  Lexer* lexer_;
  Stepper* stepper_;
  const KeyEndings* endings_;
  bool complete_;
  bool has_keys_;
  bool has_context_;
  WrittenKeys keys_;
  SharedText lexeme_;
  std::vector<Reading> readings_;
  size_t position_ = 0;
};

}  // namespace cfgmask
