#include "cluster/master_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <unordered_set>

#include "cluster/expand_calls.h"
#include "cluster/master_run.h"
#include "cluster/partial_run.h"
#include "cluster/task.h"
#include "exec/prune.h"
#include "graph/graph_def.h"
#include "placement/log_text.h"
#include "session/runtime.h"
#include "session/session_impl.h"
#include "session/session_placer.h"
#include "session/table_oracle.h"
#include "session/watchdog.h"

namespace emplace::cluster {
namespace {

constexpr std::chrono::milliseconds kAnswer{700};
constexpr std::chrono::milliseconds kGrace{800};  // for tasks to say that they have ended a step

// A step on all tasks by the master's clock. A part began, as far as can be known here, in the middle of
// the time that its message and its answer were on their way.
class Timeline : public std::enable_shared_from_this<Timeline> {
 public:
  Timeline() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    all_.start_us = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  }
  // For a part whose message is sent now.
  std::function<void(const std::vector<NodeStats>&, int64_t)> part() {
    return [self = shared_from_this(), sent = now()](const std::vector<NodeStats>& nodes, int64_t took) {
      const int64_t shift = sent + std::max<int64_t>(0, self->now() - sent - took) / 2;
      const std::lock_guard lock(self->mutex_);
      for (NodeStats n : nodes) {
        n.start_ns += shift;
        n.end_ns += shift;
        self->all_.nodes.push_back(std::move(n));
      }
    };
  }
  RunMetadata take() {
    const std::lock_guard lock(mutex_);
    return std::move(all_);
  }

 private:
  int64_t now() const { return std::chrono::nanoseconds(std::chrono::steady_clock::now() - began_).count(); }

  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  RunMetadata all_;
};

}  // namespace

bool MasterSession::Request::operator<(const Request& o) const {
  return std::tie(feeds, fetches, targets) < std::tie(o.feeds, o.fetches, o.targets);
}

// A request's graph, cut; each part handed out to its task.
struct MasterSession::Cut {
  struct Part {
    Peer* peer = nullptr;
    int number = 0;
    std::vector<int> feeds, fetches;  // which of the request's
  };
  std::vector<Part> parts;  // the master's own task's last
};

MasterSession::MasterSession(SessionId id, std::vector<std::shared_ptr<Peer>> peers, size_t own,
                             SessionOptions options)
    : id_(id), peers_(std::move(peers)), own_(own), options_(std::move(options)),
      placer_(session_placer(options_)) {}

MasterSession::~MasterSession() {
  close({Code::kCancelled, "Step was cancelled by an explicit call to `Session::Close()`."});
}

void MasterSession::connect(int64_t timeout_ms, const OnCancel& on_cancel) {
  auto gather = std::make_shared<Gather>(peers_.size());
  auto found = std::make_shared<std::vector<TaskInfo>>(peers_.size());
  for (size_t i = 0; i < peers_.size(); ++i)
    peers_[i]->describe([gather, found, i](const Failure& failure, TaskInfo info) {
      (*found)[i] = std::move(info);
      gather->one(failure);
    });
  const Deadline deadline(timeout_ms, [gather] { gather->fail(timed_out()); });
  on_cancel([gather] { gather->fail({Code::kCancelled, "The client no longer waits."}); });
  if (const Failure failure = gather->wait()) throw *failure;
  for (size_t i = 0; i < peers_.size(); ++i) {
    for (const DeviceAttributes& d : (*found)[i].devices) {
      infos_.push_back(device_info(d.name, d.description, i == own_));
      attributes_.push_back(d);
      task_of_.push_back(static_cast<int>(i));
    }
    hosts_.push_back((*found)[i].devices.front().name);
  }
  if (options_.log_device_placement) write_log(options_, device_mapping(infos_));
}

// ---- The graph.

