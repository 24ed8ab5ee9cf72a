#include "cluster/grpc/grpc_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/server_posix.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "cluster/grpc/grpc_bytes.h"
#include "cluster/grpc/peer_user.h"

namespace emplace::cluster {
namespace {

grpc::Status status_of(const std::optional<Error>& error) {
  if (!error) return grpc::Status::OK;
  return {static_cast<grpc::StatusCode>(error->code()), error->message()};
}

// One call that came in. gRPC owns it until OnDone; whoever is to answer shares it.
class ServerCall final : public grpc::ServerGenericBidiReactor, public IncomingCall {
 public:
  ServerCall(Service& service, std::string method) : service_(service), method_(std::move(method)) {}
  // Begins; `self` keeps the call until gRPC has done with it.
  void begin(std::shared_ptr<ServerCall> self) {
    self_ = std::move(self);
    StartRead(&buffer_);
  }

  const std::string& method() const override { return method_; }
  Bytes& request() override { return request_; }

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
  const std::string method_;
  std::shared_ptr<ServerCall> self_;
  grpc::ByteBuffer buffer_, response_;
  Bytes request_;
  std::mutex mutex_;
  bool is_cancelled_ = false;
  std::function<void()> cancelled_;
};

class Door final : public grpc::CallbackGenericService {
 public:
  explicit Door(Service& service) : service_(service) {}
  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    auto call = std::make_shared<ServerCall>(service_, context->method());
    ServerCall* const reactor = call.get();
    reactor->begin(std::move(call));
    return reactor;
  }

 private:
  Service& service_;
};

class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int fd() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

Error not_started(const std::string& why) {
  return {Code::kUnknown, fmt::format("Could not start gRPC server: {}", why)};
}

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  return address;
}

void prepare(grpc::ServerBuilder& builder, const ListenOptions& options, Door& door) {
  builder.RegisterCallbackGenericService(&door);
  builder.SetMaxReceiveMessageSize(
      static_cast<int>(std::min<size_t>(options.max_message, INT32_MAX)));
  builder.SetMaxSendMessageSize(-1);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 1000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
}

void shut_down(grpc::Server& server) {
  server.Shutdown(std::chrono::system_clock::now() + std::chrono::milliseconds(500));
  server.Wait();
}

// Serves whoever comes.
class OpenListener final : public Listener {
 public:
  OpenListener(const ListenOptions& options, Service& service) : door_(service) {
    grpc::ServerBuilder builder;
    prepare(builder, options, door_);
    const std::string address = fmt::format("{}:{}", options.host, options.port);
    builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port_);
    server_ = builder.BuildAndStart();
    if (!server_ || port_ == 0) throw not_started(address);
  }
  ~OpenListener() override { shut_down(*server_); }
  int port() const override { return port_; }

 private:
  Door door_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

// Connections are taken one by one and shown to gRPC only when they are the same user's: nothing that
// a stranger sends is read.
class SameUserListener final : public Listener {
 public:
  SameUserListener(const ListenOptions& options, Service& service)
      : door_(service), socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int on = 1;
    setsockopt(socket_.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address = loopback(options.port);
    socklen_t size = sizeof address;
    auto* const raw = reinterpret_cast<sockaddr*>(&address);
    if (bind(socket_.fd(), raw, size) != 0 || listen(socket_.fd(), 128) != 0)
      throw not_started(fmt::format("127.0.0.1:{}: {}", options.port, std::strerror(errno)));
    getsockname(socket_.fd(), raw, &size);
    port_ = ntohs(address.sin_port);
    if (pipe2(wake_, O_CLOEXEC) != 0) throw not_started(std::strerror(errno));
    grpc::ServerBuilder builder;
    prepare(builder, options, door_);
    server_ = builder.BuildAndStart();
    if (!server_) throw not_started("gRPC refused");
    thread_ = std::thread([this] { accept_all(); });
  }

  ~SameUserListener() override {
    const char byte = 0;
    if (write(wake_[1], &byte, 1) != 1) return;
    thread_.join();
    close(wake_[0]);
    close(wake_[1]);
    shut_down(*server_);
  }
  int port() const override { return port_; }

 private:
  void accept_all() {
    pollfd polled[2] = {{socket_.fd(), POLLIN, 0}, {wake_[0], POLLIN, 0}};
    while (true) {
      if (poll(polled, 2, -1) < 0 && errno != EINTR) return;
      if (polled[1].revents) return;
      if (polled[0].revents) accept_one();
    }
  }
  void accept_one() {
    Socket peer(accept4(socket_.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (peer.fd() < 0) return;
    if (user_behind(peer.fd()) != geteuid()) return;
    const int on = 1;
    setsockopt(peer.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    grpc::AddInsecureChannelFromFd(server_.get(), peer.release());
  }

  Door door_;
  Socket socket_;
  int port_ = 0;
  int wake_[2] = {-1, -1};
  std::unique_ptr<grpc::Server> server_;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<Listener> grpc_listen(const ListenOptions& options, Service& service) {
  if (options.same_user_only) return std::make_unique<SameUserListener>(options, service);
  return std::make_unique<OpenListener>(options, service);
}

}  // namespace emplace::cluster
