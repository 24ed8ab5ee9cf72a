#include <array>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backends/cpu/cpu_kernels.h"
#include "backends/cpu/elementwise.h"
#include "backends/cpu/move.h"

namespace emplace::cpu {
namespace {

// A permutation with neighbours that stay together merged: sizes in the order of the output, and
// the input's stride along each.
struct Turn {
  std::vector<int64_t> sizes, strides, out_strides;

  Turn(const Shape& in, std::span<const int> perm) {
    std::vector<int64_t> stride(perm.size());
    int64_t step = 1;
    for (int i = in.rank() - 1; i >= 0; step *= in[i--]) stride[static_cast<size_t>(i)] = step;
    int last = -2;
    for (int from : perm) {
      if (in[from] == 1) continue;
      if (from == last + 1 && !sizes.empty()) {
        sizes.back() *= in[from];
        strides.back() = stride[static_cast<size_t>(from)];
      } else {
        sizes.push_back(in[from]);
        strides.push_back(stride[static_cast<size_t>(from)]);
      }
      last = from;
      while (last + 1 < in.rank() && in[last + 1] == 1) ++last;
    }
    out_strides.resize(sizes.size());
    step = 1;
    for (size_t i = sizes.size(); i-- > 0; step *= sizes[i]) out_strides[i] = step;
  }
  bool is_copy() const { return sizes.size() <= 1; }
};

// Offsets of the `index`-th combination of all dimensions but those skipped.
struct Place {
  int64_t from = 0, to = 0;
};
Place place_of(const Turn& turn, int64_t index, int skip_a, int skip_b) {
  Place p;
  for (int d = static_cast<int>(turn.sizes.size()) - 1; d >= 0; --d) {
    if (d == skip_a || d == skip_b) continue;
    const auto u = static_cast<size_t>(d);
    const int64_t i = index % turn.sizes[u];
    index /= turn.sizes[u];
    p.from += i * turn.strides[u];
    p.to += i * turn.out_strides[u];
  }
  return p;
}

#if defined(__x86_64__)
// Eight rows of eight 4-byte elements, turned in registers: pairs, fours, halves.
[[gnu::target("avx2")]] void turn_8x8(const float* in, int64_t in_step, float* out,
                                      int64_t out_step) {
  __m256 r[8], t[8];
  for (int k = 0; k < 8; ++k) r[k] = _mm256_loadu_ps(in + k * in_step);
  for (int k = 0; k < 8; k += 2) {
    t[k] = _mm256_unpacklo_ps(r[k], r[k + 1]);
    t[k + 1] = _mm256_unpackhi_ps(r[k], r[k + 1]);
  }
  for (int k = 0; k < 8; k += 4) {
    r[k] = _mm256_shuffle_ps(t[k], t[k + 2], 0x44);
    r[k + 1] = _mm256_shuffle_ps(t[k], t[k + 2], 0xEE);
    r[k + 2] = _mm256_shuffle_ps(t[k + 1], t[k + 3], 0x44);
    r[k + 3] = _mm256_shuffle_ps(t[k + 1], t[k + 3], 0xEE);
  }
  for (int k = 0; k < 4; ++k) {
    _mm256_storeu_ps(out + k * out_step, _mm256_permute2f128_ps(r[k], r[k + 4], 0x20));
    _mm256_storeu_ps(out + (k + 4) * out_step, _mm256_permute2f128_ps(r[k], r[k + 4], 0x31));
  }
}

// As turn_plane, for elements of four bytes: a tile is a cache line wide on either side.
[[gnu::target("avx2")]] void turn_plane_avx2(const float* in, int64_t in_step, float* out,
                                             int64_t out_step, int64_t rows, int64_t columns) {
  constexpr int64_t kTile = 16;
  const int64_t whole_rows = rows / kTile * kTile, whole_columns = columns / kTile * kTile;
  for (int64_t i = 0; i < whole_rows; i += kTile)
    for (int64_t j = 0; j < whole_columns; j += kTile)
      for (int64_t a = i; a < i + kTile; a += 8)
        for (int64_t b = j; b < j + kTile; b += 8)
          turn_8x8(in + a + b * in_step, in_step, out + a * out_step + b, out_step);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = i < whole_rows ? whole_columns : 0; j < columns; ++j)
      out[i * out_step + j] = in[i + j * in_step];
}
#endif

// One plane: out[i * out_step + j] = in[i + j * in_step], in tiles that fit the first cache.
template <class T>
void turn_plane(const T* in, int64_t in_step, T* out, int64_t out_step, int64_t rows,
                int64_t columns) {
#if defined(__x86_64__)
  if constexpr (std::is_same_v<T, uint32_t>)
    if (has_avx2())
      return turn_plane_avx2(reinterpret_cast<const float*>(in), in_step,
                             reinterpret_cast<float*>(out), out_step, rows, columns);
#endif
  constexpr int64_t kTile = 16;
  for (int64_t i0 = 0; i0 < rows; i0 += kTile)
    for (int64_t j0 = 0; j0 < columns; j0 += kTile) {
      const int64_t i1 = std::min(i0 + kTile, rows), j1 = std::min(j0 + kTile, columns);
      for (int64_t i = i0; i < i1; ++i)
        for (int64_t j = j0; j < j1; ++j) out[i * out_step + j] = in[i + j * in_step];
    }
}

// The last dimension moves as it is: runs are copied.
void copy_runs(KernelContext& c, const Turn& turn, const Tensor& in, Tensor& out) {
  const Mover mover(in.dtype());
  const int last = static_cast<int>(turn.sizes.size()) - 1;
  const int64_t run = turn.sizes.back(), runs = in.num_elements() / run;
  c.parallel_for(runs, move_cost(in.dtype()) * static_cast<double>(run) + 10,
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) {
                     const Place p = place_of(turn, i, last, last);
                     mover.copy(out, p.to, in, p.from, run);
                   }
                 });
}

