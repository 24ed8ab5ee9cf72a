// The CUDA backend on a real card; skipped, with a word, where there is none.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <set>
#include <thread>

#include "all/cuda.h"
#include "backends/cpu/golden_testutil.h"
#include "emplace/emplace.h"
#include "graph/removed_ops.h"
#include "kernel/kernel.h"
#include "op/op_def.h"
#include "session/runtime.h"

namespace emplace {
namespace {

class Cuda : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!uses_cards({})) GTEST_SKIP() << "no card here: " << cuda_state().problem;
  }
  static SessionOptions growing() {
    SessionOptions o;
    o.gpu_options.allow_growth = true;
    return o;
  }
};

// ---- Golden calls.

// The test may have been built on another machine.
// Products run in TF32 by default, sums in another order than the CPU's.
double slack_of(const std::string& op, double others) {
  for (const char* product : {"MatMul", "Conv", "Einsum", "LSTM", "GRU"})
    if (op.find(product) != std::string::npos) return 8000;
  return others;
}

// Only graphs of older producers have it.
bool is_removed(const std::string& op) {
  try {
    check_not_removed(op, std::numeric_limits<int>::max());
    return false;
  } catch (const Error&) {
    return true;
  }
}

// What the card may answer otherwise: numbers that the target can't hold, rows written twice.
bool undefined(const cpu::GoldenCase& c) {
  if (c.op == "TensorScatterUpdate" || c.op == "ResourceScatterUpdate") return true;
  // Forth and back of one device agree on what they hand over: cuDNN's is not the CPU's. (CudaCalls
  // compares them as a pair.)
  if (c.op.starts_with("FusedBatchNormGrad")) return true;
  if (c.op != "Cast") return false;
  const DType to = c.outputs[0].dtype();
  return to != DType::kFloat && to != DType::kDouble && to != DType::kHalf &&
         to != DType::kBfloat16 && c.inputs[0].str().find_first_of("ne") != std::string::npos;
}

bool has_kernel(const cpu::GoldenCase& c, std::span<const Tensor> inputs) {
  const OpDef& op = op_catalogue().get(c.op);
  std::vector<DType> types;
  for (const Tensor& t : inputs) types.push_back(t.dtype());
  try {
    const AttrList attrs = complete_attrs(op, types, c.attrs);
    return kernel_table({}).find(c.op, "GPU", attrs) != nullptr;
  } catch (const Error&) {
    return false;
  }
}

