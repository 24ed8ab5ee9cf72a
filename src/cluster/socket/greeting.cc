#include "cluster/socket/greeting.h"

#include <sys/socket.h>

#include <algorithm>
#include <cstring>

namespace emplace::cluster {
namespace {

constexpr int kPatience = 10;  // beats
constexpr char kHttp2[] = "PRI * HT";
constexpr char kTls = 0x16;  // how a handshake begins

}  // namespace

Greeting::Greeting(std::unique_ptr<Stream> stream, std::shared_ptr<Identity> identity,
                   std::function<void(Result)> done)
    : stream_(std::move(stream)), identity_(std::move(identity)), done_(std::move(done)) {}

Greeting::~Greeting() { Poller::get().forget(watch_); }

void Greeting::start() {
  watch_ = Poller::get().watch(stream_->fd(), Poller::For::kReading, weak_from_this());
  Poller::get().on_beat(weak_from_this());
  Poller::get().arm(watch_);
}

void Greeting::end(Result result) {
  const auto done = std::exchange(done_, nullptr);
  if (done) done(std::move(result));
}

void Greeting::beat() {
  const std::lock_guard lock(mutex_);
  if (++beats_ >= kPatience) end({});
}

void Greeting::ready() {
  const std::lock_guard lock(mutex_);
  if (!done_) return;
  try {
    if (!known_ && !peek()) return;
    Result result;
    result.secure = secure_;
    if (!has(sizeof kMagic)) return;
    if (secure_ && text_.starts_with(kHttp2)) {
      result.foreign = true;
      result.token = text_;
      result.stream = std::move(stream_);
      return end(std::move(result));
    }
    if (std::memcmp(text_.data(), kMagic, sizeof kMagic) != 0) return end({});
    if (!has(sizeof(Hello))) return;
    std::memcpy(&result.hello, text_.data(), sizeof(Hello));
    if (result.hello.token > kMostToken) return end({});
    if (!has(sizeof(Hello) + result.hello.token)) return;
    result.token = text_.substr(sizeof(Hello));
    result.stream = std::move(stream_);
    end(std::move(result));
  } catch (const Error&) {
    end({});
  }
}

// True when it speaks our protocol; what does not is handed on unread.
bool Greeting::peek() {
  char first[sizeof kMagic];
  const ssize_t n = recv(stream_->fd(), first, sizeof first, MSG_PEEK);
  if (n <= 0) {
    if (n == 0 || (errno != EAGAIN && errno != EINTR)) end({});
    else Poller::get().arm(watch_);
    return false;
  }
  const auto is = [&](const char* what) { return std::memcmp(first, what, static_cast<size_t>(n)) == 0; };
  if (is(kMagic)) return known_ = true;
  if (first[0] == kTls && identity_) {
    auto secure = identity_->as_server(std::move(stream_));
    secure_ = secure.get();
    stream_ = std::move(secure);
    return known_ = true;
  }
  Result result;
  if (is(kHttp2)) {
    result.stream = std::move(stream_);
    result.foreign = true;
  }
  end(std::move(result));
  return false;
}

// What has come so far stays in `text_`, where the next look goes on.
bool Greeting::has(size_t size) {
  while (text_.size() < size) {
    char more[256];
    const ssize_t n = stream_->read(more, std::min(sizeof more, size - text_.size()));
    if (n == 0) throw broken_connection("the other side has ended");
    if (n == Stream::kNotNow) {
      Poller::get().arm(watch_);
      return false;
    }
    text_.append(more, static_cast<size_t>(n));
  }
  return true;
}

}  // namespace emplace::cluster
