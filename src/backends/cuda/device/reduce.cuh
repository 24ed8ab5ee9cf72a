// Reductions. The order of additions depends on sizes only, so results repeat bit for bit.
struct SumOp { template <class C> DEV C start() { return Store<C>::from(0); } template <class C> DEV C join(C a, C b) { return a + b; } template <class C> DEV C end(C a, i64) { return a; } };
struct MeanOp : SumOp { template <class C> DEV C end(C a, i64 n) { return a / Store<C>::from(n); } };
struct ProdOp { template <class C> DEV C start() { return Store<C>::from(1); } template <class C> DEV C join(C a, C b) { return a * b; } template <class C> DEV C end(C a, i64) { return a; } };
template <class C> struct Limits;
template <> struct Limits<float> { DEV float low() { return -INF; } DEV float high() { return INF; } };
template <> struct Limits<double> { DEV double low() { return -INF; } DEV double high() { return INF; } };
template <> struct Limits<i32> { DEV i32 low() { return -2147483647 - 1; } DEV i32 high() { return 2147483647; } };
template <> struct Limits<i64> { DEV i64 low() { return -9223372036854775807ll - 1; } DEV i64 high() { return 9223372036854775807ll; } };
template <> struct Limits<i8> { DEV i8 low() { return -128; } DEV i8 high() { return 127; } };
template <> struct Limits<i16> { DEV i16 low() { return -32768; } DEV i16 high() { return 32767; } };
template <> struct Limits<u8> { DEV u8 low() { return 0; } DEV u8 high() { return 255; } };
template <> struct Limits<u16> { DEV u16 low() { return 0; } DEV u16 high() { return 65535; } };
template <> struct Limits<u32> { DEV u32 low() { return 0; } DEV u32 high() { return ~0u; } };
template <> struct Limits<u64> { DEV u64 low() { return 0; } DEV u64 high() { return ~0ull; } };
struct MaxOp { template <class C> DEV C start() { return Limits<C>::low(); } template <class C> DEV C join(C a, C b) { return a > b || a != a ? a : b; } template <class C> DEV C end(C a, i64) { return a; } };
struct MinOp { template <class C> DEV C start() { return Limits<C>::high(); } template <class C> DEV C join(C a, C b) { return a < b || a != a ? a : b; } template <class C> DEV C end(C a, i64) { return a; } };
struct AllOp { template <class C> DEV C start() { return true; } template <class C> DEV C join(C a, C b) { return a && b; } template <class C> DEV C end(C a, i64) { return a; } };
struct AnyOp { template <class C> DEV C start() { return false; } template <class C> DEV C join(C a, C b) { return a || b; } template <class C> DEV C end(C a, i64) { return a; } };
struct LogSumExpOp {
  template <class C> DEV C start() { return Limits<C>::low(); }
  template <class C> DEV C join(C a, C b) {
    const C top = a > b ? a : b, low = a > b ? b : a;
    return low == Limits<C>::low() ? top : top + log1p(exp(low - top));
  }
  template <class C> DEV C end(C a, i64) { return a; }
};
// Of the squares.
struct NormOp : SumOp {
  template <class C> DEV C end(C a, i64) {
    if constexpr (Is<C>::complex) return Store<C>::from(sqrt(a.re));
    else return sqrt(a);
  }
};
struct HalfSquaresOp : SumOp { template <class C> DEV C end(C a, i64) { return a / (C)2; } };
template <class Op> struct Before { template <class C> DEV C f(C x) { return x; } };
template <> struct Before<NormOp> {
  template <class C> DEV C f(C x) {
    if constexpr (Is<C>::complex) return Store<C>::from(x.re * x.re + x.im * x.im);
    else return x * x;
  }
};
template <> struct Before<HalfSquaresOp> { template <class C> DEV C f(C x) { return x * x; } };

// All threads of the block; the result is thread 0's.
template <class Op, class C> DEV C block_reduce(C x) {
  __shared__ C part[1024];
  part[threadIdx.x] = x;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) part[threadIdx.x] = Op::template join<C>(part[threadIdx.x], part[threadIdx.x + s]);
    __syncthreads();
  }
  C r = part[0];
  __syncthreads();
  return r;
}

