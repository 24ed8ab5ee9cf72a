// Rough costs in nanoseconds on one core, for deciding what is worth another thread and where a
// node should go before anything has been measured.
#include <algorithm>

#include "op/shape_context.h"

namespace emplace::cost_rules {
namespace {

constexpr double kCall = 50;               // a kernel's fixed part
constexpr int64_t kAssumedElements = 1024;  // where a shape is not known
constexpr double kBytesPerNs = 8;
constexpr double kTranscendentalNs = 2;    // an element
constexpr double kFlopsPerNs = 30;

double elements(const Shape& s) {
  if (!s.has_rank()) return kAssumedElements;
  double n = 1;
  for (int64_t d : s) n *= static_cast<double>(d < 0 ? 32 : d);
  return n;
}

double largest(const CostContext& c) {
  double most = 1;
  for (const Shape& s : c.inputs) most = std::max(most, elements(s));
  for (const Shape& s : c.outputs) most = std::max(most, elements(s));
  return most;
}

double element_bytes(const CostContext& c) {
  return c.input_types.empty() ? 4 : static_cast<double>(dtype_size(c.input_types[0]));
}

bool flag(const CostContext& c, std::string_view name) {
  const AttrValue* v = find_attr(c.attrs, name);
  return v != nullptr && v->is<bool>() && v->as<bool>();
}

}  // namespace

double cheap(const CostContext&) { return kCall; }

double elementwise(const CostContext& c) {
  return kCall + largest(c) * element_bytes(c) / kBytesPerNs;
}

double transcendental(const CostContext& c) { return kCall + largest(c) * kTranscendentalNs; }

// Elements of the result times the length of the inner dimension, two operations each.
double matmul(const CostContext& c) {
  if (c.inputs.empty() || c.outputs.empty()) return kCall;
  const Shape& a = c.inputs[0];
  double inner = 32;
  if (a.rank() >= 2) {
    const bool transposed = flag(c, "transpose_a") || flag(c, "adj_x");
    const int64_t dim = a[a.rank() - (transposed ? 2 : 1)];
    if (dim >= 0) inner = static_cast<double>(dim);
  }
  return kCall + 2 * elements(c.outputs[0]) * inner / kFlopsPerNs;
}

}  // namespace emplace::cost_rules
