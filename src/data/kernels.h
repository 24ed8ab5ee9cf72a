#pragma once
#include "data/captured.h"
#include "data/dataset.h"
#include "kernel/kernel.h"

// What kernels of datasets have in common.
namespace emplace::data {

// Every kernel of the folder, for the CPU.
void register_data_kernels(KernelRegistry& registry);

using KernelList = std::vector<KernelRow>;
void add_source_kernels(KernelList& rows);
void add_function_kernels(KernelList& rows);
void add_count_kernels(KernelList& rows);
void add_batch_kernels(KernelList& rows);
void add_join_kernels(KernelList& rows);
void add_shuffle_kernels(KernelList& rows);
void add_seed_kernels(KernelList& rows);
void add_prefetch_kernels(KernelList& rows);
void add_parallel_kernels(KernelList& rows);
void add_interleave_kernels(KernelList& rows);
void add_parallel_interleave_kernels(KernelList& rows);
void add_padded_batch_kernels(KernelList& rows);
void add_window_kernels(KernelList& rows);
void add_scan_kernels(KernelList& rows);
void add_mixing_kernels(KernelList& rows);
void add_setting_kernels(KernelList& rows);
void add_generator_kernels(KernelList& rows);
void add_cache_kernels(KernelList& rows);
void add_file_kernels(KernelList& rows);
void add_csv_kernels(KernelList& rows);
void add_reducer_kernels(KernelList& rows);
void add_sparse_kernels(KernelList& rows);
void add_snapshot_kernels(KernelList& rows);
void add_device_copy_kernels(KernelList& rows);
void add_multi_device_kernels(KernelList& rows);
void add_sql_kernels(KernelList& rows);
void add_fingerprint_kernels(KernelList& rows);
void add_graph_kernels(KernelList& rows);
void add_shard_kernels(KernelList& rows);
void add_compression_kernels(KernelList& rows);
void add_table_kernels(KernelList& rows);
void add_matching_kernels(KernelList& rows);
void add_record_writer_kernels(KernelList& rows);
void add_state_kernels(KernelList& rows);
void add_iterator_kernels(KernelList& rows);
void add_element_kernels(KernelList& rows);

// What a dataset's node says of its elements.
Dataset::Spec spec_of(const KernelInit& init);

std::shared_ptr<const Origin::Operation> operation_of(const KernelInit& init);

void put_dataset(KernelContext& c, std::shared_ptr<Dataset> dataset);

// An input as a dataset may keep it: only graphs write over the memory of what they hand on.
Tensor kept_input(KernelContext& c, int i);
int64_t int_input(KernelContext& c, int i, std::string_view name);
bool bool_input(KernelContext& c, int i, std::string_view name);
// The function in attribute `attr` and what stands in the list of inputs `arg`.
struct FunctionArg {
  std::shared_ptr<CalledFunction> f;
  int first = 0, last = 0;
  FunctionArg(const KernelInit& init, std::string_view attr, std::string_view arg);
  Captured captured(KernelContext& c) const;
};

// The same kernels under older names: "ExperimentalScanDataset" as "ScanDataset".
void add_older_names(KernelList& rows);

// A row for a kernel on the CPU.
inline void add_row(KernelList& rows, const char* op, KernelFactory make, bool blocks = false) {
  rows.push_back({op, "CPU", {}, {}, make, {.blocks = blocks}, 0, ""});
}

// A factory for kernels that make a dataset of type D: D::make(const State&, KernelContext&) gives
// it, where State is made from what the node says.
template <class State>
Prepared dataset_kernel(const KernelInit& init) {
  struct Kernel {
    Dataset::Spec spec;
    std::shared_ptr<const Origin::Operation> operation;
    State state;
    void operator()(KernelContext& c) const {
      std::shared_ptr<Dataset> made = state.make(spec, c);
      Origin origin{operation, {}};
      for (int i = 0; i < c.num_inputs(); ++i) origin.inputs.push_back(kept_input(c, i));
      made->set_origin(std::move(origin));
      put_dataset(c, std::move(made));
    }
  };
  return prepared(Kernel{spec_of(init), operation_of(init), State(init)});
}

// For those who need nothing but their inputs.
struct NoState {
  explicit NoState(const KernelInit&) {}
};

// A dataset made of one other.
class OverInput : public Dataset {
 public:
  OverInput(Spec spec, DatasetPtr input) : Dataset(std::move(spec)), input_(std::move(input)) {}
  int64_t cardinality() const override { return input_->cardinality(); }
  std::vector<const Dataset*> inputs() const override { return {input_.get()}; }
  const Dataset& input() const { return *input_; }

 protected:
  const DatasetPtr input_;
};

// … and its iterator.
class OverIterator : public Iterator {
 public:
  OverIterator(DatasetPtr self, std::unique_ptr<Iterator> input)
      : self_(std::move(self)), input_(std::move(input)) {}
  bool ready() const override { return !input_ || input_->ready(); }
  void save(StateWriter& w) override;
  void restore(Caller& c, StateReader& r) override;

 protected:
  const DatasetPtr self_;            // what the iterator refers to
  std::unique_ptr<Iterator> input_;  // null: at its end
};

}  // namespace emplace::data
