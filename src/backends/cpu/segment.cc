// Elements gathered by the number of their segment.
#include <fmt/format.h>

#include "backends/cpu/cpu_kernels.h"
#include "backends/cpu/math.h"
#include "backends/cpu/move.h"
#include "backends/cpu/rows.h"
#include "backends/cpu/scatter.h"
#include "base/stop_scope.h"

namespace emplace::cpu {
namespace {

enum class Start { kZero, kOne, kLowest, kHighest };

// What an empty segment holds.
void fill_start(Start start, const Tensor& out) {
  visit_dtype(out.dtype(), Numbers{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T value{};
    if constexpr (kIsSmallFloat<T>) {
      const float most = std::is_same_v<T, Half> ? 65504.f : 3.38953139e38f;
      value = T(start == Start::kOne       ? 1.f
                : start == Start::kLowest  ? -most
                : start == Start::kHighest ? most
                                           : 0.f);
    } else {
      if (start == Start::kOne) value = T(1);
      if constexpr (!kIsComplex<T>) {
        if (start == Start::kLowest) value = std::numeric_limits<T>::lowest();
        if (start == Start::kHighest) value = std::numeric_limits<T>::max();
      }
    }
    std::fill_n(out.data<T>(), out.num_elements(), value);
  });
}

void divide_rows(const Tensor& out, const std::vector<int64_t>& counts) {
  if (counts.empty()) return;
  const int64_t inner = out.num_elements() / static_cast<int64_t>(counts.size());
  visit_dtype(out.dtype(), Numbers{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = Compute<T>;
    for (size_t s = 0; s < counts.size(); ++s) {
      if (counts[s] < 2) continue;
      T* x = out.data<T>() + static_cast<int64_t>(s) * inner;
      for (int64_t i = 0; i < inner; ++i)
        x[i] = static_cast<T>(static_cast<C>(static_cast<C>(x[i]) / static_cast<C>(counts[s])));
    }
  });
}

struct Rule {
  ScatterOp op;
  Start empty;  // of a segment nobody belongs to
  bool mean = false;
};

Shape segments_shape(const Tensor& data, int ids_rank, int64_t segments) {
  Shape shape{segments};
  for (int i = ids_rank; i < data.rank(); ++i) shape.push_back(data.dim(i));
  checked_elements(shape.dims());
  return shape;
}

// The first element of a segment replaces what stands there; the others are combined with it.
void combine(const Rule& rule, const Tensor& data, const std::vector<int64_t>& ids, Tensor& out,
             bool first_replaces) {
  const ScatterLoop loop = scatter_loop(rule.op, out.dtype());
  const ScatterLoop set = scatter_loop(ScatterOp::kSet, out.dtype());
  const auto size = static_cast<int64_t>(dtype_size(out.dtype()));
  const int64_t segments = out.dim(0), inner = segments ? out.num_elements() / segments : 0;
  std::vector<int64_t> counts(static_cast<size_t>(segments), 0);
  for (const size_t i : paced(ids.size())) {
    if (ids[i] < 0) continue;
    const bool first = counts[static_cast<size_t>(ids[i])]++ == 0;
    (first && first_replaces ? set : loop)(
        static_cast<char*>(out.raw()) + ids[i] * inner * size,
        static_cast<const char*>(data.raw()) + static_cast<int64_t>(i) * inner * size, inner);
  }
  if (rule.mean) divide_rows(out, counts);
}

// Ids in order; without num_segments the last id says how many there are.
struct Segment {
  Rule rule;
  void operator()(KernelContext& c) const {
    const Tensor &data = c.input(0), &given = c.input(1);
    if (given.rank() != 1) throw invalid_argument("segment_ids should be a vector.");
    if (data.rank() < 1 || data.dim(0) != given.dim(0))
      throw invalid_argument("segment_ids should be the same size as dimension 0 of input.");
    const auto ids = int_values(given);
    int64_t segments = ids.empty() ? 0 : std::min(ids.back(), INT64_MAX - 1) + 1;
    if (c.num_inputs() > 2) segments = int_scalar(c.input(2), "num_segments");
    if (segments < 0) throw invalid_argument("segment ids must be >= 0");
    for (size_t i = 0; i < ids.size(); ++i) {
      if (i + 1 < ids.size() && ids[i + 1] < ids[i])
        throw invalid_argument("segment ids are not increasing");
      if (ids[i] < 0 || ids[i] >= segments)
        throw invalid_argument(
            fmt::format("Segment id {} out of range [0, {}), possibly because "
                        "'segment_ids' input is not sorted.",
                        ids[i], segments));
    }
    Tensor& out = c.output(0, segments_shape(data, 1, segments));
    if (out.num_elements() == 0) return;
    fill_start(rule.empty, out);
    combine(rule, data, ids, out, true);
  }
};

// Ids in any order; negative ones are left out.
struct UnsortedSegment {
  Rule rule;
  void operator()(KernelContext& c) const {
    const Tensor &data = c.input(0), &given = c.input(1);
    const int64_t segments = int_scalar(c.input(2), "num_segments");
    if (segments < 0)
      throw invalid_argument("Input num_segments == " + std::to_string(segments) +
                             " must not be negative.");
    bool fits = given.rank() <= data.rank();
    for (int i = 0; i < given.rank() && fits; ++i) fits = data.dim(i) == given.dim(i);
    if (!fits)
      throw invalid_argument(
          fmt::format("data.shape = {} does not start with segment_ids.shape = {}",
                      data.shape().str(), given.shape().str()));
    const auto ids = int_values(given);
    for (const size_t i : paced(ids.size()))
      if (ids[i] >= segments)
        throw invalid_argument(
            fmt::format("segment_ids[{}] = {} is out of range [0, {})", i, ids[i], segments));
    Tensor& out = c.output(0, segments_shape(data, given.rank(), segments));
    if (out.num_elements() == 0) return;
    fill_start(rule.empty, out);
    combine(rule, data, ids, out, false);
  }
};

template <ScatterOp kOp, Start kEmpty, bool kMean = false>
Prepared make_sorted(const KernelInit&) {
  return prepared(Segment{{kOp, kEmpty, kMean}});
}
template <ScatterOp kOp, Start kEmpty>
Prepared make_unsorted(const KernelInit&) {
  return prepared(UnsortedSegment{{kOp, kEmpty}});
}

}  // namespace

std::vector<KernelRow> segment_kernels() {
  using enum ScatterOp;
  const auto numbers = Numbers::dtypes(), reals = Reals::dtypes();
  std::vector<KernelRow> rows = {
      row("SegmentMean", numbers, make_sorted<kAdd, Start::kZero, true>),
      row("UnsortedSegmentSum", numbers, make_unsorted<kAdd, Start::kZero>),
      row("UnsortedSegmentProd", numbers, make_unsorted<kMul, Start::kOne>),
      row("UnsortedSegmentMax", reals, make_unsorted<kMax, Start::kLowest>),
      row("UnsortedSegmentMin", reals, make_unsorted<kMin, Start::kHighest>)};
  for (const char* version : {"", "V2"}) {
    auto name = [&](const char* op) { return std::string(op) + version; };
    rows.push_back(row(name("SegmentSum").c_str(), numbers, make_sorted<kAdd, Start::kZero>));
    rows.push_back(row(name("SegmentProd").c_str(), numbers, make_sorted<kMul, Start::kOne>));
  }
  rows.push_back(row("SegmentMax", reals, make_sorted<kMax, Start::kZero>));
  rows.push_back(row("SegmentMin", reals, make_sorted<kMin, Start::kZero>));
  rows.push_back(row("SegmentMaxV2", reals, make_sorted<kMax, Start::kLowest>));
  rows.push_back(row("SegmentMinV2", reals, make_sorted<kMin, Start::kHighest>));
  return rows;
}

}  // namespace emplace::cpu
