// Sparse tensors moved about: joined, cut, put in order, their empty rows filled. Indices are [n, rank].

// Where each index lies in the dense tensor, and its own number.
__global__ void flat_keys(i64* keys, i64* order, const i64* indices, const i64* dims, i64 n, i64 rank) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    i64 at = 0;
    for (i64 d = 0; d < rank; ++d) at = at * dims[d] + indices[i * rank + d];
    keys[i] = at;
    order[i] = i;
  }
}
// Runs of `width` sorted keys become runs of twice that, those of the left run first where keys are equal.
__global__ void merge_runs(i64* keys, i64* order, const i64* from, const i64* from_order, i64 n, i64 width) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    const i64 first = i / (2 * width) * (2 * width), key = from[i];
    const bool right = i - first >= width;
    const i64 other = right ? first : first + width;
    i64 low = other < n ? other : n, high = other + width < n ? other + width : n;
    const i64 begin = low;
    while (low < high) {
      const i64 middle = (low + high) / 2;
      if (from[middle] < key || (right && from[middle] == key)) low = middle + 1; else high = middle;
    }
    const i64 to = i + (low - begin) - (right ? width : 0);
    keys[to] = key;
    order[to] = from_order[i];
  }
}
// Rows of indices by their numbers, counted from `start` (null: as they are).
__global__ void take_places(i64* out, const i64* in, const i64* order, const i64* start, i64 n, i64 rank) {
  for (i64 i = thread_id(); i < n; i += num_threads()) out[i] = in[order[i / rank] * rank + i % rank] - (start ? start[i % rank] : 0);
}
__global__ void shifted_places(i64* out, const i64* in, i64 n, i64 rank, i64 axis, i64 shift) {
  for (i64 i = thread_id(); i < n; i += num_threads()) out[i] = in[i] + (i % rank == axis ? shift : 0);
}
// dims: those before, then those after.
__global__ void reshaped_places(i64* out, const i64* in, const i64* dims, i64 n, i64 before, i64 after) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    u64 at = 0;
    for (i64 d = 0; d < before; ++d) at = at * (u64)dims[d] + (u64)in[i * before + d];
    i64 rest = (i64)at;
    for (i64 d = after - 1; d >= 0; --d) {
      const i64 size = dims[before + d] > 1 ? dims[before + d] : 1;
      out[i * after + d] = rest % size;
      rest /= size;
    }
  }
}
// box: first places, then the places behind the last.
__global__ void in_box(u8* flags, const i64* indices, const i64* box, i64 n, i64 rank) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    bool in = true;
    for (i64 d = 0; d < rank; ++d) in = in && indices[i * rank + d] >= box[d] && indices[i * rank + d] < box[rank + d];
    flags[i] = in;
  }
}
// The first `more` parts have one place more than `small`.
__global__ void part_of_place(i32* which, const i64* indices, i64 n, i64 rank, i64 axis, i64 small, i64 more) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    const i64 at = indices[i * rank + axis], wide = more * (small + 1);
    which[i] = (i32)(at < wide ? at / (small + 1) : more + (at - wide) / small);
  }
}
// What a slice's values got, to those it was taken from; both in order.
template <class T>
__global__ void from_slice(T* out, const T* grad, const i64* in, const i64* start, const i64* taken, i64 n, i64 count, i64 rank) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    i64 low = 0, high = count;
    int order = 1;  // of the place found against the wanted one
    while (low < high && order != 0) {
      const i64 middle = (low + high) / 2;
      order = 0;
      for (i64 d = 0; d < rank && order == 0; ++d) {
        const i64 a = taken[middle * rank + d] + start[d], b = in[i * rank + d];
        order = a < b ? -1 : a > b ? 1 : 0;
      }
      if (order < 0) low = middle + 1; else high = middle;
    }
    T none = T();
    out[i] = order == 0 ? grad[high] : none;
  }
}

