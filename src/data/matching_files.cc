// The names of files that match patterns.
#include "base/file.h"
#include "data/kernels.h"
#include "data/state.h"

namespace emplace::data {
namespace {

class MatchingFilesDataset final : public Dataset {
 public:
  MatchingFilesDataset(Spec spec, Tensor patterns)
      : Dataset(std::move(spec)), patterns_(std::move(patterns)) {}
  int64_t cardinality() const override { return kUnknown; }
  std::unique_ptr<Iterator> make_iterator(Caller&) const override {
    return std::make_unique<Over>(matching_files(patterns_.values<std::string>()));
  }

 private:
  class Over final : public Iterator {
   public:
    explicit Over(std::vector<std::string> names) : names_(std::move(names)) {}
    bool next(Caller&, Element& out) override {
      if (at_ == names_.size()) return false;
      out.assign(1, Tensor::string(names_[at_++]));
      return true;
    }
    void save(StateWriter& w) override {
      w.put(static_cast<int64_t>(at_));
      w.put(static_cast<int64_t>(names_.size()));
      for (const std::string& name : names_) w.put(name);
    }
    void restore(Caller&, StateReader& r) override {
      at_ = static_cast<size_t>(r.number());
      names_.resize(static_cast<size_t>(r.number()));
      for (std::string& name : names_) name = r.text();
    }

   private:
    std::vector<std::string> names_;
    size_t at_ = 0;
  };
  const Tensor patterns_;
};

struct MakeMatching : NoState {
  using NoState::NoState;
  std::shared_ptr<Dataset> make(Dataset::Spec spec, KernelContext& c) const {
    if (c.input(0).rank() > 1) throw invalid_argument("patterns must be a scalar or a vector.");
    spec.types = {DType::kString};
    spec.shapes = {Shape{}};
    return std::make_shared<MatchingFilesDataset>(std::move(spec), kept_input(c, 0));
  }
};

}  // namespace

void add_matching_kernels(KernelList& rows) {
  add_row(rows, "MatchingFilesDataset", dataset_kernel<MakeMatching>);
}

}  // namespace emplace::data
