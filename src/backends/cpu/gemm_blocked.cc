#include "backends/cpu/gemm_blocked.h"

#include "backends/cpu/gemm_tile.h"
#include "backends/cpu/simd.h"
#include "base/cpu_isa.h"
#include "base/host_cache.h"

namespace emplace::cpu {
namespace {

// Instruction sets: the tiles that suit their registers, and how to call loops compiled for them.
// Vectors of 16 bytes are everywhere.
struct Plain {
  template <class T>
  using Loops = TileLoops<T, 16, 4>;
  template <class F>
  static void call(const F& f) {
    f();
  }
};

#if defined(__x86_64__)
struct Avx2 {
  template <class T>
  using Loops = TileLoops<T, 32, 6>;
  template <class F>
  [[gnu::target("avx2,fma,bmi,bmi2"), gnu::flatten]] static void call(const F& f) {
    f();
  }
};

bool has_avx512() { return cpu_isa() >= CpuIsa::kAvx512; }

struct Avx512 {
  template <class T>
  using Loops = TileLoops<T, 64, 12>;
  template <class F>
  [[gnu::target("avx512f,avx512dq,avx2,fma,bmi,bmi2"), gnu::flatten]] static void call(const F& f) {
    f();
  }
};
#endif

constexpr double kFlopsPerNs = 60, kPackNs = 0.2, kVectorNs = 0.12;  // roughly, of one core
constexpr int64_t kDepth = 384;  // of a block: so a strip of B stays in the first cache …
constexpr int64_t kBlockRows = 144, kBlockColumns = 256;  // … and a block of A in the second
// What is packed at a time stays in the third.
constexpr int64_t kPackedDepth = 10 * kDepth, kPackedElements = 4 << 20;
// Columns of C up to which A is read too seldom to be worth packing: as it lies, or with the rows'
// elements far apart.
constexpr int64_t kFewColumns = 512, kFewTurned = 64;
constexpr int64_t kTogether = 4;  // strips
constexpr int64_t kVectorBand = 512;
constexpr double kTaskFlops = 1.5e6;
constexpr int64_t kTasks = 16;

int64_t parts_in(int64_t size, int64_t part) { return (size + part - 1) / part; }
// `size` in equal parts of at most `most`, each a multiple of `unit`.
int64_t part_of(int64_t size, int64_t most, int64_t unit) {
  const int64_t parts = std::max<int64_t>(1, parts_in(size, most));
  return parts_in(parts_in(size, parts), unit) * unit;
}

// Room for packed strips; not filled.
template <class T>
class Space {
 public:
  explicit Space(int64_t elements)
      : bytes_(static_cast<size_t>(elements) * sizeof(T)),
        data_(static_cast<T*>(host_alloc(bytes_))) {}
  ~Space() { host_free(data_, bytes_); }
  Space(const Space&) = delete;
  Space& operator=(const Space&) = delete;
  T* data() const { return data_; }

 private:
  size_t bytes_;
  T* data_;
};

// An operand: element i (a row of A, a column of B) at depth p is data[i * across + p * along].
template <class T>
struct Side {
  const T* data;
  int64_t size, across, along;
  int64_t width;   // of a strip
  bool packed;
  int64_t begin = 0, end = 0;  // the part in work
  T* space = nullptr;

  int64_t strips() const { return parts_in(end - begin, width); }
  int64_t packs() const { return parts_in(strips(), kTogether); }
};

// Rows of three, as colours are: too short to be summed by vectors of their own.
template <class T>
[[gnu::always_inline]] inline void dot_threes(const T* x, const T* matrix, int64_t row, int64_t rows,
                                              T* out) {
  const T a = x[0], b = x[1], c = x[2];
#pragma GCC ivdep
  for (int64_t i = 0; i < rows; ++i) {
    const T* m = matrix + i * row;
    out[i] = m[0] * a + m[1] * b + m[2] * c;
  }
}

template <class T, class Isa>
class Product {
  using Loops = typename Isa::template Loops<T>;

 public:
  Product(KernelContext& c, const GemmShape& s, const GemmRows& rows, const T* a, const T* b,
          T* out, bool add)
      : c_(c), m_(s.m), n_(s.n), k_(s.k), row_(rows.c), add_(add), out_(out),
        a_{a, s.m, s.transpose_a ? 1 : rows.a, s.transpose_a ? rows.a : 1, Loops::kRows,
           s.n > (s.transpose_a ? kFewTurned : kFewColumns)},
        b_{b, s.n, s.transpose_b ? rows.b : 1, s.transpose_b ? 1 : rows.b, Loops::kColumns,
           s.m > kBlockRows},
        packs_on_the_way_(!b_.packed && (s.m > Loops::kRows || s.transpose_b ||
                                         s.n % Loops::kColumns != 0)) {}

