// Operations on each element: templates of device/elementwise.cuh, named as the op is.
#include <fmt/format.h>

#include "backends/cuda/kernels.h"
#include "backends/cuda/launch.h"

namespace emplace::cuda {
namespace {

// Elements a load: as many as make 16 bytes of the widest operand.
int vector_of(DType a, DType b) {
  return static_cast<int>(std::max<size_t>(1, kVectorBytes / std::max(dtype_size(a), dtype_size(b))));
}

// Bools are bytes to the templates, except where logic is meant.
std::string functor(const KernelInit& init) {
  if (init.op->name == "Complex") return "MakeComplex";
  return init.op->name;
}

struct Unary {
  Gpu* gpu;
  CUfunction wide, narrow;
  int vector;
  void operator()(KernelContext& c) const {
    const Tensor& x = c.input(0);
    Tensor& out = c.output(0, x.shape());
    const int64_t n = x.num_elements();
    if (n == 0) return;
    const bool vectors = aligned({x.raw(), out.raw()});
    launch_early(*gpu, vectors ? wide : narrow, one_each(n, vectors ? vector : 1), out.raw(),
                 x.raw(), n);
  }
};

Prepared make_unary_as(const KernelInit& init, const std::string& f) {
  Gpu& gpu = gpu_of(*init.device);
  const DType in = init.input_types[0], out = init.output_types[0];
  const int v = vector_of(in, out);
  auto instance = [&](int width) {
    return gpu.jit().get("elementwise", fmt::format("unary<{}, {}, {}, {}>", f, device_type(out),
                                                    device_type(in), width));
  };
  return prepared(Unary{&gpu, instance(v), instance(1), v});
}
Prepared make_unary(const KernelInit& init) { return make_unary_as(init, functor(init)); }
Prepared make_same(const KernelInit& init) { return make_unary_as(init, "Same"); }

// The four ways two operands meet; each compiled when it is first met.
struct Binary {
  Gpu* gpu;
  std::string f;
  DType in, out;
  int vector;
  CUfunction equal;  // the usual one, at hand

  CUfunction other(std::string_view form) const {
    return gpu->jit().get("elementwise", fmt::format(fmt::runtime(form), f, device_type(out),
                                                     device_type(in), vector));
  }
  void operator()(KernelContext& c) const {
    const Tensor &a = c.input(0), &b = c.input(1);
    if (a.shape() == b.shape()) return run(c, a, b, c.output(0, a.shape()));
    run(c, a, b, c.output(0, broadcast_shape(a.shape(), b.shape())));
  }
  void run(KernelContext&, const Tensor& a, const Tensor& b, Tensor& o) const {
    const int64_t n = o.num_elements();
    if (n == 0) return;
    void *out = o.raw(), *x = a.raw(), *y = b.raw();
    const bool vectors = aligned({out, x, y});
    const Grid wide = grid_for(*gpu, n / vector + 1);
    if (a.shape() == b.shape() && vectors)
      return launch_early(*gpu, equal, one_each(n, vector), out, x, y, n);
    if (b.num_elements() == 1 && vectors)
      return launch_kernel(*gpu, other("binary_scalar<{}, {}, {}, {}, false>"), wide, out, x, y, n);
    if (a.num_elements() == 1 && vectors)
      return launch_kernel(*gpu, other("binary_scalar<{}, {}, {}, {}, true>"), wide, out, x, y, n);
    const Strides s = broadcast_strides(o.shape(), {&a.shape(), &b.shape()});
    launch_kernel(*gpu, other("binary_broadcast<{}, {}, {}>"), grid_for(*gpu, n), out, x, y, n, s);
  }
};

Binary binary_of(const KernelInit& init, std::string f, DType in, DType out) {
  Gpu& gpu = gpu_of(*init.device);
  Binary b{&gpu, std::move(f), in, out, vector_of(in, out), nullptr};
  b.equal = b.other("binary<{}, {}, {}, {}>");
  return b;
}
// Equal and NotEqual of shapes that don't meet may be an answer, not an error.
struct Compare {
  Binary compare;
  bool strict, differ;
  void operator()(KernelContext& c) const {
    try {
      compare(c);
    } catch (const Error& e) {
      if (strict || e.code() != Code::kInvalidArgument) throw;
      fill_from_host(*compare.gpu, c.output(0, Shape{}), &differ);
    }
  }
};
Prepared make_compare(const KernelInit& init) {
  return prepared(Compare{
      binary_of(init, functor(init), init.input_types[0], init.output_types[0]),
      init.attr<bool>("incompatible_shape_error"), init.op->name == "NotEqual"});
}
Prepared make_binary(const KernelInit& init) {
  return prepared(binary_of(init, functor(init), init.input_types[0], init.output_types[0]));
}

struct WithNumber {  // LeakyRelu and its gradient
  Gpu* gpu;
  CUfunction f;
  float number;
  void operator()(KernelContext& c) const {
    const Tensor& x = c.input(0);
    Tensor& out = c.output(0, x.shape());
    const int64_t n = x.num_elements();
    if (n == 0) return;
    if (c.num_inputs() == 1)
      launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), x.raw(), n, number);
    else
      launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), x.raw(), c.input(1).raw(), n, number);
  }
};
Prepared make_with_number(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  const char* loop = init.input_types.size() == 1 ? "unary_param" : "binary_param";
  return prepared(WithNumber{
      &gpu,
      gpu.jit().get("elementwise",
                    fmt::format("{}<{}, {}>", loop, init.op->name, device_type(init.input_types[0]))),
      init.attr<float>("alpha")});
}

