// Moving elements about. Only the size of an element counts, so T is one of u8, u16, u32, u64, c128.

// out[i] = in[base + where(i)]: slices, transposes, repeats, reversals.
template <class T> __global__ void gather_strided(T* out, const T* in, i64 base, i64 n, const Strides s) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    i64 at[1];
    offsets<1>(s, i, at);
    out[i] = in[base + at[0]];
  }
}
// out[base + where(i)] = in[i]: padding, the gradient of a slice.
template <class T> __global__ void scatter_strided(T* out, const T* in, i64 base, i64 n, const Strides s) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    i64 at[1];
    offsets<1>(s, i, at);
    out[base + at[0]] = in[i];
  }
}
// out[base + where(i)] = in[from(i)]: a slice takes what is spread over it.
template <class T> __global__ void move_strided(T* out, const T* in, i64 base, i64 n, const Strides s) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    i64 at[2];
    offsets<2>(s, i, at);
    out[base + at[0]] = in[at[1]];
  }
}
// [batch, rows, columns] -> [batch, columns, rows], through tiles of 32 by 32.
template <class T> __global__ void transpose(T* out, const T* in, i64 rows, i64 columns) {
  __shared__ T tile[32][33];
  const i64 plane = (i64)blockIdx.z * rows * columns;
  i64 c = (i64)blockIdx.x * 32 + threadIdx.x, r = (i64)blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8)
    if (c < columns && r + k < rows) tile[threadIdx.y + k][threadIdx.x] = in[plane + (r + k) * columns + c];
  __syncthreads();
  c = (i64)blockIdx.y * 32 + threadIdx.x;
  r = (i64)blockIdx.x * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8)
    if (c < rows && r + k < columns) out[plane + (r + k) * rows + c] = tile[threadIdx.x][threadIdx.y + k];
}

// Images of [rows, line] elements within larger ones, [all_rows, all_line] each, zeros around them.
template <class T>
__global__ void framed(T* out, const T* in, i64 n, i32 all_rows, i32 all_line, i32 rows, i32 line,
                       i32 top, i32 left) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    const u64 at = n >> 31 ? (u64)i / (u32)all_line : (u64)((u32)i / (u32)all_line);
    const i32 x = (i32)((u64)i - at * (u32)all_line) - left;
    const u64 image = at >> 31 ? at / (u32)all_rows : (u64)((u32)at / (u32)all_rows);
    const i32 y = (i32)(at - image * (u32)all_rows) - top;
    T v{};
    if (x >= 0 && x < line && y >= 0 && y < rows) v = in[((i64)image * rows + y) * line + x];
    out[i] = v;
  }
}

// [rows, width] elements into [to_rows, to_width] with zeros behind them, from one pitch to
// another.
template <class T>
__global__ void copy_rows(T* to, const T* from, i32 width, i32 rows, i32 to_width, i32 to_rows,
                          i64 to_pitch, i64 from_pitch) {
  const i32 first = blockIdx.x * 1024 + threadIdx.x;
  for (i32 r = blockIdx.y; r < to_rows; r += gridDim.y) {
    T seen[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      seen[k] = T{};
      if (r < rows && first + 256 * k < width) seen[k] = from[r * from_pitch + first + 256 * k];
    }
#pragma unroll
    for (int k = 0; k < 4; ++k)
      if (first + 256 * k < to_width) to[r * to_pitch + first + 256 * k] = seen[k];
  }
}

// ---- By index.
// params: [outer, rows, inner], indices: [outer/batch.., count] -> [outer, count, inner]. An index
// out of range gives zeros. `per_batch`: how many outer rows share a row of indices.
template <class T, class I>
__global__ void gather(T* out, const T* params, const I* indices, i64 n, i64 rows, i64 count, i64 inner,
                       i64 outer_per_batch) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    const i64 in = i % inner, k = i / inner % count, o = i / (inner * count);
    const i64 row = (i64)indices[o / outer_per_batch * count + k];
    T zero{};
    out[i] = row >= 0 && row < rows ? params[(o * rows + row) * inner + in] : zero;
  }
}
struct Steps { i64 dims[8]; i64 strides[8]; };
template <class T, class I>
__global__ void gather_nd(T* out, const T* params, const I* indices, i64 n, i64 inner, i32 depth, const Steps s) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    const i64 k = i / inner;
    i64 at = i % inner;
    bool inside = true;
    for (int d = 0; d < depth; ++d) {
      const i64 x = (i64)indices[k * depth + d];
      inside &= x >= 0 && x < s.dims[d];
      at += x * s.strides[d];
    }
    T zero{};
    out[i] = inside ? params[at] : zero;
  }
}
template <class T, class I>
__global__ void one_hot(T* out, const I* indices, const T* on, const T* off, i64 n, i64 depth, i64 inner) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    const i64 in = i % inner, d = i / inner % depth, o = i / (inner * depth);
    out[i] = (i64)indices[o * inner + in] == d ? *on : *off;
  }
}

