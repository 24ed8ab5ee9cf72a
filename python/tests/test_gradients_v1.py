"""Symbolic gradients and optimizers of graph programs: values, names, and models that learn."""

import numpy as np
import pytest

import emplace.compat.v1 as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def value(fetch, feed=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetch, feed)


def numeric(f, at, step=1e-5):
    """Central differences of a scalar function."""
    grad = np.zeros_like(at)
    for i in np.ndindex(at.shape):
        up, down = at.copy(), at.copy()
        up[i] += step
        down[i] -= step
        grad[i] = (f(up) - f(down)) / (2 * step)
    return grad


A = np.random.default_rng(1).uniform(0.2, 1.5, (3, 2))
B = np.random.default_rng(2).uniform(0.2, 1.5, (2, 2))
FUNCTIONS = {
    "square": lambda x: tf.square(x),
    "tanh of a product": lambda x: tf.tanh(tf.matmul(x, tf.constant(B))),
    "sigmoid": lambda x: tf.sigmoid(x) * x,
    "log and exp": lambda x: tf.log(x) + tf.exp(-x),
    "broadcast": lambda x: x * tf.constant(A[0]) + tf.constant(A[:, :1]) / x,
    "mean of a part": lambda x: tf.reduce_mean(x[1:, ::2], axis=1) ** 2,
    "gather": lambda x: tf.gather(x, [2, 0, 2]) ** 2,
    "concat and transpose": lambda x: tf.concat([x, tf.transpose(tf.transpose(x) * x[0, 0])], 1) ** 3,
    "used often": lambda x: x * x + x / (x + 1) - tf.sqrt(x),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("shape", [A.shape, (None, 2)])
def test_gradient_agrees_with_differences(name, shape):
    x = tf.placeholder(tf.float64, shape)
    y = tf.reduce_sum(FUNCTIONS[name](x))
    grad = tf.convert_to_tensor(tf.gradients(y, x)[0])
    with tf.Session() as session:
        expected = numeric(lambda a: session.run(y, {x: a}), A)
        np.testing.assert_allclose(session.run(grad, {x: A}), expected, rtol=1e-6, atol=1e-8)


def test_names_are_those_of_tensorflow(graph):
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    w = tf.Variable(np.ones((3, 2), np.float32), name="w")
    tf.gradients(tf.matmul(x, w) + tf.matmul(2 * x, w), w, gate_gradients=True)
    names = {op.name for op in graph.get_operations()}
    assert {
        "gradients/Shape", "gradients/grad_ys_0", "gradients/MatMul_grad/MatMul_1", "gradients/MatMul_1_grad/MatMul_1",
        "gradients/MatMul_grad/tuple/control_dependency_1", "gradients/AddN",
    } <= names


def test_given_gradients_start_the_walk(graph):
    x = tf.constant([1.0, 2.0])
    np.testing.assert_array_equal(value(tf.gradients(x * x, x, grad_ys=[[10.0, 1.0]])[0]), [20, 4])
    assert "gradients/grad_ys_0" in {op.name for op in graph.get_operations()}
    with pytest.raises(ValueError, match="Length mismatch"):
        tf.gradients([x, x], x, grad_ys=[x])


def test_several_targets_are_summed_and_one_may_lead_to_another():
    x = tf.constant(3.0)
    y = x * x
    assert value(tf.gradients([y, y * y], [x, y])) == [6 + 4 * 27, 1 + 18]


def test_unconnected_is_none_or_zero():
    x, y = tf.constant([1.0, 2.0]), tf.constant(1.0)
    assert tf.gradients(y, x) == [None]
    assert tf.gradients(tf.stop_gradient(x), x) == [None]
    np.testing.assert_array_equal(value(tf.gradients(y, x, unconnected_gradients="zero")[0]), [0, 0])


def test_stop_gradients_are_held_constant():
    x = tf.constant(2.0)
    y = x * x
    assert value(tf.gradients(y * x, x, stop_gradients=[y])[0]) == 4


def test_a_gather_has_indexed_slices():
    w = tf.Variable(np.ones((4, 2), np.float32))
    grad = tf.gradients(tf.reduce_sum(tf.gather(w, [1, 3, 1])), w)[0]
    assert isinstance(grad, tf.IndexedSlices)
    np.testing.assert_array_equal(value(tf.convert_to_tensor(grad)), [[0, 0], [2, 2], [0, 0], [1, 1]])
    both = tf.gradients(tf.reduce_sum(tf.gather(w, [1])) + tf.reduce_sum(w), w)[0]
    np.testing.assert_array_equal(value(tf.convert_to_tensor(both)), [[1, 1], [2, 2], [1, 1], [1, 1]])


def test_hessian_of_a_cubic():
    x = tf.constant([1.0, 2.0])
    np.testing.assert_allclose(value(tf.hessians(tf.reduce_prod(x) * x[0], x)[0]), [[4, 2], [2, 0]])


def test_own_gradients(graph):
    @tf.custom_gradient
    def doubled(v):
        return v * 2, lambda g: g * 7

    @tf.RegisterGradient("TestSquareTimesTen")
    def _times_ten(op, grad):
        return 10 * grad * op.inputs[0]

    x = tf.constant(3.0)
    with graph.gradient_override_map({"Square": "TestSquareTimesTen"}):
        y = tf.square(x)
    assert value([doubled(x), *tf.gradients(doubled(x), x), *tf.gradients(y, x)]) == [6, 7, 30]
    with pytest.raises(KeyError, match="Square"):
        tf.RegisterGradient("Square")(lambda op, grad: grad)


def test_an_operation_without_gradient_is_named():
    x = tf.constant([1.0, 2.0], name="x")
    with tf.get_default_graph().gradient_override_map({"Neg": "NobodyRegisteredThis"}):
        y = tf.negative(x, name="minus")
    with pytest.raises(LookupError, match=r"No gradient defined for operation 'minus' \(op type: Neg\)"):
        tf.gradients(y, x)


def test_deep_graphs_need_no_deep_stack():
    x = y = tf.constant(1.0)
    for _ in range(3000):
        y = y + 1.0
    assert value(tf.gradients(y, x)[0]) == 1