int64_t MasterSession::extend(proto::GraphDef def, int64_t version) {
  const std::lock_guard lock(graph_mutex_);
  if (version != version_)
    throw Error(Code::kAborted, fmt::format("Current version is {} but caller expected {}.",
                                            version_.load(), version));
  if (def.library().function_size() > 0) {
    proto::GraphDef functions;
    *functions.mutable_versions() = def.versions();
    functions.mutable_library()->Swap(def.mutable_library());
    add_nodes(functions);
  }
  proto::GraphDef expanded;
  if (peers_.size() > 1) expanded = def;
  if (expanded.node_size() > 0 && expand_calls(expanded, graph_)) {
    try {
      add_nodes(expanded);
      return ++version_;
    } catch (const Error&) {  // a body that fails here fails when it is called, if it is
    }
  }
  add_nodes(def);
  return ++version_;
}

void MasterSession::add_nodes(const proto::GraphDef& def) {
  ImportOptions import;
  import.allow_internal_names = true;
  import.validate_colocation = false;
  std::unordered_set<std::string_view> fresh;
  for (const proto::NodeDef& n : def.node()) fresh.insert(n.name());
  std::set<std::string> mapped;
  for (const proto::NodeDef& n : def.node())
    for (const std::string& input : n.input()) {
      const SourceName source = parse_source(input);
      if (fresh.contains(source.node) || !mapped.insert(input).second) continue;
      if (Node* const old = graph_.find(source.node))
        import.input_map.emplace_back(
            source.index < 0 ? "^" + old->name() : fmt::format("{}:{}", old->name(), source.index),
            old->output(source.index));
    }
  import_graph_def(graph_, def, import);
}

void MasterSession::place(const Signature& signature) {
  std::vector<Node*> nodes = graph_.nodes();
  if (options_.place_pruned_graph) {
    std::vector<Node*> roots = signature.targets;
    for (const Output& o : signature.fetches) roots.push_back(o.node);
    FeedIndex fed;
    for (const Output& o : signature.feeds) fed.emplace(o, 0);
    nodes = needed_nodes(roots, fed);
    std::ranges::sort(nodes, {}, &Node::id);
  }
  assigned_.resize(graph_.num_nodes(), -1);
  std::vector<int> already;
  for (const Node* n : nodes) already.push_back(assigned_[static_cast<size_t>(n->id())]);
  if (std::ranges::find(already, -1) == already.end()) return;
  PlacementOptions o;
  o.allow_soft_placement = options_.allow_soft_placement;
  o.log = options_.log_device_placement;
  const TableOracle oracle(kernel_table(options_), infos_);
  const PlacementRequest request{nodes, infos_, &oracle, o, already};
  const Placement placed = placer_->place(request);
  for (size_t i = 0; i < nodes.size(); ++i)
    assigned_[static_cast<size_t>(nodes[i]->id())] = placed.devices[i];
  if (options_.log_device_placement) write_log(options_, placement_log(request, placed.devices));
}

std::shared_ptr<MasterSession::Cut> MasterSession::cut_for(const Request& request) {
  const std::lock_guard lock(graph_mutex_);
  if (const auto it = cuts_.find(request); it != cuts_.end()) return it->second;
  const std::shared_ptr<Cut> made = cut(request);
  if (const Failure why = closed()) {  // tasks may have heard of it before they heard of the parts
    for (const auto& peer : peers_) peer->close_session(id_, [](const Failure&) {});
    throw *why;
  }
  return cuts_[request] = made;
}

std::shared_ptr<MasterSession::Cut> MasterSession::cut(const Request& request) {
  Signature s;
  for (const std::string& name : request.feeds) s.feeds.push_back(graph_.tensor(name));
  for (const std::string& name : request.fetches) s.fetches.push_back(graph_.tensor(name));
  for (const std::string& name : request.targets) {
    Node* const node = graph_.find(name);
    if (!node) throw not_found(fmt::format("FetchOutputs node {}: not found", name));
    s.targets.push_back(node);
  }
  if (s.fetches.empty() && s.targets.empty())
    throw invalid_argument("Must specify at least one target to fetch or execute.");
  place(s);
  const PlaceOf place_of = [&](const Node& n) -> NodePlace {
    const auto device = static_cast<size_t>(assigned_[static_cast<size_t>(n.id())]);
    return {task_of_[device], &infos_[device].name};
  };
  auto result = std::make_shared<Cut>();
  hand_out(*result, partition(graph_, s, place_of, hosts_));
  return result;
}

