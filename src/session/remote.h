#pragma once
#include <memory>
#include <span>
#include <vector>

#include "emplace/session.h"
#include "exec/step_graph.h"
#include "exec/waiting.h"

namespace emplace {

// The engine of a session whose graph is run elsewhere. Any thread may call.
class RemoteSession {
 public:
  virtual ~RemoteSession() = default;
  virtual std::vector<Tensor> run(const Signature& signature, std::span<const Tensor> feeds,
                                  const RunOptions& options, RunMetadata* metadata) = 0;
  virtual std::vector<DeviceAttributes> devices() = 0;
  virtual std::vector<WaitingCall> waiting() = 0;  // on all tasks
  virtual void cancel(const Error& error) = 0;  // every step under way
  virtual void close() = 0;                     // returns within a second
};

// On the server at options.target. Nobody is contacted yet. Defined in cluster/.
std::unique_ptr<RemoteSession> open_target(const Graph& graph, const SessionOptions& options);

}  // namespace emplace
