#include "cluster/grpc/grpc_channel.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <chrono>

#include "cluster/grpc/grpc_bytes.h"

namespace emplace::cluster {
namespace {

// What the other side says it failed with; gRPC has TensorFlow's codes.
std::optional<Error> error_of(const grpc::Status& status) {
  if (status.ok()) return {};
  return Error(static_cast<Code>(status.error_code()), status.error_message());
}

// One call: lives until it is answered, whether or not anybody holds it.
struct Call final : OutgoingCall {
  grpc::ClientContext context;
  grpc::ByteBuffer request, response;
  std::function<void(Answer)> done;

  void cancel() override { context.TryCancel(); }
  void finish(const grpc::Status& status) {
    Answer answer{error_of(status), {}};
    if (status.ok()) answer.body = from_buffer(response);
    done(std::move(answer));
  }
};

class GrpcChannel final : public Channel {
 public:
  explicit GrpcChannel(const std::string& address) {
    grpc::ChannelArguments args;
    args.SetMaxReceiveMessageSize(-1);
    args.SetMaxSendMessageSize(-1);
    args.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    args.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
    args.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
    args.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);  // a cluster's tasks are not the web's
    stub_ = std::make_unique<grpc::GenericStub>(grpc::CreateCustomChannel(
        "dns:///" + address, grpc::InsecureChannelCredentials(), args));
  }

  std::shared_ptr<OutgoingCall> call(const std::string& method, Bytes request,
                                     const CallOptions& options,
                                     std::function<void(Answer)> done) override {
    auto call = std::make_shared<Call>();
    call->request = to_buffer(request);
    call->done = std::move(done);
    if (options.timeout_ms > 0)
      call->context.set_deadline(std::chrono::system_clock::now() +
                                 std::chrono::milliseconds(options.timeout_ms));
    call->context.set_wait_for_ready(options.wait_for_peer);
    stub_->UnaryCall(&call->context, method, {}, &call->request, &call->response,
                     [call](const grpc::Status& status) { call->finish(status); });
    return call;
  }
  std::shared_ptr<OutgoingCall> post(const std::string& method, Bytes message,
                                     std::function<void(std::optional<Error>)> sent) override {
    return call(method, std::move(message), {},
                [sent = std::move(sent)](Answer answer) { sent(std::move(answer.error)); });
  }

 private:
  std::unique_ptr<grpc::GenericStub> stub_;
};

}  // namespace

std::shared_ptr<Channel> grpc_channel(const std::string& address) {
  return std::make_shared<GrpcChannel>(address);
}

}  // namespace emplace::cluster
