#include "cluster/grpc/grpc_server.h"

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/server_posix.h>

#include <mutex>

#include "cluster/grpc/grpc_bytes.h"

namespace emplace::cluster {
namespace {

grpc::Status status_of(const std::optional<Error>& error) {
  if (!error) return grpc::Status::OK;
  return {static_cast<grpc::StatusCode>(error->code()), error->message()};
}

// One call that came in. gRPC owns it until OnDone; whoever is to answer shares it.
class ServerCall final : public grpc::ServerGenericBidiReactor, public IncomingCall {
 public:
  ServerCall(Service& service, const Caller& caller, std::string method)
      : service_(service), caller_(caller), method_(std::move(method)) {}
  // Begins; `self` keeps the call until gRPC has done with it.
  void begin(std::shared_ptr<ServerCall> self) {
    self_ = std::move(self);
    StartRead(&buffer_);
  }

  const std::string& method() const override { return method_; }
  Bytes& request() override { return request_; }
  const Caller& caller() const override { return caller_; }

  void answer(Answer answer) override {
    {
      const std::lock_guard lock(mutex_);
      cancelled_ = nullptr;
    }
    if (answer.error) return Finish(status_of(answer.error));
    response_ = to_buffer(answer.body);
    StartWriteAndFinish(&response_, {}, grpc::Status::OK);
  }
  void on_cancel(std::function<void()> f) override {
    {
      const std::lock_guard lock(mutex_);
      if (!is_cancelled_) {
        cancelled_ = std::move(f);
        return;
      }
    }
    f();
  }

  void OnReadDone(bool ok) override {
    if (!ok) return Finish({grpc::StatusCode::INVALID_ARGUMENT, "A call without a message."});
    request_ = from_buffer(buffer_);
    buffer_.Clear();
    service_.call(self_);
  }
  void OnCancel() override {
    std::function<void()> f;
    {
      const std::lock_guard lock(mutex_);
      is_cancelled_ = true;
      f.swap(cancelled_);
    }
    if (f) f();
  }
  void OnDone() override { self_.reset(); }

 private:
  Service& service_;
  const Caller& caller_;
  const std::string method_;
  std::shared_ptr<ServerCall> self_;
  grpc::ByteBuffer buffer_, response_;
  Bytes request_;
  std::mutex mutex_;
  bool is_cancelled_ = false;
  std::function<void()> cancelled_;
};

class Calls final : public grpc::CallbackGenericService {
 public:
  Calls(Service& service, const Caller& caller) : service_(service), caller_(caller) {}
  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    auto call = std::make_shared<ServerCall>(service_, caller_, context->method());
    ServerCall* const reactor = call.get();
    reactor->begin(std::move(call));
    return reactor;
  }

 private:
  Service& service_;
  const Caller caller_;
};

void shut_down(grpc::Server& server) {
  server.Shutdown(std::chrono::system_clock::now() + std::chrono::milliseconds(500));
  server.Wait();
}

class GrpcDoor final : public ForeignDoor {
 public:
  GrpcDoor(const ListenOptions& options, Service& service, const Caller& caller)
      : calls_(service, caller) {
    grpc::ServerBuilder builder;
    builder.RegisterCallbackGenericService(&calls_);
    builder.SetMaxReceiveMessageSize(
        static_cast<int>(std::min<size_t>(options.max_message, INT32_MAX)));
    builder.SetMaxSendMessageSize(-1);
    server_ = builder.BuildAndStart();
    if (!server_) throw internal_error("gRPC does not start.");
  }
  ~GrpcDoor() override { shut_down(*server_); }
  void take(int fd) override { grpc::AddInsecureChannelFromFd(server_.get(), fd); }

 private:
  Calls calls_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace

std::unique_ptr<ForeignDoor> grpc_door(const ListenOptions& options, Service& service,
                                       const Caller& caller) {
  return std::make_unique<GrpcDoor>(options, service, caller);
}

}  // namespace emplace::cluster
