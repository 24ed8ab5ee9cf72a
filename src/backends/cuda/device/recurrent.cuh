// Cells of recurrent nets: what lies between the products of matrices. Computed in float whatever is stored.
DEV float squashed(float x) { return 1.0f / (1.0f + expf(-x)); }

template <class T> __global__ void widened(float* out, const T* in, i64 n) {
  for (i64 i = thread_id(); i < n; i += num_threads()) out[i] = load(in[i]);
}
template <class T> __global__ void narrowed(T* out, const float* in, i64 n) {
  for (i64 i = thread_id(); i < n; i += num_threads()) out[i] = Store<T>::from(in[i]);
}

// Which quarter of the weights each gate has; peephole: weights that see the cell.
struct Lstm { i32 input, cell, forget, output; float forget_bias, clip; i32 peephole; };
template <class T> struct Made { T *i, *cs, *f, *o, *ci, *co, *h; };
template <class T> struct Peepholes { const T *i, *f, *o; };

// from_x and from_h: [rows, 4 * cells], of which the first may be null; cs and h change in place.
template <class T>
__global__ void lstm_step(const Made<T> to, float* cs, float* h, const float* from_x, const float* from_h, const T* b, const Peepholes<T> w, i64 n,
                          i64 cells, const Lstm how) {
  for (i64 at = thread_id(); at < n; at += num_threads()) {
    const i64 k = at % cells, first = at / cells * 4 * cells + k;
    auto gate = [&](i32 g) { return from_h[first + g * cells] + (from_x ? from_x[first + g * cells] : 0.0f) + load(b[g * cells + k]); };
    const float before = cs[at];
    float in = gate(how.input), forget = gate(how.forget) + how.forget_bias, out = gate(how.output);
    if (how.peephole) { in += before * load(w.i[k]); forget += before * load(w.f[k]); }
    const float i = squashed(in), f = squashed(forget), ci = tanhf(gate(how.cell));
    float now = i * ci + f * before;
    if (how.clip > 0) now = fmaxf(fminf(now, how.clip), -how.clip);
    if (how.peephole) out += now * load(w.o[k]);
    const float o = squashed(out), co = tanhf(now);
    to.i[at] = Store<T>::from(i);
    to.cs[at] = Store<T>::from(now);
    to.f[at] = Store<T>::from(f);
    to.o[at] = Store<T>::from(o);
    to.ci[at] = Store<T>::from(ci);
    to.co[at] = Store<T>::from(co);
    to.h[at] = Store<T>::from(o * co);
    cs[at] = now;
    h[at] = o * co;
  }
}