TEST_F(Cuda, GoldenCallsGiveTensorFlowsAnswers) {
  Eager eager(growing());
  int ran = 0;
  std::map<std::string, int> missing;
  std::set<std::string> ops;
  // EMPLACE_GOLDEN_PART=ops: one call of each op, for tools that make everything slow; k/n: every n-th
  // case, for n processes at once, since kernels are compiled as they are met; ops,k/n: both.
  const char* part = std::getenv("EMPLACE_GOLDEN_PART");
  const bool one_each = part && std::string_view(part).starts_with("ops");
  int own = 0, parts = 1, number_of_case = 0;
  if (part)
    (void)std::sscanf(one_each ? part + 3 : part, one_each ? ",%d/%d" : "%d/%d", &own, &parts);
  std::vector<std::pair<cpu::GoldenCase, double>> cases;  // with their slack
  for (const auto& [file, slack] :
       std::initializer_list<std::pair<const char*, double>>{{"cpu_kernels", 8},
                                                             {"cpu_kernels_more", 100},
                                                             {"net_kernels", 100},
                                                             {"rare_kernels", 100},
                                                             {"imported_kernels", 100}})
    for (cpu::GoldenCase& c : cpu::golden_cases(file))
      cases.emplace_back(std::move(c), slack);
  for (const auto& [c, others] : cases) {
    double slack = slack_of(c.op, others);
    // Shares of pixels are floats whatever the tensor holds; in which order they meet differs.
    if (c.op == "ResizeBilinearGrad" && !c.outputs.empty() &&
        c.outputs[0].dtype() == DType::kDouble)
      slack = 1e6;
    if (!one_each && number_of_case++ % parts != own) continue;
    if (one_each && (std::hash<std::string>{}(c.op) % static_cast<size_t>(parts) !=
                         static_cast<size_t>(own) ||
                     ops.count(c.op)))
      continue;
    if (!c.error.empty() || undefined(c) || is_removed(c.op)) continue;
    eager.restart_random();
    std::vector<Tensor> inputs;
    int number = 0;
    for (const Tensor& value : c.variables) {
      const AttrList attrs = {{"dtype", value.dtype()},
                              {"shape", value.shape()},
                              {"shared_name", "v" + std::to_string(c.line) + "_" +
                                                  std::to_string(number++)}};
      try {
        inputs.push_back(eager.execute("VarHandleOp", {}, attrs, "/gpu:0")[0]);
        eager.execute("AssignVariableOp", std::vector<Tensor>{inputs.back(), value}, {}, "/gpu:0");
      } catch (const Error&) {
        break;
      }
    }
    const std::vector<Tensor> handles = inputs;
    inputs.insert(inputs.end(), c.inputs.begin(), c.inputs.end());
    if (handles.size() != c.variables.size() || !has_kernel(c, inputs)) {
      ++missing[c.op];
      continue;
    }
    SCOPED_TRACE(c.op + " of line " + std::to_string(c.line));
    try {
      const std::vector<Tensor> got = eager.execute(c.op, inputs, c.attrs, "/gpu:0");
      for (size_t i = 0; i < c.after.size(); ++i) {
        const AttrList dtype = {{"dtype", c.after[i].dtype()}};
        const Tensor now =
            eager.execute("ReadVariableOp", std::vector<Tensor>{handles[i]}, dtype, "/gpu:0")[0];
        EXPECT_EQ(cpu::difference(eager.copy_to(now, ""), c.after[i], slack), "");
      }
      const size_t compared = c.op.starts_with("FusedBatchNorm") ? 3 : got.size();
      for (size_t i = 0; i < compared && (c.variables.empty() || c.op.starts_with("Stateful")); ++i)
        EXPECT_EQ(cpu::difference(eager.copy_to(got[i], ""), c.outputs[i], slack), "");
      ++ran;
      ops.insert(c.op);
    } catch (const Error& e) {
      ADD_FAILURE() << e.what();
    }
  }
  printf("%d golden calls of %zu ops ran on the card; without a kernel there:", ran, ops.size());
  for (const auto& [op, count] : missing) printf(" %s", op.c_str());
  printf("\n");
  EXPECT_GT(ran, (one_each ? 180 : 1000) / parts);
}

// ---- Sessions.

Output graph_op(Graph& g, const char* type, std::initializer_list<Output> in, std::string name) {
  NodeOptions o;
  o.name = std::move(name);
  return g.add(type, in, {}, std::move(o))->output();
}

struct SplitInFour {
  SplitInFour() { setenv("EMPLACE_SPLIT_GPUS", "4", 1); }
  ~SplitInFour() { unsetenv("EMPLACE_SPLIT_GPUS"); }
};

TEST_F(Cuda, TowersOnLogicalGpus) {
  const SplitInFour split;
  Graph g;
  const auto in_graph = g.as_default();
  std::vector<Output> towers;
  for (const char* gpu : {"/gpu:2", "/gpu:3"}) {
    const auto on = g.device(gpu);
    const auto a = constant({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}, {2, 3});
    const auto b = constant({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}, {3, 2});
    towers.push_back(matmul(a, b));
  }
  const auto on_cpu = g.device("/cpu:0");
  const Output sum = add_n(towers);
  Session s(g, growing());
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(s.run({}, std::span(&sum, 1))[0].str(), "[[ 44.  56.]\n [ 98. 128.]]");
}

// A product with a variable, a long chain, and a step that shrinks the variable.
struct LongGraph {
  Graph graph;
  Scope in_graph = graph.as_default();
  Output x, y;
  Node *initializer, *step;

