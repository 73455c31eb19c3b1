#include "util/text_hash.h"

#include <bit>
#include <cstring>
#include <random>

#include "util/hash_seed.h"

namespace cfgmask {

namespace {

const uint64_t kSecondSeed = random_word();

// The state of SipHash.
class Sip {
 public:
  Sip(uint64_t key0, uint64_t key1)
      : v0_(key0 ^ 0x736f6d6570736575ULL),
        v1_(key1 ^ 0x646f72616e646f6dULL),
        v2_(key0 ^ 0x6c7967656e657261ULL),
        v3_(key1 ^ 0x7465646279746573ULL) {}

  void add(uint64_t word) {
    v3_ ^= word;
    round();
    v0_ ^= word;
  }
  uint64_t finish() {
    v2_ ^= 0xFF;
    for (int i = 0; i < 3; ++i) round();
    return v0_ ^ v1_ ^ v2_ ^ v3_;
  }

 private:
  void round() {
    v0_ += v1_;
    v2_ += v3_;
    v1_ = std::rotl(v1_, 13) ^ v0_;
    v3_ = std::rotl(v3_, 16) ^ v2_;
    v0_ = std::rotl(v0_, 32);
    v2_ += v1_;
    v0_ += v3_;
    v1_ = std::rotl(v1_, 17) ^ v2_;
    v3_ = std::rotl(v3_, 21) ^ v0_;
    v2_ = std::rotl(v2_, 32);
  }

  uint64_t v0_, v1_, v2_, v3_;
};

}  // namespace

uint64_t random_word() {
  std::random_device source;
  return (uint64_t{source()} << 32) | source();
}

uint64_t text_hash(std::string_view text) {
  Sip sip(kHashSeed, kSecondSeed);
  const char* at = text.data();
  size_t left = text.size();
  for (; left >= sizeof(uint64_t); left -= sizeof(uint64_t), at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    sip.add(word);
  }
  // The rest, and the length above it.
  uint64_t last = 0;
  if (left > 0) std::memcpy(&last, at, left);
  sip.add(last ^ (uint64_t{text.size()} << 56));
  return sip.finish();
}

}  // namespace cfgmask
