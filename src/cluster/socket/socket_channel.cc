#include "cluster/socket/socket_channel.h"

#include <fmt/format.h>

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>

#include "cluster/failure.h"
#include "cluster/methods.h"
#include "cluster/socket/dial.h"
#include "cluster/socket/limits.h"
#include "cluster/socket/link.h"
#include "session/watchdog.h"

namespace emplace::cluster {
namespace {

constexpr int kPieceConnections = 2;
constexpr std::chrono::milliseconds kFirstPause{20}, kLongestPause{1000};  // between two dials

using Sent = std::function<void(std::optional<Error>)>;

// Outlives its channel by what is under way.
class Way final : public Link::Owner, public std::enable_shared_from_this<Way> {
 public:
  Way(std::string address, ForeignWay foreign, DialOptions shown)
      : address_(std::move(address)), foreign_way_(std::move(foreign)), shown_(std::move(shown)) {}

  std::shared_ptr<OutgoingCall> call(const std::string& method, Bytes request, const CallOptions& o,
                                     std::function<void(Answer)> done);
  std::shared_ptr<OutgoingCall> post(const std::string& method, Bytes message, Sent sent);
  void end(uint64_t id, Answer answer);
  void cancel(uint64_t id);
  void stop();

  void expect(size_t messages) override;
  void message(Message m) override;
  void lost(const Error& why) override;
  bool awaits() override { return awaited_ > 0; }

 private:
  // A call until it is answered, a post until it is sent.
  struct Pending {
    std::string method;
    CallOptions options;
    std::function<void(Answer)> done;
    Sent sent;
    std::optional<Message> unsent;
    std::shared_ptr<OutgoingCall> sending;
    uint64_t deadline = 0;
  };
  class Handle;

  std::shared_ptr<OutgoingCall> begin(Pending pending, FrameKind kind, Bytes body);
  std::shared_ptr<OutgoingCall> begin_foreign(Channel& foreign, Pending& pending, Bytes& body);
  void send(const std::shared_ptr<Link>& link, uint64_t id, Message message);
  void dial_until_there();
  bool try_dial();
  void arrived(Dialed dialed);
  void more_connections(const std::shared_ptr<Link>& link, const Hello& hello);
  bool fail_unsent(const Error& why);  // false: somebody waits for the server all the same
  std::optional<Pending> take(uint64_t id);
  void taken();
  void fail_all(const Error& why);
  static void conclude(Pending pending, Answer answer);

  const std::string address_;
  const ForeignWay foreign_way_;
  const DialOptions shown_;
  std::atomic<int> awaited_{0};
  std::recursive_mutex arriving_;  // what waited for the link is being sent: a cancel waits for that
  std::mutex mutex_;               // guards what follows
  std::condition_variable stopped_changed_;
  bool stopped_ = false, dialing_ = false;
  std::shared_ptr<Link> link_;
  std::shared_ptr<Channel> foreign_;
  std::map<uint64_t, Pending> pending_;
  uint64_t next_ = 1;
  size_t coming_ = 0;  // messages that have come
  Failure lost_;       // … before it was lost: of their calls nobody hears that
};

class Way::Handle final : public OutgoingCall {
 public:
  Handle(std::weak_ptr<Way> way, uint64_t id) : way_(std::move(way)), id_(id) {}
  void cancel() override {
    if (const auto way = way_.lock()) way->cancel(id_);
  }

