// Elements chosen from several datasets, random ones, and those that did not fail.
#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "base/log.h"
#include "base/stop_scope.h"
#include "data/kernels.h"
#include "data/seeds.h"
#include "data/state.h"

namespace emplace::data {
namespace {

// ---- A first dataset says which other one is next.

class DirectedDataset final : public Dataset {
 public:
  DirectedDataset(Spec spec, DatasetPtr selector, std::vector<DatasetPtr> choices, bool stops)
      : Dataset(std::move(spec)),
        selector_(std::move(selector)),
        choices_(std::move(choices)),
        stops_(stops) {}
  int64_t cardinality() const override {
    for (const DatasetPtr& d : choices_)
      if (d->cardinality() == kInfinite) return kInfinite;
    return kUnknown;
  }
  Splits splits() const override { return Splits::kOfAllButFirst; }  // each chooses for itself
  std::vector<const Dataset*> inputs() const override {
    std::vector<const Dataset*> all{selector_.get()};
    for (const DatasetPtr& d : choices_) all.push_back(d.get());
    return all;
  }
  std::unique_ptr<Iterator> make_iterator(Caller& c) const override {
    return std::make_unique<Over>(
        std::static_pointer_cast<const DirectedDataset>(shared_from_this()), c);
  }

 private:
  class Over final : public Iterator {
   public:
    Over(std::shared_ptr<const DirectedDataset> self, Caller& c)
        : self_(std::move(self)), selector_(self_->selector_->iterator(c)) {
      for (const DatasetPtr& d : self_->choices_) {
        Caller way = c.into(choices_.size());
        choices_.push_back(d->iterator(way));
      }
      left_ = static_cast<int64_t>(choices_.size());
    }
    bool next(Caller& c, Element& out) override {
      for (; selector_; StopScope::attend()) {
        if (!selector_->next(c, chosen_)) break;
        const int64_t k = chosen_.at(0).item<int64_t>();
        if (k < 0 || k >= static_cast<int64_t>(choices_.size()))
          throw invalid_argument(
              fmt::format("Selector index out of range: {} >= {}", k, choices_.size()));
        auto& it = choices_[static_cast<size_t>(k)];
        if (!it) continue;
        Caller way = c.into(static_cast<size_t>(k));
        if (it->next(way, out)) return true;
        it.reset();
        if (self_->stops_ || --left_ == 0) break;
      }
      selector_.reset();
      return false;
    }
    void save(StateWriter& w) override {
      w.put(selector_);
      for (const auto& it : choices_) w.put(it);
    }
    void restore(Caller& c, StateReader& r) override {
      if (r.number()) selector_->restore(c, r);
      else selector_.reset();
      for (size_t i = 0; i < choices_.size(); ++i) {
        Caller way = c.into(i);
        if (r.number()) choices_[i]->restore(way, r);
        else choices_[i].reset(), --left_;
      }
    }

   private:
    const std::shared_ptr<const DirectedDataset> self_;
    std::unique_ptr<Iterator> selector_;
    std::vector<std::unique_ptr<Iterator>> choices_;
    int64_t left_ = 0;
    Element chosen_;
  };

  const DatasetPtr selector_;
  const std::vector<DatasetPtr> choices_;
  const bool stops_;
};

struct MakeDirected {
  explicit MakeDirected(const KernelInit& init)
      : stops(init.find("stop_on_empty_dataset") && init.attr<bool>("stop_on_empty_dataset")) {}
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    std::vector<DatasetPtr> choices;
    for (int i = 1; i < c.num_inputs(); ++i) choices.push_back(dataset_in(c.input(i)));
    return std::make_shared<DirectedDataset>(spec, dataset_in(c.input(0)), std::move(choices),
                                             stops);
  }
  bool stops;
};

// ---- Random numbers.

class RandomDataset final : public Dataset {
 public:
  RandomDataset(Spec spec, std::shared_ptr<SeedGenerator> seeds)
      : Dataset(std::move(spec)), seeds_(std::move(seeds)) {}
  int64_t cardinality() const override { return kInfinite; }
  Splits splits() const override { return Splits::kSource; }
  std::unique_ptr<Iterator> make_iterator(Caller&) const override {
    return std::make_unique<Over>(seeds_->next());
  }

 private:
  class Over final : public Iterator {
   public:
    explicit Over(Seeds seeds) : seeds_(seeds), words_(seeds) {}
    bool next(Caller&, Element& out) override {
      out.assign(1, Tensor::scalar<int64_t>(words_()));
      return true;
    }
    void save(StateWriter& w) override {
      w.put(seeds_.first);
      w.put(seeds_.second);
      w.put(words_.count());
    }
    void restore(Caller&, StateReader& r) override {
      seeds_.first = r.number();
      seeds_.second = r.number();
      words_ = CountedWords(seeds_);
      words_.go_to(r.number());
    }

