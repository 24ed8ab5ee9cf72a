// Datasets whose elements are made by several threads.
#include <fmt/format.h>

#include "data/kernels.h"
#include "data/parallel.h"
#include "data/rows.h"

namespace emplace::data {
namespace {

void check_calls(int64_t calls) {
  if (calls < 1 && calls != kAutotune)
    throw invalid_argument("num_parallel_calls must be greater than zero.");
}

// ---- Map and filter.

enum class Use { kMap, kFilter };

template <Use kUse>
class FunctionStage final : public ParallelStage {
 public:
  FunctionStage(DatasetPtr self, std::unique_ptr<Iterator> input, const Caller& c, Parallelism p,
                const Captured& f)
      : ParallelStage(std::move(self), std::move(input), c, p), f_(f) {}
  ~FunctionStage() override { stop(); }

 protected:
  std::unique_ptr<Worker> worker(Caller& c) override { return std::make_unique<Calls>(f_, c); }

 private:
  class Calls final : public Worker {
   public:
    Calls(const Captured& f, Caller& c) : f_(f, c) {}
    bool work(Caller& c, Element& in, Element& out) override {
      if (kUse == Use::kMap) return f_(c, in, out), true;
      if (!f_.yes(c, in)) return false;
      out = std::move(in);
      return true;
    }

   private:
    Captured::Call f_;
  };
  const Captured& f_;
};

template <Use kUse>
class FunctionDataset final : public OverInput {
 public:
  FunctionDataset(Spec spec, DatasetPtr input, Captured f, int64_t calls, std::string deterministic,
                  bool keeps_number)
      : OverInput(std::move(spec), std::move(input)),
        f_(std::move(f)),
        calls_(calls),
        deterministic_(std::move(deterministic)),
        keeps_number_(keeps_number) {}
  int64_t cardinality() const override { return keeps_number_ ? input_->cardinality() : kUnknown; }
  std::string stateful_op() const override { return f_.stateful_op(); }
  std::unique_ptr<Iterator> make_iterator(Caller& c) const override {
    const Parallelism p{calls_, in_order(deterministic_, c.pass.options())};
    return std::make_unique<FunctionStage<kUse>>(shared_from_this(), input_->iterator(c), c, p,
                                                 f_);
  }

 private:
  const Captured f_;
  const int64_t calls_;
  const std::string deterministic_;
  const bool keeps_number_;
};

// "sloppy" is how older versions said it.
std::string deterministic_of(const KernelInit& init) {
  if (const AttrValue* v = init.find("deterministic")) return v->as<std::string>();
  return init.find("sloppy") && init.attr<bool>("sloppy") ? "false" : "default";
}

template <Use kUse>
struct MakeFunctionDataset {
  explicit MakeFunctionDataset(const KernelInit& init)
      : f(init, kUse == Use::kMap ? "f" : "predicate", "other_arguments"),
        calls(init.input_index("num_parallel_calls")),
        deterministic(deterministic_of(init)),
        keeps(kUse == Use::kMap && init.attr<bool>("preserve_cardinality")) {}
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    const int64_t n = int_input(c, calls, "num_parallel_calls");
    check_calls(n);
    return std::make_shared<FunctionDataset<kUse>>(spec, dataset_in(c.input(0)), f.captured(c), n,
                                                   deterministic, keeps);
  }
  FunctionArg f;
  int calls;
  std::string deterministic;
  bool keeps;
};

// ---- Batches put together by several threads.

class BatchStage final : public ParallelStage {
 public:
  BatchStage(DatasetPtr self, std::unique_ptr<Iterator> input, const Caller& c, Parallelism p,
             int64_t size, bool drop)
      : ParallelStage(std::move(self), std::move(input), c, p), size_(size), drop_(drop) {}
  ~BatchStage() override { stop(); }

 protected:
  // The elements of a batch one behind the other.
  bool pull(Caller& c, Element& in) override {
    Element one;
    int64_t n = 0;
    while (n < size_ && !ended_ && input_->next(c, one)) {
      std::move(one.begin(), one.end(), std::back_inserter(in));
      ++n;
    }
    ended_ = n < size_;
    return n > 0 && !(drop_ && n < size_);
  }
  std::unique_ptr<Worker> worker(Caller&) override {
    return std::make_unique<Stack>(std::max<size_t>(1, self_->spec().types.size()), size_);
  }
  void save_more(StateWriter& w) override { w.put(int64_t{ended_}); }
  void restore_more(StateReader& r) override { ended_ = r.number() != 0; }

