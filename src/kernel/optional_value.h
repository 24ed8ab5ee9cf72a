#pragma once
#include <vector>

#include "emplace/tensor.h"

namespace emplace {

// A value that may be missing, in a DT_VARIANT scalar.
class OptionalValue final : public VariantValue {
 public:
  std::string_view type_name() const override { return "tensorflow::data::Optional"; }
  bool present = false;
  std::vector<Tensor> values;
};

Tensor optional_tensor(bool present, std::vector<Tensor> values);
// InvalidArgument if the tensor holds none.
const OptionalValue& optional_in(const Tensor& t);

}  // namespace emplace
