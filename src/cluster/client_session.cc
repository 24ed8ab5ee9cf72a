#include "cluster/client_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>

#include "cluster/awaited.h"
#include "cluster/methods.h"
#include "cluster/stall_report.h"
#include "cluster/wire.h"
#include "emplace/proto/master.pb.h"
#include "graph/function_def.h"
#include "graph/graph_def.h"
#include "graph/read_lock.h"
#include "graph/tensor_proto.h"
#include "session/config.h"
#include "session/watchdog.h"

namespace emplace::cluster {
namespace {

constexpr int64_t kCloseMs = 900, kWaitingMs = 900;
constexpr int64_t kMarginMs = 500;  // for the server to say itself that time is over

class ClientSession final : public RemoteSession {
 public:
  ClientSession(const Graph& graph, const SessionOptions& options, Transport& transport)
      : graph_(graph), options_(options), channel_(transport.connect(address_of(options.target), Transport::Speaks::kOursOrTensorFlows)) {}

  std::vector<Tensor> run(const Signature& s, std::span<const Tensor> feeds,
                          const RunOptions& options, RunMetadata* metadata) override {
    if (!options.trace) metadata = nullptr;
    const int64_t timeout =
        options.timeout_in_ms > 0 ? options.timeout_in_ms : options_.operation_timeout_in_ms;
    send_graph(timeout);
    const StallReport report([this] { return waiting(); });
    if (const Prepared* const prepared = prepared_for(s, timeout)) return run_prepared(*prepared, feeds, timeout, metadata);
    proto::RunStepRequest request;
    request.set_session_handle(handle_);
    for (size_t i = 0; i < feeds.size(); ++i) {
      auto* const feed = request.add_feed();
      feed->set_name(s.feeds[i].name());
      to_whole_proto(feeds[i], feed->mutable_tensor());
    }
    std::set<std::string> once;
    for (const Output& o : s.fetches)
      if (once.insert(o.name()).second) request.add_fetch(o.name());
    for (const Node* n : s.targets) request.add_target(n->name());
    request.mutable_options()->set_timeout_in_ms(timeout);
    if (metadata) request.mutable_options()->set_trace_level(proto::RunOptions::FULL_TRACE);
    proto::RunStepResponse response;
    call("RunStep", request, response, timeout);
    if (metadata) *metadata = told(response.metadata().step_stats());
    return fetched(s, response);
  }

  std::vector<DeviceAttributes> devices() override {
    send_graph(options_.operation_timeout_in_ms);
    proto::ListDevicesRequest request;
    request.set_session_handle(handle_);
    proto::ListDevicesResponse response;
    call("ListDevices", request, response, options_.operation_timeout_in_ms);
    std::vector<DeviceAttributes> devices;
    for (const auto& d : response.local_device()) devices.push_back(from_proto(d));
    for (const auto& d : response.remote_device()) devices.push_back(from_proto(d));
    return devices;
  }

  // With the user's lines, which only the client knows.
  std::vector<WaitingCall> waiting() override {
    proto::WaitingRequest request;
    {
      const std::lock_guard lock(graph_mutex_);
      if (handle_.empty()) return {};
      const auto read = std::from_chars(handle_.data(), handle_.data() + handle_.size(), session_number_, 16);
      if (read.ec != std::errc()) return {};
      request.set_session(session_number_);
    }
    proto::WaitingResponse response;
    call("/emplace.ClientService/Waiting", to_bytes(request), kWaitingMs, false,
         [&](const Bytes& body) { parse(body, response); });
    std::vector<WaitingCall> calls = from_proto(response);
    for (WaitingCall& c : calls) {
      const std::string& of = c.awaits.empty() ? c.node : c.awaits;
      const size_t begin = of.starts_with('^') ? 1 : 0;
      if (const Node* n = graph_.find(of.substr(begin, of.rfind(':') - begin)); n && c.source.empty())
        c.source = n->source();
    }
    return calls;
  }

