#pragma once
#include <complex>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/function_ref.h"

namespace emplace::cpu {

template <class T>
struct Lanes;
template <class T>
struct Convolution;

// Discrete Fourier transforms of one length: what is computed once for it.
// Lengths of small factors go by those (Stockham's way, eight signals side by
// side), a single long signal as a matrix of shorter ones, others as a
// convolution (a prime by the powers of a generator, Rader's way, if the number
// below it has small factors; Bluestein's way otherwise). The inverse is
// divided by the length. Immutable; any thread may use it.
template <class T>
class Fourier {
 public:
  using Complex = std::complex<T>;

  explicit Fourier(int64_t length);
  ~Fourier();

  // The plan of a length; those of late are kept.
  static std::shared_ptr<const Fourier> of(int64_t length);

  // Signals in memory: element i of signal l stands at data[l * signal + i *
  // step].
  struct In {
    const Complex* data;
    int64_t signal, step;
  };
  struct Out {
    Complex* data;
    int64_t signal, step;
  };

  static constexpr int kLanes = 8;

  // Transforms `count` ≤ kLanes signals; `out` may be `in`. `work` is used as
  // scratch.
  void some(In in, Out out, int count, bool inverse, std::vector<T>& work) const;

  // Transforms one signal; its parts through `each(n, cost, f)`, which calls
  // f(begin, end) for parts of [0, n) until all are done, on whatever threads
  // it likes.
  using Each = FunctionRef<void(int64_t, double, FunctionRef<void(int64_t, int64_t)>)>;
  void one(In in, Out out, bool inverse, const Each& each) const;

  // Whether `one` is quicker than `some` with one signal.
  bool splits() const;
  double cost() const {
    return cost_;
  }  // ns a signal, about

  // exp(-πi k / length) for k ≤ length: what takes the transform of a real
  // signal of twice the length apart, once it is asked for.
  const std::vector<Complex>& turns() const;

 private:
  struct Pass {
    int radix;
    int64_t m, s;     // signals of length radix · m, s of them interleaved
    size_t twiddles;  // where its factors begin
  };

  void plan_passes();
  void plan_split();
  void plan_convolution();
  int64_t lanes_needed() const;
  Lanes<T>* pass_all(Lanes<T>* x, Lanes<T>* y) const;
  Lanes<T>* convolve(Lanes<T>* x, Lanes<T>* a, Lanes<T>* b) const;
  void convolve_one(In in, Out out, bool inverse, const Each& each) const;

  const int64_t length_;
  double cost_ = 0;
  std::vector<Pass> passes_;
  std::vector<T> twiddles_;
  // As a matrix: `rows_` × `columns_`, with the factors between both steps.
  int64_t rows_ = 0, columns_ = 0;
  std::shared_ptr<const Fourier> down_, across_;
  std::vector<Complex> between_;
  std::unique_ptr<const Convolution<T>> convolution_;
  mutable std::once_flag turned_;
  mutable std::vector<Complex> turns_;
};

extern template class Fourier<float>;
extern template class Fourier<double>;

}  // namespace emplace::cpu
