// Numbers in bounds as regex trees of Python, for those who write them outside of a schema.
//
// Threads: as Python's.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <utility>

#include "bindings/schema_rules.h"
#include "json_schema/document/decimal.h"
#include "json_schema/spelling/number_set.h"
#include "regex/regex.h"
#include "regex/regex_as_data.h"
#include "util/limits.h"

namespace cfgmask {

// See number_regex in cfgmask/_core.pyi.
inline nb::object number_regex(const std::string& kind, const std::optional<std::pair<std::string, bool>>& low,
                               const std::optional<std::pair<std::string, bool>>& high,
                               const std::optional<std::string>& step) {
  const nb::str too_long("too many digits");
  NumberSet found(kind == "integer" ? NumberSet::Integers::kUnfractioned : NumberSet::Integers::kNo);
  for (const auto& [bound, side] : {std::pair(&low, &NumberSet::from), std::pair(&high, &NumberSet::to)}) {
    if (!*bound) continue;
    const auto& [text, is_open] = **bound;
    auto value = Decimal::parse(text);
    if (!value) return too_long;
    found = found & side({*std::move(value), is_open});
  }
  if (step) {
    const auto value = Decimal::parse(*step);
    const auto multiple = value ? NumberStep::of(*value) : std::nullopt;
    if (!multiple || !NumberSet::can_meet(found, NumberSet::multiples(*multiple))) return too_long;
    found = found & NumberSet::multiples(*multiple);
  }
  if (found.is_empty()) return nb::str("no numbers");
  const Limits limits;
  RegexStore store(limits.max_nesting * RegexData::kHeightPerNesting, limits.max_search_steps);
  RegexAsData made(store);
  const uint32_t number = made.add(found.regex(store, NumberStyle{}, NumberSet::Exponents::kNo));
  return TreesOfData(made.data()).tree(number);
}

}  // namespace cfgmask
