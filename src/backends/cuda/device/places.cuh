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
