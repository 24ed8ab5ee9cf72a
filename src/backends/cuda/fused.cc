// Chains of elementwise ops as one kernel, of which the text is written when the plan is made: each
// op is the functor of device/elementwise.cuh that it is by itself.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "backends/cuda/kernels.h"
#include "backends/cuda/launch.h"

namespace emplace::cuda {
namespace {

// How an input meets the vector that a thread makes: element by element, one for all vectors, a
// vector of its own that comes again, one for the whole vector, anyhow.
enum class Reach { kWhole, kSingle, kVector, kShared, kAny };

// What a chain is, as exec/fuse_card.cc describes it.
struct Chain {
  const std::vector<std::string>& ops;
  const std::vector<DType>& results;
  const std::vector<int64_t>&operands, &counts, &spans;  // spans: two numbers an input
  const std::vector<float>& numbers;
  explicit Chain(const KernelInit& init)
      : ops(init.attr<std::vector<std::string>>("ops")),
        results(init.attr<std::vector<DType>>("results")),
        operands(init.attr<std::vector<int64_t>>("operands")),
        counts(init.attr<std::vector<int64_t>>("counts")),
        spans(init.attr<std::vector<int64_t>>("spans")),
        numbers(init.attr<std::vector<float>>("numbers")) {}
  Reach reach(size_t input, int vector, int64_t n) const {
    const int64_t inner = spans[2 * input], size = spans[2 * input + 1];
    if (inner == 0) return Reach::kWhole;
    if (size == 1) return Reach::kSingle;
    if (inner == 1 && size % vector == 0) return Reach::kVector;
    return inner % vector == 0 && inner * size == n ? Reach::kShared : Reach::kAny;
  }
};

// The value of one op, of operands already loaded.
std::string expression(const std::string& op, const std::string& type,
                       const std::vector<std::string>& x, float number) {
  if (op == "Tile" || op == "BroadcastTo") return x[0];
  if (op == "Cast") return fmt::format("convert<{}>({})", type, x[0]);
  if (op == "SelectV2") return fmt::format("{} ? {} : {}", x[0], x[1], x[2]);
  if (op == "ClipByValue") return fmt::format("clipped({}, {}, {})", x[0], x[1], x[2]);
  if (op == "LeakyRelu")
    return fmt::format("Store<{}>::from(LeakyRelu::f(load({}), {:a}f))", type, x[0], number);
  if (op == "LeakyReluGrad")
    return fmt::format("Store<{}>::from(LeakyReluGrad::f(load({}), load({}), {:a}f))", type, x[0],
                       x[1], number);
  if (op == "AddN") {
    std::vector<std::string> loaded;
    for (const std::string& v : x) loaded.push_back(fmt::format("load({})", v));
    return fmt::format("Store<{}>::from({})", type, fmt::join(loaded, " + "));
  }
  const std::string f = op == "BiasAdd" || op == "BiasAddV1" ? "Add" : op;
  if (x.size() == 1) return fmt::format("apply1<{}, {}>({})", f, type, x[0]);
  if (x.size() == 2) return fmt::format("apply2<{}, {}>({}, {})", f, type, x[0], x[1]);
  throw unimplemented("no joined " + op);
}

// The text of a kernel `fused<V>`: V elements a thread, as the single kernels take them.
std::string text_of(const Chain& chain, const KernelInit& init, int vector) {
  const std::string out(device_type(init.output_types[0]));
  const int64_t n = init.output_shapes[0].num_elements();
  std::string parameters, values, arguments, wide_loads, wide_arguments, narrow_arguments, body;
  for (size_t i = 0; i < init.input_types.size(); ++i) {
    const std::string_view t = device_type(init.input_types[i]);
    const std::string separator = i ? ", " : "";
    parameters += fmt::format(", const {}* a{}, u64 inner{}, u64 size{}", t, i, i, i);
    values += fmt::format("{}const {} x{}", separator, t, i);
    switch (chain.reach(i, vector, n)) {
      case Reach::kWhole:
        wide_loads +=
            fmt::format("    const Vec<{}, V> v{} = ((const Vec<{}, V>*)a{})[t];\n", t, i, t, i);
        wide_arguments += fmt::format("{}v{}.v[k]", separator, i);
        narrow_arguments += fmt::format("{}a{}[at]", separator, i);
        continue;
      case Reach::kSingle:
        for (std::string* to : {&wide_arguments, &narrow_arguments})
          *to += fmt::format("{}*a{}", separator, i);
        continue;
      case Reach::kVector:
        wide_loads += fmt::format(
            "    const Vec<{}, V> v{} = ((const Vec<{}, V>*)a{})[(N)t % ((N)size{} / V)];\n", t, i,
            t, i, i);
        wide_arguments += fmt::format("{}v{}.v[k]", separator, i);
        break;
      case Reach::kShared:
        wide_loads += fmt::format("    const {} v{} = a{}[(N)(t * V) / (N)inner{}];\n", t, i, i, i);
        wide_arguments += fmt::format("{}v{}", separator, i);
        break;
      case Reach::kAny:
        wide_loads += fmt::format("    Places<N> p{}(t * V, inner{}, size{});\n", i, i, i);
        wide_arguments += fmt::format("{}a{}[p{}.next()]", separator, i, i);
    }
    narrow_arguments += fmt::format("{}a{}[placed<N>(at, inner{}, size{})]", separator, i, i, i);
  }
  size_t next = 0;
  for (size_t k = 0; k < chain.ops.size(); ++k) {
    const std::string t(device_type(chain.results[k]));
    std::vector<std::string> x;
    for (int64_t c = 0; c < chain.counts[k]; ++c) {
      const int64_t from = chain.operands[next++];
      x.push_back(from >= 0 ? fmt::format("x{}", from) : fmt::format("r{}", -1 - from));
    }
    body += fmt::format("  const {} r{} = {};\n", t, k,
                        expression(chain.ops[k], t, x, chain.numbers[k]));
  }
  return fmt::format(
      "DEV {0} once({1}) {{\n{2}  return r{3};\n}}\n"
      "template <int V, class N> __global__ void fused({0}* out, i64 n{4}) {{\n"
      "  wait_for_previous();\n"
      "  let_next_start();\n"
      "  const i64 t = thread_id();\n"
      "  if (t < n / V) {{\n{5}    Vec<{0}, V> r;\n"
      "    #pragma unroll\n"
      "    for (int k = 0; k < V; ++k) r.v[k] = once({6});\n"
      "    ((Vec<{0}, V>*)out)[t] = r;\n"
      "  }} else if (const i64 at = n / V * V + (t - n / V); at < n) {{\n"
      "    out[at] = once({7});\n"
      "  }}\n}}\n",
      out, values, body, chain.ops.size() - 1, parameters, wide_loads, wide_arguments,
      narrow_arguments);
}

struct Fused {
  Gpu* gpu;
  std::string text, index;
  Shape shape;
  std::vector<std::array<uint64_t, 2>> spans;
  std::vector<bool> by_vectors;
  int vector;
  CUfunction wide;

