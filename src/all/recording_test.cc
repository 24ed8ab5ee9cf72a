// The road that only cards took: islands, recordings and joined steps, on virtual GPUs.
#include <cstdlib>

#include "all/recording_testutil.h"
#include "all/session_fixture.h"
#include "session/session_impl.h"

namespace emplace {
namespace {

constexpr int kSteps = 5;  // plain, recorded, replayed with every lane first

class Recordings : public testing::SessionFixture {
 protected:
  Recordings() : on_(graph.device("/gpu:0")) {}

  // Instructions of the latest plan that are recorded.
  static int num_islands(Session& s) {
    int n = 0;
    for (const auto& [key, family] : s.impl().families)
      for (const auto& kept : family->programs)
        for (const Label& label : kept.program->labels) n += label.island;
    return n;
  }

  static Tensor noise(Shape shape, int seed) {
    Tensor t(DType::kFloat, shape);
    for (int64_t i = 0; i < t.num_elements(); ++i)
      t.data<float>()[i] = static_cast<float>((i * 37 + seed * 11) % 23 - 11) / 16;
    return t;
  }

  const Scope on_;
};

TEST_F(Recordings, OutOfMemoryNamesAMakerThatIsInsideAnIsland) {
  const Output x = placeholder(DType::kFloat, Shape{8, 512});
  Output y = op("MatMul", {x, x}, {{"transpose_a", true}});
  for (int i = 0; i < 6; ++i) y = matmul(y, y);
  SessionOptions o = gpus(1);
  o.virtual_gpu_memory = 1 << 20;
  auto s = session(o);
  const Error e = error_of([&] { s->run(reduce_sum(y, {0, 1}), {{x, noise({8, 512}, 0)}}); });
  EXPECT_EQ(e.code(), Code::kResourceExhausted) << e.message();
  EXPECT_EQ(e.node(), "MatMul");
}

TEST_F(Recordings, AReadBehindAWriteOfItsIslandSeesTheWrite) {
  const VariableNodes v = variable(noise({4}, 0), "v");
  const Output more = assign_add(v.ref, constant({1.f, 2.f, 3.f, 4.f}, {4}));
  Output after;
  {
    const Scope later = graph.control_dependencies(std::span(&more.node, 1));
    after = op("Identity", {v.ref});
  }
  const Output sum = reduce_sum(matmul(op("Reshape", {after, constant(Tensor::of({4, 1}, {2}))}),
                                       op("Reshape", {after, constant(Tensor::of({1, 4}, {2}))})),
                                {0, 1});
  const auto sums = [&](Session& s) {
    s.run(v.initializer);
    std::vector<float> seen;
    for (int i = 0; i < kSteps; ++i) seen.push_back(s.run(sum).item<float>());
    return seen;
  };
  auto s = session(gpus(1));
  const auto recorded = sums(*s);
  EXPECT_GT(num_islands(*s), 0);
  s.reset();
  EXPECT_EQ(recorded, sums(*testing::without_recording([&] { return session(gpus(1)); })));
}

// The shapes that a gradient asks for are made by the host in every step: in a recording they would be
// made once, and others' values would be read from where they were.
TEST_F(Recordings, ShapesThatTheHostMakesAreMadeInEveryStep) {
  const Output x = placeholder(DType::kFloat, Shape{2, 8, 8, 3});
  const Output w = variable(noise({3, 3, 3, 4}, 1), "w").ref;
  const Output filter = op("Identity", {w});
  const AttrList attrs = {{"strides", std::vector<int64_t>{1, 1, 1, 1}},
                          {"padding", std::string("SAME")}};
  const Output dy = tanh(op("Conv2D", {x, filter}, attrs));
  std::vector<Output> sums;
  for (int i = 0; i < 8; ++i) {
    Node* const shapes = graph.add("ShapeN", {x, filter});
    const Output dx = op("Conv2DBackpropInput", {shapes->output(0), filter, dy}, attrs);
    const Output dw = op("Conv2DBackpropFilter", {tanh(dx), shapes->output(1), dy}, attrs);
    sums.push_back(reduce_sum(dx, {0, 1, 2, 3}) + reduce_sum(dw, {0, 1, 2, 3}));
  }
  const Output sum = add_n(sums);
  auto s = session(gpus(1));
  Node* const set = graph.add("Assign", {w, constant(noise({3, 3, 3, 4}, 1))});
  s->run(set);
  const Feeds feeds = {{x, noise({2, 8, 8, 3}, 2)}};
  const std::string first = s->run(sum, feeds).str();
  for (int i = 1; i < kSteps; ++i) EXPECT_EQ(s->run(sum, feeds).str(), first) << i;
  EXPECT_GT(num_islands(*s), 0);
}

// How many rows there are is known in the step only, and they may lie where others lay before.
TEST_F(Recordings, RowsThatAreMoreOrFewerInEachStepAreCountedAnew) {
  constexpr int kRows = 64;
  const Output x = placeholder(DType::kInt32, Shape{kRows});
  const Output rows = graph.add("Unique", {x})->output(0);
  std::vector<Node*> writes;
  std::vector<Output> tables;
  for (int i = 0; i < 3; ++i) {
    const Output table = op("VarHandleOp", {}, {{"dtype", DType::kFloat}, {"shape", Shape{kRows}}});
    writes.push_back(graph.add("ResourceScatterAdd", {table, rows, constant(1.0f + i)}));
    tables.push_back(table);
  }
  Node* all = nullptr;
  {
    const Scope behind = graph.control_dependencies(writes);
    all = graph.add("NoOp", {});
  }
  const auto counts = [&](Session& s) {
    for (const Output table : tables)
      s.run(graph.add("AssignVariableOp", {table, constant(noise({kRows}, 0))}));
    for (int i = 0; i < kSteps; ++i) {
      Tensor drawn(DType::kInt32, Shape{kRows});
      for (int k = 0; k < kRows; ++k) drawn.data<int32_t>()[k] = k % (kRows - 9 * (i % 4));
      s.run(all, {{x, drawn}});
    }
    std::string seen;
    for (const Output table : tables)
      seen += s.run(op("ReadVariableOp", {table}, {{"dtype", DType::kFloat}})).str();
    return seen;
  };
  auto s = session(gpus(1));
  const std::string recorded = counts(*s);
  EXPECT_GT(num_islands(*s), 0);
  s.reset();
  EXPECT_EQ(recorded, counts(*testing::without_recording([&] { return session(gpus(1)); })));
}

// Bias and relu behind a product, a chain of elementwise steps, optimizers' steps side by side.
struct Learner {
  Output x, loss;
  std::vector<Node*> train, initializers;
  std::vector<Output> weights;
};

class Learning : public Recordings {
 protected:
  Learner learner() {
    Learner m;
    m.x = placeholder(DType::kFloat, Shape{8, 16});
    Output h = m.x;
    std::vector<VariableNodes> all;
    for (int i = 0; i < 3; ++i) {
      const VariableNodes w = variable(noise({16, 16}, i), "w"), b = variable(noise({16}, i), "b");
      all.insert(all.end(), {w, b});
      h = relu(op("BiasAdd", {matmul(h, w.value), b.value}));
      h = tanh(h * constant(0.5f)) + h;
    }
    m.loss = reduce_sum(h * h, {0, 1});
    m.train = {gradient_descent(m.loss, all, 0.01f)};
    for (const VariableNodes& v : all) {
      m.initializers.push_back(v.initializer);
      m.weights.push_back(v.value);
    }
    return m;
  }
  static std::vector<std::string> after(Session& s, const Learner& m) {
    for (Node* n : m.initializers) s.run(n);
    std::vector<std::string> seen;
    const Feeds feeds = {{m.x, noise({8, 16}, 9)}};
    for (int i = 0; i < kSteps; ++i) {
      s.run(m.train[0], feeds);
      seen.push_back(s.run(m.loss, feeds).str());
    }
    for (Output w : m.weights) seen.push_back(s.run(w).str());
    return seen;
  }
};

TEST_F(Learning, GivesTheSameBitsWithAndWithoutRecording) {
  const Learner m = learner();
  auto s = session(gpus(1));
  const auto recorded = after(*s, m);
  EXPECT_GT(num_islands(*s), 0);
  s.reset();
  auto plain = testing::without_recording([&] { return session(gpus(1)); });
  EXPECT_EQ(recorded, after(*plain, m));
  EXPECT_EQ(num_islands(*plain), 0);
}

TEST_F(Learning, AVariableThatMovedIsFoundWhereItIsNow) {
  const Learner m = learner();
  auto s = session(gpus(1));
  after(*s, m);
  const Tensor held = s->run(m.weights[0]);  // and another value, which takes other memory
  for (Node* n : m.initializers) s->run(n);
  const auto again = after(*s, m);
  s.reset();
  auto fresh = session(gpus(1));
  EXPECT_EQ(again, after(*fresh, m));
}

}  // namespace
}  // namespace emplace
