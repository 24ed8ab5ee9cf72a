#include "all/session_fixture.h"

#include <thread>

namespace emplace {
namespace {

class QueueTest : public testing::SessionFixture {
 protected:
  Node* queue(std::string_view type = "FIFOQueueV2", int64_t capacity = 10) {
    return graph.add(type, {}, {{"component_types", std::vector<DType>{DType::kFloat}},
                                {"shapes", std::vector<Shape>{Shape{}}},
                                {"capacity", capacity}});
  }
  Node* enqueue(Node* q, Output x) { return graph.add("QueueEnqueueV2", {q->output(), x}); }
  Output dequeue(Node* q) {
    return graph
        .add("QueueDequeueV2", {q->output()},
             {{"component_types", std::vector<DType>{DType::kFloat}}})
        ->output();
  }
  Output dequeue_many(Node* q, int32_t n, std::string_view type = "QueueDequeueManyV2") {
    return graph
        .add(type, {q->output(), constant(Tensor::scalar(n))},
             {{"component_types", std::vector<DType>{DType::kFloat}}})
        ->output();
  }
  Node* close(Node* q) { return graph.add("QueueCloseV2", {q->output()}); }
  Output x = placeholder(DType::kFloat, Shape{});
  void put(Session& s, Node* op, float v) { s.run(op, {{x, Tensor::scalar(v)}}); }
};

TEST_F(QueueTest, GivesWhatItGotInOrder) {
  Node* q = queue();
  Node* in = enqueue(q, x);
  const Output out = dequeue(q), many = dequeue_many(q, 3);
  auto s = session();
  for (float v : {1.f, 2.f, 3.f, 4.f}) put(*s, in, v);
  EXPECT_EQ(s->run(out).item<float>(), 1.f);
  EXPECT_EQ(s->run(many).str(), "[2. 3. 4.]");
}

TEST_F(QueueTest, ManyMoreWaitersThanThreads) {
  Node* q = queue();
  Node* in = enqueue(q, x);
  const Output out = dequeue(q);
  SessionOptions o;
  o.inter_op_parallelism_threads = 1;
  auto s = session(o);
  std::atomic<int> sum{0};
  std::vector<std::thread> waiters;
  for (int i = 0; i < 20; ++i)
    waiters.emplace_back([&] { sum += static_cast<int>(s->run(out).item<float>()); });
  for (int i = 1; i <= 20; ++i) put(*s, in, static_cast<float>(i));
  for (auto& t : waiters) t.join();
  EXPECT_EQ(sum, 210);
}

TEST_F(QueueTest, AFullQueueLetsInWhenThereIsRoom) {
  Node* q = queue("FIFOQueueV2", 1);
  Node* in = enqueue(q, x);
  const Output out = dequeue(q);
  auto s = session();
  put(*s, in, 1.f);
  std::thread second([&] { put(*s, in, 2.f); });
  EXPECT_EQ(s->run(out).item<float>(), 1.f);
  EXPECT_EQ(s->run(out).item<float>(), 2.f);
  second.join();
}

TEST_F(QueueTest, AClosedQueueIsEmptiedThenEnds) {
  Node* q = queue();
  Node* in = enqueue(q, x);
  const Output out = dequeue(q), up_to = dequeue_many(q, 5, "QueueDequeueUpToV2");
  Node* end = close(q);
  auto s = session();
  put(*s, in, 1.f);
  put(*s, in, 2.f);
  s->run(end);
  EXPECT_EQ(error_of([&] { put(*s, in, 3.f); }).code(), Code::kCancelled);
  EXPECT_EQ(s->run(up_to).str(), "[1. 2.]");
  const Error e = error_of([&] { s->run(out); });
  EXPECT_EQ(e.code(), Code::kOutOfRange);
  EXPECT_NE(std::string(e.message()).find("(requested 1, current size 0)"), std::string::npos);
}

TEST_F(QueueTest, WaitingEndsWithTheDeadlineAndWithTheSession) {
  Node* q = queue();
  const Output out = dequeue(q);
  auto s = session();
  RunOptions o;
  o.timeout_in_ms = 20;
  EXPECT_EQ(error_of([&] { s->run({}, std::span(&out, 1), {}, o); }).code(),
            Code::kDeadlineExceeded);
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    s->close();
  });
  EXPECT_EQ(error_of([&] { s->run(out); }).code(), Code::kCancelled);
  other.join();
}

TEST_F(QueueTest, TheLowestKeyComesFirst) {
  Node* q = graph.add("PriorityQueueV2", {}, {{"component_types", std::vector<DType>{DType::kFloat}},
                                              {"shapes", std::vector<Shape>{Shape{}}}});
  const Output key = placeholder(DType::kInt64, Shape{});
  Node* in = graph.add("QueueEnqueueV2", {q->output(), key, x});
  Node* out = graph.add("QueueDequeueV2", {q->output()},
                        {{"component_types", std::vector<DType>{DType::kInt64, DType::kFloat}}});
  auto s = session();
  for (int64_t k : {5, 1, 3})
    s->run(in, {{key, Tensor::scalar(k)}, {x, Tensor::scalar(static_cast<float>(k * 10))}});
  for (float v : {10.f, 30.f, 50.f}) EXPECT_EQ(s->run(out->output(1)).item<float>(), v);
}

TEST_F(QueueTest, BatchesArePadded) {
  Node* q = graph.add("PaddingFIFOQueueV2", {},
                      {{"component_types", std::vector<DType>{DType::kFloat}},
                       {"shapes", std::vector<Shape>{Shape{Shape::kUnknown, Shape::kUnknown}}}});
  const Output value = placeholder(DType::kFloat, Shape{Shape::kUnknown, Shape::kUnknown});
  Node* in = enqueue(q, value);
  const Output out = dequeue_many(q, 2);
  auto s = session();
  s->run(in, {{value, Tensor::of({1.f, 2.f, 3.f}, Shape{3, 1})}});
  s->run(in, {{value, Tensor::of({4.f, 5.f}, Shape{1, 2})}});
  EXPECT_EQ(s->run(out).str(),
            "[[[1. 0.]\n  [2. 0.]\n  [3. 0.]]\n\n [[4. 5.]\n  [0. 0.]\n  [0. 0.]]]");
}

TEST_F(QueueTest, AShuffledQueueKeepsSomeBack) {
  Node* q = graph.add("RandomShuffleQueueV2", {},
                      {{"component_types", std::vector<DType>{DType::kFloat}},
                       {"shapes", std::vector<Shape>{Shape{}}},
                       {"capacity", int64_t{100}},
                       {"min_after_dequeue", int64_t{2}},
                       {"seed", int64_t{7}}});
  Node* in = enqueue(q, x);
  const Output many = dequeue_many(q, 4);
  auto s = session();
  for (int i = 0; i < 6; ++i) put(*s, in, static_cast<float>(i));
  const Tensor t = s->run(many);
  std::vector<float> got(t.values<float>().begin(), t.values<float>().end());
  std::sort(got.begin(), got.end());
  EXPECT_EQ(std::unique(got.begin(), got.end()), got.end());
  RunOptions o;
  o.timeout_in_ms = 20;
  EXPECT_EQ(error_of([&] { s->run({}, std::span(&many, 1), {}, o); }).code(),
            Code::kDeadlineExceeded);
}

}  // namespace
}  // namespace emplace
