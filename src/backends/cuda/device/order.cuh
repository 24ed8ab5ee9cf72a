// Counts and orders: the largest, where values would go, histograms.

// NaN comes last, of equals the first.
template <class C> DEV bool comes_before(C a, i64 at_a, C b, i64 at_b) {
  if (a > b || a < b) return a > b;
  const bool nan_a = a != a, nan_b = b != b;
  return nan_a != nan_b ? nan_b : at_a < at_b;
}
// The k largest of each row of n, in order: a block a row, one after another.
template <class T, class I> __global__ void top_k(T* values, I* indices, const T* x, i64 n, i64 k) {
  typedef Compute<T> C;
  __shared__ C part[256];
  __shared__ i64 place[256];
  const T* row = x + (i64)blockIdx.x * n;
  C last = 0;
  i64 last_at = -1;
  for (i64 r = 0; r < k; ++r) {
    C best = 0;
    i64 at = -1;
    for (i64 i = threadIdx.x; i < n; i += blockDim.x) {
      const C v = load(row[i]);
      if (r > 0 && !comes_before<C>(last, last_at, v, i)) continue;
      if (at < 0 || comes_before<C>(v, i, best, at)) { best = v; at = i; }
    }
    part[threadIdx.x] = best;
    place[threadIdx.x] = at;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
      if (threadIdx.x < s) {
        const i64 mine = place[threadIdx.x], other = place[threadIdx.x + s];
        if (other >= 0 && (mine < 0 || comes_before<C>(part[threadIdx.x + s], other, part[threadIdx.x], mine))) {
          part[threadIdx.x] = part[threadIdx.x + s];
          place[threadIdx.x] = other;
        }
      }
      __syncthreads();
    }
    last = part[0];
    last_at = place[0];
    __syncthreads();
    if (threadIdx.x == 0) {
      values[(i64)blockIdx.x * k + r] = row[last_at];
      indices[(i64)blockIdx.x * k + r] = (I)last_at;
    }
  }
}
// Is the target among the k best of its row? Not where something is not a number.
template <class I> __global__ void in_top_k(bool* out, const float* x, const I* targets, const I* k, i64 rows, i64 n) {
  for (i64 r = thread_id(); r < rows; r += num_threads()) {
    const i64 want = (i64)targets[r];
    bool fine = want >= 0 && want < n && isfinite(x[r * n + (want < 0 || want >= n ? 0 : want)]);
    i64 above = 0;
    for (i64 i = 0; fine && i < n; ++i) {
      fine = isfinite(x[r * n + i]);
      above += x[r * n + i] > x[r * n + want];
    }
    out[r] = fine && above < (i64)*k;
  }
}
// Where values would go in sorted rows.
template <class T, class O, bool UPPER> __global__ void bound(O* out, const T* sorted, const T* values, i64 count, i64 n, i64 m) {
  for (i64 i = thread_id(); i < count; i += num_threads()) {
    const T* row = sorted + i / m * n;
    const Compute<T> v = load(values[i]);
    i64 low = 0, high = n;
    while (low < high) {
      const i64 middle = (low + high) / 2;
      const Compute<T> w = load(row[middle]);
      if (UPPER ? !(v < w) : w < v) low = middle + 1; else high = middle;
    }
    out[i] = (O)low;
  }
}
template <class T> __global__ void bucketize(i32* out, const T* x, const float* limits, i64 n, i64 count) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    i64 low = 0, high = count;
    while (low < high) {
      const i64 middle = (low + high) / 2;
      if (!((double)x[i] < (double)limits[middle])) low = middle + 1; else high = middle;
    }
    out[i] = (i32)low;
  }
}
// Counts ids of rows of n, or adds their weights.
template <class T, class I, bool BINARY>
__global__ void bincount(T* bins, const I* ids, const T* weights, i64 count, i64 n, i64 size) {
  for (i64 i = thread_id(); i < count; i += num_threads()) {
    const i64 id = (i64)ids[i];
    if (id < 0 || id >= size) continue;
    T* bin = bins + i / n * size + id;
    if (BINARY) *bin = (T)1; else atomicAdd(bin, weights ? weights[i] : (T)1);
  }
}
template <class T> __global__ void histogram(i32* bins, const T* x, i64 n, double low, double step, i64 count) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    const double at = ((double)load(x[i]) - low) / step;
    const i64 bin = at != at || at < 0 ? 0 : at < (double)(count - 1) ? (i64)at : count - 1;
    atomicAdd(bins + bin, 1);
  }
}
