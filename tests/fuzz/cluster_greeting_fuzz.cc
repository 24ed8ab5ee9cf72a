// What somebody says who comes to a server's port.
#include <sys/socket.h>

#include <condition_variable>
#include <mutex>

#include "cluster/socket/greeting.h"
#include "fuzz.h"

namespace {

using namespace emplace::cluster;

struct Said {
  std::mutex mutex;
  std::condition_variable changed;
  bool over = false;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return 0;
  const Fd ours(ends[0]);
  const auto said = std::make_shared<Said>();
  const auto greeting = std::make_shared<Greeting>(plain_stream(Fd(ends[1])), nullptr, [said](Greeting::Result r) {
    if (r.stream && !r.foreign && r.token.size() != r.hello.token) __builtin_trap();
    const std::lock_guard lock(said->mutex);
    said->over = true;
    said->changed.notify_all();
  });
  greeting->start();
  send(ours.get(), data, std::min<size_t>(size, 60'000), MSG_NOSIGNAL | MSG_DONTWAIT);
  shutdown(ours.get(), SHUT_WR);
  std::unique_lock lock(said->mutex);
  said->changed.wait(lock, [&] { return said->over; });
  return 0;
}
