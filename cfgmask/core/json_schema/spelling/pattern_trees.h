// Plain patterns (json_schema/spelling/simple_pattern.h) to regex trees of some kind.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "json_schema/spelling/simple_pattern.h"
#include "regex/regex_data.h"

namespace cfgmask {

// `Maker` has a type Tree, and makes one by each of
//   literal(text), char_class(ranges), concatenation(trees), alternation(trees), repetition(tree, minimum, maximum)
// The last may be kUnbounded.
template <typename Maker>
class PatternTrees {
 public:
  using Tree = typename Maker::Tree;
  using Kind = SimplePattern::Kind;

  PatternTrees(const SimplePattern& pattern, Maker& maker) : pattern_(pattern), maker_(maker) {}

  // The texts in which the pattern is found; `any` is any text.
  Tree search(const Tree& any) const {
    std::vector<Tree> ways;
    for (const auto& branch : pattern_.branches()) {
      std::vector<Tree> parts;
      if (!branch.from_start) parts.push_back(any);
      append(branch.body, parts);
      if (!branch.to_end) parts.push_back(any);
      ways.push_back(sequence(std::move(parts)));
    }
    return alternation(std::move(ways));
  }

  // The texts that match as a whole.
  Tree whole() const {
    if (only_empty()) return maker_.literal("");
    std::vector<Tree> ways;
    for (const auto& branch : pattern_.branches()) ways.push_back(tree(branch.body));
    return alternation(std::move(ways));
  }
  // Whether that is the empty text and nothing else.
  bool only_empty() const {
    const auto& branches = pattern_.branches();
    return std::all_of(branches.begin(), branches.end(),
                       [&](const auto& branch) { return pattern_.only_empty(branch.body); });
  }

  // The texts of a node.
  Tree tree(uint32_t id) const {
    const auto node = pattern_.node(id);
    std::string text;
    if (node.append_to(text)) return maker_.literal(text);
    switch (node.kind) {
      case Kind::kClass:
        return maker_.char_class(node.ranges);
      case Kind::kSequence: {
        std::vector<Tree> parts;
        append(id, parts);
        return sequence(std::move(parts));
      }
      case Kind::kRepetition:
        return maker_.repetition(tree(node.parts[0]), node.minimum, node.maximum);
      case Kind::kText:
      case Kind::kAlternation:
        break;
    }
    std::vector<Tree> ways;
    for (uint32_t part : node.parts) ways.push_back(tree(part));
    return alternation(std::move(ways));
  }

 private:
  // The parts of a sequence, characters that follow each other as one.
  void append(uint32_t id, std::vector<Tree>& out) const {
    std::string run;
    const auto end_run = [&] {
      if (!run.empty()) out.push_back(maker_.literal(run));
      run.clear();
    };
    for (uint32_t part : pattern_.node(id).parts) {
      if (pattern_.node(part).append_to(run)) continue;
      end_run();
      out.push_back(tree(part));
    }
    end_run();
  }

  Tree sequence(std::vector<Tree> parts) const {
    if (parts.empty()) return maker_.literal("");
    return parts.size() == 1 ? parts[0] : maker_.concatenation(std::move(parts));
  }
  Tree alternation(std::vector<Tree> ways) const {
    return ways.size() == 1 ? ways[0] : maker_.alternation(std::move(ways));
  }

  const SimplePattern& pattern_;
  Maker& maker_;
};

// A maker of trees among other data.
class RegexDataMaker {
 public:
  using Tree = uint32_t;

  explicit RegexDataMaker(RegexData& data) : data_(data) {}

  Tree literal(std::string text) { return data_.texts(RegexData::Kind::kLiteral, {std::move(text)}); }
  Tree char_class(std::span<const CodePointRange> ranges) { return data_.ranges(RegexData::Kind::kCharClass, ranges); }
  Tree concatenation(const std::vector<Tree>& parts) { return data_.parts(RegexData::Kind::kConcatenation, parts); }
  Tree alternation(const std::vector<Tree>& ways) { return data_.parts(RegexData::Kind::kAlternation, ways); }
  Tree repetition(Tree body, uint32_t minimum, uint32_t maximum) { return data_.repetition(body, minimum, maximum); }

 private:
  RegexData& data_;
};

}  // namespace cfgmask
