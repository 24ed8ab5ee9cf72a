#include "data/dataset.h"

namespace emplace::data {

DatasetPtr dataset_in(const Tensor& t) {
  if (t.dtype() != DType::kVariant || t.num_elements() != 1)
    throw invalid_argument("Dataset tensor must be a scalar of dtype DT_VARIANT.");
  auto d = std::dynamic_pointer_cast<const Dataset>(t.data<Variant>()->value);
  if (!d) throw invalid_argument("Tensor must be a Dataset object.");
  return d;
}

Tensor dataset_tensor(std::shared_ptr<Dataset> dataset) {
  Tensor t(DType::kVariant, Shape{});
  t.data<Variant>()->value = std::move(dataset);
  return t;
}

}  // namespace emplace::data
