// Elements that are there already; those with one key folded into a state.
#include <map>

#include "base/stop_scope.h"
#include "data/kernels.h"
#include "data/listed.h"
#include "data/stage_error.h"
#include "data/state.h"

namespace emplace::data {
namespace {

struct MakeList : NoState {
  using NoState::NoState;
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    const auto width = static_cast<int>(spec.types.size());
    if (c.num_inputs() % width != 0)
      throw invalid_argument("The tensors of a list must be whole elements.");
    std::vector<Element> elements;
    for (int i = 0; i < c.num_inputs(); i += width) {
      Element& e = elements.emplace_back();
      for (int k = 0; k < width; ++k) e.push_back(kept_input(c, i + k));
    }
    return std::make_shared<ListedDataset>(spec, std::move(elements));
  }
};

struct ReducerFunctions {
  Captured key, init, reduce, finalize;
};

// Goes through all of its input before the first element: one for each key, in order of keys.
class GroupByReducerDataset final : public OverInput {
 public:
  GroupByReducerDataset(Spec spec, DatasetPtr input, ReducerFunctions f)
      : OverInput(std::move(spec), std::move(input)), f_(std::move(f)) {}
  int64_t cardinality() const override { return kUnknown; }
  std::string stateful_op() const override {
    return first_stateful({&f_.key, &f_.init, &f_.reduce, &f_.finalize});
  }
  std::unique_ptr<Iterator> make_iterator(Caller& c) const override {
    return std::make_unique<Over>(shared_from_this(), input_->iterator(c), f_, c);
  }

 private:
  class Over final : public OverIterator {
   public:
    Over(DatasetPtr self, std::unique_ptr<Iterator> input, const ReducerFunctions& f, Caller& c)
        : OverIterator(std::move(self), std::move(input)),
          key_(f.key, c),
          init_(f.init, c),
          reduce_(f.reduce, c),
          finalize_(f.finalize, c) {}
    bool next(Caller& c, Element& out) override {
      for (Element e; input_; StopScope::attend()) {
        if (input_->next(c, e)) take(c, e);
        else input_.reset();
      }
      if (states_.empty()) return false;
      const auto first = states_.extract(states_.begin());
      finalize_(c, first.mapped(), out);
      return true;
    }
    void save(StateWriter& w) override {
      OverIterator::save(w);
      w.put(at_);
      w.put(static_cast<int64_t>(states_.size()));
      for (const auto& [key, state] : states_) {
        w.put(key);
        w.put(state);
      }
    }
    void restore(Caller& c, StateReader& r) override {
      OverIterator::restore(c, r);
      at_ = r.number();
      for (int64_t n = r.number(); n > 0; --n) {
        const int64_t key = r.number();
        states_[key] = r.element();
      }
    }

   private:
    void take(Caller& c, Element& e) {
      const int64_t number = at_++;
      try {
        const int64_t key = key_.number(c, e);
        auto it = states_.find(key);
        if (it == states_.end()) {
          const Tensor asked = Tensor::scalar(key);
          Element first;
          init_(c, std::span(&asked, 1), first);
          it = states_.emplace(key, std::move(first)).first;
        }
        Element in = it->second;
        std::move(e.begin(), e.end(), std::back_inserter(in));
        reduce_(c, in, it->second);
      } catch (Error& error) {
        throw at_stage(std::move(error), *self_, number);
      }
    }
    Captured::Call key_, init_, reduce_, finalize_;
    std::map<int64_t, Element> states_;
    int64_t at_ = 0;
  };
  const ReducerFunctions f_;
};

struct MakeGroupByReducer {
  explicit MakeGroupByReducer(const KernelInit& init)
      : key(init, "key_func", "key_func_other_arguments"),
        begin(init, "init_func", "init_func_other_arguments"),
        reduce(init, "reduce_func", "reduce_func_other_arguments"),
        finalize(init, "finalize_func", "finalize_func_other_arguments") {}
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    return std::make_shared<GroupByReducerDataset>(
        spec, dataset_in(c.input(0)),
        ReducerFunctions{key.captured(c), begin.captured(c), reduce.captured(c),
                         finalize.captured(c)});
  }
  FunctionArg key, begin, reduce, finalize;
};

}  // namespace

void add_reducer_kernels(KernelList& rows) {
  add_row(rows, "ListDataset", dataset_kernel<MakeList>);
  for (const char* op : {"GroupByReducerDataset", "ExperimentalGroupByReducerDataset"})
    add_row(rows, op, dataset_kernel<MakeGroupByReducer>);
}

}  // namespace emplace::data
