#pragma once
#include <string>
#include <vector>

#include "placement/result.h"

namespace emplace::placement {

// Says why a node is where it is, and why it is nowhere else. Made for one or many questions about
// one result; making it is linear in the nodes.
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
  std::span<const int> group(int node) const;

  const Result& r_;
  const Colocation& groups_;
  std::vector<int> begin_, members_;  // nodes by root
};

}  // namespace emplace::placement
