#include "placement/function_groups.h"

#include "placement/placement_testutil.h"

namespace emplace::placement_test {
namespace {

using ::testing::HasSubstr;

constexpr const char* kCpu = "/device:CPU:0";
constexpr const char* kGpu = "/device:GPU:0";
constexpr const char* kConflict =
    "Cannot place the graph because a reference or resource edge connects colocation groups with "
    "incompatible resource devices: /device:CPU:0 vs /device:GPU:0";

// A function under construction.
struct Body {
  explicit Body(std::string name) : function(std::make_shared<Function>()) {
    function->name = std::move(name);
    function->body = std::make_shared<Graph>(test_ops());
  }
  Node* add(std::string_view op, std::string name, std::vector<Output> inputs = {},
            std::string device = {}, AttrList attrs = {}) {
    return add_node(*function->body, op, std::move(name), std::move(inputs), std::move(device),
                    std::move(attrs));
  }
  Output arg(std::string name, DType type) {
    const int index = static_cast<int>(function->inputs.size());
    Node* node = add("_Arg", std::move(name), {}, "", {{"T", type}, {"index", index}});
    function->inputs.push_back(node);
    return node->output();
  }
  void returns(std::vector<Output> outputs) { function->outputs = std::move(outputs); }

  std::shared_ptr<Function> function;
};

AttrList call_attrs(const std::string& function, std::vector<DType> in, std::vector<DType> out) {
  return {{"Tin", in}, {"Tout", out}, {"f", FunctionName{function, {}}}};
}

const DType kR = DType::kResource;
const DType kF = DType::kFloat;

// One CPU and one GPU; functions that take and give resources.
class PlacingCalls : public PlacingTest {
 protected:
  PlacingCalls() { devices = fake_devices(1); }

