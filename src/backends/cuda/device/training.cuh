// Steps of optimizers. v[0] is the variable, v[1], v[2] its slots; p the scalars, in the op's order,
// read from the card's memory. Many variables can be stepped by one launch.
struct Scalars { const void* p[8]; i32 flag; };
template <class T> DEV Compute<T> scalar(const Scalars& s, int i) { return load(*(const T*)s.p[i]); }

// Complex numbers are stepped as real ones are.
template <class R> DEV Complex<R>& operator+=(Complex<R>& a, Complex<R> b) { return a = a + b; }
template <class R> DEV Complex<R>& operator-=(Complex<R>& a, Complex<R> b) { return a = a - b; }
template <class R> DEV Complex<R> sqrt(Complex<R> x) {
  const R size = (R)hypot(x.re, x.im), a = sqrt((size + fabs(x.re)) / (R)2);
  if (a == (R)0) return {(R)0, (R)0};
  const R b = x.im / ((R)2 * a);
  return x.re >= (R)0 ? Complex<R>{a, b} : Complex<R>{(R)fabs(b), (R)copysign(a, x.im)};
}
template <class C> DEV C one() { return Store<C>::from(1); }

struct GradientDescent {
  template <class T> DEV void f(Compute<T>* v, Compute<T> g, const Scalars& s) { v[0] -= scalar<T>(s, 0) * g; }
};
struct Momentum {  // lr, momentum
  template <class T> DEV void f(Compute<T>* v, Compute<T> g, const Scalars& s) {
    const Compute<T> lr = scalar<T>(s, 0), m = scalar<T>(s, 1);
    v[1] = v[1] * m + g;
    v[0] -= s.flag ? g * lr + v[1] * m * lr : v[1] * lr;
  }
};
struct KerasMomentum {
  template <class T> DEV void f(Compute<T>* v, Compute<T> g, const Scalars& s) {
    const Compute<T> lr = scalar<T>(s, 0), m = scalar<T>(s, 1);
    v[1] = v[1] * m - g * lr;
    v[0] += s.flag ? v[1] * m - g * lr : v[1];
  }
};
struct Adam {  // beta1_power, beta2_power, lr, beta1, beta2, epsilon
  template <class T> DEV void f(Compute<T>* v, Compute<T> g, const Scalars& s) {
    typedef Compute<T> C;
    const C b1 = scalar<T>(s, 3), b2 = scalar<T>(s, 4);
    const C alpha = scalar<T>(s, 2) * sqrt(one<C>() - scalar<T>(s, 1)) / (one<C>() - scalar<T>(s, 0));
    v[1] += (g - v[1]) * (one<C>() - b1);
    v[2] += (g * g - v[2]) * (one<C>() - b2);
    const C m = s.flag ? g * (one<C>() - b1) + b1 * v[1] : v[1];
    v[0] -= m * alpha / (sqrt(v[2]) + scalar<T>(s, 5));
  }
};
struct Adagrad {  // lr
  template <class T> DEV void f(Compute<T>* v, Compute<T> g, const Scalars& s) {
    if (s.flag) v[1] += g * g;
    v[0] -= scalar<T>(s, 0) * g / sqrt(v[1]);
  }
};
struct AdagradV2 {  // lr, epsilon
  template <class T> DEV void f(Compute<T>* v, Compute<T> g, const Scalars& s) {
    if (s.flag) v[1] += g * g;
    v[0] -= scalar<T>(s, 0) * g / (sqrt(v[1]) + scalar<T>(s, 1));
  }
};
struct RMSProp {  // lr, rho, momentum, epsilon
  template <class T> DEV void f(Compute<T>* v, Compute<T> g, const Scalars& s) {
    typedef Compute<T> C;
    v[1] += (g * g - v[1]) * (one<C>() - scalar<T>(s, 1));
    v[2] = v[2] * scalar<T>(s, 2) + g * scalar<T>(s, 0) / sqrt(v[1] + scalar<T>(s, 3));
    v[0] -= v[2];
  }
};
struct Adadelta {  // lr, rho, epsilon; v[1]: accum, v[2]: accum_update
  template <class T> DEV void f(Compute<T>* v, Compute<T> g, const Scalars& s) {
    typedef Compute<T> C;
    const C rho = scalar<T>(s, 1), e = scalar<T>(s, 2);
    v[1] = v[1] * rho + g * g * (one<C>() - rho);
    const C step = sqrt(v[2] + e) / sqrt(v[1] + e) * g;
    v[0] -= step * scalar<T>(s, 0);
    v[2] = v[2] * rho + step * step * (one<C>() - rho);
  }
};

