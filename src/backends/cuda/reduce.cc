// Reductions, scans, softmax: templates of device/reduce.cuh.
#include <fmt/format.h>

#include <map>

#include "backends/cuda/kernels.h"
#include "backends/cuda/launch.h"

namespace emplace::cuda {
namespace {

std::string type_of(DType t) { return std::string(device_type(t)); }

// The type sums are kept in between two launches.
std::string compute_of(DType t) {
  return t == DType::kHalf || t == DType::kBfloat16 ? "float" : type_of(t);
}

unsigned block_for(int64_t n) {
  unsigned b = 32;
  while (b < n && b < 512) b *= 2;
  return b;
}

constexpr int64_t kLongRow = 8192;
constexpr int64_t kMostOfAWarp = 4096;  // of a row, if there are rows enough for the whole card

// Elements of rows of n that one load may take.
int64_t per_load(DType t, int64_t n, std::initializer_list<const void*> pointers) {
  const auto v = std::max<int64_t>(1, kVectorBytes / static_cast<int64_t>(dtype_size(t)));
  return n % v == 0 && aligned(pointers) ? v : 1;
}

Grid a_warp_each(int64_t rows) {
  Grid g;
  g.x = static_cast<unsigned>((rows * 32 + 255) / 256);
  return g;
}

// Axes as given, negative ones counted from the end.
std::vector<bool> reduced_axes(const Tensor& axes, int rank) {
  std::vector<bool> reduced(static_cast<size_t>(rank), false);
  for (int64_t a : host_ints(axes)) {
    if (a < -rank || a >= rank)
      throw invalid_argument(fmt::format(
          "Invalid reduction dimension ({} for input with {} dimension(s)", a, rank));
    reduced[static_cast<size_t>(a < 0 ? a + rank : a)] = true;
  }
  return reduced;
}

struct Reducer {
  Gpu* gpu;
  std::string op;
  DType dtype;

  CUfunction get(const char* form, const std::string& out, const std::string& in, bool first,
                 bool last) const {
    return gpu->jit().get(
        "reduce", fmt::format("{}<{}, {}, {}, {}, {}>", form, op, out, in, first, last));
  }

  // [rows, n] -> [rows]
  void rows(void* out, const void* x, int64_t count, int64_t n) const {
    const std::string t = type_of(dtype), c = compute_of(dtype);
    if (n <= 512 ? count > 4 : n <= kMostOfAWarp && count >= 8 * int64_t{gpu->sms()}) {
      const CUfunction f = gpu->jit().get(
          "reduce", fmt::format("short_rows<{}, {}, {}, true, true, {}>", op, t, t,
                                per_load(dtype, n, {x})));
      return launch_kernel(*gpu, f, a_warp_each(count), out, x, n, n, count);
    }
    // Few long rows are cut in parts, so that the whole card has work.
    int64_t parts = 1;
    while (count * parts < 2 * gpu->sms() && n / (parts * 2) >= 4096) parts *= 2;
    Grid g;
    g.x = static_cast<unsigned>(count);
    g.y = static_cast<unsigned>(parts);
    g.block_x = block_for(n / parts);
    if (parts == 1) return launch_kernel(*gpu, get("rows", t, t, true, true), g, out, x, n, n);
    void* const partial = gpu->workspace(static_cast<size_t>(count * parts) * 16);
    launch_kernel(*gpu, get("rows", c, t, true, false), g, partial, x, n, n);
    Grid last;
    last.x = static_cast<unsigned>(count);
    last.block_x = block_for(parts);
    launch_kernel(*gpu, get("rows", t, c, false, true), last, out, partial, parts, n);
  }

  // [outer, n, inner] -> [outer, inner]
  void columns(void* out, const void* x, int64_t outer, int64_t n, int64_t inner) const {
    const std::string t = type_of(dtype), c = compute_of(dtype);
    const int64_t columns = outer * inner, blocks = (columns + 31) / 32;
    int64_t parts = 1;  // … so that the whole card has work
    while (blocks * parts < 2 * int64_t{gpu->sms()} && n / (parts * 2) >= 128) parts *= 2;
    Grid g;
    g.x = static_cast<unsigned>(std::min<int64_t>(blocks, 32 * int64_t{gpu->sms()}));
    g.y = static_cast<unsigned>(parts);
    if (parts == 1)
      return launch_kernel(*gpu, get("columns", t, t, true, true), g, out, x, outer, n, inner, n);
    void* const partial = gpu->workspace(static_cast<size_t>(columns * parts) * 16);
    launch_kernel(*gpu, get("columns", c, t, true, false), g, partial, x, outer, n, inner, n);
    g.y = 1;
    launch_kernel(*gpu, get("columns", t, c, false, true), g, out, partial, outer, parts, inner, n);
  }
};

struct Reduce {
  Reducer r;
  bool keep_dims;
  void operator()(KernelContext& c) const {
    const Tensor& x = c.input(0);
    const std::vector<bool> reduced = reduced_axes(c.input(1), x.rank());
    std::vector<int64_t> shape;
    for (int d = 0; d < x.rank(); ++d) {
      if (!reduced[static_cast<size_t>(d)]) shape.push_back(x.dim(d));
      else if (keep_dims) shape.push_back(1);
    }
    run(x, reduced, c.output(0, Shape(shape)));
  }

