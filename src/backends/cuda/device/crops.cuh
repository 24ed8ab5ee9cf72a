// Boxes cut out of images [batch, rows, columns, channels] and brought to one size; the gradients of that.
struct Crop {
  i64 images, rows, columns, channels;  // of the images
  i64 height, width;                    // of a crop
  float outside;
  i32 nearest;
};
// One side of a box: position `i` of `count` on `size` pixels.
DEV float crop_position(float from, float to, i64 size, i64 count, i64 i) {
  const float last = (float)(size - 1);
  return count > 1 ? __fadd_rn(__fmul_rn(from, last), __fmul_rn((float)i, __fdiv_rn(__fmul_rn(to - from, last), (float)(count - 1))))
                   : __fmul_rn(__fmul_rn(0.5f, from + to), last);
}
DEV bool within(float p, i64 size) { return p >= 0 && p <= (float)(size - 1); }
struct CropSpot { i64 box, y, x, c, image; float py, px; bool inside; };
DEV CropSpot crop_spot(const Crop& s, const float* boxes, const i32* index, i64 i) {
  CropSpot p;
  p.c = i % s.channels; i /= s.channels;
  p.x = i % s.width; i /= s.width;
  p.y = i % s.height; p.box = i / s.height;
  const float* b = boxes + p.box * 4;
  p.py = crop_position(b[0], b[2], s.rows, s.height, p.y);
  p.px = crop_position(b[1], b[3], s.columns, s.width, p.x);
  p.image = index[p.box];
  p.inside = p.image >= 0 && p.image < s.images && within(p.py, s.rows) && within(p.px, s.columns);
  return p;
}
DEV i64 crop_index(const Crop& s, const CropSpot& p, float y, float x) {
  return ((p.image * s.rows + (i64)y) * s.columns + (i64)x) * s.channels + p.c;
}
template <class T>
__global__ void crop(float* out, const T* in, const float* boxes, const i32* index, i64 n, const Crop s) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    const CropSpot p = crop_spot(s, boxes, index, i);
    if (!p.inside) { out[i] = s.outside; continue; }
    if (s.nearest) { out[i] = (float)load(in[crop_index(s, p, roundf(p.py), roundf(p.px))]); continue; }
    const float top = floorf(p.py), left = floorf(p.px), bottom = ceilf(p.py), right = ceilf(p.px);
    const float a = (float)load(in[crop_index(s, p, top, left)]), b = (float)load(in[crop_index(s, p, top, right)]);
    const float c = (float)load(in[crop_index(s, p, bottom, left)]), d = (float)load(in[crop_index(s, p, bottom, right)]);
    const float upper = a + (b - a) * (p.px - left), lower = c + (d - c) * (p.px - left);
    out[i] = upper + (lower - upper) * (p.py - top);
  }
}
template <class T> DEV void add_at(T* to, T x) { atomicAdd(to, x); }
template <class C>
__global__ void crop_to_image(C* sums, const float* grad, const float* boxes, const i32* index, i64 n, const Crop s) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    const CropSpot p = crop_spot(s, boxes, index, i);
    if (!p.inside) continue;
    const float g = grad[i];
    if (s.nearest) { add_at(&sums[crop_index(s, p, roundf(p.py), roundf(p.px))], (C)g); continue; }
    const float top = floorf(p.py), left = floorf(p.px), dy = p.py - top, dx = p.px - left;
    add_at(&sums[crop_index(s, p, top, left)], (C)((1 - dy) * (1 - dx) * g));
    add_at(&sums[crop_index(s, p, top, ceilf(p.px))], (C)((1 - dy) * dx * g));
    add_at(&sums[crop_index(s, p, ceilf(p.py), left)], (C)(dy * (1 - dx) * g));
    add_at(&sums[crop_index(s, p, ceilf(p.py), ceilf(p.px))], (C)(dy * dx * g));
  }
}
template <class T> __global__ void crop_narrow(T* out, const Compute<T>* in, i64 n) {
  for (i64 i = thread_id(); i < n; i += num_threads()) out[i] = Store<T>::from(in[i]);
}
// A corner moves every position of its side, by a share that depends on the distance.
template <class T>
__global__ void crop_to_boxes(float* out, const float* grad, const T* in, const float* boxes, const i32* index, i64 n, const Crop s) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    const CropSpot p = crop_spot(s, boxes, index, i);
    if (!p.inside) continue;
    const float top = floorf(p.py), left = floorf(p.px), dy = p.py - top, dx = p.px - left, g = grad[i];
    const float a = (float)load(in[crop_index(s, p, top, left)]), b = (float)load(in[crop_index(s, p, top, ceilf(p.px))]);
    const float c = (float)load(in[crop_index(s, p, ceilf(p.py), left)]), d = (float)load(in[crop_index(s, p, ceilf(p.py), ceilf(p.px))]);
    const float to_y = g * ((1 - dx) * (c - a) + dx * (d - b)) * (float)(s.rows - 1);
    const float to_x = g * ((1 - dy) * (b - a) + dy * (d - c)) * (float)(s.columns - 1);
    const float sy = s.height > 1 ? (float)p.y / (float)(s.height - 1) : 0.5f;
    const float sx = s.width > 1 ? (float)p.x / (float)(s.width - 1) : 0.5f;
    float* to = out + p.box * 4;
    atomicAdd(to, to_y * (1 - sy));
    atomicAdd(to + 1, to_x * (1 - sx));
    atomicAdd(to + 2, to_y * sy);
    atomicAdd(to + 3, to_x * sx);
  }
}

