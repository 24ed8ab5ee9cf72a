#include "backends/cpu/fourier.h"

#include <array>
#include <bit>
#include <cmath>
#include <list>
#include <mutex>
#include <numbers>

#include "backends/cpu/fourier_convolution.h"
#include "backends/cpu/fourier_lanes.h"
#include "backends/cpu/math.h"
#include "backends/cpu/simd.h"
#include "base/stop_scope.h"

namespace emplace::cpu {

namespace {

constexpr int kLargestFactor = 31;  // a pass by its definition
constexpr int64_t kSplitFrom = 64;  // a single signal shorter than that goes as it is
constexpr size_t kKeptPlans = 32;
constexpr int64_t kLongestKept = 1 << 22;

template <class T, int R>
[[gnu::always_inline]] inline void butterfly(const Lanes<T> (&a)[R], Lanes<T> (&y)[R]) {
  if constexpr (R == 2) {
    add(a[0], a[1], y[0]);
    subtract(a[0], a[1], y[1]);
  } else if constexpr (R == 3) {
    constexpr T s = static_cast<T>(0.86602540378443864676);
    Lanes<T> sum, difference, rest;
    add(a[1], a[2], sum);
    subtract(a[1], a[2], difference);
    add(a[0], sum, y[0]);
    rest.re = a[0].re - sum.re * T(0.5);
    rest.im = a[0].im - sum.im * T(0.5);
    difference.re = difference.re * s;
    difference.im = difference.im * s;
    add_turned(rest, difference, y[2], y[1]);
  } else if constexpr (R == 4) {
    Lanes<T> even, odd, even2, odd2;
    add(a[0], a[2], even);
    subtract(a[0], a[2], odd);
    add(a[1], a[3], even2);
    subtract(a[1], a[3], odd2);
    add(even, even2, y[0]);
    subtract(even, even2, y[2]);
    add_turned(odd, odd2, y[3], y[1]);
  } else {
    static_assert(R == 5);
    constexpr T c1 = static_cast<T>(0.30901699437494742410),
                c2 = static_cast<T>(-0.80901699437494742410),
                s1 = static_cast<T>(0.95105651629515357212),
                s2 = static_cast<T>(0.58778525229247312917);
    Lanes<T> t1, t2, t3, t4, m1, m2, n1, n2;
    add(a[1], a[4], t1);
    add(a[2], a[3], t2);
    subtract(a[1], a[4], t3);
    subtract(a[2], a[3], t4);
    y[0].re = a[0].re + t1.re + t2.re;
    y[0].im = a[0].im + t1.im + t2.im;
    m1.re = a[0].re + t1.re * c1 + t2.re * c2;
    m1.im = a[0].im + t1.im * c1 + t2.im * c2;
    m2.re = a[0].re + t1.re * c2 + t2.re * c1;
    m2.im = a[0].im + t1.im * c2 + t2.im * c1;
    n1.re = t3.re * s1 + t4.re * s2;
    n1.im = t3.im * s1 + t4.im * s2;
    n2.re = t3.re * s2 - t4.re * s1;
    n2.im = t3.im * s2 - t4.im * s1;
    add_turned(m1, n1, y[4], y[1]);
    add_turned(m2, n2, y[3], y[2]);
  }
}

// One step: x as [R, m, s] to y as [m, R, s].
template <class T, int R>
void pass(const Lanes<T>* x, Lanes<T>* y, int64_t m, int64_t s, const T* w) {
  for (int64_t p = 0; p < m; ++p, w += 2 * (R - 1)) {
    for (int64_t q = 0; q < s; ++q) {
      Lanes<T> a[R], b[R];
      for (int k = 0; k < R; ++k) a[k] = x[q + s * (p + m * k)];
      butterfly<T, R>(a, b);
      Lanes<T>* to = y + q + s * R * p;
      to[0] = b[0];
      for (int k = 1; k < R; ++k) multiply(b[k], w[2 * k - 2], w[2 * k - 1], to[s * k]);
    }
  }
}

// The same for an odd R, by pairs of what lies symmetrically; its roots come
// before the factors.
template <class T, int R>
void odd_pass(const Lanes<T>* x, Lanes<T>* y, int64_t m, int64_t s, const T* w) {
  constexpr int kPairs = R / 2;
  T cosine[kPairs * kPairs], sine[kPairs * kPairs];
  for (int k = 0; k < kPairs; ++k)
    for (int j = 0; j < kPairs; ++j) {
      const int at = (k + 1) * (j + 1) % R;
      cosine[k * kPairs + j] = w[2 * at];
      sine[k * kPairs + j] = -w[2 * at + 1];
    }
  w += 2 * R;
  for (int64_t p = 0; p < m; ++p, w += 2 * (R - 1)) {
    for (int64_t q = 0; q < s; ++q) {
      const Lanes<T> first = x[q + s * p];
      Lanes<T> sums[kPairs], differences[kPairs], all = first;
      for (int j = 0; j < kPairs; ++j) {
        const Lanes<T>&a = x[q + s * (p + m * (j + 1))], &b = x[q + s * (p + m * (R - 1 - j))];
        add(a, b, sums[j]);
        subtract(a, b, differences[j]);
        add(all, sums[j], all);
      }
      Lanes<T>* to = y + q + s * R * p;
      to[0] = all;
      for (int k = 0; k < kPairs; ++k) {
        Lanes<T> even = first, odd = {}, plus, minus;
        for (int j = 0; j < kPairs; ++j) {
          const T c = cosine[k * kPairs + j], d = sine[k * kPairs + j];
          even.re += sums[j].re * c;
          even.im += sums[j].im * c;
          odd.re += differences[j].re * d;
          odd.im += differences[j].im * d;
        }
        add_turned(even, odd, minus, plus);
        multiply(plus, w[2 * k], w[2 * k + 1], to[s * (k + 1)]);
        const int other = R - 2 - k;
        multiply(minus, w[2 * other], w[2 * other + 1], to[s * (other + 1)]);
      }
    }
  }
}

// The same for any R.
template <class T>
void any_pass(const Lanes<T>* x, Lanes<T>* y, int64_t m, int64_t s, const T* w, int64_t radix) {
  const T* roots = w;
  w += 2 * radix;
  for (int64_t p = 0; p < m; ++p, w += 2 * (radix - 1)) {
    for (int64_t q = 0; q < s; ++q) {
      for (int64_t k = 0; k < radix; ++k) {
        Lanes<T> sum = x[q + s * p];
        for (int64_t j = 1; j < radix; ++j) {
          const int64_t at = j * k % radix;
          Lanes<T> term;
          multiply(x[q + s * (p + m * j)], roots[2 * at], roots[2 * at + 1], term);
          add(sum, term, sum);
        }
        Lanes<T>& to = y[q + s * (radix * p + k)];
        if (k == 0) to = sum;
        else multiply(sum, w[2 * k - 2], w[2 * k - 1], to);
      }
    }
  }
}

// Signals into lanes and back; lanes without a signal are zero.
template <class T>
void load(const std::complex<T>* in, int64_t signal, int64_t step, int64_t n, int count,
          bool swapped, Lanes<T>* to) {
  T* x = reinterpret_cast<T*>(to);
  const T* from = reinterpret_cast<const T*>(in);
  const int re = swapped ? kLanes : 0, im = swapped ? 0 : kLanes;
  if (count == kLanes) {
    for (int64_t i = 0; i < n; ++i, x += 2 * kLanes)
      for (int l = 0; l < kLanes; ++l) {
        x[re + l] = from[2 * (l * signal + i * step)];
        x[im + l] = from[2 * (l * signal + i * step) + 1];
      }
    return;
  }
  for (int64_t i = 0; i < n; ++i, x += 2 * kLanes)
    for (int l = 0; l < kLanes; ++l) {
      x[re + l] = l < count ? from[2 * (l * signal + i * step)] : T(0);
      x[im + l] = l < count ? from[2 * (l * signal + i * step) + 1] : T(0);
    }
}

template <class T>
void store(const Lanes<T>* from, int64_t n, int count, bool swapped, T scale, std::complex<T>* out,
           int64_t signal, int64_t step) {
  const T* x = reinterpret_cast<const T*>(from);
  T* to = reinterpret_cast<T*>(out);
  const int re = swapped ? kLanes : 0, im = swapped ? 0 : kLanes;
  for (int64_t i = 0; i < n; ++i, x += 2 * kLanes)
    for (int l = 0; l < count; ++l) {
      to[2 * (l * signal + i * step)] = x[re + l] * scale;
      to[2 * (l * signal + i * step) + 1] = x[im + l] * scale;
    }
}

std::vector<int> factors_of(int64_t n) {
  std::vector<int> found;
  for (int radix : {4, 2, 3, 5})
    for (; n % radix == 0; n /= radix) found.push_back(radix);
  for (int radix = 7; radix <= kLargestFactor && n > 1; radix += 2)
    for (; n % radix == 0; n /= radix) found.push_back(radix);
  if (n > 1) return {};
  return found;
}

}  // namespace

template <class T>
Fourier<T>::Fourier(int64_t length) : length_(length) {
  cost_ = 1.0 * static_cast<double>(length) * std::log2(static_cast<double>(length) + 2);
  if (length < 2) return;
  plan_passes();
  if (passes_.empty()) plan_convolution();
  else if (length >= kSplitFrom) plan_split();
}

template <class T>
Fourier<T>::~Fourier() = default;

template <class T>
void Fourier<T>::plan_passes() {
  int64_t n = length_, s = 1;
  const auto put = [this](std::complex<double> w) {
    twiddles_.push_back(static_cast<T>(w.real()));
    twiddles_.push_back(static_cast<T>(w.imag()));
  };
  for (int radix : factors_of(length_)) {
    const int64_t m = n / radix;
    passes_.push_back({radix, m, s, twiddles_.size()});
    if (radix > 5)
      for (int j = 0; j < radix; ++j) put(root(j, radix));
    for (const int64_t p : paced(m))
      for (int k = 1; k < radix; ++k) put(root(p * k, n));
    n = m;
    s *= radix;
  }
}

template <class T>
void Fourier<T>::plan_split() {
  // Both sides near the root of the length, and not too short for eight at a
  // time.
  int64_t rows = 0;
  for (int64_t r = static_cast<int64_t>(std::sqrt(static_cast<double>(length_))); r >= kLanes; --r)
    if (length_ % r == 0) {
      rows = r;
      break;
    }
  if (rows == 0 || length_ / rows > 64 * rows) return;
  rows_ = rows;
  columns_ = length_ / rows;
  down_ = of(rows_);
  across_ = of(columns_);
  between_.resize(static_cast<size_t>(length_));
  for (const int64_t k : paced(rows_))
    for (int64_t j = 0; j < columns_; ++j)
      between_[static_cast<size_t>(k * columns_ + j)] = Complex(root(k * j, length_));
}

template <class T>
void Fourier<T>::plan_convolution() {
  convolution_ = std::make_unique<Convolution<T>>(length_);
  cost_ = 3 * convolution_->plan->cost();
}

template <class T>
const std::vector<std::complex<T>>& Fourier<T>::turns() const {
  std::call_once(turned_, [this] {
    turns_.resize(static_cast<size_t>(length_) + 1);
    for (size_t k = 0; k < turns_.size(); ++k)
      turns_[k] = Complex(root(static_cast<int64_t>(k), 2 * length_));
  });
  return turns_;
}

template <class T>
int64_t Fourier<T>::lanes_needed() const {
  return convolution_ ? length_ + 2 * convolution_->plan->length_ : 2 * length_;
}

// `y` is as long as `x`, and the result is one of them.
template <class T>
Lanes<T>* Fourier<T>::pass_all(Lanes<T>* x, Lanes<T>* y) const {
  static const auto two = best<pass<T, 2>>(), three = best<pass<T, 3>>(), four = best<pass<T, 4>>(),
                    five = best<pass<T, 5>>(), seven = best<odd_pass<T, 7>>(),
                    eleven = best<odd_pass<T, 11>>(), thirteen = best<odd_pass<T, 13>>();
  static const auto any = best<any_pass<T>>();
  for (const Pass& p : passes_) {
    const T* w = twiddles_.data() + p.twiddles;
    switch (p.radix) {
      case 2: two(x, y, p.m, p.s, w); break;
      case 3: three(x, y, p.m, p.s, w); break;
      case 4: four(x, y, p.m, p.s, w); break;
      case 5: five(x, y, p.m, p.s, w); break;
      case 7: seven(x, y, p.m, p.s, w); break;
      case 11: eleven(x, y, p.m, p.s, w); break;
      case 13: thirteen(x, y, p.m, p.s, w); break;
      default: any(x, y, p.m, p.s, w, p.radix);
    }
    std::swap(x, y);
  }
  return x;
}

// A transform as a convolution: of eight signals …
template <class T>
Lanes<T>* Fourier<T>::convolve(Lanes<T>* x, Lanes<T>* a, Lanes<T>* b) const {
  static const auto before = best<Convolution<T>::template before<Lanes<T>>>(),
                    between = best<Convolution<T>::template between<Lanes<T>>>(),
                    after = best<Convolution<T>::template after<Lanes<T>>>();
  const Fourier& plan = *convolution_->plan;
  before(*convolution_, x, a);
  Lanes<T>* found = plan.pass_all(a, b);
  between(*convolution_, found, x);
  found = plan.pass_all(found, found == a ? b : a);
  after(*convolution_, found, x);
  return x;
}

// … and of a long one.
template <class T>
void Fourier<T>::convolve_one(In in, Out out, bool inverse, const Each& each) const {
  const Fourier& plan = *convolution_->plan;
  std::vector<Complex> x(static_cast<size_t>(length_)), a(static_cast<size_t>(plan.length_));
  for (const int64_t i : paced(length_)) {
    const Complex v = in.data[i * in.step];
    x[static_cast<size_t>(i)] = inverse ? Complex(v.imag(), v.real()) : v;
  }
  Convolution<T>::before(*convolution_, x.data(), a.data());
  plan.one({a.data(), 0, 1}, {a.data(), 0, 1}, false, each);
  Convolution<T>::between(*convolution_, a.data(), x.data());
  plan.one({a.data(), 0, 1}, {a.data(), 0, 1}, false, each);
  Convolution<T>::after(*convolution_, a.data(), x.data());
  const T scale = T(1) / static_cast<T>(length_);
  for (const int64_t i : paced(length_)) {
    const Complex v = x[static_cast<size_t>(i)];
    out.data[i * out.step] = inverse ? Complex(v.imag() * scale, v.real() * scale) : v;
  }
}

template <class T>
void Fourier<T>::some(In in, Out out, int count, bool inverse, std::vector<T>& work) const {
  StopScope::attend();
  if (length_ == 1) {
    for (int l = 0; l < count; ++l) out.data[l * out.signal] = in.data[l * in.signal];
    return;
  }
  constexpr size_t kAlignment = kLanes * sizeof(T);
  const size_t bytes = static_cast<size_t>(lanes_needed()) * sizeof(Lanes<T>);
  work.resize((bytes + kAlignment) / sizeof(T));
  void* first = work.data();
  size_t space = bytes + kAlignment;
  auto* x = static_cast<Lanes<T>*>(std::align(kAlignment, bytes, first, space));
  load(in.data, in.signal, in.step, length_, count, inverse, x);
  Lanes<T>* y = x + length_;
  const Lanes<T>* found =
      convolution_ ? convolve(x, y, y + convolution_->plan->length_) : pass_all(x, y);
  const T scale = inverse ? T(1) / static_cast<T>(length_) : T(1);
  store(found, length_, count, inverse, scale, out.data, out.signal, out.step);
}

template <class T>
bool Fourier<T>::splits() const {
  return rows_ > 0 || (convolution_ && convolution_->plan->splits());
}

template <class T>
void Fourier<T>::one(In in, Out out, bool inverse, const Each& each) const {
  if (!splits()) {
    std::vector<T> work;
    return some(in, out, 1, inverse, work);
  }
  if (convolution_) return convolve_one(in, out, inverse, each);
  std::vector<Complex> matrix(static_cast<size_t>(length_));
  // Down the columns, then the factors, then across the rows. Scaled by both
  // parts.
  each((columns_ + kLanes - 1) / kLanes, kLanes * down_->cost(), [&](int64_t begin, int64_t end) {
    std::vector<T> work;
    for (int64_t g = begin; g < end; ++g) {
      const int64_t j = g * kLanes;
      const auto count = static_cast<int>(std::min<int64_t>(kLanes, columns_ - j));
      down_->some({in.data + j * in.step, in.step, columns_ * in.step},
                  {matrix.data() + j, 1, columns_}, count, inverse, work);
      for (int64_t k = 1; k < rows_; ++k)
        for (int64_t l = j; l < j + count; ++l) {
          const Complex w = between_[static_cast<size_t>(k * columns_ + l)];
          Complex& x = matrix[static_cast<size_t>(k * columns_ + l)];
          x = times(x, inverse ? std::conj(w) : w);
        }
    }
  });
  each((rows_ + kLanes - 1) / kLanes, kLanes * across_->cost(), [&](int64_t begin, int64_t end) {
    std::vector<T> work;
    for (int64_t g = begin; g < end; ++g) {
      const int64_t k = g * kLanes;
      const auto count = static_cast<int>(std::min<int64_t>(kLanes, rows_ - k));
      across_->some({matrix.data() + k * columns_, columns_, 1},
                    {out.data + k * out.step, out.step, rows_ * out.step}, count, inverse, work);
    }
  });
}

template <class T>
std::shared_ptr<const Fourier<T>> Fourier<T>::of(int64_t length) {
  static std::mutex mutex;
  static std::list<std::shared_ptr<const Fourier>> kept;  // the last used first
  {
    const std::lock_guard lock(mutex);
    for (auto it = kept.begin(); it != kept.end(); ++it)
      if ((*it)->length_ == length) {
        kept.splice(kept.begin(), kept, it);
        return *it;
      }
  }
  auto made = std::make_shared<const Fourier>(length);  // may ask for others
  if (length > kLongestKept) return made;
  const std::lock_guard lock(mutex);
  kept.push_front(made);
  if (kept.size() > kKeptPlans) kept.pop_back();
  return made;
}

template class Fourier<float>;
template class Fourier<double>;

}  // namespace emplace::cpu
