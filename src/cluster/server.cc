#include <fmt/format.h>

#include <charconv>
#include <condition_variable>
#include <cstdlib>
#include <mutex>

#include "cluster/client_session.h"
#include "cluster/master.h"
#include "cluster/remote_peer.h"
#include "cluster/task_service.h"
#include "emplace/cluster.h"

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

cluster::ListenOptions listen_options(const ServerOptions& o) {
  const Address own = parse_address(own_address(o));
  cluster::ListenOptions listen;
  listen.port = o.port > 0 ? o.port : own.port;
  if (for_everyone(o)) {
    listen.same_user_only = false;
    listen.host = is_loopback(own.host) ? "127.0.0.1" : "0.0.0.0";
  } else if (!is_loopback(own.host)) {
    throw failed_precondition(fmt::format(
        "This server does not start: at {}:{} others than you could reach it, and run programs as "
        "you. Give it an address of this machine alone (localhost:{}), or, in a network that you "
        "trust wholly, set insecure_for_everyone (EMPLACE_INSECURE_FOR_EVERYONE=1).",
        own.host, own.port, own.port));
  }
  return listen;
}

void check_protocol(const ServerOptions& o) {
  if (o.protocol == "grpc" || o.protocol.empty()) return;
  throw not_found(fmt::format("No server factory registered for the given ServerDef: job_name: "
                              "\"{}\" task_index: {} protocol: \"{}\"",
                              job_of(o), o.task, o.protocol));
}

}  // namespace

struct Server::Impl final : cluster::Service {
  explicit Impl(const ServerOptions& o)
      : name(DeviceName::of_task(job_of(o), 0, o.task)),
        task(name, o.session, [this](const std::string& wanted) { return find(wanted); }) {
    for (const auto& [job, tasks] : o.cluster)
      for (const auto& [number, address] : tasks) {
        const std::string peer = DeviceName::of_task(job, 0, number).task_name();
        if (peer == task.name()) own = peers.size();
        peers.push_back(peer == task.name()
                            ? local_peer(task)
                            : cluster::remote_peer(peer, cluster::socket_transport().connect(address, cluster::Transport::Speaks::kOurs)));
      }
    master = std::make_unique<cluster::Master>(peers, own, o.session);
    listener = cluster::socket_transport().listen(listen_options(o), *this);
    port = listener->port();
  }
  ~Impl() override { stop(); }

  std::shared_ptr<cluster::Peer> find(const std::string& wanted) const {
    for (const auto& p : peers)
      if (p->name() == wanted) return p;
    throw not_found(fmt::format("{} is not in the cluster of {}", wanted, task.name()));
  }

  // The one door: every call comes through here.
  void call(std::shared_ptr<cluster::IncomingCall> call) override {
    if (master->serve(call) || serve_task(task, call)) return;
    call->answer({unimplemented(fmt::format("{} is not served here.", call->method())), {}});
  }

  void stop() {
    {
      const std::lock_guard lock(mutex);
      if (std::exchange(stopped, true)) return;
    }
    master->stop();
    task.stop();
    listener.reset();
    changed.notify_all();
  }

  const DeviceName name;
  std::vector<std::shared_ptr<cluster::Peer>> peers;
  size_t own = 0;
  cluster::Task task;
  std::unique_ptr<cluster::Master> master;
  std::unique_ptr<cluster::Listener> listener;  // its calls use what is above
  int port = 0;
  std::mutex mutex;
  std::condition_variable changed;
  bool stopped = false;
};

Server::Server(ServerOptions options) {
  check_protocol(options);
  listen_options(options);  // before anything is made
  impl_ = std::make_unique<Impl>(options);
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
void Server::stop() { impl_->stop(); }

bool Server::join_for(int64_t ms) {
  std::unique_lock lock(impl_->mutex);
  return impl_->changed.wait_for(lock, std::chrono::milliseconds(ms), [&] { return impl_->stopped; });
}
void Server::join() {
  while (!join_for(1000)) {
  }
}

void reset_target(const std::string& target, std::span<const std::string> containers,
                  const SessionOptions& options) {
  cluster::reset_target(target, containers, options, cluster::socket_transport());
}

std::unique_ptr<RemoteSession> open_target(const Graph& graph, const SessionOptions& options) {
  return cluster::client_session(graph, options, cluster::socket_transport());
}

}  // namespace emplace
