// Strong integer ids: a RegexId cannot be passed where an ItemSetId is meant.
#pragma once

#include <compare>
#include <cstdint>

namespace cfgmask {

template <class Tag>
struct Id {
  uint32_t value = 0;

  constexpr Id() = default;
  constexpr explicit Id(uint32_t v) : value(v) {}
  constexpr explicit Id(size_t v)
    requires(sizeof(size_t) != sizeof(uint32_t))
      : value(static_cast<uint32_t>(v)) {}
  friend constexpr auto operator<=>(Id, Id) = default;
};

}  // namespace cfgmask
