#pragma once
#include <memory>
#include <string>

#include "cluster/transport.h"

namespace emplace::cluster {

// A way to the server at "host:port", made when first needed and again when it is lost. `foreign`, where
// there is one, makes the way to a server that is not Emplace's.
using ForeignWay = std::function<std::shared_ptr<Channel>()>;
std::shared_ptr<Channel> socket_channel(const std::string& address, ForeignWay foreign);

}  // namespace emplace::cluster
