// oneTBB's two ways to run a graph: its flow graph, and a task_group with join counters of ours.
#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <atomic>
#include <optional>
#include <vector>

#include "bench/sched/contender.h"

namespace emplace::bench {
namespace {

using Message = tbb::flow::continue_msg;

template <class Policy>
class FlowGraph final : public Contender {
 public:
  using Node = tbb::flow::continue_node<Message, Policy>;

  std::string name() const override {
    constexpr bool kLight = std::is_same_v<Policy, tbb::flow::lightweight>;
    return kLight ? "tbb flow graph (lightweight)" : "tbb flow graph";
  }
  bool schedules() const override { return true; }

  void prepare(const TaskGraph& graph, Work work, int workers) override {
    arena_.emplace(workers);
    arena_->execute([&] { build(graph, work); });
  }

  void run() override {
    arena_->execute([this] {
      for (Node* source : sources_) source->try_put(Message());
      flow_->wait_for_all();
    });
  }

 private:
  void build(const TaskGraph& graph, Work work) {
    flow_.emplace();
    nodes_.clear();
    sources_.clear();
    for (uint32_t i = 0; i < graph.nodes; ++i) {
      nodes_.push_back(std::make_unique<Node>(
          *flow_, [work, i](const Message&) { work.fn(work.context, i); }));
      if (graph.preds_of(i).empty()) sources_.push_back(nodes_.back().get());
    }
    for (uint32_t i = 0; i < graph.nodes; ++i) connect(i, graph.succs_of(i));
  }

  // Its queues are last in, first out: successors in descending order run in ascending order.
  void connect(uint32_t node, std::span<const uint32_t> succs) {
    for (size_t k = succs.size(); k-- > 0;) tbb::flow::make_edge(*nodes_[node], *nodes_[succs[k]]);
  }

  std::optional<tbb::task_arena> arena_;
  std::optional<tbb::flow::graph> flow_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<Node*> sources_;
};

class TaskGroup final : public Contender {
 public:
  ~TaskGroup() noexcept override {}

  std::string name() const override { return "tbb task_group"; }
  bool schedules() const override { return true; }

  void prepare(const TaskGraph& graph, Work work, int workers) override {
    arena_.emplace(workers);
    graph_ = &graph;
    work_ = work;
    joins_ = std::vector<std::atomic<uint32_t>>(graph.nodes);
    for (uint32_t i = 0; i < graph.nodes; ++i) joins_[i] = join_count(i);
  }

  void run() override {
    arena_->execute([this] {
      for (uint32_t i = 0; i < graph_->nodes && graph_->preds_of(i).empty(); ++i) spawn(i);
      group_.wait();
    });
  }

 private:
  uint32_t join_count(uint32_t node) const {
    return static_cast<uint32_t>(graph_->preds_of(node).size());
  }

  void spawn(uint32_t node) {
    group_.run([this, node] { finish(node); });
  }

  void finish(uint32_t node) {
    work_.fn(work_.context, node);
    const std::span<const uint32_t> succs = graph_->succs_of(node);
    for (size_t k = succs.size(); k-- > 0;) {
      if (arrive(succs[k])) spawn(succs[k]);
    }
  }

  // The last to arrive sets the counter up for the next run.
  bool arrive(uint32_t node) {
    const uint32_t joins = join_count(node);
    if (joins == 1) return true;
    if (joins_[node].fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
    joins_[node].store(joins, std::memory_order_relaxed);
    return true;
  }

  std::optional<tbb::task_arena> arena_;
  tbb::task_group group_;
  const TaskGraph* graph_ = nullptr;
  Work work_;
  std::vector<std::atomic<uint32_t>> joins_;
};

}  // namespace

std::unique_ptr<Contender> make_tbb_flow_graph(bool lightweight) {
  if (lightweight) return std::make_unique<FlowGraph<tbb::flow::lightweight>>();
  return std::make_unique<FlowGraph<tbb::flow::queueing>>();
}

std::unique_ptr<Contender> make_tbb_task_group() { return std::make_unique<TaskGroup>(); }

}  // namespace emplace::bench
