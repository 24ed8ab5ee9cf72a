#include "backends/cpu/cpu_kernels.h"
#include "backends/cpu/elementwise.h"
#include "backends/cpu/half_loops.h"
#include "backends/cpu/math.h"
#include "backends/cpu/quantized.h"

#include <fmt/format.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace emplace::cpu {
namespace {

void widen_plain(const Half* from, float* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(from[i]);
}
void narrow_plain(const float* from, Half* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = Half(from[i]);
}

#if defined(__x86_64__)
[[gnu::target("avx2,f16c")]] void widen_eights(const Half* from, float* to, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(
                                 reinterpret_cast<const __m128i*>(from + i))));
  for (; i < n; ++i) to[i] = static_cast<float>(from[i]);
}
[[gnu::target("avx2,f16c")]] void narrow_eights(const float* from, Half* to, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
  for (; i < n; ++i) to[i] = Half(from[i]);
}
#else
constexpr auto widen_eights = widen_plain;
constexpr auto narrow_eights = narrow_plain;
#endif

}  // namespace

void widen_halves(const Half* from, float* to, int64_t n) {
  static const auto loop = has_avx2() ? widen_eights : widen_plain;
  loop(from, to, n);
}
void narrow_floats(const float* from, Half* to, int64_t n) {
  static const auto loop = has_avx2() ? narrow_eights : narrow_plain;
  loop(from, to, n);
}

namespace {

// Whole numbers from others: what does not fit becomes the lowest value of the register that x86
// converts in, whose low bits are then taken. TensorFlow's results, made independent of machine and
// compiler.
template <class To, class From>
To whole(From x) {
  using Register = std::conditional_t<(sizeof(To) < 4 || std::is_same_v<To, int32_t>), int32_t, int64_t>;
  constexpr double limit = sizeof(Register) == 4 ? 2147483648.0 : 9223372036854775808.0;
  if constexpr (std::is_same_v<To, uint64_t>)
    if (x >= limit && x < 2 * limit) return static_cast<uint64_t>(x);
  const bool fits = x >= -limit && x < limit;
  return static_cast<To>(fits ? static_cast<Register>(x) : std::numeric_limits<Register>::min());
}

template <class To, class From>
To convert(From x) {
  if constexpr (kIsSmallFloat<From>) return convert<To>(static_cast<float>(x));
  else if constexpr (kIsComplex<From> && kIsComplex<To>)
    return To(static_cast<typename To::value_type>(x.real()),
              static_cast<typename To::value_type>(x.imag()));
  else if constexpr (kIsComplex<From>) {
    if constexpr (std::is_same_v<To, bool>) return x != From(0);
    else return convert<To>(x.real());
  } else if constexpr (kIsComplex<To>)
    return To(static_cast<typename To::value_type>(x));
  else if constexpr (std::is_same_v<To, bool>) return x != From(0);
  else if constexpr (kIsSmallFloat<To>) return To(static_cast<float>(x));
  else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) return whole<To>(x);
  else return static_cast<To>(x);
}

template <class From, class To>
void cast_loop(const void* in, void* out, int64_t n) {
  const From* x = static_cast<const From*>(in);
  To* y = static_cast<To*>(out);
  for (int64_t i = 0; i < n; ++i) y[i] = convert<To>(x[i]);
}

// Drops the bits of a float that a half or bfloat16 has no place for, instead of rounding.
template <class To>
void truncate_loop(const void* in, void* out, int64_t n) {
  const float* x = static_cast<const float*>(in);
  To* y = static_cast<To*>(out);
  for (int64_t i = 0; i < n; ++i) {
    uint32_t bits;
    std::memcpy(&bits, x + i, 4);
    const uint32_t keep = std::is_same_v<To, Bfloat16> ? 0xffff0000u : 0xffffe000u;
    if (x[i] == x[i]) bits &= keep;
    float cut;
    std::memcpy(&cut, &bits, 4);
    y[i] = To(cut);
  }
}

void widen_loop(const void* in, void* out, int64_t n) {
  widen_halves(static_cast<const Half*>(in), static_cast<float*>(out), n);
}
void narrow_loop(const void* in, void* out, int64_t n) {
  narrow_floats(static_cast<const float*>(in), static_cast<Half*>(out), n);
}

UnaryLoop find_cast(DType from, DType to) {
  UnaryLoop loop = nullptr;
  if (from == DType::kHalf && to == DType::kFloat) return widen_loop;
  if (from == DType::kFloat && to == DType::kHalf) return narrow_loop;
  visit_dtype(from, Plain{}, [&](auto f) {
    visit_dtype(to, Plain{}, [&](auto t) {
      using From = typename decltype(f)::type;
      using To = typename decltype(t)::type;
      if constexpr (kHot<From> && kHot<To>) loop = best<cast_loop<From, To>>();
      else loop = cast_loop<From, To>;
    });
  });
  return loop;
}

void forward(KernelContext& c) { c.set_output(0, c.input(0)); }

Prepared make_cast(const KernelInit& init) {
  const DType from = init.input_types[0], to = init.output_types[0];
  if (from == to) return prepared<forward>();
  const AttrValue* truncate = init.find("Truncate");
  if (truncate && truncate->as<bool>() && from == DType::kFloat) {
    if (to == DType::kHalf) return prepare_unary(init, truncate_loop<Half>, kCheap);
    if (to == DType::kBfloat16) return prepare_unary(init, truncate_loop<Bfloat16>, kCheap);
  }
  if (!is_plain(from) || !is_plain(to))
    throw unimplemented(fmt::format("Cast {} to {} is not supported", dtype_proto_name(from),
                                    dtype_proto_name(to)));
  return prepare_unary(init, find_cast(stored_as(from), stored_as(to)), kCheap);
}

// The same bytes as another dtype: a last dimension comes or goes when the sizes differ.
Shape bitcast_shape(const Shape& in, DType source, DType target) {
  const size_t from = dtype_size(source), to = dtype_size(target);
  Shape out = in;
  if (from > to) out.push_back(static_cast<int64_t>(from / to));
  if (from >= to) return out;
  const auto ratio = static_cast<int64_t>(to / from);
  if (in.rank() == 0 || in[in.rank() - 1] != ratio)
    throw invalid_argument(fmt::format("Cannot bitcast from {} to {}", static_cast<int>(source),
                                       static_cast<int>(target)));
  out.erase(in.rank() - 1);
  return out;
}

void bitcast(KernelContext& c) {
  const Tensor& in = c.input(0);
  const DType to = c.output_type(0);
  c.set_output(0, in.bitcast(to, bitcast_shape(in.shape(), in.dtype(), to)));
}

}  // namespace

std::vector<KernelRow> cast_kernels() {
  std::vector<DType> any = Plain::dtypes();
  for (DType quantized : quantized_types()) any.push_back(quantized);
  return {{"Cast", "CPU", {}, {}, make_cast, {}, 0, ""},
          {"Bitcast", "CPU", {{"T", any}, {"type", any}}, {},
           stateless<bitcast>, {.forwards = true}, 0, ""}};
}

}  // namespace emplace::cpu
