// Matrices of equations: a block a matrix, numbers in double (or pairs of them) whatever the tensors hold,
// in memory beside the tensors. All threads of a block call these functions together.
DEV double conj_of(double x) { return x; }
DEV c128 conj_of(c128 x) { return {x.re, -x.im}; }
DEV double square_of(double x) { return x * x; }
DEV double square_of(c128 x) { return x.re * x.re + x.im * x.im; }
DEV double real_of(double x) { return x; }
DEV double real_of(c128 x) { return x.re; }
DEV double times(double x, double r) { return x * r; }
DEV c128 times(c128 x, double r) { return {x.re * r, x.im * r}; }
template <class W> DEV W number(double r) { return Store<W>::from(r); }
// What a tensor's number is here, and back.
DEV double widened(f16 x) { return load(x); }
DEV double widened(float x) { return x; }
DEV double widened(double x) { return x; }
DEV c128 widened(c64 x) { return {x.re, x.im}; }
DEV c128 widened(c128 x) { return x; }
template <class T, class W> DEV T narrowed(W x) { return Store<T>::from(x); }

#define EACH(i, n) for (i64 i = threadIdx.x; i < (n); i += blockDim.x)

template <class W> DEV void swap_rows(W* a, i64 columns, i64 r, i64 s) {
  if (r == s) return;
  EACH(c, columns) { const W x = a[r * columns + c]; a[r * columns + c] = a[s * columns + c]; a[s * columns + c] = x; }
}
template <class T, class W> DEV void copy_matrix(W* to, const T* from, i64 rows, i64 columns, bool adjoint) {
  EACH(i, rows * columns) {
    const i64 r = i / columns, c = i % columns;
    to[i] = adjoint ? conj_of(widened(from[c * rows + r])) : widened(from[i]);
  }
}
// The row from k on whose number in column k is largest.
template <class W> DEV i64 pivot_of(const W* a, i64 n, i64 k) {
  __shared__ double size[256];
  __shared__ i64 row[256];
  double most = -1;
  i64 at = k;
  for (i64 r = k + threadIdx.x; r < n; r += blockDim.x)
    if (const double s = square_of(a[r * n + k]); s > most) { most = s; at = r; }
  size[threadIdx.x] = most;
  row[threadIdx.x] = at;
  __syncthreads();
  for (int step = 128; step > 0; step /= 2) {
    if (threadIdx.x < step) {
      const int other = threadIdx.x + step;
      if (size[other] > size[threadIdx.x] || (size[other] == size[threadIdx.x] && row[other] < row[threadIdx.x])) {
        size[threadIdx.x] = size[other];
        row[threadIdx.x] = row[other];
      }
    }
    __syncthreads();
  }
  const i64 found = row[0];
  __syncthreads();
  return found;
}
// a becomes L (ones on the diagonal left out) and U; `more`, of m columns, has its rows swapped alike, and
// so has `order`. Returns the sign of the swaps.
template <class W> DEV int factorize(W* a, i64 n, W* more, i64 m, i64* order) {
  int sign = 1;
  for (i64 k = 0; k < n; ++k) {
    const i64 p = pivot_of(a, n, k);
    if (p != k) {
      sign = -sign;
      swap_rows(a, n, k, p);
      if (more) swap_rows(more, m, k, p);
      if (order && threadIdx.x == 0) { const i64 x = order[k]; order[k] = order[p]; order[p] = x; }
    }
    __syncthreads();
    const W top = a[k * n + k];
    if (square_of(top) == 0) continue;
    for (i64 r = k + 1 + threadIdx.x; r < n; r += blockDim.x) a[r * n + k] = a[r * n + k] / top;
    __syncthreads();
    const i64 left = n - k - 1;
    EACH(i, left * left) {
      const i64 r = k + 1 + i / left, c = k + 1 + i % left;
      a[r * n + c] = a[r * n + c] - a[r * n + k] * a[k * n + c];
    }
    __syncthreads();
  }
  return sign;
}
// b becomes the solution; ONES: the diagonal counts as ones.
template <bool LOWER, bool ONES, class W> DEV void solve_triangle(const W* a, i64 n, W* b, i64 m) {
  for (i64 step = 0; step < n; ++step) {
    const i64 k = LOWER ? step : n - 1 - step;
    if (!ONES) EACH(c, m) b[k * m + c] = b[k * m + c] / a[k * n + k];
    __syncthreads();
    const i64 first = LOWER ? k + 1 : 0, left = LOWER ? n - k - 1 : k;
    EACH(i, left * m) {
      const i64 r = first + i / m, c = i % m;
      b[r * m + c] = b[r * m + c] - a[r * n + k] * b[k * m + c];
    }
    __syncthreads();
  }
}

