#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "cluster/socket/frame_reader.h"
#include "cluster/socket/poller.h"

namespace emplace::cluster {

// One connection, after its greeting: frames in and out. Any thread may send. Lives until it is lost or
// closed, whoever holds it; whoever uses it must close it.
class Connection final : public std::enable_shared_from_this<Connection> {
 public:
  class User : public FrameReader::Places {
   public:
    // Frames of one connection come in their order, one batch at a time: this must not wait. What may
    // is what it returns, or nothing; that runs while others come.
    virtual std::function<void()> come(std::vector<Frame> frames) = 0;
    virtual void lost(Connection& which, const Error& why) = 0;  // once
  };
  // What is to be sent: `first`, then `pieces`. `sent` is called once, without locks: true when the
  // pieces' memory is no longer read.
  struct Outgoing {
    std::string first;
    std::vector<Bytes::Piece> pieces;
    std::function<void(bool)> sent = nullptr;
    int file = -1;  // goes along
    const void* about = nullptr;  // for `detach`
  };

  Connection(std::unique_ptr<Stream> stream, size_t max_message,
             const std::shared_ptr<User>& user);
  ~Connection();
  void start();

  void send(Outgoing message);
  // The two halves of it: once it is queued `detach` finds it; true: go_on has to follow, which may call
  // what waits for it.
  bool queue(Outgoing& message);
  void go_on(Outgoing& message);
  // What is queued `about` this is copied, if it has begun, or dropped: its memory is no longer read.
  void detach(const void* about);
  // Nothing more goes out or comes in; the user hears `why` unless it has been lost before.
  void close(const Error& why);

  const Stream& stream() const { return *stream_; }
  // So many calls of this ago something came last.
  int silence() { return silent_.fetch_add(1) + 1; }

 private:
  struct Reader;
  struct Writer;
  void read();
  void write();
  bool write_some(std::vector<Outgoing>& done);  // false: the socket takes no more
  void advance(size_t written, std::vector<Outgoing>& done);

  const std::unique_ptr<Stream> stream_;
  const std::weak_ptr<User> user_;
  FrameReader in_;
  std::shared_ptr<Reader> reader_;
  std::shared_ptr<Writer> writer_;
  Poller::Watch reading_ = 0, writing_ = 0;
  std::atomic<int> silent_{0};
  std::atomic<bool> over_{false};

  std::mutex mutex_;  // guards what follows, and writing to the stream
  std::shared_ptr<Connection> self_;  // while it is open
  std::deque<Outgoing> out_;
  size_t begun_ = 0;  // bytes of the first that are gone
  bool busy_ = false;  // somebody writes, or waits for the socket
};

}  // namespace emplace::cluster
