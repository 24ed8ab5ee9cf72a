#include "backends/cpu/radix_sort.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "backends/cpu/cpu_testutil.h"

namespace emplace::cpu {
namespace {

// The places of the k largest by comparing: NaN last, ties in their order.
template <class T>
std::vector<int32_t> largest(const std::vector<T>& x, size_t k) {
  std::vector<int32_t> order(x.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    const T u = x[static_cast<size_t>(a)], v = x[static_cast<size_t>(b)];
    if constexpr (std::is_floating_point_v<T>)
      if (std::isnan(u) || std::isnan(v)) return !std::isnan(u) && std::isnan(v);
    return u > v;
  });
  order.resize(k);
  return order;
}

template <class T>
void compare(const std::vector<T>& x) {
  for (const size_t k : {size_t{1}, x.size() / 40, x.size() / 3, x.size()}) {
    if (k == 0) continue;
    const auto out = kernels().run("TopKV2", {Tensor::vector<T>(x), Tensor::scalar(static_cast<int32_t>(k))},
                                   {{"sorted", true}});
    const auto expected = largest(x, k);
    EXPECT_EQ(list<int32_t>(out[1]), expected) << x.size() << " " << k;
    for (size_t i = 0; i < k; ++i) {
      const T value = x[static_cast<size_t>(expected[i])];
      EXPECT_TRUE(out[0].template data<T>()[i] == value || value != value);
    }
  }
}

template <class T>
void compare_many() {
  std::mt19937_64 random(3);
  for (const size_t n : {1, 2, 100, 512, 513, 5000}) {
    std::vector<T> few(n), many(n);
    for (T& v : few) v = static_cast<T>(random() % 7);
    for (T& v : many) v = static_cast<T>(random());
    if constexpr (std::is_signed_v<T>)
      for (size_t i = 0; i < n; i += 2) many[i] = static_cast<T>(-(many[i] / 2)), few[i] = static_cast<T>(-few[i]);
    compare(few);
    compare(many);
  }
}

TEST(TopK, SortsAsComparingDoes) {
  compare_many<float>();
  compare_many<double>();
  compare_many<int32_t>();
  compare_many<int64_t>();
  compare_many<uint64_t>();
  compare_many<uint8_t>();
  compare_many<int16_t>();
}

TEST(TopK, PutsNanLastAndTakesZerosForEqual) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  compare<float>({-0.f, nan, 0.f, -inf, inf, -0.f, -nan, 1e-45f, -1e-45f});
}

TEST(TopK, KeysFallAsNumbersRise) {
  EXPECT_LT(descending_key(2.f), descending_key(1.f));
  EXPECT_LT(descending_key(1.f), descending_key(-1.f));
  EXPECT_LT(descending_key(-1.f), descending_key(-2.f));
  EXPECT_EQ(descending_key(0.0), descending_key(-0.0));
  EXPECT_LT(descending_key<int8_t>(127), descending_key<int8_t>(-128));
  EXPECT_LT(descending_key<uint16_t>(7), descending_key<uint16_t>(6));
}

TEST(Unique, EachValueOnceInTheOrderOfAppearance) {
  const float nan = std::nanf("");
  const auto out = kernels().run("UniqueWithCounts", {floats({1, nan, 0, -0.f, nan, 1})},
                                 {{"out_idx", DType::kInt32}});
  EXPECT_EQ(list<int32_t>(out[1]), (std::vector<int32_t>{0, 1, 2, 2, 3, 0}));
  EXPECT_EQ(list<int32_t>(out[2]), (std::vector<int32_t>{2, 1, 2, 1}));
}

}  // namespace
}  // namespace emplace::cpu
