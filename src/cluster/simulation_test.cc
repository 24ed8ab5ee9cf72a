// A cluster over a simulated network that delays, reorders, breaks connections and kills tasks: what a
// step returns is right or an error of the kind that programs recover from, and nobody waits for ever.
// EMPLACE_TEST_FULL=1: 10,000 seeds; EMPLACE_TEST_SEED=N: that one (EMPLACE_TEST_COUNT=M: and on).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

#include "cluster/client_session.h"
#include "cluster/master.h"
#include "cluster/remote_peer.h"
#include "cluster/simulated_transport_testutil.h"
#include "cluster/task.h"
#include "cluster/task_service.h"
#include "emplace/emplace.h"
#include "exec/step_graph.h"

namespace emplace::testing {
namespace {

constexpr int kTasks = 3;
constexpr int64_t kLimitMs = 20'000;  // whoever takes longer hangs

std::string address(int i) { return fmt::format("task{}:1", i); }
std::string name(int i) { return fmt::format("/job:worker/replica:0/task:{}", i); }

// One process of the cluster.
class Process final : public cluster::Service {
 public:
  Process(SimulatedNetwork& network, int number)
      : transport_(network.transport(address(number))),
        task_(DeviceName::of_task("worker", 0, number), options(), [this](const std::string& wanted) {
          for (const auto& p : peers_)
            if (p->name() == wanted) return p;
          throw not_found(wanted);
        }) {
    for (int i = 0; i < kTasks; ++i)
      peers_.push_back(i == number ? local_peer(task_)
                                   : cluster::remote_peer(name(i), transport_->connect(address(i), cluster::Transport::Speaks::kOurs)));
    master_ = std::make_unique<cluster::Master>(peers_, static_cast<size_t>(number), options());
    listener_ = transport_->listen({}, *this);
  }
  ~Process() override {
    master_->stop();
    task_.stop();
    listener_.reset();
  }
  void call(std::shared_ptr<cluster::IncomingCall> call) override {
    if (!master_->serve(call) && !serve_task(task_, call)) call->answer({unimplemented(call->method()), {}});
  }

 private:
  static SessionOptions options() {
    SessionOptions o;
    o.inter_op_parallelism_threads = 1;
    o.intra_op_parallelism_threads = 1;
    return o;
  }
  const std::unique_ptr<cluster::Transport> transport_;
  std::vector<std::shared_ptr<cluster::Peer>> peers_;
  cluster::Task task_;
  std::unique_ptr<cluster::Master> master_;
  std::unique_ptr<cluster::Listener> listener_;
};

// A counter on task 1, read by task 2, asked for by a client of task 0; a loop that goes round all three.
struct Program {
  Graph graph;
  Node *init = nullptr, *add = nullptr;
  Output count, doubled, rounds, x;

  Program() {
    const Scope in_graph = graph.as_default();
    const auto on = [&](int task) { return graph.device(name(task)); };
    x = placeholder(DType::kFloat, Shape{});
    Output handle;
    {
      const Scope there = on(1);
      NodeOptions o;
      o.name = "counter";
      handle = graph.add("VarHandleOp", {}, {{"dtype", DType::kFloat}, {"shape", Shape{}}}, o)->output();
      init = graph.add("AssignVariableOp", {handle, constant(0.f)}, {{"dtype", DType::kFloat}});
      add = graph.add("AssignAddVariableOp", {handle, constant(1.f)}, {{"dtype", DType::kFloat}});
      NodeOptions after;
      after.control_inputs = {add};
      count = graph.add("ReadVariableOp", {handle}, {{"dtype", DType::kFloat}}, after)->output();
    }
    const Scope there = on(2);
    doubled = graph.add("AddV2", {graph.add("AddV2", {count, count})->output(), x})->output();
  }
};

class Simulation {
 public:
  Simulation() {
    for (int i = 0; i < kTasks; ++i) processes_.push_back(std::make_unique<Process>(network_, i));
  }
  ~Simulation() {
    network_.set_faults({});
    processes_.clear();
  }

