// What libemplace_cluster.so shows: calls over gRPC.
#include "cluster/transport.h"

#include <cstdlib>

#include "cluster/grpc/grpc_channel.h"
#include "cluster/grpc/grpc_server.h"

namespace emplace::cluster {
namespace {

class GrpcTransport final : public Transport {
 public:
  std::unique_ptr<Listener> listen(const ListenOptions& options, Service& service) override {
    return grpc_listen(options, service);
  }
  std::shared_ptr<Channel> connect(const std::string& address, bool watch) override {
    return grpc_channel(address, watch);
  }
};

Transport* transport() {
  static auto* const made = [] {
    setenv("GRPC_VERBOSITY", "NONE", 0);  // errors are told by who meets them
    return new GrpcTransport;
  }();
  return made;
}

const TransportLibrary library{EMPLACE_BUILD_ID, &transport};

}  // namespace
}  // namespace emplace::cluster

extern "C" __attribute__((visibility("default"))) const emplace::cluster::TransportLibrary*
emplace_cluster_transport() {
  return &emplace::cluster::library;
}
