#include "json_schema/sets/indexed_lists.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "json_schema/document/text_names.h"
#include "json_schema/spelling/number_spelling.h"

namespace cfgmask {

IndexedChoice::IndexedChoice(const std::vector<std::string>& texts) {
  SpelledTexts spelled(texts, [](const std::string& text) -> std::string_view { return text; });
  std::array<std::vector<std::string_view>, 2> of;
  for (const std::string& text : texts) {
    const auto [has_escapes, written] = spelled.add(text);
    of[has_escapes ? 1 : 0].push_back(written);
  }
  for (const size_t kind : {size_t{0}, size_t{1}}) {
    if (!of[kind].empty()) of_[kind] = KeyList::of(std::move(of[kind]));
  }
}

RegexId IndexedChoice::regex(RegexStore& store, bool is_canonical) const {
  const RegexId printed = of_[0] ? store.key_set(of_[0]) : RegexStore::nothing();
  if (!of_[1]) return printed;
  const JsonEscapes escapes = is_canonical ? JsonEscapes::kCanonical : JsonEscapes::kLiteral;
  return store.alternation({printed, store.json_string(store.key_set(of_[1]), escapes)});
}

IndexedNumbers::IndexedNumbers(const std::vector<Decimal>& values) {
  std::vector<std::string> texts;
  texts.reserve(values.size());
  std::vector<std::string_view> whole;
  std::vector<std::string_view> broken;
  for (const Decimal& value : values) (value.is_integer() ? whole : broken).push_back(texts.emplace_back(value.text()));
  std::copy_if(values.begin(), values.end(), std::back_inserter(small_), NumberSpelling::is_small);
  if (!whole.empty()) whole_ = KeyList::of(std::move(whole));
  if (!broken.empty()) broken_ = KeyList::of(std::move(broken));
}

RegexId IndexedNumbers::regex(RegexStore& store, const NumberStyle& style) const {
  const auto set = [&](const std::shared_ptr<const KeyList>& list) {
    return list ? store.key_set(list) : RegexStore::nothing();
  };
  const NumberSpelling spelling(store, style.most);
  if (style.is_plain()) return spelling.plainly_listed(set(whole_), set(broken_), small_);
  return spelling.listed(set(whole_), set(broken_), true);
}

std::array<NumberedTexts, 2> numbered_texts(const std::vector<NumberedText>& texts, bool are_several) {
  SpelledTexts spelled(texts, [](const NumberedText& each) -> std::string_view { return *each.first; });
  std::array<NumberedTexts, 2> found;
  std::array<std::vector<RegexStore::NumberedKey>, 2> keys;
  for (const auto& [text, number] : texts) {
    const auto [has_escapes, written] = spelled.add(*text);
    keys[has_escapes ? 1 : 0].push_back({written, number});
    found[has_escapes ? 1 : 0].numbers.push_back(number);
  }
  for (const size_t kind : {size_t{0}, size_t{1}}) {
    if (keys[kind].size() > (are_several ? 1 : 0)) found[kind].list = RegexStore::numbered_list(std::move(keys[kind]));
  }
  return found;
}

std::shared_ptr<const IndexedObject> indexed_object(const SchemaIR& schema, const SchemaIR::Object& object) {
  const auto& members = object.members;
  if (members.size() < kManyTexts) return nullptr;
  auto found = std::make_shared<IndexedObject>();
  std::vector<NumberedText> names;
  uint32_t first = 0;
  for (uint32_t i = 0; i < members.size(); ++i) {
    if (schema.is_live(members[i].value)) names.emplace_back(&schema.name_at(members[i].name), i - first);
    if (!members[i].required && i + 1 < members.size()) continue;
    if (names.size() >= kManyTexts) found->runs.push_back({first, numbered_texts(names)});
    names.clear();
    first = i + 1;
  }
  if (object.others || !object.classes.empty()) {
    std::vector<std::string_view> all;
    for (const auto& member : members) all.push_back(schema.name_at(member.name));
    found->names = KeyList::of(std::move(all));
  }
  return found;
}

}  // namespace cfgmask