  // What went wrong; empty: nothing.
  std::string run(uint64_t seed) {
    std::mt19937_64 random(seed);
    network_.reseed(seed);
    float least = 0, most = 0;  // of the counter
    network_.set_faults({});
    if (auto wrong = open(); !wrong.empty()) return "opening: " + wrong;
    const Faults faults{static_cast<int>(random() % 300), random() % 3 ? 0 : static_cast<int>(random() % 60),
                        2 + static_cast<int>(random() % 20)};
    const int steps = 2 + static_cast<int>(random() % 4);
    const int killed_in = random() % 25 == 0 ? static_cast<int>(random() % static_cast<uint64_t>(steps)) : -1;
    network_.set_faults(faults);
    for (int i = 0; i < steps; ++i) {
      if (i == killed_in) {
        kill(1 + static_cast<int>(random() % 2));
        network_.set_faults({});
        close();
        if (auto wrong = open(); !wrong.empty()) return "opening again: " + wrong;
        least = most = 0;
        network_.set_faults(faults);
      }
      const float fed = static_cast<float>(random() % 100);
      try {
        const auto got = session_->run({{program_.x}, {program_.count, program_.doubled}, {}, {}, false},
                                       std::vector<Tensor>{Tensor::scalar(fed)}, {.timeout_in_ms = kLimitMs}, nullptr);
        const float count = got[0].item<float>(), doubled = got[1].item<float>();
        if (doubled != 2 * count + fed || count < least + 1 || count > most + 1)
          return fmt::format("step {}: count {} of {} to {}, doubled {} with {}", i, count, least + 1, most + 1,
                             doubled, fed);
        least = most = count;
      } catch (const Error& e) {
        if (e.code() != Code::kUnavailable && e.code() != Code::kAborted)
          return fmt::format("step {}: {}", i, e.what());
        most += 1;  // it may have counted before it failed
        if (e.code() == Code::kAborted) {
          network_.set_faults({});
          close();
          if (auto wrong = open(); !wrong.empty()) return "opening after a loss: " + wrong;
          least = most = 0;
          network_.set_faults(faults);
        }
      }
    }
    network_.set_faults({});
    close();
    return "";
  }

 private:
  void close() {
    if (session_) session_->close();
    session_.reset();
  }
  std::string open() {
    try {
      SessionOptions o;
      o.target = "grpc://" + address(0);
      session_ = cluster::client_session(program_.graph, o, *client_);
      session_->run({{}, {}, {program_.init}, {}, false}, {}, {.timeout_in_ms = kLimitMs}, nullptr);
      return "";
    } catch (const Error& e) {
      return e.what();
    }
  }
  void kill(int number) {
    network_.kill(address(number));
    processes_[static_cast<size_t>(number)] = nullptr;
    processes_[static_cast<size_t>(number)] = std::make_unique<Process>(network_, number);
  }

  Program program_;
  SimulatedNetwork network_{0};
  const std::unique_ptr<cluster::Transport> client_ = network_.transport("client");
  std::vector<std::unique_ptr<Process>> processes_;
  std::unique_ptr<RemoteSession> session_;
};

TEST(Simulation, StepsAreRightOrLost) {
  uint64_t first = 1, count = std::getenv("EMPLACE_TEST_FULL") ? 10'000 : 200;
  if (const char* seed = std::getenv("EMPLACE_TEST_SEED")) first = std::stoull(seed), count = 1;
  if (const char* more = std::getenv("EMPLACE_TEST_COUNT")) count = std::stoull(more);
  Simulation simulation;
  for (uint64_t seed = first; seed < first + count; ++seed)
    ASSERT_EQ(simulation.run(seed), "") << "EMPLACE_TEST_SEED=" << seed;
}

}  // namespace
}  // namespace emplace::testing
