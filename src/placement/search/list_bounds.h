#pragma once
#include <vector>

#include "placement/search/problem.h"

namespace emplace::planning {

// What no list schedule can beat, with either model of the links.
struct ListBounds {
  std::vector<double> head;  // by node: it can't start before
  std::vector<double> tail;  // by node: the step lasts at least that long after its end
  double value = 0;          // of the whole
};

ListBounds list_bounds(const Problem& p);

// Raises a bound by the work that must fall into some span of time, as Fernandez and Bussell do.
double energy_bound(const Problem& p, const ListBounds& b, double below);

}  // namespace emplace::planning