  void run(const Tensor& x, const std::vector<bool>& reduced, Tensor& out) const {
    if (out.num_elements() == 0) return;
    // Neighbouring axes of one kind are one; axes of size 1 are of any kind.
    std::vector<int64_t> sizes;
    std::vector<bool> kinds;
    for (int d = 0; d < x.rank(); ++d) {
      const bool kind = reduced[static_cast<size_t>(d)];
      if (x.dim(d) == 1) continue;
      if (!kinds.empty() && kinds.back() == kind) sizes.back() *= x.dim(d);
      else sizes.push_back(x.dim(d)), kinds.push_back(kind);
    }
    void* const to = out.raw();
    if (sizes.empty()) return r.rows(to, x.raw(), 1, 1);
    if (x.num_elements() == 0) return r.rows(to, x.raw(), out.num_elements(), 0);
    if (sizes.size() == 1 && kinds[0]) return r.rows(to, x.raw(), 1, sizes[0]);
    if (sizes.size() == 1) return r.rows(to, x.raw(), sizes[0], 1);
    if (sizes.size() == 2 && kinds[1]) return r.rows(to, x.raw(), sizes[0], sizes[1]);
    if (sizes.size() == 2) return r.columns(to, x.raw(), 1, sizes[0], sizes[1]);
    if (sizes.size() == 3 && kinds[1])
      return r.columns(to, x.raw(), sizes[0], sizes[1], sizes[2]);
    scattered(to, x, sizes, kinds);
  }

