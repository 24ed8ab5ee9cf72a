#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace emplace::cpu {

// An operand of a product as strips of rows (of A) or columns (of B): element i of strip s at depth
// p is data[s * strip + i * across + p * along]. Packed strips lie one after another, each depth's
// elements side by side, filled up with zeros.
template <class T>
struct Strips {
  const T* data = nullptr;
  int64_t across = 1, along = 1, strip = 0;
};

template <class T, int kBytes>
struct VectorOf {
  typedef T type __attribute__((vector_size(kBytes)));
  // The same wherever elements may lie in memory.
  typedef T unaligned __attribute__((vector_size(kBytes), aligned(sizeof(T)), may_alias));
};

// The innermost loops of products, for vectors of kBytes: C is made in tiles of kRows x kColumns
// that stay in registers. Everything is inlined into a function that is compiled for the instruction
// set (vectors go by reference: as arguments they would change the calling convention). An element
// of C is one chain of multiply-adds down its depth, whatever the tile: where a block begins or ends
// does not show in the result.
template <class T, int kBytes, int kTileRows>
struct TileLoops {
  using V = typename VectorOf<T, kBytes>::type;
  using Element = T;
  static constexpr int kLanes = kBytes / static_cast<int>(sizeof(T));
  static constexpr int kRows = kTileRows, kColumns = 2 * kLanes;
  using Lane = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  using Mask = typename VectorOf<Lane, kBytes>::type;

  // No memcpy: GCC makes two moves of it before it knows the instruction set.
  [[gnu::always_inline]] static inline void load(V& v, const T* p) {
    v = *reinterpret_cast<const typename VectorOf<T, kBytes>::unaligned*>(p);
  }
  [[gnu::always_inline]] static inline void store(T* p, const V& v) {
    *reinterpret_cast<typename VectorOf<T, kBytes>::unaligned*>(p) = v;
  }

  template <int R, int kVectors>
  [[gnu::always_inline]] static inline void tile(const Strips<T>& a, const Strips<T>& b, int64_t k,
                                                 T* c, int64_t c_row, bool add) {
    const T *x = a.data, *y = b.data;
    V sum[R][kVectors] = {};
    for (int64_t p = 0; p < k; ++p, x += a.along, y += b.along) {
      V row[kVectors];
      for (int v = 0; v < kVectors; ++v) load(row[v], y + v * kLanes);
      for (int r = 0; r < R; ++r)
        for (int v = 0; v < kVectors; ++v) sum[r][v] += row[v] * x[r * a.across];
    }
    for (int r = 0; r < R; ++r)
      for (int v = 0; v < kVectors; ++v) {
        T* to = c + r * c_row + v * kLanes;
        V old = {};
        if (add) load(old, to);
        old += sum[r][v];
        store(to, old);
      }
  }

  // A tile at the right edge: made apart, since its vectors are wider than what is left of C.
  template <int R, int kVectors>
  [[gnu::always_inline]] static inline void edge(const Strips<T>& a, const Strips<T>& b, int64_t k,
                                                 T* c, int64_t c_row, int64_t columns, bool add) {
    T part[R * kVectors * kLanes];
    tile<R, kVectors>(a, b, k, part, kVectors * kLanes, false);
    for (int r = 0; r < R; ++r)
      for (int64_t j = 0; j < columns; ++j)
        c[r * c_row + j] = (add ? c[r * c_row + j] : T(0)) + part[r * kVectors * kLanes + j];
  }

  template <int R = kRows>
  [[gnu::always_inline]] static inline void rows_of_tile(int64_t rows, const Strips<T>& a,
                                                         const Strips<T>& b, int64_t k, T* c,
                                                         int64_t c_row, int64_t columns, bool add) {
    if constexpr (R > 0) {
      if (rows < R) return rows_of_tile<R - 1>(rows, a, b, k, c, c_row, columns, add);
      if (columns == kColumns) return tile<R, 2>(a, b, k, c, c_row, add);
      if (columns > kLanes) return edge<R, 2>(a, b, k, c, c_row, columns, add);
      edge<R, 1>(a, b, k, c, c_row, columns, add);
    }
  }

