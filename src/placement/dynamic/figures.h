#pragma once
#include <memory>

#include "placement/dynamic/choose.h"
#include "placement/result.h"

namespace emplace::placement {

// Says with figures why a node is where it is: when it ends there, and when it would end elsewhere,
// all else left as it is.
class Figures final : public Explainer {
 public:
  Figures(std::shared_ptr<const Result> rules, StepCosts step, Choice choice);
  PlacedNode explain(size_t node) const override;

 private:
  struct Offer {
    int device;
    double end_s;
    double busy_till_s;  // 0: nobody is in its way
  };
  int heavy(int at) const;  // the node whose figures count: itself, or what it is there for
  std::vector<Offer> offers(int at) const;
  Offer offer(int at, int device, double seconds) const;
  double ready(int at, int device) const;
  std::string words(const Offer& o) const;
  std::string device_name(int device) const;

  const std::shared_ptr<const Result> rules_;
  const StepCosts step_;
  const Choice choice_;
  std::vector<std::vector<int>> inputs_;  // edges, by node of the cost graph
  std::vector<std::vector<int>> readers_;
  std::vector<std::vector<int>> on_;      // nodes of each device that take time, by start
  std::vector<double> seconds_;           // of each node where it is
};

}  // namespace emplace::placement
