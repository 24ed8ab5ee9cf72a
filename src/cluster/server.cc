#include <fmt/format.h>

#include <charconv>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <sstream>

#include "cluster/client_session.h"
#include "cluster/master.h"
#include "cluster/door.h"
#include "cluster/eager_client.h"
#include "cluster/eager_service.h"
#include "cluster/foreign.h"
#include "cluster/remote_peer.h"
#include "cluster/secure.h"
#include "cluster/task_service.h"
#include "emplace/cluster.h"
#include "session/session_impl.h"

namespace emplace {
namespace {

struct Address {
  std::string host;
  int port = 0;
};

Address parse_address(const std::string& text) {
  const size_t colon = text.rfind(':');
  Address a;
  const char* const end = text.data() + text.size();
  const auto read = colon == std::string::npos
                        ? std::from_chars_result{nullptr, std::errc::invalid_argument}
                        : std::from_chars(text.data() + colon + 1, end, a.port);
  if (read.ec != std::errc() || read.ptr != end || a.port < 0 || a.port > 65535)
    throw invalid_argument(fmt::format("Could not parse port for local server from \"{}\".", text));
  a.host = text.substr(0, colon);
  return a;
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host.starts_with("127.") || host == "[::1]" || host.empty();
}

// The job may be left out where there is only one.
std::string job_of(const ServerOptions& o) {
  if (o.job.empty() && o.cluster.size() == 1) return o.cluster.begin()->first;
  return o.job;
}

std::string own_address(const ServerOptions& o) {
  const auto job = o.cluster.find(job_of(o));
  if (job == o.cluster.end())
    throw internal_error(fmt::format("Job \"{}\" was not defined in cluster", job_of(o)));
  const auto task = job->second.find(o.task);
  if (task == job->second.end())
    throw internal_error(
        fmt::format("Task {} was not defined in job \"{}\"", o.task, job->first));
  return task->second;
}

bool for_everyone(const ServerOptions& o) {
  const char* const text = std::getenv("EMPLACE_INSECURE_FOR_EVERYONE");
  return o.insecure_for_everyone || (text && std::string_view(text) == "1");
}

// Null where there are no certificates.
std::shared_ptr<cluster::Identity> identity_of(const ServerOptions& o, const std::string& task) {
  const char* const text = std::getenv("EMPLACE_TLS");
  const std::string folder = !o.tls.empty() ? o.tls : text ? text : "";
  if (folder.empty()) return nullptr;
  auto identity = cluster::read_identity(folder, task, "");
  const cluster::Caller& own = identity->own();
  if (own.kind == cluster::Caller::Kind::kTask && own.name == task) return identity;
  // A client's environment: it may serve itself.
  if (o.tls.empty() && is_loopback(parse_address(own_address(o)).host)) return nullptr;
  throw failed_precondition(fmt::format(
      "This server does not start: it is {}, but {} {}. `emplace cluster init` makes certificates.", task,
      identity->folder(), own.name.empty() ? "holds no certificate" : "holds that of " + own.name));
}

std::vector<std::string> or_environment(std::vector<std::string> given, const char* name, char between) {
  const char* const text = std::getenv(name);
  if (!given.empty() || !text) return given;
  std::istringstream all(text);
  for (std::string one; std::getline(all, one, between);)
    if (!one.empty()) given.push_back(one);
  return given;
}

cluster::PeerRules rules_of(const ServerOptions& o) {
  return {or_environment(o.files, "EMPLACE_FILES", ':'), or_environment(o.allow, "EMPLACE_ALLOW", ',')};
}

cluster::ListenOptions listen_options(const ServerOptions& o, bool has_identity) {
  const Address own = parse_address(own_address(o));
  cluster::ListenOptions listen;
  listen.port = o.port > 0 ? o.port : own.port;
  listen.host = is_loopback(own.host) ? "127.0.0.1" : "0.0.0.0";
  listen.same_user_only = has_identity || !for_everyone(o);
  if (o.max_message_bytes > 0) listen.max_message = o.max_message_bytes;
  if (listen.same_user_only && !has_identity && !is_loopback(own.host))
    throw failed_precondition(fmt::format(
        "This server does not start: at {}:{} others than you could reach it, and run programs as "
        "you. Make certificates (`emplace cluster init DIR --jobs …`) and name them (EMPLACE_TLS=DIR, "
        "`emplace serve --tls DIR`); or give it an address of this machine alone (localhost:{}); or, in a "
        "network that you trust wholly, set insecure_for_everyone (EMPLACE_INSECURE_FOR_EVERYONE=1).",
        own.host, own.port, own.port));
  return listen;
}

// Who is expected where.
std::map<std::string, std::string> tasks_of(const ServerOptions& o) {
  std::map<std::string, std::string> tasks;
  for (const auto& [job, addresses] : o.cluster)
    for (const auto& [number, address] : addresses)
      tasks[address] = DeviceName::of_task(job, 0, number).task_name();
  return tasks;
}

// Who brings the members of groups together, as in TensorFlow: the chief, else the first worker.
std::string leader_of(const ServerOptions& o) {
  for (const char* job : {"chief", "worker"})
    if (const auto it = o.cluster.find(job); it != o.cluster.end() && !it->second.empty())
      return DeviceName::of_task(job, 0, it->second.begin()->first).task_name();
  const auto& [job, tasks] = *o.cluster.begin();
  return DeviceName::of_task(job, 0, tasks.begin()->first).task_name();
}

void check_protocol(const ServerOptions& o) {
  if (o.protocol == "grpc" || o.protocol.empty()) return;
  throw not_found(fmt::format("No server factory registered for the given ServerDef: job_name: "
                              "\"{}\" task_index: {} protocol: \"{}\"",
                              job_of(o), o.task, o.protocol));
}

}  // namespace

struct Server::Impl final : cluster::Service {
  Impl(const ServerOptions& o, std::shared_ptr<cluster::Identity> shown)
      : name(DeviceName::of_task(job_of(o), 0, o.task)),
        identity(std::move(shown)),
        secure(identity ? cluster::secure_transport(identity, tasks_of(o)) : nullptr),
        transport(secure ? *secure : cluster::socket_transport()),
        task(name, o.session, [this](const std::string& wanted) { return find(wanted); }) {
    for (const auto& [job, tasks] : o.cluster)
      for (const auto& [number, address] : tasks) {
        const std::string peer = DeviceName::of_task(job, 0, number).task_name();
        if (peer == task.name()) own = peers.size();
        peers.push_back(peer == task.name()
                            ? local_peer(task)
                            : cluster::remote_peer(
                                  peer, transport.connect(address, cluster::Transport::Speaks::kOurs)));
      }
    task.set_rules(rules_of(o));
    task.set_leader(leader_of(o));
    master = std::make_unique<cluster::Master>(peers, own, o.session);
    const cluster::ListenOptions listen = listen_options(o, identity != nullptr);
    door = std::make_unique<cluster::Door>(
        cluster::DoorLimits{o.max_message_bytes, o.max_calls_per_second, o.longest_call_ms, !listen.same_user_only},
        *this);
    listener = transport.listen(listen, *door);
    port = listener->port();
    if (identity) lend_to_clients();
  }
  ~Impl() override { stop(); }