  // C[rows, columns] = A * B, or += where `add`. B's strips must be whole, with zeros where C ends.
  [[gnu::always_inline]] static inline void block(Strips<T> a, Strips<T> b, int64_t rows,
                                                  int64_t columns, int64_t k, T* c, int64_t c_row,
                                                  bool add) {
    for (int64_t j = 0; j < columns; j += kColumns, b.data += b.strip) {
      Strips<T> x = a;
      for (int64_t i = 0; i < rows; i += kRows, x.data += a.strip)
        rows_of_tile(std::min<int64_t>(kRows, rows - i), x, b, k, c + i * c_row + j, c_row,
                     std::min<int64_t>(kColumns, columns - j), add);
    }
  }

  // out += x[0] * row 0 + … + x[R - 1] * row R - 1 of the matrix.
  template <int R>
  [[gnu::always_inline]] static inline void add_rows(const T* x, const T* matrix, int64_t row,
                                                     int64_t columns, T* out) {
    int64_t j = 0;
    for (; j + kLanes <= columns; j += kLanes) {
      V sum;
      load(sum, out + j);
      for (int r = 0; r < R; ++r) {
        V m;
        load(m, matrix + r * row + j);
        sum += m * x[r];
      }
      store(out + j, sum);
    }
    for (; j < columns; ++j)
      for (int r = 0; r < R; ++r) out[j] += matrix[r * row + j] * x[r];
  }
  // out[j] = sum of x[p] * matrix[p, j].
  [[gnu::always_inline]] static inline void combine(const T* x, const T* matrix, int64_t row,
                                                    int64_t columns, int64_t k, T* out) {
    std::fill_n(out, columns, T(0));
    int64_t p = 0;
    for (; p + 8 <= k; p += 8) add_rows<8>(x + p, matrix + p * row, row, columns, out);
    for (; p < k; ++p) add_rows<1>(x + p, matrix + p * row, row, columns, out);
  }

  template <int R>
  [[gnu::always_inline]] static inline void dot_rows(const T* x, const T* matrix, int64_t row,
                                                     int64_t k, T* out) {
    V sum[R][4] = {};
    int64_t p = 0;
    for (; p + 4 * kLanes <= k; p += 4 * kLanes)
      for (int v = 0; v < 4; ++v) {
        V y;
        load(y, x + p + v * kLanes);
        for (int r = 0; r < R; ++r) {
          V m;
          load(m, matrix + r * row + p + v * kLanes);
          sum[r][v] += m * y;
        }
      }
    for (int r = 0; r < R; ++r) {
      const V all = (sum[r][0] + sum[r][1]) + (sum[r][2] + sum[r][3]);
      T total = 0;
      for (int l = 0; l < kLanes; ++l) total += all[l];
      for (int64_t q = p; q < k; ++q) total += matrix[r * row + q] * x[q];
      out[r] = total;
    }
  }
  // out[i] = sum of matrix[i, p] * x[p].
  [[gnu::always_inline]] static inline void dot(const T* x, const T* matrix, int64_t row,
                                                int64_t rows, int64_t k, T* out) {
    int64_t i = 0;
    for (; i + 2 <= rows; i += 2) dot_rows<2>(x, matrix + i * row, row, k, out + i);
    for (; i < rows; ++i) dot_rows<1>(x, matrix + i * row, row, k, out + i);
  }

  template <int kWidth>
  [[gnu::always_inline]] static inline void copy(T* to, const T* from) {
    constexpr int kWhole = kWidth / kLanes * kLanes;
    for (int j = 0; j < kWhole; j += kLanes) {
      V v;
      load(v, from + j);
      store(to + j, v);
    }
    std::memcpy(to + kWhole, from + kWhole, (kWidth - kWhole) * sizeof(T));
  }

  // `strips` strips of kWidth, the last one of `width`, from a matrix in which a depth's elements
  // lie side by side; depth by depth, since each is likely to be far from the next.
  template <int kWidth>
  [[gnu::always_inline]] static inline void pack_along(const T* from, int64_t step, int64_t strips,
                                                       int64_t width, int64_t k, T* to) {
    const int64_t whole = width == kWidth ? strips : strips - 1;
    for (int64_t p = 0; p < k; ++p)
      for (int64_t s = 0; s < whole; ++s)
        copy<kWidth>(to + (s * k + p) * kWidth, from + p * step + s * kWidth);
    if (whole == strips) return;
    from += whole * kWidth;
    to += whole * k * kWidth;
    for (int64_t p = 0; p < k; ++p, to += kWidth)
      for (int64_t j = 0; j < kWidth; ++j) to[j] = j < width ? from[p * step + j] : T(0);
  }