  void run() {
    if (n_ == 1 && !add_) return by_vector(b_.data, a_);
    if (m_ == 1 && !add_) return by_vector(a_.data, b_);
    depth_ = part_of(k_, kDepth, 8);
    const int64_t packed_depth = std::min(kPackedDepth / depth_ * depth_, part_of(k_, k_, depth_));
    const int64_t most = kPackedElements / packed_depth;
    const int64_t rows = part_of(m_, most, a_.width), columns = part_of(n_, most, b_.width);
    const Space<T> space_a(a_.packed ? rows * packed_depth : 0);
    const Space<T> space_b(b_.packed ? columns * packed_depth : 0);
    a_.space = space_a.data();
    b_.space = space_b.data();
    for (first_ = 0; first_ < k_; first_ = last_) {
      last_ = std::min(k_, first_ + packed_depth);
      for (b_.begin = 0; b_.begin < n_; b_.begin = b_.end) {
        b_.end = std::min(n_, b_.begin + columns);
        for (a_.begin = 0; a_.begin < m_; a_.begin = a_.end) {
          a_.end = std::min(m_, a_.begin + rows);
          pack_both(a_.begin == 0);
          make_blocks();
        }
      }
    }
  }

 private:
  // Rows' sums one by one; or columns', in bands wide enough to read the matrix along its rows.
  void by_vector(const T* x, const Side<T>& matrix) {
    const int64_t band = matrix.along == 1 ? 1 : kVectorBand;
    const double cost = kVectorNs * static_cast<double>(k_ * band);
    c_.parallel_for(parts_in(matrix.size, band), cost, [&](int64_t first, int64_t last) {
      const int64_t begin = first * band, end = std::min(last * band, matrix.size);
      const T* from = matrix.data + begin * matrix.across;
      Isa::call([&] {
        if (matrix.along == 1 && k_ == 3)
          dot_threes(x, from, matrix.across, end - begin, out_ + begin);
        else if (matrix.along == 1)
          Loops::dot(x, from, matrix.across, end - begin, k_, out_ + begin);
        else
          Loops::combine(x, from, matrix.along, end - begin, k_, out_ + begin);
      });
    });
  }

  // The strips of both operands' parts, for all depths in work.
  void pack_both(bool new_b) {
    const int64_t chunks = parts_in(last_ - first_, depth_);
    const int64_t of_a = a_.packed ? chunks * a_.packs() : 0;
    const int64_t of_b = b_.packed && new_b ? chunks * b_.packs() : 0;
    const double cost = kPackNs * static_cast<double>(kTogether * depth_ * b_.width);
    c_.parallel_for(of_a + of_b, cost, [&](int64_t begin, int64_t end) {
      Isa::call([&] {
        for (int64_t i = begin; i < end; ++i)
          if (i < of_a)
            pack<Loops::kRows>(a_, i);
          else
            pack<Loops::kColumns>(b_, i - of_a);
      });
    });
  }

  template <int kWidth>
  [[gnu::always_inline]] void pack(const Side<T>& side, int64_t item) const {
    const int64_t first = item % side.packs() * kTogether;
    const int64_t strips = std::min(kTogether, side.strips() - first);
    const int64_t p = first_ + item / side.packs() * depth_, k = std::min(depth_, last_ - p);
    const int64_t i = side.begin + first * kWidth;
    const int64_t width = std::min<int64_t>(kWidth, side.end - i - (strips - 1) * kWidth);
    const T* from = side.data + i * side.across + p * side.along;
    T* to = side.space + (p - first_) * side.strips() * kWidth + first * k * kWidth;
    if (side.across == 1)
      Loops::template pack_along<kWidth>(from, side.along, strips, width, k, to);
    else
      Loops::template pack_across<kWidth>(from, side.across, strips, width, k, to);
  }

  // From row or column i (of the part's, a multiple of the width) at depth p.
  [[gnu::always_inline]] Strips<T> strips(const Side<T>& side, int64_t i, int64_t p,
                                          int64_t k) const {
    if (!side.packed)
      return {side.data + (side.begin + i) * side.across + p * side.along, side.across, side.along,
              side.width * side.across};
    return {side.space + (p - first_) * side.strips() * side.width + i * k, 1, side.width,
            k * side.width};
  }

