// What libemplace_cluster.so shows: calls over gRPC, and TLS.
#include <cstdlib>

#include "cluster/foreign.h"
#include "cluster/grpc/grpc_channel.h"
#include "cluster/grpc/grpc_server.h"
#include "cluster/tls/authority.h"
#include "cluster/tls/identity.h"

namespace emplace::cluster {
namespace {

const ForeignLibrary library{EMPLACE_BUILD_ID, &grpc_door,  &grpc_channel,
                             &tls_identity,    &make_keys, &make_token};

}  // namespace
}  // namespace emplace::cluster

extern "C" __attribute__((visibility("default"))) const emplace::cluster::ForeignLibrary*
emplace_cluster_foreign() {
  setenv("GRPC_VERBOSITY", "NONE", 0);  // errors are told by who meets them
  return &emplace::cluster::library;
}
