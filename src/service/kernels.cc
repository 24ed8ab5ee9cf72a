#include "service/kernels.h"

#include <fmt/format.h>

#include <atomic>
#include <random>

#include "data/dataset_graph.h"
#include "data/iterator.h"
#include "data/kernels.h"
#include "graph/parse_message.h"
#include "service/reader.h"

namespace emplace::service {
namespace {

using data::DatasetPtr;
using data::KernelList;

constexpr std::string_view kParallelEpochs = "parallel_epochs",
                           kDistributedEpoch = "distributed_epoch";

std::string text_input(KernelContext& c, int i, std::string_view name) {
  const Tensor& t = c.input(i);
  if (t.num_elements() != 1) throw invalid_argument(fmt::format("{} must be a scalar", name));
  return t.dtype() == DType::kString ? t.values<std::string>()[0]
                                     : std::to_string(*t.data<int64_t>());
}

std::string address_input(KernelContext& c, int i) {
  const std::string address = text_input(c, i, "address");
  if (address.empty()) throw invalid_argument("address must be non-empty.");
  return address;
}

// TensorFlow's ProcessingModeDef, or what there was before it.
Sharding policy_of(const std::string& mode) {
  if (mode == kParallelEpochs) return Sharding::kOff;
  if (mode == kDistributedEpoch) return Sharding::kDynamic;
  proto::ProcessingModeDef def;
  if (!parse_message(def, mode) || def.sharding_policy() < 0 ||
      def.sharding_policy() > static_cast<int>(Sharding::kHint))
    throw invalid_argument(fmt::format("'{}' is no processing mode of tf.data service.", mode));
  return static_cast<Sharding>(def.sharding_policy());
}

std::string name_of_nobody_else() {
  static std::atomic<uint64_t> last{0};
  static const uint64_t process = uint64_t{std::random_device()()} << 32 | std::random_device()();
  return fmt::format("anonymous_{:x}_{}", process, ++last);
}

// How often a dataset was gone through.
class IterationCounter : public Resource {
 public:
  int64_t next() { return count_++; }
  std::string debug_string() const override { return "iteration counter"; }

 private:
  std::atomic<int64_t> count_{0};
};

void put_counter(KernelContext& c) {
  Tensor t(DType::kResource, Shape{});
  auto& h = *t.data<ResourceHandle>();
  h.container = "localhost";
  h.name = std::string(c.node());
  h.type_name = "tensorflow::data::IterationCounter";
  h.device = c.device().name();
  h.resource = std::make_shared<IterationCounter>();
  c.set_output(0, std::move(t));
}

class ServiceDataset final : public data::Dataset {
 public:
  ServiceDataset(Spec spec, ReadOptions options, std::shared_ptr<IterationCounter> counter)
      : Dataset(std::move(spec)), options_(std::move(options)), counter_(std::move(counter)) {}
  int64_t cardinality() const override {
    const bool endless =
        options_.consumer >= 0 ||
        metadata_of(options_.address, options_.dataset).cardinality() == data::kInfinite;
    return endless ? data::kInfinite : data::kUnknown;
  }
  std::unique_ptr<data::Iterator> make_iterator(data::Caller& c) const override {
    return std::make_unique<Reader>(shared_from_this(), options_, counter_->next(), c);
  }

