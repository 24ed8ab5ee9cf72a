#include "backends/cpu/reduce.h"

#include <fmt/format.h>

#include "backends/cpu/move.h"

namespace emplace::cpu {
namespace {

constexpr int64_t kChunk = 8192;  // elements that meet in one accumulator before it is merged
constexpr double kCost = 0.15;    // ns an element

// Scratch for accumulators: on the stack when they are few.
class Accumulators {
 public:
  Accumulators(KernelContext& c, int64_t n, size_t size) {
    if (static_cast<size_t>(n) * size <= sizeof(near_)) {
      data_ = near_;
      return;
    }
    far_ = c.temp(DType::kInt8, Shape{n * static_cast<int64_t>(size)});
    data_ = far_.data<char>();
  }
  char* data() { return data_; }

 private:
  alignas(64) char near_[1024];
  Tensor far_;
  char* data_;
};

struct Run {
  KernelContext& c;
  const ReduceLoops& loops;
  const char* in;
  int64_t element;
  char* out;
  int64_t out_size;
};

// Rows of neighbouring elements, each one short enough for one accumulator.
void short_rows(const Run& r, int64_t rows, int64_t length) {
  r.c.parallel_for(rows, kCost * static_cast<double>(length) + 4, [&](int64_t begin, int64_t end) {
    alignas(16) char acc[16];
    for (int64_t i = begin; i < end; ++i) {
      r.loops.init(acc, 1);
      r.loops.row(r.in + i * length * r.element, length, acc);
      r.loops.finish(acc, 1, length, r.out + i * r.out_size);
    }
  });
}

// Long rows: chunks may go to several threads, and are merged in their order.
void long_rows(const Run& r, int64_t rows, int64_t length) {
  const int64_t chunks = (length + kChunk - 1) / kChunk;
  const auto size = static_cast<int64_t>(r.loops.acc_size);
  Accumulators accs(r.c, rows * chunks, r.loops.acc_size);
  char* all = accs.data();
  r.loops.init(all, rows * chunks);
  r.c.parallel_for(rows * chunks, kCost * kChunk, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = i / chunks, at = i % chunks * kChunk;
      r.loops.row(r.in + (row * length + at) * r.element, std::min(kChunk, length - at),
                  all + i * size);
    }
  });
  for (int64_t row = 0; row < rows; ++row) {
    char* first = all + row * chunks * size;
    for (int64_t k = 1; k < chunks; ++k) r.loops.merge(first + k * size, 1, first);
    r.loops.finish(first, 1, length, r.out + row * r.out_size);
  }
}

// [outer, reduced, inner]: bands of columns, each over all or a chunk of the reduced dimension.
struct Columns {
  int64_t outer, reduced, inner;
  int64_t band, bands;      // columns at a time
  int64_t height, heights;  // reduced rows at a time

  Columns(const ReducePlan& p) : outer(p.outer), reduced(p.reduced), inner(p.inner) {
    band = std::min<int64_t>(inner, 1024);
    bands = (inner + band - 1) / band;
    height = std::max<int64_t>(512, kChunk * 8 / band);
    if (outer * bands >= 64) height = reduced;  // parts enough without cutting
    height = std::max<int64_t>(1, std::min(height, reduced));
    heights = std::max<int64_t>(1, (reduced + height - 1) / height);
  }
};

void take_in(const Run& r, const Columns& s, int64_t o, int64_t b, int64_t h, char* accs) {
  const int64_t first = b * s.band, n = std::min(s.band, s.inner - first);
  r.loops.init(accs, n);
  const int64_t begin = h * s.height, rows = std::min(s.height, s.reduced - begin);
  r.loops.column(r.in + ((o * s.reduced + begin) * s.inner + first) * r.element, rows, s.inner, n,
                 accs);
}

void whole_columns(const Run& r, const Columns& s) {
  const double cost = kCost * static_cast<double>(s.reduced * s.band) + 10;
  r.c.parallel_for(s.outer * s.bands, cost, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t o = i / s.bands, b = i % s.bands, first = b * s.band;
      const int64_t n = std::min(s.band, s.inner - first);
      char* out = r.out + (o * s.inner + first) * r.out_size;
      alignas(64) char wide[1024 * 16];
      char* accs = r.loops.acc_is_output ? out : wide;
      take_in(r, s, o, b, 0, accs);
      r.loops.finish(accs, n, s.reduced, out);
    }
  });
}

