#include "data/dataset.h"

#include "data/splits.h"

namespace emplace::data {
namespace {

// An iterator that counts. Calls that take little are timed now and then.
class Counted final : public Iterator {
 public:
  Counted(std::unique_ptr<Iterator> it, StageCounts& counts)
      : it_(std::move(it)), counts_(counts) {}
  bool next(Caller& c, Element& out) override {
    if (++untimed_ < every_) return counted(it_->next(c, out));
    const Timed timed(*this);
    return counted(it_->next(c, out));
  }
  bool ready() const override { return it_->ready(); }
  void start() override { it_->start(); }
  void save(StateWriter& w) override { it_->save(w); }
  void restore(Caller& c, StateReader& r) override { it_->restore(c, r); }

 private:
  static constexpr int64_t kLittle = 2000, kSeldom = 16;

  struct Timed {
    explicit Timed(Counted& c) : counted(c) {}
    ~Timed() {
      const int64_t took = nanoseconds_since(begun);
      StageCounts::add(counted.counts_.inside, took * counted.untimed_);
      counted.untimed_ = 0;
      counted.every_ = took < kLittle ? kSeldom : 1;
    }
    Counted& counted;
    const Clock::time_point begun = Clock::now();
  };

  bool counted(bool some) {
    if (some) StageCounts::add(counts_.elements, 1);
    return some;
  }

  const std::unique_ptr<Iterator> it_;
  StageCounts& counts_;
  int64_t untimed_ = 0, every_ = 1;
};

}  // namespace

std::unique_ptr<Iterator> Dataset::iterator(Caller& c) const {
  for (const Dataset* input : inputs())
    if (!hands_on() && input->on_device())
      throw unimplemented(
          "Elements on a device can only be prefetched, taken, skipped and repeated: let "
          "copy_to_device or prefetch_to_device be the last stage, not come before " +
          spec().op);
  std::unique_ptr<Iterator> made = make_iterator(c);
  if (SplitSources* const splits = c.pass.splits()) made = splits->shared_out(*this, std::move(made));
  if (c.pass.options().warm_start) made->start();
  if (StageCounts* const counts = c.pass.counts_of(*this))
    return std::make_unique<Counted>(std::move(made), *counts);
  return made;
}

std::shared_ptr<const PipelineCounts> Dataset::last_counts() const {
  const std::lock_guard lock(mutex_);
  return last_counts_;
}

void Dataset::remember(std::shared_ptr<const PipelineCounts> counts) const {
  const std::lock_guard lock(mutex_);
  last_counts_ = std::move(counts);
}

DatasetPtr dataset_in(const Tensor& t) {
  if (t.dtype() != DType::kVariant || t.num_elements() != 1)
    throw invalid_argument("Dataset tensor must be a scalar of dtype DT_VARIANT.");
  auto d = std::dynamic_pointer_cast<const Dataset>(t.data<Variant>()->value);
  if (!d) throw invalid_argument("Tensor must be a Dataset object.");
  return d;
}

Tensor dataset_tensor(std::shared_ptr<Dataset> dataset) {
  Tensor t(DType::kVariant, Shape{});
  t.data<Variant>()->value = std::move(dataset);
  return t;
}

}  // namespace emplace::data
