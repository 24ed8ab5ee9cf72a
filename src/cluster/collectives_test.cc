// Collective operations between devices of one task, between tasks, and when a task goes.
#include <gtest/gtest.h>

#include "cluster/cluster_testutil.h"
#include "emplace/cluster.h"
#include "emplace/eager.h"
#include "emplace/emplace.h"

namespace emplace::testing {
namespace {

Output summed(const std::string& device, const Output& value, int size, int key,
              float timeout_s = 0) {
  Graph& graph = Graph::current();
  const Scope there = graph.device(device);
  const auto number = [](int n) { return constant(Tensor::scalar(int32_t{n})); };
  return graph
      .add("CollectiveReduceV2", {value, number(size), number(1), number(key)},
           {{"merge_op", "Add"},
            {"final_op", "Id"},
            {"Nordering_token", 0},
            {"timeout_seconds", timeout_s}})
      ->output();
}

std::vector<std::unique_ptr<Server>> servers(int count, int cpus = 1) {
  ServerOptions o;
  o.job = "worker";
  o.session.device_count["CPU"] = cpus;
  const auto ports = free_ports(count);
  for (int i = 0; i < count; ++i)
    o.cluster["worker"][i] = "localhost:" + std::to_string(ports[static_cast<size_t>(i)]);
  std::vector<std::unique_ptr<Server>> made;
  for (o.task = 0; o.task < count; ++o.task) made.push_back(std::make_unique<Server>(o));
  return made;
}

class CollectivesTest : public ::testing::Test {
 protected:
  Graph graph;
  Scope in_graph = graph.as_default();
};

TEST_F(CollectivesTest, DevicesOfOneSessionMeet) {
  SessionOptions o;
  o.device_count["CPU"] = 2;
  const Output x = placeholder(DType::kFloat, Shape{});
  const Output a = summed("/cpu:0", x, 2, 1), b = summed("/cpu:1", x + constant(1.f), 2, 1);
  Session s(graph, o);
  for (float v : {1.f, 5.f}) {
    const auto r = s.run(Feeds{{x, Tensor::scalar(v)}}, std::vector{a, b});
    EXPECT_EQ(r[0].item<float>(), 2 * v + 1);
    EXPECT_EQ(r[1].item<float>(), 2 * v + 1);
  }
}

TEST_F(CollectivesTest, TasksMeet) {
  const auto all = servers(2, 2);
  const Output x = placeholder(DType::kFloat, Shape::unknown());
  std::vector<Output> sums;
  for (const char* device : {"/job:worker/task:0/cpu:0", "/job:worker/task:0/cpu:1",
                             "/job:worker/task:1/cpu:0", "/job:worker/task:1/cpu:1"})
    sums.push_back(summed(device, x, 4, 1));
  SessionOptions o;
  o.target = all[1]->target();
  Session s(graph, o);
  for (const int64_t elements : {1, 50'000}) {
    Tensor t(DType::kFloat, Shape{elements});
    std::fill_n(t.data<float>(), elements, 1.5f);
    for (const Tensor& r : s.run(Feeds{{x, t}}, sums))
      EXPECT_EQ(r.data<float>()[elements - 1], 6.f);
  }
}

TEST_F(CollectivesTest, OneGivesToTheOthers) {
  SessionOptions o;
  o.device_count["CPU"] = 3;
  const Output x = placeholder(DType::kFloat, Shape{2});
  const auto on = [&](int cpu) { return graph.device("/cpu:" + std::to_string(cpu)); };
  const AttrList keys{{"group_size", 3}, {"group_key", 1}, {"instance_key", 1}, {"shape", Shape{2}}};
  AttrList taken = keys;
  taken.emplace_back("T", DType::kFloat);
  std::vector<Output> all;
  {
    const Scope there = on(1);
    all.push_back(graph.add("CollectiveBcastSend", {x}, keys)->output());
  }
  for (const int cpu : {0, 2}) {
    const Scope there = on(cpu);
    all.push_back(graph.add("CollectiveBcastRecv", {}, taken)->output());
  }
  Session s(graph, o);
  const Tensor value = Tensor::of<float>({3, 4}, Shape{2});
  for (const Tensor& t : s.run(Feeds{{x, value}}, all)) EXPECT_EQ(t.data<float>()[1], 4.f);
}

// One reduction of an eager program whose task is the server's.
struct Worker {
  explicit Worker(Server& server) { eager.set_collectives(server.collectives()); }
  Tensor sum(float v, int key, float timeout_s = 0) {
    const Tensor two = Tensor::scalar(int32_t{2}), one = Tensor::scalar(int32_t{1}),
                 k = Tensor::scalar(int32_t{key});
    return eager.execute("CollectiveReduceV2", {{Tensor::scalar(v), two, one, k}},
                         {{"merge_op", "Add"},
                          {"final_op", "Id"},
                          {"Nordering_token", 0},
                          {"timeout_seconds", timeout_s}})[0];
  }
  Eager eager;
};

TEST_F(CollectivesTest, EagerProgramsMeetAndHearThatOneGoes) {
  auto all = servers(2);
  Worker a(*all[0]), b(*all[1]);
  for (int i = 0; i < 3; ++i) {
    Tensor mine;
    std::thread other([&] { mine = b.sum(2.f, 1); });
    EXPECT_EQ(a.sum(1.f, 1).item<float>(), 3.f);
    other.join();
    EXPECT_EQ(mine.item<float>(), 3.f);
  }
  std::thread stopping([&] { all[1]->stop(); });
  const Error e = error_of([&] { a.sum(1.f, 1); });
  stopping.join();
  EXPECT_EQ(e.code(), Code::kUnavailable);
  EXPECT_NE(e.message().find("Collective ops is aborted by: From /job:worker/replica:0/task:1:"),
            std::string::npos)
      << e.message();
  EXPECT_EQ(error_of([&] { a.sum(1.f, 2); }).code(), Code::kUnavailable);  // for good
}

TEST_F(CollectivesTest, WhoWaitsForNobodyWaitsWithAnEnd) {
  auto all = servers(2);
  Worker a(*all[0]);
  const Error e = error_of([&] { a.sum(1.f, 1, 0.05f); });
  EXPECT_EQ(e.code(), Code::kDeadlineExceeded);
  EXPECT_NE(e.message().find("timed out waiting for other workers"), std::string::npos)
      << e.message();
}

}  // namespace
}  // namespace emplace::testing
