#include "json_schema/sets/key_conditions.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include "json_schema/document/text_names.h"
#include "regex/count.h"
#include "util/limits.h"

namespace cfgmask {

namespace {

// Some key of these mostly does not match a pattern.
constexpr std::array<std::string_view, 6> kSomeKeys = {"", " ", "-", "0", "a", "~!"};
// All searches of one schema.
constexpr size_t kMaxNodes = 300'000;
constexpr uint64_t kSearches = 2;
// In conditions that are searched together: each derivative takes one of every condition.
constexpr size_t kMaxSearched = 150'000;

std::vector<uint32_t> merged(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b) {
  std::vector<uint32_t> all;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
  return all;
}

std::string numbers_of(const SchemaIR::Keys& keys, const std::vector<uint32_t>& besides) {
  std::string found;
  for (const auto* numbers : {&keys.met, &keys.broken, &besides}) {
    for (uint32_t number : *numbers) (found += std::to_string(number)) += ',';
    found += ';';
  }
  return found;
}

bool share_none(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b) {
  return std::none_of(a.begin(), a.end(), [&](uint32_t x) { return std::binary_search(b.begin(), b.end(), x); });
}

}  // namespace

std::optional<SchemaIR::Keys> KeyConditions::both(const Keys& a, const Keys& b) {
  Keys keys{merged(a.met, b.met), merged(a.broken, b.broken)};
  return share_none(keys.met, keys.broken) ? std::optional(std::move(keys)) : std::nullopt;
}

bool KeyConditions::plainly_apart(uint32_t a, uint32_t b) const {
  const std::string_view x = start(a);
  const std::string_view y = start(b);
  return !x.starts_with(y) && !y.starts_with(x);
}

std::string_view KeyConditions::start(uint32_t condition) const { return schema_.start(terminal(condition)); }

std::optional<bool> KeyConditions::has_keys_of_pattern(const Keys& keys, const std::vector<uint32_t>& besides) const {
  const SimplePattern* pattern = nullptr;
  for (uint32_t condition : keys.met) {
    pattern = schema_.only_pattern(terminal(condition));
    const auto text = pattern == nullptr ? std::nullopt : pattern->only_text();
    if (text && n_characters(*text) > most_) return false;
    const auto is_in = text ? admits(keys, *text) : std::nullopt;
    if (is_in)
      return *is_in && std::none_of(besides.begin(), besides.end(),
                                    [&](uint32_t name) { return schema_.name_at(name) == *text; });
  }
  if (pattern == nullptr || keys.met.size() != 1 || !keys.broken.empty()) return std::nullopt;
  const auto goes_on = [](const SimplePattern::Branch& b) { return !b.from_start || !b.to_end; };
  // Further characters make more keys than there are names.
  if (most_ != kUnbounded && !pattern->has_text(0, most_ - 1)) return std::nullopt;
  const bool is_endless = std::any_of(pattern->branches().begin(), pattern->branches().end(), goes_on);
  return besides.empty() || is_endless ? std::optional(true) : std::nullopt;
}

std::vector<std::string> KeyConditions::texts_of(const std::vector<uint32_t>& names) const {
  std::vector<std::string> texts;
  for (uint32_t name : names) texts.push_back(schema_.name_at(name));
  return texts;
}

std::optional<bool> KeyConditions::has_keys(const Keys& keys, const std::vector<uint32_t>& besides) {
  if (keys.is_any()) return true;
  for (size_t i = 1; i < keys.met.size(); ++i) {
    if (plainly_apart(keys.met[i - 1], keys.met[i])) return false;
  }
  if (const auto told = has_keys_of_pattern(keys, besides)) return told;
  const std::vector<std::string> names = texts_of(besides);
  if (plainly_has_keys(keys, names)) return true;
  const auto [at, is_new] = known_.try_emplace(numbers_of(keys, besides), std::nullopt);
  if (is_new) at->second = search(keys, names);
  return at->second;
}

std::optional<bool> KeyConditions::admits(const Keys& keys, uint32_t name) {
  const std::string& key = schema_.name_at(name);
  if (const auto told = admits(keys, key)) return told;
  return admits_by_regex(keys, key);
}

std::optional<bool> KeyConditions::admits(const Keys& keys, const std::string& key) const {
  bool unknown = false;
  for (const auto* conditions : {&keys.met, &keys.broken}) {
    for (uint32_t condition : *conditions) {
      const auto is_in = schema_.admits(terminal(condition), key);
      unknown = unknown || !is_in;
      if (is_in && *is_in != (conditions == &keys.met)) return false;
    }
  }
  return unknown ? std::nullopt : std::optional(true);
}

bool KeyConditions::has_room() {
  if (!regexes_) regexes_ = std::make_unique<RegexStore>(max_nesting_, max_search_steps_);
  return regexes_->size() <= kMaxNodes;
}

std::optional<bool> KeyConditions::admits_by_regex(const Keys& keys, std::string_view key) {
  try {
    if (!has_room()) return std::nullopt;
    std::string numbers = numbers_of(keys, {});
    auto found = known_regexes_.find(numbers);
    if (found == known_regexes_.end())
      found = known_regexes_.emplace(std::move(numbers), schema_.keys_regex(keys, *regexes_)).first;
    RegexId rest = found->second;
    for (const char c : key) rest = regexes_->derivative(rest, static_cast<uint8_t>(c));
    return regexes_->nullable(rest);
  } catch (const LimitExceeded&) {
    return std::nullopt;
  }
}

bool KeyConditions::plainly_has_keys(const Keys& keys, const std::vector<std::string>& names) const {
  return std::any_of(kSomeKeys.begin(), kSomeKeys.end(), [&](std::string_view some) {
    const std::string key(some);
    return std::find(names.begin(), names.end(), key) == names.end() && admits(keys, key) == true;
  });
}

template <class Tell>
std::optional<bool> KeyConditions::searched(const Keys& keys, std::vector<std::string> names, Tell tell) {
  try {
    n_searched_ += keys.met.size() + keys.broken.size();
    if (!has_room() || n_searched_ > kMaxSearched || regexes_->n_search_steps() > kSearches * max_search_steps_)
      return std::nullopt;
    std::vector<RegexId> conditions{schema_.keys_regex(keys, *regexes_)};
    if (!names.empty()) conditions.push_back(regexes_->complement(regexes_->key_set(std::move(names))));
    if (most_ != kUnbounded) conditions.push_back(regexes_->any_text(0, most_));
    return tell(conditions.size() == 1 ? conditions[0] : regexes_->intersection(std::move(conditions)));
  } catch (const LimitExceeded&) {
    return std::nullopt;
  }
}

std::optional<bool> KeyConditions::search(const Keys& keys, std::vector<std::string> names) {
  return searched(keys, std::move(names), [&](RegexId all) { return !regexes_->is_empty(all); });
}

std::optional<uint32_t> KeyConditions::count(uint32_t enough, const Keys& keys, const std::vector<uint32_t>& besides) {
  if (enough == 0 || keys.is_any()) return kUnbounded;
  const auto [at, is_new] =
      counts_.try_emplace(std::to_string(enough) + "of" + numbers_of(keys, besides), std::nullopt);
  if (is_new) {
    searched(keys, texts_of(besides), [&](RegexId all) {
      at->second = count_texts(*regexes_, all, enough - 1).value_or(kUnbounded);
      return true;
    });
  }
  return at->second;
}

bool KeyConditions::surely_has(uint32_t n, const Keys& keys, const std::vector<uint32_t>& besides) {
  return count(n, keys, besides) == kUnbounded;
}

bool KeyConditions::surely_never_end(const Keys& keys) {
  if (keys.is_any()) return true;
  // Short keys are many, but not without end.
  if (most_ != kUnbounded) return surely_has(kEndlesslyMany, keys, {});
  const auto [at, is_new] = known_.try_emplace("more than " + numbers_of(keys, {}), std::nullopt);
  if (is_new) at->second = searched(keys, {}, [&](RegexId all) { return regexes_->is_infinite(all); });
  return at->second == true;
}

std::optional<uint32_t> KeyConditions::count_strings(const SchemaIR::Terminal& strings, uint32_t enough) {
  try {
    if (!has_room()) return std::nullopt;
    if (strings.spelling == SchemaIR::Spelling::kOutside &&
        regexes_->kind(schema_.outside(strings).in(*regexes_)) != RegexKind::kJsonString)
      return std::nullopt;
    return count_texts(*regexes_, schema_.text_regex(strings, *regexes_), enough - 1).value_or(enough);
  } catch (const LimitExceeded&) {
    return std::nullopt;
  }
}

}  // namespace cfgmask
