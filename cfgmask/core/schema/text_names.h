// Texts of a schema as JSON writes them, and what messages show of them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cfgmask {

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

}  // namespace cfgmask
