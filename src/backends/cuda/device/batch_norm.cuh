// Batch normalisation of [rows, channels]. A block has `wide` neighbouring groups of V channels and
// 256 / wide rows at a time; gridDim.y parts of the rows, joined a channel in a fixed order.
template <int V> struct Lane {
  i64 row, end;  // of the part; row by row: `lines` further
  i32 first, lines;
  bool active;
};
template <int V> DEV Lane<V> lane_of(i64 rows, i32 channels, i32 wide) {
  const i64 per = (rows + gridDim.y - 1) / gridDim.y, begin = blockIdx.y * per;
  Lane<V> l;
  l.row = begin + threadIdx.x / wide;
  l.end = begin + per < rows ? begin + per : rows;
  l.first = (i32)(blockIdx.x * wide + threadIdx.x % wide) * V;
  l.lines = 256 / wide;
  l.active = l.first < channels;
  return l;
}
template <class T, int V> DEV Vec<T, V> loaded(const T* x, i64 row, i32 channels, i32 first) {
  return *(const Vec<T, V>*)(x + row * channels + first);
}

// What normalising makes of x, by the same bits wherever it is asked for.
template <class T>
DEV T normalised(T x, float middle, float times, float plus) {
  return Store<T>::from(__fmaf_rn(load(x) - middle, times, plus));
}
template <class T>
DEV T above_zero(T x) {
  return load(x) > 0 || load(x) != load(x) ? x : Store<T>::from(0.0f);
}

// How many, their mean, and the squares of their distances from it.
struct Moments {
  float n, mean, squares;
  DEV Moments join(Moments a, Moments b) {
    const float n = a.n + b.n;
    if (n == 0) return a;
    const float d = b.mean - a.mean, share = b.n / n;
    return {n, a.mean + d * share, a.squares + b.squares + d * d * a.n * share};
  }
};
struct Pair {
  float a, b;
  DEV Pair join(Pair x, Pair y) { return {x.a + y.a, x.b + y.b}; }
};

// Over the lines of the block; the first line's are the result.
template <class S> DEV S joined_lines(S mine, i32 wide) {
  __shared__ S seen[256];
  seen[threadIdx.x] = mine;
  __syncthreads();
  for (int step = 128; step >= wide; step /= 2) {
    if (threadIdx.x < step) seen[threadIdx.x] = S::join(seen[threadIdx.x], seen[threadIdx.x + step]);
    __syncthreads();
  }
  mine = seen[threadIdx.x];
  __syncthreads();
  return mine;
}
// Over the lanes of each warp; the first lane's is the result.
template <class S> DEV S joined_lanes(S mine) {
  __shared__ S seen[256];
  seen[threadIdx.x] = mine;
  __syncwarp();
  for (int step = 16; step > 0; step /= 2) {
    if (threadIdx.x % 32 < step) seen[threadIdx.x] = S::join(seen[threadIdx.x], seen[threadIdx.x + step]);
    __syncwarp();
  }
  return seen[threadIdx.x];
}

