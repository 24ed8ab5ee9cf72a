// Datasets that change nothing of their elements: they say how the others run, or check them.
#include <fmt/format.h>

#include "data/kernels.h"
#include "data/state.h"
#include "emplace/proto/dataset_options.pb.h"
#include "graph/parse_message.h"

namespace emplace::data {
namespace {

// The elements of its input, which says as its own what options it has.
class SettingDataset final : public OverInput {
 public:
  SettingDataset(Spec spec, DatasetPtr input, PassOptions options)
      : OverInput(std::move(spec), std::move(input)), options_(options) {}
  bool hands_on() const override { return true; }
  std::unique_ptr<Iterator> make_iterator(Caller& c) const override { return input_->iterator(c); }
  const PassOptions* options() const override { return &options_; }

 private:
  const PassOptions options_;
};

[[noreturn]] void refuse(const char* option, const char* why) {
  throw unimplemented(fmt::format("tf.data.Options: {} is not supported: {}", option, why));
}

void refuse_fusions(const proto::OptimizationOptions& o) {
  const std::pair<const char*, bool> asked[] = {
      {"filter_fusion", o.filter_fusion()},
      {"map_and_batch_fusion", o.map_and_batch_fusion()},
      {"map_and_filter_fusion", o.map_and_filter_fusion()},
      {"map_fusion", o.map_fusion()},
      {"shuffle_and_repeat_fusion", o.shuffle_and_repeat_fusion()},
      {"seq_interleave_prefetch", o.seq_interleave_prefetch()}};
  for (const auto& [name, yes] : asked)
    if (yes)
      refuse(fmt::format("experimental_optimization.{} = True", name).c_str(),
             "stages are not fused here");
}

// What can't be done is refused; that an option says no to it is well.
void refuse_unsupported(const proto::Options& o) {
  using Tune = proto::AutotuneOptions;
  const auto algorithm = o.autotune_options().autotune_algorithm();
  if (algorithm == Tune::GRADIENT_DESCENT || algorithm == Tune::STAGE_BASED)
    refuse("autotune.autotune_algorithm", "there are DEFAULT, HILL_CLIMB and MAX_PARALLELISM");
  if (o.slack())
    refuse("experimental_slack = True", "a prefetch buffer is filled as soon as it has room");
  if (o.symbolic_checkpoint())
    refuse("experimental_symbolic_checkpoint = True", "checkpoints hold the elements in buffers");
  if (o.service_options().pinned())
    refuse("experimental_service.pinned = True", "elements of a service come to plain memory");
  if (o.distribute_options().optional_num_devices_case())
    refuse("experimental_distribute.num_devices", "the strategy says how many there are");
  refuse_fusions(o.optimization_options());
}

PassOptions parsed(const std::string& bytes) {
  proto::Options o;
  if (!parse_message(o, bytes))
    throw invalid_argument("serialized_options are not those of a dataset");
  refuse_unsupported(o);
  PassOptions p;
  if (o.optional_deterministic_case()) p.deterministic = o.deterministic();
  const auto& tune = o.autotune_options();
  if (tune.optional_enabled_case()) p.autotune = tune.enabled();
  if (tune.optional_ram_budget_case()) p.ram_budget = tune.ram_budget();
  if (tune.optional_cpu_budget_case()) p.cpu_budget = tune.cpu_budget();
  p.initial_parallelism = std::max<int64_t>(0, tune.initial_parallelism());
  p.min_parallelism = std::max<int64_t>(0, tune.min_parallelism());
  p.all_cores_at_once = tune.autotune_algorithm() == proto::AutotuneOptions::MAX_PARALLELISM;
  const auto& rewrite = o.optimization_options();
  if (rewrite.optional_inject_prefetch_case()) p.inject_prefetch = rewrite.inject_prefetch();
  if (rewrite.optional_map_parallelization_case()) p.parallel_map = rewrite.map_parallelization();
  if (rewrite.optional_filter_parallelization_case())
    p.parallel_filter = rewrite.filter_parallelization();
  if (rewrite.optional_parallel_batch_case()) p.parallel_batch = rewrite.parallel_batch();
  if (o.optional_warm_start_case()) p.warm_start = o.warm_start();
  p.name = o.dataset_name();
  const auto& threads = o.threading_options();
  if (threads.optional_private_threadpool_size_case() && threads.private_threadpool_size() > 0)
    p.private_threads = threads.private_threadpool_size();
  if (threads.optional_max_intra_op_parallelism_case() && threads.max_intra_op_parallelism() > 0)
    p.max_intra_op = threads.max_intra_op_parallelism();
  if (o.has_distribute_options()) p.shard_policy = o.distribute_options().auto_shard_policy();
  if (o.optional_external_state_policy_case()) p.external_state = o.external_state_policy();
  return p;
}

struct MakeOptions {
  explicit MakeOptions(const KernelInit& init)
      : options(parsed(init.attr<std::string>("serialized_options"))) {}
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    return std::make_shared<SettingDataset>(spec, dataset_in(c.input(0)), options);
  }
  PassOptions options;
};

// What TensorFlow's own rewriting puts at the end of a pipeline: here there is nothing to rewrite.
struct MakeSame : NoState {
  using NoState::NoState;
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    return std::make_shared<SettingDataset>(spec, dataset_in(c.input(0)), PassOptions{});
  }
};

