// Boxes that overlap little, images seen through a projection, the state of a generator.

// How much of two boxes' union they share. Corners may come in either order.
DEV float shared_part(const float* a, const float* b) {
  const float ay0 = fminf(a[0], a[2]), ay1 = fmaxf(a[0], a[2]), ax0 = fminf(a[1], a[3]), ax1 = fmaxf(a[1], a[3]);
  const float by0 = fminf(b[0], b[2]), by1 = fmaxf(b[0], b[2]), bx0 = fminf(b[1], b[3]), bx1 = fmaxf(b[1], b[3]);
  const float area_a = __fmul_rn(ay1 - ay0, ax1 - ax0), area_b = __fmul_rn(by1 - by0, bx1 - bx0);
  if (area_a <= 0 || area_b <= 0) return 0;
  const float height = fmaxf(0.0f, fminf(ay1, by1) - fmaxf(ay0, by0)), width = fmaxf(0.0f, fminf(ax1, bx1) - fmaxf(ax0, bx0));
  const float both = __fmul_rn(height, width);
  return __fdiv_rn(both, __fadd_rn(__fadd_rn(area_a, area_b), -both));
}
// Takes the best box again and again, and strikes out those that share too much with it. One block;
// left: a byte a box; found: how many of `chosen` were.
__global__ void choose_boxes(i32* chosen, i32* found, u8* left, const float* boxes, const float* scores, i64 n, i64 most, float overlap,
                             float least) {
  __shared__ float score[256];
  __shared__ i32 box[256];
  for (i64 i = threadIdx.x; i < n; i += blockDim.x) left[i] = scores[i] > least;
  __syncthreads();
  i64 count = 0;
  for (; count < most; ++count) {
    float best = 0;
    i32 at = -1;
    for (i64 i = threadIdx.x; i < n; i += blockDim.x)
      if (left[i] && (at < 0 || scores[i] > best)) { best = scores[i]; at = (i32)i; }
    score[threadIdx.x] = best;
    box[threadIdx.x] = at;
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
      if (threadIdx.x < step) {
        const int o = threadIdx.x + step;
        if (box[o] >= 0 && (box[threadIdx.x] < 0 || score[o] > score[threadIdx.x] ||
                            (score[o] == score[threadIdx.x] && box[o] < box[threadIdx.x]))) {
          score[threadIdx.x] = score[o];
          box[threadIdx.x] = box[o];
        }
      }
      __syncthreads();
    }
    const i32 taken = box[0];
    __syncthreads();
    if (taken < 0) break;
    if (threadIdx.x == 0) chosen[count] = taken;
    for (i64 i = threadIdx.x; i < n; i += blockDim.x)
      if (left[i] && (i == taken || shared_part(boxes + 4 * i, boxes + 4 * (i64)taken) > overlap)) left[i] = 0;
    __syncthreads();
  }
  if (threadIdx.x == 0) *found = (i32)count;
}

// ---- Projections. Beyond the edge: 0 a constant, 1 reflected, 2 from the other side, 3 the nearest.
DEV float within_edges(float x, i64 size, i32 beyond) {
  const float n = (float)size;
  if (beyond == 0) return x;
  if (beyond != 3 && size <= 1) return 0;
  if (beyond == 1) {
    const float twice = 2 * n;
    if (x < 0) {
      if (x < twice) x += twice * truncf(-x / twice);
      x = x < -n ? x + twice : -x - 1;
    } else if (x > n - 1) {
      x -= twice * truncf(x / twice);
      if (x >= n) x = twice - x - 1;
    }
  } else if (beyond == 2) {
    if (x < 0) x += n * (truncf(-x / (n - 1)) + 1);
    else if (x > n - 1) x -= n * truncf(x / (n - 1));
  }
  return fminf(fmaxf(x, 0.0f), n - 1);
}
struct Projection { i64 height, width, depth, rows, columns, step; float fill; i32 beyond, bilinear; };
template <class T> __global__ void project(T* out, const T* in, const float* transforms, i64 n, const Projection s) {
  const T fill = Store<T>::from(s.fill);
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    const i64 d = i % s.depth, column = i / s.depth % s.columns, row = i / (s.depth * s.columns) % s.rows, b = i / (s.depth * s.columns * s.rows);
    const float* t = transforms + b * s.step;
    const float u = (float)column, v = (float)row;
    const float divisor = __fadd_rn(__fadd_rn(__fmul_rn(t[6], u), __fmul_rn(t[7], v)), 1.0f);
    const float x = within_edges(__fadd_rn(__fadd_rn(__fmul_rn(t[0], u), __fmul_rn(t[1], v)), t[2]) / divisor, s.width, s.beyond);
    const float y = within_edges(__fadd_rn(__fadd_rn(__fmul_rn(t[3], u), __fmul_rn(t[4], v)), t[5]) / divisor, s.height, s.beyond);
    const T* from = in + b * s.height * s.width * s.depth;
    auto read = [&](i64 r, i64 c) {
      return r >= 0 && r < s.height && c >= 0 && c < s.width ? from[(r * s.width + c) * s.depth + d] : fill;
    };
    if (divisor == 0 || !(fabsf(x) < 1e9f) || !(fabsf(y) < 1e9f)) {
      out[i] = fill;
    } else if (!s.bilinear) {
      out[i] = read((i64)roundf(y), (i64)roundf(x));
    } else {
      const float yf = floorf(y), xf = floorf(x);
      const i64 y0 = (i64)yf, x0 = (i64)xf;
      const float top = (xf + 1 - x) * (float)load(read(y0, x0)) + (x - xf) * (float)load(read(y0, x0 + 1));
      const float bottom = (xf + 1 - x) * (float)load(read(y0 + 1, x0)) + (x - xf) * (float)load(read(y0 + 1, x0 + 1));
      out[i] = Store<T>::from((yf + 1 - y) * top + (y - yf) * bottom);
    }
  }
}

// Gives a generator's counter and key, and moves the counter on.
__global__ void read_and_skip(i64* out, u64* state, u64 delta) {
  for (int k = 0; k < 3; ++k) out[k] = (i64)state[k];
  const u64 before = state[0];
  state[0] += delta * 256;
  state[1] += state[0] < before;
}
