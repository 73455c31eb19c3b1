// The steps of one configuration with the keys that are written on the way (lexer: longest, without context).
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mask/configuration.h"
#include "mask/key_endings.h"
#include "mask/known_steps.h"
#include "mask/written_keys.h"
#include "matcher/position.h"
#include "regex/regex.h"

namespace cfgmask {

class KeySteps {
 public:
  // `begun`: of the position, whose configuration is `at`. A pending key of which nothing is known is let pass.
  KeySteps(const Parser& parser, Lexer& lexer, Stepper& stepper, const KeyEndings& endings, Configuration at,
           const Position& begun)
      : parser_(parser),
        lexer_(lexer),
        stepper_(stepper),
        endings_(endings),
        at_(at),
        keys_(begun.keys),
        lexeme_(begun.lexeme),
        is_pending_(!lexer.is_boundary(at.lexer)),
        is_known_(!is_pending_ || !begun.lexeme.empty()),
        begin_(is_pending_ ? KeyEffects::kBefore : 0) {}

  // How many bytes of a text fit; if not all, nothing more may be asked but for the keys.
  size_t take(std::string_view text) {
    size_t n = 0;
    while (n < text.size()) {
      Configuration to = at_;
      const size_t inside = stepper_.go_on(to, text.substr(n));
      go_on(to, text.substr(n, inside));
      n += inside;
      if (n == text.size() || !take(static_cast<uint8_t>(text[n]), [](const Configuration&, SlotSetId, bool) {})) break;
      ++n;
    }
    return n;
  }
  // Takes a text with which the lexeme goes on, or begins, and which leads to `to`.
  void go_on(const Configuration& to, std::string_view text) {
    at_ = to;
    if (!text.empty() && is_in_key()) fresh_.append(text);
    n_taken_ += text.size();
  }
  // Whether one more byte fits, telling of lexemes that end: ended(lexeme, matched, with_byte), as in Stepper.
  template <class Ended>
  bool take(unsigned b, Ended ended) {
    const auto next = stepper_.longest(at_, b, [&](const Configuration& lexeme, SlotSetId matched, bool with_byte) {
      if (with_byte) fresh_.push_back(static_cast<char>(b));
      const size_t end = n_taken_ + (with_byte ? 1 : 0);
      const SlotSetId kept = end_lexeme(lexeme.items, matched, end);
      begin_ = end;
      lexeme_.clear();
      fresh_.clear();
      if (kept != Lexer::no_slots()) ended(lexeme, kept, with_byte);
      return kept;
    });
    if (!next) return false;
    at_ = *next;
    if (is_in_key()) fresh_.push_back(static_cast<char>(b));
    ++n_taken_;
    return true;
  }

  const Configuration& at() const { return at_; }
  const WrittenKeys& keys() const { return keys_; }
  SharedText lexeme() const {
    SharedText out = lexeme_;
    out.append(fresh_);
    return out;
  }
  // Keys that began and ended in these steps, and whether one did behind an object's end.
  const std::vector<std::string>& whole_keys() const { return whole_keys_; }
  bool whole_outside() const { return whole_outside_; }
  // What these steps do wherever no key comes twice; nullopt if that takes more than there is room for, or one did.
  std::optional<KeyEffects> effects() const;

 private:
  // Whether the pending lexeme may be a key.
  bool is_in_key() const { return !lexer_.is_boundary(at_.lexer) && parser_.at(at_.items).has_keys; }
  void note(KeyEffects::Kind kind, size_t end);
  // The slots that the parser is handed.
  SlotSetId end_lexeme(ItemSetId items, SlotSetId matched, size_t end);
  SlotSetId without_keys(const ItemSet& set, SlotSetId matched);

  const Parser& parser_;
  Lexer& lexer_;
  Stepper& stepper_;
  const KeyEndings& endings_;
  Configuration at_;
  WrittenKeys keys_;
  SharedText lexeme_;
  std::string fresh_;  // of the lexeme, after it
  bool is_pending_;    // the lexeme that the steps began in
  bool is_known_;      // what came of it before
  std::vector<std::string> whole_keys_;
  bool whole_outside_ = false;
  bool has_closed_ = false;
  size_t n_taken_ = 0;
  size_t begin_;  // of the pending lexeme, in what was taken; KeyEffects::kBefore: before it
  KeyEffects effects_;
  bool is_repeatable_ = true;  // elsewhere, as `effects_` has it
};

}  // namespace cfgmask
