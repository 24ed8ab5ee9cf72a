#include "data/stage_counts.h"

#include <algorithm>

#include "data/dataset.h"
#include "emplace/proto/pipeline_model.pb.h"

namespace emplace::data {

int64_t nanoseconds_since(Clock::time_point t) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - t).count();
}

PipelineCounts::PipelineCounts(const Dataset& root) { add(root); }

int64_t PipelineCounts::add(const Dataset& d) {
  if (const auto known = numbers_.find(&d); known != numbers_.end()) return known->second;
  const auto inputs = d.inputs();
  if (d.options() && inputs.size() == 1) return add(*inputs[0]);
  const auto number = static_cast<int64_t>(stages_.size());
  numbers_[&d] = number;
  stages_.push_back(std::make_unique<StageCounts>());
  StageCounts& stage = *stages_.back();
  stage.op = d.spec().op;
  stage.node = d.spec().node;
  for (const Dataset* input : inputs) stage.inputs.push_back(add(*input));
  return number;
}

StageCounts* PipelineCounts::of(const Dataset& d) const {
  const auto found = numbers_.find(&d);
  return found == numbers_.end() ? nullptr : stages_[static_cast<size_t>(found->second)].get();
}

std::string PipelineCounts::proto() const {
  proto::ModelProto m;
  m.set_dataset_name(name);
  m.set_age(age());
  m.set_id_counter(static_cast<int64_t>(stages_.size()));
  m.mutable_optimization_params()->set_cpu_budget(cpu_budget);
  m.mutable_optimization_params()->set_ram_budget(ram_budget);
  for (size_t i = 0; i < stages_.size(); ++i) {
    const StageCounts& s = *stages_[i];
    auto& node = (*m.mutable_nodes())[static_cast<int64_t>(i)];
    node.set_id(static_cast<int64_t>(i));
    node.set_name(s.op);
    node.set_node(s.node);
    node.set_num_elements(s.elements);
    node.set_autotune(s.adapts);
    int64_t own = s.inside;
    for (const int64_t k : s.inputs) {
      node.add_inputs(k);
      own -= stages_[static_cast<size_t>(k)]->inside;
    }
    node.set_processing_time(s.has_threads ? s.worked.load() : std::max<int64_t>(0, own));
    if (!s.has_threads) continue;
    node.set_wait_time(s.waited);
    node.set_buffered_elements(s.buffered);
    node.set_buffered_bytes(s.buffered_bytes);
    const auto parameter = [&](const char* what, int64_t value) {
      auto& p = *node.add_parameters();
      p.set_name(what);
      p.set_value(static_cast<double>(value));
      p.set_tunable(s.adapts);
    };
    parameter("parallelism", s.threads);
    parameter("buffer_size", s.room);
  }
  return m.SerializeAsString();
}

}  // namespace emplace::data
