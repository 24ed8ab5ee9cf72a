#include "cluster/simulated_transport_testutil.h"

#include <utility>

#include "cluster/methods.h"

namespace emplace::testing {

using cluster::Answer;
using cluster::Bytes;
using cluster::CallOptions;
using cluster::Caller;
using cluster::OutgoingCall;

struct SimulatedNetwork::Pending {
  std::string from, to, method;
  int from_life = 0, to_life = 0;
  Bytes request;
  std::function<void(Answer)> done;                       // of a call
  std::function<void(std::optional<Error>)> sent;         // of a post
  bool waits_for_peer = false;
  bool over = false;
  std::function<void()> on_cancel;                        // the other side's
};

namespace {

Error lost_error(const std::string& to) {
  return {Code::kUnavailable, "the connection to " + to + " broke"};
}

// A copy: nothing of the sender's memory is read after it was sent.
Bytes copied(const Bytes& bytes) {
  cluster::BytesReader reader(bytes);
  return Bytes(reader.text(bytes.size()));
}

}  // namespace

class SimulatedCall final : public cluster::IncomingCall {
 public:
  SimulatedCall(SimulatedNetwork& network, std::shared_ptr<SimulatedNetwork::Pending> pending)
      : network_(network), pending_(std::move(pending)) {}
  const std::string& method() const override { return pending_->method; }
  Bytes& request() override { return pending_->request; }
  const Caller& caller() const override { return caller_; }
  void answer(Answer answer) override {
    {
      const std::lock_guard lock(network_.mutex_);
      pending_->on_cancel = nullptr;
    }
    answer.body = copied(answer.body);
    const auto deliver = [&network = network_, pending = pending_, answer = std::move(answer)] {
      network.finish(pending, answer);
    };
    network_.send(pending_->to, pending_->from, pending_->request.size(), deliver);
  }
  void on_cancel(std::function<void()> f) override {
    {
      const std::lock_guard lock(network_.mutex_);
      if (!pending_->over) {
        pending_->on_cancel = std::move(f);
        return;
      }
    }
    if (pending_->done) f();
  }

 private:
  SimulatedNetwork& network_;
  const std::shared_ptr<SimulatedNetwork::Pending> pending_;
  const Caller caller_{Caller::Kind::kSameUser, ""};
};

class SimulatedHandle final : public OutgoingCall {
 public:
  explicit SimulatedHandle(std::function<void()> cancel) : cancel_(std::move(cancel)) {}
  void cancel() override { cancel_(); }

 private:
  const std::function<void()> cancel_;
};

class SimulatedChannel final : public cluster::Channel {
 public:
  SimulatedChannel(SimulatedNetwork& network, std::string from, std::string to)
      : network_(network), from_(std::move(from)), to_(std::move(to)) {}
  std::shared_ptr<OutgoingCall> call(const std::string& method, Bytes request, const CallOptions& o,
                                     std::function<void(Answer)> done) override {
    auto pending = std::make_shared<SimulatedNetwork::Pending>();
    pending->done = std::move(done);
    pending->waits_for_peer = o.wait_for_peer;
    return begin(std::move(pending), method, request);
  }
  std::shared_ptr<OutgoingCall> post(const std::string& method, Bytes message,
                                     std::function<void(std::optional<Error>)> sent) override {
    auto pending = std::make_shared<SimulatedNetwork::Pending>();
    pending->sent = std::move(sent);
    return begin(std::move(pending), method, message);
  }

 private:
  std::shared_ptr<OutgoingCall> begin(std::shared_ptr<SimulatedNetwork::Pending> pending,
                                      const std::string& method, const Bytes& request) {
    pending->from = from_;
    pending->to = to_;
    pending->method = method;
    pending->request = copied(request);
    network_.begin(pending);
    return std::make_shared<SimulatedHandle>([&network = network_, pending] {
      std::function<void()> cancel;
      {
        const std::lock_guard lock(network.mutex_);
        cancel = std::exchange(pending->on_cancel, nullptr);
      }
      network.finish(pending, {cancelled("The call was cancelled."), {}});
      if (cancel) network.send(pending->from, pending->to, 0, cancel);
    });
  }

  SimulatedNetwork& network_;
  const std::string from_, to_;
};

class SimulatedListener final : public cluster::Listener {
 public:
  SimulatedListener(SimulatedNetwork& network, std::string address, cluster::Service& service)
      : network_(network), address_(std::move(address)) {
    const std::lock_guard lock(network_.mutex_);
    network_.services_[address_] = &service;
    network_.dead_.erase(address_);
  }
  ~SimulatedListener() override {
    std::unique_lock lock(network_.mutex_);
    network_.services_.erase(address_);
    network_.changed_.wait(lock, [&] { return !network_.delivering_; });
  }
  int port() const override { return 1; }

 private:
  SimulatedNetwork& network_;
  const std::string address_;
};

class SimulatedTransport final : public cluster::Transport {
 public:
  SimulatedTransport(SimulatedNetwork& network, std::string address)
      : network_(network), address_(std::move(address)) {}
  std::unique_ptr<cluster::Listener> listen(const cluster::ListenOptions&, cluster::Service& service) override {
    return std::make_unique<SimulatedListener>(network_, address_, service);
  }
  std::shared_ptr<cluster::Channel> connect(const std::string& address, Speaks) override {
    return std::make_shared<SimulatedChannel>(network_, address_, address);
  }

