#include "emplace/eager.h"

#include <gtest/gtest.h>

namespace emplace {
namespace {

SessionOptions gpus(int n) {
  SessionOptions o;
  o.virtual_gpus = n;
  return o;
}

Error error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e;
  }
  return Error(Code::kOk, "");
}

Code code_of(const std::function<void()>& f) { return error_of(f).code(); }

TEST(Eager, RunsAnOperationAtOnce) {
  Eager e(gpus(0));
  const Tensor a = Tensor::of({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}, {2, 3});
  const Tensor b = Tensor::of({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}, {3, 2});
  EXPECT_EQ(e.execute("MatMul", std::vector{a, b})[0].str(), "[[22. 28.]\n [49. 64.]]");
  EXPECT_EQ(code_of([&] { e.execute("MatMul", std::vector{a, a}); }), Code::kInvalidArgument);
  EXPECT_EQ(code_of([&] { e.execute("NoSuchOp", std::vector{a}); }), Code::kNotFound);
}

TEST(Eager, AnOperationTakesAHundredThousandTensors) {
  Eager e(gpus(0));
  const std::vector<Tensor> many(100'000, Tensor::scalar(1.f));
  EXPECT_EQ(e.execute("AddN", many)[0].item<float>(), 100'000.f);
  EXPECT_EQ(e.execute("IdentityN", many).back().item<float>(), 1.f);
}

TEST(Eager, PrefersTheFirstGpuAndCopiesByItself) {
  Eager e(gpus(2));
  const Tensor a = Tensor::of({1.f, 2.f}, {2});
  const Tensor on_gpu = e.execute("Neg", std::vector{a})[0];
  EXPECT_EQ(e.device_of(on_gpu), "/job:localhost/replica:0/task:0/device:GPU:0");
  const Tensor other = e.execute("Add", std::vector{on_gpu, a}, {}, "/gpu:1")[0];
  EXPECT_EQ(e.device_of(other), "/job:localhost/replica:0/task:0/device:GPU:1");
  EXPECT_EQ(e.to_host(other).str(), "[0. 0.]");
}

TEST(Eager, AnUnknownDeviceIsAnErrorUnlessSoft) {
  Eager e(gpus(0));
  const Tensor a = Tensor::scalar(1.f);
  EXPECT_EQ(error_of([&] { e.copy_to(a, "/device:GPU:2"); }).message(),
            "Error copying tensor to device: /job:localhost/replica:0/task:0/device:GPU:2. "
            "/job:localhost/replica:0/task:0/device:GPU:2 unknown device.");
  e.set_soft_placement(true);
  EXPECT_EQ(e.device_of(e.copy_to(a, "/device:GPU:2")),
            "/job:localhost/replica:0/task:0/device:CPU:0");
}

TEST(Eager, ADeviceWithoutAKernelIsAnInvalidArgumentUnlessSoft) {
  Eager e(gpus(1));
  const Tensor a = Tensor::of({1, 2, 3, 4}, {2, 2});
  const auto multiply = [&] { return e.execute("MatMul", std::vector{a, a}, {}, "/gpu:0")[0]; };
  const Error error = error_of(multiply);
  EXPECT_EQ(error.code(), Code::kInvalidArgument);
  EXPECT_EQ(error.message(),
            "Could not satisfy device specification "
            "'/job:localhost/replica:0/task:0/device:GPU:0'. enable_soft_placement=0. Supported "
            "device types [CPU]. All available devices "
            "[/job:localhost/replica:0/task:0/device:GPU:0, "
            "/job:localhost/replica:0/task:0/device:CPU:0].");
  e.set_soft_placement(true);
  EXPECT_EQ(multiply().str(), "[[ 7 10]\n [15 22]]");
}

TEST(Eager, NoKernelOnAnyDeviceIsNotFound) {
  Eager e(gpus(1));
  const auto relu = [&](std::string_view device) {
    return code_of([&] { e.execute("Relu", std::vector{Tensor(DType::kQint8, {1})}, {}, device); });
  };
  EXPECT_EQ(relu(""), Code::kNotFound);
  EXPECT_EQ(relu("/gpu:0"), Code::kNotFound);
}

TEST(Eager, SoftPlacementStaysInItsTask) {
  Eager e(gpus(0));
  e.set_soft_placement(true);
  const Tensor a = Tensor::scalar(1.f);
  const Error error = error_of([&] { e.execute("Neg", std::vector{a}, {}, "/job:foo/cpu:0"); });
  EXPECT_EQ(error.code(), Code::kInvalidArgument);
  EXPECT_EQ(error.message(),
            "Could not satisfy device specification '/job:foo/replica:0/task:0/device:CPU:0'. "
            "enable_soft_placement=1. Supported device types [CPU]. All available devices "
            "[/job:localhost/replica:0/task:0/device:CPU:0].");
  EXPECT_EQ(code_of([&] { e.copy_to(a, "/job:foo/cpu:0"); }), Code::kUnknown);
}

TEST(Eager, LogsEveryOperation) {
  Eager e(gpus(1));
  std::vector<std::string> lines;
  e.set_log([&](const std::string& op, const std::string& device) {
    lines.push_back(op + " " + device);
  });
  e.execute("Neg", std::vector{Tensor::scalar(1.f)}, {}, "/cpu:0");
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0], "Neg /job:localhost/replica:0/task:0/device:CPU:0");
}

TEST(Eager, VariablesAreWrittenAndRead) {
  Eager e(gpus(1));
  const Tensor handle = e.execute("VarHandleOp", {}, {{"dtype", DType::kFloat},
                                                      {"shape", Shape{2}},
                                                      {"shared_name", "v"}})[0];
  e.execute("AssignVariableOp", std::vector{handle, Tensor::of({1.f, 2.f}, {2})});
  e.execute("AssignAddVariableOp", std::vector{handle, Tensor::of({1.f, 1.f}, {2})});
  const Tensor value =
      e.execute("ReadVariableOp", std::vector{handle}, {{"dtype", DType::kFloat}})[0];
  EXPECT_EQ(e.to_host(value).str(), "[2. 3.]");
}

TEST(Eager, RandomNumbersBeginAnewWhenTold) {
  Eager e(gpus(0));
  const Tensor shape = Tensor::of({2}, {1});
  const auto draw = [&] {
    return e.execute("RandomUniform", std::vector{shape},
                     {{"dtype", DType::kFloat}, {"seed", 1}, {"seed2", 2}})[0]
        .str();
  };
  const std::string first = draw();
  EXPECT_NE(draw(), first);
  e.restart_random();
  EXPECT_EQ(draw(), first);
}

}  // namespace
}  // namespace emplace