template <class T> struct Left { const T *cs_prev, *i, *cs, *f, *o, *ci, *co, *cs_grad, *h_grad; };
// Back through a step. cs and h hold what comes from the step behind; cs changes in place.
template <class T>
__global__ void lstm_back(float* gates, float* cs, const float* h, const Left<T> s, const Peepholes<T> w, i64 n, i64 cells, const Lstm how) {
  for (i64 at = thread_id(); at < n; at += num_threads()) {
    const i64 k = at % cells, first = at / cells * 4 * cells + k;
    const float i = load(s.i[at]), f = load(s.f[at]), o = load(s.o[at]), ci = load(s.ci[at]), co = load(s.co[at]);
    const float d_h = load(s.h_grad[at]) + h[at], d_o = o * (1 - o) * d_h * co;
    float d_cs = (1 - co * co) * d_h * o + load(s.cs_grad[at]) + cs[at];
    if (how.peephole) d_cs += d_o * load(w.o[k]);
    const float d_ci = (1 - ci * ci) * d_cs * i, d_f = f * (1 - f) * d_cs * load(s.cs_prev[at]), d_i = i * (1 - i) * d_cs * ci;
    float before = d_cs * f;
    if (how.peephole) before += d_i * load(w.i[k]) + d_f * load(w.f[k]);
    cs[at] = before;
    gates[first + how.input * cells] = d_i;
    gates[first + how.cell * cells] = d_ci;
    gates[first + how.forget * cells] = d_f;
    gates[first + how.output * cells] = d_o;
  }
}
// What came back to the peepholes, and to b unless that is null: a block of 256 threads a cell, which takes the rows of
// all steps. cs_first: the cells before the first step, of `batch` rows; after it those of the step before.
template <class T>
__global__ void lstm_sums(T* to_i, T* to_f, T* to_o, T* to_b, const float* gates, const T* cs_first, const T* cs, i64 rows, i64 batch, i64 cells,
                          const Lstm how) {
  __shared__ double part[256];
  const i64 k = blockIdx.x;
  double sums[7] = {0, 0, 0, 0, 0, 0, 0};
  for (i64 r = threadIdx.x; r < rows; r += blockDim.x) {
    const float* g = gates + r * 4 * cells + k;
    const float before = load(r < batch ? cs_first[r * cells + k] : cs[(r - batch) * cells + k]);
    for (int q = 0; q < 4; ++q) sums[q] += g[q * cells];
    sums[4] += g[how.input * cells] * before;
    sums[5] += g[how.forget * cells] * before;
    sums[6] += g[how.output * cells] * load(cs[r * cells + k]);
  }
  for (int q = 0; q < 7; ++q) {
    part[threadIdx.x] = sums[q];
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
      if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
      __syncthreads();
    }
    if (threadIdx.x == 0) {
      const float sum = (float)part[0], seen = how.peephole ? sum : 0.0f;
      if (q < 4) { if (to_b) to_b[q * cells + k] = Store<T>::from(sum); }
      else (q == 4 ? to_i : q == 5 ? to_f : to_o)[k] = Store<T>::from(seen);
    }
    __syncthreads();
  }
}

// ---- Gated units. Products of x may be null: no inputs.
__global__ void gru_gates(float* r, float* u, float* hr, const float* from_x, const float* from_h, const float* b, const float* h, i64 n, i64 cells) {
  for (i64 at = thread_id(); at < n; at += num_threads()) {
    const i64 k = at % cells, first = at / cells * 2 * cells + k;
    auto gate = [&](i32 g) { return squashed(from_h[first + g * cells] + (from_x ? from_x[first + g * cells] : 0.0f) + b[g * cells + k]); };
    r[at] = gate(0);
    u[at] = gate(1);
    hr[at] = h[at] * r[at];
  }
}
__global__ void gru_step(float* c, float* to, const float* from_x, const float* from_h, const float* b, const float* u, const float* h, i64 n, i64 cells) {
  for (i64 at = thread_id(); at < n; at += num_threads()) {
    c[at] = tanhf(from_h[at] + (from_x ? from_x[at] : 0.0f) + b[at % cells]);
    to[at] = u[at] * h[at] + (1 - u[at]) * c[at];
  }
}
__global__ void gru_back_first(float* d_c, float* d_ru, const float* h, const float* u, const float* c, const float* d_h, i64 n, i64 cells) {
  for (i64 at = thread_id(); at < n; at += num_threads()) {
    d_c[at] = d_h[at] * (1 - u[at]) * (1 - c[at] * c[at]);
    d_ru[at / cells * 2 * cells + cells + at % cells] = d_h[at] * (h[at] - c[at]) * u[at] * (1 - u[at]);
  }
}
__global__ void gru_back_second(float* d_ru, const float* d_hr, const float* h, const float* r, i64 n, i64 cells) {
  for (i64 at = thread_id(); at < n; at += num_threads())
    d_ru[at / cells * 2 * cells + at % cells] = d_hr[at] * h[at] * r[at] * (1 - r[at]);
}
__global__ void gru_back_last(float* to, const float* first, const float* d_hr, const float* r, const float* d_h, const float* u, i64 n) {
  for (i64 at = thread_id(); at < n; at += num_threads()) to[at] = first[at] + d_hr[at] * r[at] + d_h[at] * u[at];
}
__global__ void plus(float* to, const float* more, i64 n) {
  for (i64 at = thread_id(); at < n; at += num_threads()) to[at] += more[at];
}