  void cancel(const Error& error) override {
    const std::lock_guard lock(calls_mutex_);
    for (const auto& [pending, outgoing] : calls_) {
      pending->give_up(error);
      if (outgoing) outgoing->cancel();
    }
  }

  void close() override {
    cancel({Code::kCancelled, "Step was cancelled by an explicit call to `Session::Close()`."});
    const std::lock_guard lock(graph_mutex_);
    if (handle_.empty()) return;
    proto::CloseSessionRequest request;
    request.set_session_handle(std::exchange(handle_, ""));
    proto::CloseSessionResponse response;
    try {
      call("CloseSession", request, response, kCloseMs - kMarginMs);
    } catch (const Error&) {  // a master that is gone has no session
    }
  }

 private:
  // What the master does not have yet.
  void send_graph(int64_t timeout) {
    const std::lock_guard lock(graph_mutex_);
    proto::GraphDef def = fresh_part();
    if (handle_.empty()) {
      proto::CreateSessionRequest request;
      *request.mutable_graph_def() = std::move(def);
      to_proto(options_, request.mutable_config());
      request.set_target(options_.target);
      proto::CreateSessionResponse response;
      call("CreateSession", request, response, timeout, true);
      handle_ = response.session_handle();
      version_ = response.graph_version();
    } else if (def.node_size() > 0 || def.library().function_size() > 0) {
      proto::ExtendSessionRequest request;
      request.set_session_handle(handle_);
      *request.mutable_graph_def() = std::move(def);
      request.set_current_graph_version(version_);
      proto::ExtendSessionResponse response;
      call("ExtendSession", request, response, timeout);
      version_ = response.new_graph_version();
    } else {
      return;
    }
    sent_nodes_ = seen_nodes_;
    sent_functions_ = seen_functions_;
  }

  proto::GraphDef fresh_part() {
    proto::GraphDef def;
    if (graph_.num_nodes() == sent_nodes_ && sent_nodes_ > 0) return def;
    const std::vector<Node*> nodes = graph_.nodes();
    const auto functions = graph_.functions();
    const GraphVersions versions = graph_.versions();
    def.mutable_versions()->set_producer(versions.producer);
    def.mutable_versions()->set_min_consumer(versions.min_consumer);
    for (size_t i = sent_functions_; i < functions.size(); ++i)
      to_proto(*functions[i], def.mutable_library()->add_function());
    const ReadLock reading(graph_.mutex());
    for (size_t i = sent_nodes_; i < nodes.size(); ++i) to_proto(*nodes[i], def.add_node());
    seen_nodes_ = nodes.size();
    seen_functions_ = functions.size();
    return def;
  }

  // A master of Emplace's is told the names of a call once.
  struct Prepared {
    uint64_t session = 0;
    int64_t call = 0;
    std::vector<size_t> fetches;  // of the signature's, by what the master sends
  };
  const Prepared* prepared_for(const Signature& s, int64_t timeout) {
    const std::lock_guard lock(graph_mutex_);
    if (!prepares_) return nullptr;
    if (const auto it = prepared_.find(s); it != prepared_.end()) return &it->second;
    proto::PrepareRequest request;
    request.set_session_handle(handle_);
    Prepared made;
    std::map<std::string, size_t> once;
    for (const Output& o : s.feeds) request.add_feed(o.name());
    for (const Output& o : s.fetches) {
      const auto [it, fresh] = once.emplace(o.name(), once.size());
      if (fresh) request.add_fetch(o.name());
      made.fetches.push_back(it->second);
    }
    for (const Node* n : s.targets) request.add_target(n->name());
    proto::PrepareResponse response;
    try {
      call("/emplace.ClientService/Prepare", to_bytes(request), timeout, false,
           [&](const Bytes& body) { parse(body, response); });
    } catch (const Error& e) {
      if (e.code() != Code::kUnimplemented) throw;
      prepares_ = false;  // a master of TensorFlow's
      return nullptr;
    }
    made.session = response.session();
    made.call = response.call();
    return &prepared_.emplace(s, std::move(made)).first->second;
  }

