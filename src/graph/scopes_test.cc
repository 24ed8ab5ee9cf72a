// The behaviours of TensorFlow's tests of device, control and colocation blocks.
#include <gtest/gtest.h>

#include <thread>

#include "graph/graph_testutil.h"

namespace emplace {
namespace {

using testing::failure;
using testing::TestGraph;
using Groups = std::vector<std::string>;

std::vector<std::string> control_names(const Node* node) {
  std::vector<std::string> out;
  for (const Node* n : node->control_inputs()) out.push_back(n->name());
  return out;
}

// ---- Devices.

TEST(DeviceScopes, NoBlockNoDevice) {
  TestGraph g;
  EXPECT_EQ(g.noop()->device(), "");
}

TEST(DeviceScopes, APartialNameStays) {
  TestGraph g;
  auto d = g.device("/job:worker/replica:2");
  EXPECT_EQ(g.noop()->device(), "/job:worker/replica:2");
}

TEST(DeviceScopes, AFullNameStays) {
  TestGraph g;
  auto d = g.device("/job:worker/replica:2/task:0/device:CPU:3");
  EXPECT_EQ(g.noop()->device(), "/job:worker/replica:2/task:0/device:CPU:3");
}

TEST(DeviceScopes, NamesAreWrittenInTodaysSpelling) {
  TestGraph g;
  {
    auto d = g.device("/gpu:0");
    EXPECT_EQ(g.noop()->device(), "/device:GPU:0");
  }
  {
    auto d = g.device("/job:a/cpu:*");
    EXPECT_EQ(g.noop()->device(), "/job:a/device:CPU:*");
  }
  auto d = g.device("CPU:0");
  EXPECT_EQ(g.noop()->device(), "/device:CPU:0");
}

TEST(DeviceScopes, NestingTheInnerWins) {
  TestGraph g;
  auto outer = g.device("/job:worker/replica:2");
  EXPECT_EQ(g.noop()->device(), "/job:worker/replica:2");
  {
    auto inner = g.device("/job:worker/replica:3/task:0");
    EXPECT_EQ(g.noop()->device(), "/job:worker/replica:3/task:0");
  }
  EXPECT_EQ(g.noop()->device(), "/job:worker/replica:2");
}

TEST(DeviceScopes, NestingFillsWhatIsOpen) {
  TestGraph g;
  auto a = g.device("/job:worker");
  auto b = g.device("/task:1");
  auto c = g.device("/device:GPU:2");
  EXPECT_EQ(g.noop()->device(), "/job:worker/task:1/device:GPU:2");
}

TEST(DeviceScopes, NestingOverridesGpuByCpu) {
  TestGraph g;
  auto a = g.device("/job:worker/replica:2/device:CPU:1");
  EXPECT_EQ(g.noop()->device(), "/job:worker/replica:2/device:CPU:1");
  {
    auto b = g.device("/job:worker/replica:2/device:GPU:2");
    EXPECT_EQ(g.noop()->device(), "/job:worker/replica:2/device:GPU:2");
  }
  EXPECT_EQ(g.noop()->device(), "/job:worker/replica:2/device:CPU:1");
}

TEST(DeviceScopes, AnInnerWildcardDoesNotBeatAnOuterNumber) {
  TestGraph g;
  auto a = g.device("/device:GPU:7");
  auto b = g.device("/device:GPU:*");
  EXPECT_EQ(g.noop()->device(), "/device:GPU:7");
}

TEST(DeviceScopes, AnEmptyNameSaysNothing) {
  TestGraph g;
  auto a = g.device("/job:a");
  auto b = g.device("");
  EXPECT_EQ(g.noop()->device(), "/job:a");
}

TEST(DeviceScopes, NullClearsWhatOuterBlocksAsked) {
  TestGraph g;
  auto a = g.device("/job:worker/replica:2/device:CPU:1");
  {
    auto none = g.device(nullptr);
    EXPECT_EQ(g.noop()->device(), "");
    auto task = g.device("/task:1");
    EXPECT_EQ(g.noop()->device(), "/task:1");
  }
  EXPECT_EQ(g.noop()->device(), "/job:worker/replica:2/device:CPU:1");
}

TEST(DeviceScopes, NullIgnoresOuterFunctions) {
  TestGraph g;
  auto f = g.device([](const Node&) { return std::string("/device:GPU:9"); });
  EXPECT_EQ(g.noop()->device(), "/device:GPU:9");
  auto none = g.device(nullptr);
  EXPECT_EQ(g.noop()->device(), "");
}

TEST(DeviceScopes, AFunctionSeesTypeInputsAndAttributes) {
  TestGraph g;
  auto f = g.device([](const Node& n) {
    if (n.type() == "Const") return std::string("/device:CPU:0");
    EXPECT_EQ(n.inputs().size(), 1u);
    EXPECT_EQ(n.attr("T")->as<DType>(), DType::kFloat);
    EXPECT_EQ(n.name(), "Identity");
    return std::string("/gpu:1");
  });
  Node* c = g.scalar(1);
  EXPECT_EQ(c->device(), "/device:CPU:0");
  EXPECT_EQ(g.identity(c)->device(), "/gpu:1");  // stays as typed
}

TEST(DeviceScopes, AnOuterFunctionOverwritesInnerNames) {
  TestGraph g;
  auto f = g.device([](const Node&) { return std::string("/gpu:0"); });
  auto a = g.device("/job:a");
  EXPECT_EQ(g.noop()->device(), "/gpu:0");
}

TEST(DeviceScopes, AFunctionSeesWhatInnerBlocksSaid) {
  TestGraph g;
  auto f = g.device([](const Node& n) { return n.device() + "/task:5"; });
  auto a = g.device("/job:a");
  EXPECT_EQ(g.noop()->device(), "/job:a/task:5");
}

TEST(DeviceScopes, AnOuterNameFillsAFunctionsAnswer) {
  TestGraph g;
  auto a = g.device("/job:a");
  {
    auto f = g.device([](const Node&) { return std::string("/gpu:0"); });
    EXPECT_EQ(g.noop()->device(), "/job:a/device:GPU:0");
  }
  auto empty = g.device([](const Node&) { return std::string(); });
  EXPECT_EQ(g.noop()->device(), "/job:a");
}

TEST(DeviceScopes, AFunctionMayUseTheGraph) {
  TestGraph g;
  g.noop("before");
  auto f = g.device([&](const Node&) {
    return g.find("before") != nullptr ? std::string("/cpu:0") : std::string("/cpu:1");
  });
  EXPECT_EQ(g.noop()->device(), "/cpu:0");
}

TEST(DeviceScopes, AFunctionMayOpenBlocksAndAddNodes) {
  TestGraph g;
  Node* partner = g.noop("partner");
  auto f = g.device([&](const Node& n) {
    if (n.name() != "x") return std::string("/device:CPU:1");
    auto reset = g.colocate_with(nullptr, true);
    auto colocated = g.colocate_with(partner);
    EXPECT_EQ(g.noop("inside")->device(), "");
    return std::string("/device:CPU:0");
  });
  EXPECT_EQ(g.noop("x")->device(), "/device:CPU:0");
  EXPECT_EQ(g.noop("y")->device(), "/device:CPU:1");
  EXPECT_EQ(g.find("inside")->colocation_groups(), (Groups{"loc:@partner"}));
}

TEST(DeviceScopes, AFunctionThatThrowsLeavesTheGraphUnchanged) {
  TestGraph g;
  {
    auto f = g.device([](const Node&) -> std::string { throw std::runtime_error("mine"); });
    EXPECT_THROW(g.noop("x"), std::runtime_error);
  }
  EXPECT_EQ(g.num_nodes(), 0u);
  EXPECT_EQ(g.noop("x")->name(), "x");
}

TEST(DeviceScopes, AMalformedNameIsRefusedAtOnce) {
  TestGraph g;
  EXPECT_EQ(failure(Code::kInvalidArgument, [&] { auto d = g.device("/devise:CPU:0"); }),
            "Malformed device specification '/devise:CPU:0'");
  EXPECT_EQ(g.noop()->device(), "");
}

TEST(DeviceScopes, AMalformedAnswerUnderANameIsRefused) {
  TestGraph g;
  auto a = g.device("/gpu:0");
  auto f = g.device([](const Node&) { return std::string("/bar"); });
  failure(Code::kInvalidArgument, [&] { g.noop(); });
}

// ---- Control dependencies.

TEST(ControlDependencies, NodesGetThoseOfTheBlock) {
  TestGraph g;
  Node* a = g.scalar(1, "a");
  Node* deps[] = {a};
  auto block = g.control_dependencies(deps);
  Node* c = g.scalar(2);
  EXPECT_EQ(control_names(c), (Groups{"a"}));
}

TEST(ControlDependencies, ANodeWhoseInputIsOrderedGetsNone) {
  TestGraph g;
  Node* a = g.scalar(1, "a");
  Node* deps[] = {a};
  auto block = g.control_dependencies(deps);
  Node* c = g.scalar(2);
  EXPECT_TRUE(g.identity(c)->control_inputs().empty());
}

TEST(ControlDependencies, NestedBlocksUnite) {
  TestGraph g;
  Node* a1[] = {g.noop("a1")};
  Node* a2[] = {g.noop("a2")};
  auto one = g.control_dependencies(a1);
  auto two = g.control_dependencies(a2);
  EXPECT_EQ(control_names(g.noop()), (Groups{"a1", "a2"}));
}

TEST(ControlDependencies, NullClearsThem) {
  TestGraph g;
  Node* a1[] = {g.noop("a1")};
  Node* a2[] = {g.noop("a2")};
  auto one = g.control_dependencies(a1);
  {
    auto none = g.control_dependencies(nullptr);
    EXPECT_TRUE(g.noop()->control_inputs().empty());
    auto two = g.control_dependencies(a2);
    EXPECT_EQ(control_names(g.noop()), (Groups{"a2"}));
  }
  EXPECT_EQ(control_names(g.noop()), (Groups{"a1"}));
}

// Nodes made in nested blocks: only what is not ordered already is added.
TEST(ControlDependencies, DominatedOnesArePruned) {
  TestGraph g;
  Node* a[4];
  for (Node*& n : a) n = g.scalar(1);
  const auto deps = [&](int i) { return g.control_dependencies(std::span(&a[i], 1)); };
  auto d0 = deps(0);
  Node* c0 = g.scalar(2);
  auto d1 = deps(1);
  Node* c1 = g.scalar(2);
  auto d2 = deps(2);
  Node* c2 = g.scalar(2);
  auto d3 = deps(3);
  const auto mul = [&](Node* x, Node* y) {
    return control_names(g.add("Mul", {x->output(), y->output()}));
  };
  const std::string n1 = a[1]->name(), n2 = a[2]->name(), n3 = a[3]->name();
  EXPECT_EQ(control_names(c2), (Groups{a[0]->name(), n1, n2}));
  EXPECT_EQ(mul(c0, c0), (Groups{n1, n2, n3}));
  EXPECT_EQ(mul(c1, c0), (Groups{n2, n3}));
  EXPECT_EQ(mul(c2, c1), (Groups{n3}));
}

TEST(ControlDependencies, RepeatedOnesCountOnce) {
  TestGraph g;
  Node* a = g.noop("a");
  Node* twice[] = {a, a};
  auto one = g.control_dependencies(twice);
  auto two = g.control_dependencies(twice);
  EXPECT_EQ(control_names(g.noop()), (Groups{"a"}));
}

TEST(ControlDependencies, ADataDependencyNeedsNone) {
  TestGraph g;
  Node* a = g.scalar(1);
  Node* deps[] = {a};
  auto block = g.control_dependencies(deps);
  EXPECT_TRUE(g.identity(a)->control_inputs().empty());
}

TEST(ControlDependencies, AskedOnesComeFirst) {
  TestGraph g;
  Node* a = g.noop("a");
  Node* b = g.noop("b");
  Node* deps[] = {a};
  auto block = g.control_dependencies(deps);
  NodeOptions options;
  options.control_inputs = {b, a};
  EXPECT_EQ(control_names(g.add("NoOp", {}, {}, options)), (Groups{"b", "a"}));
}

// ---- Colocation.

TEST(Colocation, ANodeIsInItsOwnGroup) {
  TestGraph g;
  Node* a = g.scalar(2, "a");
  EXPECT_EQ(a->colocation_groups(), (Groups{"loc:@a"}));
  EXPECT_EQ(a->attr("_class"), nullptr);
}

TEST(Colocation, APartnersGroupIsTaken) {
  TestGraph g;
  Node* a = g.scalar(2, "a");
  auto block = g.colocate_with(a);
  Node* b = g.scalar(3);
  EXPECT_EQ(b->colocation_groups(), (Groups{"loc:@a"}));
  EXPECT_EQ(b->attr("_class")->as<Groups>(), (Groups{"loc:@a"}));
}

TEST(Colocation, WinsOverTheDeviceBlock) {
  TestGraph g;
  Node* a;
  {
    auto cpu = g.device("/cpu:0");
    a = g.scalar(2, "a");
  }
  auto gpu = g.device("/device:GPU:0");
  {
    auto block = g.colocate_with(a);
    Node* b = g.scalar(3);
    EXPECT_EQ(b->device(), "/device:CPU:0");
    EXPECT_EQ(b->colocation_groups(), (Groups{"loc:@a"}));
  }
  EXPECT_EQ(g.noop()->device(), "/device:GPU:0");
}

TEST(Colocation, EmptiesTheDeviceBlocksAroundIt) {
  TestGraph g;
  Node* a = g.scalar(2, "a");
  auto gpu = g.device("/device:GPU:0");
  auto block = g.colocate_with(a);
  EXPECT_EQ(g.noop()->device(), "");
}

TEST(Colocation, ADeviceBlockInsideIsOverriddenByThePartnersDevice) {
  TestGraph g;
  Node* a = g.scalar(2, "a");
  Node* b;
  {
    auto cpu = g.device("/device:CPU:1");
    b = g.scalar(2, "b");
  }
  {
    auto block = g.colocate_with(a);
    auto gpu = g.device("/device:GPU:0");
    EXPECT_EQ(g.noop()->device(), "/device:GPU:0");
  }
  auto block = g.colocate_with(b);
  auto gpu = g.device("/device:GPU:0");
  EXPECT_EQ(g.noop()->device(), "/device:CPU:1");
}

TEST(Colocation, AChainEndsAtItsHead) {
  TestGraph g;
  Node* a = g.scalar(2, "a");
  Node* b;
  {
    auto block = g.colocate_with(a);
    b = g.scalar(3, "b");
  }
  auto block = g.colocate_with(b);
  EXPECT_EQ(g.scalar(4)->colocation_groups(), (Groups{"loc:@a"}));
}

TEST(Colocation, NestedBlocksGiveASortedSet) {
  TestGraph g;
  Node* z = g.scalar(2, "z");
  Node* b = g.scalar(2, "b");
  auto outer = g.colocate_with(z);
  auto inner = g.colocate_with(b);
  auto again = g.colocate_with(z);
  EXPECT_EQ(g.scalar(4)->colocation_groups(), (Groups{"loc:@b", "loc:@z"}));
}

TEST(Colocation, TheInnermostPartnerWithADeviceGivesIt) {
  TestGraph g;
  Node *a, *b;
  {
    auto d = g.device("/cpu:1");
    a = g.scalar(1, "a");
  }
  {
    auto d = g.device("/cpu:2");
    b = g.scalar(1, "b");
  }
  Node* free = g.scalar(1, "free");
  auto outer = g.colocate_with(a);
  auto middle = g.colocate_with(b);
  auto inner = g.colocate_with(free);
  EXPECT_EQ(g.noop()->device(), "/device:CPU:2");
}

TEST(Colocation, TheStackCanBeIgnored) {
  TestGraph g;
  Node* a = g.scalar(2, "a");
  Node* b = g.scalar(2, "b");
  auto outer = g.colocate_with(a);
  {
    auto inner = g.colocate_with(b, true);
    EXPECT_EQ(g.scalar(4)->colocation_groups(), (Groups{"loc:@b"}));
  }
  EXPECT_EQ(g.scalar(4)->colocation_groups(), (Groups{"loc:@a"}));
}

TEST(Colocation, CanBeReset) {
  TestGraph g;
  Node* a = g.scalar(2, "a");
  auto outer = g.colocate_with(a);
  {
    auto reset = g.colocate_with(nullptr, true);
    Node* c = g.scalar(4, "c");
    EXPECT_EQ(c->colocation_groups(), (Groups{"loc:@c"}));
    auto inner = g.colocate_with(c);
    EXPECT_EQ(g.scalar(4)->colocation_groups(), (Groups{"loc:@c"}));
  }
  EXPECT_EQ(failure(Code::kInvalidArgument, [&] { auto s = g.colocate_with(nullptr); }),
            "Trying to reset colocation (op is None) but `ignore_existing` is not True");
}

TEST(Colocation, AnOpThatWritesARefGoesToItsVariable) {
  TestGraph g;
  Node* v;
  {
    auto d = g.device("/cpu:2");
    v = g.variable("v");
  }
  auto d = g.device("/gpu:0");
  Node* assign = g.add("Assign", {v->output(), g.scalar(1)->output()});
  EXPECT_EQ(assign->device(), "/device:CPU:2");
  EXPECT_EQ(assign->colocation_groups(), (Groups{"loc:@v"}));
  Node* free = g.variable("free");
  g.set_device(free, "");
  EXPECT_EQ(g.add("Assign", {free->output(), g.scalar(1)->output()})->device(), "");
}

TEST(Colocation, ADeviceFunctionIsNotAskedForAnOpThatWritesARef) {
  TestGraph g;
  Node* v = g.variable("v");
  Node* c = g.scalar(1);
  auto d = g.device([](const Node&) -> std::string { throw std::runtime_error("asked"); });
  EXPECT_EQ(g.add("Assign", {v->output(), c->output()})->device(), "");
}

// ---- Threads and raw nodes.

TEST(Scopes, AreEachThreadsOwn) {
  TestGraph g;
  Node* a = g.noop("a");
  Node* deps[] = {a};
  auto name = g.name_scope("s");
  auto device = g.device("/cpu:0");
  auto control = g.control_dependencies(deps);
  auto colocate = g.colocate_with(a);
  std::thread([&] {
    Node* n = g.noop("x");
    EXPECT_EQ(n->name(), "x");
    EXPECT_EQ(n->device(), "");
    EXPECT_TRUE(n->control_inputs().empty());
    EXPECT_EQ(n->attr("_class"), nullptr);
  }).join();
  EXPECT_EQ(g.noop("x")->name(), "s/x");
}

TEST(Scopes, DoNotApplyToRawNodes) {
  TestGraph g;
  Node* deps[] = {g.noop("a")};
  auto device = g.device("/cpu:0");
  auto control = g.control_dependencies(deps);
  auto colocate = g.colocate_with(deps[0]);
  NodeOptions options;
  options.name = "raw";
  options.raw = options.exact_name = true;
  options.device = "/gpu:3";
  Node* n = g.add("NoOp", {}, {}, options);
  EXPECT_EQ(n->device(), "/gpu:3");
  EXPECT_TRUE(n->control_inputs().empty());
  EXPECT_EQ(n->attr("_class"), nullptr);
}

TEST(Scopes, LeftOutOfOrderTakeOnlyThemselvesAway) {
  TestGraph g;
  auto outer = std::make_unique<Scope>(g.device("/job:a"));
  auto inner = g.device("/task:1");
  outer.reset();
  EXPECT_EQ(g.noop()->device().find("/task:1") != std::string::npos, true);
}

TEST(Scopes, ErrorsBearTheLineOfTheCall) {
  TestGraph g, other;
  Node* stranger = other.noop("a");
  const auto line_of = [](auto open) -> std::string {
    try {
      const Scope scope = open();
    } catch (const Error& e) {
      return e.source();
    }
    return "no error";
  };
  const std::string here = "scopes_test.cc:";
  EXPECT_NE(line_of([&] { return g.device("/gpu"); }).find(here), std::string::npos);
  EXPECT_NE(line_of([&] { return g.name_scope("a b"); }).find(here), std::string::npos);
  EXPECT_NE(line_of([&] { return g.colocate_with(stranger); }).find(here), std::string::npos);
  EXPECT_NE(line_of([&] { return g.control_dependencies({&stranger, 1}); }).find(here),
            std::string::npos);
}

}  // namespace
}  // namespace emplace
