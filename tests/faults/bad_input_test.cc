// What a user can get wrong is an error of the right code that names the place, never an abort; and
// the session works on.
#include <array>

#include <gtest/gtest.h>

#include "emplace/emplace.h"

namespace emplace {
namespace {

class BadInput : public ::testing::Test {
 protected:
  Graph graph;
  Scope in_graph = graph.as_default();
  Output x = placeholder(DType::kFloat, Shape{}, "x");
  Feeds feeds = {{x, Tensor::scalar(1.f)}};

  template <class F>
  static Error error_of(F f) {
    try {
      f();
    } catch (const Error& e) {
      return e;
    }
    ADD_FAILURE() << "no error";
    return {Code::kOk, ""};
  }
};

TEST_F(BadInput, AGraph200000NodesDeepRuns) {
  Output y = x;
  for (int i = 0; i < 200'000; ++i) y = op("Neg", {y});
  Session s(graph);
  EXPECT_EQ(s.run(y, feeds).item<float>(), 1.f);
}

TEST_F(BadInput, ACycleIsNamed) {
  const Output a = op("Neg", {x}, {}, "a"), b = op("Neg", {a}, {}, "b");
  graph.add_control_input(a.node, b.node);
  Session s(graph);
  const Error e = error_of([&] { s.run(b, feeds); });
  EXPECT_EQ(e.code(), Code::kInvalidArgument);
}

TEST_F(BadInput, AnOutputThatDoesNotExistIsRefused) {
  const Output a = op("Neg", {x}, {}, "a");
  Session s(graph);
  const Error e = error_of([&] { s.run(Output{a.node, 3}, feeds); });
  EXPECT_EQ(e.code(), Code::kInvalidArgument);
  EXPECT_NE(e.message().find("'a'"), std::string::npos) << e.message();
  EXPECT_EQ(s.run(a, feeds).item<float>(), -1.f);
}

TEST_F(BadInput, ANodeOfAnotherGraphIsRefused) {
  Graph other;
  Output foreign;
  {
    const Scope in_other = other.as_default();
    foreign = constant(1.f, "foreign");
  }
  Session s(graph);
  EXPECT_EQ(error_of([&] { s.run(foreign); }).code(), Code::kInvalidArgument);
}

TEST_F(BadInput, ATensorFedTwiceIsRefused) {
  const Output a = op("Neg", {x}, {}, "a");
  Session s(graph);
  const Error e = error_of([&] { s.run(a, {feeds[0], feeds[0]}); });
  EXPECT_EQ(e.code(), Code::kInvalidArgument);
  EXPECT_EQ(e.message(), "Endpoint \"x:0\" fed more than once.");
}

TEST_F(BadInput, AFunctionThatCallsItselfIsRefused) {
  auto f = std::make_shared<Function>();
  f->name = "again";
  f->body = std::make_shared<Graph>();
  Node* arg = f->body->add("_Arg", {}, {{"T", DType::kFloat}, {"index", 0}});
  Node* call = f->body->add("PartitionedCall", {arg->output()},
                            {{"Tout", std::vector<DType>{DType::kFloat}},
                             {"f", FunctionName{"again", {}}}});
  f->inputs = {arg};
  f->outputs = {call->output()};
  f->input_names = {"x"};
  f->output_names = {"y"};
  f->body->add_function(f);
  graph.add_function(f);
  const Output y = op("PartitionedCall", {x}, {{"Tout", std::vector<DType>{DType::kFloat}},
                                               {"f", FunctionName{"again", {}}}});
  Session s(graph);
  const Error e = error_of([&] { s.run(y, feeds); });
  EXPECT_EQ(e.code(), Code::kUnimplemented);
  EXPECT_NE(e.message().find("again"), std::string::npos) << e.message();
  f->body.reset();  // it holds the function that holds it
}

TEST_F(BadInput, OutOfMemoryOnAGpuSaysWhoHoldsWhatAndTheSessionWorksOn) {
  const Scope gpu = graph.device("/gpu:0");
  const Output big = placeholder(DType::kFloat, Shape{-1}, "big");
  const VariableNodes held = variable(Tensor(DType::kFloat, Shape{100'000}), "held");
  const Output sum = reduce_sum(op("Neg", {big}, {}, "neg"), {0});
  SessionOptions o;
  o.virtual_gpus = 1;
  o.virtual_gpu_memory = 2 << 20;
  Session s(graph, o);
  s.run(held.initializer);
  const Error e =
      error_of([&] { s.run(sum, {{big, Tensor(DType::kFloat, Shape{1 << 20})}}); });
  EXPECT_EQ(e.code(), Code::kResourceExhausted);
  EXPECT_NE(e.message().find("held"), std::string::npos) << e.message();
  EXPECT_EQ(s.run(sum, {{big, Tensor::of({1.f, 2.f}, {2})}}).item<float>(), -3.f);
}

// ---- Graphs that ask for more than there is.

std::string varint(uint64_t n) {
  std::string bytes;
  for (; n >= 128; n >>= 7) bytes += static_cast<char>(n | 128);
  return bytes + static_cast<char>(n);
}
std::string field(int number, const std::string& bytes) {
  return varint(static_cast<uint64_t>(number) * 8 + 2) + varint(bytes.size()) + bytes;
}

TEST_F(BadInput, AMillionAttributesAreTakenAndKept) {
  std::string node = field(1, "a") + field(2, "NoOp");
  for (int i = 0; i < 1'000'000; ++i)
    node += field(5, field(1, "_a" + std::to_string(i)) + field(2, "\x18" + varint(7)));
  Graph many;
  import_graph_def(many, field(1, node));
  EXPECT_EQ(many.find("a")->attrs().size(), 1'000'000u);
}

TEST_F(BadInput, AConstantOf1e18ElementsIsRefused) {
  Graph huge;
  const Error e = error_of([&] {
    import_graph_def_text(huge, "node { name: 'c' op: 'Const' attr { key: 'dtype' value { type: "
                                "DT_FLOAT } } attr { key: 'value' value { tensor { dtype: DT_FLOAT "
                                "tensor_shape { dim { size: 1000000000 } dim { size: 1000000000 } } "
                                "float_val: 1 } } } }");
  });
  EXPECT_TRUE(e.code() == Code::kInvalidArgument || e.code() == Code::kResourceExhausted);
  EXPECT_EQ(e.node(), "c");
}

// A node of elsewhere keeps attributes that its operation has not; a kernel of several operations
// takes none of another's for its own.
TEST_F(BadInput, AnAttributeOfAnotherOperationIsNotTakenForOnesOwn) {
  Graph pictures;
  import_graph_def_text(
      pictures,
      "node { name: 'png' op: 'Const' attr { key: 'dtype' value { type: DT_STRING } } attr { key: "
      "'value' value { tensor { dtype: DT_STRING tensor_shape { } string_val: "
      "'\\211PNG\\r\\n\\032\\n\\000\\000\\000\\rIHDR\\000\\000\\000\\005\\000\\000\\000\\006\\010\\000\\000\\000"
      "\\000.\\220\\013\\227\\000\\000\\000!IDAT\\010\\231\\005\\3011\\001\\000 \\000\\0020\\245\\304Nr\\032\\216nn\\367"
      "\\274\\2661\\204\\021L`\\001\\037k\\303\\005\\271\\226\\215\\300h\\000\\000\\000\\000IEND\\256B`\\202' } } } } "
      "node { name: 'y' op: 'DecodeGif' input: 'png' attr { key: 'dtype' value { type: DT_FLOAT } } }");
  Session session(pictures);
  const Tensor y = session.run(pictures.find("y")->output(0));
  EXPECT_EQ(y.dtype(), DType::kUint8);
  EXPECT_EQ(y.shape(), Shape({1, 6, 5, 3}));
}

TEST_F(BadInput, AGigapixelPictureEndsWithItsDeadline) {
  const Output picture = constant(Tensor(DType::kUint8, Shape{1, 1, 1, 1})),
               place = constant(Tensor(DType::kFloat, Shape{1, 8})),
               size = placeholder(DType::kInt32, Shape{2}, "size");
  const Output far = op("ImageProjectiveTransformV2", {picture, place, size},
                        {{"interpolation", std::string("BILINEAR")}});
  Session s(graph);
  RunOptions options;
  options.timeout_in_ms = 50;
  const Feeds sizes = {{size, Tensor::of<int32_t>({32768, 32768}, {2})}};
  const Error e = error_of([&] { s.run(sizes, std::array{far}, {}, options); });
  EXPECT_EQ(e.code(), Code::kDeadlineExceeded) << e.message();
}

// Every box is compared with all that were chosen before it: hours of work.
TEST_F(BadInput, AMillionBoxesEndWithTheirDeadline) {
  constexpr int64_t kBoxes = 1'000'000;
  const Output boxes = placeholder(DType::kFloat, Shape{kBoxes, 4}, "boxes"),
               scores = placeholder(DType::kFloat, Shape{kBoxes}, "scores");
  const Output chosen = op("NonMaxSuppressionV3",
                           {boxes, scores, constant(Tensor::scalar<int32_t>(kBoxes)),
                            constant(Tensor::scalar(1.f)), constant(Tensor::scalar(0.f))});
  Tensor ones(DType::kFloat, Shape{kBoxes});
  std::fill_n(ones.data<float>(), kBoxes, 1.f);
  Session s(graph);
  RunOptions options;
  options.timeout_in_ms = 50;
  const Feeds feeds = {{boxes, Tensor(DType::kFloat, Shape{kBoxes, 4})}, {scores, ones}};
  const Error e = error_of([&] { s.run(feeds, std::array{chosen}, {}, options); });
  EXPECT_EQ(e.code(), Code::kDeadlineExceeded) << e.message();
}

}  // namespace
}  // namespace emplace
