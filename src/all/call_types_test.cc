// Calls whose signature is not their function's: nothing is read as another type.
#include "all/flow_fixture.h"

namespace emplace {
namespace {

class CallTypes : public testing::FlowFixture {
 protected:
  const std::string negate =
      body("negate", {kFloats}, [](Values v) { return Values{op("Neg", {v[0]})}; });
  const std::string positive =
      body("positive", {kFloats}, [](Values v) { return Values{less(constant(0.f), v[0])}; });
  const Output yes = constant(Tensor::scalar(true));

  Node* call(Output x, const std::vector<DType>& results) {
    NodeOptions o;
    o.name = "r";
    return graph.add("PartitionedCall", {x},
                     {{"Tin", types_of({x})}, {"Tout", results}, {"f", FunctionName{negate, {}}}},
                     std::move(o));
  }
  Error failure(Output of) {
    return error_of([&] { session()->run(of); });
  }
  static void expect(const Error& e, Code code, std::string_view message) {
    EXPECT_EQ(e.code(), code);
    EXPECT_EQ(e.message(), message);
    EXPECT_FALSE(e.node().empty());
  }
};

TEST_F(CallTypes, AnArgumentOfAnotherTypeIsRefused) {
  const char* const said = "Expects arg[0] to be float but int32 is provided";
  expect(failure(call(number(1), {kFloats})->output()), Code::kInvalidArgument, said);
  Node* chosen = if_else(yes, negate, negate, {number(1)}, {kFloats});
  expect(failure(chosen->output()), Code::kInvalidArgument, said);
  Node* loop = while_loop(positive, negate, {number(1)});
  expect(failure(loop->output()), Code::kInvalidArgument, said);
  const Output text = constant(Tensor::scalar(std::string("a")));
  expect(failure(call(text, {kFloats})->output()), Code::kInvalidArgument,
         "Expects arg[0] to be float but string is provided");
}

TEST_F(CallTypes, AResultOfAnotherTypeIsRefused) {
  Node* called = call(constant(1.f), {kInts});
  expect(failure(called->output()), Code::kInternal,
         "Output 0 of type float does not match declared output type int32 for node {{node r}}");
  Node* chosen = if_else(yes, negate, negate, {constant(1.f)}, {DType::kString});
  expect(failure(op("StringUpper", {chosen->output()})), Code::kInternal,
         "Expect 0-th output is of type string but get float");
}

TEST_F(CallTypes, ARoundThatGivesAnotherTypeIsRefused) {
  Node* loop = while_loop(positive, positive, {constant(1.f)});
  expect(failure(loop->output()), Code::kInvalidArgument,
         "Expected type float for return value 0 but got bool.");
}

TEST_F(CallTypes, ResultsThatTheFunctionDoesNotGiveAreRefused) {
  Node* called = call(constant(1.f), {kFloats, kFloats});
  expect(failure(called->output(1)), Code::kInternal, "Missing 1-th output from {{node r}}");
  Node* chosen = if_else(yes, negate, negate, {constant(1.f)}, {kFloats, kFloats});
  expect(failure(chosen->output(1)), Code::kInternal, "Expect to produce 2 tensors, but only get 1");
}

TEST_F(CallTypes, ResultsThatTheCallDoesNotDeclareAreRefused) {
  Node* called = call(constant(1.f), {});
  const Error e = error_of([&] { session()->run(called); });
  expect(e, Code::kInternal,
         "Function instantiation included invalid output index: 0 not in [0, 0).");
}

}  // namespace
}  // namespace emplace
