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
