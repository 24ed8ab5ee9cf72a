#include "emplace/cluster.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <thread>

#include "cluster/cluster_testutil.h"
#include "cluster/foreign.h"
#include "cluster/transport.h"
#include "emplace/emplace.h"

namespace emplace::testing {
namespace {

sockaddr_in loopback(int port) {
  sockaddr_in a{};
  a.sin_family = AF_INET;
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  a.sin_port = htons(static_cast<uint16_t>(port));
  return a;
}

class ServerTest : public ::testing::Test {
 protected:
  // /job:worker/task:0, 1, …
  void start(int count) {
    ServerOptions o;
    o.job = "worker";
    const auto ports = free_ports(count);
    for (int i = 0; i < count; ++i)
      o.cluster["worker"][i] = "localhost:" + std::to_string(ports[static_cast<size_t>(i)]);
    for (o.task = 0; o.task < count; ++o.task) servers.push_back(std::make_unique<Server>(o));
  }
  SessionOptions at(int i) const {
    SessionOptions o;
    o.target = servers[static_cast<size_t>(i)]->target();
    return o;
  }
  Output on(int task, const char* type, std::initializer_list<Output> in, AttrList attrs = {}) {
    const Scope there = graph.device("/job:worker/task:" + std::to_string(task));
    return graph.add(type, in, std::move(attrs))->output();
  }
  Output dequeue(int task) {
    const std::vector<DType> floats{DType::kFloat};
    const Output q = on(task, "FIFOQueueV2", {}, {{"component_types", floats}});
    return on(task, "QueueDequeueV2", {q}, {{"component_types", floats}});
  }

