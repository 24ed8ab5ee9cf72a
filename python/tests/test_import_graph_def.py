"""tf.import_graph_def, after the cases of TensorFlow's importer_test."""

import numpy as np
import pytest
from google.protobuf import text_format

import emplace.compat.v1 as tf

A = "node { name: 'A' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'value' value { tensor { dtype: DT_FLOAT tensor_shape {} float_val: 2 } } } }\n"
B = A.replace("'A'", "'B'").replace("float_val: 2", "float_val: 5")


def mul(name="C", inputs=("A:0", "B:0"), dtype="DT_FLOAT", rest=""):
    lines = " ".join(f"input: '{i}'" for i in inputs)
    return f"node {{ name: '{name}' op: 'Mul' {lines} attr {{ key: 'T' value {{ type: {dtype} }} }} {rest} }}\n"


def noop(name, rest=""):
    return f"node {{ name: '{name}' op: 'NoOp' {rest} }}\n"


def message(text, producer=2000):
    return text_format.Parse(f"versions {{ producer: {producer} }}\n{text}", tf.GraphDef())


def group(*names):
    values = " ".join(f"s: 'loc:@{n}'" for n in names)
    return f"attr {{ key: '_class' value {{ list {{ {values} }} }} }}"


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def refused(text, match, error=ValueError, **kwargs):
    before = tf.get_default_graph().version
    with pytest.raises(error, match=match):
        tf.import_graph_def(message(text), **kwargs)
    assert tf.get_default_graph().version == before


def test_basic(graph):
    a, b, c = tf.import_graph_def(message(A + B + mul()), return_elements=["A", "B:0", "C"], name="import")
    assert [a.name, b.name, c.name] == ["import/A", "import/B:0", "import/C"]
    assert a.outputs[0] is c.inputs[0] and b is c.inputs[1]
    assert a.type == "Const" and c.outputs[0].dtype == tf.float32
    assert tf.Session().run("import/C:0") == 10.0


def test_multiple_import(graph):
    names = []
    for _ in range(3):
        (a,) = tf.import_graph_def(message(A), return_elements=["A"], name="")
        names.append(a.name)
    assert names == ["A", "A_1", "A_2"]
    prefixed = [tf.import_graph_def(message(A), return_elements=["A"])[0].name for _ in range(2)]
    assert prefixed == ["import/A", "import_1/A"]


def test_multiple_import_connects_its_own_nodes(graph):
    text = A + B + mul()
    tf.import_graph_def(message(text), name="")
    (c,) = tf.import_graph_def(message(text), return_elements=["C"], name="")
    assert c.name == "C_1" and [i.name for i in c.inputs] == ["A_1:0", "B_1:0"]


def test_empty_name_scope(graph):
    with tf.name_scope("outer"):
        (a,) = tf.import_graph_def(message(A), return_elements=["A"], name="")
    assert a.name == "A"


def test_input_map(graph):
    x = tf.constant(7.0, name="x")
    (c,) = tf.import_graph_def(message(A + B + mul()), input_map={"A:0": x}, return_elements=["C:0"])
    assert c.op.inputs[0] is x and tf.Session().run(c) == 35.0


def test_input_map_bytes(graph):
    x = tf.constant(7.0)
    (c,) = tf.import_graph_def(message(A + B + mul()), input_map={b"A:0": x}, return_elements=[b"C:0"])
    assert c.op.inputs[0] is x


def test_input_map_unicode(graph):
    x = tf.constant(7.0)
    (c,) = tf.import_graph_def(message(A + B + mul()), input_map={"A:0": x}, return_elements=["C:0"])
    assert c.op.inputs[0] is x


def test_implicit_zeroth_output(graph):
    (c,) = tf.import_graph_def(message(A + B + mul(inputs=("A", "B"))), return_elements=["C"])
    assert [i.name for i in c.inputs] == ["import/A:0", "import/B:0"]


def test_input_map_implicit_zeroth_output(graph):
    x = tf.constant(7.0)
    (c,) = tf.import_graph_def(message(A + B + mul()), input_map={"A": x}, return_elements=["C"])
    assert c.inputs[0] is x


def test_with_control_dependency(graph):
    a, b = tf.import_graph_def(message(A + noop("b", "input: '^A'")), return_elements=["A", "b"])
    assert list(b.control_inputs) == [a]