 private:
  const std::weak_ptr<Way> way_;
  const uint64_t id_;
};

std::shared_ptr<OutgoingCall> Way::call(const std::string& method, Bytes request, const CallOptions& o,
                                        std::function<void(Answer)> done) {
  return begin({method, o, std::move(done), nullptr, {}, nullptr, 0}, FrameKind::kCall, std::move(request));
}

std::shared_ptr<OutgoingCall> Way::post(const std::string& method, Bytes message, Sent sent) {
  return begin({method, {}, nullptr, std::move(sent), {}, nullptr, 0}, FrameKind::kPost, std::move(message));
}

std::shared_ptr<OutgoingCall> Way::begin(Pending pending, FrameKind kind, Bytes body) {
  const int number = method_number(pending.method);
  std::unique_lock lock(mutex_);
  if (const auto foreign = foreign_) {
    lock.unlock();
    return begin_foreign(*foreign, pending, body);
  }
  const uint64_t id = next_++;
  auto handle = std::make_shared<Handle>(weak_from_this(), id);
  if (stopped_ || number < 0) {
    const Error why = number < 0 ? unimplemented(fmt::format("{} is no method.", pending.method))
                                 : broken_connection("closed");
    lock.unlock();
    conclude(std::move(pending), {why, {}});
    return handle;
  }
  Message message{kind, static_cast<uint16_t>(number), id, std::move(body)};
  if (pending.options.timeout_ms > 0)
    pending.deadline = Watchdog::get().add(
        Watchdog::Clock::now() + std::chrono::milliseconds(pending.options.timeout_ms),
        [way = weak_from_this(), id] {
          Poller::get().run([way, id] {
            if (const auto self = way.lock()) self->end(id, {timed_out(), {}});
          });
        });
  if (kind == FrameKind::kCall) ++awaited_;
  const auto link = link_;
  if (!link) pending.unsent = std::move(message);
  pending_.emplace(id, std::move(pending));
  const bool dial = !link && !std::exchange(dialing_, true);
  lock.unlock();
  if (link) send(link, id, std::move(message));
  if (dial) Poller::get().run([self = shared_from_this()] { self->dial_until_there(); });
  return handle;
}

std::shared_ptr<OutgoingCall> Way::begin_foreign(Channel& foreign, Pending& p, Bytes& body) {
  return p.done ? foreign.call(p.method, std::move(body), p.options, std::move(p.done))
                : foreign.post(p.method, std::move(body), std::move(p.sent));
}

void Way::send(const std::shared_ptr<Link>& link, uint64_t id, Message message) {
  std::function<void(bool)> sent;
  if (message.kind == FrameKind::kPost)
    sent = [self = shared_from_this(), id](bool well) {
      self->end(id, {well ? std::nullopt : std::optional(broken_connection("a message was under way")), {}});
    };
  auto sending = link->send(std::move(message), std::move(sent));
  const std::lock_guard lock(mutex_);
  if (const auto it = pending_.find(id); it != pending_.end()) it->second.sending = std::move(sending);
}

std::optional<Way::Pending> Way::take(uint64_t id) {
  const std::lock_guard lock(mutex_);
  const auto it = pending_.find(id);
  if (it == pending_.end()) return {};
  if (it->second.done) --awaited_;
  return std::move(pending_.extract(it).mapped());
}

void Way::conclude(Pending p, Answer answer) {
  if (p.deadline) Watchdog::get().remove(p.deadline);
  if (p.done) p.done(std::move(answer));
  else if (p.sent) p.sent(std::move(answer.error));
}

void Way::end(uint64_t id, Answer answer) {
  if (auto p = take(id)) conclude(std::move(*p), std::move(answer));
}

void Way::cancel(uint64_t id) {
  const std::lock_guard arriving(arriving_);
  auto p = take(id);
  if (!p) return;
  if (p->sending) p->sending->cancel();
  std::shared_ptr<Link> link;
  {
    const std::lock_guard lock(mutex_);
    link = link_;
  }
  if (link && p->done && !p->unsent) link->send({FrameKind::kCancel, 0, id, {}});
  conclude(std::move(*p), {cancelled("The call was cancelled."), {}});
}

void Way::stop() {
  std::shared_ptr<Link> link;
  std::map<uint64_t, Pending> pending;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    link = std::move(link_);
    pending.swap(pending_);
    awaited_ = 0;
  }
  stopped_changed_.notify_all();
  for (auto& [id, p] : pending) conclude(std::move(p), {cancelled("The channel was closed."), {}});
  if (link) link->close(broken_connection("closed"));
}

// ---- What comes.

Answer answer_in(Message m) {
  if (m.kind == FrameKind::kAnswer) return {{}, std::move(m.body)};
  const bool known = m.number > 0 && m.number <= static_cast<int>(Code::kUnauthenticated);
  BytesReader reader(m.body);
  return {Error(known ? static_cast<Code>(m.number) : Code::kUnknown, reader.text(reader.left())), {}};
}

void Way::expect(size_t messages) {
  const std::lock_guard lock(mutex_);
  coming_ += messages;
}

void Way::message(Message m) {
  auto answered = m.kind == FrameKind::kAnswer || m.kind == FrameKind::kError ? take(m.id) : std::nullopt;
  taken();
  if (answered) conclude(std::move(*answered), answer_in(std::move(m)));
}

void Way::taken() {
  Failure why;
  {
    const std::lock_guard lock(mutex_);
    if (--coming_ > 0) return;
    why.swap(lost_);
  }
  if (why) fail_all(*why);
}

void Way::lost(const Error& why) {
  {
    const std::lock_guard lock(mutex_);
    if (coming_ > 0) {
      lost_ = why;
      return;
    }
  }
  fail_all(why);
}

void Way::fail_all(const Error& why) {
  std::map<uint64_t, Pending> pending;
  {
    const std::lock_guard lock(mutex_);
    link_.reset();
    for (auto it = pending_.begin(); it != pending_.end();)
      if (it->second.unsent) ++it;
      else {
        if (it->second.done) --awaited_;
        pending.insert(pending_.extract(it++));
      }
  }
  for (auto& [id, p] : pending) conclude(std::move(p), {why, {}});
}

// ---- Getting there.

void Way::dial_until_there() {
  for (auto pause = kFirstPause; !try_dial(); pause = std::min(2 * pause, kLongestPause)) {
    std::unique_lock lock(mutex_);
    if (stopped_changed_.wait_for(lock, pause, [&] { return stopped_; })) return;
  }
}

// True when there is nothing to dial for any more.
bool Way::try_dial() {
  try {
    Dialed dialed = dial(address_, shown_);
    if (!dialed.stream && !foreign_way_)
      throw Error(Code::kUnavailable, fmt::format("failed to connect to {}: what listens there is no "
                                                  "server of Emplace's", address_));
    arrived(std::move(dialed));
    return true;
  } catch (const Error& e) {
    return fail_unsent(e);
  } catch (const std::exception& e) {
    return fail_unsent(internal_error(e.what()));
  }
}

bool Way::fail_unsent(const Error& why) {
  std::map<uint64_t, Pending> failed;
  bool none_left;
  {
    const std::lock_guard lock(mutex_);
    for (auto it = pending_.begin(); it != pending_.end();)
      if (!it->second.unsent || (it->second.options.wait_for_peer && why.code() == Code::kUnavailable)) ++it;
      else {
        if (it->second.done) --awaited_;
        failed.insert(pending_.extract(it++));
      }
    none_left = pending_.empty() || stopped_;
    if (none_left) dialing_ = false;
  }
  for (auto& [id, p] : failed) conclude(std::move(p), {why, {}});
  return none_left;
}

void Way::arrived(Dialed dialed) {
  std::shared_ptr<Link> link;
  std::shared_ptr<Channel> foreign;
  if (dialed.stream) {
    link = std::make_shared<Link>(Link::Limits{most_message(), takes_local_ways()}, weak_from_this());
    link->start(std::move(dialed.stream),
                [self = weak_from_this(), to = std::weak_ptr(link), hello = dialed.hello] {
                  Poller::get().run([self, to, hello] {
                    const auto way = self.lock();
                    const auto there = to.lock();
                    if (way && there) way->more_connections(there, hello);
                  });
                });
  } else {
    foreign = foreign_way_();
  }
  std::unique_lock arriving(arriving_);
  std::vector<std::pair<uint64_t, Message>> unsent;
  std::vector<Pending> to_foreign;
  {
    const std::lock_guard lock(mutex_);
    dialing_ = false;
    foreign_ = foreign;
    if (!stopped_) link_ = link;
    for (auto it = pending_.begin(); it != pending_.end();) {
      Pending& p = it->second;
      if (!p.unsent) {
        ++it;
      } else if (link) {
        unsent.emplace_back(it->first, std::move(*p.unsent));
        p.unsent.reset();
        ++it;
      } else {
        if (p.done) --awaited_;
        to_foreign.push_back(std::move(pending_.extract(it++).mapped()));
      }
    }
  }
  for (auto& [id, message] : unsent) send(link, id, std::move(message));
  arriving.unlock();
  for (Pending& p : to_foreign) {
    if (p.deadline) Watchdog::get().remove(std::exchange(p.deadline, 0));
    begin_foreign(*foreign, p, p.unsent->body);
  }
  if (link && link->is_over()) lost(broken_connection("at once"));
}

void Way::more_connections(const std::shared_ptr<Link>& link, const Hello& hello) {
  try {
    for (int i = 0; i < kPieceConnections; ++i) {
      Dialed dialed = dial(address_, {shown_.identity, shown_.expected, kForPieces, hello.link, hello.key});
      if (dialed.stream) link->add(std::move(dialed.stream));
    }
  } catch (const Error&) {  // what there is must do
  }
  link->no_more();
}

class SocketChannel final : public Channel {
 public:
  SocketChannel(const std::string& address, ForeignWay foreign, DialOptions shown)
      : way_(std::make_shared<Way>(address, std::move(foreign), std::move(shown))) {}
  ~SocketChannel() override { way_->stop(); }
  std::shared_ptr<OutgoingCall> call(const std::string& method, Bytes request, const CallOptions& o,
                                     std::function<void(Answer)> done) override {
    return way_->call(method, std::move(request), o, std::move(done));
  }
  std::shared_ptr<OutgoingCall> post(const std::string& method, Bytes message, Sent sent) override {
    return way_->post(method, std::move(message), std::move(sent));
  }

 private:
  const std::shared_ptr<Way> way_;
};

}  // namespace

std::shared_ptr<Channel> socket_channel(const std::string& address, ForeignWay foreign,
                                        std::shared_ptr<Identity> identity, std::string expected) {
  return std::make_shared<SocketChannel>(address, std::move(foreign),
                                         DialOptions{std::move(identity), std::move(expected)});
}

}  // namespace emplace::cluster
