#pragma once
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "placement/cost_source.h"
#include "placement/costs/estimate.h"

namespace emplace {

// Which kind each device is of, by its full name. Devices that are not there are of the kind that
// their type names.
using DeviceKinds = std::map<std::string, std::string, std::less<>>;

// Costs from a book: of the node itself, else of calls like its own, else estimated from what the
// call does and the rates of the device's kind. Unknown shapes are those that were last seen; never
// seen: CostContext's guesses. Immutable: any thread may ask.
class BookCosts final : public CostSource {
 public:
  explicit BookCosts(CostBook book = {}, DeviceKinds kinds = {});

  std::optional<NodeCost> time(const Node& node, const DeviceInfo& device) const override;
  double bytes(const Node& node, int output) const override;
  CostLink link(const DeviceInfo& from, const DeviceInfo& to) const override;

  const CostBook& book() const { return book_; }

 private:
  struct Shapes {
    std::vector<Shape> inputs, outputs;
    bool known = true;  // by the graph itself
  };
  std::string_view kind(const DeviceInfo& device) const;
  Shapes shapes(const Node& node) const;
  Shape shape(const Node& node, int output) const;
  const DeviceRates& rates(const DeviceInfo& device) const;
  double error_elsewhere(const Node& node, const CostCall& call, const Work& work) const;

  const CostBook book_;
  const DeviceKinds kinds_;
  std::map<std::string, DeviceRates, std::less<>> guessed_;  // by type
};

}  // namespace emplace
