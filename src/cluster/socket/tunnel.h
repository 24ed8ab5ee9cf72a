#pragma once
#include <memory>
#include <string>

#include "cluster/socket/stream.h"

namespace emplace::cluster {

// Carries an encrypted connection's bytes, `first` ahead of them, to a socket whose other end it returns:
// for those who can do with sockets alone. Ends when either side does.
Fd tunnel(std::unique_ptr<Stream> stream, std::string first);

}  // namespace emplace::cluster
