#include "placement/placement_testutil.h"

#include "placement/log_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace emplace::placement_test {
namespace {

// A signature, and its kernels as "CPU:2 GPU:1" (type, then priority if not 0).
struct TestOp {
  const char* signature;
  const char* kernels;
};

constexpr TestOp kOps[] = {
    {"TestVariable() -> (o: ref float)", "CPU GPU"},
    {"VariableCPU() -> (o: ref float)", "CPU"},
    {"VariableGPU() -> (o: ref float)", "GPU"},
    {"VariableNoKernels() -> (o: ref float)", ""},
    {"TestAdd(a: float, b: float) -> (o: float)", "CPU GPU"},
    {"TestRelu(i: float) -> (o: float)", "CPU GPU"},
    {"ReluCPU(i: float) -> (o: float)", "CPU"},
    {"ReluGPU(i: float) -> (o: float)", "GPU"},
    {"TestAssign(i: ref float, v: float) -> ()", "CPU GPU"},
    {"AssignCPU(i: ref float, v: float) -> ()", "CPU"},
    {"AssignGPU(i: ref float, v: float) -> ()", "GPU"},
    {"TestInput() -> (a: float, b: float)", "CPU"},
    {"TestCPUGPUOutput() -> (a: float)", "CPU GPU"},
    {"TestGPUOutput() -> (a: float)", "GPU"},
    {"TestDevice() -> (a: float, b: float)", "GPU"},
    {"TestDeviceEnforce(a: ref float) -> (b: float)", "CPU GPU"},
    {"TestPrioritised(a: float) -> (b: float)", "CPU:2 GPU:1"},
    {"TestXlaOp(a: float) -> (b: float)", "XLA_CPU:2 CPU:1"},
    {"MakeCPU() -> (o: resource)", "CPU"},
    {"MakeGPU() -> (o: resource)", "GPU"},
    {"MakePreferCPU() -> (o: resource)", "CPU:2 GPU:1"},
    {"MakePreferGPU() -> (o: resource)", "CPU:1 GPU:2"},
    {"MakeAnywhere() -> (o: resource)", "CPU GPU"},
    {"UseAnywhere(i: resource) -> (o: float)", "CPU GPU"},
    {"UsePreferCPU(i: resource) -> (o: float)", "CPU:2 GPU:1"},
    {"UsePreferGPU(i: resource) -> (o: float)", "CPU:1 GPU:2"},
    {"UseGPU(i: resource) -> (o: float)", "GPU"},
    {"Handle() -> (o: resource)", "CPU GPU"},
    {"HandleCPU() -> (o: resource)", "CPU"},
    {"HandleGPU() -> (o: resource)", "GPU"},
    {"HandleAssign(i: resource, v: float) -> ()", "CPU GPU"},
    {"HandleAssignCPU(i: resource, v: float) -> ()", "CPU"},
    {"HandleAssignGPU(i: resource, v: float) -> ()", "GPU"},
    {"TwoHandles(i: resource, j: resource) -> ()", "CPU GPU"},
    {"JoinHandles(i: resource, j: resource) -> (o: resource)", "CPU GPU"},
    {"MakeList() -> (o: variant) | element_dtype: type", "CPU GPU"},
    {"PassList(i: variant) -> (o: variant)", "CPU GPU"},
    {"Sink(i: T) -> () | T: type", "CPU GPU"},
    {"_Arg() -> (output: T) | T: type; index: int >= 0 = 0", "CPU GPU"},
    {"_Retval(input: T) -> () | T: type; index: int >= 0 = 0", "CPU GPU"},
    {"PartitionedCall(args: Tin) -> (output: Tout) | Tin: list(type) >= 0; "
     "Tout: list(type) >= 0; f: func",
     "CPU GPU"},
    {"IdentityN(input: T) -> (output: T) | T: list(type) >= 1", "CPU GPU"},
    {"Identity(input: T) -> (output: T) | T: type", "CPU GPU"},
    {"Shape(input: T) -> (output: out_type) | T: type; out_type: type in [int32,int64] = int32",
     "CPU GPU"},
    {"Size(input: T) -> (output: int32) | T: type", "CPU GPU"},
    {"Rank(input: T) -> (output: int32) | T: type", "CPU GPU"},
    {"Placeholder() -> (output: dtype) | dtype: type", "CPU GPU"},
    {"Const() -> (output: dtype) | value: tensor; dtype: type", "CPU GPU"},
    {"Mul(x: T, y: T) -> (z: T) | T: type", "CPU GPU"},
    {"MatMul(a: T, b: T) -> (product: T) | transpose_a: bool = false; transpose_b: bool = false; "
     "T: type",
     "CPU GPU"},
    {"AddN(inputs: N*T) -> (sum: T) | N: int >= 1; T: type", "CPU GPU"},
    {"NextIteration(data: T) -> (output: T) | T: type", "CPU GPU"},
    {"Merge(inputs: N*T) -> (output: T, value_index: int32) | T: type; N: int >= 1", "CPU GPU"},
    {"NoOp() -> ()", "CPU GPU"},
    // No kernel for int32 on a GPU, as in TensorFlow: see FakeKernels().
    {"Variable() -> (ref: ref dtype) | shape: shape; dtype: type", "CPU"},
    {"Assign(ref: ref T, value: T) -> (output_ref: ref T) | T: type", "CPU"},
};

OpRegistry make_ops() {
  OpRegistry ops;
  for (const TestOp& op : kOps) ops.add(parse_signature(op.signature));
  return ops;
}

}  // namespace

