// Plain Lark grammars (lark/plain_document.h) to rules, the same as cfgmask/lark and cfgmask/compiler make of them:
// that way is what this is tested against.
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
#include <utility>
#include <vector>

#include "earley/parameter.h"
#include "lark/plain_document.h"
#include "matcher/grammar_builder.h"
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

  // Its rules become the builder's, in a scope of theirs, which is returned with the start symbol. Throws
  // LimitExceeded.
  std::pair<uint32_t, uint32_t> hand_over(GrammarBuilder& builder) const;
  const PlainLarkOptions& options() const { return options_; }

 private:
  friend class PlainLarkLowering;
  class Handing;

  enum class Kind : uint8_t { kTerminal, kRule, kCall, kSchema, kSequence, kChoice, kRepeat, kGuarded };
  // `first` is the number of a terminal, of a rule, of a schema or of a body; of sequences and choices, the parts from
  // `first` to `last` in the list of all. `last` is the number of what a call gives, or of the condition.
  struct Expression {
    Kind kind;
    uint32_t first;
    uint32_t last = 0;
    uint32_t minimum = 0;
    uint32_t maximum = 0;
  };
  struct Terminal {
    std::string name;
    uint32_t regex;
    int32_t priority;
  };
  struct Rule {
    std::string name;
    bool parametric;
    uint32_t body;
  };

  RegexData regexes_;
  std::vector<Terminal> terminals_;
  std::vector<Expression> expressions_;
  std::vector<uint32_t> parts_;
  std::vector<Argument> arguments_;
  std::vector<Condition> conditions_;
  std::vector<Rule> rules_;
  std::vector<std::shared_ptr<const PlainSchemaParts>> schemas_;
  uint32_t start_ = 0;
  PlainLarkOptions options_;
  // One regex of all that may stand between lexemes, and how it is shown; none: kNone.
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t ignored_ = kNone;
  std::string ignored_name_;
};

}  // namespace cfgmask