  // Lanes of a, then of b, as the mask numbers them. clang's own builtin wants constants.
  [[gnu::always_inline]] static inline void shuffle(const V& a, const V& b, const Mask& mask,
                                                    V& out) {
#if defined(__clang__)
    for (int l = 0; l < kLanes; ++l) out[l] = mask[l] < kLanes ? a[mask[l]] : b[mask[l] - kLanes];
#else
    out = __builtin_shuffle(a, b, mask);
#endif
  }

  // The lanes of x whose bit kBit is set change places with those of y where it is not.
  template <int kBit>
  [[gnu::always_inline]] static inline void swap_lanes(V& x, V& y) {
    Mask low, high;
    for (int l = 0; l < kLanes; ++l) {
      low[l] = l & kBit ? kLanes + l - kBit : l;
      high[l] = l & kBit ? kLanes + l : l + kBit;
    }
    const V a = x, b = y;
    shuffle(a, b, low, x);
    shuffle(a, b, high, y);
  }
  // Lanes of both in turn: the first two of each four, then the last two. One instruction each, as
  // swap_lanes<1> of floats is not.
  [[gnu::always_inline]] static inline void interleave(V& x, V& y) {
    Mask low, high;
    for (int l = 0; l < kLanes; ++l) {
      low[l] = l / 4 * 4 + l % 4 / 2 + (l & 1 ? kLanes : 0);
      high[l] = low[l] + 2;
    }
    const V a = x, b = y;
    shuffle(a, b, low, x);
    shuffle(a, b, high, y);
  }
  // Rows and lanes change places.
  template <int kBit = kLanes / 2>
  [[gnu::always_inline]] static inline void turn(V* square) {
    if constexpr (kBit == 2 && sizeof(T) == 4) {
      for (int r = 0; r < kLanes; r += 4) {
        V* q = square + r;
        interleave(q[0], q[1]);
        interleave(q[2], q[3]);
        swap_lanes<2>(q[0], q[2]);
        swap_lanes<2>(q[1], q[3]);
        std::swap(q[1], q[2]);
      }
    } else {
      for (int r = 0; r < kLanes; ++r)
        if (!(r & kBit)) swap_lanes<kBit>(square[r], square[r + kBit]);
      if constexpr (kBit > 1) turn<kBit / 2>(square);
    }
  }

  // kLanes depths of kPart elements, turned to lie `width` apart; in each depth but the last it may
  // write beyond them, over what begins the next.
  template <int kPart>
  [[gnu::always_inline]] static inline void turn_square(const T* from, int64_t step, T* to,
                                                        int64_t width) {
    V square[kLanes];
#pragma GCC unroll 16
    for (int r = 0; r < kLanes; ++r) {
      if (r < kPart) load(square[r], from + r * step);
      else square[r] = V{};
    }
    turn(square);
#pragma GCC unroll 16
    for (int q = 0; q < kLanes; ++q) {
      if (kPart == kLanes || q + 1 < kLanes) store(to + q * width, square[q]);
      else std::memcpy(to + q * width, &square[q], kPart * sizeof(T));
    }
  }

  // … from a matrix in which each element's depths lie side by side.
  template <int kWidth>
  [[gnu::always_inline]] static inline void pack_across(const T* from, int64_t step, int64_t strips,
                                                        int64_t width, int64_t k, T* to) {
    for (int64_t s = 0; s < strips; ++s, from += kWidth * step, to += k * kWidth)
      strip_across<kWidth>(from, step, s + 1 < strips ? kWidth : width, k, to);
  }
  template <int kWidth>
  [[gnu::always_inline]] static inline void strip_across(const T* from, int64_t step, int64_t width,
                                                         int64_t k, T* to) {
    constexpr int kRest = kWidth % kLanes;
    int64_t p = 0;
    for (; width == kWidth && p + kLanes <= k; p += kLanes) {
      if constexpr (kRest > 0)
        turn_square<kRest>(from + (kWidth - kRest) * step + p, step,
                           to + (p + 1) * kWidth - kRest, kWidth);
      for (int64_t j = 0; j + kLanes <= kWidth; j += kLanes)
        turn_square<kLanes>(from + j * step + p, step, to + p * kWidth + j, kWidth);
    }
    for (; p < k; ++p)
      for (int64_t j = 0; j < kWidth; ++j)
        to[p * kWidth + j] = j < width ? from[j * step + p] : T(0);
  }
};

}  // namespace emplace::cpu
