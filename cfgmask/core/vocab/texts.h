// The byte strings of tokens, one after the other in memory: as Python's objects they lie scattered over ten times as
// much, and whoever goes through them waits for it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cfgmask {

using TokenId = uint32_t;

class Texts {
 public:
  Texts() : Texts(std::span<const std::string_view>()) {}
  explicit Texts(std::span<const std::string_view> tokens) {
    size_t total = 0;
    for (std::string_view token : tokens) total += token.size();
    bytes_.reserve(total);
    first_.reserve(tokens.size() + 1);
    for (std::string_view token : tokens) {
      first_.push_back(static_cast<uint32_t>(bytes_.size()));
      bytes_.append(token);
    }
    first_.push_back(static_cast<uint32_t>(bytes_.size()));
  }

  uint32_t size() const { return static_cast<uint32_t>(first_.size() - 1); }
  std::string_view operator[](TokenId token) const {
    return std::string_view(bytes_).substr(first_[token], first_[token + 1] - first_[token]);
  }

 private:
  std::string bytes_;
  std::vector<uint32_t> first_;  // of each token, and one more
};

}  // namespace cfgmask
