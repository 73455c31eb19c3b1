// Strings under several conditions at once (patterns, formats, lengths, listed texts, and what is taken out of them) as
// one regex.
//
// Threads: for one reading.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json_schema/document/json_document.h"
#include "json_schema/spelling/character_properties.h"
#include "json_schema/spelling/known_strings.h"
#include "pattern/character_sets.h"
#include "regex/regex.h"
#include "regex/regex_data.h"

namespace cfgmask {

class StringConditions {
 public:
  using Regex = KnownStrings::Regex;
  using Strings = KnownStrings::Strings;
  // The classes of characters that the flag i of patterns makes equal; as of `UnicodeSets`.
  using AskAlike = std::function<std::vector<std::vector<uint32_t>>(CaseFolding folding, bool only_ascii)>;

  StringConditions(std::shared_ptr<KnownStrings> known, AskAlike ask_alike, KnownStrings::AskFormat ask_format,
                   CharacterProperties& properties, uint64_t max_nesting, uint64_t max_search_steps, bool is_lenient)
      : known_(std::move(known)),
        unicode_(sources(known_->patterns(), std::move(ask_alike), properties)),
        ask_format_(std::move(ask_format)),
        properties_(properties),
        max_nesting_(max_nesting),
        max_search_steps_(max_search_steps),
        is_lenient_(is_lenient) {}

  // The strings of a schema, as JSON text: `type`, `enum` and the keywords for strings, or such schemas under `allOf`
  // and `not`, or `anyOf`. nullopt for a schema that this does not read. Throws LimitExceeded where it takes long to
  // tell whether there are any. is_lenient: texts may or may not meet a pattern that is not read.
  std::optional<Strings> strings(const std::string& schema);
  // Whether a pattern is read.
  bool reads(std::string_view pattern);

 private:
  // Numbers of nodes in the data of one question.
  using Tree = uint32_t;
  // Texts that meet all of some conditions.
  struct Pattern {
    // What matches; or what does not, with what this is the complement of.
    struct Condition {
      Tree tree;
      std::optional<Tree> opposite = std::nullopt;
    };

    bool is_nothing = false;
    std::vector<Condition> conditions = {};
    std::vector<std::string> unwanted = {};
    uint32_t minimum = 0;  // characters
    uint32_t maximum = kUnbounded;

    bool is_bounded() const { return minimum > 0 || maximum != kUnbounded; }
    bool is_everything() const { return !is_nothing && conditions.empty() && unwanted.empty() && !is_bounded(); }
  };
  // The listed texts, and those that the pattern matches.
  struct Set {
    std::vector<std::string> listed = {};
    Pattern pattern = {};
    std::optional<Pattern> possible = std::nullopt;  // matches all that should, where the pattern is narrower

    bool is_empty() const { return listed.empty() && pattern.is_nothing; }
    bool is_everything() const { return listed.empty() && pattern.is_everything() && !possible; }
    const Pattern& widest() const { return possible ? *possible : pattern; }
  };
  struct NotRead {};

  static void require(bool holds) {
    if (!holds) throw NotRead();
  }

  Set read(const JsonDocument& document, JsonId schema);
  Set combined(const JsonDocument& document, JsonId parts, std::optional<JsonId> hole);
  Set any_of(const JsonDocument& document, JsonId choices);
  Set described(const JsonDocument& document, JsonId schema);
  Set found_in(std::string_view pattern);
  // The texts in which a pattern is found; none if there are none.
  std::optional<Tree> searched(std::string_view pattern);
  static UnicodeSets::Source sources(const KnownStrings::Patterns& patterns, AskAlike ask_alike,
                                     CharacterProperties& properties);
  Set of_format(std::string_view name);

  static Set exactly(std::vector<std::string> texts);
  static Set of(Pattern pattern) { return {{}, std::move(pattern), std::nullopt}; }
  Set both(const Set& a, const Set& b);
  void add_common(const Set& a, const Set& b, std::vector<std::string>& found);
  Set complement(const Set& a);
  static Pattern both(const Pattern& a, const Pattern& b);
  Pattern opposite(const Pattern& a);
  // The same; nothing if no text matches.
  Pattern live(Pattern pattern);

  Tree tree(const Pattern& pattern);
  Tree key_set(const std::vector<std::string>& texts);
  Tree characters(uint32_t minimum, uint32_t maximum);
  bool matches(RegexId regex, std::string_view text);
  RegexId in_store(Tree tree);

  std::shared_ptr<KnownStrings> known_;
  UnicodeSets unicode_;
  KnownStrings::AskFormat ask_format_;
  CharacterProperties& properties_;
  uint64_t max_nesting_;
  uint64_t max_search_steps_;
  bool is_lenient_;
  bool is_overapproximate_ = false;           // whether the question has a pattern that is not read
  RegexData data_;                            // of the question
  std::vector<std::optional<RegexId>> made_;  // of its nodes
  std::unique_ptr<RegexStore> regexes_ = {};  // made when a search needs it
};

}  // namespace cfgmask
