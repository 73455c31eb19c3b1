// What is wrong with a pattern.
//
// Threads: for one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cfgmask {

// What is wrong with the characters `start` to `end`. `code` is one of the texts in cfgmask/regex/messages.py, which
// the arguments go into.
struct PatternProblem {
  std::string code;
  uint32_t start;
  uint32_t end;
  std::vector<std::u32string> arguments;

  bool operator==(const PatternProblem&) const = default;
};

// The problems of one pattern, each once.
class PatternProblems {
 public:
  // A text that is no pattern at all would give a problem for every character.
  static constexpr size_t kMost = 100;
  // Thrown when there are so many.
  struct TooMany {};

  explicit PatternProblems(std::vector<PatternProblem> found = {}) : found_(std::move(found)) {}

  void report(std::string_view code, size_t start, size_t end, std::vector<std::u32string> arguments = {}) {
    PatternProblem problem{std::string(code), static_cast<uint32_t>(start), static_cast<uint32_t>(end),
                           std::move(arguments)};
    if (std::find(found_.begin(), found_.end(), problem) != found_.end()) return;
    found_.push_back(std::move(problem));
    if (found_.size() >= kMost) throw TooMany();
  }
  const std::vector<PatternProblem>& all() const { return found_; }

 private:
  std::vector<PatternProblem> found_;
};

}  // namespace cfgmask
