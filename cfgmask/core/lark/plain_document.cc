#include "lark/plain_document.h"

#include <algorithm>
#include <utility>

#include "lark/assembler.h"
#include "lark/blanks.h"
#include "lark/parameters.h"
#include "lark/statements.h"
#include "lark/syntax.h"
#include "regex/regex.h"

namespace cfgmask {

namespace {

constexpr size_t kMostCountDigits = 9;

}  // namespace

class PlainLarkReading {
 public:
  explicit PlainLarkReading(PlainLarkDocument& out) : out_(out) {}

  // Whether the statement is plain. If not, what it left is not referred to.
  bool take(std::span<const LarkToken> tokens, std::span<const LarkStep> steps) {
    const size_t n_definitions = out_.definitions_.size();
    const size_t n_ignored = out_.ignored_.size();
    const size_t n_imports = out_.imports_.size();
    const size_t n_options = out_.options_.size();
    max_tokens_.reset();
    try {
      assemble_lark<uint32_t>(tokens, steps, [this](LarkRule rule, const Parts& parts, uint32_t start, uint32_t end) {
        return made(rule, parts, {start, end});
      });
      return true;
    } catch (const NotPlain&) {
      out_.definitions_.resize(n_definitions);
      out_.ignored_.resize(n_ignored);
      out_.imports_.resize(n_imports);
      out_.options_.resize(n_options);
      return false;
    }
  }

 private:
  using Kind = PlainLarkDocument::Kind;
  using Node = PlainLarkDocument::Node;
  using Place = PlainLarkDocument::Place;
  using Part = LarkPiece<uint32_t>;
  using Parts = LarkPieces<uint32_t>;
  struct NotPlain {};

  static void require(bool holds) {
    if (!holds) throw NotPlain();
  }

  // The number of the node; 0 for what is none.
  uint32_t made(LarkRule rule, const Parts& parts, Place place) {
    switch (rule) {
      case LarkRule::kName:
        return add({Kind::kName, false, name(parts[0])});
      case LarkRule::kString:
        return string(place);
      case LarkRule::kPattern:
        return pattern(place);
      case LarkRule::kJsonBlock:
        return add({Kind::kJson, false, place, parts[1].start, parts[1].end});
      case LarkRule::kSpecialTokens:
        return add({Kind::kTokens, false, place});
      case LarkRule::kCharacterRange:
        return range(parts, place);
      case LarkRule::kSequence:
        return of_parts(Kind::kSequence, parts, place);
      case LarkRule::kBody:
        return of_parts(Kind::kChoice, parts, place);
      case LarkRule::kIntersection:
        for (const Part& part : parts) require(!is_empty(out_.nodes_[part.node]));
        return of_parts(Kind::kIntersection, parts, place);
      case LarkRule::kGroup:
        return of_part(Kind::kSequence, parts[1].node, place);
      case LarkRule::kComplement:
        return of_part(Kind::kComplement, parts[1].node, place);
      case LarkRule::kOptional:
        return of_part(Kind::kRepeat, parts[1].node, place, 0, 1);
      case LarkRule::kRepeat:
        return repeat(parts, place);
      case LarkRule::kAlternative:
        return alternative(parts, place);
      case LarkRule::kParametricUse:
        return parametric_use(parts);
      case LarkRule::kBits:
        return parameters_.add(characters(place), std::nullopt);
      case LarkRule::kParameter:
        return parameter(parts);
      case LarkRule::kCondition:
      case LarkRule::kRuleParameter:
        return parts[1].node;
      case LarkRule::kAttribute:
        attribute(parts);
        return 0;
      case LarkRule::kAttributes:
      case LarkRule::kModifier:
      case LarkRule::kPriority:
      case LarkRule::kImportPath:
        return 0;
      case LarkRule::kDefinition:
        define(parts);
        return 0;
      case LarkRule::kIgnore:
        out_.ignored_.push_back(parts[1].node);
        return 0;
      case LarkRule::kImportOne:
      case LarkRule::kImportList:
        import(rule, parts);
        return 0;
      case LarkRule::kOptions:
      case LarkRule::kForeignOptions:
        out_.options_.push_back({place_of(parts[1]), rule == LarkRule::kForeignOptions});
        return 0;
      case LarkRule::kStart:
        return 0;
      default:
        throw NotPlain();
    }
  }

