#pragma once
#include <memory>

#include "cluster/peer.h"
#include "cluster/transport.h"

namespace emplace::cluster {

// The task called `name`, over a channel: our own protocol. Calls run on `address`'s.
std::shared_ptr<Peer> remote_peer(std::string name, std::shared_ptr<Channel> channel);

}  // namespace emplace::cluster
