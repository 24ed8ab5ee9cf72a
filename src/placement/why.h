#pragma once
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "placement/result.h"

namespace emplace::placement {

// Says why a node is where it is, and why it is nowhere else. Made for one or many questions about
// one result; making it is linear in the nodes. Not thread-safe.
class Why {
 public:
  explicit Why(const Result& result);
  PlacedNode explain(int node) const;

 private:
  Reason reason(int node) const;
  std::string words(int node, Reason reason) const;
  std::string follows_consumer(int node) const;
  std::string default_words(int node) const;
  std::string soft_words(int node) const;
  std::string colocated_words(int node) const;
  std::string rejection(int node, int device, Reason reason) const;
  std::string beaten(int node, int device) const;

  bool meets(int spec, int device) const;
  bool runs_on(int node, int type) const;
  int companion(int node) const;  // the group's member to name as the cause; -1 if alone
  std::string no_kernel(int node, int type) const;
  int kernel_priority(int node, int type) const;
  // Members of the node's group that can serve as a cause: two of each sort, so that explaining a
  // large group stays linear. Found once a group.
  const std::vector<int>& notable(int node) const;
  std::vector<int> pick_notable(int node) const;

  const Result& r_;
  const Colocation& groups_;
  Consumers consumers_;
  std::vector<int> key_;              // a node of the same group, one for each group
  std::vector<int> begin_, members_;  // the groups' nodes, by key
  mutable std::unordered_map<int, std::vector<int>> notable_;  // by key
};

}  // namespace emplace::placement
