#include "data/kernels.h"

#include <fmt/format.h>

#include "data/state.h"
#include "kernel/keep.h"

namespace emplace::data {

void register_data_kernels(KernelRegistry& registry) {
  KernelList rows;
  for (auto* add : {add_source_kernels,
                    add_function_kernels,
                    add_count_kernels,
                    add_batch_kernels,
                    add_join_kernels,
                    add_shuffle_kernels,
                    add_seed_kernels,
                    add_prefetch_kernels,
                    add_parallel_kernels,
                    add_interleave_kernels,
                    add_parallel_interleave_kernels,
                    add_padded_batch_kernels,
                    add_window_kernels,
                    add_scan_kernels,
                    add_mixing_kernels,
                    add_setting_kernels,
                    add_generator_kernels,
                    add_cache_kernels,
                    add_file_kernels,
                    add_csv_kernels,
                    add_reducer_kernels,
                    add_sparse_kernels,
                    add_snapshot_kernels,
                    add_device_copy_kernels,
                    add_multi_device_kernels,
                    add_sql_kernels,
                    add_fingerprint_kernels,
                    add_graph_kernels,
                    add_shard_kernels,
                    add_compression_kernels,
                    add_table_kernels,
                    add_matching_kernels,
                    add_record_writer_kernels,
                    add_state_kernels,
                    add_iterator_kernels,
                    add_element_kernels})
    add(rows);
  add_older_names(rows);
  for (KernelRow& row : rows) registry.add(std::move(row));
}

void add_older_names(KernelList& rows) {
  constexpr std::string_view kOlder = "Experimental";
  static constexpr std::string_view kNames[] = {
      "AutoShardDataset",     "CSVDataset",           "DatasetCardinality",
      "DenseToSparseBatchDataset", "GroupByWindowDataset", "IgnoreErrorsDataset",
      "IteratorGetDevice",    "MapDataset",           "MapAndBatchDataset",
      "MatchingFilesDataset", "MaxIntraOpParallelismDataset", "NonSerializableDataset",
      "ParallelInterleaveDataset", "PrivateThreadPoolDataset", "RandomDataset",
      "ScanDataset",          "SleepDataset",         "TakeWhileDataset",
      "UnbatchDataset",       "UniqueDataset"};
  for (size_t i = 0, n = rows.size(); i < n; ++i)
    if (std::ranges::find(kNames, rows[i].op) != std::end(kNames)) {
      rows.push_back(rows[i]);
      rows.back().op = std::string(kOlder) + rows.back().op;
    }
}

Dataset::Spec spec_of(const KernelInit& init) {
  Dataset::Spec spec{init.op->name, std::string(init.node), {}, {}};
  const char* const types = init.op->find_attr("Toutput_types") ? "Toutput_types" : "output_types";
  if (const AttrValue* v = init.find(types)) spec.types = v->as<std::vector<DType>>();
  if (const AttrValue* v = init.find("output_shapes")) spec.shapes = v->as<std::vector<Shape>>();
  if (!spec.types.empty() && spec.types.size() != spec.shapes.size())
    throw invalid_argument(fmt::format("{} has {} output types but {} output shapes", init.op->name,
                                       spec.types.size(), spec.shapes.size()));
  return spec;
}

void put_dataset(KernelContext& c, std::shared_ptr<Dataset> dataset) {
  c.set_output(0, dataset_tensor(std::move(dataset)));
}

Tensor kept_input(KernelContext& c, int i) {
  const Tensor& t = c.input(i);
  return c.step_id() == 0 || !is_plain(t.dtype()) ? t : keep(c, t);
}

int64_t int_input(KernelContext& c, int i, std::string_view name) {
  const Tensor& t = c.input(i);
  if (t.num_elements() != 1) throw invalid_argument(fmt::format("{} must be a scalar", name));
  return t.dtype() == DType::kInt32 ? *t.data<int32_t>() : *t.data<int64_t>();
}

bool bool_input(KernelContext& c, int i, std::string_view name) {
  const Tensor& t = c.input(i);
  if (t.num_elements() != 1) throw invalid_argument(fmt::format("{} must be a scalar", name));
  return *t.data<bool>();
}

FunctionArg::FunctionArg(const KernelInit& init, std::string_view attr, std::string_view arg)
    : f(function_named(init, attr)) {
  const ArgRange range = input_range(*init.op, *init.attrs, init.op->input_index(arg));
  first = range.begin;
  last = range.end;
}

Captured FunctionArg::captured(KernelContext& c) const {
  std::vector<Tensor> values;
  for (int i = first; i < last; ++i) values.push_back(kept_input(c, i));
  return {f, std::move(values)};
}

void OverIterator::save(StateWriter& w) { w.put(input_); }

void OverIterator::restore(Caller& c, StateReader& r) {
  if (r.number()) input_->restore(c, r);
  else input_.reset();
}

}  // namespace emplace::data
