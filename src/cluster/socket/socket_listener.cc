#include "cluster/socket/socket_listener.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <set>

#include "base/errno_text.h"
#include "cluster/socket/dial.h"
#include "cluster/socket/greeting.h"
#include "cluster/socket/limits.h"
#include "cluster/socket/peer_user.h"
#include "cluster/socket/server_link.h"
#include "cluster/socket/tunnel.h"

namespace emplace::cluster {
namespace {

constexpr size_t kMostGreetings = 256;  // at a time
constexpr size_t kMostLinks = 8'192;

Error not_started(const std::string& why) {
  return {Code::kUnknown, fmt::format("Could not start gRPC server: {}", why)};
}

uint64_t random_key() {
  std::random_device source;
  return uint64_t{source()} << 32 | source();
}

Fd tcp_listener(const ListenOptions& o, int& port) {
  Fd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(o.port));
  socklen_t size = sizeof address;
  auto* const raw = reinterpret_cast<sockaddr*>(&address);
  if (inet_pton(AF_INET, o.host.c_str(), &address.sin_addr) != 1)
    throw not_started(fmt::format("{} is no address", o.host));
  if (bind(fd.get(), raw, size) != 0 || listen(fd.get(), 512) != 0)
    throw not_started(fmt::format("{}:{}: {}", o.host, o.port, errno_text(errno)));
  getsockname(fd.get(), raw, &size);
  port = ntohs(address.sin_port);
  return fd;
}

// None where somebody else has the name: the port does as well.
Fd local_listener(int port) {
  const std::string name = local_name(port);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  Fd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(fd.get(), 512) != 0)
    return Fd();
  return fd;
}

std::optional<uid_t> user_of(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  sockaddr_storage own{};
  socklen_t own_size = sizeof own;
  getsockname(fd, reinterpret_cast<sockaddr*>(&own), &own_size);
  if (own.ss_family != AF_UNIX) return user_behind(fd);
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return {};
  return peer.uid;
}

Error permission_denied(const std::string& why) { return {Code::kPermissionDenied, why}; }

// To somebody who speaks gRPC: the connection's end with words (HTTP/2's SETTINGS and GOAWAY).
std::string http2_refusal(const std::string& words) {
  const auto frame = [](uint8_t kind, const std::string& body) {
    const size_t n = body.size();
    return std::string{static_cast<char>(n >> 16), static_cast<char>(n >> 8), static_cast<char>(n),
                       static_cast<char>(kind), 0, 0, 0, 0, 0} + body;
  };
  constexpr char kInadequateSecurity = 0xc;
  return frame(4, "") + frame(7, std::string{0, 0, 0, 0, 0, 0, 0, kInadequateSecurity} + words);
}

// Says why before the connection ends, as far as it can be said at once.
void refuse(Greeting::Result& r, std::string words) {
  if (!r.stream) return;
  words.resize(std::min<size_t>(words.size(), kMostToken));
  Hello hello{{}, kRefused, static_cast<uint32_t>(words.size()), 0, 0};
  std::memcpy(hello.magic, kMagic, sizeof kMagic);
  const std::string text =
      r.foreign ? http2_refusal(words) : std::string(reinterpret_cast<const char*>(&hello), sizeof hello) + words;
  const iovec piece{const_cast<char*>(text.data()), text.size()};
  try {
    r.stream->write({&piece, 1});
    r.stream->flush();
    shutdown(r.stream->fd(), SHUT_WR);
    char rest[4096];  // what is unread would have the connection end before the words are read
    while (recv(r.stream->fd(), rest, sizeof rest, MSG_DONTWAIT) > 0) {
    }
  } catch (const Error&) {
  }
}

// Lives until the last callback has come: those hold it, the listener ends it.
class Port final : public std::enable_shared_from_this<Port> {
 public:
  Port(const ListenOptions& options, Service& service, MakeForeignDoor make_door, Certified certified)
      : options_(options), certified_(std::move(certified)), service_(service),
        make_door_(std::move(make_door)),
        tcp_(tcp_listener(options, port_)), local_(local_listener(port_)) {}
  int port() const { return port_; }
  void start();
  void stop();

