#include "kernel/resources.h"

#include <gtest/gtest.h>

#include "kernel/resource_variable.h"

namespace emplace {
namespace {

Tensor floats(std::initializer_list<float> values) {
  return Tensor::of<float>(values, {static_cast<int64_t>(values.size())});
}

TEST(Variable, ReadingWithoutAValueFailsInTensorFlowsWords) {
  Variable v("w", DType::kFloat, {2}, nullptr);
  EXPECT_FALSE(v.initialized());
  try {
    v.read();
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kFailedPrecondition);
    EXPECT_EQ(e.message(), "Attempting to use uninitialized value w");
  }
}

TEST(Variable, BehindAHandleOneWithoutAValueDoesNotExist) {
  ResourceVariable v("box", "w", DType::kFloat, {2}, nullptr);
  for (const auto& use : {+[](Variable& x) { x.read(); },
                          +[](Variable& x) { x.update(0, [](Tensor&) {}); }}) {
    try {
      use(v);
      ADD_FAILURE();
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::kNotFound);
      EXPECT_EQ(e.message(), "Resource box/w/N10tensorflow3VarE does not exist.");
    }
  }
  EXPECT_THROW(check_exists(v), Error);
  v.assign(floats({1, 2}), 0);
  check_exists(v);
}

TEST(Variable, WritesInPlaceWhenNobodyElseHoldsTheMemory) {
  Variable v("w", DType::kFloat, {2}, nullptr);
  v.assign(floats({1, 2}), 0);
  const void* address = v.read().raw();
  v.assign(floats({3, 4}), 0);
  EXPECT_EQ(v.read().raw(), address);
  v.update(0, [](Tensor& t) { t.data<float>()[0] = 9; });
  EXPECT_EQ(v.read().raw(), address);
  EXPECT_EQ(v.read().values<float>()[0], 9);
}

TEST(Variable, AReaderKeepsWhatItReadWhileOthersWrite) {
  Variable v("w", DType::kFloat, {2}, nullptr);
  v.assign(floats({1, 2}), 0);
  const Tensor before = v.read();
  v.assign(floats({3, 4}), 0);
  v.update(0, [](Tensor& t) { t.data<float>()[1] = 5; });
  EXPECT_EQ(before.values<float>()[0], 1);
  EXPECT_EQ(before.values<float>()[1], 2);
  EXPECT_EQ(v.read().values<float>()[1], 5);
}

TEST(Variable, HandlesThatThePlanHasFinishedWithDoNotCount) {
  Variable v("w", DType::kFloat, {2}, nullptr);
  v.assign(floats({1, 2}), 0);
  const Tensor own = v.read();
  v.assign(floats({3, 4}), 1);
  EXPECT_EQ(own.values<float>()[0], 3);
}

TEST(Variable, ASnapshotHasMemoryOfItsOwn) {
  Variable v("w", DType::kFloat, {1}, nullptr);
  v.assign(floats({1}), 0);
  const Tensor snapshot = v.snapshot();
  v.update(0, [](Tensor& t) { t.data<float>()[0] = 2; });
  EXPECT_EQ(snapshot.item<float>(), 1);
}

TEST(Variable, RefusesAnotherDtype) {
  Variable v("w", DType::kFloat, {1}, nullptr);
  EXPECT_THROW(v.assign(Tensor::scalar<int32_t>(1), 0), Error);
}

TEST(ResourceManager, FindsWhatItMadeAndRefusesAnotherType) {
  struct Other : Resource {
    std::string debug_string() const override { return "other"; }
  };
  ResourceManager m;
  auto make = [] { return std::make_shared<Variable>("w", DType::kFloat, Shape{}, nullptr); };
  auto a = m.find_or_create_as<Variable>("c", "w", make);
  EXPECT_EQ(m.find_or_create_as<Variable>("c", "w", make), a);
  EXPECT_NE(m.find_or_create_as<Variable>("d", "w", make), a);
  EXPECT_THROW(m.find_or_create_as<Other>("c", "w", make), Error);
}

TEST(ResourceManager, ClearingAContainerTakesVariablesTheirValue) {
  ResourceManager m;
  auto make = [] { return std::make_shared<Variable>("w", DType::kFloat, Shape{}, nullptr); };
  auto a = m.find_or_create_as<Variable>("a", "w", make);
  auto b = m.find_or_create_as<Variable>("b", "w", make);
  a->assign(Tensor::scalar(1.f), 0);
  b->assign(Tensor::scalar(1.f), 0);
  m.clear("a");
  EXPECT_FALSE(a->initialized());
  EXPECT_TRUE(b->initialized());
}

}  // namespace
}  // namespace emplace
