#pragma once
#include <memory>
#include <string>

#include "cluster/secure.h"
#include "cluster/transport.h"

namespace emplace::cluster {

// A way to the server at "host:port", made when first needed and again when it is lost. `foreign`, where
// there is one, makes the way to a server that is not Emplace's.
// `identity` and `expected` are as DialOptions has them.
using ForeignWay = std::function<std::shared_ptr<Channel>()>;
std::shared_ptr<Channel> socket_channel(const std::string& address, ForeignWay foreign,
                                        std::shared_ptr<Identity> identity = nullptr,
                                        std::string expected = {});

}  // namespace emplace::cluster
