"""Threads that build graphs: the blocks of one say nothing of what another makes."""

from collections.abc import Callable
from typing import Any

import pytest

import emplace.compat.v1 as tf
from in_threads import at_once, beside


def _in(graph: Any, work: Callable[[], Any]) -> Callable[[], Any]:
    def run() -> Any:
        with graph.as_default():
            return work()

    return run


@pytest.fixture
def graph() -> Any:
    with tf.Graph().as_default() as g:
        yield g


def test_thread_has_a_default_graph_of_its_own(graph: Any) -> None:
    assert beside(tf.get_default_graph) is not graph
    assert beside(lambda: getattr(tf.constant(1.0), "graph", None)) is not graph  # none where others of this process work eagerly
    assert beside(_in(graph, lambda: tf.constant(1.0).graph)) is graph


def test_root_graph_is_the_threads_own() -> None:
    root = tf.get_default_graph()
    assert beside(lambda: tf.get_default_graph() is root) is False
    beside(tf.reset_default_graph)
    assert tf.get_default_graph() is root


def test_default_session_is_the_threads_own(graph: Any) -> None:
    with tf.Session():
        assert beside(tf.get_default_session) is None


def test_name_and_variable_scopes_stay_in_their_thread(graph: Any) -> None:
    with tf.name_scope("a"), tf.variable_scope("v", reuse=tf.AUTO_REUSE):
        assert beside(_in(graph, lambda: tf.constant(1.0).name)) == "Const:0"
        assert beside(_in(graph, lambda: tf.get_variable("x", []).name)) == "x:0"
        assert tf.get_variable("x", []).name == "v/x:0"
        assert beside(_in(graph, tf.get_variable_scope)).reuse is False


def test_variable_scopes_are_numbered_by_thread(graph: Any) -> None:
    def second() -> Any:
        with tf.variable_scope(None, "layer") as scope:
            return scope.name

    with tf.variable_scope(None, "layer") as first:
        assert first.name == "layer"
        assert beside(_in(graph, second)) == "layer"


def test_devices_and_control_dependencies_stay_in_their_thread(graph: Any) -> None:
    before = tf.constant(1.0)
    with tf.device("/cpu:0"), tf.control_dependencies([before]), tf.colocate_with(before):
        made = beside(_in(graph, lambda: tf.constant(2.0).op))
        mine = tf.constant(3.0).op
    assert (made.device, made.control_inputs) == ("", [])
    assert made.colocation_groups() == [b"loc:@" + made.name.encode()]
    assert mine.control_inputs == [before.op]


def test_containers_and_gradient_names_stay_in_their_thread(graph: Any) -> None:
    x = tf.constant(2.0)

    def named() -> Any:
        return [a for a in tf.square(x).op.node_def.attr if a == "_gradient_op_type"]

    with graph.gradient_override_map({"Square": "Other"}), graph.container("box"):
        assert named() == ["_gradient_op_type"]
        assert beside(_in(graph, named)) == []
        made = beside(_in(graph, lambda: tf.Variable(1.0, use_resource=True)))
        assert made.handle.op.get_attr("container") == b""
    assert named() == []


@pytest.mark.parametrize("kind", ["loop", "branch"])
def test_loops_and_branches_take_up_their_threads_nodes_only(graph: Any, kind: str) -> None:
    others: list[Any] = []

    def body(i: Any) -> Any:
        others.append(beside(_in(graph, lambda: tf.constant(5.0) * 2.0)))
        return i + 1

    if kind == "loop":
        made = tf.while_loop(lambda i: i < 3, body, [tf.constant(0)])
    else:
        made = tf.cond(tf.constant(True), lambda: body(tf.constant(2)), lambda: tf.constant(0))
    with tf.Session() as session:
        assert session.run(made) == 3
        assert session.run(others[0]) == 10.0  # not refused: it is in no loop


def test_gradients_of_loops_are_built_at_once(graph: Any) -> None:
    def slope(n: int) -> Any:
        x = tf.constant(float(n))
        y = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * x), [tf.constant(0), x])[1]
        return tf.gradients(y, x)[0]

    found = at_once(4, lambda n: _in(graph, lambda: slope(n))())
    with tf.Session() as session:
        assert session.run(found) == [4.0 * n**3 for n in range(4)]


def test_eight_threads_build_and_run_graphs_of_their_own() -> None:
    def work(n: int) -> Any:
        with tf.Graph().as_default(), tf.name_scope(f"part{n}"):
            with tf.variable_scope("net"):
                w = tf.get_variable("w", initializer=float(n))
            step = tf.train.GradientDescentOptimizer(0.1).minimize(w * w)
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                session.run(step)
                return w.name, round(float(w.eval()), 4)

    found = at_once(8, work)
    assert found == [("net/w:0", round(0.8 * n, 4)) for n in range(8)]