  // What TensorFlow's master says of a step.
  RunMetadata told(const proto::StepStats& stats) const {
    RunMetadata metadata;
    for (const auto& device : stats.dev_stats())
      for (const auto& n : device.node_stats())
        if (metadata.start_us == 0 || n.all_start_micros() < metadata.start_us) metadata.start_us = n.all_start_micros();
    for (const auto& device : stats.dev_stats())
      for (const auto& n : device.node_stats()) {
        const Node* const node = graph_.find(n.node_name());
        const int64_t start = (n.all_start_micros() - metadata.start_us) * 1000;
        metadata.nodes.push_back({n.node_name(), node ? node->type() : "", device.device(), start,
                                  start + n.all_end_rel_micros() * 1000, 0, n.thread_id()});
      }
    return metadata;
  }

  // Numbers and values.
  std::vector<Tensor> run_prepared(const Prepared& p, std::span<const Tensor> feeds, int64_t timeout,
                                   RunMetadata* metadata) {
    proto::RunPreparedRequest request;
    request.set_session(p.session);
    request.set_call(p.call);
    request.set_timeout_ms(timeout);
    request.set_trace(metadata != nullptr);
    for (const Tensor& t : feeds) describe(t, request.add_feed());
    std::vector<Tensor> came;
    call("/emplace.ClientService/Run", to_bytes(request, feeds), timeout, false, [&](const Bytes& body) {
      BytesReader reader(body);
      proto::RunPreparedResponse response;
      parse_head(reader, response);
      for (const auto& t : response.fetch()) came.push_back(read_tensor(reader, t));
      if (metadata) *metadata = {response.start_us(), node_stats(response.stat())};
    });
    std::vector<Tensor> values;
    for (const size_t i : p.fetches) {
      if (i >= came.size())
        throw internal_error("The server's answer lacks a value that was asked for.");
      values.push_back(came[i]);
    }
    return values;
  }

  static std::vector<Tensor> fetched(const Signature& s, const proto::RunStepResponse& response) {
    std::vector<Tensor> values;
    for (const Output& o : s.fetches) {
      const std::string name = o.name();
      for (const auto& t : response.tensor())
        if (t.name() == name) {
          values.push_back(emplace::from_proto(t.tensor()));
          break;
        }
    }
    if (values.size() != s.fetches.size())
      throw internal_error("The server's answer lacks a value that was asked for.");
    return values;
  }

  void call(const char* method, const google::protobuf::MessageLite& request,
            google::protobuf::MessageLite& response, int64_t timeout, bool wait = false) {
    call(std::string(kMasterService) + method, to_bytes(request), timeout, wait,
         [&](const Bytes& body) { parse(body, response); });
  }
  template <class Take>
  void call(const std::string& method, Bytes request, int64_t timeout, bool wait, Take take) {
    const auto pending = std::make_shared<Awaited>();
    const CallOptions options{timeout > 0 ? timeout + kMarginMs : 0, wait};
    const auto outgoing =
        channel_->call(method, std::move(request), options,
                       [pending](Answer answer) { pending->come(std::move(answer)); });
    const Listed listed(*this, pending, outgoing);
    const Answer answer = pending->wait_or_cancel(*outgoing);
    if (answer.error) throw placed(*answer.error);
    take(answer.body);
  }

  // The node that the words name: "[[{{node MatMul}}]]".
  Error placed(Error e) const {
    if (e.code() == Code::kDeadlineExceeded) e = Error(e.code(), "Deadline Exceeded");
    constexpr std::string_view kOpen = "{{node ";
    const std::string& words = e.message();
    const size_t at = words.rfind(kOpen);
    if (at == std::string::npos) return e;
    const size_t begin = at + kOpen.size();
    const size_t end = words.find('}', begin);
    if (end == std::string::npos) return e;
    if (const Node* n = graph_.find(words.substr(begin, end - begin)))
      e.at_node(n->name(), n->type()).from_source(n->source());
    return e;
  }

