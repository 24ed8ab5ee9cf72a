#pragma once
#include <string>
#include <vector>

#include "emplace/eager.h"
#include "emplace/ops.h"

namespace emplace::data {

inline Tensor n(int64_t v) { return Tensor::scalar(v); }

// Pipelines of eager operations, for tests.
class Pipeline {
 public:
  using Body = std::function<std::vector<Output>(Graph&, const std::vector<Output>&)>;

  // A function of inputs of these dtypes; gives its name.
  std::string function(const std::vector<DType>& inputs, const Body& body, bool stateful = false);

  Tensor range(int64_t stop);
  Tensor slices(std::vector<Tensor> columns);
  // `op` over datasets and further inputs, whose elements are of these types.
  Tensor dataset(std::string_view op, std::vector<Tensor> inputs, std::vector<DType> types,
                 AttrList attrs = {});
  // … of int64 elements.
  Tensor dataset(std::string_view op, std::vector<Tensor> inputs, AttrList attrs = {}) {
    return dataset(op, std::move(inputs), {DType::kInt64}, std::move(attrs));
  }
  Tensor map(Tensor input, const std::string& f, std::vector<DType> types = {DType::kInt64});

  Tensor iterator(const Tensor& dataset, std::vector<DType> types = {DType::kInt64});
  // The next element; OutOfRange at the end.
  std::vector<Tensor> next(const Tensor& iterator, std::vector<DType> types = {DType::kInt64});
  // All elements of a dataset of one component, as one text: "0 1 [2 3]".
  std::string all(const Tensor& dataset, std::vector<DType> types = {DType::kInt64});

  Eager e;

 private:
  int functions_ = 0;
};

}  // namespace emplace::data
