#include "lark/parameters.h"

#include <algorithm>
#include <array>
#include <utility>

#include "lark/blanks.h"

namespace cfgmask {

namespace {

constexpr uint64_t kBits = 64;
constexpr size_t kMostDigits = 100;
constexpr uint32_t kMaxDepth = 50;
constexpr std::array<std::u32string_view, 6> kRelations = {U"eq", U"ne", U"lt", U"le", U"gt", U"ge"};
constexpr std::u32string_view kCountsOnes = U"bit_count_";

std::optional<uint64_t> digit(char32_t c) {
  if (c >= U'0' && c <= U'9') return c - U'0';
  const char32_t lower = c | 0x20;
  return lower >= U'a' && lower <= U'f' ? std::optional<uint64_t>(10 + lower - U'a') : std::nullopt;
}

// `12` or `0x0c`, up to `largest`.
std::optional<uint64_t> whole_number(std::u32string_view text, uint64_t largest) {
  if (text.size() > kMostDigits) return std::nullopt;
  const bool is_hexadecimal = text.starts_with(U"0x") || text.starts_with(U"0X");
  const uint64_t base = is_hexadecimal ? 16 : 10;
  if (is_hexadecimal) text.remove_prefix(2);
  if (text.empty()) return std::nullopt;
  uint64_t found = 0;
  for (char32_t c : text) {
    const auto next = digit(c);
    if (!next || *next >= base || found > (largest - std::min(largest, *next)) / base) return std::nullopt;
    found = found * base + *next;
  }
  return found <= largest ? std::optional(found) : std::nullopt;
}

}  // namespace

uint32_t LarkParameters::add(std::u32string_view text, std::optional<std::vector<uint32_t>> parts) {
  written_.push_back({text, std::move(parts)});
  return static_cast<uint32_t>(written_.size() - 1);
}

std::optional<uint64_t> LarkParameters::value(uint32_t number, uint64_t largest) const {
  return written_[number].parts ? std::nullopt : whole_number(written_[number].text, largest);
}

std::optional<Bits> LarkParameters::bits(uint32_t number) const {
  if (is_self(number)) return Bits{0, kBits};
  const std::u32string_view text = written_[number].text;
  const size_t colon = text.find(U':');
  if (text.size() < 2 || text.front() != U'[' || text.back() != U']' || colon == std::u32string_view::npos)
    return std::nullopt;
  const auto low = whole_number(trimmed(text.substr(1, colon - 1)), kBits);
  const auto high = whole_number(trimmed(text.substr(colon + 1, text.size() - colon - 2)), kBits);
  if (!low || !high || *low >= *high) return std::nullopt;
  return Bits{static_cast<uint32_t>(*low), static_cast<uint32_t>(*high)};
}

std::optional<Argument> LarkParameters::argument(uint32_t number) const {
  using Kind = Argument::Kind;
  const Written& written = written_[number];
  if (is_self(number)) return Argument{};
  if (!written.parts) {
    const auto set = value(number, UINT64_MAX);
    return set ? std::optional(Argument{Kind::kMasked, 0, *set, {}}) : std::nullopt;
  }
  if (written.parts->size() != 1) return std::nullopt;
  const uint32_t part = written.parts->front();
  if (written.text == U"incr" || written.text == U"decr") {
    const auto counted = bits(part);
    if (!counted) return std::nullopt;
    return Argument{written.text == U"incr" ? Kind::kIncrement : Kind::kDecrement, 0, 0, *counted};
  }
  if (written.text == U"set_bit" || written.text == U"clear_bit") {
    const auto bit = value(part, kBits - 1);
    if (!bit) return std::nullopt;
    const uint64_t mask = uint64_t{1} << *bit;
    if (written.text == U"set_bit") return Argument{Kind::kMasked, UINT64_MAX, mask, {}};
    return Argument{Kind::kMasked, UINT64_MAX ^ mask, 0, {}};
  }
  const auto mask = value(part, UINT64_MAX);
  if (mask && written.text == U"bit_and") return Argument{Kind::kMasked, *mask, 0, {}};
  if (mask && written.text == U"bit_or") return Argument{Kind::kMasked, UINT64_MAX, *mask, {}};
  return std::nullopt;
}

std::optional<Condition> LarkParameters::condition(uint32_t number) const {
  Condition steps;
  return add_steps(number, 0, steps) ? std::optional(std::move(steps)) : std::nullopt;
}

bool LarkParameters::add_steps(uint32_t number, uint32_t depth, Condition& steps) const {
  using Operator = ConditionStep::Operator;
  const Written& written = written_[number];
  if (written.text == U"true" && (!written.parts || written.parts->empty())) {
    steps.push_back({Operator::kTrue, false, {0, kBits}, 0});
    return true;
  }
  if (!written.parts || depth > kMaxDepth) return false;
  const bool is_and = written.text == U"and";
  const bool is_not = written.text == U"not";
  if (!is_and && !is_not && written.text != U"or") return add_comparison(written, steps);
  const auto& parts = *written.parts;
  if (is_not ? parts.size() != 1 : parts.size() < 2) return false;
  // The last first, as cfgmask/compiler/conditions.py has them.
  for (size_t i = parts.size(); i-- > 0;) {
    if (!add_steps(parts[i], depth + 1, steps)) return false;
  }
  const Operator joins = is_not ? Operator::kNot : is_and ? Operator::kAnd : Operator::kOr;
  for (size_t n = is_not ? 1 : parts.size() - 1; n > 0; --n) steps.push_back({joins, false, {0, kBits}, 0});
  return true;
}

bool LarkParameters::add_comparison(const Written& function, Condition& steps) const {
  using Operator = ConditionStep::Operator;
  const auto& parts = *function.parts;
  std::u32string_view name = function.text;
  if (name == U"bit_set" || name == U"bit_clear") {
    const auto bit = parts.size() == 1 ? value(parts[0], kBits - 1) : std::nullopt;
    if (!bit) return false;
    const auto low = static_cast<uint32_t>(*bit);
    steps.push_back({Operator::kEqual, false, {low, low + 1}, name == U"bit_set" ? uint64_t{1} : 0});
    return true;
  }
  const auto bits = parts.empty() ? std::nullopt : this->bits(parts[0]);
  if (!bits) return false;
  if (name == U"is_zeros" || name == U"is_ones") {
    const uint32_t n_bits = bits->high - bits->low;
    const uint64_t ones = n_bits == kBits ? UINT64_MAX : (uint64_t{1} << n_bits) - 1;
    steps.push_back({Operator::kEqual, false, *bits, name == U"is_ones" ? ones : 0});
    return parts.size() == 1;
  }
  const bool counts_ones = name.starts_with(kCountsOnes);
  if (counts_ones) name.remove_prefix(kCountsOnes.size());
  const auto* const relation = std::find(kRelations.begin(), kRelations.end(), name);
  const auto compared = parts.size() == 2 ? value(parts[1], UINT64_MAX) : std::nullopt;
  if (relation == kRelations.end() || !compared) return false;
  steps.push_back({static_cast<Operator>(relation - kRelations.begin()), counts_ones, *bits, *compared});
  return true;
}

bool uses_parameter(const Condition& condition) {
  return std::any_of(condition.begin(), condition.end(),
                     [](const ConditionStep& step) { return step.op < ConditionStep::Operator::kTrue; });
}

}  // namespace cfgmask