// x: [rows, n] -> out: [rows]; a block a row and part (gridDim.y parts). FIRST: squares and such
// are taken; LAST: the mean's division and such.
template <class Op, class O, class A, bool FIRST, bool LAST>
__global__ void rows(O* out, const A* x, i64 n, i64 total) {
  typedef Compute<A> C;
  const i64 per = (n + gridDim.y - 1) / gridDim.y;
  const i64 begin = blockIdx.y * per, end = begin + per < n ? begin + per : n;
  const A* row = x + (i64)blockIdx.x * n;
  C a = Op::template start<C>();
  for (i64 i = begin + threadIdx.x; i < end; i += blockDim.x) {
    C v = load(row[i]);
    a = Op::template join<C>(a, FIRST ? Before<Op>::template f<C>(v) : v);
  }
  a = block_reduce<Op, C>(a);
  if (threadIdx.x == 0)
    out[(i64)blockIdx.x * gridDim.y + blockIdx.y] = Store<O>::from(LAST ? Op::template end<C>(a, total) : a);
}

// Of the 32 lanes of a warp, for all of them.
template <class Op, class C> DEV C warp_reduce(C x) {
  #pragma unroll
  for (int s = 16; s > 0; s >>= 1) x = Op::template join<C>(x, other_lane(x, s));
  return x;
}

// A warp a row: many rows that are not long. V elements a load.
template <class Op, class O, class A, bool FIRST, bool LAST, int V>
__global__ void short_rows(O* out, const A* x, i64 n, i64 total, i64 count) {
  typedef Compute<A> C;
  const i64 row = thread_id() / 32;
  const int lane = threadIdx.x % 32;
  if (row >= count) return;
  const A* from = x + row * n;
  C a = Op::template start<C>();
  #pragma unroll 4
  for (i64 i = lane * V; i < n; i += 32 * V) {
    const Vec<A, V> some = *(const Vec<A, V>*)(from + i);
    #pragma unroll
    for (int k = 0; k < V; ++k) {
      C v = load(some.v[k]);
      a = Op::template join<C>(a, FIRST ? Before<Op>::template f<C>(v) : v);
    }
  }
  a = warp_reduce<Op, C>(a);
  if (lane == 0) out[row] = Store<O>::from(LAST ? Op::template end<C>(a, total) : a);
}

// x: [outer, n, inner] -> out: [outer, parts, inner]. A block has 32 neighbouring columns and 8 threads
// for each, gridDim.y parts of n.
template <class Op, class O, class A, bool FIRST, bool LAST>
__global__ void columns(O* out, const A* x, i64 outer, i64 n, i64 inner, i64 total) {
  typedef Compute<A> C;
  __shared__ C part[8][33];
  const i64 per = (n + gridDim.y - 1) / gridDim.y;
  const i64 begin = blockIdx.y * per, end = begin + per < n ? begin + per : n;
  const int lane = threadIdx.x % 32, line = threadIdx.x / 32;
  for (i64 first = (i64)blockIdx.x * 32; first < outer * inner; first += (i64)gridDim.x * 32) {
    const i64 c = first + lane, o = c / inner, in = c % inner;
    C a = Op::template start<C>();
    if (c < outer * inner) {
      const A* at = x + o * n * inner + in;
      #pragma unroll 4
      for (i64 i = begin + line; i < end; i += 8) {
        C v = load(at[i * inner]);
        a = Op::template join<C>(a, FIRST ? Before<Op>::template f<C>(v) : v);
      }
    }
    part[line][lane] = a;
    __syncthreads();
    if (line == 0 && c < outer * inner) {
      for (int k = 1; k < 8; ++k) a = Op::template join<C>(a, part[k][lane]);
      out[(o * gridDim.y + blockIdx.y) * inner + in] = Store<O>::from(LAST ? Op::template end<C>(a, total) : a);
    }
    __syncthreads();
  }
}

