// Products of small matrices, where a library's kernel is longer in starting than in computing: a
// thread an element, an 8 × 8 tile a block of 64 threads, all of k in shared memory.

// Eight rows of k numbers each, from where rows lie one after another, or columns do (T). Rows from
// `limit` on are zeros.
template <bool T, int K> DEV void load_rows(float (&to)[8][(K + 3) / 4 * 4 + 4], const float* from, i32 first, i32 limit) {
  const i32 t = threadIdx.x;
  if (T) {  // from: [K, limit]
    #pragma unroll
    for (i32 i = t; i < (K + 3) / 4 * 4 * 8; i += 64)
      to[i % 8][i / 8] = first + i % 8 < limit && i / 8 < K ? from[(i64)(i / 8) * limit + first + i % 8] : 0.0f;
  } else if (K % 4 == 0 && ((u64)from & 15) == 0) {
    #pragma unroll
    for (i32 i = t; i < K / 4 * 8; i += 64) {
      const i32 r = i / (K / 4), q = i % (K / 4);
      Vec<float, 4> v = {};
      if (first + r < limit) v = ((const Vec<float, 4>*)(from + (i64)(first + r) * K))[q];
      *(Vec<float, 4>*)&to[r][q * 4] = v;
    }
  } else {
    for (i32 i = t; i < (K + 3) / 4 * 4 * 8; i += 64) {
      const i32 r = i / ((K + 3) / 4 * 4), q = i % ((K + 3) / 4 * 4);
      to[r][q] = first + r < limit && q < K ? from[(i64)(first + r) * K + q] : 0.0f;
    }
  }
}

template <bool TA, bool TB, int AFTER, int K>  // AFTER: 1 adds a bias, 2 takes relu of that
__global__ void small_product(float* out, const float* a, const float* b, const float* bias, i32 m, i32 n) {
  __shared__ __align__(16) float rows[8][(K + 3) / 4 * 4 + 4], columns[8][(K + 3) / 4 * 4 + 4];
  const i32 first_m = blockIdx.y * 8, first_n = blockIdx.x * 8, y = threadIdx.x / 8, x = threadIdx.x % 8;
  wait_for_previous();
  let_next_start();
  load_rows<TA, K>(rows, a, first_m, m);
  load_rows<!TB, K>(columns, b, first_n, n);
  __syncthreads();
  float s[4] = {};
  #pragma unroll
  for (i32 i = 0; i < (K + 3) / 4 * 4; i += 4) {
    const Vec<float, 4> u = *(const Vec<float, 4>*)&rows[y][i], v = *(const Vec<float, 4>*)&columns[x][i];
    #pragma unroll
    for (int k = 0; k < 4; ++k) s[k] += u.v[k] * v.v[k];
  }
  if (first_m + y >= m || first_n + x >= n) return;
  float r = (s[0] + s[1]) + (s[2] + s[3]);
  if (AFTER) r += bias[first_n + x];
  if (AFTER == 2) r = r > 0.0f || r != r ? r : 0.0f;
  out[(i64)(first_m + y) * n + first_n + x] = r;
}
