// Loops whose rounds are under way together.
#include <sched.h>

#include <cstring>
#include <thread>

#include "all/flow_fixture.h"
#include "all/recording_testutil.h"
#include "all/rounds_testutil.h"

namespace emplace {
namespace {

using testing::hall;
using testing::open_hall;
constexpr std::chrono::seconds kLong{20};

class Overlap : public testing::FlowFixture {
 protected:
  const testing::WithoutRecording off_;  // recordings belong to one instance, which is one round's

  static Output on(const char* device, const char* type, const Values& inputs, AttrList attrs = {},
                   const char* name = "") {
    const Scope there = Graph::current().device(device);
    return op(type, inputs, std::move(attrs), name);
  }
  static Output scaled(Output i, int32_t by, int32_t more) {
    return plus(times(i, number(by)), number(more));
  }

  // `step` makes the next values from those of (i, a, b), but for i.
  template <class F>
  Node* loop(int32_t rounds, int64_t parallel, F step) {
    const std::vector<DType> types = {kInts, kFloats, kFloats};
    const std::string id = std::to_string(made_++);
    return while_loop(
        body("test" + id, types, [&](Values v) { return Values{less(v[0], number(rounds))}; }),
        body("step" + id, types,
             [&](Values v) {
               const auto [a, b] = step(v);
               return Values{plus(v[0], number(1)), a, b};
             }),
        {number(0), constant({1.f, 2.f}, {2}), constant({3.f, 4.f}, {2})}, parallel);
  }

  // The same of TensorFlow 1's operations; the results.
  template <class F>
  Values frame_loop(int32_t rounds, int64_t parallel, F step) {
    const auto enter = [&](Output x) {
      return op("Enter", {x}, {{"frame_name", "frame"}, {"parallel_iterations", parallel}});
    };
    Values merges, bodies, results;
    for (Output start : {number(0), constant({1.f, 2.f}, {2}), constant({3.f, 4.f}, {2})}) {
      const Output entered = enter(start);
      merges.push_back(graph.add("Merge", Values{entered, entered})->output());
    }
    Output goes_on;
    {
      const Scope inside = graph.control_dependencies(std::span(&merges[0].node, 1));
      goes_on = op("LoopCond", {less(merges[0], number(rounds))});
    }
    for (Output merge : merges) {
      Node* parts = graph.add("Switch", {merge, goes_on});
      results.push_back(op("Exit", {parts->output(0)}));
      bodies.push_back(op("Identity", {parts->output(1)}));
    }
    const Scope inside = graph.control_dependencies(std::span(&bodies[0].node, 1));
    const auto [a, b] = step(bodies);
    const Values next = {plus(bodies[0], number(1)), a, b};
    for (size_t i = 0; i < next.size(); ++i)
      graph.update_input(merges[i].node, 1, op("NextIteration", {next[i]}));
    return results;
  }
  static Output sum(const Values& results) { return plus(results[1], results[2]); }  // needs both

  // a of one round waits for b of the next, and that for a.
  static auto meet(int32_t rounds, const char* here, const char* there) {
    return [=](Values v) {
      const Scope host = Graph::current().device("/cpu:0");  // what waits fills a queue
      const Output is_last = op("Cast", {op("Equal", {v[0], number(rounds - 1)})},
                                {{"DstT", kInts}});
      const Output b_of_next = op("Sub", {scaled(v[0], 2, 3), times(is_last, number(1000))});
      return std::pair{on(here, "Ticket", {v[1], scaled(v[0], 2, 0), b_of_next}),
                       on(there, "Ticket", {v[2], scaled(v[0], 2, 1), scaled(v[0], 2, -2)})};
    };
  }

  static SessionOptions sets() {
    cpu_set_t mask;
    sched_getaffinity(0, sizeof mask, &mask);
    int core = 0;
    while (!CPU_ISSET(core, &mask)) ++core;
    SessionOptions o = gpus(0);
    o.cpu_sets = {{{core}, -1}, {{core}, -1}};
    return o;
  }