// ---- Colours: every three neighbours.
template <class C> struct Color { C x, y, z; };
template <class C> DEV C most(C a, C b, C c) { return a > b ? (a > c ? a : c) : (b > c ? b : c); }
template <class C> DEV Color<C> to_hsv(C r, C g, C b) {
  const C high = most(r, g, b), range = high + most(-r, -g, -b);
  C hue = 0;
  if (range > 0) {
    const C norm = (C)1 / ((C)6 * range);
    if (high == r) hue = norm * (g - b);
    else if (high == g) hue = norm * (b - r) + (C)2 / (C)6;
    else hue = norm * (r - g) + (C)4 / (C)6;
    if (hue < 0) hue += 1;
  }
  return {hue, high > 0 ? range / high : (C)0, high};
}
template <class C> DEV C ramp(C x) { return x < 0 ? (C)0 : x > 1 ? (C)1 : x; }
template <class C> DEV Color<C> to_rgb(C h, C s, C v) {
  const C r = ramp((C)fabs(h * 6 - 3) - 1), g = ramp(2 - (C)fabs(h * 6 - 2)), b = ramp(2 - (C)fabs(h * 6 - 4));
  return {(1 - s + s * r) * v, (1 - s + s * g) * v, (1 - s + s * b) * v};
}
// HOW: 0 to HSV, 1 to RGB, 2 hues turned by *by, 3 saturations scaled by it.
template <class T, int HOW> __global__ void colors(T* out, const T* in, const float* by, i64 n) {
  typedef Compute<T> C;
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    const C x = load(in[3 * i]), y = load(in[3 * i + 1]), z = load(in[3 * i + 2]);
    Color<C> to;
    if (HOW == 1) {
      to = to_rgb(x, y, z);
    } else {
      to = to_hsv(x, y, z);
      if (HOW == 2) to.x += (C)*by, to.x -= (C)floor(to.x);
      if (HOW == 3) to.y = ramp(to.y * (C)*by);
      if (HOW > 1) to = to_rgb(to.x, to.y, to.z);
    }
    out[3 * i] = Store<T>::from(to.x);
    out[3 * i + 1] = Store<T>::from(to.y);
    out[3 * i + 2] = Store<T>::from(to.z);
  }
}
// Distances from each channel's mean over one image, scaled: a block a channel of an image. With bounds (both or
// none) what leaves them stops there.
template <class T, class O>
__global__ void contrast(O* out, const T* in, const float* factor, const float* low, const float* high, i64 pixels, i64 channels) {
  __shared__ double part[256];
  const i64 base = (i64)(blockIdx.x / channels) * pixels * channels + blockIdx.x % channels;
  double sum = 0;
  for (i64 p = threadIdx.x; p < pixels; p += blockDim.x) sum += (double)(float)load(in[base + p * channels]);
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int step = 128; step > 0; step /= 2) {
    if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  const float mean = (float)(part[0] / (double)pixels);
  for (i64 p = threadIdx.x; p < pixels; p += blockDim.x) {
    float v = ((float)load(in[base + p * channels]) - mean) * *factor + mean;
    if (low) v = v < *low ? *low : v;
    if (high) v = *high < v ? *high : v;
    out[base + p * channels] = Store<O>::from(v);
  }
}
