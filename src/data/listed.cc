#include "data/listed.h"

#include "data/state.h"

namespace emplace::data {

class ListedDataset::Over final : public Iterator {
 public:
  explicit Over(std::shared_ptr<const ListedDataset> self) : self_(std::move(self)) {}
  bool next(Caller&, Element& out) override {
    if (at_ >= self_->elements_.size()) return false;
    out = self_->elements_[at_++];
    return true;
  }
  void save(StateWriter& w) override { w.put(static_cast<int64_t>(at_)); }
  void restore(Caller&, StateReader& r) override { at_ = static_cast<size_t>(r.number()); }

 private:
  const std::shared_ptr<const ListedDataset> self_;
  size_t at_ = 0;
};

std::unique_ptr<Iterator> ListedDataset::make_iterator(Caller&) const {
  return std::make_unique<Over>(std::static_pointer_cast<const ListedDataset>(shared_from_this()));
}

}  // namespace emplace::data
