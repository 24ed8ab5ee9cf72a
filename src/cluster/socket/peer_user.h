#pragma once
#include <sys/socket.h>
#include <sys/types.h>

#include <optional>

namespace emplace::cluster {

// Whose the other end of a connected loopback socket is, as the kernel says; none where it can't be
// found.
std::optional<uid_t> user_behind(int socket);

}  // namespace emplace::cluster
