// Datasets with some of another's elements, or the same ones again.
#include <fmt/format.h>

#include "base/stop_scope.h"
#include "data/kernels.h"
#include "data/state.h"

namespace emplace::data {
namespace {

// ---- Repeat.

class RepeatDataset final : public OverInput {
 public:
  RepeatDataset(Spec spec, DatasetPtr input, int64_t count)
      : OverInput(std::move(spec), std::move(input)), count_(count) {}
  int64_t cardinality() const override {
    const int64_t n = input_->cardinality();
    if (count_ == 0 || n == 0) return 0;
    if (count_ < 0) return kInfinite;
    return n < 0 ? n : n * count_;
  }
  bool hands_on() const override { return true; }
  std::unique_ptr<Iterator> make_iterator(Caller& c) const override {
    if (count_ == 1) return input_->iterator(c);
    return std::make_unique<Over>(shared_from_this(), count_ == 0 ? nullptr : input_->iterator(c),
                                  *input_, count_);
  }

 private:
  class Over final : public OverIterator {
   public:
    Over(DatasetPtr self, std::unique_ptr<Iterator> input, const Dataset& of, int64_t count)
        : OverIterator(std::move(self), std::move(input)), of_(of), count_(count) {}
    bool next(Caller& c, Element& out) override {
      for (; input_; StopScope::attend()) {
        if (input_->next(c, out)) return some_ = true;
        ++rounds_;
        const bool empty = !some_ && count_ < 0;  // it will be so every time
        input_ = empty || (count_ > 0 && rounds_ >= count_) ? nullptr : of_.iterator(c);
        some_ = false;
      }
      return false;
    }
    void save(StateWriter& w) override {
      w.put(rounds_);
      w.put(int64_t{some_});
      OverIterator::save(w);
    }
    void restore(Caller& c, StateReader& r) override {
      rounds_ = r.number();
      some_ = r.number() != 0;
      if (input_ && rounds_ > 0) input_ = of_.iterator(c);
      OverIterator::restore(c, r);
    }

   private:
    const Dataset& of_;
    const int64_t count_;
    int64_t rounds_ = 0;
    bool some_ = false;
  };

  const int64_t count_;
};

// ---- A range of another's elements: from `skip`, at most `take`, every `step`th.

class SomeDataset final : public OverInput {
 public:
  struct Which {
    int64_t skip = 0, take = -1, step = 1;
    bool must_be_some = false;
  };
  SomeDataset(Spec spec, DatasetPtr input, Which which)
      : OverInput(std::move(spec), std::move(input)), which_(which) {}
  int64_t cardinality() const override {
    const int64_t n = input_->cardinality();
    if (n < 0) return n == kInfinite && which_.take >= 0 ? which_.take : n;
    const int64_t rest = std::max<int64_t>(0, n - which_.skip);
    const int64_t some = (rest + which_.step - 1) / which_.step;
    return which_.take < 0 ? some : std::min(some, which_.take);
  }
  bool hands_on() const override { return true; }
  std::unique_ptr<Iterator> make_iterator(Caller& c) const override {
    if (which_.skip == 0 && which_.take < 0 && which_.step == 1 && !which_.must_be_some)
      return input_->iterator(c);
    return std::make_unique<Over>(shared_from_this(),
                                  which_.take == 0 ? nullptr : input_->iterator(c), which_);
  }

 private:
  class Over final : public OverIterator {
   public:
    Over(DatasetPtr self, std::unique_ptr<Iterator> input, Which which)
        : OverIterator(std::move(self), std::move(input)), which_(which), ahead_(which.skip) {}
    bool next(Caller& c, Element& out) override {
      if (!input_) return false;
      for (; ahead_ > 0; --ahead_) {
        StopScope::attend();
        if (!input_->next(c, out)) return end();
      }
      if (which_.take >= 0 && given_ >= which_.take) return end();
      if (!input_->next(c, out)) return end();
      ++given_;
      ahead_ = which_.step - 1;
      return true;
    }
    void save(StateWriter& w) override {
      w.put(given_);
      w.put(ahead_);
      OverIterator::save(w);
    }
    void restore(Caller& c, StateReader& r) override {
      given_ = r.number();
      ahead_ = r.number();
      OverIterator::restore(c, r);
    }

   private:
    bool end() {
      input_.reset();
      if (which_.must_be_some && given_ == 0)
        throw invalid_argument(
            "Could not apply FILE based sharding: the dataset only has fewer "
            "elements than there are shards, so this one is empty.");
      return false;
    }
    const Which which_;
    int64_t given_ = 0, ahead_;
  };

  const Which which_;
};

struct MakeRepeat : NoState {
  using NoState::NoState;
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    return std::make_shared<RepeatDataset>(spec, dataset_in(c.input(0)), int_input(c, 1, "count"));
  }
};

struct MakeTake : NoState {
  using NoState::NoState;
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    const int64_t n = int_input(c, 1, "count");
    return std::make_shared<SomeDataset>(spec, dataset_in(c.input(0)),
                                         SomeDataset::Which{.take = std::max<int64_t>(n, -1)});
  }
};

struct MakeSkip : NoState {
  using NoState::NoState;
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    const int64_t n = int_input(c, 1, "count");
    const SomeDataset::Which which{.skip = std::max<int64_t>(n, 0), .take = n < 0 ? 0 : -1};
    return std::make_shared<SomeDataset>(spec, dataset_in(c.input(0)), which);
  }
};

// Stands where auto-sharding is to put a share (shard(SHARD_HINT, SHARD_HINT)).
class HintedShardDataset final : public OverInput {
 public:
  using OverInput::OverInput;
  int64_t cardinality() const override { return kUnknown; }
  std::unique_ptr<Iterator> make_iterator(Caller&) const override {
    throw failed_precondition(
        "`tf.data.Dataset.shard(SHARD_HINT, ...)` can only be used where the policy of auto-sharding is HINT: by a "
        "strategy's `experimental_distribute_dataset()` (AutoShardPolicy.HINT), or by tf.data service "
        "(ShardingPolicy.HINT).");
  }
};

struct MakeShard {
  static constexpr int64_t kHint = -1;
  explicit MakeShard(const KernelInit& init) : some(init.attr<bool>("require_non_empty")) {}
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    const int64_t n = int_input(c, 1, "num_shards"), index = int_input(c, 2, "index");
    if (n == kHint && index == kHint)
      return std::make_shared<HintedShardDataset>(spec, dataset_in(c.input(0)));
    if (n < 1)
      throw invalid_argument(fmt::format(
          "Number of shards must be greater than zero (currently num_shards = {}).", n));
    if (index < 0 || index >= n)
      throw invalid_argument(
          fmt::format("Index must be between 0 and {} (currently index = {}).", n - 1, index));
    return std::make_shared<SomeDataset>(
        spec, dataset_in(c.input(0)),
        SomeDataset::Which{.skip = index, .step = n, .must_be_some = some});
  }
  bool some;
};

}  // namespace

void add_count_kernels(KernelList& rows) {
  add_row(rows, "RepeatDataset", dataset_kernel<MakeRepeat>);
  add_row(rows, "TakeDataset", dataset_kernel<MakeTake>);
  add_row(rows, "SkipDataset", dataset_kernel<MakeSkip>);
  add_row(rows, "ShardDataset", dataset_kernel<MakeShard>);
}

}  // namespace emplace::data
