// Chosen rows, gathered by the number of their segment; numbers rise.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "backends/cpu/analysis_kernels.h"
#include "backends/cpu/loops.h"
#include "backends/cpu/move.h"
#include "base/stop_scope.h"

namespace emplace::cpu {
namespace {

enum class Mean { kSum, kMean, kSqrtN };

struct Rows {
  std::vector<int64_t> row, segment;  // row[i] belongs to segment[i]
  std::vector<int64_t> sizes;         // of each segment
};

Rows checked_rows(KernelContext& c, int64_t segments) {
  const Tensor &indices = c.input(1), &ids = c.input(2);
  if (indices.rank() != 1) throw invalid_argument("indices should be a vector.");
  if (ids.rank() != 1) throw invalid_argument("segment_ids should be a vector.");
  if (indices.num_elements() != ids.num_elements())
    throw invalid_argument("segment_ids and indices should have same size.");
  Rows r{int_values(indices), int_values(ids), {}};
  for (size_t i = 0; i < r.segment.size(); ++i) {
    if (r.segment[i] < 0) throw invalid_argument("segment ids must be >= 0");
    if (i > 0 && r.segment[i] < r.segment[i - 1])
      throw invalid_argument("segment ids are not increasing");
  }
  const int64_t needed = r.segment.empty() ? 0 : r.segment.back() + 1;
  if (segments >= 0 && needed > segments)
    throw invalid_argument("segment ids must be < num_segments");
  return r;
}

void count(Rows& r, int64_t segments) {
  r.sizes.assign(static_cast<size_t>(segments), 0);
  for (int64_t s : r.segment) ++r.sizes[static_cast<size_t>(s)];
}

double weight(Mean mean, int64_t size) {
  if (mean == Mean::kSum || size < 1) return 1;
  const auto n = static_cast<double>(size);
  return 1 / (mean == Mean::kMean ? n : std::sqrt(n));
}

Shape rows_shape(const Tensor& like, int64_t rows) {
  if (like.rank() < 1) throw invalid_argument("the input must be at least 1 dimensional");
  Shape s = like.shape();
  s.set_dim(0, rows);
  checked_elements(s.dims());
  return s;
}

// out[to[i]] += w(i) * in[from[i]]
template <class W>
void accumulate(const Tensor& in, Tensor& out, const std::vector<int64_t>& from,
                const std::vector<int64_t>& to, W&& w) {
  const int64_t inner = in.dim(0) ? in.num_elements() / in.dim(0) : 0;
  visit_dtype(in.dtype(), Reals{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = Compute<T>;
    std::vector<C> sums(static_cast<size_t>(out.num_elements()), C(0));
    for (const size_t i : paced(from.size()))
      for (int64_t k = 0; k < inner; ++k) {
        C& sum = sums[static_cast<size_t>(to[i] * inner + k)];
        const auto x = static_cast<C>(in.data<T>()[from[i] * inner + k]);
        if constexpr (std::is_integral_v<C>) sum = static_cast<C>(Wrap<C>(sum) + Wrap<C>(x));
        else sum += x * static_cast<C>(w(i));
      }
    for (size_t i = 0; i < sums.size(); ++i) out.data<T>()[i] = static_cast<T>(sums[i]);
  });
}

template <Mean kMean>
void segment(KernelContext& c) {
  const Tensor& data = c.input(0);
  const bool given = c.num_inputs() > 3;
  const int64_t wanted = given ? int_scalar(c.input(3), "num_segments") : -1;
  if (given && wanted < 0) throw invalid_argument("num_segments must be non-negative");
  Rows r = checked_rows(c, wanted);
  const int64_t segments = given ? wanted : r.segment.empty() ? 0 : r.segment.back() + 1;
  const Shape shape = rows_shape(data, segments);
  for (size_t i = 0; i < r.row.size(); ++i)
    if (r.row[i] < 0 || r.row[i] >= data.dim(0))
      throw invalid_argument(fmt::format("Bad: indices[{}] == {} out of range [0, {})", i, r.row[i],
                                         data.dim(0)));
  Tensor& out = c.output(0, shape);
  count(r, segments);
  accumulate(data, out, r.row, r.segment, [&](size_t i) {
    return weight(kMean, r.sizes[static_cast<size_t>(r.segment[i])]);
  });
}

void check_places(const Rows& r, int64_t rows, int64_t segments) {
  for (int64_t i : r.row)
    if (i < 0 || i >= rows)
      throw invalid_argument(fmt::format("Index {} out of range [0, {}).", i, rows));
  if (!r.segment.empty() && r.segment.back() >= segments)
    throw invalid_argument("Invalid number of segments");
}

template <Mean kMean>
void gradient(KernelContext& c) {
  const Tensor& grad = c.input(0);
  const int64_t rows = int_scalar(c.input(3), "output_dim0");
  if (rows < 0) throw invalid_argument("output_dim0 must be non-negative");
  Rows r = checked_rows(c, -1);
  const Shape shape = rows_shape(grad, rows);
  check_places(r, rows, grad.dim(0));
  Tensor& out = c.output(0, shape);
  count(r, grad.dim(0));
  accumulate(grad, out, r.segment, r.row, [&](size_t i) {
    return weight(kMean, r.sizes[static_cast<size_t>(r.segment[i])]);
  });
}

// … of which only the rows that there are, and their numbers.
template <Mean kMean>
void compact_gradient(KernelContext& c) {
  const Tensor& grad = c.input(0);
  const int64_t rows = int_scalar(c.input(3), "dense_output_dim0");
  if (rows < 0) throw invalid_argument("dense_output_dim0 must be non-negative");
  Rows r = checked_rows(c, -1);
  check_places(r, rows, grad.rank() ? grad.dim(0) : 0);
  std::vector<int64_t> numbers = r.row, places;
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  for (int64_t i : r.row) places.push_back(std::ranges::lower_bound(numbers, i) - numbers.begin());
  const auto found = static_cast<int64_t>(numbers.size());
  Tensor& out = c.output(0, rows_shape(grad, found));
  Tensor& which = c.output(1, Shape{found});
  for (int64_t i = 0; i < found; ++i) {
    if (which.dtype() == DType::kInt32)
      which.data<int32_t>()[i] = static_cast<int32_t>(numbers[static_cast<size_t>(i)]);
    else which.data<int64_t>()[i] = numbers[static_cast<size_t>(i)];
  }
  count(r, grad.dim(0));
  accumulate(grad, out, r.segment, places, [&](size_t i) {
    return weight(kMean, r.sizes[static_cast<size_t>(r.segment[i])]);
  });
}

template <Mean kMean>
void add(std::vector<KernelRow>& rows, const std::string& name, std::vector<DType> types) {
  const std::string op = "SparseSegment" + name;
  for (const char* end : {"", "WithNumSegments"})
    rows.push_back({op + end, "CPU", {{"T", types}}, {}, stateless<segment<kMean>>, {}, 0, ""});
  rows.push_back({op + "Grad", "CPU", {{"T", Floats::dtypes()}}, {}, stateless<gradient<kMean>>, {},
                  0, ""});
  rows.push_back({op + "GradV2", "CPU", {{"T", Floats::dtypes()}}, {},
                  stateless<compact_gradient<kMean>>, {}, 0, ""});
}

}  // namespace

std::vector<KernelRow> sparse_segment_kernels() {
  std::vector<KernelRow> rows;
  add<Mean::kSum>(rows, "Sum", Reals::dtypes());
  add<Mean::kMean>(rows, "Mean", Floats::dtypes());
  add<Mean::kSqrtN>(rows, "SqrtN", Floats::dtypes());
  return rows;
}

}  // namespace emplace::cpu
