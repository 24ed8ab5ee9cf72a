#include "cluster/socket/connection.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "cluster/failure.h"

namespace emplace::cluster {
namespace {

constexpr size_t kSlice = size_t{256} << 10;  // what a sender writes itself before it leaves the rest
constexpr size_t kBatch = 64;

size_t size_of(const Connection::Outgoing& m) {
  size_t size = m.first.size();
  for (const Bytes::Piece& p : m.pieces) size += p.size;
  return size;
}

}  // namespace

struct Connection::Reader final : Poller::Handler {
  explicit Reader(std::weak_ptr<Connection> c) : connection(std::move(c)) {}
  void ready() override {
    if (const auto c = connection.lock()) c->read();
  }
  const std::weak_ptr<Connection> connection;
};
struct Connection::Writer final : Poller::Handler {
  explicit Writer(std::weak_ptr<Connection> c) : connection(std::move(c)) {}
  void ready() override {
    if (const auto c = connection.lock()) c->write();
  }
  const std::weak_ptr<Connection> connection;
};

Connection::Connection(std::unique_ptr<Stream> stream, size_t max_message,
                       const std::shared_ptr<User>& user)
    : stream_(std::move(stream)), user_(user), in_(max_message, *user) {}

Connection::~Connection() {
  Poller::get().forget(reading_);
  Poller::get().forget(writing_);
}

void Connection::start() {
  reader_ = std::make_shared<Reader>(weak_from_this());
  writer_ = std::make_shared<Writer>(weak_from_this());
  reading_ = Poller::get().watch(stream_->fd(), Poller::For::kReading, reader_);
  writing_ = Poller::get().watch(stream_->fd(), Poller::For::kWriting, writer_);
  {
    const std::lock_guard lock(mutex_);
    self_ = shared_from_this();
  }
  if (stream_->holds_more()) Poller::get().run([self = shared_from_this()] { self->read(); });
  else Poller::get().arm(reading_);
}

void Connection::read() {
  const std::shared_ptr<User> user = user_.lock();  // `in_` calls it
  if (!user) return;
  std::function<void()> work;
  std::vector<Frame> frames;
  Failure end = failure_of([&] {
    in_.look_again();
    Frame frame;
    while (!over_ && frames.size() < kBatch && in_.next(*stream_, frame)) {
      if (frame.head.kind == FrameKind::kSegment) frame.file = stream_->taken();
      frames.push_back(std::move(frame));
    }
  });
  silent_.store(0, std::memory_order_relaxed);
  const bool more = frames.size() == kBatch;  // perhaps in no socket any more
  // Of a side that has ended, too, what it said before counts.
  const Failure wrong = failure_of([&] {
    if (!frames.empty()) work = user->come(std::move(frames));
    if (end || over_) return;
    if (more) Poller::get().run([self = shared_from_this()] { self->read(); });
    else Poller::get().arm(reading_);
  });
  if (!end) end = wrong;
  if (end) close(*end);
  if (work) work();
}

void Connection::send(Outgoing message) {
  if (queue(message)) go_on(message);
}

bool Connection::queue(Outgoing& message) {
  const std::lock_guard lock(mutex_);
  if (over_) return true;
  out_.push_back(std::move(message));
  message.sent = nullptr;
  return !std::exchange(busy_, true);
}

void Connection::go_on(Outgoing& message) {
  if (!over_) write();
  else if (message.sent) message.sent(false);
}

// Some of what is queued; the poller goes on with the rest.
void Connection::write() {
  std::vector<Outgoing> done;
  bool wait = false;
  {
    const std::lock_guard lock(mutex_);
    try {
      size_t slices = 0;
      while (!over_ && !wait && !out_.empty()) wait = !write_some(done) || ++slices == 4;
      if (!over_ && out_.empty()) wait = !stream_->flush();
      if (!wait) busy_ = false;
    } catch (const Error&) {
      // The other side may have said something before it went: whoever reads finds that, then the end.
      shutdown(stream_->fd(), SHUT_RDWR);
    }
    if (over_) wait = false;
  }
  if (wait) Poller::get().arm(writing_);
  for (Outgoing& m : done)
    if (m.sent) m.sent(true);
}

bool Connection::write_some(std::vector<Outgoing>& done) {
  std::array<iovec, 64> pieces;
  size_t count = 0, total = 0, skip = begun_;
  const auto add = [&](const char* data, size_t size) {
    const size_t skipped = std::min(skip, size);
    skip -= skipped;
    size = std::min(size - skipped, kSlice - total);
    if (size == 0 || count == pieces.size()) return;
    pieces[count++] = {const_cast<char*>(data) + skipped, size};
    total += size;
  };
  for (const Outgoing& m : out_) {
    if (&m != &out_.front() && m.file >= 0) break;  // a file goes with its own first byte
    add(m.first.data(), m.first.size());
    for (const Bytes::Piece& p : m.pieces) add(p.data, p.size);
    if (count == pieces.size() || total == kSlice) break;
  }
  if (begun_ == 0 && out_.front().file >= 0) stream_->give(out_.front().file);
  const ssize_t n = total == 0 ? 0 : stream_->write({pieces.data(), count});
  if (n == Stream::kNotNow) return false;
  advance(static_cast<size_t>(n), done);
  return static_cast<size_t>(n) == total;
}

void Connection::advance(size_t written, std::vector<Outgoing>& done) {
  begun_ += written;
  while (!out_.empty() && begun_ >= size_of(out_.front())) {
    begun_ -= size_of(out_.front());
    done.push_back(std::move(out_.front()));
    out_.pop_front();
  }
}

void Connection::detach(const void* about) {
  std::vector<Outgoing> dropped;
  {
    const std::lock_guard lock(mutex_);
    for (auto it = out_.begin(); it != out_.end();) {
      if (it->about != about) {
        ++it;
      } else if (it == out_.begin() && begun_ > 0) {
        for (const Bytes::Piece& p : it->pieces) it->first.append(p.data, p.size);
        it->pieces.clear();
        ++it;
      } else {
        dropped.push_back(std::move(*it));
        it = out_.erase(it);
      }
    }
  }
  for (Outgoing& m : dropped)
    if (m.sent) m.sent(false);
}

void Connection::close(const Error& why) {
  if (over_.exchange(true)) return;
  std::deque<Outgoing> unsent;
  std::shared_ptr<Connection> self;
  {
    const std::lock_guard lock(mutex_);
    unsent.swap(out_);
    self = std::move(self_);
  }
  shutdown(stream_->fd(), SHUT_RDWR);
  Poller::get().forget(reading_);
  Poller::get().forget(writing_);
  for (Outgoing& m : unsent)
    if (m.sent) m.sent(false);
  if (const auto user = user_.lock()) user->lost(*this, why);
}

}  // namespace emplace::cluster