 private:
  int made_ = 0;
};

TEST_F(Overlap, OperationsOfTwoRoundsMeet) {
  Node* on_gpus = loop(8, 2, meet(8, "/gpu:0", "/gpu:1"));
  const Output of_frames = sum(frame_loop(8, 2, meet(8, "/gpu:1", "/gpu:0")));
  auto s = session(gpus(2));
  for (int i = 0; i < 3; ++i) {
    open_hall(kLong);
    EXPECT_EQ(s->run(on_gpus->output(1)).str(), "[1. 2.]");
    EXPECT_EQ(hall().tickets.size(), 16u);
    open_hall(kLong);
    EXPECT_EQ(s->run(of_frames).str(), "[4. 6.]");
  }
}

TEST_F(Overlap, OperationsOfTwoRoundsMeetOnCoreSets) {
  Node* on_sets = loop(8, 2, meet(8, "/cpu:1", "/cpu:2"));
  auto s = session(sets());
  for (int i = 0; i < 3; ++i) {
    open_hall(kLong);
    EXPECT_EQ(s->run(on_sets->output(2)).str(), "[3. 4.]");
  }
}

TEST_F(Overlap, WithoutParallelIterationsTheyDoNot) {
  Node* one = loop(8, 1, meet(8, "/gpu:0", "/gpu:1"));
  const Output of_frames = sum(frame_loop(8, 1, meet(8, "/gpu:0", "/gpu:1")));
  auto s = session(gpus(2));
  for (const Output& fetch : {one->output(1), of_frames}) {
    open_hall(std::chrono::milliseconds(100));
    EXPECT_EQ(error_of([&] { s->run(fetch); }).code(), Code::kDeadlineExceeded);
    EXPECT_EQ(hall().tickets, (std::set<int32_t>{0, 1}));  // none of the second round
  }
}

// Each round goes in at once and out after some work; none needs what another made.
TEST_F(Overlap, AsManyAreUnderWayAsAllowedAndNoMore) {
  auto s = session(gpus(2));
  for (const int64_t most : {1, 2, 3, 10}) {
    const std::vector<DType> types = {kInts, kFloats, kFloats};
    const std::string id = std::to_string(most);
    Node* many = while_loop(
        body("in" + id, types, [&](Values v) { return Values{less(v[0], number(30))}; }),
        body("out" + id, types,
             [](Values v) {
               const Output in = on("/cpu:0", "ComeIn", {v[2], v[0]});
               const Output work = on("/gpu:1", "Doze", {on("/gpu:0", "Doze", {in, v[0]}), v[0]});
               return Values{plus(v[0], number(1)), on("/cpu:0", "GoOut", {work}), v[2]};
             }),
        {number(0), constant({1.f, 2.f}, {2}), constant({7.f, 8.f}, {2})}, most);
    open_hall(kLong);
    EXPECT_EQ(s->run(many->output(1)).str(), "[7. 8.]");
    EXPECT_EQ(hall().inside, 0);
    EXPECT_LE(hall().most, most);
    EXPECT_GE(hall().most, std::min<int64_t>(most, 2));
  }
}

TEST_F(Overlap, ResultsHaveTheSameBits) {
  std::string one;
  auto s = session(gpus(2));
  for (const int64_t parallel : {1, 2, 10, 1000}) {
    Node* chained = loop(40, parallel, [](Values v) {
      const Output x = on("/gpu:0", "AddV2", {op("Mul", {v[1], constant(1.01f)}), v[2]});
      const Output t = op("Cast", {v[0]}, {{"DstT", kFloats}});
      return std::pair{x, on("/gpu:1", "Sub", {on("/gpu:1", "Sin", {plus(v[2], t)}), v[1]})};
    });
    const std::vector<Output> both = {chained->output(1), chained->output(2)};
    for (int i = 0; i < 10; ++i) {
      const std::vector<Tensor> got = s->run({}, both);
      std::string bits(static_cast<const char*>(got[0].raw()), got[0].bytes());
      bits.append(static_cast<const char*>(got[1].raw()), got[1].bytes());
      if (one.empty()) one = bits;
      EXPECT_EQ(bits, one) << parallel;
    }
  }
}

TEST_F(Overlap, VariablesChangePlaces) {
  Node* swaps = loop(7, 4, [](Values v) {
    return std::pair{v[2], on("/gpu:0", "Identity", {v[1]})};
  });
  auto s = session(gpus(2));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(s->run(swaps->output(1)).str(), "[3. 4.]");
}

TEST_F(Overlap, NoRoundsGiveBackWhatWentIn) {
  Node* none = loop(0, 4, [](Values v) {
    return std::pair{on("/gpu:0", "Neg", {v[1]}), on("/gpu:1", "Neg", {v[2]})};
  });
  EXPECT_EQ(session(gpus(2))->run(none->output(2)).str(), "[3. 4.]");
}

// Branches inside, and a loop inside that overlaps too.
TEST_F(Overlap, NestedLoopsAndBranches) {
  const std::vector<DType> one = {kInts, kFloats};
  body("inner_test", one, [](Values v) { return Values{less(v[0], number(3))}; });
  body("inner_step", one, [](Values v) {
    return Values{plus(v[0], number(1)), on("/gpu:1", "Mul", {v[1], constant(2.f)})};
  });
  body("up", {kFloats},
       [](Values v) { return Values{on("/gpu:0", "AddV2", {v[0], constant(1.f)})}; });
  body("down", {kFloats},
       [](Values v) { return Values{on("/gpu:1", "Mul", {v[0], constant(.25f)})}; });
  std::string first;
  auto s = session(gpus(2));
  for (const int64_t parallel : {1, 10}) {
    Node* nested = loop(20, parallel, [&](Values v) {
      Node* inner = Graph::current().add("While", Values{number(0), v[1]},
                                         {{"T", one},
                                          {"cond", FunctionName{"inner_test", {}}},
                                          {"body", FunctionName{"inner_step", {}}},
                                          {"parallel_iterations", parallel}});
      const Output odd = op("Equal", {op("FloorMod", {v[0], number(2)}), number(1)});
      Node* branch = Graph::current().add("If", Values{odd, v[2]},
                                          {{"Tin", std::vector<DType>{kFloats}},
                                           {"Tout", std::vector<DType>{kFloats}},
                                           {"then_branch", FunctionName{"up", {}}},
                                           {"else_branch", FunctionName{"down", {}}}});
      return std::pair{times(inner->output(1), constant(.125f)), plus(branch->output(), v[1])};
    });
    for (int i = 0; i < 5; ++i) {
      const std::string got = s->run(nested->output(1)).str() + s->run(nested->output(2)).str();
      if (first.empty()) first = got;
      EXPECT_EQ(got, first);
    }
  }
  EXPECT_NE(first.find("[1. 2.]"), std::string::npos) << first;
}

TEST_F(Overlap, AnErrorEndsEveryRoundAndNothingStays) {
  Node* breaks = loop(30, 8, [](Values v) {
    return std::pair{on("/gpu:0", "Doze", {v[1], v[0]}),
                     on("/gpu:1", "FailAt", {v[2], v[0]}, {{"when", 9}}, "broken")};
  });
  Node* fine = loop(30, 8, [](Values v) {
    return std::pair{on("/gpu:0", "AddV2", {v[1], v[2]}), on("/gpu:1", "Neg", {v[2]})};
  });
  auto s = session(gpus(2));
  const std::string before = s->run(fine->output(1)).str();
  const auto in_use = [&] {
    int64_t bytes = 0;
    for (const auto& d : *s->impl().devices)
      if (d->is_async()) bytes += d->memory_stats().in_use;
    return bytes;
  };
  std::vector<int64_t> held;
  for (int i = 0; i < 12; ++i) {
    const Error e = error_of([&] { s->run(breaks->output(1)); });
    EXPECT_EQ(e.code(), Code::kFailedPrecondition);
    EXPECT_NE(e.node().find("body/broken"), std::string::npos) << e.node();
    EXPECT_EQ(s->run(fine->output(1)).str(), before);
    held.push_back(in_use());
  }
  EXPECT_LE(held.back(), held[4] + (64 << 10)) << "something stays after each error";
}

TEST_F(Overlap, ACancelledStepLeavesTheSessionUsable) {
  Node* waits = loop(30, 6, [](Values v) {
    return std::pair{on("/gpu:0", "Doze", {v[1], v[0]}),
                     on("/cpu:0", "NeverReady", {v[2], v[0]}, {{"when", 5}})};
  });
  Node* for_ever = loop(1 << 30, 6, [](Values v) {
    return std::pair{on("/gpu:0", "Doze", {v[1], v[0]}), on("/gpu:1", "Neg", {v[2]})};
  });
  Node* fine = loop(3, 6, [](Values v) {
    return std::pair{v[1], on("/gpu:1", "Neg", {v[2]})};
  });
  auto s = session(gpus(2));
  for (Node* bad : {waits, for_ever, waits, for_ever}) {
    RunOptions o;
    o.timeout_in_ms = 60;
    const Output fetch = bad->output(1);
    EXPECT_EQ(error_of([&] { s->run({}, std::span(&fetch, 1), {}, o); }).code(),
              Code::kDeadlineExceeded);
    EXPECT_EQ(s->run(fine->output(2)).str(), "[-3. -4.]");
  }
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    s->close();
  });
  EXPECT_EQ(error_of([&] { s->run(for_ever->output(1)); }).code(), Code::kCancelled);
  other.join();
}