   private:
    Seeds seeds_;
    CountedWords words_;
  };
  const std::shared_ptr<SeedGenerator> seeds_;
};

struct MakeRandom {
  explicit MakeRandom(const KernelInit& init)
      : again(init.find("rerandomize_each_iteration") &&
              init.attr<bool>("rerandomize_each_iteration")) {}
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    std::shared_ptr<SeedGenerator> seeds;
    if (c.num_inputs() > 2) seeds = std::dynamic_pointer_cast<SeedGenerator>(c.handle(2).resource);
    if (!seeds)
      seeds = std::make_shared<SeedGenerator>(
          seeds_or_any(int_input(c, 0, "seed"), int_input(c, 1, "seed2")), again);
    return std::make_shared<RandomDataset>(spec, std::move(seeds));
  }
  bool again;
};

// ---- Elements that did not fail.

class IgnoreErrorsDataset final : public OverInput {
 public:
  IgnoreErrorsDataset(Spec spec, DatasetPtr input, bool warns)
      : OverInput(std::move(spec), std::move(input)), warns_(warns) {}
  int64_t cardinality() const override {
    const int64_t n = input_->cardinality();
    return n == kInfinite || n == 0 ? n : kUnknown;
  }
  std::unique_ptr<Iterator> make_iterator(Caller& c) const override {
    return std::make_unique<Over>(shared_from_this(), input_->iterator(c), warns_);
  }

 private:
  class Over final : public OverIterator {
   public:
    Over(DatasetPtr self, std::unique_ptr<Iterator> input, bool warns)
        : OverIterator(std::move(self), std::move(input)), warns_(warns) {}
    bool next(Caller& c, Element& out) override {
      for (;; StopScope::attend()) {
        try {
          return input_->next(c, out);
        } catch (const Error& e) {
          if (e.code() == Code::kCancelled || e.code() == Code::kDeadlineExceeded) throw;
          if (warns_) log_warning("Error raised with error message {}", e.what());
        }
      }
    }

   private:
    const bool warns_;
  };
  const bool warns_;
};

struct MakeIgnoreErrors {
  explicit MakeIgnoreErrors(const KernelInit& init) : warns(init.attr<bool>("log_warning")) {}
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    return std::make_shared<IgnoreErrorsDataset>(spec, dataset_in(c.input(0)), warns);
  }
  bool warns;
};

// ---- Pauses, for tests.

class SleepDataset final : public OverInput {
 public:
  SleepDataset(Spec spec, DatasetPtr input, int64_t us)
      : OverInput(std::move(spec), std::move(input)), us_(us) {}
  std::unique_ptr<Iterator> make_iterator(Caller& c) const override {
    return std::make_unique<Over>(shared_from_this(), input_->iterator(c), us_);
  }

 private:
  class Over final : public OverIterator {
   public:
    Over(DatasetPtr self, std::unique_ptr<Iterator> input, int64_t us)
        : OverIterator(std::move(self), std::move(input)), us_(us) {}
    bool next(Caller& c, Element& out) override {
      using Clock = std::chrono::steady_clock;
      const auto until = Clock::now() + std::chrono::microseconds(us_);
      std::mutex mutex;
      std::condition_variable never;
      std::unique_lock lock(mutex);
      c.wait_until(never, lock, until);
      return input_->next(c, out);
    }

   private:
    const int64_t us_;
  };
  const int64_t us_;
};

struct MakeSleep : NoState {
  using NoState::NoState;
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    return std::make_shared<SleepDataset>(spec, dataset_in(c.input(0)),
                                          int_input(c, 1, "sleep_microseconds"));
  }
};

}  // namespace

void add_mixing_kernels(KernelList& rows) {
  add_row(rows, "DirectedInterleaveDataset", dataset_kernel<MakeDirected>);
  add_row(rows, "ExperimentalDirectedInterleaveDataset", dataset_kernel<MakeDirected>);
  add_row(rows, "RandomDataset", dataset_kernel<MakeRandom>);
  add_row(rows, "RandomDatasetV2", dataset_kernel<MakeRandom>);
  add_row(rows, "IgnoreErrorsDataset", dataset_kernel<MakeIgnoreErrors>);
  add_row(rows, "SleepDataset", dataset_kernel<MakeSleep>);
}

}  // namespace emplace::data
