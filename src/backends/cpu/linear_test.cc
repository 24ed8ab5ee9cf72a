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

template <class T>
Tensor turned(const Tensor& m) {
  Tensor t(m.dtype(), Shape{m.dim(1), m.dim(0)});
  for (int64_t i = 0; i < m.dim(0); ++i)
    for (int64_t j = 0; j < m.dim(1); ++j)
      t.data<T>()[j * m.dim(0) + i] = m.data<T>()[i * m.dim(1) + j];
  return t;
}

// The columns of m times the numbers of v.
template <class T>
Tensor scaled(const Tensor& m, const Tensor& v) {
  Tensor t(m.dtype(), m.shape());
  for (int64_t i = 0; i < m.num_elements(); ++i)
    t.data<T>()[i] = m.data<T>()[i] * v.data<T>()[i % m.dim(1)];
  return t;
}

template <class T>
Tensor first_columns(const Tensor& m, int64_t count) {
  Tensor t(m.dtype(), Shape{m.dim(0), count});
  for (int64_t i = 0; i < m.dim(0); ++i)
    std::copy_n(m.data<T>() + i * m.dim(1), count, t.data<T>() + i * count);
  return t;
}

template <class T>
void expect_orthogonal(const Tensor& m) {
  Tensor one(m.dtype(), Shape{m.dim(1), m.dim(1)});
  std::fill_n(one.data<T>(), one.num_elements(), T(0));
  for (int64_t i = 0; i < m.dim(1); ++i) one.data<T>()[i * m.dim(1) + i] = T(1);
  EXPECT_LT((difference<T>(product<T>(m, m, true), one)), Linear<T>::kNear);
}

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
  const Tensor upper = turned<T>(l);
  EXPECT_LT((difference<T>(product<T>(upper, upper, true), square)), this->kNear);
}

TYPED_TEST(Linear, FindsEigenvaluesOfTheLowerTriangle) {
  using T = TypeParam;
  const Tensor m = numbers<T>(kRows, kRows);
  const auto found = kernels().run("SelfAdjointEigV2", {m}, {{"compute_v", true}});
  Tensor whole = triangle<T>(m, true);
  for (int64_t i = 0; i < kRows; ++i)
    for (int64_t j = 0; j < i; ++j) whole.data<T>()[j * kRows + i] = whole.data<T>()[i * kRows + j];
  const Tensor &e = found[0], &v = found[1];
  EXPECT_TRUE(std::is_sorted(e.data<T>(), e.data<T>() + kRows));
  expect_orthogonal<T>(v);
  EXPECT_LT((difference<T>(product<T>(whole, v), scaled<T>(v, e))), this->kNear);
  const auto alone = kernels().run("SelfAdjointEigV2", {m}, {{"compute_v", false}});
  EXPECT_LT((difference<T>(alone[0], e)), this->kNear);
}

TYPED_TEST(Linear, TakesMatricesApartByReflections) {
  using T = TypeParam;
  for (const auto& [rows, columns] : {std::pair{kRows, kColumns}, std::pair{kColumns, kRows}})
    for (const bool full : {false, true}) {
      const Tensor m = numbers<T>(rows, columns);
      const auto found = kernels().run("Qr", {m}, {{"full_matrices", full}});
      expect_orthogonal<T>(found[0]);
      EXPECT_LT((difference<T>(product<T>(found[0], found[1]), m)), this->kNear);
      for (int64_t i = 1; i < found[1].dim(0); ++i)
        EXPECT_EQ(found[1].template data<T>()[i * columns], T(0));
    }
}

TYPED_TEST(Linear, FindsSingularValuesOfAnyRank) {
  using T = TypeParam;
  for (const auto& [rows, columns] : {std::pair{kRows, kColumns}, std::pair{kColumns, kRows}})
    for (const bool full : {false, true})
      for (const int64_t rank : {int64_t{5}, kColumns}) {
        const Tensor m = product<T>(numbers<T>(rows, rank), numbers<T>(rank, columns));
        const auto found = kernels().run("Svd", {m}, {{"compute_uv", true}, {"full_matrices", full}});
        const Tensor &s = found[0], &u = found[1], &v = found[2];
        EXPECT_TRUE(std::is_sorted(s.data<T>(), s.data<T>() + kColumns, std::greater<>()));
        expect_orthogonal<T>(u);
        expect_orthogonal<T>(v);
        const Tensor left = scaled<T>(first_columns<T>(u, kColumns), s);
        EXPECT_LT((difference<T>(product<T>(left, turned<T>(first_columns<T>(v, kColumns))), m)), this->kNear);
        const auto alone = kernels().run("Svd", {m}, {{"compute_uv", false}, {"full_matrices", full}});
        EXPECT_LT((difference<T>(alone[0], s)), this->kNear);
      }
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