def test_with_refs(graph):
    text = (
        "node { name: 'v' op: 'VariableV2' attr { key: 'shape' value { shape {} } } attr { key: 'dtype' value { type: DT_FLOAT } } }\n"
        + A + "node { name: 'set' op: 'Assign' input: 'v' input: 'A' attr { key: 'T' value { type: DT_FLOAT } } }\n"
        + "node { name: 'read' op: 'Identity' input: 'v' attr { key: 'T' value { type: DT_FLOAT } } }\n"
    )
    v, assign, read = tf.import_graph_def(message(text), return_elements=["v:0", "set", "read:0"])
    assert v.dtype._is_ref_dtype and not read.dtype._is_ref_dtype
    with tf.Session() as session:
        session.run(assign)
        assert session.run(read) == 2.0


def test_resources(graph):
    text = (
        "node { name: 'v' op: 'VarHandleOp' attr { key: 'shape' value { shape {} } } attr { key: 'dtype' value { type: DT_FLOAT } } }\n"
        + A + "node { name: 'set' op: 'AssignVariableOp' input: 'v' input: 'A' attr { key: 'dtype' value { type: DT_FLOAT } } }\n"
        + "node { name: 'read' op: 'ReadVariableOp' input: 'v' attr { key: 'dtype' value { type: DT_FLOAT } } }\n"
    )
    assign, read = tf.import_graph_def(message(text), return_elements=["set", "read:0"])
    with tf.Session() as session:
        session.run(assign)
        assert session.run(read) == 2.0


def test_type_mismatch(graph):
    text = A + mul(inputs=("A:0", "A:0"), dtype="DT_INT32")
    refused(text, "Input 0 of node import/C was passed float from import/A:0 incompatible with expected int32")


def test_too_many_inputs(graph):
    refused(A + B + mul(inputs=("A", "B", "A")), "do not match 3 inputs specified")


def test_not_enough_inputs(graph):
    refused(A + mul(inputs=("A",)), "do not match 1 inputs specified")


def test_missing_input_op(graph):
    refused(mul(), "Node 'C': Unknown input node 'A:0'")


def test_missing_input_op_that_is_mapped(graph):
    x = tf.constant(5.0)
    (c,) = tf.import_graph_def(message(mul(inputs=("A:0", "A:0"))), input_map={"A:0": x}, return_elements=["C"])
    assert c.inputs[0] is x


def test_missing_input_tensor(graph):
    refused(A + mul(inputs=("A:1", "A:0")), "Node 'C': Connecting to invalid output 1 of source node A which has 1 outputs")


def test_missing_control_input(graph):
    refused(noop("b", "input: '^A'"), r"Node 'b': Unknown input node '\^A'")


def test_invalid_output_index(graph):
    refused(A + mul(inputs=("A:B", "A:0")), "Node 'C': Unknown input node 'A:B'")


def test_invalid_tensor_name(graph):
    refused(A + mul(inputs=("A:B:0", "A:0")), "Node 'C': Unknown input node 'A:B:0'")


def test_missing_return_operation(graph):
    refused(A, "Requested return node 'B' not found in graph def", return_elements=["B"])


def test_missing_return_tensor(graph):
    refused(A, "Invalid return output 1 of node 'A', which has 1 output", return_elements=["A:1"])
    refused(A, "Requested return tensor 'B:0' not found in graph def", return_elements=["B:0"])
    refused(A, "Cannot convert 'A:B:0' to a tensor name.", return_elements=["A:B:0"])


def test_missing_input_map(graph):
    with pytest.raises(ValueError, match=r"not found in graph_def: \[B:0\]"):
        tf.import_graph_def(message(A), input_map={"B:0": tf.constant(5.0)})


def test_input_map_unused_as_input(graph):
    tf.import_graph_def(message(A), input_map={"A:0": tf.constant(5.0)})
    with pytest.raises(ValueError, match=r"not found in graph_def: \[A:2\]"):
        tf.import_graph_def(message(A), input_map={"A:2": tf.constant(5.0)})


def test_input_map_type_mismatch(graph):
    x = tf.constant(5)
    with pytest.raises(ValueError, match="was passed int32 from"):
        tf.import_graph_def(message(A + B + mul()), input_map={"A:0": x})


