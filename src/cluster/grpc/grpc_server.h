#pragma once
#include <memory>

#include "cluster/socket/socket_listener.h"

namespace emplace::cluster {

// Serves clients of TensorFlow's, on connections that others have looked at and accepted.
std::unique_ptr<ForeignDoor> grpc_door(const ListenOptions& options, Service& service,
                                       const Caller& caller);

}  // namespace emplace::cluster
