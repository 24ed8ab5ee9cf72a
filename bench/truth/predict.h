#pragma once
#include <string>
#include <vector>

#include "bench/truth/nets.h"
#include "emplace/plan.h"
#include "placement/cost_source.h"

namespace emplace::bench {

// A step of a net as a cost graph over the host and the devices that the net is placed on.
struct StepModel {
  CostGraph graph;
  std::vector<const Node*> node;  // by node of the graph; null: a feed's or fetch's end at the host
};

// `devices`: the host, then those that nodes may take.
StepModel step_model(const Net& net, const std::vector<DeviceInfo>& devices, const CostSource& costs);

// Seconds of a step with the net's nodes on these devices (by node id; 1: the first after the host).
double predicted(const StepModel& model, const std::vector<int>& device);

}  // namespace emplace::bench