def test_no_returns(graph):
    assert tf.import_graph_def(message(A)) is None
    assert graph.get_operation_by_name("import/A").type == "Const"


def test_override_name_prefix(graph):
    (a,) = tf.import_graph_def(message(A), return_elements=["A"], name="imported_graph")
    assert a.name == "imported_graph/A"


def test_default_name_prefix(graph):
    (a,) = tf.import_graph_def(message(A), return_elements=["A"], name=None)
    assert a.name == "import/A"


def test_name_prefix_and_colocation(graph):
    (b,) = tf.import_graph_def(message(noop("A") + noop("B", group("A"))), return_elements=["B"], name="imported")
    assert b.colocation_groups() == [b"loc:@imported/A"]


def test_colocation_and_device(graph):
    text = noop("A", "device: '/device:CPU:0' " + group("A")) + noop("B", group("A"))
    a, b = tf.import_graph_def(message(text), return_elements=["A", "B"], name="")
    assert a.device == b.device == "/device:CPU:0"


def test_colocation_with_device_function(graph):
    def on_a(op):
        return "/device:CPU:0" if "A" in op.name else "/device:CPU:1"

    with graph.device(on_a):
        _, b = tf.import_graph_def(message(noop("A") + noop("B", group("A"))), return_elements=["A", "B"])
    assert b.device == "/device:CPU:0"


def test_colocation_of_several_with_device_function(graph):
    def only_c(op):
        return "/device:CPU:0" if op.name.endswith("C") else ""

    with graph.device(only_c):
        a, b, c = tf.import_graph_def(message(noop("A") + noop("B", group("A", "C")) + noop("C")), return_elements=["A", "B", "C"])
    assert (a.device, b.device, c.device) == ("", "/device:CPU:0", "/device:CPU:0")


def test_colocation_of_a_second_import(graph):
    text = noop("A") + noop("B", group("A"))
    for expected in (b"loc:@A", b"loc:@A_1"):
        (b,) = tf.import_graph_def(message(text), return_elements=["B"], name="")
        assert b.colocation_groups() == [expected]


def test_colocation_partner_not_found(graph):
    refused(noop("B", group("A")), "Node 'B' expects to be colocated with unknown node 'A'")


def test_empty_graph(graph):
    tf.import_graph_def(message(""))
    assert graph.version == 0


def test_invalid_graph_def(graph):
    with pytest.raises(TypeError, match="Argument `graph_def` must be a GraphDef proto."):
        tf.import_graph_def("not a graph")


def test_invalid_input_map(graph):
    with pytest.raises(TypeError, match="Argument `input_map` must be a dictionary. Obtained list"):
        tf.import_graph_def(message(A), input_map=[tf.constant(5.0)])
    with pytest.raises(ValueError, match="requires a non-empty `name` if `input_map` contains non-Tensor values"):
        tf.import_graph_def(message(A + B + mul()), input_map={"A:0": 2.0}, name="")


def test_input_map_values_become_tensors(graph):
    (c,) = tf.import_graph_def(message(A + B + mul()), input_map={"A:0": 3.0}, return_elements=["C:0"])
    assert tf.Session().run(c) == 15.0


def test_invalid_return_elements(graph):
    with pytest.raises(TypeError, match="Argument `return_elements` must be a list of strings."):
        tf.import_graph_def(message(A), return_elements=[7])


def test_duplicate_names(graph):
    refused(A + B + A, "Node 'A' is not unique")


def test_unknown_attributes_are_kept(graph):
    (a,) = tf.import_graph_def(message(noop("A", "attr { key: '_mine' value { s: 'x' } }")), return_elements=["A"])
    assert a.get_attr("_mine") == b"x"
    assert graph.as_graph_def().node[0].attr["_mine"].s == b"x"


def test_with_device(graph):
    text = noop("A") + noop("B", "device: '/device:CPU:1'") + noop("C", "device: '/task:1'")
    names = ["A", "B", "C"]
    plain = tf.import_graph_def(message(text), return_elements=names)
    assert [o.device for o in plain] == ["", "/device:CPU:1", "/task:1"]
    with tf.device("/job:w"):
        below = tf.import_graph_def(message(text), return_elements=names)
    assert [o.device for o in below] == ["/job:w", "/job:w/device:CPU:1", "/job:w/task:1"]
    with tf.device("/task:9"):
        mixed = tf.import_graph_def(message(text), return_elements=names)
    assert [o.device for o in mixed] == ["/task:9", "/task:9/device:CPU:1", "/task:1"]