  explicit LongGraph(const char* device) {
    const Scope on = graph.device(device);
    Tensor start(DType::kFloat, Shape{64, 64});
    for (int64_t i = 0; i < start.num_elements(); ++i)
      start.data<float>()[i] = static_cast<float>(i % 17) / 17.f - 0.5f;
    x = placeholder(DType::kFloat, Shape{-1, 64}, "x");
    Node* v = graph.add("VarHandleOp", {}, {{"dtype", DType::kFloat}, {"shape", Shape{64, 64}}});
    initializer = graph.add("AssignVariableOp", {v->output(), constant(start)});
    const Output w =
        graph.add("ReadVariableOp", {v->output()}, {{"dtype", DType::kFloat}})->output();
    y = matmul(x, w);
    for (int i = 0; i < 30; ++i) y = tanh(y) + y * constant(0.25f);
    y = reduce_sum(y, {1});
    const Scope after = graph.control_dependencies(std::vector<Node*>{y.node});
    step = graph.add("AssignSubVariableOp", {v->output(), w * constant(0.01f)});
  }
};

Tensor ramp(int64_t rows) {
  Tensor t(DType::kFloat, Shape{rows, 64});
  for (int64_t i = 0; i < t.num_elements(); ++i)
    t.data<float>()[i] = static_cast<float>(i * 37 % 101) / 101.f;
  return t;
}

// The values of `steps` steps, batches of changing size.
std::vector<Tensor> run_steps(const char* device, SessionOptions options, int steps) {
  LongGraph g(device);
  Session s(g.graph, std::move(options));
  s.run({}, {}, std::vector<Node*>{g.initializer});
  std::vector<Tensor> values;
  for (int i = 0; i < steps; ++i)
    values.push_back(s.run({{g.x, ramp(8 + i % 3)}}, std::span(&g.y, 1),
                           std::vector<Node*>{g.step})[0]);
  return values;
}

TEST_F(Cuda, StepsWithAVariableAgreeWithTheCpu) {
  const auto want = run_steps("/cpu:0", growing(), 12), got = run_steps("/gpu:0", growing(), 12);
  for (size_t i = 0; i < want.size(); ++i)
    EXPECT_EQ(cpu::difference(got[i], want[i], 4000), "") << i;
}

// Two dense layers that learn; their weights after some steps.
std::vector<Tensor> learn(const char* device, SessionOptions options) {
  Graph g;
  const Scope in_graph = g.as_default(), on = g.device(device);
  std::vector<Node*> start, steps;
  std::vector<Output> handles;
  auto variable = [&](std::vector<int64_t> dims, float scale) {
    Tensor t(DType::kFloat, Shape(dims));
    for (int64_t i = 0; i < t.num_elements(); ++i)
      t.data<float>()[i] = scale * (static_cast<float>(i * 29 % 23) / 23.f - 0.5f);
    Node* v = g.add("VarHandleOp", {}, {{"dtype", DType::kFloat}, {"shape", t.shape()}});
    start.push_back(g.add("AssignVariableOp", {v->output(), constant(t)}));
    handles.push_back(v->output());
    return g.add("ReadVariableOp", {v->output()}, {{"dtype", DType::kFloat}})->output();
  };
  auto op = [&](const char* type, std::initializer_list<Output> in) {
    return g.add(type, in)->output();
  };
  const Output w1 = variable({64, 48}, 0.3f), b1 = variable({48}, 0.1f);
  const Output w2 = variable({48, 10}, 0.3f), b2 = variable({10}, 0.1f);
  const Output x = constant(ramp(32));
  const Output h = relu(op("BiasAdd", {matmul(x, w1), b1}));
  const Output y = op("BiasAdd", {matmul(h, w2), b2});
  const Output labels = op("Softmax", {op("Neg", {y})});
  Node* const loss = g.add("SoftmaxCrossEntropyWithLogits", {y, labels});
  const Output d2 = Output{loss, 1} * constant(0.1f);
  const Output d1 = op("ReluGrad", {matmul(d2, w2, false, true), h});
  const std::vector<Output> gradients = {matmul(x, d1, true, false), op("BiasAddGrad", {d1}),
                                         matmul(h, d2, true, false), op("BiasAddGrad", {d2})};
  for (size_t i = 0; i < gradients.size(); ++i)
    steps.push_back(g.add("ResourceApplyGradientDescent",
                          {handles[i], constant(0.05f), gradients[i]}));
  Session s(g, std::move(options));
  s.run({}, {}, start);
  for (int i = 0; i < 6; ++i) s.run({}, {}, steps);
  return s.run({}, std::vector<Output>{w1, b1, w2, b2});
}