template <bool V2> struct FtrlRule {  // lr, l1, l2, (l2_shrinkage,) lr_power; v[1]: accum, v[2]: linear
  template <class T> DEV Compute<T> root(Compute<T> x, Compute<T> power) {
    return power == (Compute<T>)-0.5 ? sqrt(x) : pow(x, -power);
  }
  template <class T> DEV void f(Compute<T>* v, Compute<T> g, const Scalars& s) {
    typedef Compute<T> C;
    const C lr = scalar<T>(s, 0), l1 = scalar<T>(s, 1), l2 = scalar<T>(s, 2);
    const C shrinkage = V2 ? scalar<T>(s, 3) : (C)0, power = scalar<T>(s, V2 ? 4 : 3);
    const C accum = v[1] + g * g, shrunk = g + (C)2 * shrinkage * v[0], scale = s.flag ? (C)1 : lr;
    const C sigma = root<T>(accum, power) - root<T>(v[1], power);
    v[2] += (s.flag ? shrunk * lr : shrunk) - sigma / scale * v[0];
    const C limit = s.flag ? l1 * lr : l1;
    const C quadratic = root<T>(accum, power) / scale + (C)2 * l2 * (s.flag ? lr : (C)1);
    const C held = v[2] < -limit ? -limit : v[2] > limit ? limit : v[2];
    v[0] = fabs(v[2]) > limit ? (held - v[2]) / quadratic : (C)0;
    v[1] = accum;
  }
};
typedef FtrlRule<false> Ftrl;
typedef FtrlRule<true> FtrlV2;
struct CenteredRMSProp {  // lr, rho, momentum, epsilon; v: variable, mg, ms, mom
  template <class T> DEV void f(Compute<T>* v, Compute<T> g, const Scalars& s) {
    typedef Compute<T> C;
    const C rho = scalar<T>(s, 1);
    v[2] += (g * g - v[2]) * (one<C>() - rho);
    v[1] += (g - v[1]) * (one<C>() - rho);
    v[3] = v[3] * scalar<T>(s, 2) + g * scalar<T>(s, 0) / sqrt(v[2] - v[1] * v[1] + scalar<T>(s, 3));
    v[0] -= v[3];
  }
};

template <class C> DEV C sign_of(C x) { return (C)((x > (C)0) - (x < (C)0)); }
template <class C> DEV C larger(C a, C b) { return a > b ? a : b; }
struct AdaMax {  // beta1_power, lr, beta1, beta2, epsilon
  template <class T> DEV void f(Compute<T>* v, Compute<T> g, const Scalars& s) {
    typedef Compute<T> C;
    v[1] += (g - v[1]) * ((C)1 - scalar<T>(s, 2));
    v[2] = larger<C>(scalar<T>(s, 3) * v[2], fabs(g));
    v[0] -= scalar<T>(s, 1) / ((C)1 - scalar<T>(s, 0)) * (v[1] / (v[2] + scalar<T>(s, 4)));
  }
};
struct AdamWithAmsgrad {  // beta1_power, beta2_power, lr, beta1, beta2, epsilon; v: variable, m, v, vhat
  template <class T> DEV void f(Compute<T>* v, Compute<T> g, const Scalars& s) {
    typedef Compute<T> C;
    const C alpha = scalar<T>(s, 2) * sqrt((C)1 - scalar<T>(s, 1)) / ((C)1 - scalar<T>(s, 0));
    v[1] += (g - v[1]) * ((C)1 - scalar<T>(s, 3));
    v[2] += (g * g - v[2]) * ((C)1 - scalar<T>(s, 4));
    v[3] = larger<C>(v[3], v[2]);
    v[0] -= v[1] * alpha / (sqrt(v[3]) + scalar<T>(s, 5));
  }
};
struct AddSign {  // lr, alpha, sign_decay, beta
  template <class T> DEV void f(Compute<T>* v, Compute<T> g, const Scalars& s) {
    typedef Compute<T> C;
    v[1] = v[1] * scalar<T>(s, 3) + g * ((C)1 - scalar<T>(s, 3));
    v[0] -= scalar<T>(s, 0) * (scalar<T>(s, 1) + scalar<T>(s, 2) * sign_of(g) * sign_of(v[1])) * g;
  }
};
struct PowerSign {  // lr, logbase, sign_decay, beta
  template <class T> DEV void f(Compute<T>* v, Compute<T> g, const Scalars& s) {
    typedef Compute<T> C;
    v[1] = v[1] * scalar<T>(s, 3) + g * ((C)1 - scalar<T>(s, 3));
    v[0] -= scalar<T>(s, 0) * exp(scalar<T>(s, 1) * scalar<T>(s, 2) * sign_of(g) * sign_of(v[1])) * g;
  }
};
struct ProximalAdagrad {  // lr, l1, l2
  template <class T> DEV void f(Compute<T>* v, Compute<T> g, const Scalars& s) {
    typedef Compute<T> C;
    v[1] += g * g;
    const C rate = scalar<T>(s, 0) / sqrt(v[1]), l1 = rate * scalar<T>(s, 1), x = v[0] - rate * g;
    v[0] = (l1 > (C)0 ? sign_of(x) * larger<C>(fabs(x) - l1, (C)0) : x) / ((C)1 + scalar<T>(s, 2) * rate);
  }
};

