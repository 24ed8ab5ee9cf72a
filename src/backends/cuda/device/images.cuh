// Images of another size, [batch, rows, columns, channels], and the gradients of that. Gradients gather:
// a thread a pixel of the original, so that sums repeat bit for bit.
struct Resize {
  i64 channels;
  i64 in[2], out[2];
  float factor[2];
  i32 align, centers;
};
DEV float position(const Resize& s, int d, i64 o) {
  return s.centers ? __fadd_rn(__fmul_rn((float)o + 0.5f, s.factor[d]), -0.5f) : __fmul_rn((float)o, s.factor[d]);
}
DEV i64 inside(const Resize& s, int d, float p) {
  const i64 i = (i64)p;
  return p < 0 || i < 0 ? 0 : i < s.in[d] ? i : s.in[d] - 1;
}
DEV i64 nearest(const Resize& s, int d, i64 o) {
  const float p = __fmul_rn((float)o + (s.centers ? 0.5f : 0.0f), s.factor[d]);
  return inside(s, d, s.align ? roundf(p) : floorf(p));
}
struct Spot { i64 n, y, x, c; };
DEV Spot spot(const Resize& s, const i64* extent, i64 i) {
  Spot p;
  p.c = i % s.channels; i /= s.channels;
  p.x = i % extent[1]; i /= extent[1];
  p.y = i % extent[0]; p.n = i / extent[0];
  return p;
}
DEV i64 index_of(const Resize& s, const i64* extent, i64 n, i64 y, i64 x, i64 c) {
  return ((n * extent[0] + y) * extent[1] + x) * s.channels + c;
}
// The outputs that may draw from input i: a few more than do.
DEV void drawers(const Resize& s, int d, i64 i, i64& begin, i64& end) {
  const float f = s.factor[d] > 0 ? s.factor[d] : 1;
  begin = i == 0 ? 0 : (i64)floorf(((float)i - 1.5f) / f) - 1;
  end = i == s.in[d] - 1 ? s.out[d] : (i64)ceilf(((float)i + 1.5f) / f) + 2;
  begin = begin < 0 ? 0 : begin;
  end = end > s.out[d] ? s.out[d] : end;
}

template <class T> __global__ void resize_nearest(T* out, const T* in, i64 n, const Resize s) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    const Spot p = spot(s, s.out, i);
    out[i] = in[index_of(s, s.in, p.n, nearest(s, 0, p.y), nearest(s, 1, p.x), p.c)];
  }
}
template <class T> __global__ void resize_nearest_grad(T* dx, const T* dy, i64 n, const Resize s) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    const Spot p = spot(s, s.in, i);
    i64 y0, y1, x0, x1;
    drawers(s, 0, p.y, y0, y1);
    drawers(s, 1, p.x, x0, x1);
    Compute<T> sum = 0;
    for (i64 y = y0; y < y1; ++y) {
      if (nearest(s, 0, y) != p.y) continue;
      for (i64 x = x0; x < x1; ++x)
        if (nearest(s, 1, x) == p.x) sum += load(dy[index_of(s, s.out, p.n, y, x, p.c)]);
    }
    dx[i] = Store<T>::from(sum);
  }
}

template <class T> __global__ void resize_bilinear(float* out, const T* in, i64 n, const Resize s) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    const Spot p = spot(s, s.out, i);
    const float y = position(s, 0, p.y), x = position(s, 1, p.x), fy = floorf(y), fx = floorf(x);
    const i64 top = inside(s, 0, fy), bottom = inside(s, 0, ceilf(y)), left = inside(s, 1, fx), right = inside(s, 1, ceilf(x));
    const float a = (float)load(in[index_of(s, s.in, p.n, top, left, p.c)]), b = (float)load(in[index_of(s, s.in, p.n, top, right, p.c)]);
    const float c = (float)load(in[index_of(s, s.in, p.n, bottom, left, p.c)]), d = (float)load(in[index_of(s, s.in, p.n, bottom, right, p.c)]);
    const float upper = a + (b - a) * (x - fx), lower = c + (d - c) * (x - fx);
    out[i] = upper + (lower - upper) * (y - fy);
  }
}
// What output o gives input i, along one side.
DEV float share_of(const Resize& s, int d, i64 o, i64 i) {
  const float p = position(s, d, o), low = floorf(p);
  return (inside(s, d, low) == i ? 1 - (p - low) : 0.0f) + (inside(s, d, ceilf(p)) == i ? p - low : 0.0f);
}
template <class T> __global__ void resize_bilinear_grad(T* dx, const float* dy, i64 n, const Resize s) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    const Spot p = spot(s, s.in, i);
    i64 y0, y1, x0, x1;
    drawers(s, 0, p.y, y0, y1);
    drawers(s, 1, p.x, x0, x1);
    Compute<T> sum = 0;
    for (i64 y = y0; y < y1; ++y) {
      const float by = share_of(s, 0, y, p.y);
      if (by == 0) continue;
      for (i64 x = x0; x < x1; ++x) {
        const float share = share_of(s, 1, x, p.x);
        if (share != 0) sum += (Compute<T>)dy[index_of(s, s.out, p.n, y, x, p.c)] * (Compute<T>)by * (Compute<T>)share;
      }
    }
    dx[i] = Store<T>::from(sum);
  }
}