// parts: [gridDim.y, channels] pairs of mean and squares.
template <class T, int V>
__global__ void norm_moments(Pair* parts, const T* x, i64 rows, i32 channels, i32 wide) {
  const Lane<V> l = lane_of<V>(rows, channels, wide);
  float start[V], sum[V] = {}, squares[V] = {};
  i32 n = 0;
  if (l.active && l.row < l.end) {
    const Vec<T, V> v = loaded<T, V>(x, l.row, channels, l.first);
    for (int k = 0; k < V; ++k) start[k] = load(v.v[k]);
    #pragma unroll 4
    for (i64 r = l.row; r < l.end; r += l.lines) {
      const Vec<T, V> w = loaded<T, V>(x, r, channels, l.first);
      #pragma unroll
      for (int k = 0; k < V; ++k) {
        const float d = load(w.v[k]) - start[k];
        sum[k] += d;
        squares[k] += d * d;
      }
      ++n;
    }
  }
  for (int k = 0; k < V; ++k) {
    Moments m = {0, 0, 0};
    if (n > 0) m = {(float)n, start[k] + sum[k] / n, squares[k] - sum[k] * sum[k] / n};
    m = joined_lines(m, wide);
    if (threadIdx.x < wide && l.active)
      parts[(i64)blockIdx.y * channels + l.first + k] = {m.mean, m.squares};
  }
}
// Parts first, first + 32, … of a channel, all on their way before the first is wanted; zeros
// behind the last.
#define AHEAD 8
DEV void few_parts(Pair (&seen)[AHEAD], const Pair* parts, i32 first, i32 channel, i32 channels,
                   i32 num_parts) {
#pragma unroll
  for (int k = 0; k < AHEAD; ++k) {
    seen[k] = {0, 0};
    if (first + 32 * k < num_parts) seen[k] = parts[(i64)(first + 32 * k) * channels + channel];
  }
}
// A warp a channel. `factor` 1: the new figures alone; else blended into those that are there.
__global__ void norm_figures(float* mean, float* variance, float* own_mean, float* own_root, const Pair* parts,
                             i64 rows, i32 channels, i32 num_parts, float epsilon, float factor) {
  const i32 c = (i32)(thread_id() / 32);
  if (c >= channels) return;
  const i64 per = (rows + num_parts - 1) / num_parts;
  Moments m = {0, 0, 0};
  for (i32 first = threadIdx.x % 32; first < num_parts; first += 32 * AHEAD) {
    Pair seen[AHEAD];
    few_parts(seen, parts, first, c, channels, num_parts);
#pragma unroll
    for (int k = 0; k < AHEAD; ++k) {
      const i64 left = rows - (first + 32 * k) * per;
      if (left > 0 && first + 32 * k < num_parts)
        m = Moments::join(m, {(float)(left < per ? left : per), seen[k].a, seen[k].b});
    }
  }
  m = joined_lanes(m);
  if (threadIdx.x % 32 != 0) return;
  const float sample = m.squares / (float)(rows > 1 ? rows - 1 : 1);
  mean[c] = factor == 1 ? m.mean : mean[c] * (1 - factor) + m.mean * factor;
  variance[c] = factor == 1 ? sample : variance[c] * (1 - factor) + sample * factor;
  own_mean[c] = m.mean;
  own_root[c] = 1 / sqrtf(m.squares / (float)rows + epsilon);
}
// ROOT: `spread` has one over the root; else the variance. SIDE: what is added to the result; RELU:
// behind it all.
template <class T, int V, bool ROOT, bool RELU, bool SIDE>
__global__ void norm_apply(T* y, const T* x, const T* side, const float* mean, const float* spread,
                           const float* scale, const float* shift, i64 rows, i32 channels, i32 wide,
                           float epsilon) {
  const Lane<V> l = lane_of<V>(rows, channels, wide);
  if (!l.active) return;
  float middle[V], times[V], plus[V];
  for (int k = 0; k < V; ++k) {
    const i32 c = l.first + k;
    middle[k] = mean[c];
    times[k] = scale[c] * (ROOT ? spread[c] : 1 / sqrtf(spread[c] + epsilon));
    plus[k] = shift[c];
  }
  #pragma unroll 4
  for (i64 r = l.row; r < l.end; r += l.lines) {
    Vec<T, V> v = loaded<T, V>(x, r, channels, l.first), w = v;
    if (SIDE) w = loaded<T, V>(side, r, channels, l.first);
#pragma unroll
    for (int k = 0; k < V; ++k) {
      v.v[k] = normalised(v.v[k], middle[k], times[k], plus[k]);
      if (SIDE) v.v[k] = Store<T>::from(load(v.v[k]) + load(w.v[k]));
      if (RELU) v.v[k] = above_zero(v.v[k]);
    }
    *(Vec<T, V>*)(y + r * channels + l.first) = v;
  }
}

