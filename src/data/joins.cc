// Datasets made of several others.
#include "data/kernels.h"
#include "data/state.h"

namespace emplace::data {
namespace {

std::vector<const Dataset*> raw(const std::vector<DatasetPtr>& all) {
  std::vector<const Dataset*> list;
  for (const DatasetPtr& d : all) list.push_back(d.get());
  return list;
}

class ZipDataset final : public Dataset {
 public:
  ZipDataset(Spec spec, std::vector<DatasetPtr> inputs)
      : Dataset(std::move(spec)), inputs_(std::move(inputs)) {}
  int64_t cardinality() const override {
    int64_t least = kInfinite;
    for (const DatasetPtr& d : inputs_) {
      const int64_t n = d->cardinality();
      if (n == kUnknown) return kUnknown;
      if (n >= 0) least = least < 0 ? n : std::min(least, n);
    }
    return least;
  }
  Splits splits() const override { return Splits::kOfInputs; }
  std::vector<const Dataset*> inputs() const override { return raw(inputs_); }
  std::unique_ptr<Iterator> make_iterator(Caller& c) const override {
    return std::make_unique<Over>(shared_from_this(), inputs_, c);
  }

 private:
  class Over final : public Iterator {
   public:
    Over(DatasetPtr self, const std::vector<DatasetPtr>& inputs, Caller& c)
        : self_(std::move(self)) {
      for (const DatasetPtr& d : inputs) {
        Caller way = c.into(inputs_.size());
        inputs_.push_back(d->iterator(way));
      }
    }
    bool ready() const override {
      for (const auto& it : inputs_)
        if (!it->ready()) return false;
      return true;
    }
    // All of them move on, whatever becomes of one.
    bool next(Caller& c, Element& out) override {
      if (ended_) return false;
      out.clear();
      std::optional<Error> error;
      for (size_t i = 0; i < inputs_.size(); ++i) {
        Caller way = c.into(i);
        try {
          if (!inputs_[i]->next(way, part_)) {
            ended_ = true;
            break;
          }
          std::move(part_.begin(), part_.end(), std::back_inserter(out));
        } catch (const Error& e) {
          if (!error) error = e;
        }
      }
      if (ended_) return false;
      if (error) throw *error;
      return true;
    }
    void save(StateWriter& w) override {
      w.put(int64_t{ended_});
      for (const auto& it : inputs_) w.put(it);
    }
    void restore(Caller& c, StateReader& r) override {
      ended_ = r.number() != 0;
      for (size_t i = 0; i < inputs_.size(); ++i) {
        Caller way = c.into(i);
        r.number();
        inputs_[i]->restore(way, r);
      }
    }

   private:
    const DatasetPtr self_;
    std::vector<std::unique_ptr<Iterator>> inputs_;
    Element part_;
    bool ended_ = false;
  };

  const std::vector<DatasetPtr> inputs_;
};

struct MakeZip : NoState {
  using NoState::NoState;
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    std::vector<DatasetPtr> inputs;
    for (int i = 0; i < c.num_inputs(); ++i) inputs.push_back(dataset_in(c.input(i)));
    return std::make_shared<ZipDataset>(spec, std::move(inputs));
  }
};

class ConcatenateDataset final : public Dataset {
 public:
  ConcatenateDataset(Spec spec, std::vector<DatasetPtr> inputs)
      : Dataset(std::move(spec)), inputs_(std::move(inputs)) {}
  int64_t cardinality() const override {
    int64_t sum = 0;
    for (const DatasetPtr& d : inputs_) {
      const int64_t n = d->cardinality();
      if (n == kInfinite) return kInfinite;
      sum = n == kUnknown || sum == kUnknown ? kUnknown : sum + n;
    }
    return sum;
  }
  Splits splits() const override { return Splits::kOfInputs; }
  std::vector<const Dataset*> inputs() const override { return raw(inputs_); }
  std::unique_ptr<Iterator> make_iterator(Caller& c) const override {
    return std::make_unique<Over>(shared_from_this(), inputs_, c);
  }

 private:
  class Over final : public Iterator {
   public:
    Over(DatasetPtr self, const std::vector<DatasetPtr>& inputs, Caller& c)
        : self_(std::move(self)), inputs_(inputs) {
      open(c);
    }
    bool ready() const override { return !input_ || input_->ready(); }
    bool next(Caller& c, Element& out) override {
      while (input_) {
        Caller way = c.into(at_);
        if (input_->next(way, out)) return true;
        ++at_;
        open(c);
      }
      return false;
    }
    void save(StateWriter& w) override {
      w.put(static_cast<int64_t>(at_));
      w.put(input_);
    }
    void restore(Caller& c, StateReader& r) override {
      at_ = static_cast<size_t>(r.number());
      open(c);
      Caller way = c.into(at_);
      if (r.number() && input_) input_->restore(way, r);
    }

   private:
    void open(const Caller& c) {
      Caller way = c.into(at_);
      input_ = at_ < inputs_.size() ? inputs_[at_]->iterator(way) : nullptr;
    }

    const DatasetPtr self_;
    const std::vector<DatasetPtr>& inputs_;
    size_t at_ = 0;
    std::unique_ptr<Iterator> input_;
  };

  const std::vector<DatasetPtr> inputs_;
};

struct MakeConcatenate : NoState {
  using NoState::NoState;
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    std::vector<DatasetPtr> inputs{dataset_in(c.input(0)), dataset_in(c.input(1))};
    if (inputs[0]->spec().types != inputs[1]->spec().types)
      throw invalid_argument(
          "input dataset and dataset to concatenate have different output_types");
    return std::make_shared<ConcatenateDataset>(spec, std::move(inputs));
  }
};

}  // namespace

void add_join_kernels(KernelList& rows) {
  add_row(rows, "ZipDataset", dataset_kernel<MakeZip>);
  add_row(rows, "ConcatenateDataset", dataset_kernel<MakeConcatenate>);
}

}  // namespace emplace::data
