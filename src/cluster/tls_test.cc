// Processes that know each other by certificates.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include "base/device_name.h"
#include "cluster/cluster_testutil.h"
#include "cluster/foreign.h"
#include "cluster/methods.h"
#include "cluster/socket/dial.h"
#include "cluster/socket/frame.h"
#include "emplace/cluster.h"
#include "emplace/emplace.h"

namespace emplace::testing {
namespace {

using cluster::Answer;
using cluster::Bytes;
using cluster::Caller;
using cluster::Identity;

// Says who calls; long messages come back.
class WhoCalls final : public cluster::Service {
 public:
  void call(std::shared_ptr<cluster::IncomingCall> call) override {
    if (call->request().size() > 0) return call->answer({{}, std::move(call->request())});
    call->answer({{}, Bytes(std::to_string(static_cast<int>(call->caller().kind)) + call->caller().name)});
  }
};

class TlsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      cluster::tls_library();
    } catch (const Error& e) {
      GTEST_SKIP() << e.what();
    }
    setenv("EMPLACE_CLUSTER_LOCAL", "0", 1);
    std::string name = std::filesystem::temp_directory_path() / "emplace_tls_XXXXXX";
    folder = mkdtemp(name.data());
    make_cluster_keys({folder, {{"ps", 1}, {"worker", 2}}, {"alice"}});
  }
  void TearDown() override {
    unsetenv("EMPLACE_CLUSTER_LOCAL");
    cluster::set_client_identity(nullptr);
    if (!folder.empty()) std::filesystem::remove_all(folder);
  }

  static std::string task(const std::string& job, int number) {
    return DeviceName::of_task(job, 0, number).task_name();
  }
  std::shared_ptr<Identity> of(const std::string& below, const std::string& token = {}) {
    return cluster::tls_library().identity(folder + "/" + below, token);
  }
  // Serves as ps 0, for the tasks of the cluster.
  void serve() {
    server = cluster::secure_transport(of("ps-0"), {{"a", task("ps", 0)}, {"b", task("worker", 0)}});
    listener = server->listen({}, service);
    address = "localhost:" + std::to_string(listener->port());
  }
  Answer call(const std::shared_ptr<Identity>& who, Bytes request = {}, const std::string& expected = {},
              std::string_view method = cluster::kMethods[0]) {
    std::map<std::string, std::string> there;
    if (!expected.empty()) there[address] = expected;
    cluster::set_client_identity(nullptr);
    const auto transport = cluster::secure_transport(who, there);
    const auto channel = transport->connect(address, cluster::Transport::Speaks::kOurs);
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<Answer> answer;
    channel->call(std::string(method), std::move(request), {.timeout_ms = 300'000},
                  [&](Answer a) {
                    const std::lock_guard lock(mutex);
                    answer = std::move(a);
                    changed.notify_all();
                  });
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return answer.has_value(); });
    return std::move(*answer);
  }
  static std::string text_of(const Answer& a) {
    if (a.error) return a.error->message();
    cluster::BytesReader reader(a.body);
    return reader.text(a.body.size());
  }
  static std::string kind(Caller::Kind k) { return std::to_string(static_cast<int>(k)); }

  std::string folder;
  WhoCalls service;
  std::unique_ptr<cluster::Transport> server;
  std::unique_ptr<cluster::Listener> listener;
  std::string address;
};

TEST_F(TlsTest, KeysAreTheirOwnersAlone) {
  struct stat found;
  for (const char* file : {"authority.key", "ps-0/own.pem", "worker-1/own.pem", "client-alice/own.pem"}) {
    ASSERT_EQ(stat((folder + "/" + file).c_str(), &found), 0) << file;
    EXPECT_EQ(found.st_mode & 0777, 0600u) << file;
  }
  EXPECT_FALSE(std::filesystem::exists(folder + "/ps-0/authority.key"));
  EXPECT_TRUE(make_cluster_keys({folder, {{"ps", 1}}}).empty());  // what is there stays
  EXPECT_EQ(make_cluster_keys({folder, {{"ps", 2}}}), std::vector<std::string>{folder + "/ps-1"});
  EXPECT_THROW(make_cluster_keys({folder, {}, {"../mallory"}}), Error);
}

