#pragma once
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "cluster/socket/connection.h"
#include "cluster/socket/shared_memory.h"
#include "cluster/socket/transfers.h"
#include "cluster/transport.h"

namespace emplace::cluster {

struct Message {
  FrameKind kind{};     // kCall, kPost, kAnswer, kError or kCancel
  uint16_t number = 0;  // a call's method, an error's code
  uint64_t id = 0;      // the call's
  Bytes body;
};

// Two processes' way to each other: a connection for messages, and, when long values go over a network,
// some more for their pieces; on one machine those go through shared memory. Any thread may call.
class Link final : public Connection::User,
                   public Poller::Beating,
                   public std::enable_shared_from_this<Link> {
 public:
  // Whose link it is. Called on threads that may wait, but for `expect`; `lost` once.
  class Owner {
   public:
    virtual ~Owner() = default;
    // So many messages have come, which `message` will be called with, perhaps behind `lost`.
    virtual void expect(size_t messages) = 0;
    virtual void message(Message message) = 0;
    virtual void lost(const Error& why) = 0;
    virtual bool awaits() = 0;  // something that the other side must do; then it may not be silent
  };
  struct Limits {
    size_t max_message = size_t{1} << 31;
    bool shared_memory = true;  // where there can be
  };

  Link(const Limits& limits, std::weak_ptr<Owner> owner);
  ~Link();  // closes it; nobody is told
  // `more`: asked once, when there is something long: it answers by `add` or `no_more`. Without it
  // long values go inline until the other side adds.
  void start(std::unique_ptr<Stream> stream, std::function<void()> more = nullptr);
  void add(std::unique_ptr<Stream> stream);
  void no_more();

  // `sent` is called once, with true when the message's memory may be written over.
  std::shared_ptr<OutgoingCall> send(Message message, std::function<void(bool)> sent = nullptr);
  void close(const Error& why);
  bool is_over() const { return over_; }

  // What its connections call.
  std::function<void()> come(std::vector<Frame> frames) override;
  void lost(Connection& which, const Error& why) override;
  Bytes::Piece place(uint64_t transfer, const PartHead& part) override { return in_.place(transfer, part); }
  void beat() override;

 private:
  class Sending;
  struct Out;       // a value that goes in pieces
  struct NextPiece {  // of one, as Connection::queue left it
    std::shared_ptr<Connection> connection;
    Connection::Outgoing message;
    bool write;
  };

  void come_one(Frame frame, std::vector<Message>& messages);
  void come_message(Frame frame, std::vector<Message>& messages);
  bool complete(const Frame& frame);
  Message assembled(Frame frame);
  void hand_over(std::vector<Message> messages);
  Bytes::Piece shared_piece(const PartHead& part);
  void control(FrameKind kind, uint64_t id, uint64_t size = 0, int file = -1);
  bool add_shared(const Bytes::Piece& piece, PartHead& part);
  bool wants_transfer(size_t size);
  void pump();
  std::optional<NextPiece> next_piece();
  void withdraw(Sending& sending);

  const Limits limits_;
  const std::weak_ptr<Owner> owner_;
  std::shared_ptr<Connection> messages_;
  bool shares_ = false;
  SharedOut shared_out_;
  SharedIn shared_in_;
  TransfersIn in_;
  std::atomic<bool> over_{false};

  std::mutex mutex_;  // guards what follows
  std::function<void()> more_;
  bool asked_ = false;
  std::vector<std::pair<std::shared_ptr<Connection>, int>> others_;  // and the pieces each has to send
  std::map<uint64_t, std::shared_ptr<Out>> out_;
  uint64_t next_transfer_ = 1;
  std::vector<Frame> incomplete_;
};

}  // namespace emplace::cluster
