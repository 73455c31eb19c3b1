// The dynamic scope of a schema: what `$dynamicRef` and `$recursiveRef` go by.
//
// A dynamic reference leads to the outermost of the schema resources on the way to it that has the anchor. All that
// matters of the way is which resource was the first with each anchor, so a scope is no longer than there are anchors.
//
// Threads: of one reading.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cfgmask {

class DynamicScopes {
 public:
  // An anchor's name, and the number of the place that it stands for.
  using Targets = std::map<std::string, uint32_t, std::less<>>;

  // In which no resource has an anchor.
  static constexpr uint32_t kNone = 0;
  // The name of what a `$recursiveRef` leads to, which no anchor can have.
  static constexpr const char* kRecursive = "$recursiveAnchor";

  DynamicScopes() : scopes_(1) {}

  bool are_needed() const { return !anchors_.empty(); }

  // Registers an anchor of the resource with the number `base`. The first one with a name stays.
  void add(uint32_t base, const std::string& name, uint32_t place) {
    anchors_[base].emplace(name, place);
    entered_.clear();
  }

  // The scope inside of a resource that is entered from a scope. `spend` is told how many anchors a new scope has, and
  // may throw.
  template <class Spend>
  uint32_t entered(uint32_t scope, uint32_t base, Spend spend) {
    const auto anchors = anchors_.find(base);
    if (anchors == anchors_.end()) return scope;
    const auto known = entered_.find({scope, base});
    if (known != entered_.end()) return known->second;
    Targets targets = scopes_[scope];
    for (const auto& [name, place] : anchors->second) targets.emplace(name, place);
    spend(targets.size());
    const auto [found, is_new] = numbers_.try_emplace(targets, static_cast<uint32_t>(scopes_.size()));
    if (is_new) scopes_.push_back(std::move(targets));
    return entered_[{scope, base}] = found->second;
  }

  std::optional<uint32_t> target(uint32_t scope, std::string_view name) const {
    const auto found = scopes_[scope].find(name);
    return found == scopes_[scope].end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::map<uint32_t, Targets> anchors_;  // by resource
  std::vector<Targets> scopes_;
  std::map<Targets, uint32_t> numbers_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> entered_;  // by scope and resource
};

}  // namespace cfgmask