TEST_F(TlsTest, AServerKnowsTasksAndClientsByTheirCertificates) {
  serve();
  EXPECT_EQ(text_of(call(of("worker-0"))), kind(Caller::Kind::kTask) + task("worker", 0));
  EXPECT_EQ(text_of(call(of("client-alice"))), kind(Caller::Kind::kClient) + "alice");
  const std::string token = make_client_token(folder, "bob", 1);
  EXPECT_EQ(text_of(call(of(".", token))), kind(Caller::Kind::kClient) + "bob");
}

TEST_F(TlsTest, LongMessagesComeBackAsTheyWere) {
  serve();
  for (const size_t size : {1u, 100'000u, 5'000'000u}) {
    std::string text(size, '\0');
    for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 7 + i / 251);
    EXPECT_TRUE(text_of(call(of("worker-0"), Bytes(text))) == text) << size;
  }
}

TEST_F(TlsTest, StrangersAreRefusedWithWords) {
  serve();
  const std::string others = folder + "/others";
  make_cluster_keys({others, {{"worker", 1}}, {"alice"}});
  const auto refused = [&](const std::shared_ptr<Identity>& who, const std::string& words) {
    const Answer a = call(who);
    ASSERT_TRUE(a.error) << text_of(a);
    EXPECT_EQ(a.error->code(), Code::kPermissionDenied) << a.error->what();
    EXPECT_NE(a.error->message().find(words), std::string::npos) << a.error->message();
  };
  refused(of("others/worker-0"), "not trusted");  // neither trusts the other's authority
  refused(of("worker-1"), "is no task of this cluster");
  refused(of("."), "certificate or a token");
  refused(of(".", "emplace1.bob.99999999999.00ff"), "has not signed it");
  refused(of(".", make_client_token(others, "bob", 1)), "has not signed it");
  refused(of(".", make_client_token(folder, "bob", -1)), "its time is over");
  std::string changed = make_client_token(folder, "bob", 1);
  changed.replace(changed.find("bob"), 3, "eve");
  refused(of(".", changed), "has not signed it");
  // One who believes our authority, and is believed by it, but has another's certificate.
  std::filesystem::copy(folder + "/others/client-alice/own.pem", folder + "/own.pem");
  EXPECT_THROW(of("."), Error);
}

TEST_F(TlsTest, AClientKnowsWhomItHasReached) {
  serve();
  EXPECT_FALSE(call(of("worker-0"), {}, task("ps", 0)).error);
  const Answer other = call(of("worker-0"), {}, task("worker", 1));
  ASSERT_TRUE(other.error);
  EXPECT_NE(other.error->message().find("/job:ps/replica:0/task:0's, not /job:worker/replica:0/task:1's"),
            std::string::npos)
      << other.error->message();
}

TEST_F(TlsTest, AClusterRunsEncrypted) {
  ServerOptions o;
  o.tls = folder;
  std::vector<std::unique_ptr<Server>> servers;
  for (const int port : free_ports(2)) o.cluster["worker"][static_cast<int>(o.cluster["worker"].size())] =
      "127.0.0.1:" + std::to_string(port);
  o.job = "worker";
  for (o.task = 0; o.task < 2; ++o.task) servers.push_back(std::make_unique<Server>(o));
  Graph graph;
  const Scope in_graph = graph.as_default();
  const Output x = placeholder(DType::kFloat, Shape{});
  const auto on = [&](int t, Output in) {
    const Scope there = graph.device("/job:worker/task:" + std::to_string(t));
    return graph.add("Neg", {in})->output();
  };
  const Output y = on(0, on(1, x));
  SessionOptions at;
  at.target = servers[0]->target();
  use_cluster_keys(folder + "/client-alice");
  EXPECT_EQ(Session(graph, at).run(y, {{x, Tensor::scalar(2.f)}}).item<float>(), 2.f);
}