@pytest.mark.parametrize("spelling", ["/cpu", "//cpu:0", "/cpu:0/", "cpu:0", "/device:cpu:0"])
def test_devices_are_spelled_as_in_a_block(graph, spelling):
    with tf.device(spelling):
        made = tf.no_op()
    given = message(noop("A", f"device: '{spelling}'"))
    (a,) = tf.import_graph_def(given, return_elements=["A"])
    assert a.device == made.device != spelling == given.node[0].device
    tf.Session().run(a)


def test_devices_that_no_block_takes(graph):
    refused(noop("A", "device: '/devise:CPU:0'"), "Unknown attribute 'devise'")
    refused(noop("A", "device: '/cpu:0/gpu:0'"), "Multiple device types")


def test_device_function_sees_the_inputs(graph):
    def by_inputs(op):
        return "/device:CPU:3" if any("in" in i.name for i in op.inputs) else None

    x = tf.constant(5.0, name="in")
    with tf.device(by_inputs):
        (c,) = tf.import_graph_def(message(A + B + mul()), input_map={"A:0": x}, return_elements=["C"], name="")
    assert c.device == "/device:CPU:3"


def test_gradient_of_imported_nodes(graph):
    with tf.Graph().as_default() as other:
        x = tf.placeholder(tf.float32, [10, 2], name="x")
        tf.nn.l2_loss(tf.matmul(x, tf.ones([2, 3])), name="loss")
    x = tf.placeholder(tf.float32, [10, 2])
    (loss,) = tf.import_graph_def(other.as_graph_def(), input_map={"x:0": x}, return_elements=["loss:0"])
    (gradient,) = tf.gradients(loss, x)
    np.testing.assert_allclose(tf.Session().run(gradient, {x: np.ones([10, 2])}), np.full([10, 2], 6.0))


def test_large_graph(graph):
    out = tf.GraphDef()
    out.versions.producer = 2000
    for i in range(20000):
        node = out.node.add(name=f"n{i}", op="NoOp")
        if i:
            node.input.append(f"^n{i - 1}")
    tf.import_graph_def(out, name="")
    assert graph.version == 20000


def test_version(graph):
    tf.import_graph_def(message(A, producer=2000))
    assert graph.as_graph_def().versions.producer == 2000


def test_version_low(graph):
    with pytest.raises(Exception, match="producer version -1 below min producer 0"):
        tf.import_graph_def(message(A, producer=-1))


def test_version_high(graph):
    newer = message(A)
    newer.versions.min_consumer = 1 << 30
    with pytest.raises(ValueError, match="GraphDef min consumer version 1073741824 above current version"):
        tf.import_graph_def(newer)


def test_default_attributes_are_added(graph):
    text = A + "node { name: 'm' op: 'MatMul' input: 'x' input: 'x' attr { key: 'T' value { type: DT_FLOAT } } }"
    x = tf.ones([2, 2])
    (m,) = tf.import_graph_def(message(text), input_map={"x": x}, return_elements=["m"])
    assert m.get_attr("transpose_a") is False


def test_unknown_attributes_with_their_default_are_removed(graph):
    from emplace.proto import graph_pb2

    producer = text_format.Parse("op { name: 'NoOp' attr { name: 'newer' type: 'int' default_value { i: 1 } } }", graph_pb2.OpList())
    text = noop("A", "attr { key: 'newer' value { i: 1 } }") + noop("B", "attr { key: 'newer' value { i: 2 } }")
    a, b = tf.import_graph_def(message(text), return_elements=["A", "B"], producer_op_list=producer)
    assert "newer" not in a.node_def.attr and b.get_attr("newer") == 2


FUNCTION = """
library { function {
  signature { name: 'twice' input_arg { name: 'x' type: DT_FLOAT } output_arg { name: 'y' type: DT_FLOAT } }
  node_def { name: 'add' op: 'AddV2' input: 'x' input: 'x' attr { key: 'T' value { type: DT_FLOAT } } }
  ret { key: 'y' value: 'add:z:0' } } }
node { name: 'call' op: 'twice' input: 'A' }
"""


