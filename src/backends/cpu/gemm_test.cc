#include "backends/cpu/gemm.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <thread>

#include "backends/cpu/cpu_kernels.h"
#include "backends/cpu/cpu_testutil.h"

namespace emplace::cpu {
namespace {

struct Form {
  int64_t m, n, k;
  bool transpose_a, transpose_b;
};

// Every way through: vectors, single strips, edges on all sides, several blocks each way.
std::vector<Form> forms() {
  std::vector<Form> all;
  for (auto [m, n, k] : std::vector<std::array<int64_t, 3>>{
           {1, 1, 1},     {1, 1, 300},   {1, 70, 33},   {70, 1, 33},   {2, 32, 5},   {5, 64, 40},
           {6, 16, 8},    {7, 17, 9},    {13, 31, 23},  {64, 10, 500}, {50, 70, 90}, {33, 300, 400},
           {200, 65, 385}, {96, 256, 384}, {130, 520, 800}, {300, 40, 4000}, {12, 1100, 3900}})
    for (int t = 0; t < 4; ++t) all.push_back({m, n, k, (t & 1) != 0, (t & 2) != 0});
  return all;
}

template <class T>
Tensor random_matrix(int64_t rows, int64_t columns, uint32_t seed) {
  std::mt19937 bits(seed);
  Tensor t(DTypeOf<T>::value, {rows, columns});
  for (T& x : std::span(t.data<T>(), static_cast<size_t>(rows * columns)))
    x = static_cast<T>(static_cast<int>(bits() % 2001) - 1000) / T(512);
  return t;
}

template <class T>
std::pair<Tensor, Tensor> operands(const Form& f) {
  return {f.transpose_a ? random_matrix<T>(f.k, f.m, 1) : random_matrix<T>(f.m, f.k, 1),
          f.transpose_b ? random_matrix<T>(f.n, f.k, 2) : random_matrix<T>(f.k, f.n, 2)};
}

Tensor product(TestKernels& with, const Form& f, const Tensor& a, const Tensor& b) {
  return with.run1("MatMul", {a, b}, {{"T", a.dtype()}, {"transpose_a", f.transpose_a},
                                      {"transpose_b", f.transpose_b}});
}

std::string describe(const Form& f) {
  return std::to_string(f.m) + "x" + std::to_string(f.n) + "x" + std::to_string(f.k) +
         (f.transpose_a ? " T" : " N") + (f.transpose_b ? "T" : "N");
}

template <class T>
void expect_right(const Form& f) {
  const auto [a, b] = operands<T>(f);
  const Tensor c = product(kernels(), f, a, b);
  ASSERT_EQ(c.shape(), Shape({f.m, f.n})) << describe(f);
  const T *x = a.template data<T>(), *y = b.template data<T>();
  const double allowed = (sizeof(T) == 4 ? 3e-6 : 1e-14) * static_cast<double>(f.k);
  std::mt19937 pick(7);
  for (int checked = 0; checked < 500; ++checked) {
    const int64_t i = checked < f.m ? checked : pick() % static_cast<uint64_t>(f.m);
    const int64_t j = checked < 250 ? f.n - 1 - checked % f.n : pick() % static_cast<uint64_t>(f.n);
    double sum = 0;
    for (int64_t p = 0; p < f.k; ++p)
      sum += static_cast<double>(x[f.transpose_a ? p * f.m + i : i * f.k + p]) *
             static_cast<double>(y[f.transpose_b ? j * f.k + p : p * f.n + j]);
    ASSERT_NEAR(c.data<T>()[i * f.n + j], sum, allowed) << describe(f) << " at " << i << "," << j;
  }
}

TEST(Gemm, FloatsOfEveryShapeAndForm) {
  for (const Form& f : forms()) expect_right<float>(f);
}

TEST(Gemm, DoublesOfEveryShapeAndForm) {
  for (const Form& f : forms()) expect_right<double>(f);
}

TEST(Gemm, BitsDoNotDependOnTheNumberOfThreads) {
  KernelRegistry registry;
  register_cpu_kernels(registry);
  TestKernels alone(registry, 0), many(registry, 5);
  for (const Form& f : forms()) {
    const auto [a, b] = operands<float>(f);
    EXPECT_EQ(list<float>(product(alone, f, a, b)), list<float>(product(many, f, a, b)))
        << describe(f);
  }
}

#if defined(EMPLACE_WITH_DNNL)
TEST(Gemm, OneDnnKeepsToTheCallingThread) {
  auto* threads = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_get_max_threads"));
  if (!threads) GTEST_SKIP() << "this oneDNN does not use OpenMP";
  std::thread([&] {
    one_dnnl_thread();
    EXPECT_EQ(threads(), 1);
  }).join();
}
#endif

TEST(Gemm, NanAndInfinityReachOnlyTheirRowAndColumn) {
  const Form f{20, 40, 30, false, false};
  auto [a, b] = operands<float>(f);
  a.data<float>()[3 * 30 + 29] = std::numeric_limits<float>::quiet_NaN();
  b.data<float>()[5 * 40 + 39] = std::numeric_limits<float>::infinity();
  const Tensor c = product(kernels(), f, a, b);
  for (int64_t i = 0; i < 20; ++i)
    for (int64_t j = 0; j < 40; ++j)
      EXPECT_EQ(std::isfinite(c.data<float>()[i * 40 + j]), i != 3 && j != 39) << i << "," << j;
}

}  // namespace
}  // namespace emplace::cpu