// ---- Kernels. work: n * n (and more) numbers a matrix.
template <class T, class W> __global__ void cholesky(T* out, const T* in, W* work, i64 n) {
  W* a = work + (i64)blockIdx.x * n * n;
  T* to = out + (i64)blockIdx.x * n * n;
  copy_matrix(a, in + (i64)blockIdx.x * n * n, n, n, false);
  __shared__ bool good;
  if (threadIdx.x == 0) good = true;
  __syncthreads();
  for (i64 k = 0; k < n; ++k) {
    const double d = real_of(a[k * n + k]);
    if (threadIdx.x == 0 && !(d > 0)) good = false;
    __syncthreads();
    const double root = sqrt(d);
    for (i64 r = k + 1 + threadIdx.x; r < n; r += blockDim.x) a[r * n + k] = times(a[r * n + k], 1 / root);
    if (threadIdx.x == 0) a[k * n + k] = number<W>(root);
    __syncthreads();
    const i64 left = n - k - 1;
    EACH(i, left * left) {
      const i64 r = k + 1 + i / left, c = k + 1 + i % left;
      if (c <= r) a[r * n + c] = a[r * n + c] - a[r * n + k] * conj_of(a[c * n + k]);
    }
    __syncthreads();
  }
  const bool fine = good;
  EACH(i, n * n) to[i] = narrowed<T>(i % n > i / n ? number<W>(0) : fine ? a[i] : number<W>((double)NOT_A_NUMBER));
}
template <class T, class W, class I> __global__ void lu(T* out, I* order, const T* in, W* work, i64* places, i64 n) {
  W* a = work + (i64)blockIdx.x * n * n;
  i64* p = places + (i64)blockIdx.x * n;
  copy_matrix(a, in + (i64)blockIdx.x * n * n, n, n, false);
  EACH(i, n) p[i] = i;
  __syncthreads();
  factorize(a, n, (W*)0, 0, p);
  EACH(i, n * n) out[(i64)blockIdx.x * n * n + i] = narrowed<T>(a[i]);
  EACH(i, n) order[(i64)blockIdx.x * n + i] = (I)p[i];
}
// LOGS: the sign (a number of size 1) to `out`, the logarithm of the size to `logs`.
template <class T, class W, bool LOGS> __global__ void determinant(T* out, T* logs, const T* in, W* work, i64 n) {
  W* a = work + (i64)blockIdx.x * n * n;
  copy_matrix(a, in + (i64)blockIdx.x * n * n, n, n, false);
  __syncthreads();
  const int sign = factorize(a, n, (W*)0, 0, (i64*)0);
  if (threadIdx.x) return;
  W d = number<W>(sign);
  double log_size = 0;
  for (i64 k = 0; k < n; ++k) {
    const W x = a[k * n + k];
    const double size = sqrt(square_of(x));
    if (LOGS) {
      log_size += log(size);
      d = size > 0 ? d * times(x, 1 / size) : number<W>(0);
    } else {
      d = d * x;
    }
  }
  out[blockIdx.x] = narrowed<T>(d);
  if (LOGS) logs[blockIdx.x] = narrowed<T>(number<W>(log_size));
}
// in^-1 b; without b the inverse. A pivot of 0 sets *bad.
template <class T, class W>
__global__ void solve(T* out, const T* in, const T* b, W* work, i32* bad, i64 n, i64 m, bool adjoint) {
  W* a = work + (i64)blockIdx.x * (n * n + n * m);
  W* x = a + n * n;
  copy_matrix(a, in + (i64)blockIdx.x * n * n, n, n, adjoint);
  if (b) copy_matrix(x, b + (i64)blockIdx.x * n * m, n, m, false);
  else EACH(i, n * m) x[i] = number<W>(i / m == i % m);
  __syncthreads();
  factorize(a, n, x, m, (i64*)0);
  EACH(k, n) if (!(square_of(a[k * n + k]) > 0)) *bad = 1;
  solve_triangle<true, true>(a, n, x, m);
  solve_triangle<false, false>(a, n, x, m);
  EACH(i, n * m) out[(i64)blockIdx.x * n * m + i] = narrowed<T>(x[i]);
}
// Batches meet as `s` says: which matrix of either side, in units of matrices.
template <class T, class W>
__global__ void triangle(T* out, const T* in, const T* b, W* work, i64 n, i64 m, bool lower, bool adjoint, const Strides s) {
  i64 at[2];
  offsets<2>(s, blockIdx.x, at);
  W* a = work + (i64)blockIdx.x * (n * n + n * m);
  W* x = a + n * n;
  copy_matrix(a, in + at[0] * n * n, n, n, adjoint);
  copy_matrix(x, b + at[1] * n * m, n, m, false);
  __syncthreads();
  if (lower != adjoint) solve_triangle<true, false>(a, n, x, m);
  else solve_triangle<false, false>(a, n, x, m);
  EACH(i, n * m) out[(i64)blockIdx.x * n * m + i] = narrowed<T>(x[i]);
}

