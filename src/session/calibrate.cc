// How fast devices and links are, from chains of calls: what one more link of a chain costs.
#include "session/calibrate.h"

#include <algorithm>
#include <chrono>
#include <functional>

namespace emplace {
namespace {

constexpr int kShort = 2, kLong = 10;  // links of a chain
constexpr int kRuns = 5, kMostRuns = 100, kWarmRuns = 3;
constexpr double kLongEnough = 0.006;  // seconds of runs, of which the best counts
constexpr double kFastProducts = 1e11, kVeryFastProducts = 5e12;  // per second: then larger ones too
constexpr int64_t kCached = int64_t{64} << 10, kLarge = int64_t{4} << 20;  // elements
constexpr int64_t kMoved[] = {8 << 10, 64 << 10, 512 << 10, kLarge};
constexpr double kSharedBytesPerS = 1e13;  // where nothing is copied

// Graphs that run on devices of somebody else's session.
class Chains {
 public:
  Chains(const SharedParts& parts, const KernelRegistry& kernels)
      : parts_(parts), kernels_(kernels) {}

  // Adds one link behind `x`, and returns its end; `others`: what has to be fetched besides.
  using Link = std::function<Output(Graph&, Output x, int number, std::vector<Output>& others)>;

  // Seconds of one more link, over a value of `elements`.
  double seconds(int64_t elements, const std::string& device, const Link& link) {
    return seconds(Shape{elements}, device, link);
  }
  double seconds(const Shape& shape, const std::string& device, const Link& link) {
    const double few = run(shape, device, link, kShort), many = run(shape, device, link, kLong);
    return std::max(many - few, 1e-10) / (kLong - kShort);
  }

  static Output on(Graph& g, const std::string& device, const char* op,
                   std::initializer_list<Output> inputs, AttrList attrs = {}) {
    NodeOptions options;
    options.raw = true;
    options.exact_name = true;
    options.name = "n" + std::to_string(g.num_nodes());
    options.device = device;
    return g.add(op, inputs, std::move(attrs), options)->output();
  }
  static Output head(Graph& g, const std::string& device, Output x) {
    const auto vector = [&](int32_t n) {
      const std::vector<int32_t> values(static_cast<size_t>(x.shape().rank()), n);
      return on(g, device, "Const", {},
                {{"value", Tensor::vector<int32_t>(values)}, {"dtype", DType::kInt32}});
    };
    return on(g, device, "Slice", {x, vector(0), vector(1)});
  }

 private:
  double run(const Shape& shape, const std::string& device, const Link& link, int links) {
    auto graph = std::make_shared<Graph>();
    const Output fed = on(*graph, device, "Placeholder", {}, {{"dtype", DType::kFloat}, {"shape", shape}});
    std::vector<Output> fetches;
    Output x = fed;
    for (int i = 0; i < links; ++i) x = link(*graph, x, i, fetches);
    fetches.push_back(head(*graph, device, x));
    Session session(std::make_shared<Session::Impl>(graph, quiet(), kernels_, parts_, ""));
    const Callable callable = session.make_callable(std::span(&fed, 1), fetches);
    const Tensor ones = filled(shape);
    std::vector<Tensor> fetched;
    for (int i = 0; i < kWarmRuns; ++i) callable.run(std::span(&ones, 1), fetched);
    double best = 1e30, all = 0;
    for (int i = 0; i < kRuns || (i < kMostRuns && all < kLongEnough); ++i) {
      const auto start = std::chrono::steady_clock::now();
      callable.run(std::span(&ones, 1), fetched);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      best = std::min(best, took.count());
      all += took.count();
    }
    return best;
  }

  static SessionOptions quiet() {
    SessionOptions options;
    options.placer = "simple";
    options.allow_soft_placement = true;
    return options;
  }

  // Products of such matrices with themselves stay as they are.
  static Tensor filled(const Shape& shape) {
    Tensor t(DType::kFloat, shape);
    const float value = shape.rank() == 2 ? 1 / static_cast<float>(shape[0]) : 1;
    std::fill_n(t.data<float>(), t.num_elements(), value);
    return t;
  }

  const SharedParts& parts_;
  const KernelRegistry& kernels_;
};

// A device's memory has to hold all values of a chain; what CPUs say of theirs is a custom.
int64_t most_elements(const Device& device) {
  constexpr int64_t kBytes = 4 * (kLong + 6);
  return device.is_async() ? std::min(kLarge, device.memory_limit() / kBytes) : kLarge;
}

void measure_products(Chains& chains, const Device& on, DeviceRates& rates) {
  const std::string& device = on.name();
  const auto square = [&](Graph& g, Output x, int, std::vector<Output>&) {
    return Chains::on(g, device, "MatMul", {x, x});
  };
  for (const int64_t n : {16, 64, 192, 512, 1024, 4096}) {
    const double best = rates.products.empty() ? 0 : rates.products.back().per_s;
    if (n * n > most_elements(on) && n > 16) break;
    if ((n > 512 && best < kFastProducts) || (n > 1024 && best < kVeryFastProducts)) break;
    const double flops = 2.0 * static_cast<double>(n * n * n);
    const double took = chains.seconds(Shape{n, n}, device, square) - rates.launch_s;
    rates.products.push_back({flops, flops / std::max(took, flops * 1e-15)});
  }
}

}  // namespace

DeviceRates measure_rates(const SharedParts& parts, const Device& device, const std::string& kind,
                          const KernelRegistry& kernels) {
  Chains chains(parts, kernels);
  const std::string& name = device.name();
  // A result that is looked at besides keeps its own instruction, and its memory.
  const auto looked_at = [&](const char* op) {
    return [&, op](Graph& g, Output x, int, std::vector<Output>& others) {
      const Output y = std::string_view(op) == "Mul" ? Chains::on(g, name, op, {x, x})
                                                     : Chains::on(g, name, op, {x});
      others.push_back(Chains::head(g, name, y));
      return y;
    };
  };
  DeviceRates rates;
  rates.device = kind;
  rates.launch_s = chains.seconds(1, name, looked_at("Mul")) / 2;
  measure_products(chains, device, rates);
  const auto beyond_launches = [&](int64_t elements, const char* op) {
    return std::max(chains.seconds(elements, name, looked_at(op)) - 2 * rates.launch_s, 1e-9);
  };
  constexpr double kTanhOps = 10, kMulBytes = 8;  // an element: read once, written once
  rates.ops_per_s = kTanhOps * kCached / beyond_launches(kCached, "Tanh");
  for (const int64_t n : kMoved)
    if (n <= most_elements(device))
      rates.moves.push_back({kMulBytes * double(n), kMulBytes * double(n) / beyond_launches(n, "Mul")});
  return rates;
}

// There and back, so that a chain has many.
LinkRate measure_link(const SharedParts& parts, const Device& from, const Device& to,
                      const DeviceKinds& kinds, const KernelRegistry& kernels) {
  Chains chains(parts, kernels);
  const auto hop = [&](Graph& g, Output x, int number, std::vector<Output>&) {
    return Chains::on(g, (number % 2 ? from : to).name(), "Identity", {x});
  };
  LinkRate link{kinds.at(from.name()), kinds.at(to.name()), 0, kSharedBytesPerS};
  link.latency_s = chains.seconds(1, from.name(), hop);
  const int64_t n = std::min(most_elements(from), most_elements(to));
  const double large = chains.seconds(n, from.name(), hop) - link.latency_s;
  if (large > 0) link.bytes_per_s = std::min(kSharedBytesPerS, 4.0 * static_cast<double>(n) / large);
  return link;
}

}  // namespace emplace