struct ApproximateEqual {
  Gpu* gpu;
  CUfunction f;
  float tolerance;
  void operator()(KernelContext& c) const {
    const Tensor &x = c.input(0), &y = c.input(1);
    if (!(x.shape() == y.shape()))
      throw invalid_argument("x and y must be of the same shape. x shape: " + x.shape().str() +
                             ". y shape: " + y.shape().str());
    Tensor& out = c.output(0, x.shape());
    if (const int64_t n = x.num_elements())
      launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), x.raw(), y.raw(), n, tolerance);
  }
};
Prepared make_approximate(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  return prepared(ApproximateEqual{
      &gpu,
      gpu.jit().get("elementwise", fmt::format("approximately_equal<{}>",
                                               device_type(init.input_types[0]))),
      init.attr<float>("tolerance")});
}

// ---- Three operands.

struct Three {
  Gpu* gpu;
  CUfunction f;
  bool leading;  // Select: a vector of conditions chooses rows
  void operator()(KernelContext& c) const {
    const Tensor &x = c.input(0), &a = c.input(1), &b = c.input(2);
    Shape first = x.shape();
    if (leading && x.rank() == 1 && a.rank() > 1) {
      std::vector<int64_t> dims(static_cast<size_t>(a.rank()), 1);
      dims[0] = x.dim(0);
      first = Shape(dims);
    }
    const Shape shape = broadcast_shape(broadcast_shape(first, a.shape()), b.shape());
    Tensor& out = c.output(0, shape);
    const int64_t n = out.num_elements();
    if (n == 0) return;
    launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), x.raw(), a.raw(), b.raw(), n,
                  broadcast_strides(shape, {&first, &a.shape(), &b.shape()}));
  }
};
Prepared make_three(const KernelInit& init, const char* f, bool leading) {
  Gpu& gpu = gpu_of(*init.device);
  return prepared(Three{
      &gpu, gpu.jit().get("elementwise", fmt::format("{}<{}>", f, device_type(init.output_types[0]))),
      leading});
}
Prepared make_select(const KernelInit& init) { return make_three(init, "select", true); }
Prepared make_select_v2(const KernelInit& init) { return make_three(init, "select", false); }
Prepared make_clip(const KernelInit& init) { return make_three(init, "clip", false); }

// ---- Others.

Prepared make_cast(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  const CUfunction f = gpu.jit().get(
      "elementwise", fmt::format("cast<{}, {}>", device_type(init.output_types[0]),
                                 device_type(init.input_types[0])));
  return prepared(Unary{&gpu, f, f, 1});
}

struct AddN {
  Gpu* gpu;
  CUfunction f;
  Binary add;
  void operator()(KernelContext& c) const {
    const Tensor& first = c.input(0);
    for (int i = 1; i < c.num_inputs(); ++i)
      if (!(c.input(i).shape() == first.shape()))
        throw invalid_argument(fmt::format(
            "Inputs to operation {} of type AddN must have the same size and shape.  Input 0: {} "
            "!= input {}: {}", c.node(), first.shape().str(), i, c.input(i).shape().str()));
    Tensor& out = c.output(0, first.shape());
    const int64_t n = out.num_elements();
    if (n == 0) return;
    if (c.num_inputs() == 2) return add.run(c, first, c.input(1), out);
    // Eight at a time; from the second round on the sum so far is one of them.
    for (int at = 0; at < c.num_inputs();) {
      std::array<const void*, 8> in{};
      int count = 0;
      if (at > 0) in[count++] = out.raw();
      while (count < 8 && at < c.num_inputs()) in[count++] = c.input(at++).raw();
      launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), in, count, n);
    }
  }
};
Prepared make_add_n(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  const DType t = init.output_types[0];
  return prepared(AddN{&gpu, gpu.jit().get("elementwise", fmt::format("add_n<{}>", device_type(t))),
                       binary_of(init, "Add", t, t)});
}

