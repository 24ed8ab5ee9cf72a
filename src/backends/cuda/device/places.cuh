// Elements that change their places: diagonals, blocks of space, sequences turned round.

// A band of diagonals, lower … upper (0: the main one), of [rows, columns] matrices; stored as rows of
// equal length, the highest first, shorter ones shifted to a side.
struct Band {
  i64 lower, upper, rows, columns, longest;
  i32 left_above, left_below;
};
DEV i64 diagonal_length(const Band& b, i64 k) {
  const i64 down = b.rows + (k < 0 ? k : 0), across = b.columns - (k > 0 ? k : 0);
  const i64 n = down < across ? down : across;
  return n > 0 ? n : 0;
}
DEV i64 diagonal_shift(const Band& b, i64 k) {
  return (k >= 0 ? b.left_above : b.left_below) ? 0 : b.longest - diagonal_length(b, k);
}
// Matrices with the band from `diagonals`; elsewhere `base`, or `pad` where there is none.
template <class T>
__global__ void with_band(T* out, const T* diagonals, const T* base, const T pad, i64 n, const Band b) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    const i64 column = i % b.columns, row = i / b.columns % b.rows, batch = i / (b.columns * b.rows);
    const i64 k = column - row;
    if (k < b.lower || k > b.upper) { out[i] = base ? base[i] : pad; continue; }
    const i64 at = (b.upper - k) * b.longest + diagonal_shift(b, k) + (k >= 0 ? row : column);
    out[i] = diagonals[batch * (b.upper - b.lower + 1) * b.longest + at];
  }
}
// The band of matrices; `pad` where a diagonal is shorter.
template <class T> __global__ void band_of(T* out, const T* in, const T pad, i64 n, const Band b) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    const i64 count = b.upper - b.lower + 1;
    const i64 k = b.upper - i / b.longest % count, batch = i / (b.longest * count);
    const i64 at = i % b.longest - diagonal_shift(b, k);
    const i64 row = at - (k < 0 ? k : 0), column = at + (k > 0 ? k : 0);
    out[i] = at < 0 || at >= diagonal_length(b, k) ? pad : in[(batch * b.rows + row) * b.columns + column];
  }
}

// Blocks of space and the batch: [batch, large…, inner] against [blocks · batch, small…, inner], the
// edges `before` laid on first.
struct SpaceBlocks {
  i32 count;
  i64 batch, inner;
  i64 block[6], small[6], large[6], before[6];
};
// For each place of the one side its place on the other; -1: in the edges.
DEV i64 place_in_space(const SpaceBlocks& s, i64 i) {
  const i64 r = i % s.inner;
  i64 rest = i / s.inner, at[6];
  for (int d = s.count - 1; d >= 0; --d) { at[d] = rest % s.small[d]; rest /= s.small[d]; }
  const i64 n = rest % s.batch;
  rest /= s.batch;
  for (int d = s.count - 1; d >= 0; --d) { at[d] = at[d] * s.block[d] + rest % s.block[d] - s.before[d]; rest /= s.block[d]; }
  i64 to = n;
  for (int d = 0; d < s.count; ++d) {
    if (at[d] < 0 || at[d] >= s.large[d]) return -1;
    to = to * s.large[d] + at[d];
  }
  return to * s.inner + r;
}
DEV i64 place_in_batch(const SpaceBlocks& s, i64 i) {
  const i64 r = i % s.inner;
  i64 rest = i / s.inner, at[6];
  for (int d = s.count - 1; d >= 0; --d) { at[d] = rest % s.large[d] + s.before[d]; rest /= s.large[d]; }
  i64 to = 0;
  for (int d = 0; d < s.count; ++d) to = to * s.block[d] + at[d] % s.block[d];
  to = to * s.batch + rest;
  for (int d = 0; d < s.count; ++d) to = to * s.small[d] + at[d] / s.block[d];
  return to * s.inner + r;
}
template <class T, bool TO_BATCH> __global__ void space_blocks(T* out, const T* in, i64 n, const SpaceBlocks s) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    const i64 from = TO_BATCH ? place_in_space(s, i) : place_in_batch(s, i);
    if (from < 0) { T zero = {}; out[i] = zero; } else { out[i] = in[from]; }
  }
}