TEST_F(Cuda, JoinedStepsLearnWhatSingleOnesDo) {
  const std::vector<Tensor> want = learn("/cpu:0", growing()), joined = learn("/gpu:0", growing());
  setenv("EMPLACE_FUSION", "0", 1);
  const std::vector<Tensor> single = learn("/gpu:0", growing());
  unsetenv("EMPLACE_FUSION");
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_EQ(cpu::difference(joined[i], want[i], 20000), "") << i;
    EXPECT_EQ(cpu::difference(single[i], want[i], 20000), "") << i;
  }
}

TEST_F(Cuda, ManyThreadsRunOneSession) {
  LongGraph g("/gpu:0");
  Session s(g.graph, growing());
  s.run({}, {}, std::vector<Node*>{g.initializer});
  const Tensor want = s.run({{g.x, ramp(16)}}, std::span(&g.y, 1))[0];
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i)
        if (s.run({{g.x, ramp(16)}}, std::span(&g.y, 1))[0].str() != want.str()) ++wrong;
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

// ---- Sizes that the card decides.

// Where, segments, parts, values without repeats, a check, an inverse: of x, one behind another.
struct DecidedByTheCard {
  Graph graph;
  Scope in_graph = graph.as_default();
  Output x;
  std::vector<Output> results;

  explicit DecidedByTheCard(const char* device) {
    const Scope on = graph.device(device);
    x = placeholder(DType::kFloat, Shape{-1, 4}, "x");
    auto op = [&](const char* type, std::initializer_list<Output> in, AttrList attrs = {}) {
      return graph.add(type, in, std::move(attrs))->output();
    };
    const Output checked = op("CheckNumerics", {x}, {{"message", std::string("x")}});
    const Output large = op("Greater", {checked, constant(0.5f)});
    const Output where = op("Where", {large}, {{"T", DType::kBool}});
    const Output found = op("GatherNd", {checked, where});
    const Output whole = op("Cast", {found * constant(10.f)},
                            {{"SrcT", DType::kFloat}, {"DstT", DType::kInt64}});
    Node* const unique = graph.add("Unique", {whole}, {{"T", DType::kInt64}});
    const Output ids = op("Cast", {Output{unique, 0}},
                          {{"SrcT", DType::kInt64}, {"DstT", DType::kInt32}});
    Node* const parts = graph.add("DynamicPartition", {found, op("Mod", {op("Cast", {whole},
                                      {{"SrcT", DType::kInt64}, {"DstT", DType::kInt32}}),
                                      constant(Tensor::of<int32_t>({2}, {}))})},
                                  {{"num_partitions", int64_t{2}}, {"T", DType::kFloat}});
    const Output square = op("MatMul", {x, x}, {{"transpose_a", true}});
    const Output more = square + constant({9.f, 0.f, 0.f, 0.f, 0.f, 9.f, 0.f, 0.f, 0.f, 0.f, 9.f,
                                           0.f, 0.f, 0.f, 0.f, 9.f}, {4, 4});
    results = {where, found, Output{unique, 0}, ids, Output{parts, 0}, Output{parts, 1},
               op("MatrixInverse", {more})};
  }
};

std::vector<std::string> decided(Session& s, const DecidedByTheCard& g, int rows, float last) {
  Tensor x(DType::kFloat, Shape{rows, 4});
  for (int64_t i = 0; i < x.num_elements(); ++i)
    x.data<float>()[i] = static_cast<float>((i * 37 + rows) % 101) / 101.f;
  x.data<float>()[4 * rows - 1] = last;
  std::vector<std::string> texts;
  for (const Tensor& t : s.run({{g.x, x}}, g.results)) texts.push_back(t.str());
  texts.pop_back();  // the inverse: rounded otherwise
  return texts;
}

