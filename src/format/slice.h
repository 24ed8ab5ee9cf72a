#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emplace/proto/tensor.pb.h"
#include "emplace/tensor.h"

namespace emplace {

// A box within a tensor: start and length a dimension; length -1 means all of it.
struct TensorSlice {
  struct Extent {
    int64_t start = 0, length = -1;
    bool operator==(const Extent&) const = default;
  };
  std::vector<Extent> extents;

  // "0,5:-:3,2": one extent a dimension, `-` for all. Throws InvalidArgument.
  static TensorSlice parse(std::string_view text);
  static TensorSlice from_proto(const proto::TensorSliceProto& in);
  void to_proto(proto::TensorSliceProto* out) const;
  bool is_everything() const;
  // The slice with every length filled in; InvalidArgument unless it lies within `shape`.
  TensorSlice within(const Shape& shape) const;
  Shape shape() const;  // of a slice whose lengths are known

  // The key under which a checkpoint keeps this slice of `name`.
  std::string key(std::string_view name) const;
};

// "4,3 0,2:-": the whole tensor's shape and a slice of it.
std::pair<Shape, TensorSlice> parse_shape_and_slice(std::string_view text);

// Copies what two boxes of one tensor have in common; both have their lengths filled in. Returns
// the number of elements copied.
int64_t copy_overlap(const Tensor& from, const TensorSlice& from_box, Tensor& to,
                     const TensorSlice& to_box);

}  // namespace emplace
