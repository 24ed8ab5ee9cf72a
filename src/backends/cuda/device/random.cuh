// Philox 4x32-10 and what is drawn from it, in TensorFlow's order: group g of the output comes from
// block g behind the start.
struct Block { u32 v[4]; };
DEV Block philox(u64 low, u64 high, u64 key, u64 skip) {
  u64 l = low + skip;
  if (l < low) ++high;
  u32 c[4] = {(u32)l, (u32)(l >> 32), (u32)high, (u32)(high >> 32)}, k[2] = {(u32)key, (u32)(key >> 32)};
  for (int r = 0; r < 10; ++r) {
    u32 h0 = __umulhi(0xD2511F53u, c[0]), l0 = 0xD2511F53u * c[0];
    u32 h1 = __umulhi(0xCD9E8D57u, c[2]), l1 = 0xCD9E8D57u * c[2];
    u32 n0 = h1 ^ c[1] ^ k[0], n2 = h0 ^ c[3] ^ k[1];
    c[0] = n0; c[1] = l1; c[2] = n2; c[3] = l0;
    k[0] += 0x9E3779B9u; k[1] += 0xBB67AE85u;
  }
  return {{c[0], c[1], c[2], c[3]}};
}
DEV float to_float(u32 x) { return __uint_as_float((127u << 23) | (x & 0x7fffffu)) - 1.0f; }
DEV double to_double(u32 x0, u32 x1) {
  return __longlong_as_double((i64)((1023ull << 52) | ((u64)(x0 & 0xfffffu) << 32) | x1)) - 1.0;
}
template <class T> struct Draw;
template <> struct Draw<float> {
  static const int group = 4;
  DEV void uniform(const Block& b, float* o) { for (int k = 0; k < 4; ++k) o[k] = to_float(b.v[k]); }
  DEV void normal(const Block& b, float* o) {
    for (int k = 0; k < 4; k += 2) {
      float u = to_float(b.v[k]);
      if (u < 1.0e-7f) u = 1.0e-7f;
      float a = (float)(2.0 * 3.14159265358979323846) * to_float(b.v[k + 1]), r = sqrtf(-2.0f * logf(u));
      o[k] = sinf(a) * r;
      o[k + 1] = cosf(a) * r;
    }
  }
};
template <> struct Draw<double> {
  static const int group = 2;
  DEV void uniform(const Block& b, double* o) { o[0] = to_double(b.v[0], b.v[1]); o[1] = to_double(b.v[2], b.v[3]); }
  DEV void normal(const Block& b, double* o) {
    double u = to_double(b.v[0], b.v[1]);
    if (u < 1.0e-7) u = 1.0e-7;
    double a = 2.0 * 3.14159265358979323846 * to_double(b.v[2], b.v[3]), r = sqrt(-2.0 * log(u));
    o[0] = sin(a) * r;
    o[1] = cos(a) * r;
  }
};
template <> struct Draw<f16> {
  static const int group = 4;
  DEV void uniform(const Block& b, float* o) {
    for (int k = 0; k < 4; ++k) { f16 h; h.bits = (15u << 10) | (b.v[k] & 0x3ffu); o[k] = load(h) - 1.0f; }
  }
  DEV void normal(const Block& b, float* o) { Draw<float>::normal(b, o); }
};
template <> struct Draw<bf16> {
  static const int group = 4;
  DEV void uniform(const Block& b, float* o) {
    for (int k = 0; k < 4; ++k) { bf16 h; h.bits = (127u << 7) | (b.v[k] & 0x7fu); o[k] = load(h) - 1.0f; }
  }
  DEV void normal(const Block& b, float* o) { Draw<float>::normal(b, o); }
};
template <class T, bool NORMAL>
__global__ void draw(T* out, i64 n, u64 low, u64 high, u64 key) {
  const int G = Draw<T>::group;
  for (i64 g = thread_id(); g * G < n; g += num_threads()) {
    const Block b = philox(low, high, key, (u64)g);
    Compute<T> v[4];
    if (NORMAL) Draw<T>::normal(b, v);
    else Draw<T>::uniform(b, v);
    for (int k = 0; k < G && g * G + k < n; ++k) out[g * G + k] = Store<T>::from(v[k]);
  }
}
// Two deviations at most: a group draws from blocks of its own until it is full.
template <class T> DEV void truncated(T* out, i64 n, u64 low, u64 high, u64 key) {
  const int G = Draw<T>::group;
  for (i64 g = thread_id(); g * G < n; g += num_threads()) {
    int have = 0;
    for (u64 k = 0; have < G && k < (u64)G * 64; ++k) {
      const Block b = philox(low, high, key, (u64)g * (u64)(G * 64) + k);
      Compute<T> v[4];
      Draw<T>::normal(b, v);
      for (int j = 0; j < G && have < G; ++j)
        if (fabs(v[j]) < (Compute<T>)2) { if (g * G + have < n) out[g * G + have] = Store<T>::from(v[j]); ++have; }
    }
  }
}
template <class T> __global__ void draw_truncated(T* out, i64 n, u64 low, u64 high, u64 key) {
  truncated(out, n, low, high, key);
}
template <class T> __global__ void draw_int(T* out, i64 n, u64 low, u64 high, u64 key, T from, u64 range) {
  const int G = sizeof(T) == 8 ? 2 : 4;
  for (i64 g = thread_id(); g * G < n; g += num_threads()) {
    const Block b = philox(low, high, key, (u64)g);
    for (int k = 0; k < G && g * G + k < n; ++k) {
      const u64 x = G == 4 ? b.v[k] : (u64)b.v[2 * k] | (u64)b.v[2 * k + 1] << 32;
      out[g * G + k] = (T)((u64)from + (range ? x % range : x));
    }
  }
}

