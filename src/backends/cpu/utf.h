#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace emplace::cpu {

// One character of a string, or a piece that is none.
struct CodePoint {
  int32_t value = 0;  // negative: not well formed
  int64_t begin = 0;  // its first byte
};

enum class Encoding { kUtf8, kUtf16Be, kUtf32Be, kLatin1, kAscii };

// By the names in use, whatever their case; InvalidArgument for an unknown one.
Encoding encoding_named(std::string_view name);

// The characters of a text. What is not well formed gives one negative value for each longest piece
// that could have begun a character.
std::vector<CodePoint> decode(std::string_view text, Encoding encoding);

bool is_code_point(int64_t value);  // in range, and no surrogate
void append(std::string& text, int32_t code_point, Encoding encoding);

// Bytes that begin a character of UTF-8.
inline bool begins_utf8(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

}  // namespace emplace::cpu
