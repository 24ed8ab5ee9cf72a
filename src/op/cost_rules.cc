// What calls do, for deciding where a node should go before anything has been measured.
#include <algorithm>
#include <cmath>

#include "emplace/error.h"
#include "op/einsum.h"
#include "op/shape_context.h"

namespace emplace {
namespace {

// Operations run in vectors, and on all cores; a step of a loop that does neither is worth so many.
constexpr double kTranscendentalOps = 10;  // an element
constexpr double kScanOps = 50, kCompareOps = 400;
constexpr double kRandomOps = 300;
constexpr double kNormalizedOps = 6;
constexpr double kOptimizerOps = 4;  // an element of each variable

double size_of(std::span<const DType> types, size_t i) {
  const DType t = i < types.size() ? types[i] : DType::kFloat;
  return t == DType::kResource || t == DType::kVariant ? 0 : static_cast<double>(dtype_size(t));
}

double bytes_of_all(std::span<const Shape> shapes, std::span<const DType> types) {
  double bytes = 0;
  for (size_t i = 0; i < shapes.size(); ++i)
    if (const double size = size_of(types, i); size > 0)
      bytes += CostContext::elements(shapes[i]) * size;
  return bytes;
}

}  // namespace

double CostContext::elements(const Shape& s) {
  if (!s.has_rank()) return kAssumedElements;
  double n = 1;
  for (int64_t d : s) n *= d < 0 ? kAssumedDim : static_cast<double>(d);
  return n;
}

double CostContext::dim(const Shape& s, int from_the_back) {
  if (!s.has_rank() || s.rank() < from_the_back) return kAssumedDim;
  const int64_t d = s[s.rank() - from_the_back];
  return d < 0 ? kAssumedDim : static_cast<double>(d);
}

double CostContext::bytes() const {
  return bytes_of_all(inputs, input_types) + bytes_of_all(outputs, output_types);
}

double CostContext::largest() const {
  double most = 1;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (size_of(input_types, i) > 0) most = std::max(most, elements(inputs[i]));
  for (const Shape& s : outputs) most = std::max(most, elements(s));
  return most;
}

bool CostContext::flag(std::string_view attr) const {
  const AttrValue* v = find_attr(attrs, attr);
  return v != nullptr && v->is<bool>() && v->as<bool>();
}

namespace cost_rules {

Work cheap(const CostContext&) { return {}; }

Work elementwise(const CostContext& c) { return {.ops = c.largest(), .bytes = c.bytes()}; }

Work transcendental(const CostContext& c) {
  return {.ops = c.largest() * kTranscendentalOps, .bytes = c.bytes()};
}

Work moved(const CostContext& c) {
  const double bytes = bytes_of_all(c.outputs, c.output_types);
  return {.ops = bytes / 4, .bytes = 2 * bytes};
}

Work updates(const CostContext& c) {
  if (c.inputs.empty()) return {};
  const double n = CostContext::elements(c.inputs.back());
  return {.ops = 2 * n, .bytes = 3 * n * size_of(c.input_types, c.inputs.size() - 1)};
}

Work optimizer(const CostContext& c) {
  const double n = c.largest();
  double variables = 0, size = 4;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const bool handle = i < c.input_types.size() && c.input_types[i] == DType::kResource;
    variables += handle || CostContext::elements(c.inputs[i]) == n;
    if (!handle) size = size_of(c.input_types, i);
  }
  variables = std::max(1.0, variables - 1);  // the last is the gradient
  return {.ops = kOptimizerOps * variables * n, .bytes = (2 * variables + 1) * n * size};
}

Work normalized(const CostContext& c) {
  if (c.inputs.empty()) return {};
  const double n = CostContext::elements(c.inputs[0]);
  return {.ops = kNormalizedOps * n, .bytes = c.bytes() + n * size_of(c.input_types, 0)};
}

Work pooled(const CostContext& c) {
  double window = 1;
  if (const AttrValue* v = find_attr(c.attrs, "ksize"); v && v->is<std::vector<int64_t>>())
    for (int64_t k : v->as<std::vector<int64_t>>()) window *= static_cast<double>(k);
  else
    window = 4;
  return {.ops = window * (c.outputs.empty() ? 1 : CostContext::elements(c.outputs[0])),
          .bytes = c.bytes()};
}

Work sorted(const CostContext& c) {
  if (c.inputs.empty() || c.outputs.empty()) return {};
  const double n = CostContext::elements(c.inputs[0]), kept = CostContext::elements(c.outputs[0]);
  return {.ops = kScanOps * n + kCompareOps * kept * std::log2(1 + CostContext::dim(c.outputs[0], 1)),
          .bytes = c.bytes()};
}

Work random(const CostContext& c) {
  const double bytes = bytes_of_all(c.outputs, c.output_types);
  return {.ops = kRandomOps * bytes / 4, .bytes = bytes};
}

// Columns are far apart: a line of the cache is read for each element, or more often than once.
Work transposed(const CostContext& c) { return {.ops = c.largest(), .bytes = 3 * c.bytes()}; }

// Elements of the result times the length of the inner dimension, two operations each.
Work matmul(const CostContext& c) {
  if (c.inputs.empty() || c.outputs.empty()) return {};
  const bool transposed = c.flag("transpose_a") || c.flag("adj_x");
  const double inner = CostContext::dim(c.inputs[0], transposed ? 2 : 1);
  return {.flops = 2 * CostContext::elements(c.outputs[0]) * inner, .bytes = c.bytes()};
}

// Every combination of labels is a product and a sum.
Work einsum(const CostContext& c) {
  const AttrValue* equation = find_attr(c.attrs, "equation");
  for (const Shape& s : c.inputs)
    if (!s.has_rank()) equation = nullptr;
  if (!equation) return elementwise(c);
  try {
    double products = 2;
    const std::vector<Shape> shapes(c.inputs.begin(), c.inputs.end());
    for (const auto& [label, size] : label_einsum(parse_einsum(equation->as<std::string>()), shapes).sizes)
      products *= size < 0 ? CostContext::kAssumedDim : static_cast<double>(size);
    return c.inputs.size() < 2 ? elementwise(c) : Work{.flops = products, .bytes = c.bytes()};
  } catch (const Error&) {  // its shape rule says so
    return elementwise(c);
  }
}

}  // namespace cost_rules
}  // namespace emplace
