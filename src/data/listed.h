#pragma once
#include <memory>
#include <vector>

#include "data/dataset.h"

namespace emplace::data {

// A dataset of elements that are there already.
class ListedDataset final : public Dataset {
 public:
  ListedDataset(Spec spec, std::vector<Element> elements)
      : Dataset(std::move(spec)), elements_(std::move(elements)) {}
  int64_t cardinality() const override { return static_cast<int64_t>(elements_.size()); }
  Splits splits() const override { return Splits::kSource; }
  std::unique_ptr<Iterator> make_iterator(Caller&) const override;
  const std::vector<Element>& elements() const { return elements_; }

 private:
  class Over;
  const std::vector<Element> elements_;
};

}  // namespace emplace::data
