#pragma once
#include <string>

#include "kernel/kernel.h"

namespace emplace {

// The letters of dimensions before and after, for DataFormatDimMap and DataFormatVecPermute.
struct LayoutLetters {
  std::string from, to;
  explicit LayoutLetters(const KernelInit& init);  // from attributes
  // Those that stand for the rows of a vector of this shape: all, or a picture's places alone.
  LayoutLetters for_vector(const Shape& shape) const;
};

}  // namespace emplace