TEST_F(Cuda, SizesThatTheCardDecidesAreThoseOfTheCpu) {
  DecidedByTheCard on_cpu("/cpu:0"), on_card("/gpu:0");
  SessionOptions o = growing();
  o.inter_op_parallelism_threads = 1;  // nobody waits in the one thread that there is
  Session cpu(on_cpu.graph, growing()), card(on_card.graph, o);
  std::vector<std::vector<std::string>> want;
  for (int rows = 1; rows <= 12; ++rows) want.push_back(decided(cpu, on_cpu, rows, 0.75f));
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 16; ++i) {
        const int rows = 1 + (i * 5 + t) % 12;
        wrong += decided(card, on_card, rows, 0.75f) != want[static_cast<size_t>(rows - 1)];
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(Cuda, ACheckThatFailsEndsTheStepAndNotTheSession) {
  DecidedByTheCard g("/gpu:0");
  Session s(g.graph, growing());
  const auto before = decided(s, g, 5, 0.75f);
  for (int i = 0; i < 3; ++i) {
    try {
      decided(s, g, 5, NAN);
      ADD_FAILURE() << "NaN passed";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::kInvalidArgument) << e.what();
      EXPECT_NE(std::string(e.what()).find("Tensor had NaN values"), std::string::npos) << e.what();
    }
    EXPECT_EQ(decided(s, g, 5, 0.75f), before);
  }
}

// ---- Memory.

size_t used_on_card() {
  // What the driver says; other processes count too, so only differences mean something.
  return cuda_state().backend->cards().at(0).total_memory -
         cuda_state().backend->cards().at(0).free_memory;
}

TEST_F(Cuda, AFractionIsTakenWholeAndGivenBack) {
  const size_t before = used_on_card();
  const auto total = static_cast<double>(cuda_state().cards[0].total_memory);
  {
    SessionOptions o;
    o.gpu_options.per_process_gpu_memory_fraction = 0.4;
    run_steps("/gpu:0", o, 1);
    LongGraph g("/gpu:0");
    Session s(g.graph, o);
    s.run({}, {}, std::vector<Node*>{g.initializer});
    EXPECT_NEAR(static_cast<double>(used_on_card() - before) / total, 0.4, 0.02);
  }
  EXPECT_LT(static_cast<double>(used_on_card() - before) / total, 0.02);
}

TEST_F(Cuda, GrowthStartsSmall) {
  const size_t before = used_on_card();
  LongGraph g("/gpu:0");
  Session s(g.graph, growing());
  s.run({}, {}, std::vector<Node*>{g.initializer});
  EXPECT_LT(used_on_card() - before, size_t{1} << 30);
}