// Any axes: strides[0] walks the kept ones, `inner` the reduced ones. A block an output.
template <class Op, class O, class A>
__global__ void scattered(O* out, const A* x, i64 n, const Strides kept, const Strides inner) {
  typedef Compute<A> C;
  i64 base[1];
  offsets<1>(kept, blockIdx.x, base);
  C a = Op::template start<C>();
  for (i64 i = threadIdx.x; i < n; i += blockDim.x) {
    i64 at[1];
    offsets<1>(inner, i, at);
    a = Op::template join<C>(a, Before<Op>::template f<C>(load(x[base[0] + at[0]])));
  }
  a = block_reduce<Op, C>(a);
  if (threadIdx.x == 0) out[blockIdx.x] = Store<O>::from(Op::template end<C>(a, n));
}

// Position of the largest (or smallest) along the middle of [outer, n, inner]; the first of equals.
template <class O, class A, bool LARGEST>
__global__ void arg_extreme(O* out, const A* x, i64 outer, i64 n, i64 inner) {
  typedef Compute<A> C;
  for (i64 c = thread_id(); c < outer * inner; c += num_threads()) {
    const i64 o = c / inner, in = c % inner;
    C best = load(x[o * n * inner + in]);
    i64 at = 0;
    for (i64 i = 1; i < n; ++i) {
      C v = load(x[(o * n + i) * inner + in]);
      if (LARGEST ? v > best : v < best) { best = v; at = i; }
    }
    out[c] = (O)at;
  }
}

// Running sums or products along the middle of [outer, n, inner].
template <class Op, class T>
__global__ void scan(T* out, const T* x, i64 outer, i64 n, i64 inner, bool exclusive, bool reverse) {
  typedef Compute<T> C;
  for (i64 c = thread_id(); c < outer * inner; c += num_threads()) {
    const i64 o = c / inner, in = c % inner;
    C a = Op::template start<C>();
    for (i64 k = 0; k < n; ++k) {
      const i64 i = (o * n + (reverse ? n - 1 - k : k)) * inner + in;
      C v = load(x[i]), next = Op::template join<C>(a, v);
      out[i] = Store<T>::from(exclusive ? a : next);
      a = next;
    }
  }
}

// ---- Softmax and its losses. A warp a row of at most 32 * V * K, which it keeps; V elements a load.
template <class T, bool LOG, int V, int K>
__global__ void softmax_short(T* out, const T* x, i64 n, i64 count) {
  typedef Compute<T> C;
  const i64 row = thread_id() / 32;
  const int lane = threadIdx.x % 32;
  if (row >= count) return;
  C v[K * V], top = MaxOp::start<C>(), sum = 0;
  #pragma unroll
  for (int k = 0; k < K; ++k) {
    const int i = (k * 32 + lane) * V;
    if (i >= n) continue;
    const Vec<T, V> some = *(const Vec<T, V>*)(x + row * n + i);
    #pragma unroll
    for (int j = 0; j < V; ++j) top = MaxOp::join<C>(top, v[k * V + j] = load(some.v[j]));
  }
  top = warp_reduce<MaxOp, C>(top);
  #pragma unroll
  for (int k = 0; k < K; ++k) {
    if ((k * 32 + lane) * V >= n) continue;
    #pragma unroll
    for (int j = 0; j < V; ++j) {
      C& at = v[k * V + j];
      at = at - top;
      const C e = exp(at);
      sum += e;
      if (!LOG) at = e;
    }
  }
  sum = warp_reduce<SumOp, C>(sum);
  const C less = LOG ? log(sum) : (C)0;
  #pragma unroll
  for (int k = 0; k < K; ++k) {
    const int i = (k * 32 + lane) * V;
    if (i >= n) continue;
    Vec<T, V> some;
    #pragma unroll
    for (int j = 0; j < V; ++j) some.v[j] = Store<T>::from(LOG ? v[k * V + j] - less : v[k * V + j] / sum);
    *(Vec<T, V>*)(out + row * n + i) = some;
  }
}

// A block a row.
template <class T, bool LOG>
__global__ void softmax(T* out, const T* x, i64 n) {
  typedef Compute<T> C;
  const T* row = x + (i64)blockIdx.x * n;
  C top = MaxOp::start<C>();
  for (i64 i = threadIdx.x; i < n; i += blockDim.x) top = MaxOp::join<C>(top, load(row[i]));
  top = block_reduce<MaxOp, C>(top);
  C sum = 0;
  for (i64 i = threadIdx.x; i < n; i += blockDim.x) sum += exp(load(row[i]) - top);
  sum = block_reduce<SumOp, C>(sum);
  for (i64 i = threadIdx.x; i < n; i += blockDim.x) {
    C v = load(row[i]) - top;
    out[(i64)blockIdx.x * n + i] = Store<T>::from(LOG ? v - log(sum) : exp(v) / sum);
  }
}

