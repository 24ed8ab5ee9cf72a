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

// Who is at the other end, as the transport has found out by itself: never by the other's word.
struct Caller {
  enum class Kind {
    kSameUser,  // a process of the same user on this machine: may do what the user may
    kTask,      // has shown the certificate of a task of the cluster
    kClient,    // has shown a token that was given to a client
    kAnyone,
  };
  Kind kind = Kind::kAnyone;
  std::string name = {};  // the task's, "/job:ps/replica:0/task:0", or the client's
  bool operator==(const Caller&) const = default;
};
// Whether its files and code are those that the server lets others have (cluster/file_rules.h).
inline bool is_confined(const Caller& caller) {
  return caller.kind == Caller::Kind::kTask || caller.kind == Caller::Kind::kClient;
}

// A call that has come in, to be answered once, from any thread.
class IncomingCall {
 public:
  virtual ~IncomingCall() = default;
  virtual const std::string& method() const = 0;  // "/tensorflow.MasterService/RunStep"
  virtual Bytes& request() = 0;
  virtual const Caller& caller() const = 0;
  // The thread that handed the call over may wait: there is always one more.
  virtual bool may_wait() const { return false; }
  // Of a message that was posted nobody hears the answer.
  virtual void answer(Answer answer) = 0;
  // Called when the caller no longer waits; at most one may be set, before the answer.
  virtual void on_cancel(std::function<void()> f) = 0;
};

// Who answers calls. The thread is the transport's: it must not wait, unless the call says so.
class Service {
 public:
  virtual ~Service() = default;
  virtual void call(std::shared_ptr<IncomingCall> call) = 0;
};

// A call or a message under way; letting it go leaves it under way.
class OutgoingCall {
 public:
  virtual ~OutgoingCall() = default;
  // Afterwards nothing reads the memory that was to be sent.
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
  // A message without an answer. `sent` is called once: when the message's memory may be written
  // over, or with what came between.
  virtual std::shared_ptr<OutgoingCall> post(const std::string& method, Bytes message,
                                             std::function<void(std::optional<Error>)> sent) = 0;
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
  // To "host:port", without asking it for anything yet. A server that is silent for 9 seconds while calls
  // are under way is taken for dead, unless it is TensorFlow's.
  enum class Speaks { kOurs, kOursOrTensorFlows };
  virtual std::shared_ptr<Channel> connect(const std::string& address, Speaks speaks) = 0;
};

// The one over this machine's sockets (cluster/socket).
Transport& socket_transport();

}  // namespace emplace::cluster
