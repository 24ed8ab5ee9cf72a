#include "graph/known_value.h"

#include <algorithm>

#include "graph/fold_rules.h"
#include "op/op_def.h"

namespace emplace {
namespace {

bool is_followed(DType t) {
  return t == DType::kInt32 || t == DType::kInt64 || t == DType::kBool;
}

const Tensor* const_tensor(const Node& node) {
  if (node.type() != "Const") return nullptr;
  const AttrValue* value = node.attr("value");
  return value != nullptr && value->is<Tensor>() ? &value->as<Tensor>() : nullptr;
}

std::optional<KnownValue> from_tensor(const Tensor& t) {
  const auto n = static_cast<size_t>(t.num_elements());
  if (!is_followed(t.dtype()) || t.rank() > 1 || n > KnownValue::kMaxElements) return std::nullopt;
  KnownValue out{t.dtype(), t.rank() == 0, {}};
  if (t.dtype() == DType::kInt32) out.values.assign(t.data<int32_t>(), t.data<int32_t>() + n);
  else if (t.dtype() == DType::kBool) out.values.assign(t.data<bool>(), t.data<bool>() + n);
  else out.values.assign(t.data<int64_t>(), t.data<int64_t>() + n);
  return out;
}

// A whole number turned into a floating-point one: Range takes such.
std::optional<Tensor> cast_number(const Node& node) {
  const DType to = node.output_type(0);
  if (node.type() != "Cast" || (to != DType::kFloat && to != DType::kDouble)) return std::nullopt;
  const auto from = known_value(node.inputs()[0]);
  if (!from || !from->is_complete() || !from->is_scalar) return std::nullopt;
  Tensor t(to, Shape());
  if (to == DType::kFloat) t.data<float>()[0] = static_cast<float>(from->values[0]);
  else t.data<double>()[0] = static_cast<double>(from->values[0]);
  return t;
}

}  // namespace

bool KnownValue::is_complete() const {
  return dtype != DType::kInvalid && std::ranges::find(values, kUnknown) == values.end();
}

Tensor KnownValue::tensor() const {
  Tensor t(dtype, is_scalar ? Shape() : Shape({static_cast<int64_t>(values.size())}));
  for (size_t i = 0; i < values.size(); ++i) {
    if (dtype == DType::kInt32) t.data<int32_t>()[i] = static_cast<int32_t>(values[i]);
    else if (dtype == DType::kBool) t.data<bool>()[i] = values[i] != 0;
    else t.data<int64_t>()[i] = values[i];
  }
  return t;
}

Shape KnownValue::as_shape() const {
  if (is_scalar || values.size() > Shape::kMaxRank) return Shape::unknown();
  Shape out;
  for (int64_t v : values) out.push_back(v < 0 ? Shape::kUnknown : v);
  return out;
}

std::optional<KnownValue> known_value(const Output& output) {
  if (const Tensor* t = const_tensor(*output.node)) return from_tensor(*t);
  const KnownValue* known = output.node->known_value(output.index);
  return known == nullptr ? std::nullopt : std::optional(*known);
}

std::optional<Tensor> constant_value(const Output& output) {
  if (const Tensor* t = const_tensor(*output.node)) return *t;
  const KnownValue* known = output.node->known_value(output.index);
  if (known == nullptr) return cast_number(*output.node);
  if (!known->is_complete()) return std::nullopt;
  return known->tensor();
}

std::vector<KnownValue> fold(const Node& node) {
  if (node.num_outputs() == 0 || !is_followed(node.output_type(0)) || node.output_is_ref(0)) return {};
  const FoldRule rule = find_fold_rule(node.type());
  if (rule == nullptr) return {};
  std::vector<KnownValue> out(static_cast<size_t>(node.num_outputs()), {DType::kInvalid, false, {}});
  const FoldContext c{node, out};
  rule(c);
  const auto useless = [](const KnownValue& v) {
    return v.dtype == DType::kInvalid ||
           (!v.values.empty() && std::ranges::all_of(v.values, [](int64_t x) {
             return x == KnownValue::kUnknown;
           }));
  };
  if (std::ranges::all_of(out, useless)) return {};
  return out;
}

}  // namespace emplace
