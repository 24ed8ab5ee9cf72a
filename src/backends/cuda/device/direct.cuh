// Convolutions without a library, for what it has not: a thread a number of the result. Filters are
// [sides.., depth, results], depth being the input's channels of one group.
struct Direct {
  i64 in[3], out[3], size[3], stride[3], dilation[3], before[3];
  i64 at_in[5], at_out[5];  // strides of batch, the three sides, channels
  i64 batch, channels, depth, results, groups;
};
DEV i64 spot(const i64* at, i64 n, const i64* p, i64 c) { return n * at[0] + p[0] * at[1] + p[1] * at[2] + p[2] * at[3] + c * at[4]; }
// Element i, counted batch by batch, side by side, channels last.
DEV i64 split(i64 i, const i64* extent, i64 channels, i64* p, i64& c) {
  c = i % channels; i /= channels;
  for (int d = 2; d >= 0; --d) { p[d] = i % extent[d]; i /= extent[d]; }
  return i;
}
template <class T> __global__ void direct_forward(T* out, const T* in, const T* filter, i64 n, const Direct s) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    i64 p[3], o, q[3], k[3];
    const i64 image = split(i, s.out, s.results, p, o), first = o / (s.results / s.groups) * s.depth;
    Compute<T> sum = 0;
    for (k[0] = 0; k[0] < s.size[0]; ++k[0])
      for (k[1] = 0; k[1] < s.size[1]; ++k[1])
        for (k[2] = 0; k[2] < s.size[2]; ++k[2]) {
          bool inside = true;
          for (int d = 0; d < 3; ++d) { q[d] = p[d] * s.stride[d] - s.before[d] + k[d] * s.dilation[d]; inside &= q[d] >= 0 && q[d] < s.in[d]; }
          if (!inside) continue;
          const T* f = filter + ((k[0] * s.size[1] + k[1]) * s.size[2] + k[2]) * s.depth * s.results + o;
          for (i64 c = 0; c < s.depth; ++c) sum += load(in[spot(s.at_in, image, q, first + c)]) * load(f[c * s.results]);
        }
    out[spot(s.at_out, image, p, o)] = Store<T>::from(sum);
  }
}
template <class T> __global__ void direct_to_input(T* dx, const T* filter, const T* dy, i64 n, const Direct s) {
  const i64 per = s.results / s.groups;
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    i64 p[3], c, q[3], k[3];
    const i64 image = split(i, s.in, s.channels, p, c), first = c / s.depth * per;
    Compute<T> sum = 0;
    for (k[0] = 0; k[0] < s.size[0]; ++k[0])
      for (k[1] = 0; k[1] < s.size[1]; ++k[1])
        for (k[2] = 0; k[2] < s.size[2]; ++k[2]) {
          bool inside = true;
          for (int d = 0; d < 3; ++d) {
            const i64 t = p[d] + s.before[d] - k[d] * s.dilation[d];
            q[d] = t / s.stride[d];
            inside &= t >= 0 && t % s.stride[d] == 0 && q[d] < s.out[d];
          }
          if (!inside) continue;
          const T* f = filter + (((k[0] * s.size[1] + k[1]) * s.size[2] + k[2]) * s.depth + c % s.depth) * s.results;
          for (i64 o = first; o < first + per; ++o) sum += load(dy[spot(s.at_out, image, q, o)]) * load(f[o]);
        }
    dx[spot(s.at_in, image, p, c)] = Store<T>::from(sum);
  }
}
template <class T> __global__ void direct_to_filter(T* df, const T* in, const T* dy, i64 n, const Direct s) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    i64 k[3], p[3], q[3], rest = i;
    const i64 o = rest % s.results; rest /= s.results;
    const i64 c = o / (s.results / s.groups) * s.depth + rest % s.depth; rest /= s.depth;
    for (int d = 2; d >= 0; --d) { k[d] = rest % s.size[d]; rest /= s.size[d]; }
    Compute<T> sum = 0;
    for (i64 image = 0; image < s.batch; ++image)
      for (p[0] = 0; p[0] < s.out[0]; ++p[0])
        for (p[1] = 0; p[1] < s.out[1]; ++p[1])
          for (p[2] = 0; p[2] < s.out[2]; ++p[2]) {
            bool inside = true;
            for (int d = 0; d < 3; ++d) { q[d] = p[d] * s.stride[d] - s.before[d] + k[d] * s.dilation[d]; inside &= q[d] >= 0 && q[d] < s.in[d]; }
            if (inside) sum += load(in[spot(s.at_in, image, q, c)]) * load(dy[spot(s.at_out, image, p, o)]);
          }
    df[i] = Store<T>::from(sum);
  }
}

// ---- Batch normalisation whose figures are fixed. Element i of channel c: where.
DEV i64 norm_spot(i64 i, i64 c, i64 spatial, i64 channels, bool first) {
  return first ? (i / spatial * channels + c) * spatial + i % spatial : i * channels + c;
}
// A block a channel: the sums that belong to it, then dx.
template <class T>
__global__ void fixed_norm_grad(T* dx, float* dscale, float* doffset, const T* dy, const T* x, const float* scale, const float* mean,
                                const float* variance, i64 each, i64 spatial, i64 channels, float epsilon, bool first) {
  __shared__ double offsets_of[256], scales_of[256];
  const i64 c = blockIdx.x;
  const float root = rsqrtf(variance[c] + epsilon), middle = mean[c];
  double to_offset = 0, to_scale = 0;
  for (i64 i = threadIdx.x; i < each; i += blockDim.x) {
    const i64 at = norm_spot(i, c, spatial, channels, first);
    const float g = load(dy[at]);
    to_offset += g;
    to_scale += g * (load(x[at]) - middle);
    dx[at] = Store<T>::from(g * scale[c] * root);
  }
  offsets_of[threadIdx.x] = to_offset;
  scales_of[threadIdx.x] = to_scale;
  __syncthreads();
  for (int step = 128; step > 0; step /= 2) {
    if (threadIdx.x < step) {
      offsets_of[threadIdx.x] += offsets_of[threadIdx.x + step];
      scales_of[threadIdx.x] += scales_of[threadIdx.x + step];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) { doffset[c] = (float)offsets_of[0]; dscale[c] = (float)(scales_of[0] * root); }
}