def test_functions(graph):
    (y,) = tf.import_graph_def(message(A + FUNCTION), return_elements=["call:0"])
    assert tf.Session().run(y) == 4.0
    assert [f.signature.name for f in graph.as_graph_def().library.function] == ["twice"]


def test_a_function_imported_twice(graph):
    for _ in range(2):
        (y,) = tf.import_graph_def(message(A + FUNCTION), return_elements=["call:0"])
    assert tf.Session().run(y) == 4.0


LOOP = """
node { name: 'e' op: 'Enter' input: 'A' attr { key: 'T' value { type: DT_FLOAT } } attr { key: 'frame_name' value { s: 'f' } } }
node { name: 'm' op: 'Merge' input: 'e' input: 'n' attr { key: 'T' value { type: DT_FLOAT } } attr { key: 'N' value { i: 2 } } }
node { name: 'l' op: 'Less' input: 'm' input: 'k' attr { key: 'T' value { type: DT_FLOAT } } }
node { name: 'k' op: 'Enter' input: 'B' attr { key: 'T' value { type: DT_FLOAT } } attr { key: 'frame_name' value { s: 'f' } } attr { key: 'is_constant' value { b: true } } }
node { name: 'c' op: 'LoopCond' input: 'l' }
node { name: 's' op: 'Switch' input: 'm' input: 'c' attr { key: 'T' value { type: DT_FLOAT } } }
node { name: 'b' op: 'Mul' input: 's:1' input: 's:1' attr { key: 'T' value { type: DT_FLOAT } } }
node { name: 'n' op: 'NextIteration' input: 'b' attr { key: 'T' value { type: DT_FLOAT } } }
node { name: 'x' op: 'Exit' input: 's' attr { key: 'T' value { type: DT_FLOAT } } }
"""


def test_while_loop(graph):
    (x,) = tf.import_graph_def(message(A + B + LOOP), return_elements=["x:0"])
    assert graph.get_operation_by_name("import/m").inputs[1].name == "import/n:0"
    assert tf.Session().run(x) == 16.0


def test_unknown_ops_are_listed_at_once(graph):
    text = noop("a").replace("NoOp", "First") + noop("b").replace("NoOp", "Second") + noop("c").replace("NoOp", "First")
    refused(text, r"'First' \(node 'a' and 1 more\), 'Second' \(node 'b'\)", tf.errors.NotFoundError)


def test_stripped_defaults(graph):
    tf.matmul(tf.ones([2, 2]), tf.ones([2, 2]), name="m")
    from emplace.framework import graph_io

    def attributes(**kwargs):
        return {n.name: set(n.attr) for n in graph_io.graph_def(graph, **kwargs).node}["m"]

    assert "transpose_a" in attributes() and "transpose_a" not in attributes(strip_default_attrs=True)


def _counting():
    with tf.Graph().as_default() as g:
        r = tf.while_loop(lambda i: i < 10, lambda i: i + 1, [tf.constant(0)])
        return g.as_graph_def(), r.name


def test_while_loop_imported_in_a_cond(graph):
    loop, name = _counting()
    pred = tf.placeholder(tf.bool)
    out = tf.cond(pred, lambda: tf.import_graph_def(loop, return_elements=[name])[0], lambda: tf.constant(1))
    with tf.Session() as session:
        assert session.run(out, {pred: True}) == 10
        assert session.run(out, {pred: False}) == 1


def test_claimed_shape_that_is_wrong(graph):
    shapes = "attr { key: '_output_shapes' value { list { shape { dim { size: 43 } } } } }"
    loss = f"node {{ name: 'L' op: 'L2Loss' input: 'A:0' attr {{ key: 'T' value {{ type: DT_FLOAT }} }} {shapes} }}\n"
    refused(A + loss, "shape")


def test_version_applies_to_ops_that_are_gone(graph):
    old = "node { name: 'A' op: 'PlaceholderV2' attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'shape' value { shape {} } } }\n"
    tf.import_graph_def(message(old, producer=22))
    with pytest.raises(tf.errors.UnimplementedError, match="Op PlaceholderV2 is not available in GraphDef version 23. It has been removed in version 23"):
        tf.import_graph_def(message(old, producer=23))
