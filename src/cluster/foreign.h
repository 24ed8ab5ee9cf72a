#pragma once
#include "cluster/secure.h"
#include "cluster/socket/socket_listener.h"

namespace emplace::cluster {

// What libemplace_cluster.so hands to whoever opened it: gRPC, in which TensorFlow's own clients and
// servers speak, and TLS, by which processes on several machines know each other. `build` says that both
// sides are of one.
struct ForeignLibrary {
  const char* build;
  std::unique_ptr<ForeignDoor> (*door)(const ListenOptions&, Service&, const Caller&);
  std::shared_ptr<Channel> (*channel)(const std::string& address);
  std::shared_ptr<Identity> (*identity)(const std::string& folder, const std::string& token);
  std::vector<std::string> (*make_keys)(const KeyRequest&);
  std::string (*make_token)(const std::string& folder, const std::string& name, int days);
};
inline constexpr const char* kForeignEntry = "emplace_cluster_foreign";

// Throws Unimplemented where the library can't be opened: `need`, and why not.
const ForeignLibrary& foreign_library(
    std::string_view need = "TensorFlow's own clients and servers need gRPC");
inline const ForeignLibrary& tls_library() {
  return foreign_library("Certificates and encrypted connections need OpenSSL");
}

}  // namespace emplace::cluster
