#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "op/op_def.h"
#include "placement/cost_source.h"
#include "placement/placer.h"

namespace emplace::placement_test {

// Ops that exist for placing only: with kernels everywhere, on CPUs only, on GPUs only, with
// priorities; and a few real ones.
const OpRegistry& test_ops();

// Kernels as a list: op, device type, priority, and the dtypes allowed for one attribute.
class FakeKernels : public KernelOracle {
 public:
  FakeKernels();  // those of test_ops()
  void add(std::string op, std::string type, int priority = 0, std::string attr = {},
           std::vector<DType> dtypes = {});
  Kernels kernels(const Node& node) const override;
  std::string kernel_list(const Node& node) const override;
  int questions() const { return questions_; }  // asked so far

 private:
  struct Row {
    std::string type;
    int priority;
    std::string attr;
    std::vector<DType> dtypes;
  };
  std::map<std::string, std::vector<Row>> rows_;
  mutable int questions_ = 0;
};

// `n` CPUs and `n` GPUs of /job:a/replica:0/task:0, the GPUs in reverse order, and one XLA_CPU.
std::vector<DeviceInfo> fake_devices(int n);
std::string full(std::string_view local);  // "GPU:0" -> "/job:a/replica:0/task:0/device:GPU:0"
std::vector<DeviceInfo> devices_named(const std::vector<std::string>& full_names);

Node* add_node(Graph& graph, std::string_view op, std::string name, std::vector<Output> inputs = {},
               std::string device = {}, AttrList attrs = {}, std::vector<Node*> after = {});
AttrValue groups(std::vector<std::string> names);  // "a" -> "loc:@a"

// Costs that differ from node to node and device to device without rhyme or reason.
class DrawnCosts final : public CostSource {
 public:
  std::optional<NodeCost> time(const Node& node, const DeviceInfo& device) const override;
  double bytes(const Node& node, int output) const override;
  CostLink link(const DeviceInfo& from, const DeviceInfo& to) const override;
};

// A placement, with what was asked: by the simple placer, or by another one by what nodes cost.
class Placed {
 public:
  Placed(std::vector<Node*> nodes, std::vector<DeviceInfo> devices, const KernelOracle& kernels,
         const PlacementOptions& options = {}, std::vector<int> before = {},
         std::string_view placer = "simple", const CostSource* costs = nullptr);
  size_t size() const { return placement_.devices.size(); }
  int device(size_t node) const { return placement_.devices[node]; }
  const std::vector<int>& devices() const { return placement_.devices; }
  const DeviceInfo& info(size_t node) const { return infos_[static_cast<size_t>(device(node))]; }
  PlacedNode explain(size_t node) const { return placement_.explain(node); }
  std::vector<PlacedNode> explain() const { return placement_.explain(); }
  const std::vector<std::string>& notes() const { return placement_.notes; }
  std::string table() const;
  std::string log_text() const;

 private:
  const std::vector<Node*> nodes_;
  const std::vector<DeviceInfo> infos_;
  const std::vector<int> before_;
  const Placement placement_;
};

// Builds a graph, places it with soft placement unless told otherwise, and asks where things are.
class PlacingTest : public ::testing::Test {
 protected:
  Node* add(std::string_view op, std::string name, std::vector<Output> inputs = {},
            std::string device = {}, AttrList attrs = {}, std::vector<Node*> after = {}) {
    return add_node(graph, op, std::move(name), std::move(inputs), std::move(device),
                    std::move(attrs), std::move(after));
  }
  const Placed& run();
  const Placed& run_hard() {
    options.allow_soft_placement = false;
    return run();
  }
  Error error();  // what run() throws
  Error hard_error() {
    options.allow_soft_placement = false;
    return error();
  }
  std::string at(std::string_view node) const;       // "GPU:0"
  std::string full_at(std::string_view node) const;  // the whole name
  std::string type(std::string_view node) const;     // "GPU"
  PlacedNode why(std::string_view node) const;

  Graph graph{test_ops()};
  FakeKernels kernels;
  std::vector<DeviceInfo> devices = fake_devices(10);
  PlacementOptions options{.allow_soft_placement = true};
  std::map<std::string, std::string> assigned;  // node -> device name
  std::optional<Placed> placement;

 private:
  size_t index(std::string_view node) const;
};

}  // namespace emplace::placement_test
