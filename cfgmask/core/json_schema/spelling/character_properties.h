// The sets of characters that patterns name, `\p{L}` for instance.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "regex/regex.h"
#include "util/text_hash.h"

namespace cfgmask {

// Asks for each once. Threads: for one.
class CharacterProperties {
 public:
  using Ranges = std::vector<CodePointRange>;
  // The ranges of what stands in the braces, sorted and apart from each other; nullopt if that names nothing.
  using Ask = std::function<std::optional<Ranges>(const std::string& name)>;

  explicit CharacterProperties(Ask ask) : ask_(std::move(ask)) {}

  // Null if the name names nothing, and where so many sets were found before that their copies take megabytes.
  const Ranges* find(std::string_view name) {
    const auto [at, is_new] = known_.try_emplace(std::string(name));
    if (is_new) at->second = ask_(at->first);
    if (!at->second || at->second->size() > n_left_) return nullptr;
    n_left_ -= at->second->size();
    return &*at->second;
  }

 private:
  static constexpr size_t kMaxRanges = size_t{1} << 20;

  Ask ask_;
  TextMap<std::string, std::optional<Ranges>> known_;
  size_t n_left_ = kMaxRanges;
};

}  // namespace cfgmask
