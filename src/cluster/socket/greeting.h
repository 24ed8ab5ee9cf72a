#pragma once
#include <functional>
#include <memory>
#include <string>

#include "cluster/secure.h"
#include "cluster/socket/frame.h"
#include "cluster/socket/poller.h"
#include "cluster/socket/stream.h"
#include "cluster/transport.h"

namespace emplace::cluster {

// One that has come to a server's port: found out by its socket and what it says first. Whoever says
// nothing within 5 seconds is cut off.
class Greeting final : public Poller::Handler,
                       public Poller::Beating,
                       public std::enable_shared_from_this<Greeting> {
 public:
  struct Result {
    std::unique_ptr<Stream> stream;  // none: it was cut off
    const SecureStream* secure = nullptr;  // … when it is encrypted: it says who speaks
    bool foreign = false;            // speaks HTTP/2; `token` is what is read of it
    Hello hello;
    std::string token;
  };
  // `identity`: what to show to those who want to speak encrypted; without it there is no such way.
  Greeting(std::unique_ptr<Stream> stream, std::shared_ptr<Identity> identity,
           std::function<void(Result)> done);
  ~Greeting() override;
  void start();
  void ready() override;
  void beat() override;

 private:
  bool peek();
  bool has(size_t size);
  void end(Result result);

  std::mutex mutex_;  // guards what follows
  std::unique_ptr<Stream> stream_;
  const std::shared_ptr<Identity> identity_;
  const SecureStream* secure_ = nullptr;
  std::function<void(Result)> done_;
  Poller::Watch watch_ = 0;
  bool known_ = false;  // the first bytes are ours
  std::string text_;
  int beats_ = 0;
};

}  // namespace emplace::cluster
