// The behaviours of TensorFlow's tests of reading graphs.
#include <gtest/gtest.h>

#include <chrono>

#include "graph/graph_def.h"
#include "graph/graph_testutil.h"

namespace emplace {
namespace {

using testing::failure;
using testing::TestGraph;

// ---- GraphDefs in text, written briefly.
std::string node(std::string_view name, std::string_view op, std::string_view inputs = "",
                 std::string_view rest = "") {
  std::string out = "node { name: '" + std::string(name) + "' op: '" + std::string(op) + "' ";
  while (!inputs.empty()) {
    const size_t space = std::min(inputs.find(' '), inputs.size());
    out += "input: '" + std::string(inputs.substr(0, space)) + "' ";
    inputs.remove_prefix(std::min(space + 1, inputs.size()));
  }
  return out + std::string(rest) + " }\n";
}
std::string attr(std::string_view key, std::string_view value) {
  return "attr { key: '" + std::string(key) + "' value { " + std::string(value) + " } } ";
}
std::string identity(std::string_view name, std::string_view inputs, std::string_view rest = "") {
  return node(name, "Identity", inputs, attr("T", "type: DT_FLOAT") + std::string(rest));
}
std::string placeholder(std::string_view name) {
  return node(name, "Placeholder", "", attr("dtype", "type: DT_FLOAT"));
}
std::string group(std::string_view of) {
  return attr("_class", "list { s: 'loc:@" + std::string(of) + "' }");
}

struct Import : ::testing::Test {
  TestGraph g;
  ImportOptions options;