  void operator()(KernelContext& c) const {
    Tensor& out = c.output(0, shape);
    bool vectors = aligned({out.raw()});
    void* to = out.raw();
    int64_t n = shape.num_elements();
    std::vector<const void*> from(spans.size());
    std::vector<void*> args = {&to, &n};
    for (size_t i = 0; i < spans.size(); ++i) {
      from[i] = c.input(static_cast<int>(i)).raw();
      if (by_vectors[i]) vectors &= aligned({from[i]});
      args.insert(args.end(), {&from[i], const_cast<uint64_t*>(&spans[i][0]),
                               const_cast<uint64_t*>(&spans[i][1])});
    }
    const CUfunction f =
        vectors ? wide : gpu->jit().get("elementwise", fmt::format("fused<1, {}>", index), text);
    launch(*gpu, f, one_each(n, vectors ? vector : 1), args.data(), Start::kEarly);
  }
};

Prepared make_fused(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  const Chain chain(init);
  const int64_t n = init.output_shapes[0].num_elements();
  size_t widest = dtype_size(init.output_types[0]);
  for (size_t i = 0; i < init.input_types.size(); ++i)
    if (chain.spans[2 * i] == 0) widest = std::max(widest, dtype_size(init.input_types[i]));
  const int vector = static_cast<int>(std::max<size_t>(1, kVectorBytes / widest));
  Fused f{&gpu,
          text_of(chain, init, vector),
          n >> 31 ? "u64" : "u32",
          init.output_shapes[0],
          {},
          {},
          vector,
          nullptr};
  for (size_t i = 0; i < init.input_types.size(); ++i) {
    const Reach reach = chain.reach(i, vector, n);
    f.by_vectors.push_back(reach == Reach::kWhole || reach == Reach::kVector);
    f.spans.push_back({static_cast<uint64_t>(std::max<int64_t>(1, chain.spans[2 * i])),
                       static_cast<uint64_t>(std::max<int64_t>(1, chain.spans[2 * i + 1]))});
  }
  f.wide = gpu.jit().get("elementwise", fmt::format("fused<{}, {}>", f.vector, f.index), f.text);
  return prepared(std::move(f));
}

}  // namespace

std::vector<KernelRow> fused_kernels() {
  return {cuda_row("_FusedElementwise", make_fused, {}, {.in_place = true})};
}

}  // namespace emplace::cuda
