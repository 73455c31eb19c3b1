// Texts of a schema as JSON writes them, and what messages show of them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cfgmask {

// Of UTF-8.
size_t n_characters(std::string_view text);
// What messages show of a terminal.
std::string shortened(std::string name);
// A string as JSON writes it, with no more escapes than it needs.
std::string shown(std::string_view text);
// Texts in quotes, as they are, side by side: to make a string of each of thousands takes longer than to sort them.
class QuotedTexts {
 public:
  // Texts of so many bytes altogether.
  QuotedTexts(size_t n_texts, size_t n_bytes) { all_.reserve(n_bytes + 2 * n_texts); }
  // Valid as long as the whole.
  std::string_view add(std::string_view text) {
    const size_t begin = all_.size();
    ((all_ += '"') += text) += '"';
    return std::string_view(all_).substr(begin);
  }

 private:
  std::string all_;
};

// Whether a text may be written with escapes where printable characters stand as themselves alone.
bool has_escapes(std::string_view text);

// Texts as strings: in quotes where each has one spelling, whose bytes a lexer steps through in a third of the time
// that it takes to decode them, and as they are where they may be written with escapes.
class SpelledTexts {
 public:
  struct Spelled {
    bool has_escapes;
    std::string_view text;  // valid as long as the whole and what was added
  };

  template <class Texts, class F>
  SpelledTexts(const Texts& texts, F text_of) : quoted_(texts.size(), size_of(texts, text_of)) {}
  Spelled add(std::string_view text) {
    const bool escaped = has_escapes(text);
    return {escaped, escaped ? text : quoted_.add(text)};
  }

 private:
  template <class Texts, class F>
  static size_t size_of(const Texts& texts, F text_of) {
    size_t sum = 0;
    for (const auto& each : texts) sum += std::string_view(text_of(each)).size();
    return sum;
  }

  QuotedTexts quoted_;
};

}  // namespace cfgmask
