// Session options from TensorFlow's ConfigProto.
#include "session/config.h"

#include "graph/parse_message.h"

#include <fmt/format.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

namespace emplace {
namespace {

class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (text.empty()) text = fmt::format("{}:{}: {}", line + 1, column + 1, message);
  }
  std::string text;
};

proto::ConfigProto parsed(std::string_view text) {
  proto::ConfigProto config;
  google::protobuf::TextFormat::Parser parser;
  FirstError error;
  parser.RecordErrorsTo(&error);
  if (!parse_message_text(config, text, parser))
    throw invalid_argument(fmt::format("Cannot parse ConfigProto text: {}", error.text));
  return config;
}

}  // namespace

SessionOptions session_options(std::string_view config_text) {
  return session_options(parsed(config_text));
}

SessionOptions session_options(const proto::ConfigProto& c) {
  SessionOptions o;
  o.device_count = {c.device_count().begin(), c.device_count().end()};
  o.intra_op_parallelism_threads = c.intra_op_parallelism_threads();
  o.inter_op_parallelism_threads = c.inter_op_parallelism_threads();
  o.use_per_session_threads = c.use_per_session_threads();
  for (const auto& pool : c.session_inter_op_thread_pool())
    o.session_inter_op_thread_pool.push_back({pool.num_threads(), pool.global_name()});
  o.allow_soft_placement = c.allow_soft_placement();
  o.log_device_placement = c.log_device_placement();
  o.place_pruned_graph = c.graph_options().place_pruned_graph();
  o.operation_timeout_in_ms = c.operation_timeout_in_ms();
  const proto::GPUOptions& gpu = c.gpu_options();
  o.gpu_options.per_process_gpu_memory_fraction = gpu.per_process_gpu_memory_fraction();
  o.gpu_options.allow_growth = gpu.allow_growth();
  o.gpu_options.visible_device_list = gpu.visible_device_list();
  for (const auto& v : gpu.experimental().virtual_devices())
    o.gpu_options.virtual_devices.emplace_back(v.memory_limit_mb().begin(),
                                               v.memory_limit_mb().end());
  o.gpu_options.use_cuda_malloc_async = gpu.experimental().use_cuda_malloc_async();
  o.gpu_options.force_gpu_compatible = gpu.force_gpu_compatible();
  o.placer = c.placer();
  o.placer_budget_ms = c.placer_budget_ms();
  o.placer_evaluations = c.placer_evaluations();
  if (c.placer_seed() != 0) o.placer_seed = c.placer_seed();
  o.measure_costs = c.measure_costs();
  o.costs = c.costs();
  o.save_costs = c.save_costs();
  o.replan_after_steps = c.replan_after_steps();
  o.device_filters.assign(c.device_filters().begin(), c.device_filters().end());
  o.isolate_session_state = c.isolate_session_state();
  return o;
}

void to_proto(const SessionOptions& o, proto::ConfigProto* out) {
  out->set_allow_soft_placement(o.allow_soft_placement);
  out->set_log_device_placement(o.log_device_placement);
  out->mutable_graph_options()->set_place_pruned_graph(o.place_pruned_graph);
  out->set_operation_timeout_in_ms(o.operation_timeout_in_ms);
  for (const std::string& filter : o.device_filters) out->add_device_filters(filter);
  out->set_isolate_session_state(o.isolate_session_state);
}

}  // namespace emplace