 private:
  const ReadOptions options_;
  const std::shared_ptr<IterationCounter> counter_;
};

void check_rounds(int64_t consumer, int64_t consumers) {
  if (consumer < 0 && consumers < 0) return;
  if (consumers < 1)
    throw invalid_argument(fmt::format("`num_consumers` must be >= 1, but it is {}.", consumers));
  if (consumer < 0 || consumer >= consumers)
    throw invalid_argument(fmt::format("`consumer_index` must be between 0 and {}, but it is {}.",
                                       consumers - 1, consumer));
}

struct MakeServiceDataset {
  explicit MakeServiceDataset(const KernelInit& init)
      : counter(init.op->input_index("iteration_counter")),
        most(init.op->input_index("max_outstanding_requests")),
        consumer(init.op->input_index("consumer_index")),
        target(init.attr<std::string>("target_workers")) {
    if (!init.attr<std::string>("cross_trainer_cache_options").empty())
      throw unimplemented(
          "tf.data service: cross_trainer_cache is not supported; let the trainers read one job "
          "(job_name), or give each "
          "its own.");
    if (target != "AUTO" && target != "ANY" && target != "LOCAL" && !target.empty())
      throw invalid_argument(fmt::format("target_workers is AUTO, ANY or LOCAL, not {}.", target));
  }
  std::shared_ptr<data::Dataset> make(const data::Dataset::Spec& spec, KernelContext& c) const {
    ReadOptions o;
    o.dataset = text_input(c, 0, "dataset_id");
    o.parameters.set_policy(static_cast<int>(policy_of(text_input(c, 1, "processing_mode"))));
    o.parameters.set_target_workers(target);
    o.address = address_input(c, 2);
    o.job = text_input(c, 4, "job_name");
    o.anonymous = o.job.empty();
    if (o.anonymous) o.job = name_of_nobody_else();
    if (consumer >= 0) {
      o.consumer = data::int_input(c, consumer, "consumer_index");
      const int64_t consumers = data::int_input(c, consumer + 1, "num_consumers");
      check_rounds(o.consumer, consumers);
      o.parameters.set_consumers(std::max<int64_t>(0, consumers));
    }
    o.most_waiting = std::max<int64_t>(0, data::int_input(c, most, "max_outstanding_requests"));
    auto counts = std::dynamic_pointer_cast<IterationCounter>(c.handle(counter).resource);
    return std::make_shared<ServiceDataset>(spec, std::move(o),
                                            counts ? counts : std::make_shared<IterationCounter>());
  }
  int counter, most, consumer;
  std::string target;
};

// ---- Registering.

struct Register {
  explicit Register(const KernelInit& init)
      : policy(data::ExternalState{init.attr<int64_t>("external_state_policy")}),
        metadata(init.attr<std::string>("metadata")),
        id(init.op->find_attr("requested_dataset_id")
               ? init.attr<std::string>("requested_dataset_id")
               : ""),
        by_text(init.op->name == "RegisterDatasetV2") {}
  void operator()(KernelContext& c) const {
    proto::RegisterDatasetRequest r;
    try {
      r.set_graph(data::serialized_graph(*data::dataset_in(c.input(0)), policy));
    } catch (const Error& e) {
      throw Error(
          e.code(),
          fmt::format(
              "Serialization error while trying to register a dataset with tf.data service. {}",
              e.message()));
    }
    r.set_wanted_id(id);
    r.set_metadata(metadata);
    data::KernelScope scope(c.cancellation());
    Remote dispatcher(cluster::socket_transport(), address_input(c, 1));
    const std::string given =
        dispatcher.ask<proto::RegisterDatasetResponse>(scope.calls(), "RegisterDataset", r).id();
    c.set_output(0, by_text ? Tensor::string(given) : Tensor::scalar<int64_t>(std::stoll(given)));
  }
  data::ExternalState policy;
  std::string metadata, id;
  bool by_text;
};

Prepared make_register(const KernelInit& init) { return prepared(Register(init)); }

}  // namespace

void register_service_kernels(KernelRegistry& registry) {
  KernelList rows;
  for (const char* op : {"DataServiceDataset", "DataServiceDatasetV2", "DataServiceDatasetV3",
                         "DataServiceDatasetV4"})
    data::add_row(rows, op, data::dataset_kernel<MakeServiceDataset>);
  for (const char* op : {"RegisterDataset", "RegisterDatasetV2"})
    data::add_row(rows, op, make_register, true);
  data::add_row(rows, "DummyIterationCounter", stateless<put_counter>);
  for (KernelRow& row : rows) registry.add(std::move(row));
}

}  // namespace emplace::service
