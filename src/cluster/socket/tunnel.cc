#include "cluster/socket/tunnel.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "cluster/socket/poller.h"

namespace emplace::cluster {
namespace {

// Bytes on their way from one side to the other.
class Lane {
 public:
  explicit Lane(std::string first = {}) : end_(first.size()) {
    std::ranges::copy(first, bytes_.begin());
  }
  bool is_full() const { return begin_ < end_; }
  bool is_over() const { return over_ && !is_full(); }
  // What has come, if there is room; then what the other side takes.
  void carry(Stream& from, Stream& to) {
    if (!is_full() && !over_) {
      const ssize_t n = from.read(bytes_.data(), bytes_.size());
      over_ = n == 0;
      begin_ = 0;
      end_ = n > 0 ? static_cast<size_t>(n) : 0;
    }
    while (is_full()) {
      const iovec rest{bytes_.data() + begin_, end_ - begin_};
      const ssize_t n = to.write({&rest, 1});
      if (n == Stream::kNotNow) return;
      begin_ += static_cast<size_t>(n);
    }
  }

 private:
  std::array<char, 64 << 10> bytes_;
  size_t begin_ = 0, end_;
  bool over_ = false;
};

// Of the side that `in` reads from and `out` writes to.
short events(const Lane& in, const Lane& out, bool flushed) {
  return static_cast<short>((in.is_full() ? 0 : POLLIN) | (out.is_full() || !flushed ? POLLOUT : 0));
}

void carry_all(Stream& outer, Stream& inner, std::string first) {
  const auto in = std::make_unique<Lane>(std::move(first)), out = std::make_unique<Lane>();
  while (!in->is_over() && !out->is_over()) {
    do in->carry(outer, inner);
    while (outer.holds_more() && !in->is_full() && !in->is_over());
    out->carry(inner, outer);
    const bool flushed = outer.flush();
    pollfd both[2] = {{outer.fd(), events(*in, *out, flushed), 0},
                      {inner.fd(), events(*out, *in, true), 0}};
    if (poll(both, 2, -1) < 0 && errno != EINTR) return;
  }
}

}  // namespace

Fd tunnel(std::unique_ptr<Stream> stream, std::string first) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
    throw broken_connection("no more sockets can be had");
  Fd theirs(ends[1]);
  Poller::get().run([outer = std::shared_ptr<Stream>(std::move(stream)),
                     inner = std::shared_ptr<Stream>(plain_stream(Fd(ends[0]))),
                     first = std::move(first)] {
    try {
      carry_all(*outer, *inner, first);
    } catch (const std::exception&) {  // either side is gone
    }
    shutdown(outer->fd(), SHUT_RDWR);
    shutdown(inner->fd(), SHUT_RDWR);
  });
  return theirs;
}

}  // namespace emplace::cluster