struct Fill {
  Gpu* gpu;
  CUfunction f;
  void operator()(KernelContext& c) const {
    const Tensor& value = c.input(1);
    if (value.rank() != 0)
      throw invalid_argument("value must be a scalar, got shape " + value.shape().str());
    Tensor& out = c.output(0, Shape(host_ints(c.input(0))));
    const int64_t n = out.num_elements();
    if (n > 0) launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), value.raw(), n);
  }
};
Prepared make_fill(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  return prepared(Fill{&gpu, gpu.jit().get("elementwise", fmt::format("fill<{}>", device_bits(
                                                                          init.output_types[0])))});
}

struct BiasAdd {
  Gpu* gpu;
  CUfunction f;
  bool channels_first;
  void operator()(KernelContext& c) const {
    const Tensor &x = c.input(0), &bias = c.input(1);
    if (x.rank() < 2)
      throw invalid_argument("Input tensor must be at least 2D: " + x.shape().str());
    if (bias.rank() != 1)
      throw invalid_argument("Biases must be 1D: " + bias.shape().str());
    const int axis = channels_first ? 1 : x.rank() - 1;
    if (x.dim(axis) != bias.dim(0))
      throw invalid_argument(
          fmt::format("Must provide as many biases as the last dimension of the input tensor: {} "
                      "vs. {}", bias.shape().str(), x.shape().str()));
    Tensor& out = c.output(0, x.shape());
    int64_t inner = 1;
    for (int d = axis + 1; d < x.rank(); ++d) inner *= x.dim(d);
    const int64_t n = x.num_elements();
    if (n > 0)
      launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), x.raw(), bias.raw(), n, x.dim(axis),
                    inner);
  }
};
Prepared make_bias_add(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  const AttrValue* format = init.find("data_format");
  return prepared(
      BiasAdd{&gpu,
              gpu.jit().get("elementwise",
                            fmt::format("bias_add<{}>", device_type(init.output_types[0]))),
              format && format->as<std::string>().substr(0, 2) == "NC"});
}

// ---- Variables.

struct Update {
  Binary op;
  bool is_ref;
  void operator()(KernelContext& c) const {
    const Tensor& value = c.input(1);
    c.variable(0).update(c.own_aliases(), [&](Tensor& t) {
      if (!(t.shape() == value.shape()))
        throw invalid_argument(fmt::format(
            "Cannot update variable with shape {} using a Tensor with shape {}, shapes must be "
            "equal.", t.shape().str(), value.shape().str()));
      op.run(c, t, value, t);
    });
    if (is_ref) c.set_output(0, c.input(0));
  }
};
Prepared make_update(const KernelInit& init) {
  const DType t = init.input_types[1];
  const bool sub = init.op->name.find("Sub") != std::string::npos;
  const bool is_ref = init.op->name.find("VariableOp") == std::string::npos;
  return prepared(Update{binary_of(init, sub ? "Sub" : "Add", t, t), is_ref});
}

constexpr KernelTraits kInPlace{false, true, false};

}  // namespace

