// Elements stacked to batches.
#include <fmt/format.h>

#include "base/stop_scope.h"
#include "data/kernels.h"
#include "data/parallel.h"
#include "data/rows.h"
#include "data/state.h"

namespace emplace::data {
namespace {

class BatchDataset final : public OverInput {
 public:
  BatchDataset(Spec spec, DatasetPtr input, int64_t size, bool drop)
      : OverInput(std::move(spec), std::move(input)), size_(size), drop_(drop) {}
  int64_t cardinality() const override {
    const int64_t n = input_->cardinality();
    return n < 0 ? n : n / size_ + (n % size_ != 0 && !drop_);
  }
  std::unique_ptr<Iterator> make_iterator(Caller& c) const override {
    if (c.pass.options().parallel_batch.value_or(false))
      return emplace::data::parallel_batch(shared_from_this(), input_->iterator(c), c, size_,
                                           drop_);
    return std::make_unique<Over>(shared_from_this(), input_->iterator(c), size_, drop_, c.pass);
  }

 private:
  class Over final : public OverIterator {
   public:
    Over(DatasetPtr self, std::unique_ptr<Iterator> input, int64_t size, bool drop,
         const Pass& pass)
        : OverIterator(std::move(self), std::move(input)),
          size_(size),
          drop_(drop),
          batch_(size, pass) {}
    bool next(Caller& c, Element& out) override {
      if (!input_) return false;
      batch_.clear();
      std::optional<Error> misfit;  // the rest of its batch goes with it
      int64_t n = 0;
      while (n < size_) {
        if (!input_->next(c, in_)) {
          input_.reset();
          break;
        }
        ++n;
        if (misfit) continue;
        try {
          batch_.add(in_);
        } catch (const Error& e) {
          misfit = e;
        }
        if (n % 64 == 0) StopScope::attend();
      }
      in_.clear();
      if (misfit) throw *misfit;
      if (n == 0 || (drop_ && n < size_)) return false;
      out = batch_.take();
      return true;
    }

   private:
    const int64_t size_;
    const bool drop_;
    BatchBuilder batch_;
    Element in_;
  };

  const int64_t size_;
  const bool drop_;
};

struct MakeBatch {
  explicit MakeBatch(const KernelInit& init) : drops(init.op->name != "BatchDataset") {}
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    const int64_t n = int_input(c, 1, "batch_size");
    if (n <= 0) throw invalid_argument("Batch size must be greater than zero.");
    const bool drop = drops && bool_input(c, 2, "drop_remainder");
    return std::make_shared<BatchDataset>(spec, dataset_in(c.input(0)), n, drop);
  }
  bool drops;
};

}  // namespace

void add_batch_kernels(KernelList& rows) {
  add_row(rows, "BatchDataset", dataset_kernel<MakeBatch>);
  add_row(rows, "BatchDatasetV2", dataset_kernel<MakeBatch>);
}

}  // namespace emplace::data