const OpRegistry& test_ops() {
  static const OpRegistry ops = make_ops();
  return ops;
}

FakeKernels::FakeKernels() {
  for (const TestOp& op : kOps) {
    const std::string_view signature = op.signature;
    std::istringstream words(op.kernels);
    for (std::string word; words >> word;) {
      const size_t colon = word.find(':');
      const int priority = colon == std::string::npos ? 0 : std::stoi(word.substr(colon + 1));
      add(std::string(signature.substr(0, signature.find('('))), word.substr(0, colon), priority);
    }
  }
  add("Variable", "GPU", 0, "dtype", {DType::kFloat, DType::kDouble, DType::kInt64});
  add("Assign", "GPU", 0, "T", {DType::kFloat, DType::kDouble, DType::kInt64});
}

void FakeKernels::add(std::string op, std::string type, int priority, std::string attr,
                      std::vector<DType> dtypes) {
  rows_[std::move(op)].push_back({std::move(type), priority, std::move(attr), std::move(dtypes)});
}

Kernels FakeKernels::kernels(const Node& node) const {
  ++questions_;
  Kernels found;
  const auto rows = rows_.find(node.type());
  if (rows == rows_.end()) return found;
  for (const Row& row : rows->second) {
    const AttrValue* value = row.attr.empty() ? nullptr : node.attr(row.attr);
    const bool fits = !value || std::ranges::count(row.dtypes, value->as<DType>()) > 0;
    if (fits) found.types.push_back({row.type, row.priority});
    found.other_attrs |= !fits;
  }
  return found;
}

std::string FakeKernels::kernel_list(const Node& node) const {
  const auto rows = rows_.find(node.type());
  if (rows == rows_.end()) return "  <no registered kernels>\n";
  std::string out;
  for (const Row& row : rows->second) {
    out += fmt::format("  device='{}'", row.type);
    std::string types;
    for (DType t : row.dtypes) {
      types += (types.empty() ? "" : ", ") + std::string(dtype_enum_name(t));
    }
    if (!row.attr.empty()) out += fmt::format("; {} in [{}]", row.attr, types);
    out += "\n";
  }
  return out;
}

std::string full(std::string_view local) {
  return fmt::format("/job:a/replica:0/task:0/device:{}", local);
}

