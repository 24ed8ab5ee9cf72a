#pragma once
#include <memory>

#include "cluster/transport.h"

namespace emplace::cluster {

std::unique_ptr<Listener> grpc_listen(const ListenOptions& options, Service& service);

}  // namespace emplace::cluster