// ---- Scattered updates. Sums go by atomics.
struct Put { template <class T> DEV void f(T* to, T x) { *to = x; } };
DEV void atomic_add(float* to, float x) { atomicAdd(to, x); }
DEV void atomic_add(double* to, double x) { atomicAdd(to, x); }
DEV void atomic_add(i32* to, i32 x) { atomicAdd(to, x); }
DEV void atomic_add(i64* to, i64 x) { atomicAdd((u64*)to, (u64)x); }
DEV void atomic_add(u32* to, u32 x) { atomicAdd(to, x); }
DEV void atomic_add(u64* to, u64 x) { atomicAdd(to, x); }
template <class H> DEV void atomic_add_half(H* to, H x) {
  u32* word = (u32*)((u64)to & ~3ull);
  const bool high = (u64)to & 2;
  u32 old = *word, seen;
  do {
    seen = old;
    H now; now.bits = high ? seen >> 16 : seen & 0xffff;
    H sum = Store<H>::from(load(now) + load(x));
    u32 next = high ? (seen & 0xffff) | ((u32)sum.bits << 16) : (seen & 0xffff0000u) | sum.bits;
    old = atomicCAS(word, seen, next);
  } while (old != seen);
}
DEV void atomic_add(f16* to, f16 x) { atomic_add_half(to, x); }
DEV void atomic_add(bf16* to, bf16 x) { atomic_add_half(to, x); }
template <class R> DEV void atomic_add(Complex<R>* to, Complex<R> x) { atomicAdd(&to->re, x.re); atomicAdd(&to->im, x.im); }

// What has no atomic of its own goes by compare and swap on 4 or 8 bytes.
template <int N> struct Word;
template <> struct Word<4> { typedef u32 type; };
template <> struct Word<8> { typedef u64 type; };
template <class F, class T> DEV void atomic_do(T* to, T x) {
  if constexpr (sizeof(T) == 1) {
    u32* word = (u32*)((u64)to & ~3ull);
    const int shift = 8 * (int)((u64)to & 3);
    u32 old = *word, seen;
    do {
      seen = old;
      u8 part = (u8)(seen >> shift);
      T now = *(T*)&part, next = F::f(now, x);
      old = atomicCAS(word, seen, (seen & ~(0xffu << shift)) | (u32)*(u8*)&next << shift);
    } while (old != seen);
  } else if constexpr (sizeof(T) == 2) {
    u32* word = (u32*)((u64)to & ~3ull);
    const bool high = (u64)to & 2;
    u32 old = *word, seen;
    do {
      seen = old;
      u16 half = high ? seen >> 16 : seen & 0xffff;
      T now = *(T*)&half, next = F::f(now, x);
      u16 bits = *(u16*)&next;
      old = atomicCAS(word, seen, high ? (seen & 0xffff) | ((u32)bits << 16) : (seen & 0xffff0000u) | bits);
    } while (old != seen);
  } else {
    typedef typename Word<sizeof(T)>::type W;
    W old = *(W*)to, seen;
    do {
      seen = old;
      T now = *(T*)&seen, next = F::f(now, x);
      old = atomicCAS((W*)to, seen, *(W*)&next);
    } while (old != seen);
  }
}
struct SumOf { template <class T> DEV T f(T a, T b) { return Store<T>::from(load(a) + load(b)); } };
struct AddTo {
  template <class T> DEV void f(T* to, T x) {
    if constexpr (Is<T>::integer && sizeof(T) < 4) atomic_do<SumOf>(to, x);
    else atomic_add(to, x);
  }
};
struct SubFrom { template <class T> DEV void f(T* to, T x) { AddTo::f(to, Store<T>::from(-load(x))); } };
struct MaxOf { template <class T> DEV T f(T a, T b) { return load(a) > load(b) ? a : b; } };
struct MinOf { template <class T> DEV T f(T a, T b) { return load(a) < load(b) ? a : b; } };
struct TimesOf { template <class T> DEV T f(T a, T b) { return Store<T>::from(load(a) * load(b)); } };
struct OverOf { template <class T> DEV T f(T a, T b) { return Store<T>::from(load(a) / load(b)); } };
struct MaxTo { template <class T> DEV void f(T* to, T x) { atomic_do<MaxOf>(to, x); } };
struct MinTo { template <class T> DEV void f(T* to, T x) { atomic_do<MinOf>(to, x); } };
struct MulTo { template <class T> DEV void f(T* to, T x) { atomic_do<TimesOf>(to, x); } };
struct DivTo { template <class T> DEV void f(T* to, T x) { atomic_do<OverOf>(to, x); } };