std::vector<DeviceInfo> fake_devices(int n) {
  std::vector<DeviceInfo> devices;
  for (int i = 0; i < n; ++i) {
    devices.push_back(device_info(full(fmt::format("CPU:{}", i))));
    devices.push_back(device_info(full(fmt::format("GPU:{}", n - 1 - i))));
  }
  devices.push_back(device_info(full("XLA_CPU:0")));
  return devices;
}

std::vector<DeviceInfo> devices_named(const std::vector<std::string>& full_names) {
  std::vector<DeviceInfo> devices;
  for (const std::string& name : full_names) devices.push_back(device_info(name));
  return devices;
}

Node* add_node(Graph& graph, std::string_view op, std::string name, std::vector<Output> inputs,
               std::string device, AttrList attrs, std::vector<Node*> after) {
  NodeOptions options;
  options.name = std::move(name);
  options.control_inputs = std::move(after);
  options.source = "model.py:7";
  options.exact_name = true;
  options.raw = true;
  options.device = std::move(device);
  std::ranges::sort(attrs, {}, [](const auto& a) -> const std::string& { return a.first; });
  return graph.add(op, inputs, std::move(attrs), std::move(options));
}

AttrValue groups(std::vector<std::string> names) {
  for (std::string& name : names) name = "loc:@" + name;
  return AttrValue(std::move(names));
}

Placed::Placed(std::vector<Node*> nodes, std::vector<DeviceInfo> devices,
               const KernelOracle& kernels, const PlacementOptions& options,
               std::vector<int> before, std::string_view placer, const CostSource* costs)
    : nodes_(std::move(nodes)),
      infos_(std::move(devices)),
      before_(std::move(before)),
      placement_(make_placer(placer)->place({nodes_, infos_, &kernels, options, before_, costs})) {}

std::optional<NodeCost> DrawnCosts::time(const Node& node, const DeviceInfo& device) const {
  const size_t drawn = std::hash<std::string>()(node.name() + device.name);
  if (drawn % 17 == 0) return std::nullopt;
  return NodeCost{static_cast<double>(drawn % 1000) * 1e-6, 1e-6, false};
}

double DrawnCosts::bytes(const Node& node, int output) const {
  return static_cast<double>(std::hash<std::string>()(node.name()) % 10'000 + output);
}

CostLink DrawnCosts::link(const DeviceInfo&, const DeviceInfo&) const { return {20e-6, 1e9}; }

std::string Placed::table() const { return placement_table(explain(), infos_); }

std::string Placed::log_text() const {
  return placement_log({.nodes = nodes_, .devices = infos_, .already_placed = before_},
                       devices());
}

const Placed& PlacingTest::run() {
  const std::vector<Node*> nodes = graph.nodes();
  std::vector<int> before;
  for (const Node* node : nodes) {
    const auto found = assigned.find(node->name());
    before.push_back(found == assigned.end() ? -1
                                             : assigned_device(*node, found->second, devices));
  }
  return placement.emplace(nodes, devices, kernels, options, before);
}

Error PlacingTest::error() {
  try {
    run();
  } catch (const Error& e) {
    return e;
  }
  ADD_FAILURE() << "placed, though it should not be:\n" << placement->table();
  return Error(Code::kOk, "");
}

size_t PlacingTest::index(std::string_view node) const {
  const std::vector<Node*> nodes = graph.nodes();
  const auto found = std::ranges::find(nodes, node, [](const Node* n) { return n->name(); });
  if (found == nodes.end()) throw internal_error(fmt::format("the test has no node '{}'", node));
  return static_cast<size_t>(found - nodes.begin());
}

std::string PlacingTest::full_at(std::string_view node) const {
  return placement->info(index(node)).name;
}

std::string PlacingTest::at(std::string_view node) const {
  return placement->info(index(node)).parsed.local_name();
}

std::string PlacingTest::type(std::string_view node) const {
  return placement->info(index(node)).type;
}

PlacedNode PlacingTest::why(std::string_view node) const { return placement->explain(index(node)); }

}  // namespace emplace::placement_test
