#include "data/splits.h"

#include <fmt/format.h>

#include "base/stop_scope.h"
#include "data/state.h"

namespace emplace::data {

// Leaves out what others have.
class SplitSources::Share final : public Iterator {
 public:
  Share(std::unique_ptr<Iterator> all, SplitProvider& provider, int source, int64_t round)
      : all_(std::move(all)), provider_(provider), source_(source), round_(round) {}
  bool next(Caller& c, Element& out) override {
    if (!all_) return false;
    const int64_t wanted = provider_.next(c, source_, round_);
    for (; at_ <= wanted; ++at_, StopScope::attend())
      if (!all_->next(c, out)) {
        all_.reset();
        return false;
      }
    return true;
  }
  bool ready() const override { return !all_; }
  void save(StateWriter&) override {
    throw unimplemented(
        "Where an iterator is that shares its elements with others can't be saved.");
  }
  void restore(Caller&, StateReader&) override {}

 private:
  std::unique_ptr<Iterator> all_;  // null: at its end
  SplitProvider& provider_;
  const int source_;
  const int64_t round_;
  int64_t at_ = 0;  // of the element that `all_` gives next
};

SplitSources::SplitSources(const Dataset& root, std::shared_ptr<SplitProvider> provider)
    : provider_(std::move(provider)) {
  find(root);
}

void SplitSources::find(const Dataset& d) {
  const auto inputs = d.inputs();
  if (d.splits() == Splits::kSource) {
    const int number = static_cast<int>(sources_.size());
    sources_[&d].number = number;
  } else if (inputs.empty()) {
    throw unimplemented(
        fmt::format("Cannot create split providers for dataset of type {}, because the dataset "
                    "implements neither "
                    "`InputDatasets` nor `MakeSplitProvider`.",
                    d.spec().op));
  } else if (inputs.size() > 1 && d.splits() == Splits::kNone) {
    throw unimplemented(
        fmt::format("Cannot create split providers for dataset of type {}, because the dataset is "
                    "not unary (instead having arity "
                    "{}), and no custom implementation of `MakeSplitProvider` is defined.",
                    d.spec().op, inputs.size()));
  }
  for (size_t i = d.splits() == Splits::kOfAllButFirst ? 1 : 0; i < inputs.size(); ++i)
    find(*inputs[i]);
}

std::unique_ptr<Iterator> SplitSources::shared_out(const Dataset& d, std::unique_ptr<Iterator> it) {
  const auto found = sources_.find(&d);
  if (found == sources_.end()) return it;
  Source& s = found->second;
  return std::make_unique<Share>(std::move(it), *provider_, s.number, s.rounds++);
}

}  // namespace emplace::data
