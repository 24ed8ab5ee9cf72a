#pragma once
#include <memory>
#include <string>

#include "cluster/secure.h"
#include "cluster/socket/frame.h"
#include "cluster/socket/stream.h"

namespace emplace::cluster {

// What a client shows, and wants to be shown.
struct DialOptions {
  std::shared_ptr<Identity> identity = nullptr;  // without one the connection is plain
  std::string expected = {};  // the task whose certificate the server must have; any, if empty
  uint32_t kind = 0;   // Hello's
  uint64_t link = 0, key = 0;
};

struct Dialed {
  std::unique_ptr<Stream> stream;  // none: it is no server of Emplace's
  Hello hello;                     // the server's
};

// Connects to "host:port", on this machine over a Unix socket if the server has one, and greets. Waits,
// 5 seconds at most for each of both. Throws Unavailable; PermissionDenied where one side does not
// want the other.
Dialed dial(const std::string& address, const DialOptions& options);

// The name of a server's Unix socket, which belongs to the network namespace as its port does.
std::string local_name(int port);

}  // namespace emplace::cluster
