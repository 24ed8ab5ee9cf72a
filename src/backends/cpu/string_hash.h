#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace emplace::cpu {

// FarmHash's fingerprint of 64 bits: the same on every machine, for ever.
uint64_t fingerprint64(std::string_view s);
// SipHash-2-4.
uint64_t sip_hash(std::array<uint64_t, 2> key, std::string_view s);
// MurmurHash64A with the seed that StringToHashBucket always had.
uint64_t murmur_hash(std::string_view s);

}  // namespace emplace::cpu
