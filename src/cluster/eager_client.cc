#include "cluster/eager_client.h"

#include <fmt/format.h>

#include <atomic>
#include <random>

#include "cluster/awaited.h"
#include "cluster/methods.h"
#include "cluster/task_service.h"
#include "cluster/wire.h"
#include "graph/tensor_proto.h"

namespace emplace::cluster {
namespace {

// As the operation's own: whoever reads them knows where it ran. What is the transport's names the
// task.
Error said(const Error& e, const std::string& task) {
  const Error whole = unpacked(e, task);
  const std::string prefix = fmt::format("From {}:\n", task);
  if (e.message() == whole.message().substr(std::min(prefix.size(), whole.message().size())))
    return whole;
  Error own(whole.code(), whole.message().starts_with(prefix)
                              ? whole.message().substr(prefix.size())
                              : whole.message());
  own.at_node(whole.node(), whole.op()).on_device(whole.device()).from_source(whole.source());
  return own;
}

class EagerClient final : public RemoteTask {
 public:
  EagerClient(std::string name, const std::string& address, Transport& transport)
      : name_(std::move(name)),
        address_(address),
        channel_(transport.connect(address, Transport::Speaks::kOurs)) {
    std::random_device source;
    context_ = uint64_t{source()} << 32 | source();
    proto::OpenEagerRequest open;
    open.set_context(context_);
    open.set_task(name_);
    proto::DescribeTaskResponse told;
    parse(call("OpenEager", to_bytes(open), {.timeout_ms = 0, .wait_for_peer = true}), told);
    for (const auto& d : told.device()) devices_.push_back(from_proto(d));
    if (devices_.empty()) throw internal_error("A task without devices.");
    proto::HoldEagerRequest hold;
    hold.set_context(context_);
    // As long as it is unanswered the server is held to say that it lives.
    held_ = channel_->call(std::string(kClientService) + "HoldEager", to_bytes(hold), {},
                           [gone = gone_](const Answer&) { *gone = true; });
  }
  ~EagerClient() override { held_->cancel(); }

  const std::string& name() const override { return name_; }
  const std::vector<DeviceAttributes>& devices() const override { return devices_; }
  const std::string& address() const override { return address_; }
  bool lives() const override { return !*gone_; }
  uint64_t number() override { return next_++; }
  uint64_t numbers_for(size_t count) override { return next_.fetch_add(count); }

  std::vector<RemoteOutput> run(uint64_t number, const RemoteCall* what,
                                std::span<const RemoteInput> inputs, uint64_t first,
                                int64_t timeout_ms) override {
    proto::RunEagerRequest request;
    request.set_context(context_);
    request.set_call(number);
    request.set_first(first);
    request.set_timeout_ms(timeout_ms);
    if (what) define(*what, *request.mutable_def());
    std::vector<Tensor> sent;
    for (const RemoteInput& in : inputs) {
      auto* const to = request.add_input();
      if (in.id) {
        to->set_id(in.id);
      } else {
        cluster::describe(in.value, to->mutable_value());
        sent.push_back(in.value);
      }
    }
    proto::RunEagerResponse response;
    constexpr int64_t kMarginMs = 500;  // for the task to say itself that time is over
    parse(call("RunEager", to_bytes(request, sent),
               {.timeout_ms = timeout_ms > 0 ? timeout_ms + kMarginMs : 0}),
          response);
    std::vector<RemoteOutput> outputs;
    for (const auto& o : response.output()) {
      const std::vector<int64_t> dims(o.dim().begin(), o.dim().end());
      outputs.push_back({emplace::from_proto(static_cast<proto::DataType>(o.dtype())),
                         Shape(std::span<const int64_t>(dims)),
                         o.device(),
                         {o.device(), o.container(), o.name(), o.type_name(), nullptr}});
    }
    return outputs;
  }

  Tensor fetch(uint64_t value) override {
    proto::FetchEagerRequest request;
    request.set_context(context_);
    request.set_id(value);
    const Bytes body = call("FetchEager", to_bytes(request), {});
    BytesReader reader(body);
    proto::FetchEagerResponse response;
    parse_head(reader, response);
    return read_tensor(reader, response.value());
  }

  void drop_value(uint64_t value) override {
    proto::DropEagerRequest request;
    request.add_value(value);
    drop(std::move(request));
  }
  void drop_call(uint64_t number) override {
    proto::DropEagerRequest request;
    request.add_call(number);
    drop(std::move(request));
  }

 private:
  static void define(const RemoteCall& call, proto::EagerCallDef& def) {
    *def.mutable_graph() = call.graph;
    def.mutable_feed()->Assign(call.feeds.begin(), call.feeds.end());
    def.mutable_fetch()->Assign(call.fetches.begin(), call.fetches.end());
    def.mutable_target()->Assign(call.targets.begin(), call.targets.end());
    def.set_device(call.device);
    def.set_random_scope(call.random_scope);
  }

  void drop(proto::DropEagerRequest request) {
    request.set_context(context_);
    channel_->post(std::string(kClientService) + "DropEager", to_bytes(request),
                   [](const std::optional<Error>&) {});
  }

  Bytes call(const char* method, Bytes request, const CallOptions& options) {
    const auto pending = std::make_shared<Awaited>();
    const auto outgoing =
        channel_->call(std::string(kClientService) + method, std::move(request), options,
                       [pending](Answer answer) { pending->come(std::move(answer)); });
    Answer answer = pending->wait_or_cancel(*outgoing);
    if (answer.error) throw said(*answer.error, name_);
    return std::move(answer.body);
  }

  const std::string name_, address_;
  const std::shared_ptr<Channel> channel_;
  std::vector<DeviceAttributes> devices_;
  uint64_t context_ = 0;
  const std::shared_ptr<std::atomic<bool>> gone_ = std::make_shared<std::atomic<bool>>(false);
  std::shared_ptr<OutgoingCall> held_;
  std::atomic<uint64_t> next_{1};
};

}  // namespace

std::shared_ptr<RemoteTask> remote_task(std::string name, const std::string& address,
                                        Transport& transport) {
  return std::make_shared<EagerClient>(std::move(name), address, transport);
}

}  // namespace emplace::cluster
