// The programs of the documents, and what they print, as text files in tests/golden/placement.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/source_dir_testutil.h"
#include "placement/log_text.h"
#include "placement/placement_testutil.h"

namespace emplace::placement_test {
namespace {

std::string golden(const std::string& name) {
  std::ifstream file(fmt::format("{}/tests/golden/placement/{}.txt", source_dir(), name));
  EXPECT_TRUE(file) << name;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string sorted_lines(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  std::ranges::sort(lines);
  return fmt::format("{}\n", fmt::join(lines, "\n"));
}

class Documents : public PlacingTest {
 protected:
  Documents() {
    options.allow_soft_placement = false;
    gpus("Tesla K40c", {"0000:05:00.0"});
  }

  void gpus(const char* name, const std::vector<std::string>& buses) {
    const std::string task = "/job:localhost/replica:0/task:0/device:";
    devices = {device_info(task + "CPU:0")};
    for (size_t i = 0; i < buses.size(); ++i) {
      devices.push_back(device_info(
          fmt::format("{}GPU:{}", task, i),
          fmt::format("device: {}, name: {}, pci bus id: {}", i, name, buses[i])));
    }
  }
  Output constant(std::string name, Shape shape, std::string device = {}) {
    return add("Const", std::move(name), {}, std::move(device),
               {{"dtype", DType::kFloat},
                {"value", Tensor::of<float>({1, 2, 3, 4, 5, 6}, std::move(shape))}})
        ->output();
  }
  void product(std::string a, std::string b, std::string name, std::string operands,
               std::string device) {
    const Output x = constant(std::move(a), Shape{2, 3}, operands);
    const Output y = constant(std::move(b), Shape{3, 2}, operands);
    add("MatMul", std::move(name), {x, y}, std::move(device));
  }
  // The nodes of `tf.Variable(3)` under one device.
  void int_variable(const std::string& device) {
    const AttrList colocated = {{"_class", groups({"Variable"})}};
    Node* initial = add("Const", "Variable/initial_value", {}, device,
                        {{"dtype", DType::kInt32}, {"value", Tensor::scalar<int32_t>(3)}});
    Node* variable = add("Variable", "Variable", {}, device,
                         {{"dtype", DType::kInt32}, {"shape", Shape{}}});
    add("Assign", "Variable/Assign", {variable->output(), initial->output()}, device, colocated);
    add("Identity", "Variable/read", {variable->output()}, device, colocated);
  }
};

TEST_F(Documents, OperationsGoToTheGpu) {
  product("a", "b", "MatMul", "", "");
  run();
  EXPECT_EQ(device_mapping(devices) + placement->log_text(), golden("default_gpu"));
}

TEST_F(Documents, ConstantsPinnedToTheCpuStayThere) {
  product("a", "b", "MatMul", "/device:CPU:0", "");
  run();
  EXPECT_EQ(device_mapping(devices) + placement->log_text(), golden("manual_cpu"));
}

TEST_F(Documents, TowersAreLoggedLastReadyFirst) {
  gpus("Tesla K20m", {"0000:02:00.0", "0000:03:00.0", "0000:83:00.0", "0000:84:00.0"});
  product("Const", "Const_1", "MatMul", "/device:GPU:2", "/device:GPU:2");
  product("Const_2", "Const_3", "MatMul_1", "/device:GPU:3", "/device:GPU:3");
  add("AddN", "AddN", {graph.find("MatMul")->output(), graph.find("MatMul_1")->output()},
      "/device:CPU:0");
  run();
  EXPECT_EQ(device_mapping(devices) + placement->log_text(), golden("towers"));
}

TEST_F(Documents, AMissingGpuIsAnErrorAboutB) {
  product("a", "b", "MatMul", "/device:GPU:2", "/device:GPU:2");
  const Error e = error();
  EXPECT_EQ(std::string(e.what()) + "\n", golden("missing_device"));
  EXPECT_EQ(e.node(), "b");
  EXPECT_EQ(e.op(), "Const");
  EXPECT_EQ(e.source(), "model.py:7");
}

TEST_F(Documents, AMissingGpuIsReplacedSoftly) {
  product("a", "b", "MatMul", "/device:GPU:2", "/device:GPU:2");
  options.allow_soft_placement = true;
  run();
  EXPECT_EQ(placement->log_text(), golden("missing_device_soft"));
}

TEST_F(Documents, AVariableOnTheCpuAndAProductOnTheGpu) {
  Node* initial = add("Const", "a/initial_value", {}, "/device:CPU:0",
                      {{"dtype", DType::kFloat}, {"value", Tensor::scalar(3.0f)}});
  Node* a = add("Variable", "a", {}, "/device:CPU:0",
                {{"dtype", DType::kFloat}, {"shape", Shape{}}});
  add("Assign", "a/Assign", {a->output(), initial->output()}, "/device:CPU:0",
      {{"_class", groups({"a"})}});
  Node* read = add("Identity", "a/read", {a->output()}, "/device:CPU:0",
                   {{"_class", groups({"a"})}});
  Node* b = add("Const", "b", {}, "/device:CPU:0",
                {{"dtype", DType::kFloat}, {"value", Tensor::scalar(4.0f)}});
  add("Mul", "mul", {read->output(), b->output()});
  run();
  EXPECT_EQ(sorted_lines(placement->log_text()), golden("variable"));
}

TEST_F(Documents, AnIntegerVariableHasNoGpuKernel) {
  int_variable("/device:GPU:0");
  const Error e = error();
  EXPECT_EQ(std::string(e.what()) + "\n", golden("int32_variable"));
  EXPECT_EQ(e.node(), "Variable");
}

TEST_F(Documents, AnIntegerVariableFallsBackToTheCpuSoftly) {
  int_variable("/device:GPU:0");
  options.allow_soft_placement = true;
  run();
  EXPECT_EQ(placement->table(), golden("int32_variable_soft"));
}

TEST_F(Documents, ASecondRunPlacesAndLogsNothingNew) {
  product("a", "b", "MatMul", "", "");
  run();
  for (const Node* node : graph.nodes()) assigned[node->name()] = full_at(node->name());
  add("MatMul", "later", {graph.find("a")->output(), graph.find("b")->output()}, "/device:CPU:0");
  run();
  EXPECT_EQ(placement->log_text(), "later: /job:localhost/replica:0/task:0/device:CPU:0\n");
  EXPECT_EQ(at("MatMul"), "GPU:0");
}

}  // namespace
}  // namespace emplace::placement_test