  ImportResult import(const std::string& text) { return import_graph_def_text(g, text, options); }
  std::string error(const std::string& text, Code code = Code::kInvalidArgument) {
    const size_t nodes = g.num_nodes(), functions = g.functions().size();
    std::string message = failure(code, [&] { import(text); });
    EXPECT_EQ(g.num_nodes(), nodes) << "an error must leave the graph unchanged";
    EXPECT_EQ(g.functions().size(), functions);
    g.verify();
    return message;
  }
};

TEST_F(Import, InvalidNodeName) {
  EXPECT_EQ(error(node("a:b", "NoOp")), "Node 'a:b': Node name contains invalid characters");
  EXPECT_EQ(error(node("_abc", "NoOp")), "Node '_abc': Node name contains invalid characters");
  EXPECT_EQ(error(node("a b", "NoOp")), "Node 'a b': Node name contains invalid characters");
  EXPECT_EQ(error(node("", "NoOp")), "Node '': Node name contains invalid characters");
  import(node("a-bc_/>.x", "NoOp") + node(".a", "NoOp") + node("1a", "NoOp"));
  options.allow_internal_names = true;
  import(node("_abc", "NoOp"));
}

TEST_F(Import, DuplicateNodeName) {
  EXPECT_EQ(error(node("a", "NoOp") + node("a", "NoOp")), "Node 'a' is not unique");
}

TEST_F(Import, NodeWithoutOperation) {
  EXPECT_EQ(error("node { name: 'x' }"), "Node 'x' does not specify an operation");
}

TEST_F(Import, InvalidSourceNodeName) {
  EXPECT_EQ(error(identity("b", "q")), "Node 'b': Unknown input node 'q'");
  EXPECT_EQ(error(identity("b", "q:1")), "Node 'b': Unknown input node 'q:1'");
  EXPECT_EQ(error(node("b", "NoOp", "^q")), "Node 'b': Unknown input node '^q'");
  EXPECT_EQ(error(node("a", "NoOp") + node("b", "NoOp", "^a:0")),
            "Node 'b': Unknown input node '^a:0'");
  EXPECT_EQ(error(placeholder("a") + identity("b", "a:x")), "Node 'b': Unknown input node 'a:x'");
  EXPECT_EQ(error(placeholder("a") + identity("b", "a:-1")), "Node 'b': Unknown input node 'a:-1'");
}

TEST_F(Import, InvalidSourceNodeIndex) {
  EXPECT_EQ(error(placeholder("a") + identity("b", "a:7")),
            "Node 'b': Connecting to invalid output 7 of source node a which has 1 outputs.");
}

TEST_F(Import, GraphWithCycle) {
  EXPECT_EQ(error(identity("a", "b") + identity("b", "a")), "2 nodes in a cycle");
  EXPECT_EQ(error(identity("a", "a")), "1 nodes in a cycle");
  EXPECT_EQ(error(placeholder("p") + node("m", "Merge", "p b", attr("T", "type: DT_FLOAT") +
                                                                   attr("N", "i: 2")) +
                  identity("b", "m")),
            "2 nodes in a cycle");
}

std::string loop() {
  return placeholder("p") +
         node("enter", "Enter", "p", attr("T", "type: DT_FLOAT") + attr("frame_name", "s: 'f'")) +
         node("merge", "Merge", "enter next", attr("T", "type: DT_FLOAT") + attr("N", "i: 2")) +
         identity("body", "merge") + node("next", "NextIteration", "body", attr("T", "type: DT_FLOAT"));
}

TEST_F(Import, GraphWithOKCycle) {
  import(loop());
  EXPECT_EQ(g.find("merge")->inputs()[1].node, g.find("next"));
  g.verify();
}

TEST_F(Import, TypeMismatch) {
  EXPECT_EQ(error(node("a", "Placeholder", "", attr("dtype", "type: DT_INT32")) +
                  identity("b", "a")),
            "Input 0 of node b was passed int32 from a:0 incompatible with expected float.");
  EXPECT_EQ(error(placeholder("a") + node("v", "Assign", "a a", attr("T", "type: DT_FLOAT"))),
            "Input 0 of node v was passed float from a:0 incompatible with expected float_ref.");
}

TEST_F(Import, WrongNumberOfInputs) {
  EXPECT_EQ(error(identity("b", "")),
            "NodeDef expected inputs 'float' do not match 0 inputs specified; Op<name=Identity; "
            "signature=input:T -> output:T; attr=T:type>; NodeDef: {{node b}}");
  EXPECT_TRUE(error(placeholder("a") + identity("b", "a a"))
                  .starts_with("NodeDef expected inputs 'float' do not match 2 inputs specified"));
}

TEST_F(Import, EmptyGraph) {
  EXPECT_TRUE(import("").nodes.empty());
  EXPECT_EQ(g.num_nodes(), 0u);
}

TEST_F(Import, VersionGraph) {
  import("versions { producer: 21 min_consumer: 5 }");
  EXPECT_EQ(g.versions().producer, 21);
  EXPECT_EQ(g.versions().min_consumer, 5);
}

TEST_F(Import, LowVersion) {
  EXPECT_TRUE(error("versions { producer: -1 }")
                  .starts_with("GraphDef producer version -1 below min producer 0 supported by "));
}

TEST_F(Import, HighVersion) {
  EXPECT_TRUE(error("versions { producer: 99999 min_consumer: 99998 }")
                  .starts_with("GraphDef min consumer version 99998 above current version 2474"));
}

TEST_F(Import, BadVersion) {
  EXPECT_TRUE(error("versions { producer: 2474 bad_consumers: 2474 }")
                  .starts_with("GraphDef disallows consumer version 2474."));
}

TEST_F(Import, GraphDefVersionMergingDuringImport) {
  import("versions { producer: 10 min_consumer: 2 bad_consumers: 5 }");
  import("versions { producer: 12 min_consumer: 3 bad_consumers: [5, 6] }");
  EXPECT_EQ(g.versions().producer, 10);
  EXPECT_EQ(g.versions().min_consumer, 3);
  EXPECT_EQ(g.versions().bad_consumers, (std::vector{5, 6}));
}

const std::string kSimple =
    node("W1", "TestParams") + node("input", "TestInput") + node("t1", "TestMul", "W1 input:1");

TEST_F(Import, SimpleModel) {
  import(kSimple);
  EXPECT_EQ(g.num_nodes(), 3u);
  EXPECT_EQ(g.find("t1")->inputs()[0], g.find("W1")->output(0));
  EXPECT_EQ(g.find("t1")->inputs()[1], g.find("input")->output(1));
  g.verify();
}

TEST_F(Import, SimpleModelWithControlEdges) {
  import(node("W1", "TestParams") + node("input", "TestInput", "^W1") +
         node("t1", "TestMul", "W1 input:1 ^W1 ^input ^W1") + node("t2", "TestMul", "W1 W1 ^t1"));
  ASSERT_EQ(g.find("t1")->control_inputs().size(), 2u);  // repeated ones count once
  EXPECT_EQ(g.find("t2")->control_inputs()[0], g.find("t1"));
}

TEST_F(Import, NodesInAnyOrder) {
  const ImportResult r = import(node("t1", "TestMul", "W1 input:1") + node("W1", "TestParams") +
                                node("input", "TestInput"));
  EXPECT_EQ(r.nodes[0]->name(), "t1");
  EXPECT_EQ(r.nodes[0]->id(), 2);
  g.verify();
}

TEST_F(Import, ErrorControlEdgeBeforeRealInput) {
  EXPECT_EQ(error(node("W1", "TestParams") + node("t1", "TestMul", "^W1 W1 W1")),
            "Node 't1': Control dependencies must come after regular dependencies");
}

TEST_F(Import, DefaultAttrs) {
  import(node("A", "TestDefaultAttr"));
  EXPECT_EQ(g.find("A")->attr("default_int")->as<int64_t>(), 31415);
}

TEST_F(Import, MissingAttr) {
  EXPECT_EQ(error(node("a", "Placeholder")),
            "NodeDef missing attr 'dtype' from Op<name=Placeholder; signature= -> output:dtype; "
            "attr=dtype:type; attr=shape:shape,default=<unknown>>; NodeDef: {{node a}}");
  EXPECT_TRUE(error(placeholder("a") + node("b", "Identity", "a"))
                  .starts_with("NodeDef missing attr 'T' from Op<name=Identity;"));
}

TEST_F(Import, AttrOfAnotherKind) {
  EXPECT_TRUE(error(node("a", "Placeholder", "", attr("dtype", "i: 3")))
                  .starts_with("AttrValue had value with type 'int' when 'type' expected\n\t for "
                               "attr 'dtype'\n\t; NodeDef: {{node a}}; Op<name=Placeholder;"));
}

TEST_F(Import, UnknownAttrsAreKept) {
  import(node("a", "NoOp", "", attr("foo", "i: 3") + attr("_bar", "s: 'x'")));
  EXPECT_EQ(g.find("a")->attr("foo")->as<int64_t>(), 3);
  EXPECT_EQ(g.find("a")->attr("_bar")->as<std::string>(), "x");
}

TEST_F(Import, Prefix) {
  options.prefix = "import";
  import(kSimple);
  EXPECT_EQ(g.find("import/t1")->inputs()[0].node->name(), "import/W1");
  EXPECT_EQ(error(kSimple), "Node name 'import/W1' already exists in the Graph");
}

TEST_F(Import, BadPrefix) {
  options.prefix = "~bad";
  EXPECT_EQ(error(kSimple), "Imported node name prefix '~bad/' would lead to invalid node names");
}

TEST_F(Import, PrefixWithSlash) {
  options.prefix = "p/";
  import(kSimple);
  EXPECT_NE(g.find("p/t1"), nullptr);
}

TEST_F(Import, ImportTwiceCollides) {
  import(kSimple);
  EXPECT_EQ(error(kSimple), "Node name 'W1' already exists in the Graph");
}

// ---- Input map.
TEST_F(Import, InputMap) {
  Node* in = g.add("TestInput", {}, {});
  options.input_map = {{"input:0", in->output(1)}, {"input:1", in->output(0)}};
  const std::string text =
      node("input", "TestInput") + node("t1", "TestMul", "input:0 input:1");
  options.prefix = "import";
  import(text);
  Node* t1 = g.find("import/t1");
  EXPECT_EQ(t1->inputs()[0], in->output(1));
  EXPECT_EQ(t1->inputs()[1], in->output(0));
  EXPECT_NE(g.find("import/input"), nullptr);
}

TEST_F(Import, InputMapImplicitZerothOutput) {
  Node* c = g.scalar(1);
  options.input_map = {{"a", c->output()}};
  import(placeholder("a") + identity("b", "a:0"));
  EXPECT_EQ(g.find("b")->inputs()[0].node, c);
}

TEST_F(Import, InputMapWithControlEdges) {
  Node* w = g.noop("W1");
  options.input_map = {{"^W1", {w, -1}}};
  options.prefix = "import";
  import(node("W1", "TestParams") + node("input", "TestInput", "^W1"));
  EXPECT_EQ(g.find("import/input")->control_inputs()[0], w);
}

TEST_F(Import, InputMapWithBadControlEdge) {
  Node* w = g.scalar(1, "x");
  options.input_map = {{"^W1", w->output()}};
  EXPECT_EQ(error(kSimple),
            "input_map entry ^W1->x:0 between control edge and non-control edge");
  options.input_map = {{"W1", {w, -1}}};
  EXPECT_EQ(error(kSimple),
            "input_map entry W1:0->^x between control edge and non-control edge");
}

TEST_F(Import, InputMapWithInvalidNodeIndex) {
  options.input_map = {{"input:0", {g.scalar(1), 3}}};
  error(kSimple);
}

TEST_F(Import, InputMapWithNodeOfAnotherGraph) {
  TestGraph other;
  options.input_map = {{"input:0", other.scalar(1)->output()}};
  error(kSimple);
}

TEST_F(Import, InputMapTypeMismatch) {
  options.input_map = {{"a:0", g.number(1)->output()}};
  EXPECT_EQ(error(placeholder("a") + identity("b", "a")),
            "Input 0 of node b was passed int32 from Const:0 incompatible with expected float.");
}

TEST_F(Import, InputMapWithUnboundInput) {
  Node* c = g.scalar(1);
  options.input_map = {{"a:0", c->output()}};
  import(identity("b", "a"));  // node a is not in the GraphDef
  EXPECT_EQ(g.find("b")->inputs()[0].node, c);
}

TEST_F(Import, InputMapMissingUnusedKeys) {
  Node* c = g.scalar(1);
  options.input_map = {{"zz:0", c->output()}, {"a:0", c->output()}, {"a:5", c->output()},
                       {"unread:0", c->output()}};
  const ImportResult r = import(placeholder("a") + placeholder("unread") + identity("b", "a"));
  EXPECT_EQ(r.missing_unused_keys, (std::vector<std::string>{"zz:0", "a:5"}));
}

TEST_F(Import, SkipMappedNodesFullyMapped) {
  Node* c = g.scalar(1);
  options.input_map = {{"input:0", c->output()}, {"input:1", c->output()}};
  options.skip_mapped_nodes = true;
  const ImportResult r =
      import(node("input", "TestInput") + node("t1", "TestMul", "input input:1"));
  EXPECT_EQ(r.nodes[0], nullptr);
  EXPECT_EQ(g.find("input"), nullptr);
  EXPECT_EQ(g.num_nodes(), 2u);
}

TEST_F(Import, SkipMappedNodesNotFullyMapped) {
  options.input_map = {{"input:1", g.scalar(1)->output()}};
  options.skip_mapped_nodes = true;
  import(node("input", "TestInput") + node("t1", "TestMul", "input input:1"));
  EXPECT_NE(g.find("input"), nullptr);
}

TEST_F(Import, SkippedNodesHaveNoMoreToReturn) {
  options.input_map = {{"input:0", g.scalar(1)->output()}, {"input:1", g.scalar(2)->output()}};
  options.skip_mapped_nodes = true;
  options.return_tensors = {"input:2"};
  EXPECT_EQ(error(node("input", "TestInput")),
            "Requested return tensor 'input:2' is of a node that was skipped");
  options.return_tensors = {"^input"};
  EXPECT_EQ(error(node("input", "TestInput")),
            "Requested return tensor '^input' is of a node that was skipped");
}

// ---- Returns.
TEST_F(Import, ReturnTensors) {
  options.return_tensors = {"input:1", "t1:0", "input"};
  const ImportResult r = import(kSimple);
  EXPECT_EQ(r.outputs[0], g.find("input")->output(1));
  EXPECT_EQ(r.outputs[1], g.find("t1")->output());
  EXPECT_EQ(r.outputs[2], g.find("input")->output(0));
}

TEST_F(Import, ReturnTensorsFollowTheInputMap) {
  Node* c = g.scalar(1);
  options.input_map = {{"input:1", c->output()}};
  options.return_tensors = {"input:1"};
  EXPECT_EQ(import(kSimple).outputs[0], c->output());
}

TEST_F(Import, ReturnTensorsErrors) {
  options.return_tensors = {"W1:0", "nope:0"};
  EXPECT_EQ(error(kSimple), "Requested return tensor 'nope:0' not found in graph def");
  options.return_tensors = {"W1:1"};
  EXPECT_EQ(error(kSimple), "Invalid return output 1 of node 'W1', which has 1 output(s)");
}

TEST_F(Import, ReturnNodes) {
  options.return_nodes = {"t1", "W1"};
  const ImportResult r = import(kSimple);
  EXPECT_EQ(r.returned_nodes[0], g.find("t1"));
  EXPECT_EQ(r.returned_nodes[1], g.find("W1"));
}

TEST_F(Import, ReturnNodesErrors) {
  options.return_nodes = {"nope"};
  EXPECT_EQ(error(kSimple), "Requested return node 'nope' not found in graph def");
}

// ---- Unique names.
TEST_F(Import, UniquifyNames) {
  const std::string text = placeholder("A") + identity("B", "A");
  import(text);
  options.uniquify_names = true;
  import(text);
  EXPECT_EQ(g.find("B_1")->inputs()[0].node, g.find("A_1"));
  import(text);
  EXPECT_EQ(g.find("B_2")->inputs()[0].node, g.find("A_2"));
}

TEST_F(Import, UniquifyNamesAvoidsNamesOfTheGraphDef) {
  import(placeholder("A"));
  options.uniquify_names = true;
  const ImportResult r = import(placeholder("A") + placeholder("A_1"));
  EXPECT_EQ(r.nodes[0]->name(), "A_2");
  EXPECT_EQ(r.nodes[1]->name(), "A_1");
}

TEST_F(Import, UniquifyNamesAvoidsScopes) {
  import(placeholder("A/x"));
  options.uniquify_names = true;
  EXPECT_EQ(import(placeholder("A")).nodes[0]->name(), "A_1");
}

TEST_F(Import, UniquifyPrefix) {
  options.prefix = "p";
  options.uniquify_prefix = true;
  import(placeholder("A"));
  import(placeholder("A"));
  EXPECT_NE(g.find("p_1/A"), nullptr);
}

TEST_F(Import, UniquifyNamesColocationGroups) {
  const std::string text = node("A", "NoOp") + node("B", "NoOp", "", group("A"));
  import(text);
  options.uniquify_names = true;
  import(text);
  EXPECT_EQ(g.find("B_1")->colocation_groups(), (std::vector<std::string>{"loc:@A_1"}));
}

TEST_F(Import, PrefixRenamesColocationGroups) {
  options.prefix = "p";
  import(node("B", "NoOp", "", group("A")) + node("A", "NoOp"));
  EXPECT_EQ(g.find("p/B")->colocation_groups(), (std::vector<std::string>{"loc:@p/A"}));
}

TEST_F(Import, ValidateColocationConstraints) {
  const std::string text = node("B", "NoOp", "", group("A"));
  EXPECT_EQ(error(text), "Node 'B' expects to be colocated with unknown node 'A'");
  options.validate_colocation = false;
  import(text);
  EXPECT_EQ(g.find("B")->colocation_groups(), (std::vector<std::string>{"loc:@A"}));
}

// ---- Cycles and control dependencies.
TEST_F(Import, WithCycleUnderAPrefix) {
  options.prefix = "p";
  import(loop());
  EXPECT_EQ(g.find("p/merge")->inputs()[1].node, g.find("p/next"));
}

TEST_F(Import, ControlDeps) {
  Node* before = g.noop("before");
  options.control_inputs = {before};
  import(node("W1", "TestParams") + node("input", "TestInput", "^W1") +
         node("t1", "TestMul", "W1 input"));
  ASSERT_EQ(g.find("W1")->control_inputs().size(), 1u);
  EXPECT_EQ(g.find("W1")->control_inputs()[0], before);
  EXPECT_EQ(g.find("input")->control_inputs().size(), 1u);  // W1: it follows `before` already
  EXPECT_TRUE(g.find("t1")->control_inputs().empty());
}

TEST_F(Import, ControlDepsWithMappedInput) {
  Node* c = g.scalar(1);
  options.control_inputs = {g.noop("before")};
  options.input_map = {{"a:0", c->output()}};
  import(identity("b", "a"));
  EXPECT_EQ(g.find("b")->control_inputs().size(), 1u);
}

TEST_F(Import, ControlDepsWithCycle) {
  options.control_inputs = {g.noop("before")};
  import(loop());
  EXPECT_EQ(g.find("p")->control_inputs().size(), 1u);
  EXPECT_TRUE(g.find("merge")->control_inputs().empty());
}

TEST_F(Import, ControlDepsErrors) {
  TestGraph other;
  options.control_inputs = {other.noop()};
  error(kSimple);
}

TEST_F(Import, ErrorsDoNotChangeTheGraph) {
  g.noop("mine");
  error(kSimple + node("bad", "TestMul", "W1 t1:1"));
  error(kSimple + node("bad", "TestInt", "W1"));
  error(kSimple + identity("x", "y") + identity("y", "x"));
  import(kSimple);  // the names are free still
  EXPECT_EQ(g.num_nodes(), 4u);
  EXPECT_EQ(g.noop("t1")->name(), "t1_1");
}

TEST_F(Import, UnknownOps) {
  EXPECT_EQ(error(node("a", "OpNotKnown"), Code::kNotFound),
            "Op type not registered 'OpNotKnown' (node 'a')");
  EXPECT_EQ(error(node("a", "Foo") + node("b", "Bar") + node("c", "Foo"), Code::kNotFound),
            "Op types not registered: 'Foo' (node 'a' and 1 more), 'Bar' (node 'b')");
  EXPECT_EQ(error("library { function { signature { name: 'f' } " +
                      std::string("node_def { name: 'n' op: 'Deep' } } }"),
                  Code::kNotFound),
            "Op type not registered 'Deep' (node 'n' of function 'f')");
}

TEST_F(Import, DefaultDevice) {
  options.default_device = "/device:GPU:1";
  import(node("a", "NoOp") + node("b", "NoOp", "", "device: '/cpu:0'"));
  EXPECT_EQ(g.find("a")->device(), "/device:GPU:1");
  EXPECT_EQ(g.find("b")->device(), "/cpu:0");
}

TEST_F(Import, DeviceScopesApplyWhenAsked) {
  auto job = g.device("/job:w");
  const std::string text = node("a", "NoOp", "", "device: '/gpu:0'") + node("b", "NoOp") +
                           node("c", "NoOp", "", "device: '/gpu:5' " + group("a"));
  options.prefix = "raw";
  import(text);
  EXPECT_EQ(g.find("raw/a")->device(), "/gpu:0");
  options.prefix = "scoped";
  options.apply_device_scopes = true;
  import(text);
  EXPECT_EQ(g.find("scoped/a")->device(), "/job:w/device:GPU:0");
  EXPECT_EQ(g.find("scoped/b")->device(), "/job:w");
  EXPECT_EQ(g.find("scoped/c")->device(), "/job:w/device:GPU:0");  // the partner's
}

TEST_F(Import, ClaimedShapesAreTakenAndChecked) {
  const std::string two = attr("_output_shapes", "list { shape { dim { size: 2 } } }");
  import(node("a", "Placeholder", "", attr("dtype", "type: DT_FLOAT") + two));
  EXPECT_EQ(g.find("a")->output_shape(0), Shape({2}));
  EXPECT_EQ(g.find("a")->attr("_output_shapes"), nullptr);
  EXPECT_EQ(error(node("b", "Placeholder", "",
                       attr("dtype", "type: DT_FLOAT") +
                           attr("shape", "shape { dim { size: 3 } }") + two)),
            "Node 'b' has an _output_shapes attribute inconsistent with the GraphDef for output "
            "#0: Dimension 0 in both shapes must be equal, but are 3 and 2. Shapes are [3] and "
            "[2].");
}

TEST_F(Import, ShapeErrorsNameTheNode) {
  const std::string vector = attr("dtype", "type: DT_FLOAT") +
                             attr("shape", "shape { dim { size: 3 } }");
  options.prefix = "import";
  EXPECT_EQ(error(node("a", "Placeholder", "", vector) +
                  node("m", "MatMul", "a a", attr("T", "type: DT_FLOAT"))),
            "Shape must be rank 2 but is rank 1 for '{{node import/m}} = MatMul[T=DT_FLOAT, "
            "transpose_a=false, transpose_b=false](import/a, import/a)' with input shapes: [3], "
            "[3].");
}

TEST_F(Import, AHugeConstantIsRefused) {
  error(node("c", "Const", "",
             attr("dtype", "type: DT_FLOAT") +
                 attr("value", "tensor { dtype: DT_FLOAT tensor_shape { dim { size: "
                               "1000000000000000000 } } float_val: 1 }")));
}

TEST_F(Import, AFinalizedGraphIsLeftAlone) {
  g.finalize();
  EXPECT_EQ(error(kSimple, Code::kFailedPrecondition),
            "Graph is finalized and cannot be modified.");
}

TEST_F(Import, MalformedBytesAndText) {
  failure(Code::kInvalidArgument, [&] { import_graph_def(g, "\xff\xff\xff"); });
  const std::string m = failure(Code::kInvalidArgument, [&] { import("node { name: 3 }"); });
  EXPECT_TRUE(m.starts_with("Cannot parse GraphDef text: 1:")) << m;
}

TEST_F(Import, TextThatNestsTooDeepIsRefused) {
  const int depth = 100'000;
  std::string text = "node { name: 'n' op: 'NoOp' attr { key: '_a' value { ";
  for (int i = 0; i < depth; ++i) text += "func { attr { value { ";
  for (int i = 0; i < depth; ++i) text += "} } } ";
  const std::string m = failure(Code::kInvalidArgument, [&] { import(text + "} } }"); });
  EXPECT_NE(m.find("too deep"), std::string::npos) << m;
}

TEST_F(Import, ConstantValueFromInsideALoop) {
  const std::string one = attr("dtype", "type: DT_INT32") +
                          attr("value", "tensor { dtype: DT_INT32 tensor_shape { dim { size: 1 } } "
                                        "int_val: 6 }");
  import(loop() + node("shape", "Const", "^merge", one) +
         node("r", "Reshape", "merge shape", attr("T", "type: DT_FLOAT")));
  EXPECT_EQ(g.find("r")->output_shape(0), Shape({6}));
}

TEST_F(Import, InputMapToANodeOfTheSameName) {
  NodeOptions named;
  named.name = "input";
  Node* mine = g.add("TestInput", {}, {}, named);
  options.input_map = {{"input:0", mine->output(0)}, {"input:1", mine->output(0)}};
  options.prefix = "import";
  import(node("input", "TestInput") + node("t1", "TestMul", "input input:1"));
  EXPECT_EQ(g.find("import/t1")->inputs()[1], mine->output(0));
}

TEST_F(Import, OptionsMayBeGoneAfterwards) {
  Node* c = g.scalar(1);
  {
    ImportOptions brief;
    brief.prefix = std::string("p");
    brief.input_map = {{std::string("a:0"), c->output()}};
    brief.default_device = std::string("/device:CPU:0");
    import_graph_def_text(g, identity("b", "a"), brief);
  }
  EXPECT_EQ(g.find("p/b")->device(), "/device:CPU:0");
  EXPECT_EQ(g.find("p/b")->inputs()[0].node, c);
}

TEST_F(Import, SourceLinesAreRead) {
  const std::string traces =
      "debug_info { files: 'model.py' traces { key: 'a' value { file_line_cols { file_index: 0 "
      "line: 7 } } } traces { key: 'b' value { file_line_cols { file_index: 9 line: 7 } } } }";
  import(node("a", "NoOp") + node("b", "NoOp") + node("c", "NoOp") + traces);
  EXPECT_EQ(g.find("a")->source(), "model.py:7");
  EXPECT_EQ(g.find("b")->source(), "");  // a file that is not listed
  EXPECT_EQ(g.find("c")->source(), "");
}

TEST_F(Import, SourceLinesAreReadInTheNewForm) {
  import(node("a", "NoOp") +
         "debug_info { files: 'model.py' frames_by_id { key: 3 value { file_index: 0 line: 9 } } "
         "traces_by_id { key: 5 value { frame_id: 3 } } name_to_trace_id { key: 'a' value: 5 } }");
  EXPECT_EQ(g.find("a")->source(), "model.py:9");
}

// ---- Writing.
TEST_F(Import, CopyGraph) {
  import(loop() + node("W1", "TestParams", "", "device: '/gpu:1'") + node("n", "NoOp", "^W1"));
  TestGraph copy;
  import_graph_def(copy, graph_def(g));
  EXPECT_EQ(graph_def_text(copy), graph_def_text(g));
  EXPECT_EQ(copy.find("W1")->device(), "/gpu:1");
  copy.verify();
}

TEST_F(Import, WrittenShapesAndDefaults) {
  g.placeholder(Shape({2, -1}), DType::kFloat, "p");
  g.add("TestDefaultAttr", {}, {}, {});
  ExportOptions out;
  out.add_shapes = out.strip_default_attrs = true;
  proto::GraphDef def;
  to_proto(g, out, &def);
  EXPECT_EQ(def.node(0).attr().at("_output_shapes").list().shape(0).dim(1).size(), -1);
  EXPECT_FALSE(def.node(1).attr().contains("default_int"));
  EXPECT_EQ(def.versions().producer(), 2474);
}

TEST_F(Import, WrittenSources) {
  NodeOptions o;
  o.name = "a";
  o.source = "train.py:12";
  g.add("NoOp", {}, {}, o);
  ExportOptions out;
  out.sources = true;
  proto::GraphDef def;
  to_proto(g, out, &def);
  EXPECT_EQ(def.debug_info().files(0), "train.py");
  EXPECT_EQ(def.debug_info().traces().at("a").file_line_cols(0).line(), 12);
}

// Whatever the bytes, an import succeeds or throws an Error, and the graph stays whole.
TEST_F(Import, SpoiledBytesNeverBreakTheGraph) {
  TestGraph source;
  Node* c = source.constant(Tensor::of<int32_t>({1, 2, 3}, Shape({3})));
  auto d = source.device("/gpu:0");
  Node* p = source.placeholder(Shape({-1, 3}));
  source.add("Reshape", {p->output(), c->output()});
  auto block = source.colocate_with(p);
  source.add("AddN", {p->output(), p->output()});
  const std::string good = graph_def(source);
  uint64_t random = 42;
  const auto next = [&] { return random = random * 6364136223846793005u + 1442695040888963407u; };
  int read = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = good;
    for (int k = 0; k < 1 + i % 4; ++k) bytes[(next() >> 33) % bytes.size()] ^= 1 << (next() >> 61);
    if (i % 7 == 0) bytes.resize((next() >> 33) % bytes.size());
    TestGraph g;
    try {
      import_graph_def(g, bytes);
      ++read;
    } catch (const Error&) {
      EXPECT_EQ(g.num_nodes(), 0u);
    }
    g.verify();
  }
  EXPECT_GT(read, 100);
}

// The processor's time for so many nodes, the wrong way round: every node waits for the next.
double seconds_to_import(int nodes, const ImportOptions& options) {
  proto::GraphDef def;
  for (int i = nodes - 1; i >= 0; --i) {
    proto::NodeDef* n = def.add_node();
    n->set_name("n" + std::to_string(i));
    n->set_op("Identity");
    if (i == 0) {
      n->set_op("Placeholder");
      (*n->mutable_attr())["dtype"].set_type(proto::DT_FLOAT);
      continue;
    }
    n->add_input("n" + std::to_string(i - 1));
    (*n->mutable_attr())["T"].set_type(proto::DT_FLOAT);
  }
  TestGraph g;
  const std::clock_t start = std::clock();
  import_graph_def(g, def, options);
  EXPECT_EQ(g.num_nodes(), static_cast<size_t>(nodes));
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

TEST_F(Import, TakesTimeInProportion) {
  double ratio = 0;
  for (int tries = 0; tries < 5; ++tries) {  // others may have been at work
    ratio = seconds_to_import(64'000, options) / seconds_to_import(4'000, options);
    if (ratio < 64) return;  // 16 times the nodes would take 256 times as long
  }
  ADD_FAILURE() << ratio;
}

}  // namespace
}  // namespace emplace