template <class Rule, class T, int N>
__global__ void dense_step(T* v0, T* v1, T* v2, T* v3, const T* grad, i64 n, const Scalars s) {
  T* at[4] = {v0, v1, v2, v3};
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    Compute<T> v[4];
    for (int k = 0; k < N; ++k) v[k] = load(at[k][i]);
    Rule::template f<T>(v, load(grad[i]), s);
    for (int k = 0; k < N; ++k) at[k][i] = Store<T>::from(v[k]);
  }
}
// Many variables by one rule: a block has STEP_BLOCK elements of one of them.
#define STEP_BLOCK 1024
struct OneStep { void* v[4]; const void* grad; i64 n; Scalars s; };
struct ManySteps { i32 count; u32 first[33]; OneStep of[32]; };  // first: the block each begins with
template <class Rule, class T, int N> __global__ void dense_steps(const ManySteps all) {
  i32 k = 0;
  while (k + 1 < all.count && blockIdx.x >= all.first[k + 1]) ++k;
  const OneStep& one = all.of[k];
  const i64 begin = (i64)(blockIdx.x - all.first[k]) * STEP_BLOCK;
  const i64 end = begin + STEP_BLOCK < one.n ? begin + STEP_BLOCK : one.n;
  const int W = sizeof(T) >= 4 ? 16 / sizeof(T) : 4;  // elements of a load
  typedef Vec<T, W> Wide;
  bool wide = end - begin == STEP_BLOCK && ((u64)one.grad % sizeof(Wide)) == 0;
  for (int j = 0; j < N; ++j) wide &= ((u64)one.v[j] % sizeof(Wide)) == 0;
  if (wide) {
    for (i64 i = begin / W + threadIdx.x; i < end / W; i += blockDim.x) {
      Wide at[4], g = ((const Wide*)one.grad)[i];
      for (int j = 0; j < N; ++j) at[j] = ((const Wide*)one.v[j])[i];
#pragma unroll
      for (int e = 0; e < W; ++e) {
        Compute<T> v[4];
        for (int j = 0; j < N; ++j) v[j] = load(at[j].v[e]);
        Rule::template f<T>(v, load(g.v[e]), one.s);
        for (int j = 0; j < N; ++j) at[j].v[e] = Store<T>::from(v[j]);
      }
      for (int j = 0; j < N; ++j) ((Wide*)one.v[j])[i] = at[j];
    }
    return;
  }
  for (i64 i = begin + threadIdx.x; i < end; i += blockDim.x) {
    Compute<T> v[4];
    for (int j = 0; j < N; ++j) v[j] = load(((T*)one.v[j])[i]);
    Rule::template f<T>(v, load(((const T*)one.grad)[i]), one.s);
    for (int j = 0; j < N; ++j) ((T*)one.v[j])[i] = Store<T>::from(v[j]);
  }
}
// Rows indices[k] of [rows, inner] take grad[k]. Equal indices: one after another, by one thread.
template <class Rule, class T, class I, int N>
__global__ void sparse_step(T* v0, T* v1, T* v2, T* v3, const T* grad, const I* indices, i64 count, i64 rows, i64 inner,
                            const Scalars s) {
  T* at[4] = {v0, v1, v2, v3};
  for (i64 c = thread_id(); c < inner; c += num_threads())
    for (i64 k = 0; k < count; ++k) {
      const i64 row = (i64)indices[k];
      if (row < 0 || row >= rows) continue;
      Compute<T> v[4];
      for (int j = 0; j < N; ++j) v[j] = load(at[j][row * inner + c]);
      Rule::template f<T>(v, load(grad[k * inner + c]), s);
      for (int j = 0; j < N; ++j) at[j][row * inner + c] = Store<T>::from(v[j]);
    }
}