// values: [count, inner]; out[index(k), :] takes values[k, :]. Indices have `depth` parts.
template <class How, class T, class I>
__global__ void scatter(T* out, const I* indices, const T* values, i64 n, i64 inner, i32 depth, const Steps s,
                        i64 value_stride) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    const i64 k = i / inner, in = i % inner;
    i64 at = in;
    bool inside = true;
    for (int d = 0; d < depth; ++d) {
      const i64 x = (i64)indices[k * depth + d];
      inside &= x >= 0 && x < s.dims[d];
      at += x * s.strides[d];
    }
    if (inside) How::f(out + at, values[k * value_stride + (value_stride ? in : 0)]);
  }
}

// Keeps `lower` diagonals below and `upper` above the main one of [.., rows, columns]; below 0: all.
template <class T> __global__ void band_part(T* out, const T* in, i64 n, i64 rows, i64 columns, i64 lower, i64 upper) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    const i64 c = i % columns, r = i / columns % rows;
    T zero{};
    out[i] = (lower < 0 || r - c <= lower) && (upper < 0 || c - r <= upper) ? in[i] : zero;
  }
}
// out[i] = in[(i - shift) modulo each dimension]
template <class T> __global__ void roll(T* out, const T* in, i64 n, const Strides s, const Steps shift) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    i64 rest = i, at = 0;
    for (int d = s.rank - 1; d >= 0; --d) {
      i64 x = rest % s.dims[d] - shift.dims[d];
      rest /= s.dims[d];
      at += (x < 0 ? x + s.dims[d] : x) * s.strides[0][d];
    }
    out[i] = in[at];
  }
}
// Mirrors the edges; `skip`: the edge itself is not repeated. shift.dims: paddings before.
template <class T>
__global__ void mirror_pad(T* out, const T* in, i64 n, const Strides s, const Steps pads, i32 skip) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    i64 rest = i, at = 0;
    for (int d = s.rank - 1; d >= 0; --d) {
      i64 x = rest % s.dims[d] - pads.dims[d];
      rest /= s.dims[d];
      const i64 size = pads.strides[d];
      if (x < 0) x = -x - 1 + skip;
      else if (x >= size) x = 2 * size - 1 - x - skip;
      at += x * s.strides[0][d];
    }
    out[i] = in[at];
  }
}
// The gradient of that: an input has what its own place and its mirror images have. A thread an input.
template <class T>
__global__ void mirror_pad_grad(T* dx, const T* dy, i64 n, const Strides s, const Steps pads, const Steps extent, i32 skip) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    i64 place[8][3];
    int count[8];
    i64 rest = i;
    for (int d = s.rank - 1; d >= 0; --d) {
      const i64 size = s.dims[d], x = rest % size, before = pads.dims[d], padded = extent.dims[d];
      rest /= size;
      count[d] = 0;
      place[d][count[d]++] = before + x;
      const i64 low = before - 1 + skip - x, high = before + 2 * size - 1 - x - skip;
      if (low >= 0 && low < before) place[d][count[d]++] = low;
      if (high >= before + size && high < padded) place[d][count[d]++] = high;
    }
    int at[8] = {};
    Compute<T> sum = 0;
    for (bool more = true; more;) {
      i64 o = 0;
      for (int d = 0; d < s.rank; ++d) o += place[d][at[d]] * extent.strides[d];
      sum += load(dy[o]);
      more = false;
      for (int d = s.rank - 1; d >= 0; --d) {
        if (++at[d] < count[d]) { more = true; break; }
        at[d] = 0;
      }
    }
    dx[i] = Store<T>::from(sum);
  }
}
// ---- Made on the spot.
template <class T> __global__ void range_of(T* out, i64 n, Compute<T> start, Compute<T> step) {
  for (i64 i = thread_id(); i < n; i += num_threads()) out[i] = Store<T>::from(start + (Compute<T>)i * step);
}
// Rows of a tensor, chosen by numbers that count from the end where negative, take values one by one: where
// a row is named twice the later one wins, or both are added.
template <class T, int HOW> __global__ void change_rows(T* out, const i32* rows, const T* values, i64 count, i64 n, i64 inner) {
  for (i64 c = thread_id(); c < inner; c += num_threads())
    for (i64 k = 0; k < count; ++k) {
      T* to = out + ((rows[k] % n + n) % n) * inner + c;
      const T x = values[k * inner + c];
      if (HOW == 0) *to = x;
      else *to = Store<T>::from(HOW == 1 ? load(*to) + load(x) : load(*to) - load(x));
    }
}
// Rows go where `to` says; below 0: nowhere.
template <class T> __global__ void put_rows(T* out, const T* in, const i64* to, i64 n, i64 inner) {
  for (i64 i = thread_id(); i < n; i += num_threads())
    if (const i64 row = to[i / inner]; row >= 0) out[row * inner + i % inner] = in[i];
}