void MasterSession::hand_out(Cut& cut, Partition partition) {
  std::ranges::stable_sort(partition.parts, {}, [&](const GraphPart& p) {
    return p.task == static_cast<int>(own_);
  });
  auto gather = std::make_shared<Gather>(partition.parts.size());
  for (GraphPart& p : partition.parts) {
    Peer& peer = *peers_[static_cast<size_t>(p.task)];
    cut.parts.push_back({&peer, next_part_++, {}, {}});
    PartSpec spec{id_, cut.parts.back().number, std::move(p.graph), {}, {}, std::move(p.targets), {},
                  options_.allow_soft_placement, confined_};
    for (auto& [number, name] : p.feeds) {
      cut.parts.back().feeds.push_back(number);
      spec.feeds.push_back(std::move(name));
    }
    for (auto& [number, name] : p.fetches) {
      cut.parts.back().fetches.push_back(number);
      spec.fetches.push_back(std::move(name));
    }
    for (size_t c = 0; c < partition.crossings.size(); ++c)
      if (const Crossing& way = partition.crossings[c]; way.from == p.task)
        spec.sends.emplace_back(static_cast<int>(c), peers_[static_cast<size_t>(way.to)]->name());
    set_containers(spec.graph, DeviceName::parse(peer.name()).job.value_or(""), id_,
                   options_.isolate_session_state);
    peer.add_part(std::move(spec), gather->done());
  }
  if (const Failure failure = gather->wait()) throw *failure;
}

// ---- Steps.

std::shared_ptr<MasterSession::Run> MasterSession::begin() {
  const std::lock_guard lock(steps_mutex_);
  if (closed_) throw *closed_;
  auto run = std::make_shared<Run>(id_, next_step_);
  live_[next_step_++] = run;
  return run;
}

void MasterSession::end(Run& run) {
  run.end();
  const std::lock_guard lock(steps_mutex_);
  live_.erase(run.step());
}

std::vector<Tensor> MasterSession::run(const std::shared_ptr<Run>& run, const Request& request,
                                       std::span<const Tensor> feeds, int64_t timeout_ms,
                                       RunMetadata* metadata) {
  const std::shared_ptr<void> over(nullptr, [&](void*) { end(*run); });
  const auto trace = metadata ? std::make_shared<Timeline>() : nullptr;
  const Deadline deadline(timeout_ms > 0 ? timeout_ms : options_.operation_timeout_in_ms,
                          [&] { run->cancel(timed_out()); });
  const std::shared_ptr<Cut> cut = cut_for(request);
  StepId oldest;
  {
    const std::lock_guard lock(steps_mutex_);
    oldest = live_.begin()->first;
  }
  auto gather = std::make_shared<Gather>(cut->parts.size());
  std::vector<Peer*> peers;
  for (const Cut::Part& p : cut->parts) peers.push_back(p.peer);
  run->start(std::move(peers), gather);
  auto fetched = std::make_shared<std::vector<Tensor>>(request.fetches.size());
  for (const Cut::Part& p : cut->parts) {
    PartRun part{id_, p.number, run->step(), oldest, {}};
    if (trace) part.on_stats = trace->part();
    for (const int f : p.feeds) part.feeds.push_back(feeds[static_cast<size_t>(f)]);
    const auto take = [gather, fetched, cut, &p, run](const Failure& failure,
                                                       std::vector<Tensor> values) {
      for (size_t i = 0; !failure && i < values.size(); ++i)
        (*fetched)[static_cast<size_t>(p.fetches[i])] = std::move(values[i]);
      gather->one(failure);
      if (failure) run->cancel(*failure);  // the others
    };
    if (Task* const own = p.peer->here(); own && &p == &cut->parts.back()) {
      std::vector<Tensor> values;
      Failure failure;
      try {
        values = own->run_part(part);
      } catch (const Error& e) {
        failure = e;
      } catch (const std::exception& e) {
        failure = internal_error(e.what());
      }
      take(failure, std::move(values));
    } else {
      p.peer->run_part(std::move(part), take);
    }
  }
  if (const Failure failure = gather->wait()) {
    gather->wait_all(kGrace);
    const Failure why = closed();
    throw why && gather->failure()->code() == Code::kAborted ? *why : *gather->failure();  // tasks no longer know the session
  }
  if (metadata) *metadata = trace->take();
  return std::move(*fetched);
}

