// What plain Lark grammars (lark/plain_grammar.h) ask of Python.
//
// Threads: one at a time, as Python sees to.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bindings/interpreter.h"
#include "bindings/lark_nodes.h"
#include "lark/plain_grammar.h"
#include "regex/regex.h"
#include "schema/plain_rules.h"
#include "util/limits.h"
#include "util/text_hash.h"

namespace cfgmask {

namespace nb = nanobind;

inline std::u32string characters_of(const nb::str& text) { return characters_of(text, 0, nb::len(text)); }

class PlainLarkReader {
 public:
  PlainLarkReader(nb::callable library, nb::callable any_case)
      : library_(std::move(library)), any_case_(std::move(any_case)) {}

  // What is asked about one grammar. Documented in _core.pyi.
  struct Answers {
    const nb::callable& pattern;
    const nb::callable& options;
    const nb::callable& schema;
    const nb::callable& tokens;
  };
  std::shared_ptr<const PlainLark> read(const nb::str& text, const nb::str& start, const Limits& limits,
                                        uint64_t max_tokens, const Answers& answers) {
    PlainLarkQuestions questions;
    questions.kinds = python_characters();
    questions.library = [this](std::u32string_view name) { return library(name); };
    questions.any_case = [this](char32_t c) { return any_case(c); };
    questions.pattern = [&](std::u32string_view body, std::u32string_view flags) {
      const nb::object found = asked(answers.pattern, text_of(body), text_of(flags));
      return found.is_none() ? nullptr : nb::cast<std::shared_ptr<PortableRegex>>(found);
    };
    questions.options = [&](const PlainLarkDocument& document) -> std::optional<PlainLarkOptions> {
      nb::list blocks;
      for (const auto& block : document.options())
        blocks.append(nb::make_tuple(text_of(document.text(block.value)), block.of_llguidance));
      const nb::object found = asked(answers.options, blocks);
      if (found.is_none()) return std::nullopt;
      const auto [complete, initial, last, once] = nb::cast<std::tuple<bool, bool, bool, bool>>(found);
      return PlainLarkOptions{complete, initial, last, once};
    };
    questions.tokens = [&](std::u32string_view text) { return nb::cast<bool>(asked(answers.tokens, text_of(text))); };
    questions.schema = [&](std::u32string_view text) {
      const nb::object found = asked(answers.schema, text_of(text));
      return found.is_none() ? nullptr : nb::cast<std::shared_ptr<PlainSchemaParts>>(found);
    };
    return PlainLark::read(characters_of(text), characters_of(start), questions, limits, max_tokens);
  }

 private:
  template <typename... Arguments>
  static nb::object asked(const nb::callable& function, const Arguments&... arguments) {
    return in_python([&]() -> nb::object { return function(arguments...); });
  }

  static nb::object text_of(std::u32string_view text) {
    return made(PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, text.data(), static_cast<Py_ssize_t>(text.size())));
  }

  const LarkLibrary* library(std::u32string_view name) {
    const std::u32string key(name);
    auto known = libraries_.find(key);
    if (known == libraries_.end()) {
      const nb::object texts = asked(library_, text_of(name));
      std::shared_ptr<const LarkLibrary> library;
      if (!texts.is_none()) {
        std::vector<std::u32string> all;
        for (const nb::handle one : texts) all.push_back(characters_of(nb::cast<nb::str>(one)));
        library = std::make_shared<const LarkLibrary>(std::move(all), python_characters());
      } else if (libraries_.size() >= kMostLibraries) {
        return nullptr;  // names are a stranger's
      }
      known = libraries_.emplace(key, std::move(library)).first;
    }
    return known->second.get();
  }

  std::span<const CodePointRange> any_case(char32_t c) {
    auto known = cases_.find(c);
    if (known == cases_.end()) {
      std::vector<CodePointRange> ranges;
      for (const auto& [low, high] :
           nb::cast<std::vector<std::pair<uint32_t, uint32_t>>>(asked(any_case_, static_cast<uint32_t>(c))))
        ranges.push_back({low, high});
      if (cases_.size() >= kMostCases) cases_.clear();
      known = cases_.emplace(c, std::move(ranges)).first;
    }
    return known->second;
  }

  static constexpr size_t kMostLibraries = 16;
  static constexpr size_t kMostCases = 4096;

  nb::callable library_;
  nb::callable any_case_;
  TextMap<std::u32string, std::shared_ptr<const LarkLibrary>> libraries_;
  std::unordered_map<char32_t, std::vector<CodePointRange>> cases_;
};

}  // namespace cfgmask
