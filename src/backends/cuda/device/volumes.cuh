// Windows over images and volumes of either layout: pools, where their largest lie, gradients, patches.
// Three sides; those that an image lacks have size 1.
struct Volume {
  i64 batch, channels;
  i64 in[3], out[3], size[3], stride[3], dilation[3], before[3];
  i64 at_in[5], at_out[5];  // strides of batch, the three sides, channels
};
struct Voxel { i64 n, c, p[3]; };
DEV Voxel voxel(const Volume& s, const i64* extent, const i64* strides, i64 i) {
  Voxel v;  // channels run fastest or after the batch: told by their stride
  if (strides[4] == 1) { v.c = i % s.channels; i /= s.channels; }
  for (int d = 2; d >= 0; --d) { v.p[d] = i % extent[d]; i /= extent[d]; }
  if (strides[4] != 1) { v.c = i % s.channels; i /= s.channels; }
  v.n = i;
  return v;
}
DEV i64 index_in(const Volume& s, i64 n, i64 c, i64 x, i64 y, i64 z) {
  return n * s.at_in[0] + x * s.at_in[1] + y * s.at_in[2] + z * s.at_in[3] + c * s.at_in[4];
}
DEV i64 index_out(const Volume& s, i64 n, i64 c, const i64* p) {
  return n * s.at_out[0] + p[0] * s.at_out[1] + p[1] * s.at_out[2] + p[2] * s.at_out[3] + c * s.at_out[4];
}
// Calls f(x, y, z) for the taps of output p that meet the input, in rising order.
template <class F> DEV void for_taps(const Volume& s, const i64* p, F f) {
  i64 first[3];
  for (int d = 0; d < 3; ++d) first[d] = p[d] * s.stride[d] - s.before[d];
  for (i64 i = 0; i < s.size[0]; ++i) {
    const i64 x = first[0] + i * s.dilation[0];
    if (x < 0 || x >= s.in[0]) continue;
    for (i64 j = 0; j < s.size[1]; ++j) {
      const i64 y = first[1] + j * s.dilation[1];
      if (y < 0 || y >= s.in[1]) continue;
      for (i64 k = 0; k < s.size[2]; ++k) {
        const i64 z = first[2] + k * s.dilation[2];
        if (z >= 0 && z < s.in[2]) f(x, y, z);
      }
    }
  }
}
template <class T, bool MAX> __global__ void volume_pool(T* out, const T* in, i64 n, const Volume s) {
  typedef Compute<T> C;
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    const Voxel v = voxel(s, s.out, s.at_out, i);
    C a = 0;
    i64 count = 0;
    for_taps(s, v.p, [&](i64 x, i64 y, i64 z) {
      const C b = load(in[index_in(s, v.n, v.c, x, y, z)]);
      a = count == 0 ? b : MAX ? (b > a || b != b ? b : a) : a + b;
      ++count;
    });
    out[i] = Store<T>::from(!MAX && count > 1 ? a / (C)count : a);
  }
}
// Where the largest of output p is, among the pixels of one image and all channels: the first of equals.
template <class T> DEV i64 largest_at(const T* in, const Volume& s, const Voxel& v, Compute<T>& best) {
  i64 at = -1;
  for_taps(s, v.p, [&](i64 x, i64 y, i64 z) {
    const Compute<T> b = load(in[index_in(s, v.n, v.c, x, y, z)]);
    if (at < 0 || b > best) { best = b; at = index_in(s, 0, v.c, x, y, z); }
  });
  return at;
}
template <class T, class I>
__global__ void pool_with_places(T* out, I* places, const T* in, i64 n, const Volume s, bool count_images) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    const Voxel v = voxel(s, s.out, s.at_out, i);
    Compute<T> best = 0;
    const i64 at = largest_at(in, s, v, best);
    out[i] = Store<T>::from(best);
    places[i] = (I)(at + (count_images ? v.n * s.at_in[0] : 0));
  }
}
// What the largest of each window has in `from`.
template <class T> __global__ void pool_of_largest(T* out, const T* in, const T* from, i64 n, const Volume s) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    const Voxel v = voxel(s, s.out, s.at_out, i);
    Compute<T> best = 0;
    const i64 at = largest_at(in, s, v, best);
    T zero{};
    out[i] = at < 0 ? zero : from[v.n * s.at_in[0] + at];
  }
}
// Gradients gather: a thread an input, over the windows that hold it. HOW: 0 average; 1 the largest, of which
// only the first counts; 2 everything that equals y.
template <class T, int HOW>
__global__ void volume_pool_grad(T* dx, const T* in, const T* y, const T* dy, i64 n, const Volume s) {
  typedef Compute<T> C;
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    const Voxel v = voxel(s, s.in, s.at_in, i);
    i64 first[3], last[3];
    for (int d = 0; d < 3; ++d) {
      const i64 reach = (s.size[d] - 1) * s.dilation[d] + 1, to = v.p[d] + s.before[d];
      first[d] = to < reach ? 0 : (to - reach) / s.stride[d] + 1;
      last[d] = to / s.stride[d];
      if (last[d] >= s.out[d]) last[d] = s.out[d] - 1;
    }
    const i64 own = index_in(s, 0, v.c, v.p[0], v.p[1], v.p[2]);
    C sum = 0;
    i64 p[3];
    for (p[0] = first[0]; p[0] <= last[0]; ++p[0])
      for (p[1] = first[1]; p[1] <= last[1]; ++p[1])
        for (p[2] = first[2]; p[2] <= last[2]; ++p[2]) {
          const i64 o = index_out(s, v.n, v.c, p);
          if (HOW == 0) {
            i64 count = 0;
            for_taps(s, p, [&](i64, i64, i64) { ++count; });
            sum += load(dy[o]) / (C)count;
          } else if (HOW == 1) {
            const Voxel w = {v.n, v.c, {p[0], p[1], p[2]}};
            C best = 0;
            if (largest_at(in, s, w, best) == own) sum += load(dy[o]);
          } else if (load(in[i]) == load(y[o])) {
            sum += load(dy[o]);
          }
        }
    dx[i] = Store<T>::from(sum);
  }
}