// ---- Rotations. Columns meet in pairs, n/2 pairs a round: who sits where in round r of a tournament.
DEV i64 player(i64 even, i64 round, i64 seat) {
  if (seat == 0) return 0;
  return 1 + (seat - 1 + round) % (even - 1);
}
DEV void pair_of(i64 even, i64 round, i64 k, i64& p, i64& q) {
  p = player(even, round, k);
  q = player(even, round, even - 1 - k);
  if (p > q) { const i64 x = p; p = q; q = x; }
}
// How to turn two columns with squares a and b and product `cross` = <p, q> so that they are orthogonal:
// p' = c p - s q, q' = conj(s) p + c q.
template <class W> struct Turn { double c; W s; };
template <class W> DEV Turn<W> turn_of(double a, double b, W cross) {
  const double size = sqrt(square_of(cross));
  if (!(size > 1e-300) || size * size <= 1e-34 * a * b) return {1, number<W>(0)};
  const double zeta = (b - a) / (2 * size), t = (zeta >= 0 ? 1.0 : -1.0) / (fabs(zeta) + sqrt(1 + zeta * zeta));
  const double c = rsqrt(1 + t * t);
  return {c, times(conj_of(cross), c * t / size)};
}
template <class W> DEV void turn(W& p, W& q, const Turn<W>& t) {
  const W x = times(p, t.c) - t.s * q, y = conj_of(t.s) * p + times(q, t.c);
  p = x;
  q = y;
}
#define MOST_SWEEPS 40

// Eigenvalues, smallest first, and vectors (may be null) of self-adjoint matrices, whose lower half counts.
template <class T, class W>
__global__ void self_adjoint(T* values, T* vectors, const T* in, W* work, Turn<W>* turns, i64 n) {
  W* a = work + (i64)blockIdx.x * 2 * n * n;
  W* v = a + n * n;
  const i64 even = n + n % 2, half = even / 2;
  Turn<W>* turned = turns + (i64)blockIdx.x * half;
  const T* from = in + (i64)blockIdx.x * n * n;
  EACH(i, n * n) {
    const i64 r = i / n, c = i % n;
    a[i] = r >= c ? widened(from[r * n + c]) : conj_of(widened(from[c * n + r]));
    if (r == c) a[i] = number<W>(real_of(a[i]));
    v[i] = number<W>(r == c);
  }
  __shared__ bool busy;
  for (int sweep = 0; sweep < MOST_SWEEPS && n > 1; ++sweep) {
    __syncthreads();
    if (threadIdx.x == 0) busy = false;
    __syncthreads();
    for (i64 round = 0; round < even - 1; ++round) {
      EACH(k, half) {
        i64 p, q;
        pair_of(even, round, k, p, q);
        Turn<W> t = {1, number<W>(0)};
        if (q < n) {
          // A' = J* A J with columns turned by J: what makes the entry (p, q) vanish.
          const double x = real_of(a[p * n + p]), y = real_of(a[q * n + q]);
          const W cross = a[p * n + q];
          const double size = sqrt(square_of(cross));
          if (size > 1e-300 && size > 1e-16 * (fabs(x) + fabs(y))) {
            const double zeta = (y - x) / (2 * size), w = (zeta >= 0 ? 1.0 : -1.0) / (fabs(zeta) + sqrt(1 + zeta * zeta));
            const double c = rsqrt(1 + w * w);
            t = {c, times(conj_of(cross), c * w / size)};
            busy = true;
          }
        }
        turned[k] = t;
      }
      __syncthreads();
      EACH(i, half * n) {  // columns of a and v
        const i64 k = i / n, r = i % n;
        i64 p, q;
        pair_of(even, round, k, p, q);
        if (q >= n) continue;
        turn(a[r * n + p], a[r * n + q], turned[k]);
        turn(v[r * n + p], v[r * n + q], turned[k]);
      }
      __syncthreads();
      EACH(i, half * n) {  // rows of a
        const i64 k = i / n, c = i % n;
        i64 p, q;
        pair_of(even, round, k, p, q);
        if (q >= n) continue;
        const Turn<W> t = {turned[k].c, conj_of(turned[k].s)};
        turn(a[p * n + c], a[q * n + c], t);
      }
      __syncthreads();
    }
    if (!busy) break;
  }
  __syncthreads();
  EACH(i, n) {  // its place in the order
    const double own = real_of(a[i * n + i]);
    i64 place = 0;
    for (i64 k = 0; k < n; ++k) {
      const double other = real_of(a[k * n + k]);
      place += other < own || (other == own && k < i);
    }
    if (own != own) place = i;
    values[(i64)blockIdx.x * n + place] = narrowed<T>(number<W>(own));
    if (vectors)
      for (i64 r = 0; r < n; ++r) vectors[((i64)blockIdx.x * n + r) * n + place] = narrowed<T>(v[r * n + i]);
  }
}