  void scattered(void* out, const Tensor& x, const std::vector<int64_t>& sizes,
                 const std::vector<bool>& kinds) const {
    std::vector<int64_t> dims[2], strides[2];
    int64_t step = 1, count[2] = {1, 1};
    for (size_t d = sizes.size(); d-- > 0;) {
      dims[kinds[d]].insert(dims[kinds[d]].begin(), sizes[d]);
      strides[kinds[d]].insert(strides[kinds[d]].begin(), step);
      step *= sizes[d];
      count[kinds[d]] *= sizes[d];
    }
    Grid g;
    g.x = static_cast<unsigned>(count[0]);
    g.block_x = block_for(count[1]);
    const CUfunction f = r.gpu->jit().get(
        "reduce", fmt::format("scattered<{}, {}, {}>", r.op, type_of(r.dtype), type_of(r.dtype)));
    launch_kernel(*r.gpu, f, g, out, x.raw(), count[1], merged(dims[0], strides[0]),
                  merged(dims[1], strides[1]));
  }
};

Reducer reducer(const KernelInit& init, std::string op) {
  return {&gpu_of(*init.device), std::move(op), init.input_types[0]};
}

Prepared make_reduce(const KernelInit& init) {
  const std::string& name = init.op->name;
  return prepared(Reduce{reducer(init, name == "EuclideanNorm" ? "NormOp" : name + "Op"),
                         init.attr<bool>("keep_dims")});
}

struct L2Loss {
  Reducer r;
  void operator()(KernelContext& c) const {
    r.rows(c.output(0, Shape{}).raw(), c.input(0).raw(), 1, c.input(0).num_elements());
  }
};
Prepared make_l2_loss(const KernelInit& init) {
  return prepared(L2Loss{reducer(init, "HalfSquaresOp")});
}

struct BiasAddGrad {
  Reduce reduce;
  bool channels_first;
  void operator()(KernelContext& c) const {
    const Tensor& x = c.input(0);
    if (x.rank() < 2)
      throw invalid_argument("Input tensor must be at least 2D: " + x.shape().str());
    const int axis = channels_first ? 1 : x.rank() - 1;
    std::vector<bool> reduced(static_cast<size_t>(x.rank()), true);
    reduced[static_cast<size_t>(axis)] = false;
    reduce.run(x, reduced, c.output(0, Shape{x.dim(axis)}));
  }
};
Prepared make_bias_add_grad(const KernelInit& init) {
  return prepared(BiasAddGrad{{reducer(init, "SumOp"), false},
                              init.attr<std::string>("data_format").substr(0, 2) == "NC"});
}

// ---- Along one axis: [outer, n, inner].

struct Axis {
  int64_t outer = 1, n = 1, inner = 1;
  Axis(const Tensor& x, int64_t axis, const char* what) {
    const int rank = x.rank();
    if (axis < -rank || axis >= rank)
      throw invalid_argument(fmt::format("{}: Expected scan axis in the range [{}, {}), but got {}",
                                         what, -rank, rank, axis));
    const int at = static_cast<int>(axis < 0 ? axis + rank : axis);
    for (int d = 0; d < rank; ++d) (d < at ? outer : d == at ? n : inner) *= x.dim(d);
  }
};

struct ArgExtreme {
  Gpu* gpu;
  CUfunction f;
  void operator()(KernelContext& c) const {
    const Tensor& x = c.input(0);
    const int64_t axis = host_ints(c.input(1)).at(0);
    if (axis < -x.rank() || axis >= x.rank())
      throw invalid_argument(fmt::format("Expected dimension in the range [{}, {}), but got {}",
                                         -x.rank(), x.rank(), axis));
    const Axis a(x, axis, "ArgOp");
    std::vector<int64_t> shape;
    for (int d = 0; d < x.rank(); ++d)
      if (d != (axis < 0 ? axis + x.rank() : axis)) shape.push_back(x.dim(d));
    Tensor& out = c.output(0, Shape(shape));
    if (a.n == 0)
      throw invalid_argument(fmt::format("Reduction axis {} is empty in shape {}", axis,
                                         x.shape().str()));
    if (out.num_elements() > 0)
      launch_kernel(*gpu, f, grid_for(*gpu, a.outer * a.inner), out.raw(), x.raw(), a.outer, a.n,
                    a.inner);
  }
};
Prepared make_arg(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  return prepared(ArgExtreme{
      &gpu, gpu.jit().get("reduce", fmt::format("arg_extreme<{}, {}, {}>",
                                                device_type(init.output_types[0]),
                                                device_type(init.input_types[0]),
                                                init.op->name == "ArgMax"))});
}

struct Scan {
  Gpu* gpu;
  CUfunction f;
  bool exclusive, reverse;
  void operator()(KernelContext& c) const {
    const Tensor& x = c.input(0);
    Tensor& out = c.output(0, x.shape());
    if (x.rank() == 0 || x.num_elements() == 0) {
      if (x.num_elements() > 0) c.device().copy(out.raw(), x.raw(), x.bytes());
      return;
    }
    const Axis a(x, host_ints(c.input(1)).at(0), "ScanOp");
    launch_kernel(*gpu, f, grid_for(*gpu, a.outer * a.inner), out.raw(), x.raw(), a.outer, a.n,
                  a.inner, exclusive, reverse);
  }
};
const char* scan_op(const std::string& op) {
  return op == "Cumsum" ? "SumOp" : op == "Cumprod" ? "ProdOp" : "LogSumExpOp";
}
Prepared make_scan(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  return prepared(Scan{&gpu,
                       gpu.jit().get("reduce", fmt::format("scan<{}, {}>",
                                                           scan_op(init.op->name),
                                                           device_type(init.input_types[0]))),
                       init.attr<bool>("exclusive"), init.attr<bool>("reverse")});
}

// ---- Softmax and its losses.

struct Softmax {
  Gpu* gpu;
  DType dtype;
  bool log;
  void operator()(KernelContext& c) const {
    const Tensor& x = c.input(0);
    if (x.rank() < 1) throw invalid_argument("logits must have >= 1 dimension, got " +
                                             x.shape().str());
    Tensor& out = c.output(0, x.shape());
    const int64_t n = x.dim(x.rank() - 1);
    if (x.num_elements() == 0) return;
    const int64_t rows = x.num_elements() / n, v = per_load(dtype, n, {x.raw(), out.raw()});
    const int64_t loads = (n + 32 * v - 1) / (32 * v);
    if (loads * v <= kMostKept)
      return launch_kernel(*gpu, get("softmax_short", fmt::format(", {}, {}", v, loads)),
                           a_warp_each(rows), out.raw(), x.raw(), n, rows);
    Grid g;
    g.x = static_cast<unsigned>(rows);
    g.block_x = block_for(n);
    launch_kernel(*gpu, get("softmax", ""), g, out.raw(), x.raw(), n);
  }

