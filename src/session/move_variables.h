#pragma once
#include <memory>
#include <optional>
#include <string>

#include "device/device.h"
#include "emplace/graph.h"
#include "kernel/resources.h"

namespace emplace {

// A variable on its way to another device: copied, and then put in the place of the old one. No step
// and no plan may hold that.
struct MovingVariable {
  std::string container, name;
  std::shared_ptr<Variable> from, to;
  double bytes = 0;
};
// Null where the node stands for none, or for one that is there already. Throws ResourceExhausted.
std::optional<MovingVariable> copy_variable(const ResourceManager& resources, const Node& node,
                                            Device* to);
void put_in_place(ResourceManager& resources, const MovingVariable& moving);

// Whether the node stands for a variable.
bool is_variable(const Node& node);

}  // namespace emplace