struct MakeModel {
  explicit MakeModel(const KernelInit& init)
      : cpu(init.attr<int64_t>("cpu_budget")), ram(init.attr<int64_t>("ram_budget")) {}
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    PassOptions o;
    o.autotune = true;
    if (cpu > 0) o.cpu_budget = cpu;
    if (ram > 0) o.ram_budget = ram;
    return std::make_shared<SettingDataset>(spec, dataset_in(c.input(0)), o);
  }
  int64_t cpu, ram;
};

struct MakeThreads {
  explicit MakeThreads(const KernelInit& init)
      : intra_op(init.op->name == "MaxIntraOpParallelismDataset") {}
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    PassOptions o;
    const int64_t n = int_input(c, 1, intra_op ? "max_intra_op_parallelism" : "num_threads");
    if (n < 0)
      throw invalid_argument(intra_op ? "`max_intra_op_parallelism` must be >= 0"
                                      : "`num_threads` must be >= 0");
    (intra_op ? o.max_intra_op : o.private_threads) = n;
    return std::make_shared<SettingDataset>(spec, dataset_in(c.input(0)), o);
  }
  bool intra_op;
};

// ---- Checks.

class AssertCardinalityDataset final : public OverInput {
 public:
  AssertCardinalityDataset(Spec spec, DatasetPtr input, int64_t n)
      : OverInput(std::move(spec), std::move(input)), n_(n) {}
  int64_t cardinality() const override { return n_; }
  std::unique_ptr<Iterator> make_iterator(Caller& c) const override {
    return std::make_unique<Over>(shared_from_this(), input_->iterator(c), n_);
  }

 private:
  class Over final : public OverIterator {
   public:
    Over(DatasetPtr self, std::unique_ptr<Iterator> input, int64_t n)
        : OverIterator(std::move(self), std::move(input)), n_(n) {}
    bool next(Caller& c, Element& out) override {
      if (input_->next(c, out)) {
        ++seen_;
        if (n_ >= 0 && seen_ > n_) wrong("at least ");
        return true;
      }
      if (n_ == kInfinite || (n_ >= 0 && seen_ < n_)) wrong("");
      return false;
    }
    void save(StateWriter& w) override {
      w.put(seen_);
      OverIterator::save(w);
    }
    void restore(Caller& c, StateReader& r) override {
      seen_ = r.number();
      OverIterator::restore(c, r);
    }

   private:
    [[noreturn]] void wrong(const char* how) const {
      const auto say = [](int64_t n) {
        return n < 0 ? std::string("an infinite number of elements")
                     : fmt::format("{} element{}", n, n == 1 ? "" : "s");
      };
      throw failed_precondition(
          fmt::format("Input dataset was expected to contain {} but contained {}{}.", say(n_), how,
                      say(seen_)));
    }
    const int64_t n_;
    int64_t seen_ = 0;
  };
  const int64_t n_;
};

struct MakeAssertCardinality : NoState {
  using NoState::NoState;
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    return std::make_shared<AssertCardinalityDataset>(spec, dataset_in(c.input(0)),
                                                      int_input(c, 1, "cardinality"));
  }
};

}  // namespace

void add_setting_kernels(KernelList& rows) {
  add_row(rows, "OptionsDataset", dataset_kernel<MakeOptions>);
  for (const char* op : {"FinalizeDataset", "OptimizeDataset", "OptimizeDatasetV2",
                         "RewriteDataset", "NonSerializableDataset"})
    add_row(rows, op, dataset_kernel<MakeSame>);
  add_row(rows, "ModelDataset", dataset_kernel<MakeModel>);
  add_row(rows, "MaxIntraOpParallelismDataset", dataset_kernel<MakeThreads>);
  add_row(rows, "PrivateThreadPoolDataset", dataset_kernel<MakeThreads>);
  add_row(rows, "AssertCardinalityDataset", dataset_kernel<MakeAssertCardinality>);
}

}  // namespace emplace::data
