#include "kernel/host_function.h"

#include <gtest/gtest.h>

#include "base/stop_scope.h"
#include "emplace/eager.h"
#include "kernel/test_kernel.h"

namespace emplace {
namespace {

class HostFunctions : public testing::Test {
 protected:
  HostFunctions() {
    for (KernelRow& row : host_function_kernels("CPU")) registry_.add(std::move(row));
    StopScope::set_look([] {});  // so they are called at once
  }
  ~HostFunctions() override { StopScope::set_look(nullptr); }
  std::vector<Tensor> run(std::vector<Tensor> inputs) {
    const std::vector<DType> types(inputs.size(), DType::kFloat);
    return TestKernels(registry_).run("PyFunc", std::move(inputs),
                                      {{"token", std::string("pyfunc_7")},
                                       {"Tin", types},
                                       {"Tout", std::vector<DType>{DType::kFloat}}});
  }
  std::string refusal() {
    try {
      run({});
    } catch (const Error& e) {
      return e.message();
    }
    return "";
  }
  KernelRegistry registry_;
};

TEST_F(HostFunctions, HandOverCopiesOfTheirInputs) {
  Tensor given = Tensor::scalar(2.0f);
  set_host_function([](const HostCall& call) {
    EXPECT_EQ(call.op, "PyFunc");
    EXPECT_EQ(call.token, "pyfunc_7");
    const Tensor& x = call.inputs[0];
    *x.data<float>() *= 3;
    return std::vector<Tensor>{x};
  });
  EXPECT_EQ(run({given})[0].item<float>(), 6);
  EXPECT_EQ(given.item<float>(), 2);
}

TEST_F(HostFunctions, RefuseAWrongNumberOfResults) {
  set_host_function([](const HostCall&) { return std::vector<Tensor>{}; });
  EXPECT_EQ(refusal(), "pyfunc_7 returns 0 values, but expects to see 1 values.");
}

TEST_F(HostFunctions, RefuseResultsOfAnotherType) {
  set_host_function([](const HostCall&) { return std::vector<Tensor>{Tensor::scalar(2.0)}; });
  EXPECT_EQ(refusal(), "0-th value returned by pyfunc_7 is double, but expects float");
}

TEST_F(HostFunctions, FailWithWhatTheFunctionThrows) {
  set_host_function([](const HostCall&) -> std::vector<Tensor> { throw out_of_range("ended"); });
  EXPECT_EQ(refusal(), "ended");
}

}  // namespace
}  // namespace emplace
