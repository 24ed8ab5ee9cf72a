#include "backends/cpu/cpu_kernels.h"
#include "backends/cpu/elementwise.h"
#include "backends/cpu/math.h"
#include "backends/cpu/quantized.h"
#include "base/stop_scope.h"

namespace emplace::cpu {
namespace {

// clang-format off
struct Less { template <class T> bool operator()(T a, T b) const { return a < b; } };
struct LessEqual { template <class T> bool operator()(T a, T b) const { return a <= b; } };
struct Greater { template <class T> bool operator()(T a, T b) const { return a > b; } };
struct GreaterEqual { template <class T> bool operator()(T a, T b) const { return a >= b; } };
struct Equal { template <class T> bool operator()(const T& a, const T& b) const { return a == b; } };
struct NotEqual { template <class T> bool operator()(const T& a, const T& b) const { return a != b; } };
struct LogicalAnd { bool operator()(bool a, bool b) const { return a && b; } };
struct LogicalOr { bool operator()(bool a, bool b) const { return a || b; } };
// clang-format on

KernelRow untyped(KernelRow row) {
  row.types.clear();
  return row;
}

// With incompatible_shape_error=false, shapes that don't meet make a scalar answer.
template <class Op, bool kOtherwise>
struct Equality {
  Prepared usual;
  void operator()(KernelContext& c) const {
    const Shape* shapes[] = {&c.input(0).shape(), &c.input(1).shape()};
    try {
      broadcast_shape(shapes);
    } catch (const Error&) {
      *c.output(0, Shape{}).template data<bool>() = kOtherwise;
      return;
    }
    usual.run(usual.state.get(), c);
  }
};

using Comparable = Join<Plain, Types<std::string>>;

// Quantized numbers are equal when what stands for them is.
template <class Op, bool kOtherwise>
Prepared make_equality(const KernelInit& init) {
  const BinaryLoop loop = find_binary<Op, Comparable, ToBool>(stored_as(init.input_types[0]));
  const AttrValue* strict = init.find("incompatible_shape_error");
  if (!strict || strict->as<bool>()) return prepare_binary(init, loop, kCheap);
  KernelInit open = init;  // shapes that don't meet are no error yet
  open.input_shapes = {};
  return prepared(Equality<Op, kOtherwise>{prepare_binary(open, loop, kCheap)});
}

template <class Op, bool kOtherwise>
KernelRow equality(const char* op) {
  std::vector<DType> types = Comparable::dtypes();
  for (DType quantized : quantized_types()) types.push_back(quantized);
  return {op, "CPU", {{"T", std::move(types)}}, {}, make_equality<Op, kOtherwise>, {}, 0, ""};
}

template <class T>
struct ApproximateEqual {
  T tolerance;
  void operator()(KernelContext& c) const {
    const Tensor& a = c.input(0);
    const Tensor& b = c.input(1);
    if (a.shape() != b.shape())
      throw invalid_argument("x and y must be of the same shape. x shape: " + a.shape().str() +
                             ". y shape: " + b.shape().str());
    bool* out = c.output(0, a.shape()).template data<bool>();
    for (const int64_t i : paced(a.num_elements()))
      out[i] = std::abs(a.data<T>()[i] - b.data<T>()[i]) < tolerance;
  }
};

Prepared make_approximate(const KernelInit& init) {
  const float tolerance = init.attr<float>("tolerance");
  if (init.type("T") == DType::kDouble) return prepared(ApproximateEqual<double>{tolerance});
  return prepared(ApproximateEqual<float>{tolerance});
}

}  // namespace

std::vector<KernelRow> compare_kernels() {
  return {binary<Less, Reals, ToBool>("Less"),
          binary<LessEqual, Reals, ToBool>("LessEqual"),
          binary<Greater, Reals, ToBool>("Greater"),
          binary<GreaterEqual, Reals, ToBool>("GreaterEqual"),
          equality<Equal, false>("Equal"),
          equality<NotEqual, true>("NotEqual"),
          untyped(binary<LogicalAnd, Types<bool>>("LogicalAnd")),
          untyped(binary<LogicalOr, Types<bool>>("LogicalOr")),
          {"ApproximateEqual", "CPU", {{"T", {DType::kFloat, DType::kDouble}}}, {},
           make_approximate, {}, 0, ""}};
}

}  // namespace emplace::cpu
