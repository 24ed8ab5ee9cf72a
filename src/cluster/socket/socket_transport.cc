#include "cluster/foreign.h"
#include "cluster/socket/socket_channel.h"
#include "cluster/socket/socket_listener.h"

namespace emplace::cluster {
namespace {

class SocketTransport final : public Transport {
 public:
  // Without an identity: as the process's own, for those who dial; nobody speaks encrypted to it.
  explicit SocketTransport(std::shared_ptr<Identity> identity = nullptr,
                           std::map<std::string, std::string> tasks = {})
      : identity_(std::move(identity)), tasks_(std::move(tasks)) {}

  std::unique_ptr<Listener> listen(const ListenOptions& options, Service& service) override {
    Certified certified{identity_};
    for (const auto& [address, task] : tasks_) certified.tasks.insert(task);
    return socket_listener(
        options, service,
        [](const ListenOptions& o, Service& s, const Caller& c) { return foreign_library().door(o, s, c); },
        std::move(certified));
  }
  std::shared_ptr<Channel> connect(const std::string& address, Speaks speaks) override {
    ForeignWay foreign;
    if (speaks == Speaks::kOursOrTensorFlows)
      foreign = [address] { return foreign_library().channel(address); };
    const auto expected = tasks_.find(address);
    return socket_channel(address, std::move(foreign), identity_ ? identity_ : client_identity(),
                          expected == tasks_.end() ? "" : expected->second);
  }

 private:
  const std::shared_ptr<Identity> identity_;
  const std::map<std::string, std::string> tasks_;
};

}  // namespace

Transport& socket_transport() {
  static auto* const transport = new SocketTransport;
  return *transport;
}

std::unique_ptr<Transport> secure_transport(std::shared_ptr<Identity> identity,
                                            std::map<std::string, std::string> tasks) {
  return std::make_unique<SocketTransport>(std::move(identity), std::move(tasks));
}

}  // namespace emplace::cluster