 private:
  struct Door;  // tells that somebody has come
  using LinkId = uint64_t;
  struct Known {
    std::shared_ptr<ServerLink> link;
    uint64_t key = 0;
    Caller whose;
  };

  void accept_all(int listener);
  void accept_one(Fd fd);
  void greeted(const std::shared_ptr<Greeting>& who, const Caller& caller, Greeting::Result result);
  Caller known(Caller caller, const Greeting::Result& result) const;
  void welcome(const Caller& caller, Greeting::Result result);
  void take_foreign(const Caller& caller, Greeting::Result result);
  void remove(LinkId id);

  const ListenOptions options_;
  const Certified certified_;
  Service& service_;
  const MakeForeignDoor make_door_;
  int port_ = 0;
  const Fd tcp_, local_;
  std::vector<std::shared_ptr<Door>> doors_;
  std::mutex foreign_mutex_;
  std::map<std::string, std::unique_ptr<ForeignDoor>> foreign_;  // by kind and name of caller

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  bool stopped_ = false;
  int removing_ = 0;
  std::set<std::shared_ptr<Greeting>> greetings_;
  std::map<LinkId, Known> links_;
  LinkId next_ = 1;
};

struct Port::Door final : Poller::Handler {
  Door(std::weak_ptr<Port> p, int f) : port(std::move(p)), fd(f) {}
  void ready() override {
    const auto p = port.lock();
    if (!p) return;
    p->accept_all(fd);
    Poller::get().arm(watch);
  }
  const std::weak_ptr<Port> port;
  const int fd;
  Poller::Watch watch = 0;
};

void Port::start() {
  for (const Fd* fd : {&tcp_, &local_}) {
    if (!*fd) continue;
    auto door = std::make_shared<Door>(weak_from_this(), fd->get());
    door->watch = Poller::get().watch(fd->get(), Poller::For::kReading, door);
    doors_.push_back(door);
    Poller::get().arm(door->watch);
  }
}

void Port::stop() {
  for (const auto& door : doors_) Poller::get().forget(door->watch);
  decltype(links_) links;
  decltype(greetings_) greetings;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    links.swap(links_);
    greetings.swap(greetings_);
  }
  links.clear();
  {
    const std::lock_guard lock(foreign_mutex_);
    foreign_.clear();
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return removing_ == 0; });
}

void Port::accept_all(int listener) {
  while (true) {
    Fd fd(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd) return;
    accept_one(std::move(fd));
  }
}

// Nothing that a stranger sends is read, where none can show a certificate.
void Port::accept_one(Fd fd) {
  const auto user = user_of(fd.get());
  Caller caller;
  if (user == geteuid()) caller.kind = Caller::Kind::kSameUser;
  else if (options_.same_user_only && !certified_.identity) return;
  const int on = 1;
  setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const auto slot = std::make_shared<std::weak_ptr<Greeting>>();
  auto greeting = std::make_shared<Greeting>(
      plain_stream(std::move(fd)), certified_.identity,
      [port = weak_from_this(), slot, caller](Greeting::Result result) {
        const auto self = port.lock();
        if (const auto who = slot->lock(); self && who) self->greeted(who, caller, std::move(result));
      });
  *slot = greeting;
  {
    const std::lock_guard lock(mutex_);
    if (stopped_ || greetings_.size() >= kMostGreetings || links_.size() >= kMostLinks) return;
    greetings_.insert(greeting);
  }
  greeting->start();
}

void Port::greeted(const std::shared_ptr<Greeting>& who, const Caller& caller, Greeting::Result result) {
  {
    const std::lock_guard lock(mutex_);
    greetings_.erase(who);
    if (stopped_) return;
  }
  if (!result.stream) return;
  try {
    const Caller who_it_is = known(caller, result);
    if (result.foreign) take_foreign(who_it_is, std::move(result));
    else welcome(who_it_is, std::move(result));
  } catch (const Error& e) {
    refuse(result, e.message());
  } catch (const std::exception&) {  // cut off
  }
}

