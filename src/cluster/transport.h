#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cluster/bytes.h"

namespace emplace::cluster {

// What a call ends with: an error, or a message.
struct Answer {
  std::optional<Error> error;
  Bytes body;
};

// A call that has come in, to be answered once, from any thread.
class IncomingCall {
 public:
  virtual ~IncomingCall() = default;
  virtual const std::string& method() const = 0;  // "/tensorflow.MasterService/RunStep"
  virtual Bytes& request() = 0;
  virtual void answer(Answer answer) = 0;
  // Called when the caller no longer waits; at most one may be set, before the answer.
  virtual void on_cancel(std::function<void()> f) = 0;
};

// Who answers calls. The thread is the transport's: it must not wait.
class Service {
 public:
  virtual ~Service() = default;
  virtual void call(std::shared_ptr<IncomingCall> call) = 0;
};

// A call under way; letting it go leaves it under way.
class OutgoingCall {
 public:
  virtual ~OutgoingCall() = default;
  virtual void cancel() = 0;
};

struct CallOptions {
  int64_t timeout_ms = 0;     // 0: none
  bool wait_for_peer = false;  // one that is not up yet; otherwise Unavailable at once
};

// A way to a process. Any thread may call; `done` is called once, from any thread.
class Channel {
 public:
  virtual ~Channel() = default;
  virtual std::shared_ptr<OutgoingCall> call(const std::string& method, Bytes request,
                                             const CallOptions& options,
                                             std::function<void(Answer)> done) = 0;
};

// Who may come in, from where.
struct ListenOptions {
  std::string host = "127.0.0.1";
  int port = 0;              // 0: the system chooses
  size_t max_message = size_t{1} << 31;
  bool same_user_only = true;
};

class Listener {
 public:
  virtual ~Listener() = default;  // ends the calls under way
  virtual int port() const = 0;
};

class Transport {
 public:
  virtual ~Transport() = default;
  // Throws Unknown where the port can't be had.
  virtual std::unique_ptr<Listener> listen(const ListenOptions& options, Service& service) = 0;
  // To "host:port". `watch`: asks every few seconds whether the other side is still there while calls
  // are under way; TensorFlow's servers hang up on who does so.
  virtual std::shared_ptr<Channel> connect(const std::string& address, bool watch) = 0;
};

// What libemplace_cluster.so hands to whoever opened it; `build` says that both are of one.
struct TransportLibrary {
  const char* build;
  Transport* (*transport)();
};
inline constexpr const char* kTransportEntry = "emplace_cluster_transport";

// The one over gRPC. Throws Unimplemented, saying why, where the library can't be opened.
Transport& grpc_transport();

}  // namespace emplace::cluster
