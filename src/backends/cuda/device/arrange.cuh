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
struct AddTo { template <class T> DEV void f(T* to, T x) { atomic_add(to, x); } };
struct SubFrom { template <class T> DEV void f(T* to, T x) { atomic_add(to, Store<T>::from(-load(x))); } };

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
