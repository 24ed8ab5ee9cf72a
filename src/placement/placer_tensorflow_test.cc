// Random graphs, placed as TensorFlow placed them: tests/placement/make_cases.py wrote them down.
#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "base/source_dir_testutil.h"
#include "placement/placement_testutil.h"

namespace emplace::placement_test {
namespace {

struct Case {
  std::string name;
  bool soft = false;
  std::vector<std::vector<std::string>> nodes;  // fields of each line
  std::string expected;                         // "= …" or "! …"
};

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, by);) parts.push_back(part);
  return parts;
}

std::vector<Case> read_cases() {
  std::ifstream file(source_dir() + "/tests/golden/placement/tensorflow.txt");
  std::vector<Case> cases;
  for (std::string line; std::getline(file, line);) {
    const auto fields = split(line, ' ');
    if (fields[0] == "case") {
      cases.push_back({fields[1], fields[2] == "soft", {}, {}});
    } else if (fields[0] == "=" || fields[0] == "!") {
      cases.back().expected = line;
    } else {
      cases.back().nodes.push_back(fields);
    }
  }
  return cases;
}

// Ops of the test with the same inputs, outputs and name-dependent rules.
const std::map<std::string, std::string> kOurs = {
    {"Placeholder", "TestCPUGPUOutput"}, {"VariableV2", "TestVariable"},
    {"VarHandleOp", "Handle"},           {"Assign", "TestAssign"},
    {"ReadVariableOp", "UseAnywhere"},   {"AssignVariableOp", "HandleAssign"},
    {"AddV2", "TestAdd"},                {"Neg", "TestRelu"},
};

class Given {
 public:
  explicit Given(const Case& given) : case_(given) {
    const std::string task = "/job:localhost/replica:0/task:0";
    for (int i = 0; i < 4; ++i) {
      devices_.push_back(device_info(fmt::format("{}/device:CPU:{}", task, i)));
    }
    for (const auto& fields : given.nodes) add(fields);
    add_node(graph_, "NoOp", "run", {}, "/device:CPU:0");
  }

  std::string outcome() const {
    const FakeKernels kernels;
    try {
      const Placed placed(graph_.nodes(), devices_, kernels,
                          {.allow_soft_placement = case_.soft});
      std::string out = "=";
      for (size_t i = 0; i < case_.nodes.size(); ++i) {
        out += " " + placed.info(i).parsed.local_name();
      }
      return out;
    } catch (const Error& e) {
      return "! " + e.message().substr(0, e.message().find('\n'));
    }
  }

 private:
  void add(const std::vector<std::string>& fields) {
    const auto ours = kOurs.find(fields[1]);
    std::vector<Output> inputs;
    for (Node* node : listed(fields[4])) inputs.push_back(node->output());
    AttrList attrs;
    if (fields[3] != "-") attrs.push_back({"_class", groups(split(fields[3], ','))});
    nodes_.push_back(add_node(graph_, ours == kOurs.end() ? fields[1] : ours->second, fields[0],
                              inputs, fields[2] == "-" ? "" : fields[2], attrs, listed(fields[5])));
  }

  std::vector<Node*> listed(const std::string& field) const {
    std::vector<Node*> nodes;
    if (field == "-") return nodes;
    for (const std::string& i : split(field, ',')) nodes.push_back(nodes_[std::stoi(i)]);
    return nodes;
  }

  const Case& case_;
  Graph graph_{test_ops()};
  std::vector<Node*> nodes_;
  std::vector<DeviceInfo> devices_;
};

// What both errors must share: the words up to names of ops, which differ; of a missing device,
// that it is missing.
std::string essence(const std::string& outcome) {
  if (outcome.starts_with("=")) return outcome;
  if (outcome.find("explicit") != std::string::npos) return "! no such device";
  return outcome.substr(0, outcome.find(" The edge src node"));
}

TEST(AsTensorFlow, PlacesRandomGraphs) {
  const std::vector<Case> cases = read_cases();
  EXPECT_GE(cases.size(), 300u);
  for (const Case& c : cases) {
    EXPECT_EQ(essence(Given(c).outcome()), essence(c.expected)) << "case " << c.name;
  }
}

}  // namespace
}  // namespace emplace::placement_test
