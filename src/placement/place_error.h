#pragma once
#include <string>

#include "emplace/error.h"
#include "emplace/graph.h"

namespace emplace::placement {

class Colocation;
class Context;

std::string node_tag(const Node& node);        // "{{node x}}"
std::string colocation_tag(const Node& node);  // "{{colocation_node x}}"
std::string attr_text(const Node& node);       // "T=DT_FLOAT, N=2"

// An error with node, op and source filled in.
Error about(const Node& node, Code code, std::string message);
// An error about a node, ending in "[[{{node x}}]]".
Error attached(const Node& node, Code code, std::string message);
// The same ending in the node's definition, as TensorFlow 1 printed it.
Error attached_definition(const Node& node, Code code, std::string message);

// No device type that is present has a kernel for the node.
Error no_kernel(Context& context, const Node& node);
// No device can take the node's group: why, as the newest TensorFlow says it, but for a missing
// device and a missing kernel, which speak the words of its first versions.
Error no_device(Colocation& groups, int node);

// Everybody in a group, what they asked for and who can run them.
std::string debug_block(const Colocation& groups, int root);

}  // namespace emplace::placement
