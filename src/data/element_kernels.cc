// Operations on whole datasets.
#include <fmt/format.h>

#include "base/stop_scope.h"
#include "data/iterator.h"
#include "data/kernels.h"
#include "data/stage_error.h"

namespace emplace::data {
namespace {

void give_all(KernelContext& c, Element& e) {
  if (static_cast<int>(e.size()) != c.num_outputs())
    throw invalid_argument(
        fmt::format("Expected {} components but got {}.", c.num_outputs(), e.size()));
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, std::move(e[static_cast<size_t>(i)]));
}

void cardinality(KernelContext& c) {
  *c.output(0, Shape{}).data<int64_t>() = dataset_in(c.input(0))->cardinality();
}

void single_element(KernelContext& c) {
  Walk walk(dataset_in(c.input(0)));
  KernelScope scope(c.cancellation());
  Element one, another;
  if (!walk.next(scope.calls(), one)) throw invalid_argument("Dataset was empty.");
  if (walk.next(scope.calls(), another))
    throw invalid_argument("Dataset had more than one element.");
  give_all(c, one);
}

// State and element go into the function, the next state comes out.
struct Reduce {
  explicit Reduce(const KernelInit& init)
      : states(static_cast<int>(init.attr<std::vector<DType>>("Tstate").size())),
        f(init, "f", "other_arguments") {}

  void operator()(KernelContext& c) const {
    const DatasetPtr dataset = dataset_in(c.input(0));
    Walk walk(dataset);
    KernelScope scope(c.cancellation());
    Pass pass;
    Caller caller{pass, scope.calls()};
    const Captured captured = f.captured(c);
    Captured::Call call(captured, caller);
    Element state, element, in;
    for (int i = 0; i < states; ++i) state.push_back(kept_input(c, 1 + i));
    for (int64_t at = 0; walk.next(scope.calls(), element); ++at) {
      StopScope::attend();
      in = std::move(state);
      std::move(element.begin(), element.end(), std::back_inserter(in));
      try {
        call(caller, in, state);
      } catch (Error& e) {
        throw e.append(fmt::format("\n\t[[element {} of {}]]", at, c.node()));
      }
    }
    give_all(c, state);
  }

  const int states;
  const FunctionArg f;
};

Prepared make_reduce(const KernelInit& init) { return prepared(Reduce(init)); }

// A dataset is a value as it is.
void same_value(KernelContext& c) { c.set_output(0, c.input(0)); }

}  // namespace

void add_element_kernels(KernelList& rows) {
  add_row(rows, "DatasetCardinality", stateless<cardinality>);
  add_row(rows, "DatasetToSingleElement", stateless<single_element>);
  add_row(rows, "ReduceDataset", make_reduce);
  add_row(rows, "WrapDatasetVariant", stateless<same_value>);
  add_row(rows, "UnwrapDatasetVariant", stateless<same_value>);
}

}  // namespace emplace::data