// Singular values of [rows, columns], largest first. The columns of a (rows >= columns; FLIP: of the adjoint
// of a wide one) are turned until they are orthogonal: a = u s v*. u has `left` columns, v `right`.
template <class T, class W, bool FLIP>
__global__ void singular(T* values, T* u, T* v, const T* in, W* work, Turn<W>* turns, i64 m, i64 n, i64 left) {
  const i64 each = m * n + n * n + m * left;
  W* a = work + (i64)blockIdx.x * each;
  W* w = a + m * n;     // becomes v
  W* full = w + n * n;  // becomes u
  const i64 even = n + n % 2, half = even / 2;
  Turn<W>* turned = turns + (i64)blockIdx.x * half;
  copy_matrix(a, in + (i64)blockIdx.x * m * n, m, n, FLIP);
  EACH(i, n * n) w[i] = number<W>(i / n == i % n);
  __shared__ bool busy;
  for (int sweep = 0; sweep < MOST_SWEEPS && n > 1; ++sweep) {
    __syncthreads();
    if (threadIdx.x == 0) busy = false;
    __syncthreads();
    for (i64 round = 0; round < even - 1; ++round) {
      EACH(k, half) {
        i64 p, q;
        pair_of(even, round, k, p, q);
        Turn<W> t = {1, number<W>(0)};
        if (q < n) {
          double x = 0, y = 0;
          W cross = number<W>(0);
          for (i64 r = 0; r < m; ++r) {
            x += square_of(a[r * n + p]);
            y += square_of(a[r * n + q]);
            cross = cross + conj_of(a[r * n + p]) * a[r * n + q];
          }
          t = turn_of(x, y, cross);
          if (square_of(t.s) > 0) busy = true;
        }
        turned[k] = t;
      }
      __syncthreads();
      EACH(i, half * (m + n)) {
        const i64 k = i / (m + n), r = i % (m + n);
        i64 p, q;
        pair_of(even, round, k, p, q);
        if (q >= n) continue;
        W* row = r < m ? a + r * n : w + (r - m) * n;
        turn(row[p], row[q], turned[k]);
      }
      __syncthreads();
    }
    if (!busy) break;
  }
  __syncthreads();
  // Columns by their sizes.
  EACH(i, n) {
    double own = 0;
    for (i64 r = 0; r < m; ++r) own += square_of(a[r * n + i]);
    i64 place = 0;
    for (i64 k = 0; k < n; ++k) {
      double other = 0;
      for (i64 r = 0; r < m; ++r) other += square_of(a[r * n + k]);
      place += other > own || (other == own && k < i);
    }
    const double size = sqrt(own);
    if (own != own) place = i;
    values[(i64)blockIdx.x * n + place] = narrowed<T>(number<W>(size));
    if (!u) continue;
    for (i64 r = 0; r < m; ++r) full[r * left + place] = size > 0 ? times(a[r * n + i], 1 / size) : number<W>(0);
    T* to = FLIP ? u : v;  // n columns, whatever was asked for
    for (i64 r = 0; r < n; ++r) to[((i64)blockIdx.x * n + r) * n + place] = narrowed<T>(w[r * n + i]);
  }
  __syncthreads();
  if (!u) return;
  // Columns without a size, and those beyond n: whatever is orthogonal to all before them.
  __shared__ double parts[256];
  i64 next = 0;
  for (i64 k = 0; k < left; ++k) {
    double own = 0;
    EACH(r, m) own += k < n ? square_of(full[r * left + k]) : 0;
    parts[threadIdx.x] = own;
    __syncthreads();
    double total = 0;
    for (int t = 0; t < blockDim.x; ++t) total += parts[t];
    __syncthreads();
    if (total > 0 || total != total) continue;
    for (; next < m; ) {
      EACH(r, m) full[r * left + k] = number<W>(r == next);
      ++next;
      for (int twice = 0; twice < 2; ++twice)
        for (i64 j = 0; j < left; ++j) {
          if (j == k || (j > k && j >= n)) continue;
          __syncthreads();
          W dot = number<W>(0);
          for (i64 r = 0; r < m; ++r) dot = dot + conj_of(full[r * left + j]) * full[r * left + k];
          __syncthreads();
          EACH(r, m) full[r * left + k] = full[r * left + k] - full[r * left + j] * dot;
        }
      __syncthreads();
      double size = 0;
      for (i64 r = 0; r < m; ++r) size += square_of(full[r * left + k]);
      __syncthreads();
      EACH(r, m) full[r * left + k] = times(full[r * left + k], rsqrt(size));
      __syncthreads();
      if (size > 0.5 / m) break;
    }
  }
  T* to = FLIP ? v : u;
  EACH(i, m * left) to[(i64)blockIdx.x * m * left + i] = narrowed<T>(full[i]);
}

