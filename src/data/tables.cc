// Lookup tables out of datasets.
#include "base/stop_scope.h"
#include "data/iterator.h"
#include "data/kernels.h"
#include "data/rows.h"
#include "kernel/lookup_table.h"

namespace emplace::data {
namespace {

// All the elements of a dataset, as one batch; none: there are none.
Element all_of(KernelContext& c, DatasetPtr dataset) {
  const Pass pass;
  BatchBuilder all(INT64_MAX, pass);
  Walk walk(std::move(dataset));
  KernelScope scope(c.cancellation());
  for (Element e; walk.next(scope.calls(), e); StopScope::attend()) {
    if (e.size() != 2)
      throw invalid_argument("A table is made of a dataset of pairs, a key and a value.");
    all.add(e);
  }
  return all.size() == 0 ? Element{} : all.take();
}

void initialize_from_dataset(KernelContext& c) {
  const auto table = c.resource<LookupTable>(0);
  const Element pairs = all_of(c, dataset_in(c.input(1)));
  if (pairs.empty()) {
    const auto& o = table->options();
    return table->initialize(Tensor(o.key_dtype, Shape{0}), Tensor(o.value_dtype, Shape{0}));
  }
  table->check_values(pairs[0].dtype(), pairs[1].dtype());
  table->initialize(pairs[0], pairs[1]);
}

}  // namespace

void add_table_kernels(KernelList& rows) {
  add_row(rows, "InitializeTableFromDataset", stateless<initialize_from_dataset>, true);
}

}  // namespace emplace::data