// What the kernel says of a connection, or what its other end has proved. Throws PermissionDenied.
Caller Port::known(Caller caller, const Greeting::Result& r) const {
  if (!r.secure) {
    if (caller.kind == Caller::Kind::kSameUser || !options_.same_user_only) return caller;
    throw permission_denied("this server takes encrypted connections alone: set EMPLACE_TLS to a folder "
                            "with certificates that its authority has given out (`emplace cluster init`)");
  }
  caller = r.secure->peer();
  if (caller.kind == Caller::Kind::kTask) {
    if (!certified_.tasks.contains(caller.name))
      throw permission_denied(fmt::format("{} is no task of this cluster", caller.name));
    if (!r.foreign && r.token != caller.name)
      throw permission_denied(fmt::format("it says that it is {}, but its certificate is {}'s",
                                          r.token.empty() ? "nobody" : r.token, caller.name));
  } else if (caller.kind == Caller::Kind::kAnyone) {
    if (r.foreign || r.token.empty())
      throw permission_denied("this server takes those who show a certificate or a token alone");
    caller = {Caller::Kind::kClient, certified_.identity->owner_of(r.token)};
  }
  return caller;
}

void Port::take_foreign(const Caller& caller, Greeting::Result r) {
  if (!make_door_ || r.stream->gives_files()) return;
  const std::lock_guard lock(foreign_mutex_);
  auto& door = foreign_[fmt::format("{} {}", static_cast<int>(caller.kind), caller.name)];
  if (!door) door = make_door_(options_, service_, caller);
  if (r.secure) door->take(tunnel(std::move(r.stream), std::move(r.token)).release());
  else door->take(fcntl(r.stream->fd(), F_DUPFD_CLOEXEC, 0));
}

void Port::welcome(const Caller& caller, Greeting::Result r) {
  Hello answer;
  std::memcpy(answer.magic, kMagic, sizeof kMagic);
  const iovec piece{&answer, sizeof answer};
  if (r.hello.kind == kForPieces) {  // pieces for a link that there is, and whose it is
    std::shared_ptr<ServerLink> link;
    {
      const std::lock_guard lock(mutex_);
      const auto it = links_.find(r.hello.link);
      if (it == links_.end() || it->second.key != r.hello.key || it->second.whose != caller) return;
      link = it->second.link;
    }
    if (r.stream->write({&piece, 1}) == sizeof answer) link->add(std::move(r.stream));
    return;
  }
  std::shared_ptr<ServerLink> link;
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    answer.link = next_++;
    answer.key = random_key();
    link = server_link(service_, caller, {std::min(options_.max_message, most_message()), takes_local_ways()},
                       [port = weak_from_this(), id = answer.link] {
                         Poller::get().run([port, id] {
                           if (const auto self = port.lock()) self->remove(id);
                         });
                       });
    links_[answer.link] = {link, answer.key, caller};
  }
  if (r.stream->write({&piece, 1}) == sizeof answer) link->start(std::move(r.stream));
  else remove(answer.link);
}

void Port::remove(LinkId id) {
  decltype(links_)::node_type gone;
  {
    const std::lock_guard lock(mutex_);
    gone = links_.extract(id);
    ++removing_;
  }
  gone = {};
  const std::lock_guard lock(mutex_);
  if (--removing_ == 0) changed_.notify_all();
}

class SocketListener final : public Listener {
 public:
  SocketListener(const ListenOptions& options, Service& service, MakeForeignDoor door, Certified certified)
      : port_(std::make_shared<Port>(options, service, std::move(door), std::move(certified))) {
    port_->start();
  }
  ~SocketListener() override { port_->stop(); }
  int port() const override { return port_->port(); }

 private:
  const std::shared_ptr<Port> port_;
};

}  // namespace

std::unique_ptr<Listener> socket_listener(const ListenOptions& options, Service& service,
                                          MakeForeignDoor door, Certified certified) {
  return std::make_unique<SocketListener>(options, service, std::move(door), std::move(certified));
}

}  // namespace emplace::cluster