// The input's last dimension is another of the output: planes over both.
template <class T>
void turn_planes(KernelContext& c, const Turn& turn, const Tensor& in, Tensor& out) {
  const size_t last = turn.sizes.size() - 1;
  size_t dense = 0;  // where the input's last dimension went
  while (turn.strides[dense] != 1) ++dense;
  const int64_t rows = turn.sizes[dense], columns = turn.sizes[last];
  // Rows in bands, so that one large plane is shared out too.
  const int64_t band = std::max<int64_t>(16, std::min(rows, int64_t{65536} / columns / 16 * 16));
  const int64_t bands = (rows + band - 1) / band;
  const int64_t planes = in.num_elements() / (rows * columns);
  c.parallel_for(planes * bands, 0.5 * static_cast<double>(std::min(rows, band) * columns),
                 [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Place p = place_of(turn, i / bands, static_cast<int>(dense), static_cast<int>(last));
      const int64_t row = i % bands * band, n = std::min(band, rows - row);
      turn_plane(in.data<T>() + p.from + row, turn.strides[last],
                 out.data<T>() + p.to + row * turn.out_strides[dense], turn.out_strides[dense], n,
                 columns);
    }
  });
}

struct Conj {
  template <class T>
  T operator()(T x) const {
    return std::conj(x);
  }
};

std::vector<int> checked_perm(const Tensor& perm, const Shape& shape) {
  const auto order = int_values(perm);
  const int rank = shape.rank();
  if (perm.rank() != 1 || static_cast<int>(order.size()) != rank)
    throw invalid_argument(
        fmt::format("transpose expects a vector of size {}. But input(1) is a vector of size {}",
                    rank, order.size()));
  std::vector<int> checked;
  std::vector<bool> seen(order.size());
  for (int64_t d : order) {
    if (d < -rank || d >= rank)
      throw invalid_argument(fmt::format("{} is out of range [0 .. {})", d, rank));
    checked.push_back(static_cast<int>(d < 0 ? d + rank : d));
    seen[static_cast<size_t>(checked.back())] = true;
  }
  for (size_t i = 0; i < seen.size(); ++i)
    if (!seen[i])
      throw invalid_argument(fmt::format("{} is missing from {{{}}}.", i, fmt::join(order, ",")));
  return checked;
}

Shape turned_shape(const Shape& in, std::span<const int> perm) {
  Shape shape = in;
  for (size_t i = 0; i < perm.size(); ++i) shape.set_dim(static_cast<int>(i), in[perm[i]]);
  return shape;
}

void run_turn(KernelContext& c, const Turn& turn, const Tensor& in, Tensor& out) {
  if (in.num_elements() == 0) return;
  if (turn.is_copy()) return Mover(in.dtype()).copy(out, 0, in, 0, in.num_elements());
  if (turn.strides.back() == 1) return copy_runs(c, turn, in, out);
  visit_storage(in.dtype(), [&](auto tag) {
    turn_planes<typename decltype(tag)::type>(c, turn, in, out);
  });
}

// Shape and order known beforehand.
struct StaticTranspose {
  Turn turn;
  Shape shape;
  void operator()(KernelContext& c) const { run_turn(c, turn, c.input(0), c.output(0, shape)); }
};

struct Transpose {
  bool conjugate;
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    const auto perm = checked_perm(c.input(1), in.shape());
    Tensor& out = c.output(0, turned_shape(in.shape(), perm));
    transpose_elements(c, in, perm, out);
    if (conjugate && is_complex(in.dtype()))
      run_unary(c, find_unary<Conj, Complexes>(in.dtype()), kCheap, out, out);
  }
};

Prepared make_transpose(const KernelInit& init) {
  const bool known = init.static_shapes() && init.input_values.size() > 1 && init.input_values[1];
  if (!known) return prepared(Transpose{false});
  const Shape& in = init.input_shapes[0];
  const auto perm = checked_perm(*init.input_values[1], in);
  return prepared(StaticTranspose{Turn(in, perm), turned_shape(in, perm)});
}
Prepared make_conjugate(const KernelInit&) { return prepared(Transpose{true}); }

}  // namespace

void transpose_elements(KernelContext& c, const Tensor& in, std::span<const int> perm,
                        Tensor& out) {
  run_turn(c, Turn(in.shape(), perm), in, out);
}

std::vector<KernelRow> transpose_kernels() {
  return {{"Transpose", "CPU", {}, {"perm"}, make_transpose, {}, 0, ""},
          {"ConjugateTranspose", "CPU", {}, {"perm"}, make_conjugate, {}, 0, ""}};
}

}  // namespace emplace::cpu
