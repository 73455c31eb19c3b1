// Forced text in the tokenizer's own tokens. The tokenizer is Python's, so what asks it is not in the core.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bindings/interpreter.h"
#include "bindings/long_call.h"
#include "matcher/matcher.h"

namespace cfgmask {

constexpr size_t kMaxForcedBytes = 64 * 1024;

// The tokens that the encoding of the text begins with, however the text goes on. `compiled`: the Python object.
inline std::vector<TokenId> own_tokens(nanobind::handle compiled, const Matcher::ForcedText& forced) {
  const nanobind::bytes text(forced.text.data(), forced.text.size());
  const nanobind::object own = in_python([&]() -> nanobind::object {
    return nanobind::module_::import_("cfgmask.compiler.own_tokens").attr("own_tokens")(compiled, text, forced.ends);
  });
  return nanobind::cast<std::vector<TokenId>>(own);
}

// Raises VocabularyError where there is no encoder to narrow masks with.
inline void check_encoder(nanobind::handle compiled) {
  nanobind::module_::import_("cfgmask.compiler.own_tokens").attr("check_encoder")(compiled);
}

inline size_t size_of(const Vocabulary& vocabulary, std::span<const TokenId> tokens) {
  size_t size = 0;
  for (TokenId token : tokens) size += vocabulary.text(token).size();
  return size;
}

// Whether all ends leave tokens beyond what is written; if not, nobody needs to encode anything.
inline bool reaches_forced_text(const Matcher::ForcedText& forced) {
  return !forced.ends.empty() && forced.ends.back() > forced.n_written;
}

inline Matcher::ForcedText forced_text(Matcher& matcher, InUse& in_use) {
  LongCall call(&in_use);
  return matcher.forced_text(kMaxForcedBytes);
}

inline size_t n_fitting(Matcher& matcher, InUse& in_use, std::span<const TokenId> tokens) {
  LongCall call(&in_use);
  return matcher.try_advance(tokens, false);
}

inline std::vector<TokenId> forced_tokens(Matcher& matcher, InUse& in_use, nanobind::handle compiled) {
  const Matcher::ForcedText forced = forced_text(matcher, in_use);
  if (!reaches_forced_text(forced)) return {};
  std::vector<TokenId> own = own_tokens(compiled, forced);
  size_t first = 0;
  size_t size = 0;
  while (first < own.size() && size < forced.n_written)
    size += matcher.grammar().vocabulary().text(own[first++]).size();
  if (size != forced.n_written) return {};
  own.erase(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(first));
  // A stop token ends the text, whatever it would write.
  own.erase(std::find_if(own.begin(), own.end(), [&](TokenId token) { return matcher.is_stop(token); }), own.end());
  own.resize(n_fitting(matcher, in_use, own));
  return own;
}

// Steps to take back, and the tokens to write instead.
struct Jump {
  size_t n_back = 0;
  std::vector<TokenId> tokens;
};

inline Jump jump(Matcher& matcher, InUse& in_use, nanobind::handle compiled) {
  const Matcher::ForcedText forced = forced_text(matcher, in_use);
  if (!reaches_forced_text(forced)) return {};
  std::vector<TokenId> own = own_tokens(compiled, forced);
  if (size_of(matcher.grammar().vocabulary(), own) <= forced.n_written) return {};
  const size_t n = std::min(own.size(), forced.steps.size());
  const auto kept = static_cast<size_t>(
      std::mismatch(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(n), forced.steps.begin()).first -
      own.begin());
  Jump found{forced.steps.size() - kept, {own.begin() + static_cast<std::ptrdiff_t>(kept), own.end()}};
  const auto is_stop = [&](TokenId token) { return matcher.is_stop(token); };
  if (std::any_of(found.tokens.begin(), found.tokens.end(), is_stop))
    return {0, forced_tokens(matcher, in_use, compiled)};
  Matcher after = matcher;
  after.rollback(found.n_back);
  // A limit on tokens may refuse the text in other tokens.
  if (n_fitting(after, in_use, found.tokens) == found.tokens.size()) return found;
  return {0, forced_tokens(matcher, in_use, compiled)};
}

// Narrows the masks of a matcher to one token where one is forced.
class Narrowing {
 public:
  // The only token; nullopt where the mask is that of the grammar. Asks the tokenizer once for each forced text.
  std::optional<TokenId> token(Matcher& matcher, InUse& in_use, nanobind::handle compiled) {
    if (!is_known_) {
      const uint64_t n_moves = n_moves_;
      std::vector<TokenId> forced = forced_tokens(matcher, in_use, compiled);
      if (n_moves_ != n_moves) throw std::runtime_error("the vocabulary's encoder moved the matcher that asked it");
      tokens_ = std::move(forced);
      next_ = 0;
      is_known_ = true;
    }
    if (next_ == tokens_.size()) return std::nullopt;
    return tokens_[next_];
  }
  void advanced(TokenId token) {
    ++n_moves_;
    is_known_ = is_known_ && next_ < tokens_.size() && tokens_[next_] == token && ++next_ < tokens_.size();
  }
  void moved() {
    ++n_moves_;
    is_known_ = false;
  }

 private:
  uint64_t n_moves_ = 0;
  bool is_known_ = false;
  std::vector<TokenId> tokens_;
  size_t next_ = 0;
};

}  // namespace cfgmask
