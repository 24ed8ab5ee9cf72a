#include "service/remote.h"

#include "cluster/awaited.h"
#include "cluster/methods.h"
#include "cluster/task_service.h"
#include "graph/parse_message.h"

namespace emplace::service {
namespace {

// Whoever waits for an answer, while the scope may end the wait.
class Waiting final : public CallScope::Guest {
 public:
  Waiting(CallScope& scope, cluster::Awaited& awaited) : scope_(scope), awaited_(awaited) {
    scope_.enter(*this);
  }
  ~Waiting() { scope_.leave(*this); }
  void interrupt(const Error& why) override { awaited_.give_up(why); }

 private:
  CallScope& scope_;
  cluster::Awaited& awaited_;
};

std::string full_name(const char* method) { return std::string(cluster::kDataService) + method; }

}  // namespace

Remote::Remote(cluster::Transport& transport, const std::string& address)
    : address_(address), channel_(transport.connect(address, cluster::Transport::Speaks::kOurs)) {}

Bytes Remote::call(CallScope& scope, const char* method, Bytes request,
                   cluster::CallOptions options) {
  const auto awaited = std::make_shared<cluster::Awaited>();
  const Waiting waiting(scope, *awaited);
  const auto call =
      channel_->call(full_name(method), std::move(request), options,
                     [awaited](cluster::Answer answer) { awaited->come(std::move(answer)); });
  cluster::Answer answer = awaited->wait_or_cancel(*call);
  if (!answer.error) return std::move(answer.body);
  if (scope.cancelled()) call->cancel();
  throw cluster::unpacked(*answer.error, address_);
}

void Remote::send(const char* method, Bytes request) {
  channel_->call(full_name(method), std::move(request), {},
                 [way = channel_](const cluster::Answer&) {});
}

proto::DataServiceMetadata metadata_of(const std::string& dispatcher, const std::string& dataset) {
  CallScope scope;
  Remote remote(cluster::socket_transport(), dispatcher);
  proto::FindDatasetRequest r;
  r.set_id(dataset);
  r.set_without_graph(true);
  proto::DataServiceMetadata metadata;
  parse_message(metadata,
                remote.ask<proto::FindDatasetResponse>(scope, "FindDataset", r).metadata());
  return metadata;
}

void answer_by(cluster::IncomingCall& call, const std::function<Bytes()>& f) {
  Bytes body;
  if (const auto failure = cluster::failure_of([&] { body = f(); }))
    call.answer({cluster::packed(*failure), {}});
  else
    call.answer({{}, std::move(body)});
}

}  // namespace emplace::service
