// Staging areas, mutexes and accumulators: what waits is let in by what comes.
#include <thread>

#include "all/session_fixture.h"

namespace emplace {
namespace {

class StagingTest : public testing::SessionFixture {
 protected:
  AttrList area(int64_t capacity = 0) const {
    return {{"dtypes", std::vector<DType>{DType::kFloat}},
            {"capacity", capacity},
            {"shared_name", std::string("area")}};
  }
  Output x = placeholder(DType::kFloat, Shape{});
  void put(Session& s, Node* op, float v) { s.run(op, {{x, Tensor::scalar(v)}}); }
  Output int64(int64_t v) { return constant(Tensor::scalar(v)); }
  Output first() {
    Tensor t(DType::kInt32, Shape{1});
    *t.data<int32_t>() = 0;
    return constant(t);
  }
};

TEST_F(StagingTest, GivesWhatWasLaidDownFirst) {
  Node* in = graph.add("Stage", {x}, area());
  const Output out = graph.add("Unstage", {}, area())->output();
  const Output count = graph.add("StageSize", {}, area())->output();
  const Output second =
      graph.add("StagePeek", {constant(Tensor::scalar(int32_t{1}))}, area())->output();
  Node* clear = graph.add("StageClear", {}, area());
  auto s = session();
  for (float v : {1.f, 2.f, 3.f}) put(*s, in, v);
  EXPECT_EQ(s->run(second).item<float>(), 2.f);
  EXPECT_EQ(s->run(out).item<float>(), 1.f);
  EXPECT_EQ(s->run(count).item<int32_t>(), 2);
  s->run(clear);
  EXPECT_EQ(s->run(count).item<int32_t>(), 0);
}

TEST_F(StagingTest, WhoTakesWaitsForWhoPutsAndTheOtherWayRound) {
  Node* in = graph.add("Stage", {x}, area(1));
  const Output out = graph.add("Unstage", {}, area(1))->output();
  auto s = session();
  std::thread putting([&] {
    for (int i = 1; i <= 20; ++i) put(*s, in, static_cast<float>(i));
  });
  float sum = 0;
  for (int i = 0; i < 20; ++i) sum += s->run(out).item<float>();
  putting.join();
  EXPECT_EQ(sum, 210.f);
}

TEST_F(StagingTest, KeysFindTheirOwnAndTheFirstGoesFirst) {
  const AttrList attrs = area();
  AttrList put_attrs = attrs;
  set_attr(put_attrs, "fake_dtypes", std::vector<DType>{DType::kFloat});
  auto lay = [&](int64_t key) {
    return graph.add("OrderedMapStage", {int64(key), first(), x}, put_attrs);
  };
  Node *seven = lay(7), *three = lay(3), *five = lay(5);
  const Output five_out = graph.add("OrderedMapUnstage", {int64(5), first()}, attrs)->output();
  Node* any = graph.add("OrderedMapUnstageNoKey", {first()}, attrs);
  auto s = session();
  put(*s, seven, 70.f);
  put(*s, three, 30.f);
  put(*s, five, 50.f);
  EXPECT_EQ(error_of([&] { put(*s, five, 1.f); }).code(), Code::kInvalidArgument);
  EXPECT_EQ(s->run(five_out).item<float>(), 50.f);
  const auto got = s->run({}, std::vector<Output>{any->output(0), any->output(1)});
  EXPECT_EQ(got[0].item<int64_t>(), 3);
  EXPECT_EQ(got[1].item<float>(), 30.f);
}

TEST_F(StagingTest, AMutexIsFreeAgainWhenItsLockIsConsumed) {
  const Output mutex = graph.add("MutexV2", {}, {})->output();
  const Output lock = graph.add("MutexLock", {mutex}, {})->output();
  Node* consume = graph.add("ConsumeMutexLock", {lock}, {});
  auto s = session();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 50; ++k) s->run(consume);
    });
  for (auto& t : threads) t.join();
}

TEST_F(StagingTest, AnAccumulatorGivesTheMeanOfEnoughThatAreNotTooOld) {
  const Output a = graph
                       .add("ResourceConditionalAccumulator", {},
                            {{"dtype", DType::kFloat}, {"shape", Shape{}}})
                       ->output();
  const Output step = placeholder(DType::kInt64, Shape{});
  Node* apply = graph.add("ResourceAccumulatorApplyGradient", {a, step, x}, {});
  const Output taken = graph
                           .add("ResourceAccumulatorTakeGradient",
                                {a, constant(Tensor::scalar(int32_t{2}))}, {{"dtype", DType::kFloat}})
                           ->output();
  const Output count = graph.add("ResourceAccumulatorNumAccumulated", {a}, {})->output();
  auto s = session();
  auto give = [&](int64_t at, float v) {
    s->run(apply, {{step, Tensor::scalar(at)}, {x, Tensor::scalar(v)}});
  };
  give(0, 1.f);
  std::thread later([&] { give(0, 4.f); });
  EXPECT_EQ(s->run(taken).item<float>(), 2.5f);
  later.join();
  give(0, 9.f);  // of a step that is over
  EXPECT_EQ(s->run(count).item<int32_t>(), 0);
  give(1, 8.f);
  EXPECT_EQ(s->run(count).item<int32_t>(), 1);
}

TEST_F(StagingTest, AnAccumulatorOfRowsDividesEachByItsOwnNumber) {
  const Output a = graph
                       .add("SparseConditionalAccumulator", {},
                            {{"dtype", DType::kFloat}, {"shape", Shape{9, 1}}})
                       ->output();
  auto give = [&](std::vector<int64_t> rows, std::vector<float> values) {
    const auto n = static_cast<int64_t>(rows.size());
    Tensor i(DType::kInt64, Shape{n}), v(DType::kFloat, Shape{n, 1});
    std::copy(rows.begin(), rows.end(), i.data<int64_t>());
    std::copy(values.begin(), values.end(), v.data<float>());
    Tensor shape(DType::kInt64, Shape{0});
    return graph.add("SparseAccumulatorApplyGradient",
                     {a, int64(0), constant(i), constant(v), constant(shape)},
                     {{"has_known_shape", false}});
  };
  Node *one = give({1, 4}, {2.f, 1.f}), *two = give({4}, {5.f});
  Node* taken = graph.add("SparseAccumulatorTakeGradient",
                          {a, constant(Tensor::scalar(int32_t{2}))}, {{"dtype", DType::kFloat}});
  auto s = session();
  s->run(one);
  s->run(two);
  const auto got =
      s->run({}, std::vector<Output>{taken->output(0), taken->output(1), taken->output(2)});
  EXPECT_EQ(got[0].str(), "[1 4]");
  EXPECT_EQ(got[1].str(), "[[2.]\n [3.]]");
  EXPECT_EQ(got[2].str(), "[9 1]");
}

}  // namespace
}  // namespace emplace
