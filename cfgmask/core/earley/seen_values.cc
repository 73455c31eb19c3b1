#include "earley/seen_values.h"

#include <algorithm>
#include <cstring>

namespace cfgmask {

namespace {

// Instead of the index of bounds.
constexpr uint32_t kNoBounds = UINT32_MAX;
// The value of a new_text, kept as an empty one.
constexpr uint32_t kNew = 0;
// In YAML a key is one lexeme with its colon.
constexpr std::string_view kAfterKey = ":";

// Values are kept as text: a string as a quote and what it decodes to, a number without superfluous zeros, an array or
// an object as a bracket and the words of its register, anything else as it is spelled.
bool is_string(std::string_view value) { return value.starts_with('"'); }
bool is_composite(std::string_view value) { return value.starts_with('[') || value.starts_with('{'); }
bool is_number(std::string_view value) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (value.starts_with('-')) value.remove_prefix(1);
  const size_t whole = static_cast<size_t>(std::find_if_not(value.begin(), value.end(), is_digit) - value.begin());
  if (whole == 0) return false;
  value.remove_prefix(whole);
  if (value.empty()) return true;
  if (!value.starts_with('.')) return false;
  value.remove_prefix(1);
  return !value.empty() && std::all_of(value.begin(), value.end(), is_digit);
}
bool is_word(std::string_view value) { return value == "null" || value == "true" || value == "false"; }

// -1.50 is -1.5, 2.0 is 2, -0 is 0.
std::string plain_number(std::string_view text) {
  if (text.find('.') != std::string_view::npos) {
    while (text.back() == '0') text.remove_suffix(1);
    if (text.back() == '.') text.remove_suffix(1);
  }
  if (text == "-0") text.remove_prefix(1);
  return std::string(text);
}

// What is no scalar of JSON is a string that YAML writes without quotes.
std::string value_of(std::string_view text) {
  if (text.ends_with(kAfterKey)) text.remove_suffix(kAfterKey.size());
  if (is_string(text)) return '"' + decode_json_string(text);
  if (is_word(text)) return std::string(text);
  return is_number(text) ? plain_number(text) : '"' + std::string(text);
}

std::vector<uint32_t> words_of(std::string_view text) {
  std::vector<uint32_t> words(1 + (text.size() + 3) / 4, 0);
  words[0] = static_cast<uint32_t>(text.size());
  if (!text.empty()) std::memcpy(&words[1], text.data(), text.size());
  return words;
}

// The ways to write a number without an exponent.
RegexId spellings_of_number(RegexStore& r, const std::string& value) {
  ByteSet zero;
  zero.add('0');
  const RegexId zeros = r.repetition(r.bytes(zero), 0, kUnbounded);
  if (value.find('.') != std::string::npos) return r.concatenation(r.literal(value), zeros);
  const RegexId fraction = r.concatenation(r.literal("."), r.concatenation(r.bytes(zero), zeros));
  const RegexId positive = r.concatenation(r.literal(value), r.repetition(fraction, 0, 1));
  return value == "0" ? r.concatenation(r.repetition(r.literal("-"), 0, 1), positive) : positive;
}

}  // namespace

SeenValues::SeenValues(RegexStore& regexes, const std::vector<SetBounds>& bounds, uint64_t max_item_sets)
    : regexes_(regexes), bounds_(bounds), account_{"max_item_sets", max_item_sets} {
  for (int i = 0; i < 4; ++i) texts_.push_back({});
  seen_ids_.intern({});
  intern_value({});  // kNew
}

const SetBounds& SeenValues::bounds(SeenId seen) const {
  static const SetBounds kNone;
  const uint32_t i = seen_ids_.at(seen.value)[0];
  return i == kNoBounds ? kNone : bounds_[i];
}

SeenId SeenValues::open(uint32_t i) {
  for (const std::string& name : bounds_[i].required) intern_value('"' + name);
  const uint32_t words[] = {i, 0};
  return SeenId(seen_ids_.intern(Words(words, bounds_[i].holds == Holds::kObject ? 2 : 1)).first);
}

size_t SeenValues::bytes() const {
  return texts_.bytes() + text_ids_.bytes() + value_ids_.bytes() * 2 + seen_ids_.bytes() + addable_.bytes() +
         unwanted_ids_.bytes() + unwanted_.bytes();
}

TextId SeenValues::append(TextId text, unsigned b) {
  const uint64_t key = (uint64_t{text.value} << 8) | b;
  if (auto known = text_ids_.find(key)) return TextId(*known);
  account_.charge();
  const TextId longer(texts_.size());
  texts_.push_back({text, static_cast<uint8_t>(b)});
  text_ids_.insert(key, longer.value);
  return longer;
}

bool SeenValues::is_met(TextId text, std::string_view more) const {
  return value_ids_.find(words_of(value_of(spelled(text).append(more)))).has_value();
}

