#include "matcher_checks.h"

#include <span>
#include <string>

#include "check.h"
#include "vocab/vocabulary.h"

namespace cfgmask::testing {

Bits mask_of(Matcher& matcher) {
  Bits bits(matcher.grammar().vocabulary().n_words(), 0xDEADBEEF);
  matcher.fill_mask(bits);
  return bits;
}

bool has(const Bits& bits, TokenId token) { return (bits[token >> 5] >> (token & 31)) & 1; }

std::vector<TokenId> tokens_of(const Bits& bits) {
  std::vector<TokenId> tokens;
  for (TokenId t = 0; t < bits.size() * 32; ++t)
    if (has(bits, t)) tokens.push_back(t);
  return tokens;
}

void check_mask(Matcher& matcher) {
  const Vocabulary& vocabulary = matcher.grammar().vocabulary();
  const Bits mask = mask_of(matcher);
  for (TokenId t = 0; t < vocabulary.n_vocab; ++t) {
    Matcher fork = matcher;
    CHECK(fork.advance(t) == has(mask, t));
    CHECK(fork.n_steps() == matcher.n_steps() + (has(mask, t) ? 1 : 0));
  }
  for (TokenId t = vocabulary.n_vocab; t < mask.size() * 32; ++t) CHECK(!has(mask, t));
  CHECK(mask_of(matcher) == mask);
}

void check_steps(Matcher& matcher, TokenId token) {
  const Bits before = mask_of(matcher);
  const size_t n_steps = matcher.n_steps();
  const TokenId pair[] = {token, token};
  const size_t n_fit = matcher.try_advance(pair, false);
  CHECK(n_fit <= 2);
  CHECK((n_fit > 0) == has(before, token));
  CHECK(matcher.n_steps() == n_steps);

  Matcher fork = matcher;
  if (!fork.advance(token)) return;
  const Bits after = mask_of(fork);
  CHECK(fork.advance(token) == (n_fit == 2));
  CHECK(!fork.rollback(fork.n_steps() + 1));
  CHECK(fork.rollback(fork.n_steps() - n_steps));
  CHECK(mask_of(fork) == before);
  CHECK(fork.advance(token));
  CHECK(mask_of(fork) == after);
  CHECK(mask_of(matcher) == before);
}

void check_forced_bytes(Matcher& matcher) {
  constexpr size_t kMaxBytes = 64;
  const std::string forced = matcher.forced_bytes(kMaxBytes);
  CHECK(forced.size() <= kMaxBytes);
  if (forced.empty()) return;
  CHECK(!matcher.is_accepting());
  Matcher fork = matcher;
  CHECK(fork.advance_bytes(forced) == forced.size());
  for (unsigned b = 0; b < 256; ++b) {
    const char other[] = {static_cast<char>(b)};
    Matcher probe = matcher;
    CHECK((probe.advance_bytes({other, 1}) == 1) == (other[0] == forced[0]));
  }
}

void check_walk(ByteSource& source, const std::shared_ptr<CompiledGrammar>& grammar, bool free_of_dead_ends) {
  constexpr uint32_t kMaxSteps = 12;
  Matcher matcher(grammar);
  for (uint32_t step = 0; step < kMaxSteps; ++step) {
    check_mask(matcher);
    const std::vector<TokenId> allowed = tokens_of(mask_of(matcher));
    if (free_of_dead_ends) CHECK(!allowed.empty());
    if (allowed.empty() || source.used_up()) return;
    const TokenId token = allowed[source.below(static_cast<uint32_t>(allowed.size()))];
    check_steps(matcher, token);
    if (!matcher.is_finished()) check_forced_bytes(matcher);
    if (source.below(4) == 0) {
      const Bits before = mask_of(matcher);
      {
        const CompiledGrammar::Guard guard(*grammar);
        grammar->clear_masks();
      }
      CHECK(mask_of(matcher) == before);
    }
    if (source.below(8) == 0) CHECK(matcher.rollback(source.below(static_cast<uint32_t>(matcher.n_steps() + 1))));
    (void)matcher.advance(token);
  }
}

}  // namespace cfgmask::testing
