#pragma once
#include <limits>
#include <optional>
#include <vector>

#include "emplace/graph.h"

namespace emplace {

// What is known, before anything runs, of a small integer (or boolean) scalar or vector: shapes are
// computed from such values. Found when a node is made, from what is known of its inputs, so that chains
// of any length cost nothing more. Entries may be unknown one by one ([?, 3]).
struct KnownValue {
  static constexpr int64_t kUnknown = std::numeric_limits<int64_t>::min();
  static constexpr size_t kMaxElements = 256;

  DType dtype = DType::kInt32;  // or kInt64, kBool; kInvalid: nothing is known of this output
  bool is_scalar = false;
  std::vector<int64_t> values;

  bool is_complete() const;
  Tensor tensor() const;    // of a complete one
  Shape as_shape() const;   // read as a shape; unknown entries become unknown dimensions
};

// What is known of an output; nothing if nothing is.
std::optional<KnownValue> known_value(const Output& output);

// The value itself if it is a constant, or computed from constants as above.
std::optional<Tensor> constant_value(const Output& output);

// What is known of the outputs of a node whose inputs, attributes and output shapes are set;
// empty if nothing.
std::vector<KnownValue> fold(const Node& node);

}  // namespace emplace
