#include <gtest/gtest.h>

#include <algorithm>

#include "emplace/emplace.h"

namespace emplace {
namespace {

std::string device_of(const WhatIf& w, const std::string& node) {
  for (const PlacementRow& r : w.report.rows)
    if (r.node == node) return r.device;
  return "";
}

TEST(WhatIf, PlacesOnDevicesThatAreNotHere) {
  Graph graph;
  const Scope in_graph = graph.as_default();
  {
    const Scope on = graph.device("/job:worker/task:1/gpu:1");
    constant(Tensor::scalar(1.f), "pinned");
  }
  constant(Tensor::scalar(1.f), "free");
  const std::string devices[] = {"CPU:0", "GPU:0", "/job:worker/task:1/device:GPU:1"};
  const WhatIf w = place_on(graph, devices);
  EXPECT_TRUE(w.unmet.empty());
  EXPECT_EQ(device_of(w, "pinned"), "/job:worker/replica:0/task:1/device:GPU:1");
  EXPECT_EQ(device_of(w, "free"), "/job:localhost/replica:0/task:0/device:GPU:0");
}

TEST(WhatIf, ListsEveryPinThatCannotBeMet) {
  Graph graph;
  const Scope in_graph = graph.as_default();
  for (const char* name : {"a", "b"}) {
    const Scope on = graph.device("/gpu:7");
    constant(Tensor::scalar(1.f), name);
  }
  constant(Tensor::scalar(1.f), "c");
  const std::string devices[] = {"CPU:0"};
  const WhatIf w = place_on(graph, devices);
  ASSERT_EQ(w.unmet.size(), 2u);
  EXPECT_EQ(w.unmet[0].node(), "a");
  EXPECT_EQ(w.unmet[1].node(), "b");
  EXPECT_EQ(w.report.rows.size(), 3u);
  EXPECT_EQ(graph.find("a")->device(), "/device:GPU:7");
  EXPECT_TRUE(place_on(graph, devices, true).unmet.empty());
}

TEST(WhatIf, ListsEveryNodeThatNoDeviceCanRunOnce) {
  Graph graph;
  const Scope in_graph = graph.as_default();
  const Output x = placeholder(DType::kFloat, Shape{}, "x");
  for (const char* name : {"s1", "s2"}) op("AsString", {x}, {}, name);
  {
    const Scope on = graph.device("/gpu:0");
    op("AsString", {x}, {}, "pinned");
  }
  op("Neg", {x}, {}, "fine");
  const std::string devices[] = {"GPU:0"};
  const WhatIf w = place_on(graph, devices);
  std::vector<std::string> unmet;
  for (const Error& e : w.unmet) unmet.push_back(e.node());
  EXPECT_EQ(unmet, (std::vector<std::string>{"s1", "s2", "pinned"}));
  EXPECT_EQ(w.report.rows.size(), 2u);
  EXPECT_EQ(device_of(w, "fine"), "/job:localhost/replica:0/task:0/device:GPU:0");
}

TEST(WhatIf, SoftPlacementStaysInTheTaskAndSaysSo) {
  Graph graph;
  const Scope in_graph = graph.as_default();
  const Scope on = graph.device("/job:worker/task:1/gpu:0");
  constant(Tensor::scalar(1.f), "c");
  const std::string devices[] = {"GPU:0", "/job:worker/task:1/cpu:0"};
  const WhatIf w = place_on(graph, devices, true);
  EXPECT_EQ(device_of(w, "c"), "/job:worker/replica:0/task:1/device:CPU:0");
  ASSERT_EQ(w.report.rows.at(0).rejected.size(), 1u);
  EXPECT_EQ(w.report.rows[0].rejected[0].why, "its group asks for '/job:worker/task:1'");
}

TEST(WhatIf, RefusesWhatIsNoDevice) {
  Graph graph;
  const std::string none[] = {"GPU"}, twice[] = {"CPU:0", "/cpu:0"};
  EXPECT_THROW(place_on(graph, none), Error);
  EXPECT_THROW(place_on(graph, twice), Error);
  EXPECT_THROW(place_on(graph, {}), Error);
}

TEST(Config, OptionsComeFromText) {
  const SessionOptions o = session_options(
      "device_count { key: 'CPU' value: 4 } allow_soft_placement: true\n"
      "inter_op_parallelism_threads: 3 gpu_options { allow_growth: true visible_device_list: '1,0'\n"
      "force_gpu_compatible: true experimental { use_cuda_malloc_async: true } }");
  EXPECT_EQ(o.device_count.at("CPU"), 4);
  EXPECT_TRUE(o.allow_soft_placement);
  EXPECT_EQ(o.inter_op_parallelism_threads, 3);
  EXPECT_TRUE(o.gpu_options.allow_growth);
  EXPECT_EQ(o.gpu_options.visible_device_list, "1,0");
  EXPECT_TRUE(o.gpu_options.force_gpu_compatible);
  EXPECT_TRUE(o.gpu_options.use_cuda_malloc_async);
}

TEST(Config, BadTextSaysWhere) {
  try {
    session_options("allow_soft_placement: true\nno_such_option: 1");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kInvalidArgument);
    EXPECT_NE(e.message().find("2:"), std::string::npos) << e.message();
  }
}

TEST(WhatIf, AVariableWhosePinCannotBeMetIsPlacedAllTheSame) {
  Graph graph;
  const Scope in_graph = graph.as_default();
  {
    const Scope on = graph.device("/gpu:5");
    variable(Tensor::scalar(1.f), "v");
  }
  constant(Tensor::scalar(1.f), "z");
  const std::string devices[] = {"CPU:0", "GPU:0"};
  const WhatIf w = place_on(graph, devices);
  EXPECT_TRUE(std::ranges::any_of(w.unmet, [](const Error& e) { return e.node() == "v"; }));
  EXPECT_EQ(w.report.rows.size(), graph.num_nodes());
  EXPECT_EQ(device_of(w, "v"), "/job:localhost/replica:0/task:0/device:GPU:0");
  EXPECT_EQ(graph.find("v")->device(), "/device:GPU:5");
}

}  // namespace
}  // namespace emplace