  // Keeps a call where it can be cancelled.
  class Listed {
   public:
    Listed(ClientSession& s, std::shared_ptr<Awaited> p, std::shared_ptr<OutgoingCall> c)
        : session_(s), key_(p) {
      const std::lock_guard lock(session_.calls_mutex_);
      session_.calls_.emplace(std::move(p), std::move(c));
    }
    ~Listed() {
      const std::lock_guard lock(session_.calls_mutex_);
      session_.calls_.erase(key_);
    }

   private:
    ClientSession& session_;
    const std::shared_ptr<Awaited> key_;
  };

  const Graph& graph_;
  const SessionOptions options_;
  const std::shared_ptr<Channel> channel_;
  std::mutex graph_mutex_;  // guards what follows
  std::string handle_;
  uint64_t session_number_ = 0;
  int64_t version_ = 0;
  struct Less {
    bool operator()(const Signature& a, const Signature& b) const {
      const auto key = [](const Output& o) { return std::pair(o.node, o.index); };
      const auto less = [&](const Output& x, const Output& y) { return key(x) < key(y); };
      if (a.targets != b.targets) return a.targets < b.targets;
      if (a.feeds != b.feeds) return std::ranges::lexicographical_compare(a.feeds, b.feeds, less);
      return std::ranges::lexicographical_compare(a.fetches, b.fetches, less);
    }
  };
  std::map<Signature, Prepared, Less> prepared_;
  bool prepares_ = true;
  size_t sent_nodes_ = 0, sent_functions_ = 0, seen_nodes_ = 0, seen_functions_ = 0;
  std::mutex calls_mutex_;
  std::map<std::shared_ptr<Awaited>, std::shared_ptr<OutgoingCall>> calls_;
};

}  // namespace

std::unique_ptr<RemoteSession> client_session(const Graph& graph, const SessionOptions& options,
                                              Transport& transport) {
  return std::make_unique<ClientSession>(graph, options, transport);
}

std::string address_of(const std::string& target) {
  constexpr std::string_view kScheme = "grpc://";
  if (!target.starts_with(kScheme))
    throw not_found(fmt::format("No session factory registered for the given session options: "
                                "{{target: \"{}\" config: }} Registered factories are "
                                "{{DIRECT_SESSION, GRPC_SESSION}}.",
                                target));
  const std::string address = target.substr(kScheme.size());
  const std::string_view port = std::string_view(address).substr(address.rfind(':') + 1);
  const bool is_number = !port.empty() && std::ranges::all_of(port, [](char c) { return c >= '0' && c <= '9'; });
  if (!is_number || address.find('/') != std::string::npos)
    throw invalid_argument(fmt::format("Could not interpret \"{}\" as a host-port pair.", address));
  return address;
}

std::vector<TaskStatus> status_of(const std::string& target, Transport& transport) {
  const auto pending = std::make_shared<Awaited>();
  const auto channel = transport.connect(address_of(target), Transport::Speaks::kOurs);
  channel->call(std::string(kClientService) + "Status", to_bytes(proto::StatusRequest()), {10'000, false},
                [pending](Answer answer) { pending->come(std::move(answer)); });
  const Answer answer = pending->wait();
  if (answer.error) throw *answer.error;
  proto::ClusterStatus response;
  parse(answer.body, response);
  std::vector<TaskStatus> all;
  for (const auto& t : response.task()) all.push_back(from_proto(t));
  return all;
}

void reset_target(const std::string& target, std::span<const std::string> containers,
                  const SessionOptions& options, Transport& transport) {
  proto::ResetRequest request;
  for (const std::string& c : containers) request.add_container(c);
  for (const std::string& f : options.device_filters) request.add_device_filters(f);
  const auto pending = std::make_shared<Awaited>();
  const auto channel = transport.connect(address_of(target), Transport::Speaks::kOursOrTensorFlows);
  channel->call(std::string(kMasterService) + "Reset", to_bytes(request),
                {options.operation_timeout_in_ms, false},
                [pending](Answer answer) { pending->come(std::move(answer)); });
  if (const Answer answer = pending->wait(); answer.error) throw *answer.error;
}

}  // namespace emplace::cluster
