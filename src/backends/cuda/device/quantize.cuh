// Numbers rounded as if they had been kept in few bits.

// A range moved so that 0 is one of its steps.
struct QuantSteps { float low, high, scale; i32 flat; };
DEV float quantized(const QuantSteps& s, float x) {
  const float inverse = __fdiv_rn(1.0f, s.scale), zero = floorf(__fadd_rn(__fmul_rn(-s.low, inverse), 0.5f));
  const float inside = fmaxf(fminf(x, s.high), s.low) - s.low;
  return __fmul_rn(floorf(__fadd_rn(__fadd_rn(__fmul_rn(inside, inverse), -zero), 0.5f)), s.scale);
}
__global__ void fake_quant(float* out, const float* in, const QuantSteps* steps, i64 n, i64 channels) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    const QuantSteps s = steps[i % channels];
    out[i] = s.flat ? 0.0f : quantized(s, in[i]);
  }
}
// sums: [2, channels] of doubles, or null.
__global__ void fake_quant_grad(float* out, double* sums, const float* grad, const float* in, const QuantSteps* steps, i64 n, i64 channels) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    const i64 k = i % channels;
    const QuantSteps s = steps[k];
    const float x = in[i], g = grad[i];
    out[i] = s.flat || (x >= s.low && x <= s.high) ? g : 0.0f;
    if (!sums || s.flat) continue;
    if (x < s.low) atomicAdd(&sums[k], (double)g);
    if (x > s.high) atomicAdd(&sums[channels + k], (double)g);
  }
}
__global__ void to_floats(float* out, const double* in, i64 n) {
  for (i64 i = thread_id(); i < n; i += num_threads()) out[i] = (float)in[i];
}

// [outer, channels, inner]: each channel's smallest and largest; a block a channel.
template <class T> __global__ void channel_ranges(Compute<T>* ranges, const T* in, i64 outer, i64 channels, i64 inner) {
  typedef Compute<T> C;
  __shared__ C low[256], high[256];
  const i64 k = blockIdx.x;
  C a = 0, b = 0;
  bool any = false;
  for (i64 i = threadIdx.x; i < outer * inner; i += blockDim.x) {
    const C x = load(in[(i / inner * channels + k) * inner + i % inner]);
    a = any && a < x ? a : x;
    b = any && b > x ? b : x;
    any = true;
  }
  if (!any) { a = load(in[k * inner]); b = a; }
  low[threadIdx.x] = a;
  high[threadIdx.x] = b;
  __syncthreads();
  for (int step = 128; step > 0; step /= 2) {
    if (threadIdx.x < step) {
      const int o = threadIdx.x + step;
      if (low[o] < low[threadIdx.x]) low[threadIdx.x] = low[o];
      if (high[o] > high[threadIdx.x]) high[threadIdx.x] = high[o];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) { ranges[k] = low[0]; ranges[channels + k] = high[0]; }
}
template <class T>
__global__ void there_and_back(T* out, const T* in, const Compute<T>* ranges, i64 n, i64 channels, i64 inner, double steps_in, i32 flags) {
  typedef Compute<T> C;
  const bool is_signed = flags & 1, narrow = flags & 2, half_up = flags & 4, given = flags & 8;
  const C steps = (C)steps_in, first = is_signed ? (narrow ? -(steps - 1) : -steps) : (C)0, last = steps - 1;
  const C none = sizeof(C) == 8 ? (C)1.7976931348623157e308 : (C)3.402823466e38f;
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    const i64 k = i / inner % channels;
    C low = ranges[k], high = ranges[channels + k];
    const C from_low = first * low > 0 ? first / low : none, from_high = last * high > 0 ? last / high : none;
    C scale, inverse;
    if (from_low < from_high) { scale = from_low; inverse = low / first; high = last * inverse; }
    else { scale = from_high; inverse = high / last; low = first * inverse; }
    C x = load(in[i]);
    if (given) { x = x < high ? x : high; x = x > low ? x : low; }
    const C rounded = half_up ? (C)floor(x * scale + (C)0.5) : (C)rint(x * scale);
    out[i] = Store<T>::from(rounded * inverse);
  }
}
// What came back through numbers within their channel's range.
template <class T>
__global__ void back_within(T* out, const T* grad, const T* in, const T* ranges, i64 n, i64 channels, i64 inner) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    const i64 k = i / inner % channels;
    out[i] = in[i] >= ranges[k] && in[i] <= ranges[channels + k] ? grad[i] : (T)0;
  }
}