// Cross entropy and its gradient; labels may be one row for all (their stride is 0).
template <class T>
__global__ void cross_entropy(T* loss, T* grad, const T* x, const T* labels, i64 n, i64 x_stride, i64 label_stride) {
  typedef Compute<T> C;
  const T* row = x + blockIdx.x * x_stride;
  const T* want = labels + blockIdx.x * label_stride;
  C top = MaxOp::start<C>();
  for (i64 i = threadIdx.x; i < n; i += blockDim.x) top = MaxOp::join<C>(top, load(row[i]));
  top = block_reduce<MaxOp, C>(top);
  C sum = 0;
  for (i64 i = threadIdx.x; i < n; i += blockDim.x) sum += exp(load(row[i]) - top);
  sum = block_reduce<SumOp, C>(sum);
  const C log_sum = log(sum);
  C total = 0;
  for (i64 i = threadIdx.x; i < n; i += blockDim.x) {
    C v = load(row[i]) - top, l = load(want[i]);
    total += l == (C)0 ? (C)0 : l * (log_sum - v);
    grad[(i64)blockIdx.x * n + i] = Store<T>::from(exp(v) / sum - l);
  }
  total = block_reduce<SumOp, C>(total);
  if (threadIdx.x == 0) loss[blockIdx.x] = Store<T>::from(total);
}

// With class numbers for labels; one that is out of range gives NaN, as TensorFlow's GPU kernel.
template <class T, class I>
__global__ void sparse_cross_entropy(T* loss, T* grad, const T* x, const I* labels, i64 n) {
  typedef Compute<T> C;
  const T* row = x + (i64)blockIdx.x * n;
  const i64 want = (i64)labels[blockIdx.x];
  const bool bad = want < 0 || want >= n;
  // The largest and the sum in one pass: what is summed so far shrinks as the largest grows.
  const int AT_ONCE = 8;
  C mine = MaxOp::start<C>(), sum = 0;
  for (i64 i = threadIdx.x; i < n; i += AT_ONCE * blockDim.x) {
    C v[AT_ONCE], most = mine;
#pragma unroll
    for (int k = 0; k < AT_ONCE; ++k) {
      const i64 at = i + k * blockDim.x;
      v[k] = at < n ? load(row[at]) : MaxOp::start<C>();
    }
#pragma unroll
    for (int k = 0; k < AT_ONCE; ++k) most = MaxOp::join<C>(most, v[k]);
    if (most == MaxOp::start<C>()) continue;
    if (sum != 0) sum = sum * exp(mine - most);
    mine = most;
#pragma unroll
    for (int k = 0; k < AT_ONCE; ++k) sum += exp(v[k] - mine);
  }
  const C top = block_reduce<MaxOp, C>(mine);
  sum = block_reduce<SumOp, C>(mine == MaxOp::start<C>() ? (C)0 : sum * exp(mine - top));
#pragma unroll 4
  for (i64 i = threadIdx.x; i < n; i += blockDim.x)
    grad[(i64)blockIdx.x * n + i] =
        Store<T>::from(bad ? (C)NOT_A_NUMBER : exp(load(row[i]) - top) / sum - (i == want ? (C)1 : (C)0));
  if (threadIdx.x == 0)
    loss[blockIdx.x] = Store<T>::from(bad ? (C)NOT_A_NUMBER : log(sum) - (load(row[want]) - top));
}

// Sums over some dimensions of a tensor, the others in an order of their own: a thread a sum.
template <class T> __global__ void arranged(T* out, const T* in, i64 n, i64 each, const Strides outer, const Strides inner) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    i64 at[1], more[1];
    offsets<1>(outer, i, at);
    Compute<T> sum = load(in[at[0]]);
    for (i64 k = 1; k < each; ++k) {
      offsets<1>(inner, k, more);
      sum = sum + load(in[at[0] + more[0]]);
    }
    out[i] = Store<T>::from(sum);
  }
}
