// Pools and normalisations over images: [batch, rows, columns, channels] (or channels second).
struct PoolShape {
  i64 batch, channels;
  i64 in[2], out[2], size[2], stride[2], before[2];
  i32 channels_first;
};
struct Pixel { i64 n, c, y, x; };
DEV Pixel pixel(const PoolShape& s, const i64* extent, i64 i) {
  Pixel p;
  if (s.channels_first) {
    p.x = i % extent[1]; i /= extent[1];
    p.y = i % extent[0]; i /= extent[0];
    p.c = i % s.channels; p.n = i / s.channels;
  } else {
    p.c = i % s.channels; i /= s.channels;
    p.x = i % extent[1]; i /= extent[1];
    p.y = i % extent[0]; p.n = i / extent[0];
  }
  return p;
}
DEV i64 offset(const PoolShape& s, const i64* extent, i64 n, i64 c, i64 y, i64 x) {
  return s.channels_first ? ((n * s.channels + c) * extent[0] + y) * extent[1] + x
                          : ((n * extent[0] + y) * extent[1] + x) * s.channels + c;
}
DEV void range(const PoolShape& s, int d, i64 out, i64& begin, i64& end) {
  begin = out * s.stride[d] - s.before[d];
  end = begin + s.size[d];
  if (begin < 0) begin = 0;
  if (end > s.in[d]) end = s.in[d];
}
template <class T, bool MAX> __global__ void pool(T* out, const T* in, i64 n, const PoolShape s) {
  typedef Compute<T> C;
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    const Pixel p = pixel(s, s.out, i);
    i64 y0, y1, x0, x1;
    range(s, 0, p.y, y0, y1);
    range(s, 1, p.x, x0, x1);
    C a = MAX ? (C)-INF : (C)0;
    for (i64 y = y0; y < y1; ++y)
      for (i64 x = x0; x < x1; ++x) {
        const C v = load(in[offset(s, s.in, p.n, p.c, y, x)]);
        if (MAX) a = v > a || v != v ? v : a; else a += v;
      }
    out[i] = Store<T>::from(MAX ? a : a / (C)((y1 - y0) * (x1 - x0)));
  }
}
// The gradient to one input pixel: from every window that holds it, in order. Of equal largest
// values the first takes it.
template <class T, bool MAX>
__global__ void pool_grad(T* dx, const T* in, const T* out, const T* dy, i64 n, const PoolShape s) {
  typedef Compute<T> C;
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    const Pixel p = pixel(s, s.in, i);
    C sum = 0;
    i64 first_y = (p.y + s.before[0] - s.size[0] + s.stride[0]) / s.stride[0];
    i64 first_x = (p.x + s.before[1] - s.size[1] + s.stride[1]) / s.stride[1];
    if (p.y + s.before[0] < s.size[0]) first_y = 0;
    if (p.x + s.before[1] < s.size[1]) first_x = 0;
    for (i64 oy = first_y; oy < s.out[0] && oy * s.stride[0] <= p.y + s.before[0]; ++oy)
      for (i64 ox = first_x; ox < s.out[1] && ox * s.stride[1] <= p.x + s.before[1]; ++ox) {
        const i64 o = offset(s, s.out, p.n, p.c, oy, ox);
        i64 y0, y1, x0, x1;
        range(s, 0, oy, y0, y1);
        range(s, 1, ox, x0, x1);
        if (!MAX) { sum += load(dy[o]) / (C)((y1 - y0) * (x1 - x0)); continue; }
        const C top = load(out[o]);
        if (load(in[i]) != top) continue;
        bool earlier = false;
        for (i64 y = y0; y <= p.y && !earlier; ++y)
          for (i64 x = x0; x < (y == p.y ? p.x : x1) && !earlier; ++x)
            earlier = load(in[offset(s, s.in, p.n, p.c, y, x)]) == top;
        if (!earlier) sum += load(dy[o]);
      }
    dx[i] = Store<T>::from(sum);
  }
}

