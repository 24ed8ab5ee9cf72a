// Results whose size the data decide: places of what is not 0, sums over sorted segments.
#define WHERE_BLOCK 1024

template <class T> DEV bool is_set(const T& x) { return load(x) != (Compute<T>)0; }
template <class R> DEV bool is_set(const Complex<R>& x) { return x.re != (R)0 || x.im != (R)0; }

// How many of each WHERE_BLOCK elements are set.
template <class T> __global__ void where_count(i64* counts, const T* x, i64 n) {
  __shared__ i32 total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  i32 mine = 0;
  const i64 first = (i64)blockIdx.x * WHERE_BLOCK;
  for (i64 i = first + threadIdx.x; i < first + WHERE_BLOCK && i < n; i += blockDim.x) mine += is_set(x[i]);
  atomicAdd(&total, mine);
  __syncthreads();
  if (threadIdx.x == 0) counts[blockIdx.x] = total;
}
// counts[k] becomes the sum of those before it; the sum of all goes behind them. One block.
__global__ void where_sum(i64* counts, i64 n) {
  __shared__ i64 part[256];
  i64 before = 0;
  for (i64 first = 0; first < n; first += 256) {
    const i64 i = first + threadIdx.x;
    const i64 own = i < n ? counts[i] : 0;
    part[threadIdx.x] = own;
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
      const i64 more = threadIdx.x >= step ? part[threadIdx.x - step] : 0;
      __syncthreads();
      part[threadIdx.x] += more;
      __syncthreads();
    }
    if (i < n) counts[i] = before + part[threadIdx.x] - own;
    before += part[255];
    __syncthreads();
  }
  if (threadIdx.x == 0) counts[n] = before;
}
// The coordinates of what is set, in order: a block of WHERE_BLOCK threads for as many elements.
template <class T, class I>
__global__ void where_write(I* out, const i64* before, const T* x, i64 n, const Strides s) {
  __shared__ i32 part[WHERE_BLOCK];
  const i64 i = (i64)blockIdx.x * WHERE_BLOCK + threadIdx.x;
  const bool set = i < n && is_set(x[i]);
  part[threadIdx.x] = set;
  __syncthreads();
  for (int step = 1; step < WHERE_BLOCK; step *= 2) {
    const i32 more = threadIdx.x >= step ? part[threadIdx.x - step] : 0;
    __syncthreads();
    part[threadIdx.x] += more;
    __syncthreads();
  }
  if (!set) return;
  I* to = out + (before[blockIdx.x] + part[threadIdx.x] - 1) * s.rank;
  i64 rest = i;
  for (int d = s.rank - 1; d >= 0; --d) { to[d] = (I)(rest % s.dims[d]); rest /= s.dims[d]; }
}

// Rows of [rows, inner] whose sorted ids are equal become one. HOW: 0 sum, 1 mean, 2 product, 3 largest,
// 4 smallest. A thread an element of the result.
template <class I> DEV i64 first_of(const I* ids, i64 rows, i64 id) {
  i64 low = 0, high = rows;
  while (low < high) {
    const i64 middle = (low + high) / 2;
    if ((i64)ids[middle] < id) low = middle + 1; else high = middle;
  }
  return low;
}
template <class T, class I, int HOW>
__global__ void segments(T* out, const T* x, const I* ids, i64 n, i64 rows, i64 inner) {
  typedef Compute<T> C;
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    const i64 id = i / inner, column = i % inner;
    const i64 begin = first_of(ids, rows, id), end = first_of(ids, rows, id + 1);
    C a = begin < end ? load(x[begin * inner + column]) : HOW == 2 ? (C)1 : (C)0;
    for (i64 r = begin + 1; r < end; ++r) {
      const C v = load(x[r * inner + column]);
      if (HOW == 2) a *= v;
      else if (HOW == 3) a = v > a || v != v ? v : a;
      else if (HOW == 4) a = v < a || v != v ? v : a;
      else a += v;
    }
    out[i] = Store<T>::from(HOW == 1 && end > begin ? a / (C)(end - begin) : a);
  }
}

