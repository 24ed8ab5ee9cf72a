#pragma once
#include <memory>
#include <string>

#include "cluster/transport.h"

namespace emplace::cluster {

// Made without asking the other side for anything.
std::shared_ptr<Channel> grpc_channel(const std::string& address, bool watch);

}  // namespace emplace::cluster