// ---- The same where channels come last, V of them a thread, with small numbers throughout.
struct SmallPool {
  i32 groups;  // of V channels
  i32 in[2], out[2], size[2], stride[2], before[2];
};
struct Place { i32 n, g, y, x; };
DEV Place place_of(const SmallPool& s, const i32* extent, u32 i) {
  Place p;
  p.g = (i32)(i % (u32)s.groups); i /= (u32)s.groups;
  p.x = (i32)(i % (u32)extent[1]); i /= (u32)extent[1];
  p.y = (i32)(i % (u32)extent[0]); p.n = (i32)(i / (u32)extent[0]);
  return p;
}
DEV i64 row_of(const SmallPool& s, const i32* extent, const Place& p, i32 y, i32 x) {
  return (((i64)p.n * extent[0] + y) * extent[1] + x) * s.groups + p.g;
}
DEV void span_of(const SmallPool& s, int d, i32 out, i32& begin, i32& end) {
  begin = out * s.stride[d] - s.before[d];
  end = begin + s.size[d] < s.in[d] ? begin + s.size[d] : s.in[d];
  begin = begin < 0 ? 0 : begin;
}
template <class T, bool MAX, int V> __global__ void pool_wide(T* out, const T* in, i64 n, const SmallPool s) {
  typedef Compute<T> C;
  const i64 i = thread_id();
  if (i >= n) return;
  const Place p = place_of(s, s.out, (u32)i);
  i32 y0, y1, x0, x1;
  span_of(s, 0, p.y, y0, y1);
  span_of(s, 1, p.x, x0, x1);
  C a[V];
  for (int k = 0; k < V; ++k) a[k] = MAX ? (C)-INF : (C)0;
  for (i32 y = y0; y < y1; ++y)
    for (i32 x = x0; x < x1; ++x) {
      const Vec<T, V> v = ((const Vec<T, V>*)in)[row_of(s, s.in, p, y, x)];
      #pragma unroll
      for (int k = 0; k < V; ++k) {
        const C w = load(v.v[k]);
        if (MAX) a[k] = w > a[k] || w != w ? w : a[k]; else a[k] += w;
      }
    }
  Vec<T, V> r;
  for (int k = 0; k < V; ++k) r.v[k] = Store<T>::from(MAX ? a[k] : a[k] / (C)((y1 - y0) * (x1 - x0)));
  ((Vec<T, V>*)out)[i] = r;
}
// Which place of its window each output came from: the first of equals.
template <class T, int V> __global__ void pool_from(u8* from, const T* in, i64 n, const SmallPool s) {
  typedef Compute<T> C;
  const i64 i = thread_id();
  if (i >= n) return;
  const Place p = place_of(s, s.out, (u32)i);
  i32 y0, y1, x0, x1;
  span_of(s, 0, p.y, y0, y1);
  span_of(s, 1, p.x, x0, x1);
  const i32 top = p.y * s.stride[0] - s.before[0], left = p.x * s.stride[1] - s.before[1];
  C a[V];
  Vec<u8, V> at;
  for (i32 y = y0; y < y1; ++y)
    for (i32 x = x0; x < x1; ++x) {
      const Vec<T, V> v = ((const Vec<T, V>*)in)[row_of(s, s.in, p, y, x)];
      const bool start = y == y0 && x == x0;
      const u8 here = (u8)((y - top) * s.size[1] + (x - left));
      #pragma unroll
      for (int k = 0; k < V; ++k) {
        const C w = load(v.v[k]);
        if (start || w > a[k] || (w != w && a[k] == a[k])) { a[k] = w; at.v[k] = here; }
      }
    }
  ((Vec<u8, V>*)from)[i] = at;
}
// The gradient to one input pixel: from every window that holds it, in order.
template <class T, bool MAX, int V>
__global__ void pool_grad_wide(T* dx, const u8* from, const T* dy, i64 n, const SmallPool s) {
  typedef Compute<T> C;
  const i64 i = thread_id();
  if (i >= n) return;
  const Place p = place_of(s, s.in, (u32)i);
  const i32 y = p.y + s.before[0], x = p.x + s.before[1];
  const i32 first_y = y < s.size[0] ? 0 : (y - s.size[0]) / s.stride[0] + 1;
  const i32 first_x = x < s.size[1] ? 0 : (x - s.size[1]) / s.stride[1] + 1;
  C sum[V];
  for (int k = 0; k < V; ++k) sum[k] = (C)0;
  for (i32 oy = first_y; oy < s.out[0] && oy * s.stride[0] <= y; ++oy)
    for (i32 ox = first_x; ox < s.out[1] && ox * s.stride[1] <= x; ++ox) {
      const i64 o = row_of(s, s.out, p, oy, ox);
      const Vec<T, V> d = ((const Vec<T, V>*)dy)[o];
      if (MAX) {
        const Vec<u8, V> at = ((const Vec<u8, V>*)from)[o];
        const u8 here = (u8)((y - oy * s.stride[0]) * s.size[1] + (x - ox * s.stride[1]));
        #pragma unroll
        for (int k = 0; k < V; ++k) sum[k] += at.v[k] == here ? load(d.v[k]) : (C)0;
      } else {
        i32 y0, y1, x0, x1;
        span_of(s, 0, oy, y0, y1);
        span_of(s, 1, ox, x0, x1);
        #pragma unroll
        for (int k = 0; k < V; ++k) sum[k] += load(d.v[k]) / (C)((y1 - y0) * (x1 - x0));
      }
    }
  Vec<T, V> r;
  for (int k = 0; k < V; ++k) r.v[k] = Store<T>::from(sum[k]);
  ((Vec<T, V>*)dx)[i] = r;
}

