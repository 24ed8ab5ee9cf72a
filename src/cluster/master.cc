#include "cluster/master.h"

#include <fmt/format.h>

#include <charconv>
#include <random>

#include "cluster/gather.h"
#include "cluster/master_run.h"
#include "cluster/wire.h"
#include "emplace/proto/master.pb.h"
#include "graph/tensor_proto.h"
#include "session/config.h"
#include "session/watchdog.h"

namespace emplace::cluster {
namespace {

SessionId random_id() {
  std::random_device source;
  return (uint64_t{source()} << 32 | source()) | 1;
}

// Of a session's handle; 0, which none has, for what is none.
SessionId number_of(const std::string& handle) {
  SessionId id = 0;
  const char* const end = handle.data() + handle.size();
  const auto read = std::from_chars(handle.data(), end, id, 16);
  return read.ec == std::errc() && read.ptr == end ? id : 0;
}

// What a client of TensorFlow's finds the failing operation by.
Error with_node(const Error& e) {
  const std::string place = fmt::format("[[{{{{node {}}}}}]]", e.node());
  if (e.node().empty() || e.message().find(place) != std::string::npos) return e;
  return Error(e.code(), fmt::format("{}\n\t {}", e.message(), place));
}

// As TensorFlow tells it.
void put_step_stats(const RunMetadata& in, proto::StepStats* out) {
  std::map<std::string, proto::DeviceStepStats*> devices;
  for (const NodeStats& n : in.nodes) {
    auto& device = devices[n.device];
    if (!device) {
      device = out->add_dev_stats();
      device->set_device(n.device);
    }
    auto& stats = *device->add_node_stats();
    stats.set_node_name(n.node);
    stats.set_timeline_label(fmt::format("{} = {}()", n.node, n.op));
    stats.set_all_start_micros(in.start_us + n.start_ns / 1000);
    stats.set_op_end_rel_micros((n.end_ns - n.start_ns) / 1000);
    stats.set_all_end_rel_micros(std::max<int64_t>(1, (n.end_ns - n.start_ns) / 1000));
    stats.set_all_start_nanos(in.start_us * 1000 + n.start_ns);
    stats.set_op_end_rel_nanos(n.end_ns - n.start_ns);
    stats.set_all_end_rel_nanos(n.end_ns - n.start_ns);
    stats.set_thread_id(n.thread);
  }
}

bool passes(const std::string& task, std::span<const std::string> filters) {
  const DeviceName name = DeviceName::parse(task);
  return std::ranges::any_of(filters, [&](const std::string& f) {
    DeviceName filter = DeviceName::parse(f);
    filter.type.reset();
    filter.id.reset();
    return filter.is_specification_of(name);
  });
}

}  // namespace

struct Master::Open {
  Open(std::unique_ptr<MasterSession> s, Caller who) : session(std::move(s)), whose(std::move(who)) {}
  const std::unique_ptr<MasterSession> session;
  const Caller whose;
  struct Prepared {
    MasterSession::Request request;
    int64_t timeout_ms = 0;
  };
  std::mutex mutex;
  std::map<int64_t, std::shared_ptr<const Prepared>> callables;
  int64_t next_callable = 1;

