// Decompositions of matrices that are large enough to go by blocks.
#include <gtest/gtest.h>

#include "backends/cpu/cpu_testutil.h"

namespace emplace::cpu {
namespace {

constexpr int64_t kRows = 150, kColumns = 70;  // no multiples of any block

// Numbers between -1 and 1 without a pattern; `more` on the diagonal.
template <class T>
Tensor numbers(int64_t rows, int64_t columns, double more = 0) {
  Tensor t(DTypeOf<T>::value, Shape{rows, columns});
  uint32_t state = 12345;
  for (int64_t i = 0; i < rows * columns; ++i) {
    state = state * 1664525 + 1013904223;
    const double here = i / columns == i % columns ? more : 0;
    t.data<T>()[i] = static_cast<T>(static_cast<double>(state >> 8) / (1 << 23) - 1 + here);
  }
  return t;
}

template <class T>
Tensor product(const Tensor& a, const Tensor& b, bool adjoint = false) {
  const int64_t m = adjoint ? a.dim(1) : a.dim(0), k = adjoint ? a.dim(0) : a.dim(1), n = b.dim(1);
  Tensor c(DTypeOf<T>::value, Shape{m, n});
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t p = 0; p < k; ++p)
        sum += static_cast<double>(a.data<T>()[adjoint ? p * m + i : i * k + p]) *
               static_cast<double>(b.data<T>()[p * n + j]);
      c.data<T>()[i * n + j] = static_cast<T>(sum);
    }
  return c;
}

template <class T>
double difference(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.shape(), b.shape());
  double most = 0;
  for (int64_t i = 0; i < a.num_elements(); ++i)
    most = std::max(most, std::abs(static_cast<double>(a.data<T>()[i]) -
                                   static_cast<double>(b.data<T>()[i])));
  return most;
}

// Only one triangle of it.
template <class T>
Tensor triangle(const Tensor& m, bool lower, bool ones = false) {
  const int64_t n = m.dim(0);
  Tensor t(DTypeOf<T>::value, m.shape());
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) {
      const bool inside = lower ? j <= i : j >= i;
      t.data<T>()[i * n + j] = !inside ? T(0) : ones && i == j ? T(1) : m.data<T>()[i * n + j];
    }
  return t;
}

template <class T>
class Linear : public testing::Test {
 public:
  static constexpr double kNear = sizeof(T) == 4 ? 1e-3 : 1e-10;
};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(Linear, Precisions);

TYPED_TEST(Linear, SolvesTrianglesOfEitherKind) {
  using T = TypeParam;
  const Tensor m = numbers<T>(kRows, kRows, 20), b = numbers<T>(kRows, kColumns);
  for (const bool lower : {true, false})
    for (const bool adjoint : {true, false}) {
      const Tensor x = op("MatrixTriangularSolve", {m, b}, {{"lower", lower}, {"adjoint", adjoint}});
      EXPECT_LT((difference<T>(product<T>(triangle<T>(m, lower), x, adjoint), b)), this->kNear);
    }
}

TYPED_TEST(Linear, InvertsAndSolves) {
  using T = TypeParam;
  const Tensor m = numbers<T>(kRows, kRows), b = numbers<T>(kRows, kColumns);
  for (const bool adjoint : {true, false}) {
    const AttrList attrs = {{"adjoint", adjoint}};
    const Tensor x = op("MatrixSolve", {m, b}, attrs), inverse = op("MatrixInverse", {m}, attrs);
    EXPECT_LT((difference<T>(product<T>(m, x, adjoint), b)), this->kNear);
    EXPECT_LT((difference<T>(product<T>(inverse, b), x)), this->kNear);
  }
}

TYPED_TEST(Linear, FactorsWithRowsExchanged) {
  using T = TypeParam;
  const Tensor m = numbers<T>(kRows, kRows);
  const auto found = kernels().run("Lu", {m}, {{"output_idx_type", DType::kInt64}});
  const Tensor both = product<T>(triangle<T>(found[0], true, true), triangle<T>(found[0], false));
  Tensor exchanged(m.dtype(), m.shape());
  for (int64_t i = 0; i < kRows; ++i)
    std::copy_n(m.data<T>() + found[1].template data<int64_t>()[i] * kRows, kRows,
                exchanged.data<T>() + i * kRows);
  EXPECT_LT((difference<T>(both, exchanged)), this->kNear);
}

TYPED_TEST(Linear, TakesTheRootOfAPositiveMatrix) {
  using T = TypeParam;
  const Tensor m = numbers<T>(kRows, kRows, 1), square = product<T>(m, m, true);
  const Tensor l = op("Cholesky", {square});
  Tensor turned(l.dtype(), l.shape());
  for (int64_t i = 0; i < kRows; ++i)
    for (int64_t j = 0; j < kRows; ++j) turned.data<T>()[j * kRows + i] = l.data<T>()[i * kRows + j];
  EXPECT_LT((difference<T>(product<T>(turned, turned, true), square)), this->kNear);
}

TEST(LinearErrors, TellOfWhatHasNoAnswer) {
  Tensor singular = numbers<float>(kRows, kRows);
  std::fill_n(singular.data<float>() + 7 * kRows, kRows, 0.0f);
  EXPECT_THROW(op("MatrixInverse", {singular}, {{"adjoint", false}}), Error);
  EXPECT_EQ(list<float>(op("MatrixDeterminant", {singular})), std::vector<float>{0});
  EXPECT_TRUE(std::isnan(*op("Cholesky", {numbers<float>(kRows, kRows)}).data<float>()));
}

}  // namespace
}  // namespace emplace::cpu