// ---- Rows by the number of their part, in order. A part's rows of a block of WHERE_BLOCK are counted;
// counts, [parts, blocks], are summed by where_sum; then every row knows its place.
__global__ void part_count(i64* counts, const i32* which, i64 n, i64 parts, i64 blocks) {
  for (i64 i = thread_id(); i < n; i += num_threads())
    if (which[i] >= 0 && which[i] < parts) atomicAdd((u64*)&counts[which[i] * blocks + i / WHERE_BLOCK], 1ull);
}
__global__ void part_place(i64* order, i64* starts, const i64* before, const i32* which, i64 n, i64 parts, i64 blocks) {
  const i64 first = (i64)blockIdx.x * WHERE_BLOCK, i = first + threadIdx.x;
  if (i < n && which[i] >= 0 && which[i] < parts) {
    i64 rank = 0;
    for (i64 k = first; k < i; ++k) rank += which[k] == which[i];
    order[before[which[i] * blocks + blockIdx.x] + rank] = i;
  }
  if (blockIdx.x == 0)
    for (i64 p = threadIdx.x; p <= parts; p += blockDim.x) starts[p] = before[p * blocks];
}
// Rows of `inner` elements, of which only the size counts.
template <class T> __global__ void take_rows(T* out, const T* in, const i64* order, i64 n, i64 inner) {
  for (i64 i = thread_id(); i < n; i += num_threads()) out[i] = in[order[i / inner] * inner + i % inner];
}

// ---- Values without repeats, in the order of their first places. A table of twice as many slots holds a
// representative of each value; `first` the least place at which it stands.
DEV u64 mixed(u64 x) {
  x ^= x >> 33; x *= 0xff51afd7ed558ccdull; x ^= x >> 33; x *= 0xc4ceb9fe1a85ec53ull;
  return x ^ (x >> 33);
}
template <class T> DEV u64 hash_of(const T& x) {
  return mixed((u64)x);
}
DEV u64 hash_of(const float& x) { return mixed(__float_as_uint(x == 0 ? 0.0f : x)); }
DEV u64 hash_of(const f16& x) { return hash_of(load(x)); }
DEV u64 hash_of(const bf16& x) { return hash_of(load(x)); }
DEV u64 hash_of(const double& x) { return mixed((u64)__double_as_longlong(x == 0 ? 0.0 : x)); }
template <class T> __global__ void unique_insert(i64* slots, i64* first, i64* place, const T* x, i64 n, i64 size) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    i64 s = (i64)(hash_of(x[i]) % (u64)size);
    for (;;) {
      const i64 seen = (i64)atomicCAS((u64*)&slots[s], ~0ull, (u64)i);
      if (seen < 0 || load(x[seen]) == load(x[i])) break;
      s = s + 1 == size ? 0 : s + 1;
    }
    place[i] = s;
    atomicMin((u64*)&first[s], (u64)i);
  }
}
__global__ void unique_flags(u8* flags, const i64* first, const i64* place, i64 n) {
  for (i64 i = thread_id(); i < n; i += num_threads()) flags[i] = first[place[i]] == i;
}
// Numbers the values by their first places: a block of WHERE_BLOCK threads for as many elements.
template <class T>
__global__ void unique_number(T* values, i64* numbers, const i64* before, const u8* flags, const i64* place, const T* x, i64 n) {
  __shared__ i32 part[WHERE_BLOCK];
  const i64 i = (i64)blockIdx.x * WHERE_BLOCK + threadIdx.x;
  const bool set = i < n && flags[i];
  part[threadIdx.x] = set;
  __syncthreads();
  for (int step = 1; step < WHERE_BLOCK; step *= 2) {
    const i32 more = threadIdx.x >= step ? part[threadIdx.x - step] : 0;
    __syncthreads();
    part[threadIdx.x] += more;
    __syncthreads();
  }
  if (!set) return;
  const i64 number = before[blockIdx.x] + part[threadIdx.x] - 1;
  numbers[place[i]] = number;
  values[number] = x[i];
}
template <class I> __global__ void unique_indices(I* out, I* counts, const i64* numbers, const i64* place, i64 n) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    const i64 number = numbers[place[i]];
    out[i] = (I)number;
    if (counts) {
      if constexpr (sizeof(I) == 8) atomicAdd((u64*)&counts[number], 1ull);
      else atomicAdd((i32*)&counts[number], 1);
    }
  }
}
// 1: something is not a number, 2: +infinity, 4: -infinity.
template <class T> __global__ void odd_numbers(i32* found, const T* x, i64 n) {
  i32 mine = 0;
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    const Compute<T> v = load(x[i]);
    if (!isfinite(v)) mine |= isnan(v) ? 1 : v > 0 ? 2 : 4;
  }
  if (mine) atomicOr(found, mine);
}