bool SeenValues::may_be_met(TextId text) const {
  const std::string begun = spelled(text);
  // Other values, strings with escapes and numbers with a fraction are not spelled as they are kept.
  const bool is_whole = !begun.empty() && begun.find_first_not_of("0123456789") == std::string::npos;
  if (!is_whole && (!is_string(begun) || begun.find('\\') != std::string::npos)) return true;
  for (size_t i = 0; i < values_.size(); ++i) {
    if (values_[static_cast<uint32_t>(i)].starts_with(begun)) return true;
  }
  return false;
}

bool SeenValues::is_vague(SeenId seen) const {
  if (seen == none()) return false;
  const std::vector<uint32_t> known = taken(seen);
  return std::find(known.begin(), known.end(), kNew) != known.end();
}

std::string SeenValues::spelled(TextId text) const {
  std::string out;
  for (; text != empty_text(); text = texts_[text.value].shorter)
    out.push_back(static_cast<char>(texts_[text.value].last));
  return {out.rbegin(), out.rend()};
}

SeenId SeenValues::add(SeenId seen, TextId text) {
  if (text == new_text()) return add_value(seen, kNew);
  if (text != any_text()) return add_value(seen, intern_value(value_of(spelled(text))));
  const Words before = seen_ids_.at(seen.value);
  std::vector<uint32_t> after(before.begin(), before.end());
  // Nothing is known of an array or an object in which something may stand or other.
  if (is_value(seen)) after.resize(1);
  after[0] = kNoBounds;
  return SeenId(seen_ids_.intern(after).first);
}

std::optional<SeenId> SeenValues::add_ended(SeenId seen, SeenId ended) {
  if (seen == none() || !is_value(ended)) return seen;
  if (!admits(seen, ended)) return std::nullopt;
  return add_value(seen, intern_value(value_of_ended(ended)));
}

bool SeenValues::admits(SeenId seen, SeenId ended) const {
  if (seen == none() || !is_value(ended)) return true;
  const Holds holds = bounds(seen).holds;
  if (holds == Holds::kArray || holds == Holds::kObject) return true;
  const auto value = value_ids_.find(words_of(value_of_ended(ended)));
  const Words known = entries(seen);
  return !value || std::find(known.begin(), known.end(), *value) == known.end();
}

SeenId SeenValues::add_value(SeenId seen, uint32_t value) {
  const Words before = seen_ids_.at(seen.value);
  std::vector<uint32_t> after(before.begin(), before.end());
  switch (bounds(seen).holds) {
    case Holds::kValues: {
      const auto at = std::lower_bound(after.begin() + 1, after.end(), value);
      if (at != after.end() && *at == value) return seen;
      after.insert(at, value);
      break;
    }
    case Holds::kArray:
    case Holds::kDistinctArray:
      after.push_back(value);
      break;
    case Holds::kObject:
      add_member(after, value);
      break;
  }
  if (auto known = seen_ids_.find(after)) return SeenId(*known);
  account_.charge(1 + after.size() / 16);
  return SeenId(seen_ids_.intern(after).first);
}

// A key, or the value of the one before. `object` are all words of its register.
void SeenValues::add_member(std::vector<uint32_t>& object, uint32_t value) {
  constexpr size_t kPairs = 2;
  uint32_t& key = object[1];
  if (key == 0) {
    key = value + 1;
    return;
  }
  size_t at = kPairs;
  while (at < object.size() && object[at] < key - 1) at += 2;
  const uint32_t pair[] = {key - 1, value};
  key = 0;
  object.insert(object.begin() + static_cast<ptrdiff_t>(at), std::begin(pair), std::end(pair));
}

std::string SeenValues::value_of_ended(SeenId ended) const {
  const Words all = entries(ended);
  const size_t first = bounds(ended).holds == Holds::kObject ? 1 : 0;
  if (std::find(all.begin() + static_cast<ptrdiff_t>(first), all.end(), kNew) != all.end()) return {};
  std::string value(1, bounds(ended).holds == Holds::kObject ? '{' : '[');
  value.append(reinterpret_cast<const char*>(all.data()), all.size_bytes());
  return value;
}

std::vector<uint32_t> SeenValues::keys(SeenId object) const {
  const Words all = entries(object);
  std::vector<uint32_t> out;
  for (size_t i = 1; i < all.size(); i += 2) out.push_back(all[i]);
  return out;
}

bool SeenValues::excludes(SeenId seen) const {
  const Holds holds = bounds(seen).holds;
  return holds != Holds::kArray && (holds != Holds::kObject || entries(seen)[0] == 0);
}

std::vector<uint32_t> SeenValues::taken(SeenId seen) const {
  if (!excludes(seen)) return {};
  if (bounds(seen).holds == Holds::kObject) return keys(seen);
  const Words all = entries(seen);
  return {all.begin(), all.end()};
}

