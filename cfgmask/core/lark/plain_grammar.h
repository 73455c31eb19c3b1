// Plain Lark grammars (lark/plain_document.h) to forms, of the same rules as those of cfgmask/lark, which this is
// tested against.
//
// Threads: grammars and libraries are immutable.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "grammar/grammar_form.h"
#include "lark/plain_document.h"
#include "regex/regex_data.h"
#include "schema/plain_rules.h"
#include "util/limits.h"
#include "util/text_hash.h"

namespace cfgmask {

// The plain terminals of a module that grammars import from.
class LarkLibrary {
 public:
  struct Entry {
    const PlainLarkDocument* document;
    const PlainLarkDocument::Definition* definition;
  };

  // Later texts define anew what earlier ones have.
  LarkLibrary(std::vector<std::u32string> texts, const CharacterKinds& kinds);

  // Null for what it has not.
  const Entry* find(std::u32string_view name) const {
    const auto found = terminals_.find(name);
    return found == terminals_.end() ? nullptr : &found->second;
  }

 private:
  std::vector<std::shared_ptr<const PlainLarkDocument>> documents_;
  TextMap<std::u32string_view, Entry> terminals_;
};

// What options come to, as GrammarOptions in cfgmask/lark/options.py has it.
struct PlainLarkOptions {
  bool complete = false;
  bool ignore_initial = true;
  bool ignore_final = true;
  bool ignore_once = false;
};

// What the core cannot know.
struct PlainLarkQuestions {
  CharacterKinds kinds;
  // A module of that name; null where there is none.
  std::function<const LarkLibrary*(std::u32string_view)> library;
  // What all options of a grammar come to; nullopt for others, and where something is wrong with them.
  std::function<std::optional<PlainLarkOptions>(const PlainLarkDocument&)> options;
  // What a character matches where case is ignored, sorted.
  std::function<std::span<const CodePointRange>(char32_t)> any_case;
  // The regex of a pattern with flags that is not plain, and asks nothing of the text around it; null for any other.
  std::function<std::shared_ptr<const PortableRegex>(std::u32string_view, std::u32string_view)> pattern;
  // Whether this spells a set of special tokens.
  std::function<bool(std::u32string_view)> tokens;
  // The schema in a `%json` block; null where it is not plain.
  std::function<std::shared_ptr<const PlainSchemaParts>(std::u32string_view)> schema;
};

class PlainLark {
 public:
  // Null for a grammar that is not plain, right or wrong, and for one of which parts are not used: there is something
  // to warn of. `start` is the rule that every text is. Linear.
  static std::shared_ptr<const PlainLark> read(std::u32string text, std::u32string_view start,
                                               const PlainLarkQuestions& questions, const Limits& limits,
                                               uint64_t max_tokens);

  const GrammarForm& form() const { return form_; }
  // How its sets of special tokens are spelled. The numbers of their ids, which are a vocabulary's, are in this order.
  const std::vector<std::string>& token_sets() const { return token_sets_; }

  // What stands in a place of the form's: the name of a rule or of a terminal, a set of tokens as it is spelled, or
  // where the braces of a `%json` block begin in the text. Throws std::out_of_range.
  using Named = std::variant<std::string, uint32_t>;
  const Named& at(uint32_t place) const { return places_.at(place); }

 private:
  friend class PlainLarkLowering;

  GrammarForm form_;
  std::vector<Named> places_;
  std::vector<std::string> token_sets_;
};

}  // namespace cfgmask