  std::shared_ptr<const Prepared> callable(int64_t number) {
    const std::lock_guard lock(mutex);
    const auto it = callables.find(number);
    return it == callables.end() ? nullptr : it->second;
  }
};

struct Master::Method {
  std::string_view name;
  Answer (Master::*run)(IncomingCall&);
};
const Master::Method Master::kMethods[] = {
    {"/emplace.ClientService/Run", &Master::run_prepared},
    {"/emplace.ClientService/Prepare", &Master::prepare},
    {"/emplace.ClientService/Status", &Master::status},
    {"/emplace.ClientService/Waiting", &Master::waiting},
    {"/tensorflow.MasterService/CreateSession", &Master::create_session},
    {"/tensorflow.MasterService/ExtendSession", &Master::extend_session},
    {"/tensorflow.MasterService/PartialRunSetup", &Master::partial_run_setup},
    {"/tensorflow.MasterService/RunStep", &Master::run_step},
    {"/tensorflow.MasterService/CloseSession", &Master::close_session},
    {"/tensorflow.MasterService/ListDevices", &Master::list_devices},
    {"/tensorflow.MasterService/Reset", &Master::reset},
    {"/tensorflow.MasterService/MakeCallable", &Master::make_callable},
    {"/tensorflow.MasterService/RunCallable", &Master::run_callable},
    {"/tensorflow.MasterService/ReleaseCallable", &Master::release_callable},
};

Master::Master(std::vector<std::shared_ptr<Peer>> peers, size_t own, SessionOptions defaults)
    : peers_(std::move(peers)), own_(own), defaults_(std::move(defaults)) {}

Master::~Master() { stop(); }

void Master::stop() {
  end_all({Code::kCancelled, "Step was cancelled: the server is stopping."});
}

void Master::end_all(const Error& why) {
  decltype(open_) all;
  {
    const std::lock_guard lock(mutex_);
    all.swap(open_);
  }
  for (const auto& [handle, open] : all) open->session->close(why);
}

bool Master::serve(const std::shared_ptr<IncomingCall>& call) {
  for (const Method& m : kMethods) {
    if (m.name != call->method()) continue;
    const auto serve = [this, &m, call] {
      Answer answer;
      try {
        answer = (this->*m.run)(*call);
      } catch (const Error& e) {
        answer.error = with_node(e);
      } catch (const std::bad_alloc&) {
        answer.error = resource_exhausted("out of memory");
      } catch (const std::exception& e) {
        answer.error = internal_error(e.what());
      }
      call->answer(std::move(answer));
    };
    if (call->may_wait()) serve();
    else threads_.run(serve);
    return true;
  }
  return false;
}

std::shared_ptr<Master::Open> Master::find(const IncomingCall& call, const std::string& handle) {
  if (auto open = find(call, number_of(handle))) return open;
  throw Error(Code::kAborted, fmt::format("Session {} is not found.", handle));
}

// Nobody has another's session, whatever they know of it.
std::shared_ptr<Master::Open> Master::find(const IncomingCall& call, SessionId session) {
  const std::lock_guard lock(mutex_);
  const auto it = open_.find(session);
  return it == open_.end() || it->second->whose != call.caller() ? nullptr : it->second;
}

std::vector<std::shared_ptr<Peer>> Master::visible(std::span<const std::string> filters) const {
  std::vector<std::shared_ptr<Peer>> peers{peers_[own_]};
  for (size_t i = 0; i < peers_.size(); ++i)
    if (i != own_ && (filters.empty() || passes(peers_[i]->name(), filters)))
      peers.push_back(peers_[i]);
  return peers;
}

Answer Master::create_session(IncomingCall& call) {
  const auto request = parsed<proto::CreateSessionRequest>(call.request());
  SessionOptions options = session_options(request.config());
  if (defaults_.log) options.log = defaults_.log;
  const SessionId id = random_id();
  auto session =
      std::make_unique<MasterSession>(id, visible(options.device_filters), 0, options);
  if (is_confined(call.caller())) session->confine();
  session->connect(options.operation_timeout_in_ms, [&](std::function<void()> end) {
    call.on_cancel(std::move(end));
  });
  proto::CreateSessionResponse response;
  response.set_graph_version(session->extend(request.graph_def(), 0));
  response.set_session_handle(fmt::format("{:016x}", id));
  const std::lock_guard lock(mutex_);
  open_[id] = std::make_shared<Open>(std::move(session), call.caller());
  return {{}, to_bytes(response)};
}

Answer Master::extend_session(IncomingCall& call) {
  const auto request = parsed<proto::ExtendSessionRequest>(call.request());
  proto::ExtendSessionResponse response;
  response.set_new_graph_version(find(call, request.session_handle())
                                     ->session->extend(request.graph_def(),
                                                       request.current_graph_version()));
  return {{}, to_bytes(response)};
}

std::shared_ptr<MasterSession::Run> Master::begin(Open& open, IncomingCall& call) {
  const auto step = open.session->begin();
  call.on_cancel([step] { step->cancel({Code::kCancelled, "Step was cancelled by its client."}); });
  return step;
}

std::vector<Tensor> Master::run(Open& open, IncomingCall& call,
                                const MasterSession::Request& request,
                                std::span<const Tensor> feeds, int64_t timeout_ms, RunMetadata* metadata) {
  return open.session->run(begin(open, call), request, feeds, timeout_ms, metadata);
}

Answer Master::run_step(IncomingCall& call) {
  const auto request = parsed<proto::RunStepRequest>(call.request());
  const auto open = find(call, request.session_handle());
  MasterSession::Request wanted;
  std::vector<Tensor> feeds;
  for (const auto& f : request.feed()) {
    wanted.feeds.push_back(f.name());
    feeds.push_back(emplace::from_proto(f.tensor()));
  }
  wanted.fetches.assign(request.fetch().begin(), request.fetch().end());
  wanted.targets.assign(request.target().begin(), request.target().end());
  const int64_t timeout_ms = request.options().timeout_in_ms();
  std::vector<Tensor> fetched;
  const bool traced = request.options().trace_level() > 0;
  RunMetadata metadata;
  if (request.partial_run_handle().empty()) {
    fetched = run(*open, call, wanted, feeds, timeout_ms, traced ? &metadata : nullptr);
  } else {
    fetched = open->session->run_partial(begin(*open, call), request.partial_run_handle(), wanted.feeds, feeds,
                                         wanted.fetches, timeout_ms);
  }
  proto::RunStepResponse response;
  for (size_t i = 0; i < fetched.size(); ++i) {
    auto* const tensor = response.add_tensor();
    tensor->set_name(request.fetch(static_cast<int>(i)));
    to_whole_proto(fetched[i], tensor->mutable_tensor());
  }
  response.mutable_metadata();
  if (traced) put_step_stats(metadata, response.mutable_metadata()->mutable_step_stats());
  return {{}, to_bytes(response)};
}

Answer Master::close_session(IncomingCall& call) {
  const auto handle = parsed<proto::CloseSessionRequest>(call.request()).session_handle();
  const auto open = find(call, handle);
  {
    const std::lock_guard lock(mutex_);
    open_.erase(number_of(handle));
  }
  open->session->close(
      {Code::kCancelled, "Step was cancelled by an explicit call to `Session::Close()`."});
  return {{}, to_bytes(proto::CloseSessionResponse())};
}

Answer Master::list_devices(IncomingCall& call) {
  const auto handle = parsed<proto::ListDevicesRequest>(call.request()).session_handle();
  std::vector<DeviceAttributes> devices;
  if (handle.empty()) {
    MasterSession all(random_id(), visible({}), 0, defaults_);
    all.connect(10'000, [&](std::function<void()> end) { call.on_cancel(std::move(end)); });
    devices = all.devices();
  } else {
    devices = find(call, handle)->session->devices();
  }
  proto::ListDevicesResponse response;
  for (const DeviceAttributes& d : devices)
    to_proto(d, d.name.starts_with(peers_[own_]->name() + "/") ? response.add_local_device()
                                                              : response.add_remote_device());
  return {{}, to_bytes(response)};
}

// Ends every session of this master, as TensorFlow's does, whosever containers are named.
Answer Master::reset(IncomingCall& call) {
  const auto request = parsed<proto::ResetRequest>(call.request());
  const std::vector<std::string> filters(request.device_filters().begin(),
                                         request.device_filters().end());
  const std::vector<std::string> containers(request.container().begin(),
                                            request.container().end());
  end_all({Code::kAborted, "The session was ended by a reset of its server."});
  const auto peers = visible(filters);
  auto gather = std::make_shared<Gather>(peers.size());
  for (const auto& p : peers) p->reset(containers, gather->done());
  const Deadline deadline(10'000, [gather] { gather->fail(timed_out()); });
  if (const Failure failure = gather->wait()) throw *failure;
  return {{}, to_bytes(proto::ResetResponse())};
}

Answer Master::status(IncomingCall&) {
  const auto gather = std::make_shared<Gather>(peers_.size());
  const auto all = std::make_shared<std::vector<TaskStatus>>(peers_.size());
  for (size_t i = 0; i < peers_.size(); ++i)
    peers_[i]->status([gather, all, i](const Failure& failure, TaskStatus status) {
      (*all)[i] = std::move(status);
      if (failure) (*all)[i].problem = failure->message();
      gather->one({});
    });
  gather->wait();  // each has its time
  proto::ClusterStatus response;
  for (size_t i = 0; i < peers_.size(); ++i) {
    (*all)[i].task = peers_[i]->name();
    to_proto((*all)[i], response.add_task());
  }
  return {{}, to_bytes(response)};
}

// ---- Prepared calls.

Answer Master::make_callable(IncomingCall& call) {
  const auto request = parsed<proto::MakeCallableRequest>(call.request());
  const auto open = find(call, request.session_handle());
  const proto::CallableOptions& o = request.options();
  Open::Prepared prepared{{{o.feed().begin(), o.feed().end()},
                           {o.fetch().begin(), o.fetch().end()},
                           {o.target().begin(), o.target().end()}},
                          o.run_options().timeout_in_ms()};
  const std::lock_guard lock(open->mutex);
  proto::MakeCallableResponse response;
  response.set_handle(open->next_callable);
  open->callables[open->next_callable++] = std::make_shared<const Open::Prepared>(std::move(prepared));
  return {{}, to_bytes(response)};
}

Answer Master::run_callable(IncomingCall& call) {
  const auto request = parsed<proto::RunCallableRequest>(call.request());
  const auto open = find(call, request.session_handle());
  const auto prepared = open->callable(request.handle());
  if (!prepared) throw invalid_argument(fmt::format("No such callable handle: {}", request.handle()));
  if (request.feed_size() != static_cast<int>(prepared->request.feeds.size()))
    throw invalid_argument(fmt::format("Expected {} feeds but got {}",
                                       prepared->request.feeds.size(), request.feed_size()));
  std::vector<Tensor> feeds;
  for (const auto& f : request.feed()) feeds.push_back(emplace::from_proto(f));
  proto::RunCallableResponse response;
  for (const Tensor& t : run(*open, call, prepared->request, feeds, prepared->timeout_ms))
    to_whole_proto(t, response.add_fetch());
  response.mutable_metadata();
  return {{}, to_bytes(response)};
}

Answer Master::release_callable(IncomingCall& call) {
  const auto request = parsed<proto::ReleaseCallableRequest>(call.request());
  const auto open = find(call, request.session_handle());
  const std::lock_guard lock(open->mutex);
  open->callables.erase(request.handle());
  return {{}, to_bytes(proto::ReleaseCallableResponse())};
}

// ---- … in Emplace's own words.

Answer Master::prepare(IncomingCall& call) {
  const auto request = parsed<proto::PrepareRequest>(call.request());
  const auto open = find(call, request.session_handle());
  Open::Prepared prepared{{{request.feed().begin(), request.feed().end()},
                           {request.fetch().begin(), request.fetch().end()},
                           {request.target().begin(), request.target().end()}},
                          0};
  proto::PrepareResponse response;
  response.set_session(number_of(request.session_handle()));
  const std::lock_guard lock(open->mutex);
  response.set_call(open->next_callable);
  open->callables[open->next_callable++] = std::make_shared<const Open::Prepared>(std::move(prepared));
  return {{}, to_bytes(response)};
}

Answer Master::run_prepared(IncomingCall& call) {
  BytesReader reader(call.request());
  proto::RunPreparedRequest request;
  parse_head(reader, request);
  const auto open = find(call, request.session());
  if (!open)
    throw Error(Code::kAborted, fmt::format("Session {:016x} is not found.", request.session()));
  const auto prepared = open->callable(request.call());
  if (!prepared || request.feed_size() != static_cast<int>(prepared->request.feeds.size()))
    throw invalid_argument(fmt::format("No such call: {}", request.call()));
  std::vector<Tensor> feeds;
  for (const auto& f : request.feed()) feeds.push_back(read_tensor(reader, f));
  proto::RunPreparedResponse response;
  RunMetadata metadata;
  const auto fetched = run(*open, call, prepared->request, feeds, request.timeout_ms(), request.trace() ? &metadata : nullptr);
  if (request.trace()) {
    response.set_start_us(metadata.start_us);
    to_proto(metadata.nodes, response.mutable_stat());
  }
  for (const Tensor& t : fetched) describe(t, response.add_fetch());
  return {{}, to_bytes(response, fetched)};
}

Answer Master::waiting(IncomingCall& call) {
  const auto open = find(call, parsed<proto::WaitingRequest>(call.request()).session());
  proto::WaitingResponse response;
  if (open) to_proto(open->session->waiting(), &response);
  return {{}, to_bytes(response)};
}

Answer Master::partial_run_setup(IncomingCall& call) {
  const auto request = parsed<proto::PartialRunSetupRequest>(call.request());
  proto::PartialRunSetupResponse response;
  response.set_partial_run_handle(find(call, request.session_handle())
                                      ->session->begin_partial({{request.feed().begin(), request.feed().end()},
                                                                {request.fetch().begin(), request.fetch().end()},
                                                                {request.target().begin(), request.target().end()}}));
  return {{}, to_bytes(response)};
}

}  // namespace emplace::cluster
