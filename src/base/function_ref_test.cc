#include "base/function_ref.h"

#include <gtest/gtest.h>

#include <memory>

namespace emplace {
namespace {

int apply(FunctionRef<int(int)> f, int x) { return f(x); }
int twice(int x) { return 2 * x; }

TEST(FunctionRef, CallsALambdaWithItsState) {
  int base = 40;
  EXPECT_EQ(apply([&](int x) { return base + x; }, 2), 42);
}

TEST(FunctionRef, CallsAPlainFunction) { EXPECT_EQ(apply(*twice, 21), 42); }

TEST(FunctionRef, SeesTheCallableItselfNotACopy) {
  int calls = 0;
  auto count = [calls](int) mutable { return ++calls; };
  FunctionRef<int(int)> ref = count;
  ref(0);
  EXPECT_EQ(ref(0), 2);
  EXPECT_EQ(count(0), 3);
}

TEST(FunctionRef, ForwardsMoveOnlyArguments) {
  auto take = [](std::unique_ptr<int> p) { return *p; };
  FunctionRef<int(std::unique_ptr<int>)> ref = take;
  EXPECT_EQ(ref(std::make_unique<int>(7)), 7);
}

TEST(FunctionRef, CopiesReferToTheSameCallable) {
  int calls = 0;
  auto count = [&] { ++calls; };
  FunctionRef<void()> a = count, b = a;
  a();
  b();
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace emplace