void cut_columns(const Run& r, const Columns& s) {
  const auto size = static_cast<int64_t>(r.loops.acc_size);
  const int64_t parts = s.outer * s.bands * s.heights;
  Accumulators accs(r.c, parts * s.band, r.loops.acc_size);
  char* all = accs.data();
  r.c.parallel_for(parts, kCost * static_cast<double>(s.height * s.band) + 10,
                   [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      take_in(r, s, i / s.heights / s.bands, i / s.heights % s.bands, i % s.heights,
              all + i * s.band * size);
  });
  for (int64_t i = 0; i < s.outer * s.bands; ++i) {
    const int64_t first = i % s.bands * s.band, n = std::min(s.band, s.inner - first);
    char* total = all + i * s.heights * s.band * size;
    for (int64_t h = 1; h < s.heights; ++h) r.loops.merge(total + h * s.band * size, n, total);
    r.loops.finish(total, n, s.reduced, r.out + (i / s.bands * s.inner + first) * r.out_size);
  }
}

}  // namespace

ReducePlan::ReducePlan(const Shape& in, const Tensor& axes, bool keep_dims) {
  std::vector<bool> is_reduced(static_cast<size_t>(in.rank()));
  for (int64_t axis : int_values(axes)) {
    if (axis < -in.rank() || axis >= in.rank())
      throw invalid_argument(fmt::format("Invalid reduction dimension ({} for input with {} "
                                         "dimension(s)", axis, in.rank()));
    const auto at = static_cast<size_t>(axis < 0 ? axis + in.rank() : axis);
    if (is_reduced[at])
      throw invalid_argument("Invalid reduction arguments: Axes contains duplicate dimension: " +
                             std::to_string(at));
    is_reduced[at] = true;
  }
  for (int i = 0; i < in.rank(); ++i) {
    if (!is_reduced[static_cast<size_t>(i)]) shape_.push_back(in[i]);
    else if (keep_dims) shape_.push_back(1);
  }
  see_blocks(in, is_reduced);
}

void ReducePlan::see_blocks(const Shape& in, const std::vector<bool>& is_reduced) {
  std::vector<std::pair<bool, int64_t>> blocks;  // reduced?, size
  for (int i = 0; i < in.rank(); ++i) {
    if (in[i] == 1) continue;
    const bool r = is_reduced[static_cast<size_t>(i)];
    if (!blocks.empty() && blocks.back().first == r) blocks.back().second *= in[i];
    else blocks.emplace_back(r, in[i]);
  }
  size_t at = 0;
  if (at < blocks.size() && !blocks[at].first) outer = blocks[at++].second;
  if (at < blocks.size()) reduced = blocks[at++].second;
  if (at < blocks.size()) inner = blocks[at++].second;
  if (reduced == 1 && inner == 1) std::swap(outer, inner);  // nothing meets: one line of columns
  if (at == blocks.size()) return;
  needs_turn = true;
  outer = reduced = inner = 1;
  for (bool r : {false, true})
    for (int i = 0; i < in.rank(); ++i)
      if (is_reduced[static_cast<size_t>(i)] == r) {
        perm.push_back(i);
        (r ? reduced : outer) *= in[i];
      }
}

void reduce(KernelContext& c, const ReduceLoops& loops, const ReducePlan& plan, const Tensor& in,
            Tensor& out) {
  if (out.num_elements() == 0) return;
  Tensor turned;
  const void* data = in.raw();
  if (plan.needs_turn) {
    Shape shape;
    for (int d : plan.perm) shape.push_back(in.dim(d));
    turned = c.temp(in.dtype(), shape);
    transpose_elements(c, in, plan.perm, turned);
    data = turned.raw();
  }
  const Run r{c, loops, static_cast<const char*>(data),
              static_cast<int64_t>(dtype_size(in.dtype())), static_cast<char*>(out.raw()),
              static_cast<int64_t>(dtype_size(out.dtype()))};
  if (plan.inner == 1) {
    const bool cut = plan.reduced > kChunk;
    return cut ? long_rows(r, plan.outer, plan.reduced) : short_rows(r, plan.outer, plan.reduced);
  }
  const Columns columns(plan);
  columns.heights == 1 ? whole_columns(r, columns) : cut_columns(r, columns);
}

}  // namespace emplace::cpu
