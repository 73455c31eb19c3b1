// The bounds on hostile input, and the error that names the one that was crossed.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace cfgmask {

// The same names and meaning as cfgmask.Limits in Python.
struct Limits {
  uint64_t max_nesting = 200;
  uint64_t max_regex_nodes = 2'000'000;
  uint64_t max_lexer_states = 1'000'000;
  uint64_t max_search_steps = 200'000;
  uint64_t max_rules = 2'000'000;
  uint64_t max_items = 100'000;
  uint64_t max_item_sets = 2'000'000;
  uint64_t max_capture_bytes = 256ULL << 20;
  uint64_t mask_cache_bytes = 256ULL << 20;
  uint64_t shared_cache_bytes = 256ULL << 20;
};

class LimitExceeded : public std::runtime_error {
 public:
  LimitExceeded(const char* limit, uint64_t value) : std::runtime_error(limit), limit_(limit), value_(value) {}

  const std::string& limit() const { return limit_; }
  uint64_t value() const { return value_; }

 private:
  std::string limit_;
  uint64_t value_;
};

// What one owner (a grammar) has used of one limit in a store that several owners share.
struct Account {
  const char* limit = "";
  uint64_t allowed = UINT64_MAX;
  uint64_t used = 0;
  uint64_t kept = 0;  // of what is left, for later

  void charge(uint64_t amount = 1) {
    if (amount > allowed - kept - used) throw LimitExceeded(limit, allowed);
    used += amount;
  }
  void keep_half() { kept = (allowed - used) / 2; }
  void keep_none() { kept = 0; }
};

}  // namespace cfgmask
