// What must hold of any matcher at any point. Each check leaves the matcher where it was.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "byte_source.h"
#include "matcher/matcher.h"

namespace cfgmask::testing {

using Bits = std::vector<uint32_t>;

Bits mask_of(Matcher& matcher);
bool has(const Bits& bits, TokenId token);
std::vector<TokenId> tokens_of(const Bits& bits);

// The mask is what trying every token gives, a second time too; end tokens are in it exactly where the text is
// complete.
void check_mask(Matcher& matcher);
// A fork and a rollback change nothing, `advance` and `try_advance` agree.
void check_steps(Matcher& matcher, TokenId token);
// Forced bytes are accepted, and nothing but their first byte is.
void check_forced_bytes(Matcher& matcher);

// All of these along a random walk, with rollbacks and forgotten masks.
void check_walk(ByteSource& source, const std::shared_ptr<CompiledGrammar>& grammar, bool free_of_dead_ends);

}  // namespace cfgmask::testing