// ---- Three diagonals: [3, n] of (above, main, below), one thread an equation system.
template <class T, class W, bool PIVOT>
__global__ void tridiagonal_solve(T* out, const T* diagonals, const T* b, W* work, i64 count, i64 n, i64 m) {
  for (i64 i = thread_id(); i < count * m; i += num_threads()) {
    const i64 k = i / m, c = i % m;
    const T *above = diagonals + k * 3 * n, *main = above + n, *below = main + n;
    W *d = work + i * 4 * n, *e = d + n, *f = e + n, *x = f + n;  // main, first and second above
    for (i64 r = 0; r < n; ++r) {
      d[r] = widened(main[r]);
      e[r] = r + 1 < n ? widened(above[r]) : number<W>(0);
      f[r] = number<W>(0);
      x[r] = widened(b[(k * n + r) * m + c]);
    }
    for (i64 r = 0; r + 1 < n; ++r) {
      W low = widened(below[r + 1]);
      if (PIVOT && square_of(low) > square_of(d[r])) {
        W t = d[r]; d[r] = low; low = t;
        t = e[r]; e[r] = d[r + 1]; d[r + 1] = t;
        f[r] = e[r + 1]; e[r + 1] = number<W>(0);
        t = x[r]; x[r] = x[r + 1]; x[r + 1] = t;
      }
      const W q = low / d[r];
      d[r + 1] = d[r + 1] - q * e[r];
      e[r + 1] = e[r + 1] - q * f[r];
      x[r + 1] = x[r + 1] - q * x[r];
    }
    for (i64 r = n - 1; r >= 0; --r) {
      W sum = x[r];
      if (r + 1 < n) sum = sum - e[r] * x[r + 1];
      if (r + 2 < n) sum = sum - f[r] * x[r + 2];
      x[r] = sum / d[r];
      out[(k * n + r) * m + c] = narrowed<T>(x[r]);
    }
  }
}
template <class T>
__global__ void tridiagonal_product(T* out, const T* above, const T* main, const T* below, const T* b, i64 total, i64 n, i64 m) {
  for (i64 i = thread_id(); i < total; i += num_threads()) {
    const i64 c = i % m, r = i / m % n, k = i / (m * n);
    auto sum = widened(main[k * n + r]) * widened(b[(k * n + r) * m + c]);
    if (r + 1 < n) sum = sum + widened(above[k * n + r]) * widened(b[(k * n + r + 1) * m + c]);
    if (r > 0) sum = sum + widened(below[k * n + r]) * widened(b[(k * n + r - 1) * m + c]);
    out[i] = narrowed<T>(sum);
  }
}
template <class T> __global__ void identity(T* out, i64 n, i64 size) {
  for (i64 i = thread_id(); i < n; i += num_threads()) out[i] = Store<T>::from(i / size % size == i % size ? 1 : 0);
}
