#include "backends/cpu/cpu_kernels.h"
#include "backends/cpu/elementwise.h"
#include "backends/cpu/math.h"

namespace emplace::cpu {
namespace {

struct RealPart {
  template <class T>
  using Result = typename T::value_type;
};
struct ComplexOf {
  template <class T>
  using Result = std::complex<T>;
};
// clang-format off
struct Real { template <class T> auto operator()(T x) const { return x.real(); } };
struct Imag { template <class T> auto operator()(T x) const { return x.imag(); } };
struct Angle { template <class T> auto operator()(T x) const { return std::arg(x); } };
struct Length { template <class T> auto operator()(T x) const { return std::abs(x); } };
struct Conj { template <class T> T operator()(T x) const { return std::conj(x); } };
struct Make { template <class T> std::complex<T> operator()(T a, T b) const { return {a, b}; } };
// clang-format on

// The op's own dtype attribute for the result must be the part's.
template <class Op, const double& kCost>
KernelRow part(const char* op) {
  KernelRow row = unary<Op, Complexes, RealPart, kCost>(op);
  row.traits = {};
  row.make = [](const KernelInit& init) {
    const bool wide = init.input_types[0] == DType::kComplex128;
    if (init.output_types[0] != (wide ? DType::kDouble : DType::kFloat))
      throw unimplemented("the result must have the precision of the input");
    return make_unary<Op, Complexes, RealPart, kCost>(init);
  };
  return row;
}

// Variants know no imaginary part.
void same(KernelContext& c) { c.set_output(0, c.input(0)); }

}  // namespace

std::vector<KernelRow> complex_kernels() {
  KernelRow narrow = binary<Make, Types<float>, ComplexOf>("Complex");
  KernelRow wide = binary<Make, Types<double>, ComplexOf>("Complex");
  narrow.traits = wide.traits = {};
  // `Tout` does not follow from T.
  narrow.types.push_back({"Tout", {DType::kComplex64}});
  wide.types.push_back({"Tout", {DType::kComplex128}});
  return {part<Real, kCheap>("Real"),
          part<Imag, kCheap>("Imag"),
          part<Angle, kDear>("Angle"),
          part<Length, kDear>("ComplexAbs"),
          unary<Conj, Complexes>("Conj"),
          {"Conj", "CPU", {{"T", {DType::kVariant}}}, {}, stateless<same>, {}, 0, ""},
          std::move(narrow),
          std::move(wide)};
}

}  // namespace emplace::cpu