// ---- In pieces.

struct MasterSession::Partial {
  Partial(const Graph& graph, const Request& request) : pieces(graph, request) {}
  std::mutex mutex;  // guards what follows
  PartialRun pieces;
};

std::string MasterSession::begin_partial(const Request& request) {
  const std::lock_guard lock(graph_mutex_);
  auto made = std::make_shared<Partial>(graph_, request);
  const std::string handle = fmt::format("partial_run_{}", next_partial_++);
  partials_[handle] = std::move(made);
  return handle;
}

std::vector<Tensor> MasterSession::run_partial(const std::shared_ptr<Run>& run, const std::string& handle,
                                               std::span<const std::string> feeds,
                                               std::span<const Tensor> values,
                                               std::span<const std::string> fetches, int64_t timeout_ms) {
  const std::shared_ptr<void> over(nullptr, [&](void*) { end(*run); });
  std::shared_ptr<Partial> partial;
  {
    const std::lock_guard lock(graph_mutex_);
    if (const auto it = partials_.find(handle); it != partials_.end()) partial = it->second;
  }
  if (!partial) throw invalid_argument("Must run PartialRunSetup before performing partial runs");
  const std::lock_guard one_piece(partial->mutex);
  const PartialRun::Piece piece = partial->pieces.begin(feeds, values, fetches);
  std::vector<Tensor> fetched;
  if (!piece.request.targets.empty()) fetched = this->run(run, piece.request, piece.feeds, timeout_ms);
  std::vector<Tensor> wanted = partial->pieces.end(piece, std::move(fetched), fetches);
  if (partial->pieces.over()) {
    const std::lock_guard lock(graph_mutex_);
    partials_.erase(handle);
  }
  return wanted;
}

std::vector<WaitingCall> MasterSession::waiting() {
  const auto gather = std::make_shared<Gather>(peers_.size());
  struct Found {
    std::mutex mutex;
    std::vector<WaitingCall> calls;
  };
  const auto found = std::make_shared<Found>();
  for (const auto& peer : peers_)
    peer->waiting(id_, [gather, found](const Failure&, std::vector<WaitingCall> calls) {
      {
        const std::lock_guard lock(found->mutex);
        for (WaitingCall& c : calls) found->calls.push_back(std::move(c));
      }
      gather->one({});
    });
  gather->wait_all(kAnswer);
  const std::lock_guard lock(found->mutex);
  std::vector<WaitingCall> all = std::move(found->calls);
  std::ranges::stable_sort(all, std::ranges::greater(), &WaitingCall::seconds);
  return all;
}

Failure MasterSession::closed() {
  const std::lock_guard lock(steps_mutex_);
  return closed_;
}

void MasterSession::close(const Error& why) {
  std::vector<std::shared_ptr<Run>> runs;
  {
    const std::lock_guard lock(steps_mutex_);
    if (closed_) return;
    closed_ = why;
    for (const auto& [step, run] : live_) runs.push_back(run);
  }
  for (const auto& run : runs) run->cancel(why);
  auto gather = std::make_shared<Gather>(peers_.size());
  for (const auto& peer : peers_) peer->close_session(id_, gather->done());
  gather->wait_all(kGrace);
}

}  // namespace emplace::cluster