 private:
  SimulatedNetwork& network_;
  const std::string address_;
};

SimulatedNetwork::SimulatedNetwork(uint64_t seed, Faults faults)
    : random_(seed), faults_(faults), thread_([this] { run(); }) {}

SimulatedNetwork::~SimulatedNetwork() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

std::unique_ptr<cluster::Transport> SimulatedNetwork::transport(const std::string& address) {
  return std::make_unique<SimulatedTransport>(*this, address);
}

void SimulatedNetwork::set_faults(Faults faults) {
  std::unique_lock lock(mutex_);
  faults_ = faults;
  changed_.wait(lock, [&] { return breaking_ == 0; });  // what was drawn before is over
}

void SimulatedNetwork::reseed(uint64_t seed) {
  const std::lock_guard lock(mutex_);
  random_.seed(seed);
}

uint64_t SimulatedNetwork::messages() const {
  const std::lock_guard lock(mutex_);
  return messages_;
}

uint64_t SimulatedNetwork::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

void SimulatedNetwork::begin(std::shared_ptr<Pending> pending) {
  bool down;
  {
    const std::lock_guard lock(mutex_);
    pending->from_life = lives_[pending->from];
    pending->to_life = lives_[pending->to];
    down = dead_.contains(pending->from) || (!services_.contains(pending->to) && !pending->waits_for_peer);
    pending_.insert(pending);
  }
  if (down) return finish(pending, {lost_error(pending->to), {}});
  send(pending->from, pending->to, pending->request.size(), [this, pending] {
    cluster::Service* service = nullptr;
    {
      const std::lock_guard lock(mutex_);
      const auto it = services_.find(pending->to);
      if (it != services_.end() && (pending->waits_for_peer || pending->to_life == lives_[pending->to]))
        service = it->second;
      if (pending->over) return;
    }
    if (!service && pending->waits_for_peer) return begin(pending);
    if (!service) return finish(pending, {lost_error(pending->to), {}});
    auto call = std::make_shared<SimulatedCall>(*this, pending);
    if (pending->sent) finish(pending, {});
    service->call(std::move(call));
  });
}

void SimulatedNetwork::finish(const std::shared_ptr<Pending>& pending, Answer answer) {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(pending->over, true)) return;
    pending_.erase(pending);
  }
  if (pending->done) pending->done(std::move(answer));
  else if (pending->sent) pending->sent(answer.error);
}

void SimulatedNetwork::lose(const std::function<bool(const Pending&)>& which) {
  std::vector<std::shared_ptr<Pending>> lost;
  std::vector<std::function<void()>> cancels;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& p : pending_)
      if (which(*p) && !p->waits_for_peer) lost.push_back(p);
    for (const auto& p : lost)
      if (p->on_cancel && services_.contains(p->to)) cancels.push_back(std::exchange(p->on_cancel, nullptr));
  }
  for (const auto& p : lost) finish(p, {lost_error(p->to), {}});
  for (const auto& cancel : cancels) cancel();
}

void SimulatedNetwork::kill(const std::string& address) {
  {
    const std::lock_guard lock(mutex_);
    services_.erase(address);
    dead_.insert(address);
    ++lives_[address];
  }
  lose([&](const Pending& p) { return p.to == address || p.from == address; });
}

void SimulatedNetwork::cut(const std::string& a, const std::string& b) {
  lose([&](const Pending& p) { return (p.from == a && p.to == b) || (p.from == b && p.to == a); });
}

void SimulatedNetwork::send(const std::string& from, const std::string& to, size_t bytes,
                            std::function<void()> deliver) {
  bool breaks;
  {
    const std::lock_guard lock(mutex_);
    if (dead_.contains(from)) return;
    ++messages_;
    bytes_ += bytes;
    const auto is = [&](int thousandths) { return static_cast<int>(random_() % 1000) < thousandths; };
    breaks = is(faults_.cut);
    breaking_ += breaks;
    const uint64_t delay = is(faults_.delayed) ? random_() % static_cast<uint64_t>(faults_.most_delay) : 0;
    const int life = lives_[from];
    queue_.emplace(turn_ + delay, [this, from, life, deliver = std::move(deliver)] {
      {
        const std::lock_guard inner(mutex_);
        if (lives_[from] != life) return;  // died with what it had to say
      }
      deliver();
    });
  }
  changed_.notify_all();
  if (!breaks) return;
  cut(from, to);
  const std::lock_guard lock(mutex_);
  --breaking_;
  changed_.notify_all();
}

void SimulatedNetwork::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return over_ || !queue_.empty(); });
    if (over_) return;
    turn_ = std::max(turn_ + 1, queue_.begin()->first);
    // Of those whose turn it is any may be next.
    const auto end = queue_.upper_bound(turn_);
    auto it = queue_.begin();
    std::advance(it, faults_.delayed ? random_() % static_cast<uint64_t>(std::distance(it, end)) : 0);
    const auto deliver = std::move(it->second);
    queue_.erase(it);
    delivering_ = true;
    lock.unlock();
    deliver();
    lock.lock();
    delivering_ = false;
    changed_.notify_all();
  }
}

}  // namespace emplace::testing