 private:
  class Stack final : public Worker {
   public:
    Stack(size_t width, int64_t size) : width_(width), size_(size) {}
    bool work(Caller& c, Element& in, Element& out) override {
      BatchBuilder batch(size_, c.pass);
      Element one(width_);
      for (size_t at = 0; at < in.size(); at += width_) {
        std::move(in.begin() + static_cast<int64_t>(at),
                  in.begin() + static_cast<int64_t>(at + width_), one.begin());
        batch.add(one);
      }
      out = batch.take();
      return true;
    }

   private:
    const size_t width_;
    const int64_t size_;
  };

  const int64_t size_;
  const bool drop_;
  bool ended_ = false;
};

class ParallelBatchDataset final : public OverInput {
 public:
  ParallelBatchDataset(Spec spec, DatasetPtr input, int64_t size, bool drop, int64_t calls,
                       std::string deterministic)
      : OverInput(std::move(spec), std::move(input)),
        size_(size),
        drop_(drop),
        calls_(calls),
        deterministic_(std::move(deterministic)) {}
  int64_t cardinality() const override {
    const int64_t n = input_->cardinality();
    return n < 0 ? n : n / size_ + (n % size_ != 0 && !drop_);
  }
  std::unique_ptr<Iterator> make_iterator(Caller& c) const override {
    const Parallelism p{calls_, in_order(deterministic_, c.pass.options())};
    return std::make_unique<BatchStage>(shared_from_this(), input_->iterator(c), c, p, size_,
                                        drop_);
  }

 private:
  const int64_t size_;
  const bool drop_;
  const int64_t calls_;
  const std::string deterministic_;
};

struct MakeParallelBatch {
  explicit MakeParallelBatch(const KernelInit& init) : deterministic(deterministic_of(init)) {}
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    const int64_t n = int_input(c, 1, "batch_size"), calls = int_input(c, 2, "num_parallel_calls");
    if (n <= 0) throw invalid_argument("Batch size must be greater than zero.");
    check_calls(calls);
    return std::make_shared<ParallelBatchDataset>(
        spec, dataset_in(c.input(0)), n, bool_input(c, 3, "drop_remainder"), calls, deterministic);
  }
  std::string deterministic;
};

// A parallel map, then batches.
struct MakeMapAndBatch {
  explicit MakeMapAndBatch(const KernelInit& init)
      : f(init, "f", "other_arguments"),
        first(f.last),
        keeps(init.attr<bool>("preserve_cardinality")) {}
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    const int64_t n = int_input(c, first, "batch_size");
    const int64_t calls = int_input(c, first + 1, "num_parallel_calls");
    if (n <= 0) throw invalid_argument("batch_size must be greater than zero.");
    check_calls(calls);
    Dataset::Spec mapped = spec;
    mapped.shapes.assign(spec.types.size(), Shape::unknown());
    auto map = std::make_shared<FunctionDataset<Use::kMap>>(
        std::move(mapped), dataset_in(c.input(0)), f.captured(c), calls, "default", keeps);
    return std::make_shared<ParallelBatchDataset>(
        spec, std::move(map), n, bool_input(c, first + 2, "drop_remainder"), 1, "default");
  }
  FunctionArg f;
  int first;
  bool keeps;
};

}  // namespace

std::unique_ptr<Iterator> parallel_map(DatasetPtr self, std::unique_ptr<Iterator> input, Caller& c,
                                       const Captured& f) {
  return std::make_unique<FunctionStage<Use::kMap>>(
      std::move(self), std::move(input), c,
      Parallelism{kAutotune, in_order("default", c.pass.options())}, f);
}

std::unique_ptr<Iterator> parallel_filter(DatasetPtr self, std::unique_ptr<Iterator> input,
                                          Caller& c, const Captured& f) {
  return std::make_unique<FunctionStage<Use::kFilter>>(
      std::move(self), std::move(input), c,
      Parallelism{kAutotune, in_order("default", c.pass.options())}, f);
}

std::unique_ptr<Iterator> parallel_batch(DatasetPtr self, std::unique_ptr<Iterator> input,
                                         Caller& c, int64_t size, bool drop) {
  return std::make_unique<BatchStage>(std::move(self), std::move(input), c,
                                      Parallelism{kAutotune, in_order("default", c.pass.options())},
                                      size, drop);
}

void add_parallel_kernels(KernelList& rows) {
  add_row(rows, "ParallelMapDataset", dataset_kernel<MakeFunctionDataset<Use::kMap>>);
  add_row(rows, "ParallelMapDatasetV2", dataset_kernel<MakeFunctionDataset<Use::kMap>>);
  add_row(rows, "ParallelFilterDataset", dataset_kernel<MakeFunctionDataset<Use::kFilter>>);
  add_row(rows, "ParallelBatchDataset", dataset_kernel<MakeParallelBatch>);
  add_row(rows, "MapAndBatchDataset", dataset_kernel<MakeMapAndBatch>);
}

}  // namespace emplace::data
