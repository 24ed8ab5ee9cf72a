#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "emplace/attr.h"
#include "emplace/shape.h"

namespace emplace {

// What a[1:5:2, ..., newaxis, 3] says, as StridedSlice and its kin carry it: three vectors, and
// masks whose bit i speaks of entry i.
struct SliceSpec {
  std::optional<std::vector<int64_t>> begin, end, strides;  // nothing: not known yet
  int entries = 0;
  int64_t begin_mask = 0, end_mask = 0, ellipsis_mask = 0, new_axis_mask = 0, shrink_mask = 0;

  void read_masks(const AttrList& attrs);
};

// What a spec means for a shape.
struct SlicePlan {
  struct Dim {
    int64_t begin = 0, stride = 1, size = Shape::kUnknown;
    int result = -1;  // its dimension of the result; -1: dropped
  };
  std::vector<Dim> dims;  // one for each dimension of the input
  Shape kept;             // sizes before axes are dropped and added: as `dims`
  Shape result;
};

// Throws InvalidArgument in TensorFlow's words. Sizes are unknown where the spec or the shape is.
SlicePlan plan_slice(const Shape& in, const SliceSpec& spec);

}  // namespace emplace