 private:
  static constexpr int64_t kMostKept = 32;  // elements of a thread, in registers
  CUfunction get(const char* form, const std::string& sizes) const {
    return gpu->jit().get("reduce",
                          fmt::format("{}<{}, {}{}>", form, device_type(dtype), log, sizes));
  }
};
Prepared make_softmax(const KernelInit& init) {
  return prepared(Softmax{&gpu_of(*init.device), init.input_types[0],
                          init.op->name == "LogSoftmax"});
}

struct CrossEntropy {
  Gpu* gpu;
  CUfunction f;
  void operator()(KernelContext& c) const {
    const Tensor &x = c.input(0), &labels = c.input(1);
    const Shape shape = broadcast_shape(x.shape(), labels.shape());
    if (shape.rank() != 2)
      throw invalid_argument("logits and labels must be beither 2-dimensional, or broadcasted to "
                             "be 2-dimensional");
    const int64_t rows = shape[0], n = shape[1];
    Tensor& loss = c.output(0, Shape{rows});
    Tensor& grad = c.output(1, shape);
    if (shape.num_elements() == 0) return;
    auto full = [&](const Tensor& t) { return t.dim(t.rank() - 1) == n; };
    if (!full(x) || !full(labels))
      throw unimplemented("cross entropy of classes that are broadcast");
    auto stride = [&](const Tensor& t) { return t.num_elements() == n && rows > 1 ? 0 : n; };
    Grid g;
    g.x = static_cast<unsigned>(rows);
    g.block_x = block_for(n);
    launch_kernel(*gpu, f, g, loss.raw(), grad.raw(), x.raw(), labels.raw(), n, stride(x),
                  stride(labels));
  }
};
Prepared make_cross_entropy(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  return prepared(
      CrossEntropy{&gpu, gpu.jit().get("reduce", fmt::format("cross_entropy<{}>",
                                                             device_type(init.input_types[0])))});
}

struct SparseCrossEntropy {
  Gpu* gpu;
  CUfunction f;
  void operator()(KernelContext& c) const {
    const Tensor &x = c.input(0), &labels = c.input(1);
    if (x.rank() != 2) throw invalid_argument("logits must be 2-D, but got shape " +
                                              x.shape().str());
    if (labels.rank() != 1 || labels.dim(0) != x.dim(0))
      throw invalid_argument(fmt::format(
          "logits and labels must have the same first dimension, got logits shape {} and labels "
          "shape {}", x.shape().str(), labels.shape().str()));
    Tensor& loss = c.output(0, labels.shape());
    Tensor& grad = c.output(1, x.shape());
    if (x.num_elements() == 0) return;
    Grid g;
    g.x = static_cast<unsigned>(x.dim(0));
    // Few long rows at a time: the second pass finds them in the cache.
    g.block_x = x.dim(1) >= kLongRow ? 1024 : block_for(x.dim(1));
    launch_kernel(*gpu, f, g, loss.raw(), grad.raw(), x.raw(), labels.raw(), x.dim(1));
  }
};
Prepared make_sparse_cross_entropy(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  return prepared(SparseCrossEntropy{
      &gpu, gpu.jit().get("reduce", fmt::format("sparse_cross_entropy<{}, {}>",
                                                device_type(init.input_types[0]),
                                                device_type(init.input_types[1])))});
}

}  // namespace

std::vector<KernelRow> reduce_kernels() {
  const std::vector<DType>&reals = real_types(), &numbers = number_types();
  const TypeConstraint floats{"T", kFloats};
  std::vector<KernelRow> rows;
  for (const char* op : {"Sum", "Prod", "Mean"})
    rows.push_back(cuda_row(op, make_reduce, {{"T", numbers}}));
  for (const char* op : {"Max", "Min"}) rows.push_back(cuda_row(op, make_reduce, {{"T", reals}}));
  for (const char* op : {"All", "Any"}) rows.push_back(cuda_row(op, make_reduce));
  for (const auto& types : {kFloats, kComplexes})
    rows.push_back(cuda_row("EuclideanNorm", make_reduce, {{"T", types}}));
  rows.push_back(cuda_row("L2Loss", make_l2_loss, {floats}));
  rows.push_back(cuda_row("BiasAddGrad", make_bias_add_grad, {{"T", reals}}));
  for (const char* op : {"ArgMax", "ArgMin"})
    for (const auto& types : {reals, std::vector{DType::kBool}})
      rows.push_back(cuda_row(op, make_arg, {{"T", types}}));
  for (const char* op : {"Cumsum", "Cumprod"})
    rows.push_back(cuda_row(op, make_scan, {{"T", reals}}));
  rows.push_back(cuda_row("CumulativeLogsumexp", make_scan, {floats}));
  for (const char* op : {"Softmax", "LogSoftmax"})
    rows.push_back(cuda_row(op, make_softmax, {floats}));
  rows.push_back(cuda_row("SoftmaxCrossEntropyWithLogits", make_cross_entropy, {floats}));
  rows.push_back(
      cuda_row("SparseSoftmaxCrossEntropyWithLogits", make_sparse_cross_entropy, {floats}));
  return rows;
}

}  // namespace emplace::cuda
