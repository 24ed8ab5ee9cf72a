#pragma once
#include <gtest/gtest.h>

#include "emplace/emplace.h"

namespace emplace {

// Ops that a GPU has and whose arguments are all the host's: mutexes, messages, variants.
inline void host_side_calls(Eager& eager) {
  using Tensors = std::vector<Tensor>;
  const char* const gpu = "/gpu:0";
  const AttrList named = {{"shared_name", std::string("a mutex")}};
  const Tensor mutex = eager.execute("MutexV2", {}, named, gpu)[0];
  for (int i = 0; i < 3; ++i) {
    const Tensor lock = eager.execute("MutexLock", Tensors{mutex}, {}, gpu)[0];
    eager.execute("ConsumeMutexLock", Tensors{lock}, {}, gpu);
  }

  const AttrList variable = {{"dtype", DType::kFloat}, {"shape", Shape{2}}, {"shared_name", std::string("read")}};
  const Tensor handle = eager.execute("VarHandleOp", {}, variable, gpu)[0];
  eager.execute("AssignVariableOp", Tensors{handle, Tensor::of({1.f, 2.f}, {2})}, {}, gpu);
  eager.execute("DisableCopyOnRead", Tensors{handle}, {}, gpu);

  const Tensor indices = Tensor::of<int64_t>({0, 1, 2, 0}, {2, 2}), sizes = Tensor::of<int64_t>({3, 2}, {2});
  const Tensor values = Tensor::of({5.f, 6.f}, {2});
  const Tensor message = eager.execute("SerializeSparse", Tensors{indices, values, sizes},
                                       {{"out_type", DType::kVariant}}, "/cpu:0")[0];
  const auto sparse = eager.execute("DeserializeSparse", Tensors{message}, {{"dtype", DType::kFloat}}, gpu);
  EXPECT_EQ(eager.to_host(sparse[0]).str(), indices.str());
  EXPECT_EQ(eager.to_host(sparse[1]).str(), values.str());

  const Tensor splits = Tensor::of<int64_t>({0, 2, 2, 3}, {4}), flat = Tensor::of({1.f, 2.f, 3.f}, {3});
  const Tensor ragged = eager.execute("RaggedTensorToVariant", Tensors{splits, flat},
                                      {{"RAGGED_RANK", 1}, {"batched_input", false}}, "/cpu:0")[0];
  const auto rows = eager.execute("RaggedTensorFromVariant", Tensors{ragged},
                                  {{"input_ragged_rank", 1}, {"output_ragged_rank", 1}, {"Tvalues", DType::kFloat}}, gpu);
  EXPECT_EQ(eager.to_host(rows[0]).str(), splits.str());
  EXPECT_EQ(eager.to_host(rows[1]).str(), flat.str());
}

}  // namespace emplace
