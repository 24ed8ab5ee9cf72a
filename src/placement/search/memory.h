#pragma once
#include <span>
#include <vector>

#include "placement/search/problem.h"

namespace emplace::planning {

// Bytes that each device holds under a placement of units.
class Memory {
 public:
  explicit Memory(const Problem& p) : p_(&p), used_(p.devices, 0) {}
  void take(int unit, int device) { used_[device] += p_->unit_memory[unit]; }
  void drop(int unit, int device) { used_[device] -= p_->unit_memory[unit]; }
  bool has_room(int unit, int device) const {
    return p_->fits(device, used_[device] + p_->unit_memory[unit]);
  }
  double free(int device) const { return p_->room[device] - used_[device]; }

 private:
  const Problem* p_;
  std::vector<double> used_;
};

// Devices of units that kernels, pins and memory allow, near `wish`: units leave devices that are
// too full for others with room. Throws ResourceExhausted where no way was found.
std::vector<int> make_fit(const Problem& p, std::vector<int> wish);

std::vector<int> to_units(const Problem& p, std::span<const int> where);
std::vector<int> to_nodes(const Problem& p, std::span<const int> unit_where);

}  // namespace emplace::planning
