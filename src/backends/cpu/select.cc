#include <fmt/format.h>

#include "backends/cpu/cpu_kernels.h"
#include "backends/cpu/elementwise.h"
#include "backends/cpu/math.h"

namespace emplace::cpu {
namespace {

template <class T, int kWhich, int kThen, int kOther>
void choose_fixed(const bool* which, const T* then, const T* other, T* out, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {  // by masks, of which the compiler makes vectors
    const T mask = static_cast<T>(T{0} - static_cast<T>(which[i * kWhich]));
    out[i] = static_cast<T>((then[i * kThen] & mask) | (other[i * kOther] & static_cast<T>(~mask)));
  }
}

// Steps are 1, or 0 for one element that meets all. `out` may be none of the inputs' memory.
template <class T>
void choose(const bool* which, int64_t which_step, const T* then, int64_t then_step,
            const T* other, int64_t other_step, T* out, int64_t n) {
  if constexpr (std::is_unsigned_v<T>) {  // what plain elements are moved as
    using Loop = void (*)(const bool*, const T*, const T*, T*, int64_t);
    static const Loop loops[] = {best<choose_fixed<T, 1, 0, 0>>(), best<choose_fixed<T, 1, 0, 1>>(),
                                 best<choose_fixed<T, 1, 1, 0>>(), best<choose_fixed<T, 1, 1, 1>>()};
    if (which_step == 1) return loops[then_step * 2 + other_step](which, then, other, out, n);
  }
  for (int64_t i = 0; i < n; ++i)
    out[i] = which[i * which_step] ? then[i * then_step] : other[i * other_step];
}

template <class T>
void select_broadcast(KernelContext& c) {
  const Tensor &which = c.input(0), &then = c.input(1), &other = c.input(2);
  const Shape* shapes[] = {&which.shape(), &then.shape(), &other.shape()};
  const Broadcast way(shapes);
  T* out = c.output(0, way.shape()).template data<T>();
  const int64_t inner = way.inner();
  const int64_t steps[] = {way.inner_stride(0), way.inner_stride(1), way.inner_stride(2)};
  if (way.flat()) {
    c.parallel_for(way.rows() * inner, kCheap, [&](int64_t b, int64_t e) {
      choose(which.data<bool>() + b * steps[0], steps[0], then.data<T>() + b * steps[1], steps[1],
             other.data<T>() + b * steps[2], steps[2], out + b, e - b);
    });
    return;
  }
  c.parallel_for(way.rows(), kCheap * static_cast<double>(inner) + 5, [&](int64_t b, int64_t e) {
    way.for_rows(b, e, [&](const auto& at, int64_t row) {
      choose(which.data<bool>() + at[0], steps[0], then.data<T>() + at[1], steps[1],
             other.data<T>() + at[2], steps[2], out + row * inner, inner);
    });
  });
}

// Select: the condition has the shape of the others, or is a scalar, or a vector over their rows.
template <class T>
void select_rows(KernelContext& c) {
  const Tensor &which = c.input(0), &then = c.input(1);
  T* out = c.output(0, then.shape()).template data<T>();
  const int64_t rows = then.dim(0), size = rows ? then.num_elements() / rows : 0;
  for (int64_t i = 0; i < rows; ++i) {
    const T* from = (which.data<bool>()[i] ? then : c.input(2)).template data<T>() + i * size;
    std::copy_n(from, size, out + i * size);
  }
}

void check_select(const Tensor& which, const Tensor& then, const Tensor& other) {
  if (then.shape() != other.shape())
    throw invalid_argument(fmt::format(
        "'then' and 'else' must have the same size.  but received: {} vs. {}", then.shape().str(),
        other.shape().str()));
  const bool rows = which.rank() == 1 && then.rank() >= 1 && which.dim(0) == then.dim(0);
  if (which.rank() != 0 && which.shape() != then.shape() && !rows)
    throw invalid_argument(fmt::format(
        "Inputs to operation Select must have the same size and shape.  Input 0: {} != input 1: {}",
        which.shape().str(), then.shape().str()));
}

Prepared make_select_v2(const KernelInit& init) {
  Prepared result;
  visit_storage(init.type("T"), [&](auto tag) {
    result = prepared<select_broadcast<typename decltype(tag)::type>>();
  });
  return result;
}

template <class T>
void select_v1(KernelContext& c) {
  const Tensor &which = c.input(0), &then = c.input(1);
  check_select(which, then, c.input(2));
  if (which.rank() == 1 && then.rank() > 1) return select_rows<T>(c);
  select_broadcast<T>(c);
}

Prepared make_select(const KernelInit& init) {
  Prepared result;
  visit_storage(init.type("T"), [&](auto tag) {
    result = prepared<select_v1<typename decltype(tag)::type>>();
  });
  return result;
}

template <class T>
T clip(T x, T low, T high) {
  if constexpr (kIsComplex<T>)
    return {clip(x.real(), low.real(), high.real()), clip(x.imag(), low.imag(), high.imag())};
  else
    return smaller(larger(x, low), high);
}

// ClipByValue: bounds are scalars or have the tensor's shape (broadcast in general).
template <class T>
void clip_by_value(KernelContext& c) {
  const Tensor &x = c.input(0), &low = c.input(1), &high = c.input(2);
  const Shape* shapes[] = {&x.shape(), &low.shape(), &high.shape()};
  const Broadcast way(shapes);
  if (way.shape() != x.shape())
    throw invalid_argument(fmt::format(
        "clip_value_min and clip_value_max must be either of the same shape as input, or a scalar. "
        "input shape: {} clip_value_min shape: {} clip_value_max shape: {}",
        x.shape().str(), low.shape().str(), high.shape().str()));
  T* out = c.output(0, way.shape()).template data<T>();
  const int64_t inner = way.inner(), sx = way.inner_stride(0), sl = way.inner_stride(1),
                sh = way.inner_stride(2);
  using C = Compute<T>;
  way.for_rows(0, way.rows(), [&](const auto& at, int64_t row) {
    const T *px = x.data<T>() + at[0], *pl = low.data<T>() + at[1], *ph = high.data<T>() + at[2];
    for (int64_t i = 0; i < inner; ++i)
      out[row * inner + i] = static_cast<T>(clip(static_cast<C>(px[i * sx]),
                                                 static_cast<C>(pl[i * sl]),
                                                 static_cast<C>(ph[i * sh])));
  });
}

using Clippable = Join<FloatsAndComplexes,
                       Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t>>;

Prepared make_clip(const KernelInit& init) {
  Prepared result;
  visit_dtype(init.type("T"), Clippable{}, [&](auto tag) {
    result = prepared<clip_by_value<typename decltype(tag)::type>>();
  });
  return result;
}

}  // namespace

std::vector<KernelRow> select_kernels() {
  return {{"Select", "CPU", {{"T", Everything::dtypes()}}, {}, make_select, {}, 0, ""},
          {"SelectV2", "CPU", {{"T", Everything::dtypes()}}, {}, make_select_v2, {}, 0, ""},
          {"ClipByValue", "CPU", {{"T", Clippable::dtypes()}}, {}, make_clip, {}, 0, ""}};
}

}  // namespace emplace::cpu