size_t SeenValues::n_values(SeenId seen) const {
  const size_t n = entries(seen).size();
  return bounds(seen).holds == Holds::kObject ? n / 2 : n;
}

uint32_t SeenValues::intern_value(std::string value) {
  const auto [id, is_new] = value_ids_.intern(words_of(value));
  if (is_new) values_.push_back(std::move(value));
  return id;
}

std::vector<std::string> SeenValues::missing(SeenId seen) const {
  if (bounds(seen).required.empty()) return {};
  const Words all = entries(seen);
  const std::vector<uint32_t> known =
      bounds(seen).holds == Holds::kObject ? keys(seen) : std::vector<uint32_t>(all.begin(), all.end());
  std::vector<std::string> out;
  for (const std::string& name : bounds(seen).required) {
    const auto id = value_ids_.find(words_of('"' + name));
    if (!id || std::find(known.begin(), known.end(), *id) == known.end()) out.push_back(name);
  }
  return out;
}

bool SeenValues::may_close(SeenId seen) const {
  return n_values(seen) >= bounds(seen).minimum && missing(seen).empty();
}

RegexId SeenValues::addable(RegexId regex, SeenId seen) {
  const uint64_t key = (uint64_t{regex.value} << 32) | seen.value;
  if (auto known = addable_.find(key)) return RegexId(*known);
  RegexId left = compute_addable(regex, seen);
  if (regexes_.is_empty(left)) left = RegexStore::nothing();
  addable_.insert(key, left.value);
  return left;
}

RegexId SeenValues::compute_addable(RegexId regex, SeenId seen) {
  const uint32_t maximum = bounds(seen).maximum;
  const bool is_behind_key = bounds(seen).holds == Holds::kObject && entries(seen)[0] != 0;
  if (maximum != kUnbounded && !is_behind_key) {
    const std::vector<std::string> needed = missing(seen);
    if (n_values(seen) + needed.size() >= maximum) {
      const RegexId only = regexes_.json_string(regexes_.key_set(needed), JsonEscapes::kAny);
      regex = regexes_.intersection({regex, only});
    }
  }
  return subtract(regex, unwanted(seen));
}

const SeenValues::Unwanted& SeenValues::unwanted(SeenId seen) {
  if (auto known = unwanted_ids_.find(seen.value)) return unwanted_[*known];
  const Unwanted computed = compute_unwanted(seen);
  unwanted_ids_.insert(seen.value, static_cast<uint32_t>(unwanted_.size()));
  return unwanted_.push_back(computed);
}

SeenValues::Unwanted SeenValues::compute_unwanted(SeenId seen) {
  std::vector<std::string> strings;
  std::vector<std::string> words;
  std::vector<RegexId> others;
  for (uint32_t id : taken(seen)) {
    const std::string& value = values_[id];
    if (value.empty() || is_composite(value)) continue;  // what is left of a composite may be another
    if (is_string(value)) {
      strings.push_back(value.substr(1));
    } else if (is_number(value)) {
      others.push_back(spellings_of_number(regexes_, value));
    } else {
      words.push_back(value);
    }
  }
  others.push_back(regexes_.key_set(std::move(words)));
  return {regexes_.key_set(std::move(strings)), regexes_.alternation(std::move(others))};
}

// Strings are told apart inside their quotes, where the tables for strings apply. What stands beside a string with
// quotes may be one without them.
RegexId SeenValues::subtract(RegexId regex, const Unwanted& unwanted) {
  if (regexes_.kind(regex) == RegexKind::kAlternation) {
    std::vector<RegexId> parts = regexes_.parts(regex);
    const auto is_quoted = [&](RegexId part) { return regexes_.kind(part) == RegexKind::kJsonString; };
    const bool are_strings = std::any_of(parts.begin(), parts.end(), is_quoted);
    for (RegexId& part : parts) {
      if (are_strings && !is_quoted(part)) part = without(part, unwanted.strings);
      part = subtract(part, unwanted);
    }
    return regexes_.alternation(std::move(parts));
  }
  if (regexes_.kind(regex) == RegexKind::kConcatenation) {
    const std::vector<RegexId> parts = regexes_.parts(regex);
    if (parts[1] == regexes_.literal(kAfterKey)) return regexes_.concatenation(subtract(parts[0], unwanted), parts[1]);
  }
  if (regexes_.kind(regex) == RegexKind::kJsonString) return regexes_.json_string_without(regex, unwanted.strings);
  return without(regex, unwanted.others);
}

RegexId SeenValues::without(RegexId regex, RegexId unwanted) {
  if (unwanted == RegexStore::nothing()) return regex;
  return regexes_.intersection({regex, regexes_.complement(unwanted)});
}

}  // namespace cfgmask
