// What all readings of schemas know of strings: the patterns of formats, and the regexes of conditions met before.
//
// Threads: any; a lock guards what is added.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pattern/character_sets.h"
#include "pattern/dialect.h"
#include "pattern/meaning.h"
#include "pattern/scanner.h"
#include "regex/regex_data.h"
#include "util/text_hash.h"

namespace cfgmask {

class KnownStrings {
 public:
  using Regex = std::shared_ptr<const PortableRegex>;
  // What a pattern of Python's dialect matches, `.` being any character, in at least one octet of UTF-8 and at most so
  // many.
  struct Part {
    std::string pattern;
    std::optional<uint32_t> most = std::nullopt;
  };
  struct Format {
    std::string name;
    std::vector<Part> parts;  // of what is generated, one after the other; none: the regex is asked for
    std::optional<std::string> possible = std::nullopt;  // matches all strings of the format, where the parts do not
  };
  // Over decoded text; null: there is no regex.
  struct FormatRegexes {
    Regex generated;
    Regex possible;
  };
  using AskFormat = std::function<Regex(const std::string& name)>;
  // The strings under conditions: listed texts, or what a regex of JSON strings matches; neither: there are none.
  struct Strings {
    std::vector<std::string> listed = {};
    Regex regex = nullptr;
  };

  // How the patterns of schemas are read. `unicode` is asked about properties and shorthands of dialects other than
  // ECMA's alone; the bounds of `options` are those of a reading.
  struct Patterns {
    PatternDialect::Name dialect;
    UnicodeSets::Source unicode;
    PatternReadingOptions options;
  };

  // max_nesting  of the patterns of formats
  KnownStrings(std::vector<Format> formats, Patterns patterns, uint64_t max_nesting);
  // For patterns of ECMA-262, in which letters and digits beyond ASCII are not known.
  KnownStrings(std::vector<Format> formats, uint64_t max_nesting);

  const Patterns& patterns() const { return patterns_; }
  bool reads_ecma() const { return patterns_.dialect == PatternDialect::Name::kEcma; }
  bool has_format(std::string_view name) const { return formats_.contains(name); }
  // The meaning of a pattern; nullopt if the pattern is wrong or too long.
  std::optional<PatternMeaning> meaning(const PatternQuestion& question, uint64_t max_nesting,
                                        UnicodeSets& unicode) const;
  // Of a format that there is. The regex is asked for once, and if the core does not read the parts.
  FormatRegexes format(std::string_view name, const AskFormat& ask);

  // The strings of a schema, once they were kept.
  std::optional<Strings> find(std::string_view schema) const;
  // Forgets the others if there are too many.
  void keep(const std::string& schema, Strings strings);

 private:
  static constexpr size_t kMost = 4096;
  static constexpr uint64_t kMaxPatternParts = 100'000;

  struct Known {
    Format format;
    std::optional<FormatRegexes> regexes = std::nullopt;
  };

  Regex regex_of(const std::vector<Part>& parts) const;

  Patterns patterns_;
  uint64_t max_nesting_;
  mutable std::mutex lock_;
  TextMap<std::string, Known> formats_;
  TextMap<std::string, Strings> strings_;
};

}  // namespace cfgmask
