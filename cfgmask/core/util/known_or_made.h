// Entries of maps that are made when they are first asked for.
#pragma once

#include <utility>

namespace cfgmask {

// The value of a key, or the one that `make` returns, which is kept. Where that throws, there is no entry: one without
// its value would be taken for known the next time.
template <class Map, class Make>
auto& known_or_made(Map& map, const typename Map::key_type& key, Make make) {
  if (const auto known = map.find(key); known != map.end()) return known->second;
  auto made = make();
  return map.emplace(key, std::move(made)).first->second;
}

}  // namespace cfgmask
