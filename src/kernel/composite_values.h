#pragma once
#include <cstdint>
#include <vector>

#include "emplace/tensor.h"

// What stands for sparse and ragged tensors in DT_VARIANT.
namespace emplace {

// One of the three tensors of a sparse one.
class SparsePart final : public VariantValue {
 public:
  explicit SparsePart(Tensor t) : tensor(std::move(t)) {}
  std::string_view type_name() const override { return "tensorflow::Tensor"; }
  const Tensor tensor;
};

// A ragged tensor: where the rows begin and end, level by level, and the values
// of the innermost.
class RaggedValue final : public VariantValue {
 public:
  using Splits = std::vector<int64_t>;
  RaggedValue(std::vector<Splits> nested, Tensor values)
      : nested(std::move(nested)), values(std::move(values)) {}
  std::string_view type_name() const override { return "RaggedTensorVariant"; }
  // How many rows there are, of values where nothing is ragged.
  int64_t rows() const {
    if (!nested.empty()) return static_cast<int64_t>(nested[0].size()) - 1;
    return values.rank() == 0 ? 1 : values.dim(0);
  }

  const std::vector<Splits> nested;
  const Tensor values;
};

}  // namespace emplace
