#include "backends/cpu/string_hash.h"

#include <bit>
#include <cstring>

#include "backends/cpu/text_kernels.h"

namespace emplace::cpu {
namespace {

template <class T>
T fetch(const char* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
uint64_t word(const char* p) { return fetch<uint64_t>(p); }
uint64_t rotated(uint64_t v, int by) { return std::rotr(v, by); }

// ---- FarmHash.

constexpr uint64_t k0 = 0xc3a5c85c97cb3127, k1 = 0xb492b66fbe98f273, k2 = 0x9ae16a3b2f90404f;

uint64_t mixed(uint64_t v) { return v ^ v >> 47; }

uint64_t pair_hash(uint64_t u, uint64_t v, uint64_t multiplier) {
  const uint64_t a = mixed((u ^ v) * multiplier);
  return mixed((v ^ a) * multiplier) * multiplier;
}

uint64_t upto_16(const char* s, uint64_t n) {
  const uint64_t multiplier = k2 + n * 2;
  if (n >= 8) {
    const uint64_t a = word(s) + k2, b = word(s + n - 8);
    return pair_hash(rotated(b, 37) * multiplier + a, (rotated(a, 25) + b) * multiplier,
                     multiplier);
  }
  if (n >= 4) {
    const uint64_t a = fetch<uint32_t>(s);
    return pair_hash(n + (a << 3), fetch<uint32_t>(s + n - 4), multiplier);
  }
  if (n == 0) return k2;
  auto byte = [&](uint64_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(s[i])); };
  const uint32_t y = byte(0) + (byte(n >> 1) << 8);
  const uint32_t z = static_cast<uint32_t>(n) + (byte(n - 1) << 2);
  return mixed(y * k2 ^ z * k0) * k2;
}

uint64_t upto_32(const char* s, uint64_t n) {
  const uint64_t multiplier = k2 + n * 2;
  const uint64_t a = word(s) * k1, b = word(s + 8);
  const uint64_t c = word(s + n - 8) * multiplier, d = word(s + n - 16) * k2;
  return pair_hash(rotated(a + b, 43) + rotated(c, 30) + d, a + rotated(b + k2, 18) + c,
                   multiplier);
}

uint64_t upto_64(const char* s, uint64_t n) {
  const uint64_t multiplier = k2 + n * 2;
  const uint64_t a = word(s) * k2, b = word(s + 8);
  const uint64_t c = word(s + n - 8) * multiplier, d = word(s + n - 16) * k2;
  const uint64_t y = rotated(a + b, 43) + rotated(c, 30) + d;
  const uint64_t z = pair_hash(y, a + rotated(b + k2, 18) + c, multiplier);
  const uint64_t e = word(s + 16) * multiplier, f = word(s + 24);
  const uint64_t g = (y + word(s + n - 32)) * multiplier, h = (z + word(s + n - 24)) * multiplier;
  return pair_hash(rotated(e + f, 43) + rotated(g, 30) + h, e + rotated(f + a, 18) + g, multiplier);
}

struct Two {
  uint64_t first = 0, second = 0;
};

Two weak_32(const char* s, uint64_t a, uint64_t b) {
  const uint64_t w = word(s), x = word(s + 8), y = word(s + 16), z = word(s + 24);
  a += w;
  b = rotated(b + a + z, 21);
  const uint64_t c = a;
  a += x + y;
  return {a + z, b + rotated(a, 44) + c};
}

// The state that runs over blocks of 64 bytes.
struct Farm {
  uint64_t x, y, z;
  Two v, w;
  void block(const char* s, uint64_t multiplier, uint64_t weight) {
    x = rotated(x + y + v.first + word(s + 8), 37) * multiplier;
    y = rotated(y + v.second + word(s + 48), 42) * multiplier;
    x ^= w.second * weight;
    y += v.first * weight + word(s + 40);
    z = rotated(z + w.first, 33) * multiplier;
    v = weak_32(s, v.second * multiplier, x + w.first);
    w = weak_32(s + 32, z + w.second, y + word(s + 16));
    std::swap(z, x);
  }
};

uint64_t longer(const char* s, uint64_t n) {
  constexpr uint64_t kSeed = 81;
  Farm f{kSeed, kSeed * k1 + 113, 0, {}, {}};
  f.z = mixed(f.y * k2 + 113) * k2;
  f.x = f.x * k2 + word(s);
  const uint64_t rest = (n - 1) & 63;
  const char* end = s + (n - 1) / 64 * 64;
  const char* last = end + rest - 63;
  for (; s != end; s += 64) f.block(s, k1, 1);
  const uint64_t multiplier = k1 + ((f.z & 0xff) << 1);
  f.w.first += rest;
  f.v.first += f.w.first;
  f.w.first += f.v.first;
  f.block(last, multiplier, 9);
  return pair_hash(pair_hash(f.v.first, f.w.first, multiplier) + mixed(f.y) * k0 + f.z,
                   pair_hash(f.v.second, f.w.second, multiplier) + f.x, multiplier);
}

// ---- SipHash.

struct Sip {
  uint64_t v0, v1, v2, v3;
  void half(uint64_t& a, uint64_t& b, int left) {
    a += b;
    b = std::rotl(b, left) ^ a;
  }
  void round() {
    half(v0, v1, 13);
    v0 = std::rotl(v0, 32);
    half(v2, v3, 16);
    half(v0, v3, 21);
    half(v2, v1, 17);
    v2 = std::rotl(v2, 32);
  }
  void absorb(uint64_t m) {
    v3 ^= m;
    round();
    round();
    v0 ^= m;
  }
};

// Up to 7 bytes, the lowest first.
uint64_t tail(const char* p, size_t n) {
  uint64_t v = 0;
  for (size_t i = 0; i < n; ++i) v |= uint64_t{static_cast<unsigned char>(p[i])} << (8 * i);
  return v;
}

}  // namespace

uint64_t fingerprint64(std::string_view s) {
  if (s.size() <= 16) return upto_16(s.data(), s.size());
  if (s.size() <= 32) return upto_32(s.data(), s.size());
  if (s.size() <= 64) return upto_64(s.data(), s.size());
  return longer(s.data(), s.size());
}

uint64_t sip_hash(std::array<uint64_t, 2> key, std::string_view s) {
  Sip sip{key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d, key[0] ^ 0x6c7967656e657261,
          key[1] ^ 0x7465646279746573};
  size_t at = 0;
  for (; at + 8 <= s.size(); at += 8) sip.absorb(word(s.data() + at));
  sip.absorb(uint64_t{s.size()} << 56 | tail(s.data() + at, s.size() - at));
  sip.v2 ^= 0xff;
  for (int i = 0; i < 4; ++i) sip.round();
  return sip.v0 ^ sip.v1 ^ sip.v2 ^ sip.v3;
}

uint64_t murmur_hash(std::string_view s) {
  constexpr uint64_t kMultiplier = 0xc6a4a7935bd1e995, kSeed = 0xDECAFCAFFE;
  uint64_t h = kSeed ^ s.size() * kMultiplier;
  size_t at = 0;
  for (; at + 8 <= s.size(); at += 8) {
    const uint64_t k = mixed(word(s.data() + at) * kMultiplier) * kMultiplier;
    h = (h ^ k) * kMultiplier;
  }
  if (at < s.size()) h = (h ^ tail(s.data() + at, s.size() - at)) * kMultiplier;
  return mixed(mixed(h) * kMultiplier);
}

namespace {

template <uint64_t (*kHash)(std::string_view)>
struct Bucket {
  uint64_t buckets;
  void operator()(KernelContext& c) const {
    map_strings<int64_t>(
        c, [&](const std::string& s) { return static_cast<int64_t>(kHash(s) % buckets); });
  }
};
uint64_t buckets_of(const KernelInit& init) {
  const auto n = init.attr<int64_t>("num_buckets");
  if (n < 1) throw invalid_argument("num_buckets must be at least 1");
  return static_cast<uint64_t>(n);
}
template <uint64_t (*kHash)(std::string_view)>
Prepared make(const KernelInit& init) {
  return prepared(Bucket<kHash>{buckets_of(init)});
}

struct Strong {
  uint64_t buckets;
  std::array<uint64_t, 2> key;
  void operator()(KernelContext& c) const {
    map_strings<int64_t>(
        c, [&](const std::string& s) { return static_cast<int64_t>(sip_hash(key, s) % buckets); });
  }
};
Prepared make_strong(const KernelInit& init) {
  const auto& key = init.attr<std::vector<int64_t>>("key");
  if (key.size() != 2) throw invalid_argument("Key must have 2 elements");
  return prepared(Strong{buckets_of(init),
                         {static_cast<uint64_t>(key[0]), static_cast<uint64_t>(key[1])}});
}

}  // namespace

std::vector<KernelRow> string_hash_kernels() {
  return {text_row("StringToHashBucketFast", make<fingerprint64>),
          text_row("StringToHashBucket", make<murmur_hash>),
          text_row("StringToHashBucketStrong", make_strong)};
}

}  // namespace emplace::cpu