  // The process's own sessions are this task's, too, unless they have something to show themselves.
  void lend_to_clients() {
    const auto own = cluster::client_identity();
    if (!own || (own->own().kind == cluster::Caller::Kind::kAnyone && own->token().empty()))
      cluster::set_client_identity(identity);
  }

  std::shared_ptr<cluster::Peer> find(const std::string& wanted) const {
    for (const auto& p : peers)
      if (p->name() == wanted) return p;
    throw not_found(fmt::format("{} is not in the cluster of {}", wanted, task.name()));
  }

  // What the door lets in.
  void call(std::shared_ptr<cluster::IncomingCall> call) override {
    if (master->serve(call) || serve_task(task, call) || eager.serve(call)) return;
    call->answer({unimplemented(fmt::format("{} is not served here.", call->method())), {}});
  }

  void stop() {
    {
      const std::lock_guard lock(mutex);
      if (std::exchange(stopped, true)) return;
    }
    master->stop();
    eager.stop();
    task.stop();
    listener.reset();
    changed.notify_all();
  }

  const DeviceName name;
  const std::shared_ptr<cluster::Identity> identity;
  const std::unique_ptr<cluster::Transport> secure;
  cluster::Transport& transport;
  std::vector<std::shared_ptr<cluster::Peer>> peers;
  size_t own = 0;
  cluster::Task task;
  cluster::EagerService eager{task};
  std::unique_ptr<cluster::Master> master;
  std::unique_ptr<cluster::Door> door;
  std::unique_ptr<cluster::Listener> listener;  // its calls use what is above
  int port = 0;
  std::mutex mutex;
  std::condition_variable changed;
  bool stopped = false;
};

Server::Server(ServerOptions options) {
  check_protocol(options);
  own_address(options);
  auto identity = identity_of(options, DeviceName::of_task(job_of(options), 0, options.task).task_name());
  listen_options(options, identity != nullptr);  // before anything is made
  impl_ = std::make_unique<Impl>(options, std::move(identity));
}

Server::~Server() = default;

std::unique_ptr<Server> Server::create_local_server(SessionOptions session) {
  ServerOptions o;
  o.cluster["localhost"][0] = "localhost:0";
  o.session = std::move(session);
  return std::make_unique<Server>(std::move(o));
}

std::string Server::target() const { return fmt::format("grpc://localhost:{}", impl_->port); }
int Server::port() const { return impl_->port; }
std::shared_ptr<Resource> Server::collectives() const { return impl_->task.collectives(); }
void Server::stop() { impl_->stop(); }

bool Server::join_for(int64_t ms) {
  std::unique_lock lock(impl_->mutex);
  return impl_->changed.wait_for(lock, std::chrono::milliseconds(ms), [&] { return impl_->stopped; });
}
void Server::join() {
  while (!join_for(1000)) {
  }
}

std::vector<std::string> make_cluster_keys(const ClusterKeys& keys) {
  cluster::KeyRequest request{keys.folder, {}, keys.clients, keys.days};
  for (const auto& [job, count] : keys.jobs) {
    if (count < 1) throw invalid_argument(fmt::format("Job \"{}\" has no tasks.", job));
    for (int i = 0; i < count; ++i)
      request.tasks.push_back(DeviceName::of_task(job, 0, i).task_name());
  }
  return cluster::tls_library().make_keys(request);
}

std::string make_client_token(const std::string& folder, const std::string& client, int days) {
  return cluster::tls_library().make_token(folder, client, days);
}

void use_cluster_keys(const std::string& folder, const std::string& token) {
  cluster::set_client_identity(cluster::tls_library().identity(folder, token));
}

void reset_target(const std::string& target, std::span<const std::string> containers,
                  const SessionOptions& options) {
  cluster::reset_target(target, containers, options, cluster::socket_transport());
}

void connect_tasks(Eager& eager, const ClusterSpec& cluster, const std::string& own_job, int own_task) {
  const std::string own = own_job.empty() ? "" : DeviceName::of_task(own_job, 0, own_task).task_name();
  std::vector<std::shared_ptr<RemoteTask>> tasks;
  for (const auto& [job, addresses] : cluster)
    for (const auto& [number, address] : addresses) {
      const std::string name = DeviceName::of_task(job, 0, number).task_name();
      if (name != own) tasks.push_back(cluster::remote_task(name, address, cluster::socket_transport()));
    }
  eager.set_tasks(std::move(tasks), own);
}

std::vector<TaskStatus> cluster_status(const std::string& target) {
  return cluster::status_of(target, cluster::socket_transport());
}

std::vector<WaitingNode> waiting(Session& session) {
  std::vector<WaitingNode> nodes;
  for (WaitingCall& c : session.impl().waiting())
    nodes.push_back({std::move(c.node), std::move(c.op), std::move(c.device), std::move(c.source),
                     std::move(c.awaits), std::move(c.from), c.seconds});
  return nodes;
}

std::unique_ptr<RemoteSession> open_target(const Graph& graph, const SessionOptions& options) {
  return cluster::client_session(graph, options, cluster::socket_transport());
}

}  // namespace emplace