TEST_F(Cuda, AClosedSessionHasGivenItsMemoryBack) {
  const size_t before = used_on_card();
  Graph g;
  const Scope in = g.as_default(), on = g.device("/gpu:0");
  const Output n = placeholder(DType::kInt32, Shape{1}, "n");
  const Output sum = reduce_sum(graph_op(g, "Fill", {n, constant(1.f)}, "large"), {0});
  Session s(g, growing());
  s.run({{n, Tensor::of<int32_t>({1'000'000'000}, {1})}}, std::span(&sum, 1));
  EXPECT_GT(used_on_card() - before, size_t{3} << 30);
  s.close();
  EXPECT_LT(used_on_card() - before, size_t{1} << 30);
}

// A number of elements, filled and summed up on the card.
struct Filled {
  Graph graph;
  Output n, sum;
  Filled() {
    const Scope in = graph.as_default(), on = graph.device("/gpu:0");
    n = placeholder(DType::kInt32, Shape{1}, "n");
    sum = reduce_sum(graph_op(graph, "Fill", {n, constant(1.f)}, "large"), {0});
  }
  std::string run(Session& s, int32_t count) const {
    return s.run({{n, Tensor::of<int32_t>({count}, {1})}}, std::span(&sum, 1))[0].str();
  }
};

TEST_F(Cuda, MemoryOfCudasPoolIsTakenAsNeededAndGivenBack) {
  const size_t before = used_on_card();
  SessionOptions o;
  o.gpu_options.use_cuda_malloc_async = true;
  Filled f;
  {
    Session s(f.graph, o);
    EXPECT_EQ(f.run(s, 1000), "1000.0");
    EXPECT_LT(used_on_card() - before, size_t{1} << 30);
    f.run(s, 1'000'000'000);
    EXPECT_GT(used_on_card() - before, size_t{3} << 30);
    try {
      f.run(s, 2'147'483'647);
      for (int i = 0; i < 4; ++i) f.run(s, 1'000'000'000);  // freed in time, again and again
    } catch (const Error& e) {
      ADD_FAILURE() << e.what();
    }
    s.close();
    EXPECT_LT(used_on_card() - before, size_t{1} << 30);
  }
}

TEST_F(Cuda, WithAPoolTooMuchIsAnErrorThatNamesIt) {
  SessionOptions o;
  o.gpu_options.use_cuda_malloc_async = true;
  o.gpu_options.per_process_gpu_memory_fraction = 0.02;
  Filled f;
  Session s(f.graph, o);
  EXPECT_EQ(f.run(s, 1000), "1000.0");
  try {
    f.run(s, 2'000'000'000);
    ADD_FAILURE() << "8 GB in 2 % of the card?";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kResourceExhausted) << e.what();
    EXPECT_NE(std::string(e.what()).find("gpu_async_0"), std::string::npos) << e.what();
  }
  EXPECT_EQ(f.run(s, 1000), "1000.0");
}

TEST_F(Cuda, APoolTakesAtOnceWhatItIsTold) {
  constexpr const char* kVariable = "TF_CUDA_MALLOC_ASYNC_SUPPORTED_PREALLOC";
  const size_t before = used_on_card();
  setenv(kVariable, "2147483648", 1);
  SessionOptions o;
  o.gpu_options.use_cuda_malloc_async = true;
  {
    Filled f;
    Session s(f.graph, o);
    EXPECT_EQ(f.run(s, 1000), "1000.0");
    EXPECT_GE(used_on_card() - before, size_t{2} << 30);
  }
  unsetenv(kVariable);
  EXPECT_LT(used_on_card() - before, size_t{1} << 30);
}

TEST_F(Cuda, HostMemoryThatACardReachesGivesTheSameAnswers) {
  SessionOptions o = growing();
  const auto plain = run_steps("/gpu:0", o, 4);
  o.gpu_options.force_gpu_compatible = true;
  const auto pinned = run_steps("/gpu:0", o, 4);
  for (size_t i = 0; i < plain.size(); ++i)
    EXPECT_EQ(cpu::difference(pinned[i], plain[i], 0), "") << i;
}

TEST_F(Cuda, TooMuchIsAnErrorThatNamesTheNodeAndTheSessionGoesOn) {
  Graph g;
  const Scope in = g.as_default();
  const Scope on = g.device("/gpu:0");
  const Output n = placeholder(DType::kInt32, Shape{1}, "n");
  const Output big = graph_op(g, "Fill", {n, constant(1.f)}, "big");
  const Output sum = reduce_sum(big, {0});
  Session s(g, growing());
  EXPECT_EQ(s.run({{n, Tensor::of<int32_t>({1000}, {1})}}, std::span(&sum, 1))[0].str(), "1000.0");
  SessionOptions o = growing();
  try {
    std::vector<Output> many;
    for (int i = 0; i < 20; ++i)
      many.push_back(graph_op(g, "Fill", {n, constant(1.f)}, "big" + std::to_string(i)));
    const Output all = add_n(many);
    s.run({{n, Tensor::of<int32_t>({2'000'000'000}, {1})}}, std::span(&all, 1));
    ADD_FAILURE() << "160 GB fit?";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kResourceExhausted) << e.what();
    EXPECT_NE(std::string(e.what()).find("big"), std::string::npos) << e.what();
  }
  EXPECT_EQ(s.run({{n, Tensor::of<int32_t>({1000}, {1})}}, std::span(&sum, 1))[0].str(), "1000.0");
}

}  // namespace
}  // namespace emplace
