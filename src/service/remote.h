#pragma once
#include <memory>
#include <string>

#include "cluster/wire.h"
#include "emplace/proto/data_service.pb.h"
#include "kernel/called_function.h"

namespace emplace::service {

using cluster::Bytes;

// Another process of the service: its dispatcher or a worker. Any thread may call.
class Remote {
 public:
  // "localhost:5000"
  Remote(cluster::Transport& transport, const std::string& address);

  // Waits for the answer, and first for the process to be there; the scope ends it. Throws what the
  // other process threw, Unavailable when it is gone.
  Bytes call(CallScope& scope, const char* method, Bytes request,
             cluster::CallOptions options = {});
  template <class Response, class Request>
  Response ask(CallScope& scope, const char* method, const Request& request) {
    return cluster::parsed<Response>(
        call(scope, method, cluster::to_bytes(request), {.timeout_ms = 0, .wait_for_peer = true}));
  }
  // Says something that nobody waits for.
  template <class Request>
  void tell(const char* method, const Request& request) {
    send(method, cluster::to_bytes(request));
  }
  const std::string& address() const { return address_; }

 private:
  void send(const char* method, Bytes request);

  const std::string address_;
  const std::shared_ptr<cluster::Channel> channel_;
};

// What was said of a dataset when it was registered at the dispatcher. NotFound where it was not.
proto::DataServiceMetadata metadata_of(const std::string& dispatcher, const std::string& dataset);

// Answers a call by what `f` gives or throws.
void answer_by(cluster::IncomingCall& call, const std::function<Bytes()>& f);

}  // namespace emplace::service
