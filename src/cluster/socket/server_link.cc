#include "cluster/socket/server_link.h"

#include <condition_variable>
#include <map>
#include <mutex>

#include "cluster/methods.h"

namespace emplace::cluster {
namespace {

constexpr size_t kMostCalls = 4'096;  // of one caller's, at a time

class Side;

class Incoming final : public IncomingCall {
 public:
  Incoming(std::weak_ptr<Side> side, const Caller& caller, Message m)
      : side_(std::move(side)), caller_(caller), method_(kMethods[m.number]), id_(m.id),
        answered_(m.kind == FrameKind::kPost), request_(std::move(m.body)) {}
  const std::string& method() const override { return method_; }
  Bytes& request() override { return request_; }
  const Caller& caller() const override { return caller_; }
  bool may_wait() const override { return true; }
  void answer(Answer answer) override;
  void on_cancel(std::function<void()> f) override {
    {
      const std::lock_guard lock(mutex_);
      if (!is_cancelled_) {
        if (!answered_) cancelled_ = std::move(f);
        return;
      }
    }
    f();
  }
  void cancel() {
    std::function<void()> f;
    {
      const std::lock_guard lock(mutex_);
      is_cancelled_ = true;
      f.swap(cancelled_);
    }
    if (f) f();
  }

 private:
  const std::weak_ptr<Side> side_;
  const Caller caller_;
  const std::string method_;
  const uint64_t id_;
  std::mutex mutex_;  // guards what follows
  bool answered_, is_cancelled_ = false;
  std::function<void()> cancelled_;
  Bytes request_;
};

// What the link knows of the server: outlives it by what is under way.
class Side final : public Link::Owner, public std::enable_shared_from_this<Side> {
 public:
  Side(Service& service, Caller caller, const Link::Limits& limits, std::function<void()> ended)
      : service_(&service), caller_(std::move(caller)), limits_(limits), ended_(std::move(ended)) {}
  std::shared_ptr<Link> make_link() {
    return link_ = std::make_shared<Link>(limits_, weak_from_this());
  }
  const std::shared_ptr<Link>& link() const { return link_; }

  void expect(size_t messages) override {
    const std::lock_guard lock(mutex_);
    handing_over_ += messages;
  }
  void message(Message m) override {
    hand_over(std::move(m));
    const std::lock_guard lock(mutex_);
    if (--handing_over_ == 0) quiet_.notify_all();
  }
  void lost(const Error&) override {
    if (cancel_all()) ended_();
  }
  bool awaits() override {
    const std::lock_guard lock(mutex_);
    return !calls_.empty();
  }

  void answer(uint64_t id, Answer answer) {
    {
      const std::lock_guard lock(mutex_);
      calls_.erase(id);
      if (over_) return;
    }
    Message m{FrameKind::kAnswer, 0, id, std::move(answer.body)};
    if (answer.error) {
      m.kind = FrameKind::kError;
      m.number = static_cast<uint16_t>(answer.error->code());
      m.body = Bytes(answer.error->message());
    }
    link_->send(std::move(m));
  }
  // Nothing of the service is called afterwards; what has come before still is.
  void stop() {
    cancel_all();
    link_->close({Code::kUnavailable, "Socket closed"});
    std::unique_lock lock(mutex_);
    quiet_.wait(lock, [&] { return handing_over_ == 0; });
  }

 private:
  void hand_over(Message m) {
    if (m.kind == FrameKind::kCancel) return cancel(m.id);
    if (m.kind != FrameKind::kCall && m.kind != FrameKind::kPost) return;
    if (m.number >= std::size(kMethods))
      return refuse(m, unimplemented("There is no such method here."));
    const bool is_call = m.kind == FrameKind::kCall;
    const uint64_t id = m.id;
    auto call = std::make_shared<Incoming>(weak_from_this(), caller_, std::move(m));
    {
      const std::lock_guard lock(mutex_);
      if (over_ && is_call) return;  // nobody waits; what was posted still counts
      if (calls_.size() >= kMostCalls) {
        call->answer({resource_exhausted("Too many calls at a time."), {}});
        return;
      }
      if (is_call) calls_[id] = call;
    }
    service_->call(call);
  }
  void refuse(const Message& m, const Error& why) {
    if (m.kind == FrameKind::kCall) answer(m.id, {why, {}});
  }
  void cancel(uint64_t id) {
    std::shared_ptr<Incoming> call;
    {
      const std::lock_guard lock(mutex_);
      const auto it = calls_.find(id);
      if (it == calls_.end()) return;
      call = it->second;
    }
    call->cancel();
  }
  // Once.
  bool cancel_all() {
    std::map<uint64_t, std::shared_ptr<Incoming>> calls;
    {
      const std::lock_guard lock(mutex_);
      if (std::exchange(over_, true)) return false;
      calls.swap(calls_);
    }
    for (const auto& [id, call] : calls) call->cancel();
    return true;
  }

  Service* const service_;
  const Caller caller_;
  const Link::Limits limits_;
  const std::function<void()> ended_;
  std::shared_ptr<Link> link_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable quiet_;
  std::map<uint64_t, std::shared_ptr<Incoming>> calls_;
  size_t handing_over_ = 0;
  bool over_ = false;
};

void Incoming::answer(Answer answer) {
  {
    const std::lock_guard lock(mutex_);
    cancelled_ = nullptr;
    if (std::exchange(answered_, true)) return;
  }
  if (const auto side = side_.lock()) side->answer(id_, std::move(answer));
}

class ServerLinkOfSide final : public ServerLink {
 public:
  explicit ServerLinkOfSide(std::shared_ptr<Side> side) : side_(std::move(side)) {}
  ~ServerLinkOfSide() override { side_->stop(); }
  void start(std::unique_ptr<Stream> stream) override { side_->link()->start(std::move(stream)); }
  void add(std::unique_ptr<Stream> stream) override { side_->link()->add(std::move(stream)); }
  bool is_over() const override { return side_->link()->is_over(); }

 private:
  const std::shared_ptr<Side> side_;
};

}  // namespace

std::shared_ptr<ServerLink> server_link(Service& service, Caller caller, const Link::Limits& limits,
                                        std::function<void()> ended) {
  auto side = std::make_shared<Side>(service, std::move(caller), limits, std::move(ended));
  side->make_link();
  return std::make_shared<ServerLinkOfSide>(std::move(side));
}

}  // namespace emplace::cluster