// ---- Local response normalisation along the channels of [rows, depth].
template <class T>
__global__ void lrn(T* out, const T* in, i64 n, i64 depth, i64 radius, float bias, float alpha, float beta) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    const i64 d = i % depth, row = i - d;
    float sum = 0;
    const i64 end = d + radius < depth - 1 ? d + radius : depth - 1;
    for (i64 k = d > radius ? d - radius : 0; k <= end; ++k) { float v = (float)load(in[row + k]); sum += v * v; }
    out[i] = Store<T>::from((float)load(in[i]) * powf(bias + alpha * sum, -beta));
  }
}
template <class T>
__global__ void lrn_grad(T* dx, const T* dy, const T* in, const T* out, i64 n, i64 depth, i64 radius, float bias,
                         float alpha, float beta) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    const i64 d = i % depth, row = i - d;
    const i64 low = d > radius ? d - radius : 0, high = d + radius < depth - 1 ? d + radius : depth - 1;
    float total = 0;
    for (i64 j = low; j <= high; ++j) {
      float norm = 0;
      const i64 end = j + radius < depth - 1 ? j + radius : depth - 1;
      for (i64 k = j > radius ? j - radius : 0; k <= end; ++k) { float v = (float)load(in[row + k]); norm += v * v; }
      norm = alpha * norm + bias;
      float part = -2.0f * alpha * beta * (float)load(in[i]) * (float)load(out[row + j]) / norm;
      if (j == d) part += powf(norm, -beta);
      total += part * (float)load(dy[row + j]);
    }
    dx[i] = Store<T>::from(total);
  }
}

// ---- The same, some rows at a time in shared memory, R zeros on either side of each.
#define TILE 2048
DEV float power(float x, float y) { return exp2f(y * log2f(x)); }
template <int R> DEV float window_sum(const float* from) {  // of 2 R + 1 numbers
  float sum = 0;
  #pragma unroll
  for (int k = 0; k <= 2 * R; ++k) sum += from[k];
  return sum;
}
// Rows this block has, and where element t of them lies in shared memory.
template <int R> struct Tile {
  i64 at;
  i32 n, depth, width;
  __device__ Tile(i64 rows, i32 depth_) : depth(depth_), width(depth_ + 2 * R) {
    const i32 per = TILE / width;
    const i64 first = (i64)blockIdx.x * per;
    at = first * depth;
    n = (i32)((rows - first < per ? rows - first : per) * depth);
  }
  __device__ i32 place(i32 t) const { return t + (i32)((u32)t / (u32)depth) * 2 * R; }  // window's left end
};
template <int R> DEV void clear_tile(float* tile) {
  for (i32 t = threadIdx.x; t < TILE; t += blockDim.x) tile[t] = 0;
}
template <class T, int R>
__global__ void lrn_rows(T* out, const T* in, i64 rows, i32 depth, float bias, float alpha, float beta) {
  __shared__ float squares[TILE];
  const Tile<R> tile(rows, depth);
  clear_tile<R>(squares);
  __syncthreads();
  for (i32 t = threadIdx.x; t < tile.n; t += blockDim.x) {
    const float v = (float)load(in[tile.at + t]);
    squares[tile.place(t) + R] = v * v;
  }
  __syncthreads();
  for (i32 t = threadIdx.x; t < tile.n; t += blockDim.x) {
    const float norm = bias + alpha * window_sum<R>(squares + tile.place(t));
    out[tile.at + t] = Store<T>::from((float)load(in[tile.at + t]) * power(norm, -beta));
  }
}
template <class T, int R>
__global__ void lrn_grad_rows(T* dx, const T* dy, const T* in, const T* out, i64 rows, i32 depth, float bias,
                              float alpha, float beta) {
  __shared__ float squares[TILE], share[TILE], own[TILE];
  const Tile<R> tile(rows, depth);
  clear_tile<R>(squares);
  clear_tile<R>(share);
  __syncthreads();
  for (i32 t = threadIdx.x; t < tile.n; t += blockDim.x) {
    const float v = (float)load(in[tile.at + t]);
    squares[tile.place(t) + R] = v * v;
  }
  __syncthreads();
  for (i32 t = threadIdx.x; t < tile.n; t += blockDim.x) {
    const float norm = bias + alpha * window_sum<R>(squares + tile.place(t)), d = (float)load(dy[tile.at + t]);
    share[tile.place(t) + R] = d * (float)load(out[tile.at + t]) / norm;
    own[t] = d * power(norm, -beta);
  }
  __syncthreads();
  for (i32 t = threadIdx.x; t < tile.n; t += blockDim.x)
    dx[tile.at + t] = Store<T>::from(own[t] - 2.0f * alpha * beta * (float)load(in[tile.at + t]) *
                                     window_sum<R>(share + tile.place(t)));
}
