#include "json_schema/spelling/string_conditions.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "json_schema/document/decimal.h"
#include "json_schema/spelling/simple_pattern.h"
#include "pattern/meaning.h"
#include "util/limits.h"

namespace cfgmask {

namespace {

using Json = JsonDocument::Kind;

// All searches of a schema take as much as so many of the longest kind, and make so many nodes.
constexpr uint64_t kStringSearches = 2;
constexpr size_t kMaxStringNodes = 2'000'000;

}  // namespace

std::optional<StringConditions::Strings> StringConditions::strings(const std::string& schema) {
  if (auto known = known_->find(schema)) return known;
  const auto document = JsonDocument::parse(schema, max_nesting_);
  if (!document) return std::nullopt;
  data_ = {};
  made_.clear();
  if (!regexes_) regexes_ = std::make_unique<RegexStore>(max_nesting_, max_search_steps_);
  is_overapproximate_ = false;
  try {
    Set found = read(*document, document->root());
    Strings strings;
    if (!found.listed.empty()) {
      require(found.pattern.is_nothing);
      strings.listed = std::move(found.listed);
    } else if (!found.pattern.is_nothing) {
      const Tree whole = data_.json_string(tree(found.pattern), JsonEscapes::kAny);
      require(data_.height(whole) <= max_nesting_ * RegexData::kHeightPerNesting);
      strings.regex = std::make_shared<const PortableRegex>(data_);
    }
    if (!is_overapproximate_) known_->keep(schema, strings);
    return strings;
  } catch (const NotRead&) {
    return std::nullopt;
  }
}

// ---- what a schema says

StringConditions::Set StringConditions::read(const JsonDocument& document, JsonId schema) {
  require(document.kind(schema) == Json::kObject);
  if (const auto choices = document.member(schema, "anyOf")) return any_of(document, *choices);
  const auto parts = document.member(schema, "allOf");
  return parts ? combined(document, *parts, document.member(schema, "not")) : described(document, schema);
}

StringConditions::Set StringConditions::any_of(const JsonDocument& document, JsonId choices) {
  std::vector<Set> sets;
  for (JsonId each : document.items(choices)) sets.push_back(read(document, each));
  std::vector<std::string> listed;
  for (const Set& set : sets) listed.insert(listed.end(), set.listed.begin(), set.listed.end());
  const bool is_list =
      std::ranges::all_of(sets, [](const Set& set) { return set.pattern.is_nothing && !set.possible; });
  if (is_list) return exactly(std::move(listed));
  const auto either = [&](bool widest) {
    std::vector<Tree> trees;
    for (const Set& set : sets) {
      const Pattern& pattern = widest ? set.widest() : set.pattern;
      if (!pattern.is_nothing) trees.push_back(tree(pattern));
    }
    if (!listed.empty()) trees.push_back(key_set(listed));
    Pattern found;
    found.is_nothing = trees.empty();
    if (!trees.empty())
      found.conditions.push_back({trees.size() == 1 ? trees[0] : data_.parts(RegexData::Kind::kAlternation, trees)});
    return found;
  };
  Set found = of(either(false));
  if (std::ranges::any_of(sets, [](const Set& set) { return set.possible.has_value(); })) found.possible = either(true);
  return found;
}

StringConditions::Set StringConditions::combined(const JsonDocument& document, JsonId parts,
                                                 std::optional<JsonId> hole) {
  Set found;
  for (JsonId part : document.items(parts)) found = both(found, read(document, part));
  if (!hole) return found;
  const auto holes = document.member(*hole, "anyOf");
  require(holes.has_value());
  std::vector<Set> taken;
  std::vector<std::string> listed;
  for (JsonId each : document.items(*holes)) {
    Set some = read(document, each);
    if (some.pattern.is_nothing && !some.possible) {
      listed.insert(listed.end(), some.listed.begin(), some.listed.end());
    } else {
      taken.push_back(std::move(some));
    }
  }
  if (!listed.empty()) taken.insert(taken.begin(), exactly(std::move(listed)));
  for (const Set& some : taken) {
    const Set widest{some.listed, some.widest(), std::nullopt};
    if (!both(found, widest).is_empty()) found = both(found, complement(some));
  }
  return found;
}

StringConditions::Set StringConditions::described(const JsonDocument& document, JsonId schema) {
  std::optional<Set> listed;
  Set found;
  Pattern length;
  const auto count = [&](JsonId number) {
    const auto value = Decimal::count(document.text(number));
    require(value && *value <= UINT32_MAX);
    return static_cast<uint32_t>(*value);
  };
  std::optional<Set> pattern;
  std::optional<Set> format;
  for (const auto& [key, value] : document.members(schema)) {
    const std::string_view keyword = document.key_text(key);
    if (keyword == "type") {
      require(document.kind(value) == Json::kString && document.text(value) == "string");
    } else if (keyword == "enum") {
      std::vector<std::string> texts;
      for (JsonId item : document.items(value)) {
        require(document.kind(item) == Json::kString);
        texts.emplace_back(document.text(item));
      }
      listed = exactly(std::move(texts));
    } else if (keyword == "minLength") {
      length.minimum = count(value);
    } else if (keyword == "maxLength") {
      length.maximum = count(value);
    } else if (keyword == "pattern") {
      pattern = found_in(document.text(value));
    } else if (keyword == "format") {
      format = of_format(document.text(value));
    } else {
      // Which draft it is says nothing about strings.
      require(keyword == "$schema");
    }
  }
  length.is_nothing = length.minimum > length.maximum;
  found = of(std::move(length));
  for (const auto* condition : {&pattern, &format}) {
    if (*condition) found = both(found, **condition);
  }
  return listed ? both(*listed, found) : found;
}

bool StringConditions::reads(std::string_view pattern) {
  data_ = {};
  try {
    searched(pattern);
    return true;
  } catch (const NotRead&) {
    return false;
  }
}

StringConditions::Set StringConditions::found_in(std::string_view pattern) {
  Pattern found;
  std::optional<Tree> texts;
  try {
    texts = searched(pattern);
  } catch (const NotRead&) {
    if (!is_lenient_) throw;
    is_overapproximate_ = true;
    Set vague = of(std::move(found));
    vague.possible.emplace().is_nothing = true;
    return vague;
  }
  found.is_nothing = !texts;
  if (texts) found.conditions.push_back({*texts});
  return of(live(std::move(found)));
}

std::optional<StringConditions::Tree> StringConditions::searched(std::string_view pattern) {
  const std::u32string text = characters_of_utf8(pattern);
  const PatternQuestion question{
      .pattern = text, .dialect = known_->patterns().dialect, .flags = U"", .use = PatternUse::kSearch};
  const auto found = known_->meaning(question, max_nesting_, unicode_);
  require(found.has_value());
  if (found->tree == TextTrees::kNothing) return std::nullopt;
  const auto tree = found->trees.append_to(data_, found->tree);
  require(tree && data_.height(*tree) <= max_nesting_ * RegexData::kHeightPerNesting);
  return tree;
}

UnicodeSets::Source StringConditions::sources(const KnownStrings::Patterns& patterns, AskAlike ask_alike,
                                              CharacterProperties& properties) {
  UnicodeSets::Source source = patterns.unicode;
  source.alike = std::move(ask_alike);
  if (patterns.dialect != PatternDialect::Name::kEcma) return source;
  source.property = [&properties](std::u32string_view name, std::u32string_view value, PatternDialect::Name,
                                  bool) -> std::variant<CodePoints, UnicodeSets::Unknown> {
    std::string written(name.begin(), name.end());
    if (!value.empty()) written += '=' + std::string(value.begin(), value.end());
    const auto* found = properties.find(written);
    if (found == nullptr) return UnicodeSets::Unknown{};
    return *found;
  };
  return source;
}

StringConditions::Set StringConditions::of_format(std::string_view name) {
  if (!known_->has_format(name)) return {};
  const auto regexes = known_->format(name, ask_format_);
  require(regexes.generated != nullptr);
  Set found;
  found.pattern.conditions.push_back({data_.append(regexes.generated->data())});
  if (regexes.possible != nullptr) {
    found.possible.emplace();
    found.possible->conditions.push_back({data_.append(regexes.possible->data())});
  }
  return found;
}

// ---- sets

StringConditions::Set StringConditions::exactly(std::vector<std::string> texts) {
  TextSet<std::string> seen;
  Set found;
  found.pattern.is_nothing = true;
  for (std::string& text : texts) {
    if (seen.insert(text).second) found.listed.push_back(std::move(text));
  }
  return found;
}

StringConditions::Set StringConditions::both(const Set& a, const Set& b) {
  if (a.is_everything()) return b;
  if (b.is_everything()) return a;
  Set found;
  add_common(a, b, found.listed);
  add_common(b, a, found.listed);
  if (a.possible || b.possible) found.possible = both(a.widest(), b.widest());
  found.pattern = live(both(a.pattern, b.pattern));
  return found;
}

// The listed texts of `a` that are in `b`, but for those that are there already.
void StringConditions::add_common(const Set& a, const Set& b, std::vector<std::string>& found) {
  if (a.listed.empty()) return;
  const TextSet<std::string_view> known(found.begin(), found.end());
  const TextSet<std::string_view> listed(b.listed.begin(), b.listed.end());
  const RegexId regex = b.pattern.is_nothing ? RegexStore::nothing() : in_store(tree(b.pattern));
  std::vector<std::string> common;
  std::copy_if(a.listed.begin(), a.listed.end(), std::back_inserter(common), [&](const std::string& text) {
    return !known.contains(text) && (listed.contains(text) || matches(regex, text));
  });
  found.insert(found.end(), common.begin(), common.end());
}

StringConditions::Set StringConditions::complement(const Set& a) {
  Pattern unlisted;
  unlisted.unwanted = a.listed;
  if (!a.possible) return of(live(both(unlisted, opposite(a.pattern))));
  Set found = of(live(both(unlisted, opposite(*a.possible))));
  found.possible = both(unlisted, opposite(a.pattern));
  return found;
}

// ---- patterns

StringConditions::Pattern StringConditions::both(const Pattern& a, const Pattern& b) {
  Pattern found = a;
  found.conditions.insert(found.conditions.end(), b.conditions.begin(), b.conditions.end());
  found.unwanted.insert(found.unwanted.end(), b.unwanted.begin(), b.unwanted.end());
  found.minimum = std::max(a.minimum, b.minimum);
  found.maximum = std::min(a.maximum, b.maximum);
  found.is_nothing = a.is_nothing || b.is_nothing || found.minimum > found.maximum;
  return found;
}

StringConditions::Pattern StringConditions::opposite(const Pattern& a) {
  Pattern found;
  const bool only_length = a.conditions.empty() && a.unwanted.empty();
  if (a.is_nothing) return found;
  if (a.is_everything()) {
    found.is_nothing = true;
  } else if (only_length && a.minimum == 0) {
    found.minimum = a.maximum + 1;
  } else if (only_length && a.maximum == kUnbounded) {
    found.maximum = a.minimum - 1;
  } else if (a.conditions.size() == 1 && a.unwanted.empty() && !a.is_bounded() && a.conditions[0].opposite) {
    found.conditions.push_back({*a.conditions[0].opposite});
  } else {
    const Tree whole = tree(a);
    found.conditions.push_back({data_.parts(RegexData::Kind::kComplement, {&whole, 1}), whole});
  }
  return found;
}

StringConditions::Pattern StringConditions::live(Pattern pattern) {
  if (!pattern.is_nothing && !pattern.is_everything() && !pattern.conditions.empty()) {
    pattern.is_nothing = regexes_->is_empty(in_store(tree(pattern)));
  }
  return pattern;
}

bool StringConditions::matches(RegexId regex, std::string_view text) {
  for (const char c : text) regex = regexes_->derivative(regex, static_cast<uint8_t>(c));
  return regexes_->nullable(regex);
}

StringConditions::Tree StringConditions::tree(const Pattern& pattern) {
  std::vector<Tree> parts;
  for (const auto& condition : pattern.conditions) parts.push_back(condition.tree);
  if (!pattern.unwanted.empty()) {
    const Tree texts = key_set(pattern.unwanted);
    parts.push_back(data_.parts(RegexData::Kind::kComplement, {&texts, 1}));
  }
  if (pattern.is_bounded() || parts.empty()) parts.push_back(characters(pattern.minimum, pattern.maximum));
  return parts.size() == 1 ? parts[0] : data_.parts(RegexData::Kind::kIntersection, parts);
}

StringConditions::Tree StringConditions::key_set(const std::vector<std::string>& texts) {
  return data_.texts(RegexData::Kind::kKeySet, texts);
}

StringConditions::Tree StringConditions::characters(uint32_t minimum, uint32_t maximum) {
  return data_.repetition(data_.ranges(RegexData::Kind::kCharClass, kCharacters), minimum, maximum);
}

RegexId StringConditions::in_store(Tree tree) {
  if (regexes_->size() > kMaxStringNodes || regexes_->n_search_steps() > kStringSearches * max_search_steps_)
    throw LimitExceeded("max_search_steps", max_search_steps_);
  made_.resize(data_.size());
  return data_.make(*regexes_, tree, made_);
}

}  // namespace cfgmask
