#include "cluster/socket/stream.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <mutex>

#include "base/errno_text.h"

namespace emplace::cluster {
namespace {

constexpr size_t kMostFiles = 16;  // that come with one read

ssize_t result(ssize_t n) {
  if (n >= 0) return n;
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return Stream::kNotNow;
  throw broken_connection(errno_text(errno));
}

bool is_local(int fd) {
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  return getsockname(fd, reinterpret_cast<sockaddr*>(&own), &size) == 0 && own.ss_family == AF_UNIX;
}

class PlainStream final : public Stream {
 public:
  explicit PlainStream(Fd fd) : fd_(std::move(fd)), local_(is_local(fd_.get())) {
    fcntl(fd_.get(), F_SETFL, fcntl(fd_.get(), F_GETFL) | O_NONBLOCK);
  }
  int fd() const override { return fd_.get(); }

  ssize_t read(void* to, size_t size) override {
    if (!local_) return result(recv(fd_.get(), to, size, 0));
    iovec piece{to, size};
    alignas(cmsghdr) char space[CMSG_SPACE(kMostFiles * sizeof(int))];
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = space;
    message.msg_controllen = sizeof space;
    const ssize_t n = result(recvmsg(fd_.get(), &message, MSG_CMSG_CLOEXEC));
    if (n > 0)
      for (cmsghdr* c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) keep_files(*c);
    return n;
  }

  ssize_t write(std::span<const iovec> from) override {
    msghdr message{};
    message.msg_iov = const_cast<iovec*>(from.data());
    message.msg_iovlen = from.size();
    alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))];
    if (given_ >= 0) {
      message.msg_control = space;
      message.msg_controllen = sizeof space;
      cmsghdr* const c = CMSG_FIRSTHDR(&message);
      c->cmsg_level = SOL_SOCKET;
      c->cmsg_type = SCM_RIGHTS;
      c->cmsg_len = CMSG_LEN(sizeof(int));
      std::memcpy(CMSG_DATA(c), &given_, sizeof given_);
    }
    const ssize_t n = result(sendmsg(fd_.get(), &message, MSG_NOSIGNAL));
    if (n > 0) given_ = -1;
    return n;
  }

  bool gives_files() const override { return local_; }
  void give(int fd) override { given_ = fd; }
  Fd taken() override {
    if (files_.empty()) return Fd();
    Fd first = std::move(files_.front());
    files_.pop_front();
    return first;
  }

 private:
  void keep_files(const cmsghdr& c) {
    if (c.cmsg_level != SOL_SOCKET || c.cmsg_type != SCM_RIGHTS) return;
    const size_t count = (c.cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(&c) + i * sizeof fd, sizeof fd);
      files_.emplace_back(fd);
    }
    if (files_.size() > kMostFiles) throw broken_connection("more files came than were announced");
  }

  const Fd fd_;
  const bool local_;
  int given_ = -1;
  std::deque<Fd> files_;
};

}  // namespace

std::unique_ptr<Stream> plain_stream(Fd fd) { return std::make_unique<PlainStream>(std::move(fd)); }

Error broken_connection(const std::string& why) { return {Code::kUnavailable, "Socket closed: " + why}; }

}  // namespace emplace::cluster