  uint32_t add(const Node& node) {
    out_.nodes_.push_back(node);
    return static_cast<uint32_t>(out_.nodes_.size() - 1);
  }
  uint32_t of_parts(Kind kind, const Parts& parts, Place place) {
    const auto first = static_cast<uint32_t>(out_.parts_.size());
    for (const Part& part : parts) out_.parts_.push_back(part.node);
    return add({kind, false, place, first, static_cast<uint32_t>(out_.parts_.size())});
  }
  uint32_t of_part(Kind kind, uint32_t part, Place place, uint32_t minimum = 0, uint32_t maximum = 0) {
    const auto first = static_cast<uint32_t>(out_.parts_.size());
    out_.parts_.push_back(part);
    return add({kind, false, place, first, first + 1, minimum, maximum});
  }
  static bool is_empty(const Node& node) { return node.kind == Kind::kSequence && node.first == node.last; }

  std::u32string_view characters(Place place) const { return out_.text(place); }
  static Place place_of(const Part& part) { return {part.start, part.end}; }
  Place name(const Part& part) const {
    require(part.token != nullptr && lark_name(characters(place_of(part))) != LarkName::kNone);
    return place_of(part);
  }

  uint32_t string(Place place) {
    std::u32string_view token = characters(place);
    const bool ignores_case = token.back() == U'i';
    token.remove_suffix(ignores_case ? 2 : 1);
    const auto first = static_cast<uint32_t>(out_.values_.size());
    for (size_t i = 1; i < token.size(); ++i) out_.values_ += token[i] == U'\\' ? unescaped(token[++i]) : token[i];
    const auto last = static_cast<uint32_t>(out_.values_.size());
    return add({Kind::kString, ignores_case, place, first, last});
  }
  static char32_t unescaped(char32_t c) {
    static constexpr std::u32string_view kEscapes = U"nftr\\\"";
    static constexpr std::u32string_view kMeant = U"\n\f\t\r\\\"";
    const size_t at = kEscapes.find(c);
    require(at != std::u32string_view::npos);
    return kMeant[at];
  }

  uint32_t pattern(Place place) {
    const auto slash = place.start + static_cast<uint32_t>(characters(place).rfind(U'/'));
    return add({Kind::kPattern, false, place, place.start + 1, slash});
  }

  uint32_t range(const Parts& parts, Place place) {
    char32_t ends[2];
    for (size_t i = 0; i < 2; ++i) {
      const Node& end = out_.nodes_[parts[i].node];
      require(!end.ignores_case && end.last - end.first == 1);
      ends[i] = out_.values_[end.first];
    }
    require(ends[0] <= ends[1]);
    return add({Kind::kRange, false, place, 0, 0, static_cast<uint32_t>(ends[0]), static_cast<uint32_t>(ends[1])});
  }

  uint32_t repeat(const Parts& parts, Place place) {
    // `~A+` is to be warned of.
    require(parts[0].rule != LarkRule::kComplement);
    const LarkToken& operation = *parts[1].token;
    if (operation.type == LarkTerminal::kCount) {
      const auto [minimum, maximum] = counts(characters({operation.start, operation.end}));
      return of_part(Kind::kRepeat, parts[0].node, place, minimum, maximum);
    }
    const char32_t sign = out_.text_[operation.start];
    return of_part(Kind::kRepeat, parts[0].node, place, sign == U'+' ? 1 : 0, sign == U'?' ? 1 : kUnbounded);
  }

  // `{n}`, `{n,}`, `{,m}`, `{n,m}`, `~n`, `~n..m`
  static std::pair<uint32_t, uint32_t> counts(std::u32string_view token) {
    const bool braced = token.front() == U'{';
    token.remove_prefix(1);
    if (braced) token.remove_suffix(1);
    const size_t between = braced ? token.find(U',') : token.find(U"..");
    if (between == std::u32string_view::npos) {
      const uint32_t exactly = number(token);
      return {exactly, exactly};
    }
    const std::u32string_view low = trimmed(token.substr(0, between));
    const std::u32string_view high = trimmed(token.substr(between + (braced ? 1 : 2)));
    const uint32_t minimum = low.empty() ? 0 : number(low);
    const uint32_t maximum = high.empty() ? kUnbounded : number(high);
    require(minimum <= maximum);
    return {minimum, maximum};
  }
  static uint32_t number(std::u32string_view text) {
    const std::u32string_view digits = trimmed(text);
    require(!digits.empty() && digits.size() <= kMostCountDigits);
    uint32_t n = 0;
    for (char32_t c : digits) {
      require(c >= U'0' && c <= U'9');
      n = n * 10 + (c - U'0');
    }
    return n;
  }

  uint32_t alternative(const Parts& parts, Place place) {
    uint32_t body = parts[0].node;
    if (parts[1].token != nullptr) body = of_part(Kind::kAlias, body, place);
    const Part& last = parts.back();
    if (last.token != nullptr) return body;
    const auto condition = parameters_.condition(last.node);
    require(condition.has_value());
    const uint32_t made = of_part(Kind::kGuarded, body, place);
    out_.nodes_[made].parameter = static_cast<uint32_t>(out_.conditions_.size());
    out_.conditions_.push_back(*condition);
    return made;
  }

