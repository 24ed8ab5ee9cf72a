#include "cluster/cluster_testutil.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>

#include "cluster/master_run.h"
#include "graph/graph_def.h"

namespace emplace::testing {

using cluster::MasterSession;

// The sockets stay: Linux gives their ports to nobody who asks for any, and lets a server listen there.
std::vector<int> free_ports(int count) {
  std::vector<int> ports;
  for (int i = 0; i < count; ++i) {
    const int reserved = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    setsockopt(reserved, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof a;
    bind(reserved, reinterpret_cast<sockaddr*>(&a), size);
    getsockname(reserved, reinterpret_cast<sockaddr*>(&a), &size);
    ports.push_back(ntohs(a.sin_port));
  }
  return ports;
}

Tasks::Tasks(int count, int gpus) {
  SessionOptions options;
  options.virtual_gpus = gpus;
  options.virtual_gpu_memory = 64 << 20;
  options.gpu_options.allow_growth = true;
  const auto find = [this](const std::string& name) {
    for (const auto& p : peers_)
      if (p->name() == name) return p;
    throw not_found(name);
  };
  for (int i = 0; i < count; ++i) {
    tasks_.push_back(std::make_unique<cluster::Task>(DeviceName::of_task("worker", 0, i), options,
                                                     find));
    peers_.push_back(local_peer(*tasks_.back()));
  }
}

Tasks::~Tasks() {
  for (const auto& t : tasks_) t->stop();
}

std::unique_ptr<MasterSession> Tasks::session(const Graph& graph, int own, SessionOptions options) {
  static std::atomic<cluster::SessionId> next{1};
  auto session =
      std::make_unique<MasterSession>(next++, peers_, static_cast<size_t>(own), std::move(options));
  session->connect(0);
  proto::GraphDef def;
  to_proto(graph, {}, &def);
  session->extend(def, 0);
  return session;
}

std::vector<Tensor> run(MasterSession& session, const std::vector<Output>& fetches,
                        const Feeds& feeds, const std::vector<Node*>& targets, int64_t timeout_ms) {
  MasterSession::Request request;
  std::vector<Tensor> values;
  for (const auto& [output, value] : feeds) {
    request.feeds.push_back(output.name());
    values.push_back(value);
  }
  for (const Output& o : fetches) request.fetches.push_back(o.name());
  for (const Node* n : targets) request.targets.push_back(n->name());
  const auto step = session.begin();
  return session.run(step, request, values, timeout_ms);
}

}  // namespace emplace::testing
