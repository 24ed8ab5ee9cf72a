#include "exec/late_updates.h"

#include <gtest/gtest.h>

#include "exec/step_graph_testutil.h"

namespace emplace {
namespace {

// A card by name only.
class NamedCard final : public Device {
 public:
  NamedCard() : Device(DeviceName::of_task("localhost", 0, 0), "", 0) {}
  int num_queues() const override { return 1; }
  bool can_record() const override { return true; }
  BufferPtr allocate(size_t, std::string_view) override { return {}; }
  MemoryStats memory_stats() const override { return {}; }
  void copy(void*, const void*, size_t) override {}
  ThreadPool& inter_op() override { return pool_; }
  ThreadPool& intra_op() override { return pool_; }
  bool owns(const void*) const override { return false; }

 private:
  ThreadPool pool_{ThreadPool::Options{}};
};

class LateUpdates : public ::testing::Test {
 protected:
  int step(const char* op, std::vector<Port> inputs) {
    std::vector<Output> from(inputs.size(), any_);
    const Node* node = m_.graph().add(op, from, {});
    const int i = m_.add_node(node, std::move(inputs), 1);
    m_.g.steps[i].device = &card_;
    return i;
  }
  int variable() {
    const Node* node =
        m_.graph().add("VariableV2", {}, {{"dtype", DType::kFloat}, {"shape", Shape{4}}});
    const int i = m_.add_node(node, {}, 1);
    m_.g.steps[i].outputs[0].is_ref = true;
    return i;
  }
  int read(int variable) {
    const int i = step("Neg", {{variable, 0}});
    m_.g.steps[i].kind = StepKind::kRead;
    return i;
  }
  int update(int variable, int gradient) {
    const Output v{
        m_.graph().add("VariableV2", {}, {{"dtype", DType::kFloat}, {"shape", Shape{4}}}), 0};
    const Node* node = m_.graph().add("ApplyGradientDescent", {v, any_, any_});
    const int i = m_.add_node(node, {{variable, 0}, {gradient, 0}, {gradient, 0}}, 1);
    m_.g.steps[i].device = &card_;
    return i;
  }
  const std::vector<int>& controls(int i) const { return m_.g.steps[i].controls; }

  NamedCard card_;
  testing::StepGraphMaker m_;
  Output any_{m_.graph().add("Placeholder", {}, {{"dtype", DType::kFloat}, {"shape", Shape{4}}}),
              0};
};

TEST_F(LateUpdates, WaitForThoseWhoReadBeforeThem) {
  const int v = variable(), r = read(v), forth = step("Exp", {{r, 0}}), again = read(v);
  const int back = step("Log", {{again, 0}}), u = update(v, back);
  let_updates_wait(m_.g);
  EXPECT_EQ(controls(u), (std::vector<int>{forth, back}));
}

TEST_F(LateUpdates, WaitForNobodyBehindThemAndNothingFetched) {
  const int v = variable(), w = variable(), r = read(v), s = read(w), g = step("Exp", {{s, 0}});
  const int u = update(v, g), other = update(w, g);
  step("Log", {{r, 0}});
  m_.g.fetches = {{s, 0}};
  let_updates_wait(m_.g);
  EXPECT_TRUE(controls(u).empty());
  EXPECT_TRUE(controls(other).empty());
}

}  // namespace
}  // namespace emplace
