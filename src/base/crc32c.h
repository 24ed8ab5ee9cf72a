#pragma once
#include <cstdint>
#include <string_view>

namespace emplace {

// CRC-32C (Castagnoli), as checkpoints and record files use it.
uint32_t extend_crc32c(uint32_t crc, std::string_view bytes);
inline uint32_t crc32c(std::string_view bytes) { return extend_crc32c(0, bytes); }

// Checksums that are stored beside what they cover are masked: a checksum of data that holds
// checksums would be weak.
inline uint32_t mask_crc(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }

}  // namespace emplace