  void add_function(const Body& body) { graph.add_function(body.function); }
  void add_identity() {  // "Same": the resource it gets
    Body body("Same");
    const Output x = body.arg("x", kR);
    body.returns({body.add("Identity", "same", {x})->output()});
    add_function(body);
  }
  void add_swap() {  // "Swap": two resources, the other way round
    Body body("Swap");
    const Output a = body.arg("i0", kR), b = body.arg("i1", kR);
    body.returns({body.add("Identity", "o0", {b})->output(),
                  body.add("Identity", "o1", {a})->output()});
    add_function(body);
  }
  void add_resource_output() {  // "Passes": a float and a resource, swapped
    Body body("Passes");
    const Output x = body.arg("x", kF), y = body.arg("y", kR);
    body.returns({body.add("Identity", "y_out", {y})->output(),
                  body.add("Mul", "x_out", {x, x})->output()});
    add_function(body);
  }
  void add_cpu_maker() {  // "MakesOnCpu": a resource that only a CPU can make
    Body body("MakesOnCpu");
    const Output x = body.arg("x", kF);
    body.returns({body.add("MakeCPU", "make")->output(), x});
    add_function(body);
  }
  Node* resource(std::string name, std::string device = {}) {
    return add("_Arg", std::move(name), {}, std::move(device), {{"T", kR}});
  }
  Node* call(std::string name, const std::string& function, std::vector<Output> inputs,
             std::vector<DType> out, std::string device = {}) {
    std::vector<DType> in;
    for (const Output& o : inputs) in.push_back(o.dtype());
    return add("PartitionedCall", std::move(name), inputs, std::move(device),
               call_attrs(function, in, std::move(out)));
  }
  Node* same(std::string name, Output input, std::string device = {}) {
    return call(std::move(name), "Same", {input}, {kR}, std::move(device));
  }
  Node* read(std::string name, Output input, std::string device = {}) {
    return add("Identity", std::move(name), {input}, std::move(device));
  }
};

TEST_F(PlacingCalls, AResourceThatComesOutIsWhereItWentIn) {
  add_resource_output();
  Node* a = add("_Arg", "a", {}, kGpu, {{"T", kF}});
  Node* y = call("y", "Passes", {a->output(), resource("b", kCpu)->output()}, {kR, kF});
  read("r1", y->output(0));
  read("r2", y->output(1));
  run();
  EXPECT_EQ(type("y"), "GPU");
  EXPECT_EQ(type("r1"), "CPU");
  EXPECT_EQ(type("r2"), "GPU");
}

TEST_F(PlacingCalls, IdentitiesBeforeTheCallChangeNothing) {
  add_resource_output();
  Node* a = add("_Arg", "a", {}, kGpu, {{"T", kF}});
  Node* ai = read("ai", a->output());
  Node* bi = read("bi", resource("b", kCpu)->output());
  Node* y = call("y", "Passes", {ai->output(), bi->output()}, {kR, kF});
  read("r1", y->output(0));
  read("r2", y->output(1));
  run();
  EXPECT_EQ(type("ai"), "GPU");
  EXPECT_EQ(type("bi"), "CPU");
  EXPECT_EQ(type("y"), "GPU");
  EXPECT_EQ(type("r1"), "CPU");
  EXPECT_EQ(type("r2"), "GPU");
}

TEST_F(PlacingCalls, ARequestOnTheReaderOfAReturnedResourceIsOverridden) {
  add_resource_output();
  Node* a = add("_Arg", "a", {}, kGpu, {{"T", kF}});
  Node* y = call("y", "Passes", {a->output(), resource("b", kCpu)->output()}, {kR, kF});
  read("r1", y->output(0), kGpu);
  read("r2", y->output(1));
  run_hard();
  EXPECT_EQ(type("y"), "GPU");
  EXPECT_EQ(type("r1"), "CPU");
  EXPECT_EQ(type("r2"), "GPU");
}

TEST_F(PlacingCalls, SwappedResourcesAreFollowedThroughTheCall) {
  add_swap();
  Node* y = call("y", "Swap", {resource("a", kCpu)->output(), resource("b", kGpu)->output()},
                 {kR, kR});
  read("r1", y->output(0));
  read("r2", y->output(1));
  run();
  EXPECT_EQ(type("y"), "GPU");
  EXPECT_EQ(type("r1"), "GPU");
  EXPECT_EQ(type("r2"), "CPU");
}

TEST_F(PlacingCalls, WhereTheCallItselfIsDoesNotMatter) {
  add_swap();
  Node* y = call("y", "Swap", {resource("a", kCpu)->output(), resource("b", kGpu)->output()},
                 {kR, kR}, kCpu);
  read("r1", y->output(0));
  read("r2", y->output(1));
  run();
  EXPECT_EQ(type("y"), "CPU");
  EXPECT_EQ(type("r1"), "GPU");
  EXPECT_EQ(type("r2"), "CPU");
}

TEST_F(PlacingCalls, AFreeResourceGoesWithItsReaderBehindTheCall) {
  add_swap();
  Node* y = call("y", "Swap", {resource("a")->output(), resource("b", kGpu)->output()}, {kR, kR},
                 kCpu);
  read("r1", y->output(0));
  read("r2", y->output(1));
  run_hard();
  for (const char* name : {"a", "b", "r1", "r2"}) EXPECT_EQ(type(name), "GPU") << name;
  EXPECT_EQ(type("y"), "CPU");
}

TEST_F(PlacingCalls, AFreeResourceIsIndependentOfThePinnedOne) {
  add_swap();
  Node* y = call("y", "Swap", {resource("a")->output(), resource("b", kCpu)->output()}, {kR, kR},
                 kCpu);
  read("r1", y->output(0));
  read("r2", y->output(1));
  run_hard();
  EXPECT_EQ(type("a"), "GPU");
  EXPECT_EQ(type("b"), "CPU");
  EXPECT_EQ(type("r1"), "CPU");
  EXPECT_EQ(type("r2"), "GPU");
}

TEST_F(PlacingCalls, AReturnedResourceMayHaveSeveralReaders) {
  add_swap();
  Node* y = call("y", "Swap", {resource("a")->output(), resource("b", kCpu)->output()}, {kR, kR});
  read("r1", y->output(0));
  read("r2", y->output(0));
  read("r3", y->output(1), kGpu);
  run_hard();
  EXPECT_EQ(type("a"), "GPU");
  EXPECT_EQ(type("r1"), "CPU");
  EXPECT_EQ(type("r2"), "CPU");
  EXPECT_EQ(type("r3"), "GPU");
}

TEST_F(PlacingCalls, AResourceGivenTwiceTiesBothOutputs) {
  add_swap();
  Node* a = resource("a");
  Node* y = call("y", "Swap", {a->output(), a->output()}, {kR, kR}, kGpu);
  read("r1", y->output(0));
  read("r2", y->output(1), kCpu);
  run_hard();
  EXPECT_EQ(type("y"), "GPU");
  for (const char* name : {"a", "r1", "r2"}) EXPECT_EQ(type(name), "CPU") << name;
}

TEST_F(PlacingCalls, AResourceGivenTwiceMayHaveSeveralReaders) {
  add_swap();
  Node* a = resource("a");
  Node* y = call("y", "Swap", {a->output(), a->output()}, {kR, kR}, kGpu);
  read("r1", y->output(0));
  read("r2", y->output(0), kCpu);
  read("r3", y->output(1));
  run_hard();
  EXPECT_EQ(type("y"), "GPU");
  for (const char* name : {"a", "r1", "r2", "r3"}) EXPECT_EQ(type(name), "CPU") << name;
}

TEST_F(PlacingCalls, ReadersOfOneResourceThatAskForTwoDevicesGetOne) {
  add_swap();
  Node* a = resource("a");
  Node* y = call("y", "Swap", {a->output(), a->output()}, {kR, kR}, kGpu);
  read("r1", y->output(0), kGpu);
  read("r2", y->output(1), kCpu);
  run_hard();
  EXPECT_EQ(type("a"), type("r1"));
  EXPECT_EQ(type("a"), type("r2"));
}

TEST_F(PlacingCalls, TheReadersRequestIsIgnoredWhenTheResourceIsPinned) {
  add_identity();
  Node* y = same("y", resource("a", kCpu)->output());
  add("_Retval", "r1", {y->output()}, kGpu);
  run();
  EXPECT_EQ(type("a"), "CPU");
  EXPECT_EQ(type("r1"), "CPU");
}

TEST_F(PlacingCalls, TheReadersRequestIsIgnoredEvenWhenTheCallIsPinned) {
  add_identity();
  Node* y = same("y", resource("a", kCpu)->output(), kGpu);
  add("_Retval", "r1", {y->output()}, kGpu);
  run();
  EXPECT_EQ(type("y"), "GPU");
  EXPECT_EQ(type("r1"), "CPU");
}

TEST_F(PlacingCalls, AConflictBehindACallIsRefused) {
  add_identity();
  Node* a = resource("a", kCpu);
  Node* b = resource("b", kGpu);
  Node* y = same("y", a->output());
  add("TwoHandles", "both", {y->output(), b->output()});
  const Error e = error();
  EXPECT_EQ(e.code(), Code::kInvalidArgument);
  EXPECT_THAT(e.message(), HasSubstr(kConflict));
}

TEST_F(PlacingCalls, AConflictBehindTwoCallsIsRefused) {
  add_identity();
  Node* a = resource("a", kCpu);
  Node* b = resource("b", kGpu);
  Node* y = same("y", a->output());
  Node* z = same("z", b->output());
  add("TwoHandles", "both", {y->output(), z->output()});
  EXPECT_THAT(error().message(), HasSubstr("with incompatible resource devices"));
}

TEST_F(PlacingCalls, AConflictBehindCallsInARowIsRefused) {
  add_identity();
  Node* a = resource("a", kCpu);
  Node* b = resource("b", kGpu);
  Node* y = same("y", a->output());
  Node* w = same("w", y->output());
  Node* z = same("z", b->output());
  add("TwoHandles", "both", {w->output(), z->output()});
  EXPECT_THAT(error().message(), HasSubstr("with incompatible resource devices"));
}

TEST_F(PlacingCalls, AConflictInsideAFunctionIsRefused) {
  add_identity();
  Body body("Inner");
  const auto same_in = [&](std::string name, Output in) {
    return body.add("PartitionedCall", std::move(name), {in}, "", call_attrs("Same", {kR}, {kR}))
        ->output();
  };
  const Output w = same_in("w", same_in("y", body.add("MakeCPU", "cpu")->output()));
  const Output z = same_in("z", body.add("MakeGPU", "gpu")->output());
  body.returns({body.add("JoinHandles", "join", {w, z})->output()});
  add_function(body);
  Node* y = call("y", "Inner", {}, {kR});
  read("r1", y->output());
  const Error e = error();
  EXPECT_EQ(e.code(), Code::kInvalidArgument);
  EXPECT_THAT(e.message(), HasSubstr("Nodes were connected by a reference or resource connection "
                                     "(requiring them to be on the same device)"));
}

TEST_F(PlacingCalls, WhatAFunctionCanMakeOnTheCpuOnlyIsNotReadOnAGpu) {
  add_cpu_maker();
  Node* a = add("_Arg", "a", {}, "", {{"T", kF}});
  Node* y = call("y", "MakesOnCpu", {a->output()}, {kR, kF});
  read("id", y->output());
  assigned["id"] = full("GPU:0");
  const Error e = error();
  EXPECT_EQ(e.code(), Code::kInvalidArgument);
  EXPECT_THAT(e.message(), HasSubstr("Could not satisfy explicit device specification"));
  EXPECT_EQ(e.node(), "y");
}

TEST_F(PlacingCalls, WhatAnInnerFunctionCanMakeOnTheCpuOnlyIsNotReadOnAGpu) {
  add_cpu_maker();
  Body outer("Outer");
  const Output x = outer.arg("x", kF);
  Node* inner = outer.add("PartitionedCall", "inner", {x}, "",
                          call_attrs("MakesOnCpu", {kF}, {kR, kF}));
  outer.returns({inner->output(0), inner->output(1)});
  add_function(outer);
  Node* a = add("_Arg", "a", {}, "", {{"T", kF}});
  Node* y = call("y", "Outer", {a->output()}, {kR, kF});
  add("_Retval", "id", {y->output()});
  assigned["id"] = full("GPU:0");
  EXPECT_THAT(error().message(), HasSubstr("Could not satisfy explicit device specification"));
}

TEST_F(PlacingCalls, TheReaderOfACpuOnlyResourceGoesToTheCpu) {
  add_cpu_maker();
  Node* a = add("_Arg", "a", {}, "", {{"T", kF}});
  Node* y = call("y", "MakesOnCpu", {a->output()}, {kR, kF});
  add("UseAnywhere", "use", {y->output()});
  run_hard();
  EXPECT_EQ(type("use"), "CPU");
}

TEST_F(PlacingCalls, AFunctionThatCallsItselfIsRefused) {
  Body body("Again");
  const Output x = body.arg("x", kR);
  body.returns({body.add("PartitionedCall", "inner", {x}, "", call_attrs("Again", {kR}, {kR}))
                    ->output()});
  add_function(body);
  Node* y = call("y", "Again", {resource("a")->output()}, {kR});
  read("r1", y->output());
  const Error e = error();
  EXPECT_EQ(e.code(), Code::kUnimplemented);
  EXPECT_EQ(e.message(),
            "Recursive function calls are not supported. Node {{node inner}} inside the body of "
            "{{function_node Again}} calls function {{function_node Again}} which is already "
            "present in the call stack:\n  Graph contains node {{node y}}\n  Node {{node y}} calls "
            "function {{function_node Again}}\n\t [[inner]]");
}

TEST_F(PlacingCalls, FunctionsThatCallEachOtherAreRefused) {
  for (const auto& [name, other] : {std::pair{"Ping", "Pong"}, std::pair{"Pong", "Ping"}}) {
    Body body(name);
    const Output x = body.arg("x", kR);
    body.returns({body.add("PartitionedCall", "inner", {x}, "", call_attrs(other, {kR}, {kR}))
                      ->output()});
    add_function(body);
  }
  Node* y = call("y", "Ping", {resource("a")->output()}, {kR});
  read("r1", y->output());
  const Error e = error();
  EXPECT_EQ(e.code(), Code::kUnimplemented);
  EXPECT_THAT(e.message(),
              HasSubstr("Function {{function_node Ping}} contains node {{node inner}}"));
}

TEST_F(PlacingCalls, AMissingFunctionIsNamed) {
  call("y", "Nowhere", {resource("a")->output()}, {kR});
  const Error e = error();
  EXPECT_EQ(e.code(), Code::kInvalidArgument);
  EXPECT_THAT(e.message(), HasSubstr("Failed to find function \"Nowhere\""));
}

TEST_F(PlacingCalls, NestingIsNotBoundedByTheStack) {
  const int depth = 5000;
  add_identity();
  for (int i = 0; i < depth; ++i) {
    Body body("F" + std::to_string(i));
    const Output x = body.arg("x", kR);
    const std::string next = i + 1 < depth ? "F" + std::to_string(i + 1) : "Same";
    body.returns({body.add("PartitionedCall", "inner", {x}, "", call_attrs(next, {kR}, {kR}))
                      ->output()});
    add_function(body);
  }
  Node* y = call("y", "F0", {resource("a", kCpu)->output()}, {kR});
  read("r1", y->output());
  run();
  EXPECT_EQ(type("r1"), "CPU");
}

TEST_F(PlacingCalls, CallsWithoutResourcesOutAreNotLookedInto) {
  Node* y = call("y", "Nowhere", {resource("a", kCpu)->output()}, {kF});
  add("TestRelu", "r", {y->output()});
  run_hard();
  EXPECT_EQ(type("y"), "GPU");
}

}  // namespace
}  // namespace emplace::placement_test
