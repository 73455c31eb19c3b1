// What stands behind `::` and `%if`, as cfgmask/lark/parametric.py reads it.
//
// Threads: immutable but for `add`.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "earley/parameter.h"

namespace cfgmask {

// `name`, `12`, `[0:3]` or `name(part, ...)` as they were written. What makes no sense is nullopt, and so is what nests
// deeper than it ever does.
class LarkParameters {
 public:
  // The number of one; `text` must outlive it. No parts: it has no parentheses.
  uint32_t add(std::u32string_view text, std::optional<std::vector<uint32_t>> parts);

  std::optional<Argument> argument(uint32_t number) const;
  std::optional<Condition> condition(uint32_t number) const;
  // Whether it is the parameter of the rule itself.
  bool is_self(uint32_t number) const { return written_[number].text == U"_" && !written_[number].parts; }

 private:
  struct Written {
    std::u32string_view text;
    std::optional<std::vector<uint32_t>> parts;
  };

  // The bits that it names.
  std::optional<Bits> bits(uint32_t number) const;
  std::optional<uint64_t> value(uint32_t number, uint64_t largest) const;
  // Adds the steps of a condition; false where there is none.
  bool add_steps(uint32_t number, uint32_t depth, Condition& steps) const;
  bool add_comparison(const Written& function, Condition& steps) const;

  std::vector<Written> written_;
};

// Whether the parameter of the rule around it matters.
inline bool uses_parameter(const Argument& argument) {
  return argument.kind != Argument::Kind::kMasked || argument.keep != 0;
}
bool uses_parameter(const Condition& condition);

}  // namespace cfgmask