// ---- With key and counter in the card's memory.
template <class T, bool NORMAL>
__global__ void draw_keyed(T* out, i64 n, const u64* key, const u64* counter) {
  const int G = Draw<T>::group;
  for (i64 g = thread_id(); g * G < n; g += num_threads()) {
    const Block b = philox(counter[0], counter[1], key[0], (u64)g);
    Compute<T> v[4];
    if (NORMAL) Draw<T>::normal(b, v);
    else Draw<T>::uniform(b, v);
    for (int k = 0; k < G && g * G + k < n; ++k) out[g * G + k] = Store<T>::from(v[k]);
  }
}
template <class T> __global__ void draw_truncated_keyed(T* out, i64 n, const u64* key, const u64* counter) {
  truncated(out, n, counter[0], counter[1], key[0]);
}
template <class T> __global__ void draw_int_keyed(T* out, i64 n, const u64* key, const u64* counter, T from, u64 range) {
  const int G = sizeof(T) == 8 ? 2 : 4;
  for (i64 g = thread_id(); g * G < n; g += num_threads()) {
    const Block b = philox(counter[0], counter[1], key[0], (u64)g);
    for (int k = 0; k < G && g * G + k < n; ++k) {
      const u64 x = G == 4 ? b.v[k] : (u64)b.v[2 * k] | (u64)b.v[2 * k + 1] << 32;
      out[g * G + k] = (T)((u64)from + (range ? x % range : x));
    }
  }
}
// Moves a generator's counter on.
__global__ void move_on(u64* state, u64 blocks) {
  const u64 before = state[0];
  state[0] += blocks;
  state[1] += state[0] < before;
}

// ---- Gamma-distributed numbers, after Marsaglia and Tsang. Each number of the output has 256 blocks of its
// own; draws come in pairs, used from the back.
struct Draws {
  u64 low, high, key, block;
  double uniforms[2], normals[2];
  int have_uniforms, have_normals;
};
DEV double next_uniform(Draws& d) {
  if (d.have_uniforms == 0) { Draw<double>::uniform(philox(d.low, d.high, d.key, d.block++), d.uniforms); d.have_uniforms = 2; }
  return d.uniforms[--d.have_uniforms];
}
DEV double next_normal(Draws& d) {
  if (d.have_normals == 0) { Draw<double>::normal(philox(d.low, d.high, d.key, d.block++), d.normals); d.have_normals = 2; }
  return d.normals[--d.have_normals];
}
DEV double draw_gamma(double alpha, Draws& draws) {
  if (alpha == 1) return -log1p(-next_uniform(draws));
  const bool small = alpha < 1;
  const double d = alpha + (small ? 2.0 / 3 : -1.0 / 3), c = 1.0 / 3 / sqrt(d);
  for (int attempts = 0; attempts < 100000; ++attempts) {
    const double x = next_normal(draws);
    double v = 1 + c * x;
    if (v <= 0) continue;
    v = v * v * v;
    const double u = next_uniform(draws);
    if (u < 1 - 0.0331 * (x * x) * (x * x) || log(u) < 0.5 * x * x + d * (1 - v + log(v)))
      return small ? d * v * pow(next_uniform(draws), 1 / alpha) : d * v;
  }
  return d;
}
// out[sample, parameter], counted parameter by parameter. key, counter: on the card, or null.
template <class T>
__global__ void gamma_numbers(T* out, const T* alpha, i64 n, i64 count, u64 low, u64 high, u64 key, const u64* keys, const u64* counter) {
  if (keys) { key = keys[0]; low = counter[0]; high = counter[1]; }
  const i64 samples = n / count;
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    Draws d;
    d.low = low; d.high = high; d.key = key; d.block = 256ull * (u64)i;
    d.have_uniforms = d.have_normals = 0;
    const i64 k = i / samples;
    out[i % samples * count + k] = Store<T>::from(draw_gamma((double)load(alpha[k]), d));
  }
}

