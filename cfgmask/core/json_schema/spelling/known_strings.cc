#include "json_schema/spelling/known_strings.h"

#include <array>
#include <utility>

#include "json_schema/spelling/simple_pattern.h"

namespace cfgmask {

std::optional<PatternMeaning> KnownStrings::meaning(const PatternQuestion& question, uint64_t max_nesting,
                                                    UnicodeSets& unicode) const {
  PatternReadingOptions options = patterns_.options;
  options.max_nesting = max_nesting;
  options.max_parts = kMaxPatternParts;
  PatternMeaning found = meaning_of(question, options, unicode, nullptr);
  if (found.stop || !found.problems.empty()) return std::nullopt;
  return found;
}

// The texts of the parts, one after the other; null without any.
KnownStrings::Regex KnownStrings::regex_of(const std::vector<Part>& parts) const {
  RegexData data;
  std::vector<uint32_t> made;
  UnicodeSets unicode(patterns_.unicode);
  for (const auto& [pattern, most] : parts) {
    const std::u32string text = characters_of_utf8(pattern);
    const PatternQuestion question{
        .pattern = text, .dialect = PatternDialect::Name::kPython, .flags = U"s", .use = PatternUse::kText};
    const auto found = meaning(question, max_nesting_, unicode);
    const auto tree = found ? found->trees.append_to(data, found->tree) : std::nullopt;
    if (!tree) return nullptr;
    uint32_t part = *tree;
    if (most) {
      static constexpr CodePointRange kOctets{0, 255};
      const uint32_t octets = data.repetition(data.ranges(RegexData::Kind::kByteClass, {&kOctets, 1}), 1, *most);
      part = data.parts(RegexData::Kind::kIntersection, std::array{part, octets});
    }
    made.push_back(part);
  }
  if (made.empty()) return nullptr;
  if (made.size() > 1) data.parts(RegexData::Kind::kConcatenation, made);
  return std::make_shared<const PortableRegex>(data);
}

KnownStrings::KnownStrings(std::vector<Format> formats, uint64_t max_nesting)
    : KnownStrings(std::move(formats), {PatternDialect::Name::kEcma, {}, ecma_reading(max_nesting)}, max_nesting) {}

KnownStrings::KnownStrings(std::vector<Format> formats, Patterns patterns, uint64_t max_nesting)
    : patterns_(std::move(patterns)), max_nesting_(max_nesting) {
  for (Format& format : formats) {
    std::string name = format.name;
    formats_.emplace(std::move(name), Known{std::move(format)});
  }
}

KnownStrings::FormatRegexes KnownStrings::format(std::string_view name, const AskFormat& ask) {
  const std::string key(name);
  const Format* format = nullptr;
  {
    const std::lock_guard guard(lock_);
    const Known& known = formats_.at(key);
    if (known.regexes) return *known.regexes;
    format = &known.format;
  }
  // Without the lock, which whoever answers may need. What two threads find is the same.
  FormatRegexes found{regex_of(format->parts), nullptr};
  if (found.generated == nullptr) found.generated = ask(key);
  if (format->possible) found.possible = regex_of({{*format->possible}});
  if (format->possible && found.possible == nullptr) found.generated = nullptr;
  const std::lock_guard guard(lock_);
  auto& regexes = formats_.at(key).regexes;
  if (!regexes) regexes = std::move(found);
  return *regexes;
}

std::optional<KnownStrings::Strings> KnownStrings::find(std::string_view schema) const {
  const std::lock_guard guard(lock_);
  const auto found = strings_.find(schema);
  return found == strings_.end() ? std::nullopt : std::optional(found->second);
}

void KnownStrings::keep(const std::string& schema, Strings strings) {
  const std::lock_guard guard(lock_);
  if (strings_.size() >= kMost) strings_.clear();
  strings_.emplace(schema, std::move(strings));
}

}  // namespace cfgmask