TEST_F(Overlap, ATraceHasEveryRoundOnce) {
  Node* traced = loop(9, 4, [](Values v) {
    return std::pair{on("/gpu:0", "Doze", {v[1], v[0]}), on("/gpu:1", "Neg", {v[2]})};
  });
  RunOptions o;
  o.trace = true;
  RunMetadata m;
  const Output fetch = traced->output(1);
  session(gpus(2))->run({}, std::span(&fetch, 1), {}, o, &m);
  std::map<std::string, int> times;
  for (const NodeStats& n : m.nodes) {
    ++times[n.op];
    EXPECT_GE(n.end_ns, n.start_ns) << n.node;
  }
  EXPECT_EQ(times["Doze"], 9);
  EXPECT_EQ(times["Neg"], 9);
  EXPECT_EQ(times["Less"], 10);
  EXPECT_EQ(times["AddV2"], 9);
  EXPECT_EQ(times["While"], 1);
}

// What a loop does to others is done in the order of its rounds.
TEST_F(Overlap, RoundsWithEffectsFollowOneAnother) {
  Node* ordered = loop(8, 4, [](Values v) {
    const Output in = on("/cpu:0", "ComeIn", {v[2], v[0]});
    const Output out = on("/cpu:0", "GoOut", {on("/gpu:0", "Doze", {in, v[0]})});
    return std::pair{on("/gpu:1", "CountCalls", {out}), v[2]};
  });
  open_hall(kLong);
  session(gpus(2))->run(ordered->output(1));
  EXPECT_EQ(hall().most, 1);
}

// Ten arenas would be more than there is.
TEST_F(Overlap, RoundsTakeNoMoreMemoryThanThereIs) {
  SessionOptions o = gpus(1);
  o.virtual_gpu_memory = 8 << 20;
  auto s = session(o);
  const Output big = placeholder(kFloats, Shape{256 << 10});
  const std::vector<DType> types = {kInts, kFloats};
  Node* heavy = while_loop(
      body("heavy_test", types, [](Values v) { return Values{less(v[0], number(20))}; }),
      body("heavy_step", types,
           [](Values v) {
             const Output x = on("/gpu:0", "Exp", {on("/gpu:0", "Neg", {v[1]})});
             return Values{plus(v[0], number(1)), on("/gpu:0", "Sin", {x})};
           }),
      {number(0), big}, 10);
  Tensor zeros(kFloats, Shape{256 << 10});
  std::memset(zeros.raw(), 0, zeros.bytes());
  const Output sum = op("Sum", {heavy->output(1), constant(Tensor::scalar(int32_t{0}))});
  const float first = s->run(sum, {{big, zeros}}).item<float>();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(s->run(sum, {{big, zeros}}).item<float>(), first);
}

}  // namespace
}  // namespace emplace