// Windows laid out: [batch, out.., taps * channels]; channels last.
template <class T> __global__ void patches(T* out, const T* in, i64 n, const Volume s) {
  const i64 taps = s.size[0] * s.size[1] * s.size[2];
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    const i64 c = i % s.channels, tap = i / s.channels % taps;
    i64 rest = i / s.channels / taps;
    const i64 k[3] = {tap / (s.size[1] * s.size[2]), tap / s.size[2] % s.size[1], tap % s.size[2]};
    i64 at[3];
    bool inside = true;
    for (int d = 2; d >= 0; --d) {
      at[d] = rest % s.out[d] * s.stride[d] - s.before[d] + k[d] * s.dilation[d];
      rest /= s.out[d];
      inside &= at[d] >= 0 && at[d] < s.in[d];
    }
    T zero{};
    out[i] = inside ? in[index_in(s, rest, c, at[0], at[1], at[2])] : zero;
  }
}

// The largest of window plus filter [rows, columns, channels]: where it is, as a tap; -1: nowhere.
template <class T> DEV i64 widest_tap(const T* in, const T* filter, const Volume& s, const Voxel& v, Compute<T>& best) {
  i64 tap = -1;
  for (i64 j = 0; j < s.size[1]; ++j)
    for (i64 k = 0; k < s.size[2]; ++k) {
      const i64 y = v.p[1] * s.stride[1] - s.before[1] + j * s.dilation[1], z = v.p[2] * s.stride[2] - s.before[2] + k * s.dilation[2];
      if (y < 0 || y >= s.in[1] || z < 0 || z >= s.in[2]) continue;
      const i64 t = j * s.size[2] + k;
      const Compute<T> sum = load(in[index_in(s, v.n, v.c, 0, y, z)]) + load(filter[t * s.channels + v.c]);
      if (tap < 0 || sum > best) { best = sum; tap = t; }
    }
  return tap;
}
template <class T> __global__ void dilation(T* out, const T* in, const T* filter, i64 n, const Volume s) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    Compute<T> best = 0;
    widest_tap(in, filter, s, voxel(s, s.out, s.at_out, i), best);
    out[i] = Store<T>::from(best);
  }
}
// Sums in float or double, which the caller narrows. TO_FILTER: of the filter, else of the input.
template <class T, bool TO_FILTER>
__global__ void dilation_grad(Compute<T>* sums, const T* in, const T* filter, const T* dy, i64 n, const Volume s) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    const Voxel v = voxel(s, s.out, s.at_out, i);
    Compute<T> best = 0;
    const i64 t = widest_tap(in, filter, s, v, best);
    if (t < 0) continue;
    const i64 y = v.p[1] * s.stride[1] - s.before[1] + t / s.size[2] * s.dilation[1];
    const i64 z = v.p[2] * s.stride[2] - s.before[2] + t % s.size[2] * s.dilation[2];
    atomicAdd(&sums[TO_FILTER ? t * s.channels + v.c : index_in(s, v.n, v.c, 0, y, z)], load(dy[i]));
  }
}
template <class T> __global__ void narrow(T* out, const Compute<T>* in, i64 n) {
  for (i64 i = thread_id(); i < n; i += num_threads()) out[i] = Store<T>::from(in[i]);
}
// The largest of `size` neighbours.
template <class T> __global__ void largest_of_neighbours(T* out, const T* in, i64 n, i64 size) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    Compute<T> best = load(in[i * size]);
    for (i64 k = 1; k < size; ++k) { const Compute<T> x = load(in[i * size + k]); if (best < x) best = x; }
    out[i] = Store<T>::from(best);
  }
}
