#pragma once
#include <string>
#include <string_view>

namespace emplace {

class Tensor;

// The first elements, rows in brackets: what Assert and Print show ("[1 2][3...]..."). Node definitions
// have them all in a line (Tensor::summary).
std::string summary_in_rows(const Tensor& t, int max_elements);

// Shortest of 6 or 9 (float), 15 or 17 (double) digits that reads back as the same number, as
// TensorFlow writes numbers in its messages.
std::string number_text(float v);
std::string number_text(double v);

// Backslash escapes as in a C string literal; bytes outside ASCII as three octal digits.
std::string c_escaped(std::string_view s);

// Python's repr of bytes: b'ab\x00'.
std::string python_bytes(std::string_view s);

}  // namespace emplace