std::vector<KernelRow> elementwise_kernels() {
  std::vector<KernelRow> rows;
  const TypeConstraint floats{"T", kFloats};
  const std::vector<DType>&reals = real_types(), &numbers = number_types();
  std::vector<DType> comparable = numbers;
  comparable.push_back(DType::kBool);
  for (const char* op :
       {"Sqrt", "Rsqrt", "Exp", "Expm1", "Log", "Log1p", "Sin", "Cos", "Tan", "Asin", "Acos",
        "Atan", "Sinh", "Cosh", "Tanh", "Asinh", "Acosh", "Atanh", "Sigmoid", "Erf", "Erfc",
        "Erfinv", "Ndtri", "Lgamma", "Digamma", "Floor", "Ceil", "Rint", "IsNan", "IsInf",
        "IsFinite", "Elu", "Selu", "Softplus", "Softsign"})
    rows.push_back(cuda_row(op, make_unary, {floats}, kInPlace));
  for (const char* op : {"Exp", "Sin", "Cos", "Tan", "Sinh", "Cosh", "Sign"})
    rows.push_back(cuda_row(op, make_unary, {{"T", kComplexes}}, kInPlace));
  for (const char* op : {"DivNoNan", "MulNoNan", "Xdivy", "Xlogy", "Xlog1py"})
    rows.push_back(cuda_row(op, make_binary, {{"T", kComplexes}}, kInPlace));
  for (const char* op : {"Abs", "Sign", "Round", "Relu", "Relu6"})
    rows.push_back(cuda_row(op, make_unary, {{"T", reals}}, kInPlace));
  for (const char* op : {"Neg", "Square", "Reciprocal", "Inv"})
    rows.push_back(cuda_row(op, make_unary, {{"T", numbers}}, kInPlace));
  for (const char* op : {"ComplexAbs", "Angle", "Real", "Imag", "Conj"})
    rows.push_back(cuda_row(op, make_unary, {{"T", kComplexes}}));
  rows.push_back(cuda_row("LogicalNot", make_unary, {}, kInPlace));
  rows.push_back(cuda_row("Invert", make_unary));
  rows.push_back(cuda_row("PopulationCount", make_unary));
  rows.push_back(
      cuda_row("ApproximateEqual", make_approximate, {{"T", {DType::kFloat, DType::kDouble}}}));
  for (const char* op : {"ZerosLike", "OnesLike"})
    rows.push_back(cuda_row(op, make_unary, {{"T", comparable}}));
  for (const char* op : {"Snapshot", "DeepCopy"}) rows.push_back(cuda_row(op, make_same));

  for (const char* op : {"Add", "AddV2", "Sub", "Mul", "RealDiv", "Div"})
    rows.push_back(cuda_row(op, make_binary, {{"T", numbers}}, kInPlace));
  for (const char* op : {"DivNoNan", "MulNoNan", "SquaredDifference", "FloorDiv", "FloorMod", "Mod",
                         "TruncateMod", "TruncateDiv", "Maximum", "Minimum", "Pow"})
    rows.push_back(cuda_row(op, make_binary, {{"T", reals}}, kInPlace));
  for (const char* op :
       {"Atan2", "NextAfter", "Xdivy", "Xlogy", "Xlog1py", "SigmoidGrad", "TanhGrad", "SqrtGrad",
        "RsqrtGrad", "ReciprocalGrad", "InvGrad", "ReluGrad", "Relu6Grad", "EluGrad", "SeluGrad",
        "SoftplusGrad", "SoftsignGrad"})
    rows.push_back(cuda_row(op, make_binary, {floats}, kInPlace));
  for (const char* op : {"Equal", "NotEqual"})
    rows.push_back(cuda_row(op, make_compare, {{"T", comparable}}));
  for (const char* op : {"Less", "LessEqual", "Greater", "GreaterEqual"})
    rows.push_back(cuda_row(op, make_binary, {{"T", reals}}));
  for (const char* op : {"LogicalAnd", "LogicalOr"})
    rows.push_back(cuda_row(op, make_binary, {}, kInPlace));
  for (const char* op : {"BitwiseAnd", "BitwiseOr", "BitwiseXor", "LeftShift", "RightShift"})
    rows.push_back(cuda_row(op, make_binary, {}, kInPlace));
  rows.push_back(cuda_row("Complex", make_binary));
  for (const char* op : {"LeakyRelu", "LeakyReluGrad"})
    rows.push_back(cuda_row(op, make_with_number, {floats}));
  rows.push_back(cuda_row("Select", make_select, {{"T", comparable}}));
  rows.push_back(cuda_row("SelectV2", make_select_v2, {{"T", comparable}}));
  rows.push_back(cuda_row("ClipByValue", make_clip, {{"T", reals}}));
  rows.push_back(cuda_row("Cast", make_cast, {{"SrcT", comparable}, {"DstT", comparable}}));
  rows.push_back(cuda_row("AddN", make_add_n, {{"T", numbers}}));
  rows.push_back(cuda_row("AccumulateNV2", make_add_n, {{"T", numbers}}));
  rows.push_back(cuda_row("Fill", make_fill));
  for (const char* op : {"BiasAdd", "BiasAddV1"})
    rows.push_back(cuda_row(op, make_bias_add, {{"T", reals}}));
  for (const char* op : {"AssignAdd", "AssignSub"})
    rows.push_back(cuda_row(op, make_update, {{"T", numbers}}));
  for (const char* op : {"AssignAddVariableOp", "AssignSubVariableOp"})
    rows.push_back(cuda_row(op, make_update, {{"dtype", numbers}}));
  return rows;
}

}  // namespace emplace::cuda