  Graph graph;
  Scope in_graph = graph.as_default();
  std::vector<std::unique_ptr<Server>> servers;
};

TEST_F(ServerTest, ASessionRunsOverServers) {
  start(3);
  const Output x = placeholder(DType::kFloat, Shape{});
  const Output y = on(2, "Square", {on(1, "Neg", {x})});
  Session s(graph, at(0));
  EXPECT_EQ(s.list_devices().size(), 3u);
  for (float v : {2.f, 3.f}) EXPECT_EQ(s.run(y, {{x, Tensor::scalar(v)}}).item<float>(), v * v);
  const Output z = on(1, "Neg", {y});  // the graph grows
  EXPECT_EQ(s.run(z, {{x, Tensor::scalar(3.f)}}).item<float>(), -9.f);
}

TEST_F(ServerTest, EveryKindOfValueGoesFromTaskToTask) {
  start(2);
  Tensor texts = Tensor::of<std::string>({"", "a", std::string(70'000, 'x')}, Shape{3});
  Tensor many(DType::kFloat, Shape{300'000});
  for (int64_t i = 0; i < many.num_elements(); ++i) many.data<float>()[i] = static_cast<float>(i);
  Session s(graph, at(0));
  for (const Tensor& t : {texts, many, Tensor(DType::kInt64, Shape{0, 3}), Tensor::scalar(true),
                          Tensor::of<int32_t>({1, 2}, Shape{2, 1})}) {
    const Output x = placeholder(t.dtype(), t.shape());
    const Output y = on(0, "Identity", {on(1, "Identity", {on(0, "Identity", {x})})});
    const Tensor got = s.run(y, {{x, t}});
    EXPECT_EQ(got.shape(), t.shape());
    EXPECT_EQ(got.str(), t.str());
  }
}

TEST_F(ServerTest, StateOutlivesSessionsUntilAReset) {
  start(2);
  const Scope there = graph.device("/job:worker/task:1");
  Node* v = graph.add("VarHandleOp", {}, {{"dtype", DType::kFloat}, {"shape", Shape{}}});
  Node* assign = graph.add("AssignVariableOp", {v->output(), constant(Tensor::scalar(5.f))});
  const Output value = graph.add("ReadVariableOp", {v->output()}, {{"dtype", DType::kFloat}})->output();
  Session(graph, at(0)).run(assign);
  Session other(graph, at(1));
  EXPECT_EQ(other.run(value).item<float>(), 5.f);
  Session open(graph, at(0));
  open.run(value);
  reset_target(servers[0]->target(), {});
  EXPECT_EQ(error_of([&] { open.run(value); }).code(), Code::kAborted);  // its master's
  EXPECT_EQ(error_of([&] { other.run(value); }).code(), Code::kFailedPrecondition);
}

TEST_F(ServerTest, AnErrorNamesItsTaskAndNode) {
  start(2);
  const Output x = placeholder(DType::kFloat, Shape{});
  const Output bad = on(1, "CheckNumerics", {on(1, "Log", {x})}, {{"message", "bad"}});
  const Output y = on(0, "Neg", {bad});
  Session s(graph, at(0));
  const Error e = error_of([&] { s.run(y, {{x, Tensor::scalar(-1.f)}}); });
  EXPECT_EQ(e.code(), Code::kInvalidArgument);
  EXPECT_EQ(e.node(), bad.node->name());
  EXPECT_THAT(e.message(), ::testing::HasSubstr("From /job:worker/replica:0/task:1:\n"));
  EXPECT_EQ(s.run(y, {{x, Tensor::scalar(1.f)}}).item<float>(), -0.f);  // goes on
}

TEST_F(ServerTest, TimeCancelAndCloseEndAStep) {
  start(2);
  const Output waits = on(0, "Neg", {dequeue(1)});
  Session s(graph, at(0));
  RunOptions soon;
  soon.timeout_in_ms = 50;
  EXPECT_EQ(error_of([&] { s.run({}, std::span(&waits, 1), {}, soon); }).code(),
            Code::kDeadlineExceeded);
  for (const bool close : {false, true}) {
    std::atomic<bool> ended = false;
    std::thread other([&] {
      do {  // a cancellation that comes before the step ends nothing
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        close ? s.close() : s.cancel();
      } while (!ended && !close);
    });
    EXPECT_EQ(error_of([&] { s.run(waits); }).code(), Code::kCancelled);
    ended = true;
    other.join();
  }
}

TEST_F(ServerTest, AServerThatStopsIsNamedAndOneThatIsBackHasLostTheSession) {
  start(2);
  const Output waits = on(0, "Neg", {dequeue(1)});
  const Output here = on(0, "Neg", {constant(Tensor::scalar(1.f))});
  Session s(graph, at(0));
  s.run(here);
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    servers[1].reset();
  });
  EXPECT_NE(error_of([&] { s.run(waits); }).code(), Code::kOk);
  other.join();
  EXPECT_EQ(error_of([&] { s.run(waits); }).code(), Code::kUnavailable);
  EXPECT_EQ(s.run(here).item<float>(), -1.f);  // needs nobody else
}

TEST_F(ServerTest, DefinitionsThatCantBeAreRefused) {
  const auto made = [](ClusterSpec cluster, std::string job, int task, std::string protocol = "grpc") {
    ServerOptions o;
    o.cluster = std::move(cluster);
    o.job = std::move(job);
    o.task = task;
    o.protocol = std::move(protocol);
    return error_of([&] { Server server(o); });
  };
  const ClusterSpec one{{"worker", {{0, "localhost:0"}}}};
  EXPECT_STREQ(made(one, "chief", 0).what(), "Internal: Job \"chief\" was not defined in cluster");
  EXPECT_STREQ(made(one, "worker", 5).what(), "Internal: Task 5 was not defined in job \"worker\"");
  EXPECT_STREQ(made({{"worker", {{0, "127.0.0.1"}}}}, "worker", 0).what(),
               "InvalidArgument: Could not parse port for local server from \"127.0.0.1\".");
  EXPECT_EQ(made(one, "worker", 0, "carrier").code(), Code::kNotFound);
  const Error open = made({{"worker", {{0, "192.0.2.1:2222"}}}}, "worker", 0);
  EXPECT_EQ(open.code(), Code::kFailedPrecondition);
  EXPECT_THAT(open.message(), ::testing::HasSubstr("insecure_for_everyone"));
  start(1);
  const std::string taken = "localhost:" + std::to_string(servers[0]->port());
  EXPECT_THAT(made({{"worker", {{0, taken}}}}, "worker", 0).what(),
              ::testing::HasSubstr("Unknown: Could not start gRPC server"));
}

// ---- Whoever comes uninvited.

// What another user hears from a port: whom a server serves hears something after the words that HTTP/2
// begins with.
enum class Heard { kNothing = 0, kSomething = 1, kNoEntry = 3 };
Heard heard_by_a_stranger(int port) {
  const pid_t child = fork();
  if (child == 0) {
    const int s = setuid(65534) == 0 ? socket(AF_INET, SOCK_STREAM, 0) : -1;
    const sockaddr_in a = loopback(port);
    if (connect(s, reinterpret_cast<const sockaddr*>(&a), sizeof a) != 0) _exit(3);
    constexpr std::string_view kWords = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    char byte;
    if (write(s, kWords.data(), kWords.size()) < 0) _exit(0);
    _exit(read(s, &byte, 1) > 0 ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return static_cast<Heard>(WEXITSTATUS(status));
}

TEST_F(ServerTest, AnotherUserIsCutOffUnread) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be somebody else";
  start(1);
  EXPECT_EQ(heard_by_a_stranger(servers[0]->port()), Heard::kNothing);
  EXPECT_EQ(Session(graph, at(0)).run(constant(Tensor::scalar(1.f))).item<float>(), 1.f);
}

bool has_grpc() {
  try {
    cluster::foreign_library();
    return true;
  } catch (const Error&) {
    return false;
  }
}

TEST_F(ServerTest, InsecureForEveryoneIsWhatItSays) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be somebody else";
  ServerOptions o;
  o.cluster["worker"][0] = "localhost:0";
  o.insecure_for_everyone = true;
  servers.push_back(std::make_unique<Server>(o));
  // What begins as HTTP/2 does is for gRPC to answer.
  EXPECT_EQ(heard_by_a_stranger(servers[0]->port()), has_grpc() ? Heard::kSomething : Heard::kNothing);
  EXPECT_EQ(Session(graph, at(0)).run(constant(Tensor::scalar(1.f))).item<float>(), 1.f);
  o.cluster["worker"][0] = "localhost:" + std::to_string(servers[0]->port());
  EXPECT_EQ(error_of([&] { Server again(o); }).code(), Code::kUnknown);
}

std::optional<Error> call(const std::string& address, const std::string& method,
                          const std::string& bytes) {
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<cluster::Answer> answer;
  cluster::socket_transport().connect(address, cluster::Transport::Speaks::kOurs)->call(
      method, cluster::Bytes(bytes), {}, [&](cluster::Answer a) {
        const std::lock_guard lock(mutex);
        answer = std::move(a);
        changed.notify_all();
      });
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return answer.has_value(); });
  return answer->error;
}

TEST_F(ServerTest, NoMessageEndsAServer) {
  start(1);
  const std::string address = servers[0]->target().substr(7);
  const std::string huge("\xff\xff\xff\xff\xff\xff\xff\x7f\x0a\x01", 10);
  for (const char* method :
       {"/tensorflow.MasterService/CreateSession", "/tensorflow.MasterService/ExtendSession",
        "/tensorflow.MasterService/PartialRunSetup", "/tensorflow.MasterService/RunStep",
        "/tensorflow.MasterService/CloseSession", "/tensorflow.MasterService/MakeCallable",
        "/tensorflow.MasterService/RunCallable", "/tensorflow.MasterService/ReleaseCallable",
        "/emplace.TaskService/Describe", "/emplace.TaskService/AddPart",
        "/emplace.TaskService/RunPart", "/emplace.TaskService/Push",
        "/emplace.TaskService/EndStep", "/tensorflow.MasterService/None",
        "/tensorflow.WorkerService/GetStatus"})
    for (const std::string& bytes : {std::string("\x0a\xff garbage"), huge, std::string(9, '\0')})
      EXPECT_TRUE(call(address, method, bytes)) << method;
  EXPECT_EQ(Session(graph, at(0)).run(constant(Tensor::scalar(1.f))).item<float>(), 1.f);
}

}  // namespace
}  // namespace emplace::testing
