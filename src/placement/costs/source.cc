#include "placement/costs/source.h"

#include <algorithm>

#include "emplace/error.h"
#include "op/shape_context.h"

namespace emplace {
namespace {

constexpr double kEstimateSpread = 0.5;  // of the estimate: about how far off they are
constexpr double kMostError = 4;          // that is taken over from one kind of device to another
constexpr double kStringBytes = 32;
constexpr double kHandleBytes = 64;
// Between devices that nobody has measured: over the host's memory, or a card's bus.
const CostLink kSharedMemory{5e-6, 1e13}, kBus{1e-5, 1e10}, kNetwork{1e-4, 1e9};

double element_bytes(DType type) {
  if (type == DType::kString) return kStringBytes;
  if (type == DType::kResource || type == DType::kVariant) return kHandleBytes;
  return static_cast<double>(dtype_size(type));
}

// Where outputs are open although the inputs were seen, the op's rule says what it can.
void infer(const Node& node, const std::vector<Shape>& inputs, std::vector<Shape>& outputs) {
  const auto known = [](const Shape& s) { return s.is_fully_known(); };
  if (!node.op().shape_rule || std::ranges::all_of(outputs, known)) return;
  std::vector<ShapeContext::Input> in(inputs.size());
  for (size_t i = 0; i < in.size(); ++i) {
    in[i].shape = inputs[i];
    in[i].dtype = node.inputs()[i].dtype();
  }
  try {
    ShapeContext c(node.op(), node.attrs(), in, node.num_outputs());
    node.op().shape_rule(c);
    for (size_t i = 0; i < outputs.size(); ++i)
      if (!known(outputs[i]) && known(c.output(int(i)))) outputs[i] = c.output(int(i));
  } catch (const Error&) {  // what was seen together does not fit any more
  }
}

}  // namespace

BookCosts::BookCosts(CostBook book, DeviceKinds kinds)
    : book_(std::move(book)), kinds_(std::move(kinds)) {
  for (const char* type : {"CPU", "GPU"}) guessed_.emplace(type, usual_rates(type));
}

std::string_view BookCosts::kind(const DeviceInfo& device) const {
  const auto it = kinds_.find(device.name);
  return it == kinds_.end() ? std::string_view(device.type) : std::string_view(it->second);
}

const DeviceRates& BookCosts::rates(const DeviceInfo& device) const {
  if (const DeviceRates* r = book_.rates(kind(device))) return *r;
  const auto guess = guessed_.find(device.type);
  return guess == guessed_.end() ? guessed_.at("CPU") : guess->second;
}

// Where the graph leaves something open, as it was last seen.
Shape BookCosts::shape(const Node& node, int output) const {
  const Shape& declared = node.output_shape(output);
  if (declared.is_fully_known()) return declared;
  const auto row = book_.last_seen(node.name());
  const std::vector<Shape> seen = row ? shapes_from(row->outputs) : std::vector<Shape>{};
  const auto i = static_cast<size_t>(output);
  return i < seen.size() && declared.compatible_with(seen[i]) ? seen[i] : declared;
}

BookCosts::Shapes BookCosts::shapes(const Node& node) const {
  Shapes s;
  for (const Output& in : node.inputs()) {
    s.inputs.push_back(shape(*in.node, in.index));
    s.known &= in.shape().is_fully_known();
  }
  for (int i = 0; i < node.num_outputs(); ++i) s.outputs.push_back(shape(node, i));
  infer(node, s.inputs, s.outputs);
  return s;
}

std::optional<NodeCost> BookCosts::time(const Node& node, const DeviceInfo& device) const {
  if (is_no_work(node)) return NodeCost{0, 0, true};
  const std::string_view where = kind(device);
  const Shapes s = shapes(node);
  const CostCall call = call_of(node, s.inputs);
  std::optional<Cost> known = book_.find_node(node.name(), where, &call);
  if (!known) known = book_.find_node(node.name(), where);  // as a part of another instruction
  if (!known) known = book_.find(call, where);
  if (known) return NodeCost{known->seconds, known->spread, true};
  const Work work = work_of(node, s.inputs, s.outputs);
  const double estimate = seconds(work, rates(device)) * error_elsewhere(node, call, work);
  return NodeCost{estimate, kEstimateSpread * estimate, false};
}

// How far off the estimate was where the node was measured: it is as far off on other kinds of devices,
// so that none looks better only because nothing ran there yet.
double BookCosts::error_elsewhere(const Node& node, const CostCall& call, const Work& work) const {
  const std::optional<CostRow> row = book_.last_seen(node.name());
  const DeviceRates* rates = row && row->call == call ? book_.rates(row->device) : nullptr;
  const double estimate = rates ? seconds(work, *rates) : 0;
  if (estimate <= 0 || row->cost.count == 0) return 1;
  return std::clamp(row->cost.seconds / estimate, 1 / kMostError, kMostError);
}

double BookCosts::bytes(const Node& node, int output) const {
  return CostContext::elements(shape(node, output)) * element_bytes(node.output_type(output));
}

CostLink BookCosts::link(const DeviceInfo& from, const DeviceInfo& to) const {
  if (from.name == to.name) return {0, kSharedMemory.bytes_per_s};
  if (const LinkRate* l = book_.link(kind(from), kind(to))) return {l->latency_s, l->bytes_per_s};
  if (!from.parsed.same_address_space(to.parsed)) return kNetwork;
  return from.type == "CPU" && to.type == "CPU" ? kSharedMemory : kBus;
}

}  // namespace emplace
