#include "bench/sched/emplace.h"

#include <cstring>
#include <optional>

#include "backends/cpu/cpu_kernels.h"
#include "bench/sched/work.h"
#include "emplace/emplace.h"
#include "kernel/kernel.h"
#include "op/op_def.h"
#include "op/shape_context.h"
#include "session/session_impl.h"
#include "stdops/stdops.h"

namespace emplace::bench {
namespace {

// Addresses travel as integers: an attribute is all that a kernel sees of its node.
constexpr OpRow kRows[] = {
    {"BenchStart(x: float) -> (y: float) | word: int; fn: int; context: int; node: int | stateful",
     shape_rules::unchanged, cost_rules::cheap, "The first node: counts, passes the feed on."},
    {"BenchNode() -> () | word: int; fn: int; context: int; node: int | stateful",
     shape_rules::none, cost_rules::cheap, "Does what a node of the benchmark does."},
};

struct CountOne {
  uint32_t* word;
  void operator()(KernelContext&) const { ++*word; }
};

struct CallWork {
  Work work;
  uint32_t node;
  void operator()(KernelContext&) const { work.fn(work.context, node); }
};

template <class Body>
struct Start {
  Body body;
  void operator()(KernelContext& c) const {
    body(c);
    const Tensor& x = c.input(0);
    std::memcpy(c.output(0, x.shape()).raw(), x.raw(), x.bytes());
  }
};

template <class T>
T* address(const KernelInit& init, const char* attr) {
  return reinterpret_cast<T*>(init.attr<int64_t>(attr));
}

CallWork call_work(const KernelInit& init) {
  const auto fn = reinterpret_cast<void (*)(void*, uint32_t)>(init.attr<int64_t>("fn"));
  return {{fn, address<void>(init, "context")}, static_cast<uint32_t>(init.attr<int64_t>("node"))};
}

Prepared make_node(const KernelInit& init) {
  if (auto* word = address<uint32_t>(init, "word")) return prepared(CountOne{word});
  return prepared(call_work(init));
}

Prepared make_start(const KernelInit& init) {
  if (auto* word = address<uint32_t>(init, "word")) return prepared(Start<CountOne>{{word}});
  return prepared(Start<CallWork>{call_work(init)});
}

const OpRegistry& bench_ops() {
  static const OpRegistry* const ops = [] {
    auto* registry = new OpRegistry;
    register_all_ops(*registry);
    registry->add(kRows);
    return registry;
  }();
  return *ops;
}

const KernelRegistry& bench_kernels() {
  static const KernelRegistry* const kernels = [] {
    auto* registry = new KernelRegistry;
    register_cpu_kernels(*registry);
    registry->add({"BenchStart", "CPU", {}, {}, &make_start, {}, 0, {}});
    registry->add({"BenchNode", "CPU", {}, {}, &make_node, {}, 0, {}});
    return registry;
  }();
  return *kernels;
}

SessionOptions options_for(int workers) {
  SessionOptions options;
  options.inter_op_parallelism_threads = workers;
  options.intra_op_parallelism_threads = 1;
  options.use_per_session_threads = true;
  options.virtual_gpus = 0;
  return options;
}

// A graph with its session and one callable: one feed, one fetch.
struct Runner {
  Graph graph{bench_ops()};
  std::unique_ptr<Session> session;
  Callable callable;
  std::vector<Tensor> feeds;
  std::vector<Tensor> fetched;

  void open(int workers, Output feed, Output fetch) {
    session = make_session(graph, options_for(workers), bench_kernels());
    callable = session->make_callable({&feed, 1}, {&fetch, 1});
  }
};

AttrList node_attrs(Work work, uint32_t node) {
  const bool counts = work.fn == &CountingWork::count_one;
  const auto* word = counts ? static_cast<uint32_t*>(work.context) + node : nullptr;
  return {{"context", reinterpret_cast<int64_t>(work.context)},
          {"fn", reinterpret_cast<int64_t>(work.fn)},
          {"node", static_cast<int64_t>(node)},
          {"word", reinterpret_cast<int64_t>(word)}};
}

class EmplaceContender final : public Contender {
 public:
  explicit EmplaceContender(bool alone) : alone_(alone) {}

  std::string name() const override { return alone_ ? kOneWorker : "emplace"; }
  bool schedules() const override { return !alone_; }

