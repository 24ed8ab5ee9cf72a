#pragma once
#include <memory>
#include <string>

#include "cluster/transport.h"

namespace emplace::cluster {

// A way to a server of TensorFlow's, made without asking it for anything.
std::shared_ptr<Channel> grpc_channel(const std::string& address);

}  // namespace emplace::cluster