TEST_F(TlsTest, ClientsFromElsewhereTouchTheFoldersGivenAlone) {
  ServerOptions o;
  o.tls = folder;
  o.files = {folder + "/shared"};
  o.job = "worker";
  o.cluster["worker"][0] = "127.0.0.1:" + std::to_string(free_ports(1)[0]);
  Server server(o);
  std::filesystem::create_directory(folder + "/shared");
  std::filesystem::create_symlink(folder, folder + "/shared/out");
  std::ofstream(folder + "/shared/a") << "words";
  use_cluster_keys(folder + "/client-alice");
  Graph graph;
  const Scope in_graph = graph.as_default();
  const Output name = placeholder(DType::kString, Shape{});
  const Output text = graph.add("ReadFile", {name})->output();
  SessionOptions at;
  at.target = server.target();
  Session s(graph, at);
  const auto read = [&](const std::string& path) { return s.run(text, {{name, Tensor::string(path)}}); };
  EXPECT_EQ(read(folder + "/shared/a").item<std::string>(), "words");
  for (const char* path : {"/authority.key", "/shared/../authority.key", "/shared/out/authority.key", "/shared2"})
    EXPECT_EQ(error_of([&] { read(folder + path); }).code(), Code::kPermissionDenied) << path;
}

constexpr std::string_view kHttp2 = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

// What another user of this machine is answered at a port.
std::string told_to_a_stranger(int port, std::string_view words) {
  int answers[2];
  if (pipe(answers) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    a.sin_port = htons(static_cast<uint16_t>(port));
    const int s = setuid(65534) == 0 ? socket(AF_INET, SOCK_STREAM, 0) : -1;
    if (connect(s, reinterpret_cast<const sockaddr*>(&a), sizeof a) != 0) _exit(1);
    if (write(s, words.data(), words.size()) < 0) _exit(1);
    char some[4096];
    for (ssize_t n; (n = read(s, some, sizeof some)) > 0;)
      if (write(answers[1], some, static_cast<size_t>(n)) != n) _exit(1);
    _exit(0);
  }
  close(answers[1]);
  std::string all;
  char some[4096];
  for (ssize_t n; (n = read(answers[0], some, sizeof some)) > 0;) all.append(some, static_cast<size_t>(n));
  close(answers[0]);
  waitpid(child, nullptr, 0);
  return all;
}

TEST_F(TlsTest, StrangersWithoutEncryptionAreToldWhatToDo) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be somebody else";
  serve();
  cluster::Hello hello;
  std::memcpy(hello.magic, cluster::kMagic, sizeof cluster::kMagic);
  const std::string ours(reinterpret_cast<const char*>(&hello), sizeof hello);
  for (const std::string& words : {ours, std::string(kHttp2)})
    EXPECT_THAT(told_to_a_stranger(listener->port(), words), ::testing::HasSubstr("set EMPLACE_TLS to a folder"));
  EXPECT_EQ(told_to_a_stranger(listener->port(), "GET / HTTP/1.1\r\n\r\n"), "");
}