// The first lengths[b] of each sequence in reverse.
template <class T, class I>
__global__ void reverse_sequence(T* out, const T* in, const I* lengths, i64 n, i64 batch, i64 batch_step, i64 size, i64 step) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    const i64 length = (i64)lengths[i / batch_step % batch], at = i / step % size;
    out[i] = in[at < length ? i + (length - 1 - 2 * at) * step : i];
  }
}

// The cross product of rows of three.
template <class T> __global__ void cross(T* out, const T* a, const T* b, i64 rows) {
  for (i64 i = thread_id(); i < rows; i += num_threads()) {
    Compute<T> x[3], y[3];
    for (int k = 0; k < 3; ++k) { x[k] = load(a[3 * i + k]); y[k] = load(b[3 * i + k]); }
    for (int k = 0; k < 3; ++k)
      out[3 * i + k] = Store<T>::from(x[(k + 1) % 3] * y[(k + 2) % 3] - x[(k + 2) % 3] * y[(k + 1) % 3]);
  }
}

// ---- Dimensions by their letters.
struct Letters { i32 at[8]; };
template <class I> __global__ void dim_map(I* out, const I* in, i64 n, const Letters to, i32 rank) {
  for (i64 i = thread_id(); i < n; i += num_threads()) out[i] = (I)to.at[((i32)(in[i] % rank) + rank) % rank];
}
template <class I> __global__ void vec_permute(I* out, const I* in, i64 n, i64 width, const Letters from) {
  for (i64 i = thread_id(); i < n; i += num_threads()) out[i] = in[from.at[i / width] * width + i % width];
}

// ---- Batch normalization over the last of four dimensions, with given means and variances.
template <class T>
__global__ void normalize(T* out, const T* in, const T* mean, const T* variance, const T* beta, const T* gamma, i64 n, i64 depth, float epsilon,
                          bool scale) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    const i64 k = i % depth;
    const float f = 1.0f / sqrtf(load(variance[k]) + epsilon) * (scale ? load(gamma[k]) : 1.0f);
    out[i] = Store<T>::from((load(in[i]) - load(mean[k])) * f + load(beta[k]));
  }
}
template <class T>
__global__ void normalize_back(T* out, const T* in, const T* mean, const T* variance, const T* gamma, const T* grad, i64 n, i64 depth, float epsilon,
                               bool scale) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    const i64 k = i % depth;
    out[i] = Store<T>::from(load(grad[i]) * (1.0f / sqrtf(load(variance[k]) + epsilon)) * (scale ? load(gamma[k]) : 1.0f));
  }
}
// What comes back to means, variances, shifts and factors: a block of 256 threads for each place.
template <class T>
__global__ void normalize_back_sums(T* to_mean, T* to_variance, T* to_beta, T* to_gamma, const T* in, const T* mean, const T* variance,
                                    const T* gamma, const T* grad, i64 rows, i64 depth, float epsilon, bool scale) {
  __shared__ double plain[256], off[256];
  const i64 k = blockIdx.x;
  const float m = load(mean[k]);
  double a = 0, b = 0;
  for (i64 r = threadIdx.x; r < rows; r += blockDim.x) {
    const float g = load(grad[r * depth + k]);
    a += g;
    b += g * (load(in[r * depth + k]) - m);
  }
  plain[threadIdx.x] = a;
  off[threadIdx.x] = b;
  __syncthreads();
  for (int step = 128; step > 0; step /= 2) {
    if (threadIdx.x < step) { plain[threadIdx.x] += plain[threadIdx.x + step]; off[threadIdx.x] += off[threadIdx.x + step]; }
    __syncthreads();
  }
  if (threadIdx.x > 0) return;
  const float v = load(variance[k]) + epsilon, root = 1.0f / sqrtf(v), factor = scale ? load(gamma[k]) : 1.0f;
  to_beta[k] = Store<T>::from((float)plain[0]);
  to_mean[k] = Store<T>::from(-(float)plain[0] * root * factor);
  to_variance[k] = Store<T>::from((float)off[0] * factor * -0.5f * root / v);
  to_gamma[k] = Store<T>::from(scale ? (float)off[0] * root : 0.0f);
}
