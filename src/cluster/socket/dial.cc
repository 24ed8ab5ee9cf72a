#include "cluster/socket/dial.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/errno_text.h"
#include "cluster/socket/limits.h"
#include "cluster/socket/peer_user.h"

namespace emplace::cluster {
namespace {

constexpr int kPatienceMs = 5'000;

Error unreachable(const std::string& address, const std::string& why) {
  return {Code::kUnavailable, fmt::format("failed to connect to {}: {}", address, why)};
}

bool until(int fd, short what) {
  pollfd polled{fd, what, 0};
  int n;
  do n = poll(&polled, 1, kPatienceMs);
  while (n < 0 && errno == EINTR);
  return n > 0;
}

bool connected(int fd, const sockaddr* to, socklen_t size) {
  if (connect(fd, to, size) == 0) return true;
  if (errno != EINPROGRESS) return false;
  int error = ETIMEDOUT;
  socklen_t length = sizeof error;
  if (until(fd, POLLOUT)) getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length);
  errno = error;
  return error == 0;
}

// The same user's, or none.
Fd local_socket(const std::string& port_text) {
  int port = 0;
  std::from_chars(port_text.data(), port_text.data() + port_text.size(), port);
  const std::string name = local_name(port);
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  std::memcpy(to.sun_path + 1, name.data(), name.size());
  Fd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  ucred peer{};
  socklen_t size = sizeof peer;
  if (!connected(fd.get(), reinterpret_cast<sockaddr*>(&to),
                 static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size())) ||
      getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.uid != geteuid())
    return Fd();
  return fd;
}

bool is_this_machine(const std::string& host) {
  return host == "localhost" || host.starts_with("127.") || host == "::1" || host.empty();
}

Fd tcp_socket(const std::string& address, const std::string& host, const std::string& port) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  if (const int e = getaddrinfo(host.empty() ? "127.0.0.1" : host.c_str(), port.c_str(), &hints, &found))
    throw unreachable(address, gai_strerror(e));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> list(found, freeaddrinfo);
  std::string why = "there is no such address";
  for (const addrinfo* a = found; a; a = a->ai_next) {
    Fd fd(socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (fd && connected(fd.get(), a->ai_addr, a->ai_addrlen)) {
      const int on = 1;
      setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      return fd;
    }
    why = errno_text(errno);
  }
  throw unreachable(address, why);
}

struct Connected {
  Fd fd;
  bool local = false;  // the kernel vouches for the other end
};
Connected connect_to(const std::string& address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos) throw unreachable(address, "it has no port");
  std::string host = address.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const std::string port = address.substr(colon + 1);
  if (takes_local_ways() && is_this_machine(host))
    if (Fd fd = local_socket(port)) return {std::move(fd), true};
  return {tcp_socket(address, host, port)};
}

void write_all(Stream& stream, const std::string& text, const std::string& address) {
  for (size_t at = 0; at < text.size();) {
    const iovec piece{const_cast<char*>(text.data()) + at, text.size() - at};
    const ssize_t n = stream.write({&piece, 1});
    if (n != Stream::kNotNow) at += static_cast<size_t>(n);
    else if (!until(stream.fd(), POLLOUT)) throw unreachable(address, "it does not listen");
  }
  while (!stream.flush())
    if (!until(stream.fd(), POLLOUT)) throw unreachable(address, "it does not listen");
}

void finish(SecureStream& stream, const DialOptions& o, const std::string& address) {
  while (!stream.handshake())
    if (!until(stream.fd(), POLLIN)) throw unreachable(address, "it does not answer");
  const Caller& there = stream.peer();
  if (there.kind == Caller::Kind::kTask && (o.expected.empty() || o.expected == there.name)) return;
  throw Error(Code::kPermissionDenied,
              fmt::format("the certificate there is {}, not {}",
                          there.name.empty() ? "nobody's" : there.name + "'s",
                          o.expected.empty() ? "a task's" : o.expected + "'s"));
}

std::unique_ptr<Stream> stream_to(const std::string& address, const DialOptions& o) {
  Connected c = connect_to(address);
  const bool plain_will_do = takes_local_ways() && user_behind(c.fd.get()) == geteuid();
  auto plain = plain_stream(std::move(c.fd));
  if (!o.identity || c.local) return plain;
  auto secure = o.identity->as_client(std::move(plain));
  try {
    finish(*secure, o, address);
    return secure;
  } catch (const Error& e) {
    if (!plain_will_do || e.code() == Code::kPermissionDenied) throw;
  }
  // A server of this very user on this machine that has no certificates: TensorFlow's, say.
  return plain_stream(connect_to(address).fd);
}

// Who we say that we are: what a certificate must bear out, or a token.
std::string shown_by(const DialOptions& o) {
  if (!o.identity) return {};
  return o.identity->own().kind == Caller::Kind::kTask ? o.identity->own().name : o.identity->token();
}

// What has come by the end of the patience, or of the connection.
size_t read_until(Stream& stream, char* to, size_t size, bool ours = true) {
  size_t at = 0;
  while (at < size) {
    const ssize_t n = stream.read(to + at, size - at);
    if (n == 0) break;
    if (n != Stream::kNotNow) at += static_cast<size_t>(n);
    else if (!until(stream.fd(), POLLIN)) break;
    if (ours && std::memcmp(to, kMagic, std::min(at, sizeof kMagic)) != 0) break;
  }
  return at;
}

[[noreturn]] void refused(Stream& stream, size_t size) {
  std::string words(std::min<size_t>(size, kMostToken), '\0');
  words.resize(read_until(stream, words.data(), words.size(), false));
  throw Error(Code::kPermissionDenied, words);
}

}  // namespace

std::string local_name(int port) { return fmt::format("emplace:{}", port); }

Dialed dial(const std::string& address, const DialOptions& o) {
  Dialed result;
  const std::string shown = shown_by(o);
  Hello ours{{}, o.kind, static_cast<uint32_t>(shown.size()), o.link, o.key};
  std::memcpy(ours.magic, kMagic, sizeof kMagic);
  try {
    result.stream = stream_to(address, o);
    write_all(*result.stream, std::string(reinterpret_cast<const char*>(&ours), sizeof ours) + shown,
              address);
    const size_t got = read_until(*result.stream, reinterpret_cast<char*>(&result.hello), sizeof(Hello));
    if (got == 0) throw unreachable(address, "it hung up, as on strangers");
    if (std::memcmp(result.hello.magic, kMagic, std::min(got, sizeof kMagic)) != 0) result.stream.reset();
    else if (got < sizeof(Hello)) throw unreachable(address, "it does not answer");
    else if (result.hello.kind == kRefused) refused(*result.stream, result.hello.token);
  } catch (const Error& e) {
    if (e.message().starts_with("failed to connect")) throw;
    if (e.code() == Code::kPermissionDenied)
      throw Error(e.code(), fmt::format("failed to connect to {}: {}", address, e.message()));
    throw unreachable(address, e.message());
  }
  return result;
}

}  // namespace emplace::cluster