  void make_blocks() {
    const int64_t m = a_.end - a_.begin, n = b_.end - b_.begin;
    const double flops = 2.0 * static_cast<double>(m) * static_cast<double>(n) *
                         static_cast<double>(last_ - first_);
    int64_t rows = part_of(m, kBlockRows, a_.width), columns = part_of(n, kBlockColumns, b_.width);
    const auto wanted = static_cast<int64_t>(std::min<double>(kTasks, flops / kTaskFlops));
    while (parts_in(m, rows) * parts_in(n, columns) < wanted) {
      if (columns > 2 * b_.width) columns = part_of(columns, columns / 2, b_.width);
      else if (rows > 4 * a_.width) rows = part_of(rows, rows / 2, a_.width);
      else break;
    }
    const int64_t across = parts_in(n, columns), count = across * parts_in(m, rows);
    c_.parallel_for(count, flops / kFlopsPerNs / static_cast<double>(count),
                    [&](int64_t begin, int64_t end) {
      for (int64_t t = begin; t < end; ++t) {
        const int64_t i = t / across * rows, j = t % across * columns;
        const int64_t height = std::min(rows, m - i), width = std::min(columns, n - j);
        if (packs_on_the_way_)
          make_by_strips(i, j, height, width);
        else
          make_block(i, j, height, width);
      }
    });
  }

  void make_block(int64_t i, int64_t j, int64_t rows, int64_t columns) const {
    T* c = out_ + (a_.begin + i) * row_ + b_.begin + j;
    Isa::call([&] {
      for (int64_t p = first_; p < last_; p += depth_) {
        const int64_t k = std::min(depth_, last_ - p);
        Loops::block(strips(a_, i, p, k), strips(b_, j, p, k), rows, columns, k, c, row_,
                     add_ || p > 0);
      }
    });
  }

  // Where C has one block of rows, each strip of B is used once: packed just before, it is still
  // near. Several together, since that reads more of each of B's lines.
  void make_by_strips(int64_t i, int64_t j, int64_t rows, int64_t columns) const {
    constexpr int kWidth = Loops::kColumns;
    T* c = out_ + (a_.begin + i) * row_ + b_.begin + j;
    Isa::call([&] {
      alignas(64) T space[kDepth * kWidth * kTogether];
      for (int64_t p = first_; p < last_; p += depth_)
        for (int64_t at = 0; at < columns; at += kWidth * kTogether) {
          const int64_t k = std::min(depth_, last_ - p);
          const int64_t n = std::min<int64_t>(kWidth * kTogether, columns - at);
          const int64_t count = parts_in(n, kWidth), last = n - (count - 1) * kWidth;
          const T* from = b_.data + (b_.begin + j + at) * b_.across + p * b_.along;
          if (b_.across == 1)
            Loops::template pack_along<kWidth>(from, b_.along, count, last, k, space);
          else
            Loops::template pack_across<kWidth>(from, b_.across, count, last, k, space);
          Loops::block(strips(a_, i, p, k), {space, 1, kWidth, k * kWidth}, rows, n, k, c + at, row_,
                       add_ || p > 0);
        }
    });
  }

  KernelContext& c_;
  const int64_t m_, n_, k_, row_;
  const bool add_;
  T* const out_;
  Side<T> a_, b_;
  const bool packs_on_the_way_;
  int64_t depth_ = 0;              // of a block
  int64_t first_ = 0, last_ = 0;  // depths in work
};

template <class T>
void best_product(KernelContext& c, const GemmShape& s, const GemmRows& rows, const T* a,
                  const T* b, T* out, bool add) {
#if defined(__x86_64__)
  if (has_avx512()) return Product<T, Avx512>(c, s, rows, a, b, out, add).run();
  if (has_avx2()) return Product<T, Avx2>(c, s, rows, a, b, out, add).run();
#endif
  Product<T, Plain>(c, s, rows, a, b, out, add).run();
}

GemmRows close_rows(const GemmShape& s) {
  return {s.transpose_a ? s.m : s.k, s.transpose_b ? s.k : s.n, s.n};
}

}  // namespace

void blocked_gemm(KernelContext& c, const GemmShape& s, const float* a, const float* b,
                  float* out) {
  best_product(c, s, close_rows(s), a, b, out, false);
}
void blocked_gemm(KernelContext& c, const GemmShape& s, const double* a, const double* b,
                  double* out) {
  best_product(c, s, close_rows(s), a, b, out, false);
}

void add_product(KernelContext& c, const GemmShape& s, const GemmRows& rows, const float* a,
                 const float* b, float* out) {
  best_product(c, s, rows, a, b, out, true);
}
void add_product(KernelContext& c, const GemmShape& s, const GemmRows& rows, const double* a,
                 const double* b, double* out) {
  best_product(c, s, rows, a, b, out, true);
}

}  // namespace emplace::cpu
