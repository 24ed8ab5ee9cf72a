#pragma once
#include "cluster/socket/socket_listener.h"

namespace emplace::cluster {

// What libemplace_cluster.so hands to whoever opened it: gRPC, in which TensorFlow's own clients and
// servers speak. `build` says that both sides are of one.
struct ForeignLibrary {
  const char* build;
  std::unique_ptr<ForeignDoor> (*door)(const ListenOptions&, Service&, const Caller&);
  std::shared_ptr<Channel> (*channel)(const std::string& address);
};
inline constexpr const char* kForeignEntry = "emplace_cluster_foreign";

// Throws Unimplemented, saying why, where the library can't be opened.
const ForeignLibrary& foreign_library();

}  // namespace emplace::cluster