  uint32_t parametric_use(const Parts& parts) {
    const auto argument = parameters_.argument(parts[2].node);
    require(argument.has_value());
    const uint32_t made = add({Kind::kName, false, name(parts[0])});
    out_.nodes_[made].parameter = static_cast<uint32_t>(out_.arguments_.size());
    out_.arguments_.push_back(*argument);
    return made;
  }

  uint32_t parameter(const Parts& parts) {
    if (parts[0].token == nullptr) return parts[0].node;
    std::optional<std::vector<uint32_t>> inside;
    if (parts.size() > 1) inside.emplace();
    for (const Part& part : parts) {
      if (part.token == nullptr) inside->push_back(part.node);
    }
    return parameters_.add(characters(place_of(parts[0])), std::move(inside));
  }

  // `max_tokens=3`, of which a rule has no more than one.
  void attribute(const Parts& parts) {
    require(characters(place_of(parts[0])) == U"max_tokens" && parts.size() == 2 && !max_tokens_);
    require(parts[1].token != nullptr && parts[1].token->type == LarkTerminal::kNumber);
    max_tokens_ = number(characters(place_of(parts[1])));
  }

  void define(const Parts& parts) {
    size_t at = parts[0].rule == LarkRule::kModifier ? 1 : 0;
    const Place named = name(parts[at++]);
    const bool is_terminal = lark_name(characters(named)) == LarkName::kTerminal;
    require(!is_terminal || parts[0].token != nullptr);
    bool parametric = false;
    int32_t priority = 0;
    if (parts[at].rule == LarkRule::kAttributes) {
      require(!is_terminal);
      ++at;
    }
    if (parts[at].rule == LarkRule::kRuleParameter) {
      require(!is_terminal && !max_tokens_ && parameters_.is_self(parts[at++].node));
      parametric = true;
    }
    if (parts[at].rule == LarkRule::kPriority) priority = this->priority(characters(place_of(parts[at++])));
    require(at + 1 == parts.size());
    out_.definitions_.push_back({named, is_terminal, parametric, priority, max_tokens_, parts[at].node});
  }
  // `.2`, blanks between them
  static int32_t priority(std::u32string_view text) {
    text = trimmed(text.substr(1));
    const bool negative = text.starts_with(U'-');
    if (negative || text.starts_with(U'+')) text.remove_prefix(1);
    require(!text.empty() && !is_lark_blank(text.front()));
    const auto found = static_cast<int32_t>(number(text));
    return negative ? -found : found;
  }

  void import(LarkRule rule, const Parts& parts) {
    const bool is_list = rule == LarkRule::kImportList;
    std::u32string_view path = characters(place_of(parts[1]));
    // One name behind one of a module, without blanks.
    const size_t dot = path.find(U'.');
    require(is_list == (dot == std::u32string_view::npos));
    const std::u32string module(path.substr(0, dot));
    require(lark_name(module) != LarkName::kNone);
    if (is_list) {
      for (size_t i = 2; i < parts.size(); ++i) out_.imports_.push_back({module, name(parts[i]), name(parts[i])});
      return;
    }
    const Place named{parts[1].start + static_cast<uint32_t>(dot) + 1, parts[1].end};
    require(lark_name(characters(named)) != LarkName::kNone);
    out_.imports_.push_back({module, named, parts.size() > 2 ? name(parts[2]) : named});
  }

  PlainLarkDocument& out_;
  LarkParameters parameters_;
  std::optional<uint32_t> max_tokens_;  // of the statement's rule
};

std::shared_ptr<const PlainLarkDocument> PlainLarkDocument::read(std::u32string text, const CharacterKinds& kinds,
                                                                 uint64_t max_tokens, uint64_t max_nesting,
                                                                 Others others) {
  auto out = std::make_shared<PlainLarkDocument>();
  out->text_ = std::move(text);
  const LarkStatements found = cut_lark(out->text_, kinds, max_tokens, max_nesting);
  if (!found.problems.empty()) return nullptr;
  PlainLarkReading reading(*out);
  std::vector<LarkStep> steps;
  for (const auto& statement : found.statements) {
    const auto tokens = found.tokens_of(statement);
    const bool is_plain = !statement.broken && !parse_lark_statement(tokens, steps) && reading.take(tokens, steps);
    if (!is_plain && others == Others::kRefuse) return nullptr;
  }
  return out;
}

}  // namespace cfgmask
