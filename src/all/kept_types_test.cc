// What was kept as one type is asked for as another: an error, and no foreign memory is read.
#include "all/session_fixture.h"

namespace emplace {
namespace {

class KeptTypes : public testing::SessionFixture {
 protected:
  using Types = std::vector<DType>;
  static constexpr DType kFloats = DType::kFloat, kTexts = DType::kString;
  const Output zero = constant(Tensor::scalar(0)), one = constant(1.5f);
  const Output text = constant(Tensor::scalar(std::string("a text that needs memory of its own")));

  Node* after(Node* before, std::string_view type, const std::vector<Output>& inputs,
              AttrList attrs) {
    NodeOptions o;
    o.control_inputs = {before};
    return graph.add(type, inputs, std::move(attrs), std::move(o));
  }
  Error failure(Node* n) {
    return error_of([&] { session()->run(n); });
  }
  void expect_refused(Node* n, std::string_view message) {
    const Error e = failure(n);
    EXPECT_EQ(e.code(), Code::kInvalidArgument);
    EXPECT_EQ(e.message(), message);
  }

  Output queue() {
    return graph
        .add("FIFOQueueV2", {},
             {{"component_types", Types{kFloats}}, {"shapes", std::vector<Shape>{Shape{}}}})
        ->output();
  }
  Node* dequeue(std::string_view type, const Types& asked, const std::vector<Output>& more = {}) {
    std::vector<Output> inputs = {queue()};
    Node* put = graph.add("QueueEnqueueV2", {inputs[0], one});
    inputs.insert(inputs.end(), more.begin(), more.end());
    return after(put, type, inputs, {{"component_types", asked}});
  }

  // An array of one element, and an operation on it.
  Node* from_array(std::string_view type, DType asked, const std::vector<Output>& more) {
    Node* array = graph.add("TensorArrayV3", {constant(Tensor::scalar(1))}, {{"dtype", kFloats}});
    Node* written = graph.add("TensorArrayWriteV3", {array->output(), zero,
                                                     constant({1.f, 2.f}, {2}), array->output(1)});
    std::vector<Output> inputs = {array->output()};
    inputs.insert(inputs.end(), more.begin(), more.end());
    inputs.push_back(written->output());
    return graph.add(type, inputs, {{"dtype", asked}});
  }

  Node* popped(Output pushed, DType asked) {
    Node* stack = graph.add("StackV2", {constant(Tensor::scalar(5))}, {{"elem_type", pushed.dtype()}});
    Node* push = graph.add("StackPushV2", {stack->output(), pushed});
    return after(push, "StackPopV2", {stack->output()}, {{"elem_type", asked}});
  }
};

TEST_F(KeptTypes, AQueueGivesItsOwnTypesOnly) {
  const Output n = constant(Tensor::scalar(1));
  expect_refused(dequeue("QueueDequeueV2", {kTexts}),
                 "Signature mismatch, have: resource->string expected: resource->float");
  expect_refused(dequeue("QueueDequeueV2", {DType::kDouble}),
                 "Signature mismatch, have: resource->double expected: resource->float");
  expect_refused(dequeue("QueueDequeueV2", {kFloats, kFloats}),
                 "Signature mismatch, have: resource->float, float expected: resource->float");
  for (const char* type : {"QueueDequeueManyV2", "QueueDequeueUpToV2"})
    expect_refused(
        dequeue(type, {kTexts}, {n}),
        "Signature mismatch, have: resource, int32->string expected: resource, int32->float");
}

TEST_F(KeptTypes, AQueueTakesItsOwnTypesOnly) {
  expect_refused(graph.add("QueueEnqueueV2", {queue(), text}),
                 "Signature mismatch, have: resource, string-> expected: resource, float->");
  expect_refused(graph.add("QueueEnqueueV2", {queue(), one, one}),
                 "Signature mismatch, have: resource, float, float-> expected: resource, float->");
  expect_refused(graph.add("QueueEnqueueManyV2", {queue(), constant(Tensor::of({1, 2}, {2}))}),
                 "Signature mismatch, have: resource, int32-> expected: resource, float->");
}

TEST_F(KeptTypes, AnArrayGivesItsOwnTypeOnly) {
  const char* const said = "TensorArray dtype is float but Op requested dtype string.";
  const Output all = constant(Tensor::of({0}, {1}));
  expect_refused(from_array("TensorArrayReadV3", kTexts, {zero}), said);
  expect_refused(from_array("TensorArrayGatherV3", kTexts, {all}), said);
  expect_refused(from_array("TensorArrayConcatV3", kTexts, {}), said);
  expect_refused(from_array("TensorArrayReadV3", DType::kInt32, {zero}),
                 "TensorArray dtype is float but Op requested dtype int32.");
}

TEST_F(KeptTypes, AStackGivesItsOwnTypeOnly) {
  for (const auto& [pushed, asked, names] :
       {std::tuple{one, kTexts, "float string"}, {one, DType::kInt32, "float int32"},
        {text, kFloats, "string float"}}) {
    Node* pop = popped(pushed, asked);
    const Error e = failure(pop);
    EXPECT_EQ(e.code(), Code::kInternal);
    const std::string both = names;
    const size_t gap = both.find(' ');
    EXPECT_EQ(e.message(), "Output 0 of type " + both.substr(0, gap) +
                               " does not match declared output type " + both.substr(gap + 1) +
                               " for node {{node " + pop->name() + "}}");
  }
}

TEST_F(KeptTypes, AnAccumulatorGivesItsOwnTypeOnly) {
  const Output step = constant(Tensor::scalar(int64_t{0})), n = constant(Tensor::scalar(1));
  const AttrList made = {{"dtype", kFloats}, {"shape", Shape::unknown()}};
  Node* whole = graph.add("ResourceConditionalAccumulator", {}, made);
  Node* put = graph.add("ResourceAccumulatorApplyGradient", {whole->output(), step, one});
  Node* rows = graph.add("SparseConditionalAccumulator", {}, made);
  Node* put_rows = graph.add("SparseAccumulatorApplyGradient",
                             {rows->output(), step, constant(Tensor::of({int64_t{1}}, {1})),
                              constant({1.f, 2.f}, {1, 2}),
                              constant(Tensor::of({int64_t{4}, int64_t{2}}, {2}))},
                             {{"has_known_shape", true}});
  for (const auto& [asked, name] : {std::pair{DType::kDouble, "double"}, {DType::kInt32, "int32"}}) {
    const std::string said =
        "Accumulator dtype is float but Op requested dtype " + std::string(name) + ".";
    expect_refused(after(put, "ResourceAccumulatorTakeGradient", {whole->output(), n},
                         {{"dtype", asked}}),
                   said);
    expect_refused(after(put_rows, "SparseAccumulatorTakeGradient", {rows->output(), n},
                         {{"dtype", asked}}),
                   said);
  }
}

}  // namespace
}  // namespace emplace
