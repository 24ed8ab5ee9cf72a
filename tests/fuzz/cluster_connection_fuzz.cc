// What comes over a connection between tasks, after its greeting: frames, in whatever pieces.
#include <sys/socket.h>

#include <condition_variable>
#include <mutex>

#include "cluster/socket/poller.h"
#include "cluster/socket/server_link.h"
#include "fuzz.h"

namespace {

using namespace emplace::cluster;

class Echo final : public Service {
 public:
  void call(std::shared_ptr<IncomingCall> call) override {
    BytesReader reader(call->request());
    reader.text(reader.left());  // every byte can be read
    call->answer({{}, std::move(call->request())});
  }
};

struct End {
  std::mutex mutex;
  std::condition_variable changed;
  bool over = false;
};

}  // namespace

// The first byte says how long the pieces are.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return 0;
  Echo service;
  const auto end = std::make_shared<End>();
  {
    const Fd ours(ends[0]);
    const auto link = server_link(service, {}, {size_t{1} << 20, true}, [end] {
      const std::lock_guard lock(end->mutex);
      end->over = true;
      end->changed.notify_all();
    });
    link->start(plain_stream(Fd(ends[1])));
    const size_t piece = size_t{data[0]} * 16 + 1;
    for (size_t at = 1; at < size; at += piece) {
      char answers[4096];
      while (recv(ours.get(), answers, sizeof answers, MSG_DONTWAIT) > 0) {
      }
      if (send(ours.get(), data + at, std::min(piece, size - at), MSG_NOSIGNAL) < 0) break;
    }
    shutdown(ours.get(), SHUT_WR);
    char answers[4096];
    while (recv(ours.get(), answers, sizeof answers, 0) > 0) {  // until the server ends it, too
    }
    std::unique_lock lock(end->mutex);
    end->changed.wait(lock, [&] { return end->over; });
  }
  return 0;
}
