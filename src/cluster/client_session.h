#pragma once
#include <memory>

#include "cluster/transport.h"
#include "emplace/cluster.h"
#include "session/remote.h"

namespace emplace::cluster {

// A client's side of a session on a master, of Emplace's or TensorFlow's: sends the graph with the
// first step and what is added to it with those that follow.
std::unique_ptr<RemoteSession> client_session(const Graph& graph, const SessionOptions& options,
                                              Transport& transport);

// "grpc://host:port" -> "host:port". Throws NotFound in TensorFlow's words.
std::string address_of(const std::string& target);

std::vector<TaskStatus> status_of(const std::string& target, Transport& transport);

void reset_target(const std::string& target, std::span<const std::string> containers,
                  const SessionOptions& options, Transport& transport);

}  // namespace emplace::cluster
