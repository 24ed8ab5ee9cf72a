// What a call takes by its work and a device's rates, where nothing was measured.
#pragma once
#include <span>
#include <string>

#include "emplace/graph.h"
#include "emplace/op.h"
#include "emplace/plan.h"
#include "emplace/shape.h"

namespace emplace {

// Seconds of a call on a device of these rates: launching it, then computing or moving bytes,
// whichever is longer.
double seconds(const Work& work, const DeviceRates& rates);

// Rates of devices of a type that nobody has measured.
DeviceRates usual_rates(const std::string& device_type);

// What a call of the node does with inputs and outputs of these shapes.
Work work_of(const Node& node, std::span<const Shape> inputs, std::span<const Shape> outputs);

// The node's call with inputs of these shapes, as books name it.
CostCall call_of(const Node& node, std::span<const Shape> inputs);

// "float32[2,3] int32[]", and back. Texts that are malformed, or of another length, give nothing.
std::string shapes_text(std::span<const DType> types, std::span<const Shape> shapes);
std::vector<Shape> shapes_from(std::string_view text);

// Whether the node has no instruction of its own in any plan: values and handles.
bool is_no_work(const Node& node);

}  // namespace emplace
