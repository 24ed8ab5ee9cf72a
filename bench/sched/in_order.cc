// The plain loop over the nodes in their numbered order: what scheduling costs is what comes on
// top of this.
#include <vector>

#include "bench/sched/contender.h"

namespace emplace::bench {
namespace {

class InOrder final : public Contender {
 public:
  std::string name() const override { return "in order"; }
  bool schedules() const override { return false; }

  void prepare(const TaskGraph& graph, Work work, int) override {
    calls_.assign(graph.nodes, work);
  }

  void run() override {
    const uint32_t nodes = static_cast<uint32_t>(calls_.size());
    const Work* calls = calls_.data();
    for (uint32_t node = 0; node < nodes; ++node) calls[node].fn(calls[node].context, node);
  }

 private:
  std::vector<Work> calls_;
};

}  // namespace

std::unique_ptr<Contender> make_in_order() { return std::make_unique<InOrder>(); }

}  // namespace emplace::bench