  void prepare(const TaskGraph& graph, Work work, int workers) override {
    runner_ = std::make_unique<Runner>();
    Graph& into = runner_->graph;
    const Output feed = into.add("Placeholder", {}, {{"dtype", DType::kFloat}, {"shape", Shape{}}})
                            ->output();
    std::vector<Node*> nodes;
    for (uint32_t i = 0; i < graph.nodes; ++i) nodes.push_back(add(into, graph, work, i, nodes, feed));
    NodeOptions last;
    for (uint32_t i = 0; i < graph.nodes; ++i) {
      if (graph.succs_of(i).empty()) last.control_inputs.push_back(nodes[i]);
    }
    const Output fetch = into.add("Identity", {nodes[0]->output()}, {}, last)->output();
    runner_->open(alone_ ? 1 : workers, feed, fetch);
    runner_->feeds = {Tensor::scalar<float>(1)};
  }

  void run() override { runner_->callable.run(runner_->feeds, runner_->fetched); }

 private:
  static Node* add(Graph& into, const TaskGraph& graph, Work work, uint32_t i,
                   const std::vector<Node*>& nodes, Output feed) {
    NodeOptions options;
    for (const uint32_t pred : graph.preds_of(i)) options.control_inputs.push_back(nodes[pred]);
    if (i == 0) return into.add("BenchStart", {feed}, node_attrs(work, i), options);
    return into.add("BenchNode", {}, node_attrs(work, i), options);
  }

  bool alone_;
  std::unique_ptr<Runner> runner_;
};

class EmplaceAdds final : public Contender {
 public:
  explicit EmplaceAdds(uint32_t floats) : floats_(floats) {}

  std::string name() const override { return "emplace"; }
  bool schedules() const override { return true; }

  void prepare(const TaskGraph& graph, Work, int workers) override {
    runner_ = std::make_unique<Runner>();
    const Scope in_graph = runner_->graph.as_default();
    const Shape row{static_cast<int64_t>(floats_)};
    const Output feed = placeholder(DType::kFloat, row);
    const Output one = constant(filled(1));
    Output sum = feed;
    for (uint32_t i = 0; i < graph.nodes; ++i) sum = sum + one;
    expected_ = static_cast<float>(graph.nodes) + kFed;
    runner_->open(workers, feed, sum);
    runner_->feeds = {filled(kFed)};
  }

  void run() override { runner_->callable.run(runner_->feeds, runner_->fetched); }

  std::optional<std::string> own_proof() const override {
    for (const float value : runner_->fetched.at(0).values<float>()) {
      if (value != expected_) return "a sum is " + std::to_string(value);
    }
    return "";
  }

 private:
  static constexpr float kFed = 3;

  Tensor filled(float value) const {
    return Tensor::vector<float>(std::vector<float>(floats_, value));
  }

  uint32_t floats_;
  float expected_ = 0;
  std::unique_ptr<Runner> runner_;
};

// Node i adds two of the nodes before it.
Output random_additions(Graph& into, const TaskGraph& graph, Output feed, bool gpus) {
  std::vector<Output> values{feed};
  std::optional<Scope> device;
  for (uint32_t i = 1; i < graph.nodes; ++i) {
    constexpr uint32_t kBlock = 100;
    if (gpus && i % kBlock == 1) {
      device.reset();
      device.emplace(into.device(i / kBlock % 2 == 0 ? "/gpu:0" : "/gpu:1"));
    }
    const auto preds = graph.preds_of(i);
    values.push_back(
        into.add("AddV2", {values[preds.front()], values[preds.back()]})->output());
  }
  return values.back();
}

}  // namespace

std::unique_ptr<Contender> make_emplace() { return std::make_unique<EmplaceContender>(false); }
std::unique_ptr<Contender> make_emplace_alone() { return std::make_unique<EmplaceContender>(true); }

std::unique_ptr<Contender> make_emplace_adds(uint32_t floats) {
  return std::make_unique<EmplaceAdds>(floats);
}

FirstRuns time_first_runs(QuietClock& clock, uint32_t nodes, bool gpus) {
  Graph graph;
  const Scope in_graph = graph.as_default();
  const Output feed = placeholder(DType::kFloat, Shape{});
  const Output fetch = random_additions(graph, make_random(nodes), feed, gpus);
  SessionOptions options;
  options.virtual_gpus = gpus ? 2 : 0;
  Session session(graph, options);
  const auto run = [&] { session.run(fetch, {{feed, Tensor::scalar<float>(1e-30f)}}); };
  const int threads = gpus ? 2 : 1;
  return {clock.time(run, 1, threads), clock.time(run, 1, threads)};
}

}  // namespace emplace::bench
