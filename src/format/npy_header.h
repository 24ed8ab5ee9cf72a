#pragma once
#include <string_view>

#include "emplace/dtype.h"
#include "emplace/error.h"
#include "emplace/shape.h"

namespace emplace {

// What a .npy file says about itself.
struct NpyHeader {
  DType dtype = DType::kInvalid;
  char kind = 0;     // NumPy's letter: f i u b c S U V
  size_t width = 0;  // bytes of an element in the file
  bool big_endian = false, columns_first = false;
  Shape shape;
  size_t data_offset = 0;
};

Error bad_npy(std::string_view why);
NpyHeader parse_npy_header(std::string_view file);

}  // namespace emplace