// What a relu behind normalising lets through of its gradient: where x's normalised value is above
// zero.
struct Behind {
  const float *root, *scale, *shift;
};
template <class T, int V>
struct Through {
  float middle[V], times[V], plus[V];
  __device__ __forceinline__ Through(const float* mean, const Behind& b, i32 first) {
    for (int k = 0; k < V && b.scale; ++k) {
      middle[k] = mean[first + k];
      times[k] = b.scale[first + k] * b.root[first + k];
      plus[k] = b.shift[first + k];
    }
  }
  __device__ __forceinline__ float of(int k, T dy, T x) const {
    return load(normalised(x, middle[k], times[k], plus[k])) > 0 ? load(dy) : 0.0f;
  }
};

// Sums of dy and of dy times x's distance from the mean.
template <class T, int V, bool RELU>
__global__ void norm_grad_sums(Pair* parts, const T* dy, const T* x, const float* mean,
                               const Behind behind, i64 rows, i32 channels, i32 wide) {
  const Lane<V> l = lane_of<V>(rows, channels, wide);
  Pair sum[V] = {};
  if (l.active) {
    float middle[V];
    for (int k = 0; k < V; ++k) middle[k] = mean[l.first + k];
    const Through<T, V> through(mean, behind, l.first);
#pragma unroll 4
    for (i64 r = l.row; r < l.end; r += l.lines) {
      const Vec<T, V> g = loaded<T, V>(dy, r, channels, l.first), v = loaded<T, V>(x, r, channels, l.first);
      #pragma unroll
      for (int k = 0; k < V; ++k) {
        const float d = RELU ? through.of(k, g.v[k], v.v[k]) : load(g.v[k]);
        sum[k].a += d;
        sum[k].b += d * (load(v.v[k]) - middle[k]);
      }
    }
  }
  for (int k = 0; k < V; ++k) {
    const Pair s = joined_lines(sum[k], wide);
    if (threadIdx.x < wide && l.active) parts[(i64)blockIdx.y * channels + l.first + k] = s;
  }
}
__global__ void norm_grad_figures(float* dscale, float* dshift, const Pair* parts, const float* root, i32 channels,
                                  i32 num_parts) {
  const i32 c = (i32)(thread_id() / 32);
  if (c >= channels) return;
  Pair s = {0, 0};
  for (i32 first = threadIdx.x % 32; first < num_parts; first += 32 * AHEAD) {
    Pair seen[AHEAD];
    few_parts(seen, parts, first, c, channels, num_parts);
#pragma unroll
    for (int k = 0; k < AHEAD; ++k) s = Pair::join(s, seen[k]);
  }
  s = joined_lanes(s);
  if (threadIdx.x % 32 != 0) return;
  dshift[c] = s.a;
  dscale[c] = s.b * root[c];
}
template <class T, int V, bool RELU>
__global__ void norm_grad_apply(T* dx, const T* dy, const T* x, const float* mean,
                                const float* root, const float* scale, const float* dscale,
                                const float* dshift, const Behind behind, i64 rows, i32 channels,
                                i32 wide) {
  const Lane<V> l = lane_of<V>(rows, channels, wide);
  if (!l.active) return;
  const Through<T, V> through(mean, behind, l.first);
  float middle[V], times[V], less[V], slope[V];
  for (int k = 0; k < V; ++k) {
    const i32 c = l.first + k;
    middle[k] = mean[c];
    times[k] = scale[c] * root[c];
    less[k] = dshift[c] / (float)rows;
    slope[k] = root[c] * dscale[c] / (float)rows;
  }
  #pragma unroll 4
  for (i64 r = l.row; r < l.end; r += l.lines) {
    Vec<T, V> g = loaded<T, V>(dy, r, channels, l.first);
    const Vec<T, V> v = loaded<T, V>(x, r, channels, l.first);
    #pragma unroll
    for (int k = 0; k < V; ++k) {
      const float d = RELU ? through.of(k, g.v[k], v.v[k]) : load(g.v[k]);
      g.v[k] = Store<T>::from(times[k] * (d - less[k] - (load(v.v[k]) - middle[k]) * slope[k]));
    }
    *(Vec<T, V>*)(dx + r * channels + l.first) = g;
  }
}
