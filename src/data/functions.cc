// Datasets that call a function for each element.
#include <fmt/format.h>

#include "base/stop_scope.h"
#include "data/kernels.h"
#include "data/parallel.h"
#include "data/stage_error.h"
#include "data/state.h"
#include "data/stage_error.h"

namespace emplace::data {
namespace {

class MapDataset final : public OverInput {
 public:
  MapDataset(Spec spec, DatasetPtr input, Captured f, bool keeps_number)
      : OverInput(std::move(spec), std::move(input)),
        f_(std::move(f)),
        keeps_number_(keeps_number) {}
  int64_t cardinality() const override { return keeps_number_ ? input_->cardinality() : kUnknown; }
  std::string stateful_op() const override { return f_.stateful_op(); }
  std::unique_ptr<Iterator> make_iterator(Caller& c) const override {
    if (c.pass.options().parallel_map.value_or(false) && f_.stateful_op().empty())
      return parallel_map(shared_from_this(), input_->iterator(c), c, f_);
    return std::make_unique<Over>(shared_from_this(), input_->iterator(c), f_, c);
  }

 private:
  class Over final : public OverIterator {
   public:
    Over(DatasetPtr self, std::unique_ptr<Iterator> input, const Captured& f, Caller& c)
        : OverIterator(std::move(self), std::move(input)), f_(f, c) {}
    bool next(Caller& c, Element& out) override {
      if (!input_->next(c, in_)) return false;
      const int64_t at = at_++;
      try {
        f_(c, in_, out);
      } catch (Error& e) {
        throw at_stage(std::move(e), *self_, at);
      }
      return true;
    }

   private:
    Captured::Call f_;
    Element in_;
    int64_t at_ = 0;
  };

  const Captured f_;
  const bool keeps_number_;
};

struct MakeMap {
  explicit MakeMap(const KernelInit& init)
      : f(init, "f", "other_arguments"), keeps(init.attr<bool>("preserve_cardinality")) {}
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    return std::make_shared<MapDataset>(spec, dataset_in(c.input(0)), f.captured(c), keeps);
  }
  FunctionArg f;
  bool keeps;
};

// Of filter and take_while: what happens at the first no?
enum class AtNo { kGoOn, kEnd };

template <AtNo kAtNo>
class FilterDataset final : public OverInput {
 public:
  FilterDataset(Spec spec, DatasetPtr input, Captured f)
      : OverInput(std::move(spec), std::move(input)), f_(std::move(f)) {}
  int64_t cardinality() const override { return kUnknown; }
  std::string stateful_op() const override { return f_.stateful_op(); }
  std::unique_ptr<Iterator> make_iterator(Caller& c) const override {
    if (kAtNo == AtNo::kGoOn && c.pass.options().parallel_filter.value_or(false) &&
        f_.stateful_op().empty())
      return parallel_filter(shared_from_this(), input_->iterator(c), c, f_);
    return std::make_unique<Over>(shared_from_this(), input_->iterator(c), f_, c);
  }

 private:
  class Over final : public OverIterator {
   public:
    Over(DatasetPtr self, std::unique_ptr<Iterator> input, const Captured& f, Caller& c)
        : OverIterator(std::move(self), std::move(input)), f_(f, c) {}
    bool next(Caller& c, Element& out) override {
      for (; input_; StopScope::attend()) {
        if (!input_->next(c, out)) break;
        if (yes(c, out)) return true;
        if (kAtNo == AtNo::kEnd) break;
      }
      input_.reset();
      return false;
    }

   private:
    bool yes(Caller& c, const Element& e) {
      const int64_t at = at_++;
      try {
        return f_.yes(c, e);
      } catch (Error& error) {
        throw at_stage(std::move(error), *self_, at);
      }
    }
    Captured::Call f_;
    int64_t at_ = 0;
  };

  const Captured f_;
};

template <AtNo kAtNo>
struct MakeFilter {
  explicit MakeFilter(const KernelInit& init) : f(init, "predicate", "other_arguments") {}
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    return std::make_shared<FilterDataset<kAtNo>>(spec, dataset_in(c.input(0)), f.captured(c));
  }
  FunctionArg f;
};

}  // namespace

void add_function_kernels(KernelList& rows) {
  add_row(rows, "MapDataset", dataset_kernel<MakeMap>);
  add_row(rows, "FilterDataset", dataset_kernel<MakeFilter<AtNo::kGoOn>>);
  add_row(rows, "TakeWhileDataset", dataset_kernel<MakeFilter<AtNo::kEnd>>);
}

}  // namespace emplace::data
