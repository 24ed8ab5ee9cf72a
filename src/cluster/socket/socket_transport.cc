#include "cluster/foreign.h"
#include "cluster/socket/socket_channel.h"
#include "cluster/socket/socket_listener.h"

namespace emplace::cluster {
namespace {

class SocketTransport final : public Transport {
 public:
  std::unique_ptr<Listener> listen(const ListenOptions& options, Service& service) override {
    return socket_listener(options, service, [](const ListenOptions& o, Service& s, const Caller& c) {
      return foreign_library().door(o, s, c);
    });
  }
  std::shared_ptr<Channel> connect(const std::string& address, Speaks speaks) override {
    if (speaks == Speaks::kOurs) return socket_channel(address, nullptr);
    return socket_channel(address, [address] { return foreign_library().channel(address); });
  }
};

}  // namespace

Transport& socket_transport() {
  static auto* const transport = new SocketTransport;
  return *transport;
}

}  // namespace emplace::cluster
