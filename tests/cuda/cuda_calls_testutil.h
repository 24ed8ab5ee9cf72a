#pragma once
#include <gtest/gtest.h>

#include "all/cuda.h"
#include "backends/cpu/golden_testutil.h"
#include "emplace/emplace.h"

namespace emplace {

// Numbers in [-1, 1) that repeat late.
inline Tensor numbers(Shape shape) {
  Tensor t(DType::kFloat, std::move(shape));
  for (int64_t i = 0; i < t.num_elements(); ++i)
    t.data<float>()[i] = static_cast<float>(i * 7919 % 10007) / 5003.5f - 1.f;
  return t;
}
inline Tensor ints(std::initializer_list<int32_t> v) {
  return Tensor::of<int32_t>(v, {static_cast<int64_t>(v.size())});
}

// Calls of single ops on a card beside the CPU's.
class CudaCalls : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!cuda_state().backend || cuda_state().cards.empty()) GTEST_SKIP() << "no card here";
  }
  static SessionOptions growing() {
    SessionOptions o;
    o.gpu_options.allow_growth = true;
    return o;
  }
  void same(const char* op, std::vector<Tensor> inputs, AttrList attrs = {}, int slack = 300) {
    SCOPED_TRACE(op);
    try {
      const auto want = eager_.execute(op, inputs, attrs, "/cpu:0");
      const auto got = eager_.execute(op, inputs, attrs, "/gpu:0");
      for (size_t i = 0; i < want.size(); ++i)
        EXPECT_EQ(cpu::difference(eager_.copy_to(got[i], ""), want[i], slack), "")
            << "output " << i;
    } catch (const Error& e) {
      ADD_FAILURE() << e.what();
    }
  }
  Eager eager_{growing()};
  Tensor want_;
};

}  // namespace emplace