// ---- Empty rows. A value's row is rows[i * rank]. found: is anything out of order, the first value whose row is none
// (or n), how many there will be.
__global__ void row_counts(i64* counts, i64* keys, i64* order, i64* found, const i64* rows_of, i64 n, i64 rank, i64 rows) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    const i64 row = rows_of[i * rank];
    keys[i] = row;
    order[i] = i;
    if (i > 0 && rows_of[(i - 1) * rank] > row) found[0] = 1;
    if (row < 0 || row >= rows) atomicMin((u64*)&found[1], (u64)i);
    else atomicAdd((u64*)&counts[row], 1ull);
  }
}
// How many each 1024 rows will have, an empty row one.
__global__ void filled_sums(i64* sums, const i64* counts, i64 rows) {
  __shared__ u64 total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  const i64 row = (i64)blockIdx.x * 1024 + threadIdx.x;
  if (row < rows) atomicAdd(&total, (u64)(counts[row] > 0 ? counts[row] : 1));
  __syncthreads();
  if (threadIdx.x == 0) sums[blockIdx.x] = (i64)total;
}
// Where each row begins, given where each 1024 rows do.
__global__ void filled_starts(i64* starts, const i64* before, const i64* counts, i64 rows) {
  __shared__ i64 part[1024];
  const i64 row = (i64)blockIdx.x * 1024 + threadIdx.x;
  const i64 own = row < rows ? (counts[row] > 0 ? counts[row] : 1) : 0;
  part[threadIdx.x] = own;
  __syncthreads();
  for (int step = 1; step < 1024; step *= 2) {
    const i64 more = threadIdx.x >= step ? part[threadIdx.x - step] : 0;
    __syncthreads();
    part[threadIdx.x] += more;
    __syncthreads();
  }
  if (row < rows) starts[row] = before[blockIdx.x] + part[threadIdx.x] - own;
}
// keys: rows in order; order: whose they are.
template <class T>
__global__ void fill_values(i64* places, T* values, i64* back, const i64* keys, const i64* order, const i64* starts, const i64* in, const T* given,
                            i64 n, i64 rank) {
  for (i64 p = thread_id(); p < n; p += num_threads()) {
    const i64 row = keys[p], i = order[p];
    i64 low = 0, high = p;  // the first of this row
    while (low < high) {
      const i64 middle = (low + high) / 2;
      if (keys[middle] < row) low = middle + 1; else high = middle;
    }
    const i64 to = starts[row] + p - low;
    back[i] = to;
    values[to] = given[i];
    for (i64 d = 0; d < rank; ++d) places[to * rank + d] = in[i * rank + d];
  }
}
template <class T>
__global__ void fill_rows(i64* places, T* values, bool* empty, const i64* counts, const i64* starts, const T* rest, i64 rows, i64 rank) {
  for (i64 row = thread_id(); row < rows; row += num_threads()) {
    empty[row] = counts[row] == 0;
    if (counts[row] > 0) continue;
    values[starts[row]] = *rest;
    for (i64 d = 0; d < rank; ++d) places[starts[row] * rank + d] = d == 0 ? row : 0;
  }
}
// found: the first number that is none (or n).
template <class T> __global__ void back_to_values(T* out, u8* taken, i64* found, const i64* back, const T* grad, i64 n, i64 count) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    const i64 at = back[i];
    if (at < 0 || at >= count) { atomicMin((u64*)found, (u64)i); continue; }
    taken[at] = 1;
    out[i] = grad[at];
  }
}
// The sum of what reached no value of its own. One block of 256 threads.
template <class T, class S> __global__ void back_to_default(T* out, const u8* taken, const T* grad, i64 count) {
  __shared__ S part[256];
  S sum = 0;
  for (i64 i = threadIdx.x; i < count; i += blockDim.x)
    if (!taken[i]) sum += (S)load(grad[i]);
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int step = 128; step > 0; step /= 2) {
    if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) *out = Store<T>::from(part[0]);
}
