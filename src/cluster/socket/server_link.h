#pragma once
#include <memory>

#include "cluster/socket/link.h"
#include "cluster/transport.h"

namespace emplace::cluster {

// A server's side of a link: calls that come in go to the service, answers back. Any thread may call.
class ServerLink {
 public:
  virtual ~ServerLink() = default;  // waits until no call is being handed over
  virtual void start(std::unique_ptr<Stream> stream) = 0;
  virtual void add(std::unique_ptr<Stream> stream) = 0;
  virtual bool is_over() const = 0;
};

// `ended` is called once, when the link is lost.
std::shared_ptr<ServerLink> server_link(Service& service, Caller caller, const Link::Limits& limits,
                                        std::function<void()> ended);

}  // namespace emplace::cluster
