#pragma once
#include <memory>
#include <set>
#include <string>

#include "cluster/secure.h"
#include "cluster/transport.h"

namespace emplace::cluster {

// Serves one who came with HTTP/2: gRPC does. `fd` is its own from then on.
class ForeignDoor {
 public:
  virtual ~ForeignDoor() = default;  // ends the calls under way
  virtual void take(int fd) = 0;
};
using MakeForeignDoor =
    std::function<std::unique_ptr<ForeignDoor>(const ListenOptions&, Service&, const Caller&)>;

// Who has certificates, and whose are taken: the tasks' of the cluster, and clients'.
struct Certified {
  std::shared_ptr<Identity> identity = nullptr;  // none: nobody speaks encrypted here
  std::set<std::string> tasks = {};
};

// A server's port, and beside it a Unix socket for processes of this machine. `door` is asked for
// when the first comes who needs it; what it throws is told to nobody: the caller is cut off.
std::unique_ptr<Listener> socket_listener(const ListenOptions& options, Service& service,
                                          MakeForeignDoor door, Certified certified = {});

}  // namespace emplace::cluster
