#include "placement/rule_costs.h"

#include "op/shape_context.h"

namespace emplace {
namespace {

constexpr double kSpread = 0.5;  // of a guess: half of it
constexpr double kCardSpeed = 50, kCardLaunch = 5e-6;
constexpr double kDimension = 32;  // where it is not known

bool is_card(const DeviceInfo& d) {
  return d.type != "CPU" && d.description.find("Virtual") == std::string::npos;
}

}  // namespace

std::optional<NodeCost> RuleCosts::time(const Node& node, const DeviceInfo& device) const {
  if (!node.op().cost_rule) return std::nullopt;
  std::vector<Shape> in, out;
  std::vector<DType> types;
  for (const Output& i : node.inputs()) in.push_back(i.shape()), types.push_back(i.dtype());
  for (int o = 0; o < node.num_outputs(); ++o) out.push_back(node.output_shape(o));
  const double ns = node.op().cost_rule({in, out, types, node.attrs()});
  const double seconds = is_card(device) ? kCardLaunch + ns * 1e-9 / kCardSpeed : ns * 1e-9;
  return NodeCost{seconds, kSpread * seconds, false};
}

double RuleCosts::bytes(const Node& node, int output) const {
  const Shape& shape = node.output_shape(output);
  if (!is_plain(node.output_type(output))) return 8;
  double n = static_cast<double>(dtype_size(node.output_type(output)));
  if (!shape.has_rank()) return n * kDimension * kDimension;
  for (const int64_t d : shape) n *= d < 0 ? kDimension : static_cast<double>(d);
  return n;
}

CostLink RuleCosts::link(const DeviceInfo& from, const DeviceInfo& to) const {
  if (!from.parsed.same_address_space(to.parsed)) return {100e-6, 1e9};
  return is_card(from) || is_card(to) ? CostLink{10e-6, 10e9} : CostLink{5e-6, 5e9};
}

}  // namespace emplace
