#include "placement/costs/estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_set>

#include "op/shape_context.h"

namespace emplace {
namespace {

constexpr size_t kLongestAttrs = 200;

// Between two sizes that were measured, by the logarithm of the size.
double rate_at(std::span<const DeviceRates::Rate> known, double size, double otherwise) {
  if (known.empty()) return otherwise;
  if (size <= known.front().size) return known.front().per_s;
  for (size_t i = 1; i < known.size(); ++i) {
    const auto &a = known[i - 1], &b = known[i];
    if (size > b.size) continue;
    const double part = std::log(size / a.size) / std::log(b.size / a.size);
    return std::exp(std::log(a.per_s) * (1 - part) + std::log(b.per_s) * part);
  }
  return known.back().per_s;
}

std::vector<DType> types_of(const Node& node, bool inputs) {
  std::vector<DType> types;
  if (inputs)
    for (const Output& in : node.inputs()) types.push_back(in.dtype());
  else
    for (int i = 0; i < node.num_outputs(); ++i) types.push_back(node.output_type(i));
  return types;
}

// Follows from the inputs, names something, or only seeds: no matter for the time.
bool is_idle_attr(const OpDef& op, const std::string& name) {
  static const std::unordered_set<std::string> kIdle = {
      "container", "shared_name", "debug_name", "allowed_devices", "seed", "seed2", "name"};
  if (name.empty() || name[0] == '_' || kIdle.contains(name)) return true;
  return std::ranges::any_of(op.inputs, [&](const ArgDef& a) {
    return a.type_attr == name || a.number_attr == name || a.type_list_attr == name;
  });
}

std::string text_of(const AttrValue& value) {
  if (value.is<Tensor>()) {
    const Tensor& t = value.as<Tensor>();
    return fmt::format("{}{}", dtype_name(t.dtype()), t.shape().str());
  }
  if (value.is<FunctionName>()) return value.as<FunctionName>().name;
  return value.str();
}

std::string attrs_text(const Node& node) {
  std::string text;
  for (const auto& [name, value] : node.attrs()) {
    if (is_idle_attr(node.op(), name)) continue;
    if (!text.empty()) text += ' ';
    text += name + '=' + text_of(value);
  }
  if (text.size() <= kLongestAttrs) return text;
  return fmt::format("{}…{:x}", text.substr(0, kLongestAttrs), std::hash<std::string>{}(text));
}

}  // namespace

double seconds(const Work& work, const DeviceRates& rates) {
  double computing = 0;
  if (work.flops > 0)
    computing += work.flops / rate_at(rates.products, work.flops / std::max(1.0, work.pieces),
                                      rates.ops_per_s);
  if (work.ops > 0) computing += work.ops / rates.ops_per_s;
  const double moving = work.bytes / rate_at(rates.moves, work.bytes, 4 * rates.ops_per_s);
  return rates.launch_s + std::max(computing, moving);
}

DeviceRates usual_rates(const std::string& device_type) {
  if (device_type == "GPU")
    return {device_type, 4e-6, 1e12, {{1e6, 1e11}, {1e9, 1e13}}, {{1e6, 1e12}}};
  return {device_type, 5e-7, 1e10, {{1e4, 2e9}, {1e8, 5e10}}, {{1e6, 5e10}, {1e8, 1e10}}};
}

Work work_of(const Node& node, std::span<const Shape> inputs, std::span<const Shape> outputs) {
  if (is_no_work(node) || !node.op().cost_rule) return {};
  const std::vector<DType> in = types_of(node, true), out = types_of(node, false);
  return node.op().cost_rule({inputs, outputs, in, out, node.attrs()});
}

CostCall call_of(const Node& node, std::span<const Shape> inputs) {
  return {node.type(), attrs_text(node), shapes_text(types_of(node, true), inputs)};
}

std::string shapes_text(std::span<const DType> types, std::span<const Shape> shapes) {
  std::string text;
  for (size_t i = 0; i < types.size() && i < shapes.size(); ++i)
    text += fmt::format("{}{}{}", i ? " " : "", dtype_name(types[i]), shapes[i].str());
  return text;
}

std::vector<Shape> shapes_from(std::string_view text) {
  std::vector<Shape> shapes;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view one = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t open = one.find('[');
    if (open == std::string_view::npos || one.back() != ']') {
      shapes.push_back(Shape::unknown());
      continue;
    }
    std::vector<int64_t> dims;
    for (const char *at = one.data() + open + 1, *last = one.data() + one.size() - 1; at < last;) {
      int64_t dim = Shape::kUnknown;
      at = *at == '?' ? at + 1 : std::from_chars(at, last, dim).ptr;
      if (at < last && *at != ',') return {};
      dims.push_back(dim < 0 ? Shape::kUnknown : dim);
      ++at;
    }
    shapes.emplace_back(std::span<const int64_t>(dims));
  }
  return shapes;
}

bool is_no_work(const Node& node) {
  static const std::unordered_set<std::string> kNone = {
      "Const", "Placeholder", "PlaceholderV2", "VarHandleOp", "Variable", "VariableV2", "NoOp",
      "_Arg", "_Retval"};
  return kNone.contains(node.type());
}

}  // namespace emplace