// A connection to the port, encrypted; what comes is read until it begins with so many bytes.
std::string said_encrypted(Identity& who, int port, std::string_view words, size_t size) {
  sockaddr_in a{};
  a.sin_family = AF_INET;
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  a.sin_port = htons(static_cast<uint16_t>(port));
  cluster::Fd fd(socket(AF_INET, SOCK_STREAM, 0));
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&a), sizeof a) != 0) return {};
  const auto stream = who.as_client(cluster::plain_stream(std::move(fd)));
  const auto patient = [](auto f) {
    for (int i = 0; i < 5'000 && !f(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  patient([&] { return stream->handshake(); });
  const iovec piece{const_cast<char*>(words.data()), words.size()};
  stream->write({&piece, 1});
  patient([&] { return stream->flush(); });
  std::string all;
  patient([&] {
    char some[4096];
    const ssize_t n = stream->read(some, sizeof some);
    if (n > 0) all.append(some, static_cast<size_t>(n));
    return n == 0 || all.size() >= size;
  });
  return all;
}

TEST_F(TlsTest, GrpcIsServedEncryptedToThoseWithCertificates) {
  serve();
  const std::string settings("\0\0\0\4\0\0\0\0\0", 9);  // HTTP/2's, empty
  const auto said = [&](const std::string& who) {
    return said_encrypted(*of(who), listener->port(), std::string(kHttp2) + settings, 9);
  };
  ASSERT_GE(said("client-alice").size(), 9u);
  EXPECT_EQ(said("client-alice")[3], 4);  // gRPC's own settings
  EXPECT_THAT(said("."), ::testing::HasSubstr("certificate or a token"));
}

TEST_F(TlsTest, ClientsMayNotSayWhatTasksSayToEachOther) {
  ServerOptions o;
  o.tls = folder;
  o.job = "worker";
  o.cluster["worker"][0] = "127.0.0.1:" + std::to_string(free_ports(1)[0]);
  Server one(o);
  address = o.cluster["worker"][0];
  for (const std::string_view method : cluster::kMethods) {
    const Answer a = call(of("client-alice"), Bytes("\xff no message"), {}, method);
    const bool refused = a.error && a.error->code() == Code::kPermissionDenied;
    EXPECT_EQ(refused, method.starts_with(cluster::kTaskService)) << method;
  }
}

// Hangs up on whoever begins a handshake; to others it says what is none of our protocol.
void serve_without_encryption(int listening) {
  for (char first = 0x16; first == 0x16;) {
    const cluster::Fd fd(accept(listening, nullptr, nullptr));
    if (read(fd.get(), &first, 1) != 1) return;
    if (first != 0x16) EXPECT_EQ(write(fd.get(), kHttp2.data(), kHttp2.size()), std::ssize(kHttp2));
  }
}

TEST_F(TlsTest, AServerOfTheSameUserOnThisMachineNeedsNoCertificate) {
  const cluster::Fd listening(socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in a{};
  a.sin_family = AF_INET;
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof a;
  ASSERT_EQ(bind(listening.get(), reinterpret_cast<const sockaddr*>(&a), sizeof a), 0);
  ASSERT_EQ(listen(listening.get(), 4), 0);
  ASSERT_EQ(getsockname(listening.get(), reinterpret_cast<sockaddr*>(&a), &size), 0);
  std::thread serving([&] { serve_without_encryption(listening.get()); });
  unsetenv("EMPLACE_CLUSTER_LOCAL");
  try {  // found to speak something else: gRPC is tried there
    EXPECT_EQ(cluster::dial("localhost:" + std::to_string(ntohs(a.sin_port)), {of("client-alice"), ""}).stream, nullptr);
  } catch (const Error& e) {
    ADD_FAILURE() << e.what();
    shutdown(listening.get(), SHUT_RDWR);
  }
  serving.join();
}

TEST_F(TlsTest, AServerDoesNotStartWithoutItsCertificate) {
  ServerOptions o;
  o.job = "worker";
  o.cluster["worker"][0] = "192.0.2.1:0";
  EXPECT_EQ(error_of([&] { Server server(o); }).code(), Code::kFailedPrecondition);
  o.tls = folder + "/worker-1";
  const Error e = error_of([&] { Server server(o); });
  EXPECT_NE(e.message().find("holds that of /job:worker/replica:0/task:1"), std::string::npos) << e.what();
  o.tls = folder;
  Server server(o);
  EXPECT_GT(server.port(), 0);
}

}  // namespace
}  // namespace emplace::testing
