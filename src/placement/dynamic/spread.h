#pragma once
#include <span>
#include <vector>

#include "placement/search/problem.h"

namespace emplace::placement {

// Variables and constants one after another, in the order in which they are used, to `devices`, so
// many bytes on each; what reads them goes where they are, the rest where its largest input is. What
// may not go there stays where `simple` has it. For networks that no device can hold alone.
std::vector<int> spread(const planning::Problem& p, const std::vector<int>& simple,
                        std::span<const int> devices, double bytes);

}  // namespace emplace::placement
