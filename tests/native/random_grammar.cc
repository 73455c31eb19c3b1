#include "random_grammar.h"

#include <array>
#include <optional>
#include <random>
#include <string_view>
#include <utility>

#include "random_regex.h"

namespace cfgmask::testing {

namespace {

constexpr std::string_view kLetters = "aab\"\\/nu0dD8";
constexpr int kRegexDepth = 2;

// Of one byte of the input, so that the rest is left to the grammar.
std::vector<std::string> random_words(uint8_t seed) {
  std::minstd_rand random(seed + 1U);
  std::vector<std::string> words(random() % 100);
  for (std::string& word : words)
    for (auto n = 2 + random() % 5; n > 0; --n) word += kLetters[random() % kLetters.size()];
  return words;
}

class GrammarMaker {
 public:
  GrammarMaker(ByteSource& source, VocabularyStores& stores, const Limits& limits)
      : source_(source), n_vocab_(stores.vocabulary()->n_vocab), builder_(stores, limits) {}

  RandomGrammar make() {
    for (uint32_t n = 1 + source_.below(2); n > 0; --n) scopes_.push_back(make_scope());
    for (uint32_t n = 1 + source_.below(4); n > 0; --n) nonterminals_.push_back(builder_.nonterminal());
    symbols_ = nonterminals_;
    for (uint32_t n = 1 + source_.below(5); n > 0; --n) symbols_.push_back(make_terminal());
    if (source_.below(4) == 0) symbols_.push_back(make_token_set());
    const bool parametric = source_.below(4) == 0;
    for (uint32_t n = parametric ? 1 + source_.below(4) : 0; n > 0; --n) symbols_.push_back(make_call());
    for (const uint32_t nonterminal : nonterminals_)
      for (uint32_t n = 1 + source_.below(3); n > 0; --n)
        builder_.alternative(nonterminal, make_alternative(), parametric ? make_condition() : Condition());
    const bool complete = source_.below(3) == 0;
    const bool ignore_initial = source_.flip();
    const bool ignore_final = source_.flip();
    auto compiled = builder_.build(nonterminals_[0], scopes_[0], complete, ignore_initial, ignore_final);
    return {std::move(compiled), complete && !has_priorities_ && !has_conditions_};
  }

 private:
  uint32_t make_scope() {
    if (source_.flip()) return builder_.scope(false);
    const uint32_t ignored = make_regex();
    const uint32_t scope = builder_.scope(source_.flip());
    builder_.ignore(scope, ignored, "ignored", {});
    return scope;
  }

  uint32_t make_regex() {
    return builder_.with([&](RegexStore& store) { return RandomRegex(source_, store).make(kRegexDepth).fast.value; });
  }

  uint32_t make_terminal() {
    const int32_t priority = source_.below(8) == 0 ? 1 : 0;
    has_priorities_ |= priority != 0;
    const bool lazy = source_.below(5) == 0;
    const auto around = lazy ? GrammarBuilder::Around() : make_around();
    return builder_.terminal(make_regex(), random_of(scopes_), priority, "terminal", false, false, lazy, around);
  }

  GrammarBuilder::Around make_around() {
    GrammarBuilder::Around around;
    if (source_.below(8) == 0) around.before = make_regex();
    if (source_.below(8) == 0) around.after = make_regex();
    has_conditions_ |= around.before || around.after;
    return around;
  }

  uint32_t make_token_set() {
    std::vector<uint32_t> ids;
    for (uint32_t n = source_.below(4); n > 0; --n) ids.push_back(source_.below(n_vocab_));
    return builder_.token_set(std::move(ids), random_of(scopes_), "token set");
  }

  // Few bits, so that values come again.
  Bits make_bits() {
    const uint32_t low = source_.below(2);
    return {low, low + 1 + source_.below(2)};
  }

  uint32_t make_call() {
    using Kind = Argument::Kind;
    const Kind kind = std::array{Kind::kMasked, Kind::kIncrement, Kind::kDecrement}[source_.below(3)];
    return builder_.call(random_of(nonterminals_), {kind, source_.below(8), source_.below(8), make_bits()});
  }

  Condition make_condition() {
    Condition condition;
    for (uint32_t n = source_.below(3); n > 0; --n) {
      const auto relation = static_cast<ConditionStep::Operator>(source_.below(6));
      condition.push_back({relation, source_.flip(), make_bits(), source_.below(4)});
    }
    if (condition.size() == 2) {
      const auto join = source_.flip() ? ConditionStep::Operator::kAnd : ConditionStep::Operator::kOr;
      condition.push_back({join, false, {}, 0});
    }
    return condition;
  }

  std::vector<uint32_t> make_alternative() {
    std::vector<uint32_t> symbols;
    for (uint32_t n = source_.below(4); n > 0; --n) symbols.push_back(make_symbol());
    return symbols;
  }

  uint32_t make_symbol() {
    const uint32_t symbol = random_of(symbols_);
    if (source_.below(4) != 0) return symbol;
    const uint32_t minimum = source_.below(3);
    return builder_.repeat(symbol, minimum, source_.flip() ? kUnbounded : minimum + source_.below(3));
  }

  uint32_t random_of(const std::vector<uint32_t>& values) {
    return values[source_.below(static_cast<uint32_t>(values.size()))];
  }

  ByteSource& source_;
  uint32_t n_vocab_;
  GrammarBuilder builder_;
  std::vector<uint32_t> scopes_;
  std::vector<uint32_t> nonterminals_;
  std::vector<uint32_t> symbols_;
  bool has_priorities_ = false;
  bool has_conditions_ = false;
};

}  // namespace

std::shared_ptr<const Vocabulary> random_vocabulary(ByteSource& source) {
  std::vector<std::string> tokens;
  for (int b = 0; b < 256; ++b) tokens.emplace_back(1, static_cast<char>(b));
  for (std::string& word : random_words(source.byte())) tokens.push_back(std::move(word));
  tokens.insert(tokens.end(), {"", "", "</s>", "<end>"});
  const auto n_vocab = static_cast<TokenId>(tokens.size());
  const std::vector<std::string_view> views(tokens.begin(), tokens.end());
  return std::make_shared<const Vocabulary>(views, std::vector<TokenId>{n_vocab - 2, n_vocab - 1});
}

RandomGrammar random_grammar(ByteSource& source, VocabularyStores& stores, const Limits& limits) {
  return GrammarMaker(source, stores, limits).make();
}

}  // namespace cfgmask::testing
