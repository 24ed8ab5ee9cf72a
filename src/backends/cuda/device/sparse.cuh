// Tensors given by the places of what is not 0; rows gathered by segments.
template <class C> DEV void add_to(C* to, C x) { atomicAdd(to, x); }
template <class R> DEV void add_to(Complex<R>* to, Complex<R> x) { atomicAdd(&to->re, x.re); atomicAdd(&to->im, x.im); }
template <class C> DEV C mirrored(C x, bool) { return x; }
template <class R> DEV Complex<R> mirrored(Complex<R> x, bool adjoint) { return {x.re, adjoint ? -x.im : x.im}; }

// sums[row, k] += a[row, column] * b[column, k]; a thread a place and column of b.
template <class T, class I>
__global__ void sparse_product(Compute<T>* sums, const I* indices, const T* values, const T* b, i64 n, i64 rows, i64 inner, i64 columns,
                               bool adjoint_a, bool adjoint_b) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    const i64 p = i / columns, k = i % columns;
    const i64 row = (i64)indices[2 * p + (adjoint_a ? 1 : 0)], from = (i64)indices[2 * p + (adjoint_a ? 0 : 1)];
    if (row < 0 || row >= rows || from < 0 || from >= inner) continue;
    const Compute<T> x = mirrored(load(values[p]), adjoint_a);
    const Compute<T> y = mirrored(load(b[adjoint_b ? k * inner + from : from * columns + k]), adjoint_b);
    add_to(&sums[row * columns + k], x * y);
  }
}
template <class T> __global__ void narrowed_sums(T* out, const Compute<T>* in, i64 n) {
  for (i64 i = thread_id(); i < n; i += num_threads()) out[i] = Store<T>::from(in[i]);
}

// ---- Chosen rows, gathered by the number of their segment; numbers rise. HOW: 0 sum, 1 mean, 2 over the root.
template <class I> DEV i64 first_place(const I* ids, i64 rows, i64 id) {
  i64 low = 0, high = rows;
  while (low < high) {
    const i64 middle = (low + high) / 2;
    if ((i64)ids[middle] < id) low = middle + 1; else high = middle;
  }
  return low;
}
template <int HOW, class C> DEV C weighted(C x, i64 count) {
  if (HOW == 0 || count < 1) return x;
  return HOW == 1 ? x / (C)count : x / (C)sqrt((double)count);
}
template <class T, class I, class S, int HOW>
__global__ void segment_rows(T* out, const T* data, const I* indices, const S* ids, i64 n, i64 places, i64 rows, i64 inner) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    const i64 segment = i / inner, k = i % inner;
    const i64 begin = first_place(ids, places, segment), end = first_place(ids, places, segment + 1);
    Compute<T> sum = 0;
    for (i64 p = begin; p < end; ++p)
      if (const i64 row = (i64)indices[p]; row >= 0 && row < rows) sum += load(data[row * inner + k]);
    out[i] = Store<T>::from(weighted<HOW>(sum, end - begin));
  }
}
// With `chosen` the sums are of these `found` rows only, whose numbers rise.
template <class T, class I, class S, int HOW>
__global__ void segment_rows_grad(Compute<T>* sums, const T* grad, const I* indices, const S* ids, i64 n, i64 places, i64 segments, i64 rows, i64 inner,
                                  const I* chosen, i64 found) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    const i64 p = i / inner, k = i % inner, row = (i64)indices[p], segment = (i64)ids[p];
    if (row < 0 || row >= rows || segment < 0 || segment >= segments) continue;
    const i64 count = HOW ? first_place(ids, places, segment + 1) - first_place(ids, places, segment) : 1;
    const i64 to = chosen ? first_place(chosen, found, row) : row;
    atomicAdd(&sums[to * inner + k], weighted<HOW>(load(grad[segment * inner + k]), count));
  }
}
template <class I> __global__ void mark_rows(u8* marks, const I* indices, i64 n, i64 rows) {
  for (i64 i = thread_id(); i < n; i += num_threads())
    if (indices[i] >= 0 && (i64)indices[i] < rows) marks[indices[i]] = 1;
}

// ---- Fourier transforms' results.
template <class T> __global__ void scaled(T* x, i64 n, double by) {
  for (i64 i = thread_id(); i < n; i += num_threads()) x[i] = x[i] * (T)by;
}
