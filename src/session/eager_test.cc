#include "emplace/eager.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace emplace {
namespace {

TEST(EagerCall, ServesCallsOfOtherShapes) {
  Eager e;
  const Tensor a = Tensor::of<float>({1, 2}, {2}), b = Tensor::of<float>({1, 2, 3}, {3});
  const auto call = e.prepare("AddV2", std::vector{a, a});
  EXPECT_TRUE(call->reusable());
  Tensor small[3] = {a, a, {}}, large[3] = {b, b, {}};
  e.run(*call, small);
  e.run(*call, large);
  EXPECT_EQ(small[2].str(), "[2. 4.]");
  EXPECT_EQ(large[2].str(), "[2. 4. 6.]");
}

TEST(EagerCall, SharesThePreparedKernel) {
  Eager e;
  const std::vector<Tensor> one = {Tensor::scalar(1.0f)};
  EXPECT_EQ(e.prepare("Neg", one), e.prepare("Neg", one));
  EXPECT_NE(e.prepare("Neg", one), e.prepare("Neg", std::vector{Tensor::scalar(1.0)}));
}

TEST(EagerCall, OfAnOperationWithStateIsForOneUse) {
  Eager e;
  const std::vector<Tensor> shape = {Tensor::of<int32_t>({2}, {1})};
  const auto call = e.prepare("RandomUniform", shape, {{"dtype", DType::kFloat}});
  EXPECT_FALSE(call->reusable());
}

TEST(EagerCall, RefusesDtypesWithoutAKernel) {
  Eager e;
  EXPECT_THROW(e.prepare("MatMul", std::vector{Tensor::scalar(true), Tensor::scalar(true)}), Error);
}

TEST(Eager, HasTheDevicesOfItsTask) {
  Eager eager({}, "/job:worker/task:1");
  const std::string cpu = "/job:worker/replica:0/task:1/device:CPU:0";
  EXPECT_EQ(eager.list_devices().front().name, cpu);
  EXPECT_EQ(eager.resolve("/cpu:0"), cpu);
  EXPECT_EQ(eager.device_of(eager.execute("Neg", {{Tensor::scalar(1.0f)}}, {}, cpu)[0]), cpu);
}

TEST(Eager, NamesTheOperationThatFailed) {
  Eager e;
  const std::vector<Tensor> ab = {Tensor::of<float>({1, 2}, {2}),
                                  Tensor::of<float>({1, 2, 3}, {3})};
  try {
    e.execute("AddV2", ab);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.op(), "AddV2");
  }
}

TEST(Eager, MovesInputsToTheDeviceOfTheCall) {
  SessionOptions options;
  options.virtual_gpus = 2;
  Eager e(options);
  const Tensor a = e.copy_to(Tensor::of<float>({1, 2}, {2}), "/gpu:0");
  const Tensor sum = e.execute("AddV2", std::vector{a, a}, {}, "/gpu:1").at(0);
  EXPECT_EQ(e.device_of(sum), "/job:localhost/replica:0/task:0/device:GPU:1");
  EXPECT_EQ(e.to_host(sum).str(), "[2. 4.]");
}

TEST(Eager, TellsLongAttributesApart) {
  Eager e;
  const std::string end(100, '.');
  for (const char* middle : {"a", "b"}) {
    const std::string text = end + middle + end;
    const Tensor said = e.execute("StringFormat", std::vector{Tensor::scalar<int64_t>(1)},
                                  {{"T", std::vector<DType>{DType::kInt64}}, {"template", text + "%s"}, {"placeholder", "%s"}})
                            .at(0);
    EXPECT_EQ(said.values<std::string>()[0], text + "1");
  }
}

class EagerQueue : public ::testing::Test {
 protected:
  Tensor make(int64_t capacity) {
    const AttrList attrs = {{"component_types", std::vector<DType>{DType::kFloat}},
                            {"capacity", capacity}};
    return e.execute("FIFOQueueV2", {}, attrs).at(0);
  }
  void put(float v) { e.execute("QueueEnqueueV2", std::vector{queue, Tensor::scalar(v)}); }
  float take() {
    const AttrList attrs = {{"component_types", std::vector<DType>{DType::kFloat}}};
    return e.execute("QueueDequeueV2", std::vector{queue}, attrs).at(0).item<float>();
  }
  Eager e;
  Tensor queue = make(1);
};

TEST_F(EagerQueue, TakesWaitForWhatAnotherThreadPuts) {
  std::thread other([this] { put(3.f); });
  EXPECT_EQ(take(), 3.f);
  other.join();
}

TEST_F(EagerQueue, AWaitEndsWithWhatTheLookThrows) {
  set_look([] { throw cancelled("enough"); });
  std::atomic<bool> over{false};
  std::thread other([&] {
    while (!over) ask_to_look();
  });
  EXPECT_THROW(take(), Error);
  over = true;
  other.join();
  set_look(nullptr);
  put(4.f);
  EXPECT_EQ(take(), 4.f);  // the one that was given up took nothing
}

TEST_F(EagerQueue, AWaitEndsAtTheDeadline) {
  e.set_operation_timeout(10);
  try {
    take();
    ADD_FAILURE() << "there was nothing to take";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kDeadlineExceeded);
  }
  e.set_operation_timeout(0);
  put(4.f);
  EXPECT_EQ(take(), 4.f);
}

TEST_F(EagerQueue, AWaitEndsWithAllWork) {
  std::atomic<bool> over{false};
  std::thread other([&] {
    while (!over) cancel_all_work();
  });
  EXPECT_THROW(take(), Error);
  over = true;
  other.join();
  put(4.f);
  EXPECT_EQ(take(), 4.f);
}

TEST(EagerHostFunctions, AreLeftBehindByWorkThatEnds) {
  static std::atomic<bool> begun, may_return, returned;
  begun = may_return = returned = false;
  set_host_function([](const HostCall&) {
    begun = true;
    begun.notify_all();
    may_return.wait(false);
    returned = true;
    return std::vector{Tensor::scalar(1.f)};
  });
  Eager e;
  std::thread other([] {
    begun.wait(false);
    cancel_all_work();
  });
  const AttrList attrs = {{"token", std::string("f")},
                          {"Tin", std::vector<DType>{}},
                          {"Tout", std::vector<DType>{DType::kFloat}}};
  EXPECT_THROW(e.execute("PyFunc", {}, attrs), Error);
  EXPECT_FALSE(returned);
  other.join();
  may_return = true;
  may_return.notify_all();
  while (!returned) std::this_thread::yield();
}

TEST_F(EagerQueue, AClosedQueueEndsTheWait) {
  std::thread other([this] { e.execute("QueueCloseV2", std::vector{queue}); });
  EXPECT_THROW(take(), Error);
  other.join();
}

}  // namespace
}  // namespace emplace