// ---- Normal numbers between bounds, from the same draws as the CPU's: one block of threads tries what comes next,
// its first thread takes what is good, in order. A batch of numbers begins with a block of draws of its own.
#define MOST_TRIES 1000
// Turned so that the lower bound is nearer to the mean. Far from both bounds (how 0) normal numbers are tried, where
// they are close together (1) uniform ones, else (2) exponential ones.
template <class C> struct Between {
  C mean, deviation, low, high, span, alpha;
  int how;
  DEV bool set(Between& b, C m, C d, C from, C to) {
    if (!(d > 0 && from < to && (isfinite(from) || isfinite(to)))) return false;
    if ((isinf(from) && from < 0) || to < m) { const C t = from; from = to; to = t; d = -d; }
    b.mean = m; b.deviation = d;
    b.low = (from - m) / d; b.high = (to - m) / d;
    b.span = b.high - b.low;
    const C root = sqrt(b.low * b.low + (C)4), wide = (C)1.3;
    const C cutoff = (C)2 * exp((C)0.5 + b.low * (b.low - root) / (C)4) / (b.low + root);
    b.alpha = (b.low + root) / (C)2;
    b.how = (b.low < -wide && b.high >= 0) || (b.high > wide && b.low <= 0) ? 0 : b.span < cutoff ? 1 : 2;
    return true;
  }
};
// As far as T goes.
template <class T> DEV void rounded(Compute<T>* v) {
  for (int k = 0; k < Draw<T>::group; ++k) v[k] = load(Store<T>::from(v[k]));
}
template <class T>
__global__ void normals_between(T* out, i32* wrong, const T* means, const T* deviations, const T* lows, const T* highs, i32 m, i32 d, i32 l, i32 h,
                                i64 n, i64 samples, bool alike, u64 low, u64 high, u64 key) {
  typedef Compute<T> C;
  const int G = Draw<T>::group;
  __shared__ C values[1024];
  __shared__ bool good[1024];
  __shared__ i64 batch, taken;
  __shared__ u64 start;
  __shared__ i32 tries;
  if (threadIdx.x == 0) { batch = taken = 0; start = 0; tries = 0; }
  for (;;) {
    __syncthreads();
    const i64 now = batch;
    if (now * samples >= n) return;
    Between<C> b;
    if (!Between<C>::set(b, load(means[now * m]), load(deviations[now * d]), load(lows[now * l]), load(highs[now * h]))) {
      if (threadIdx.x == 0) *wrong = 1;
      return;
    }
    const int each = b.how == 2 ? G / 2 : G, blocks = b.how == 1 ? 2 : 1;
    const u64 mine = start + (u64)(threadIdx.x * blocks);
    C v[4], w[4];
    if (b.how == 0) Draw<T>::normal(philox(low, high, key, mine), v);
    else Draw<T>::uniform(philox(low, high, key, mine), v);
    if (b.how == 1) Draw<T>::uniform(philox(low, high, key, mine + 1), w);
    rounded<T>(v);
    for (int k = 0; k < each; ++k) {
      C z = v[k];
      bool fine;
      if (b.how == 0) {
        fine = z >= b.low && z <= b.high;
      } else if (b.how == 1) {
        z = z * b.span + b.low;
        fine = w[k] <= exp(((b.low < 0 ? (C)0 : b.low * b.low) - z * z) / (C)2);
      } else {
        z = -log(v[2 * k]) / b.alpha + b.low;
        const C x = b.low < b.alpha ? b.alpha - z : b.low - b.alpha;
        fine = v[2 * k + 1] <= exp(-x * x / (C)2) && z < b.high;
      }
      values[threadIdx.x * each + k] = z * b.deviation + b.mean;
      good[threadIdx.x * each + k] = fine;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      int used = 0;
      for (; used < blockDim.x && batch * samples < n && (alike || batch == now); ++used) {
        const i64 left = n - batch * samples, wanted = left < samples ? left : samples;
        for (int k = used * each; k < (used + 1) * each && taken < wanted; ++k) {
          if (!good[k] && ++tries < MOST_TRIES) continue;
          out[batch * samples + taken++] = Store<T>::from(values[k]);
          tries = 0;
        }
        if (taken == wanted) { ++batch; taken = 0; tries = 0; }
      }
      start += (u64)(used * blocks);
    }
  }
}

// ---- Classes by their unnormalized logarithms of probability: running sums a row, then one search a sample.
template <class T> __global__ void class_sums(double* sums, const T* logits, i64 rows, i64 classes) {
  for (i64 r = thread_id(); r < rows; r += num_threads()) {
    const T* row = logits + r * classes;
    double most = -1.7976931348623157e308, total = 0;
    for (i64 i = 0; i < classes; ++i) { const double x = (double)load(row[i]); if (isfinite(x) && x > most) most = x; }
    for (i64 i = 0; i < classes; ++i) {
      const double x = (double)load(row[i]);
      if (isfinite(x)) total += exp(x - most);
      sums[r * classes + i] = total;
    }
  }
}
template <class I>
__global__ void draw_classes(I* out, const double* sums, i64 n, i64 samples, i64 classes, u64 low, u64 high, u64 key) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    double pair[2];
    Draw<double>::uniform(philox(low, high, key, (u64)(i / 2)), pair);
    const double* row = sums + i / samples * classes;
    const double wanted = pair[i % 2] * row[classes - 1];
    i64 first = 0, last = classes;
    while (first < last) {
      const i64 middle = (first + last) / 2;
      if (row[middle] <= wanted) first = middle + 1; else last = middle;
    }
    out[i] = (I)first;
  }
}
