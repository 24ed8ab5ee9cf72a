// OpenMP tasks with `depend` clauses. With one worker there is no parallel region: each task then
// runs where it is met, in order, and nothing is scheduled.
#include <omp.h>

#include <vector>

#include "bench/sched/contender.h"

namespace emplace::bench {
namespace {

class OpenMp final : public Contender {
 public:
  std::string name() const override { return "openmp tasks"; }
  bool schedules() const override { return workers_ > 1; }

  void prepare(const TaskGraph& graph, Work work, int workers) override {
    graph_ = &graph;
    work_ = work;
    workers_ = workers;
    tokens_.assign(graph.nodes, 0);
  }

  void run() override {
    if (workers_ == 1) {
      submit_all();
      return;
    }
#pragma omp parallel num_threads(workers_)
#pragma omp single
    submit_all();
  }

 private:
  void submit_all() {
    for (uint32_t node = 0; node < graph_->nodes; ++node) submit(node);
  }

  void submit(uint32_t node) {
    const Work work = work_;
    [[maybe_unused]] char* token = tokens_.data();
    const std::span<const uint32_t> preds = graph_->preds_of(node);
    const uint32_t* p = preds.data();
    switch (preds.size()) {
      case 0:
#pragma omp task depend(out : token[node]) firstprivate(work, node)
        work.fn(work.context, node);
        break;
      case 1:
#pragma omp task depend(out : token[node]) depend(in : token[p[0]]) firstprivate(work, node)
        work.fn(work.context, node);
        break;
      case 2:
#pragma omp task depend(out : token[node]) depend(in : token[p[0]], token[p[1]]) \
    firstprivate(work, node)
        work.fn(work.context, node);
        break;
      default:
        submit_many(node, preds);
    }
  }

  void submit_many(uint32_t node, std::span<const uint32_t> preds) {
    const Work work = work_;
    [[maybe_unused]] char* token = tokens_.data();
    const uint32_t* p = preds.data();
    const uint32_t count = static_cast<uint32_t>(preds.size());
#pragma omp task depend(out : token[node]) \
    depend(iterator(uint32_t k = 0 : count), in : token[p[k]]) firstprivate(work, node)
    work.fn(work.context, node);
  }

  const TaskGraph* graph_ = nullptr;
  Work work_;
  int workers_ = 1;
  std::vector<char> tokens_;
};

}  // namespace

std::unique_ptr<Contender> make_openmp_tasks() { return std::make_unique<OpenMp>(); }

}  // namespace emplace::bench
