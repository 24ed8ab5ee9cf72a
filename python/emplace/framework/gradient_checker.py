"""tf.test.compute_gradient: derivatives by the graph's gradient, and by small steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from emplace.framework import ops


def _sizes(shape: Any) -> list[int]:
    return [int(s) for s in (shape if isinstance(shape, (list, tuple)) else shape.as_list())]


def _start(x: Any, shape: list[int], given: Any) -> np.ndarray:
    if given is None:
        return np.random.random_sample(shape).astype(x.dtype.as_numpy_dtype)
    given = np.array(given, x.dtype.as_numpy_dtype)
    if list(given.shape) != shape:
        raise AssertionError(f"x_shape = {shape}, init_data shape = {list(given.shape)}")
    return given


def _by_gradient(session: Any, x: Any, y: Any, at: np.ndarray, outputs: list[int], feeds: dict[Any, Any]) -> np.ndarray:
    from emplace.framework import array_ops, gradients

    direction = array_ops.placeholder(y.dtype, outputs)
    (found,) = gradients.gradients(y, x, direction)
    jacobian = np.zeros([at.size, int(np.prod(outputs))], y.dtype.as_numpy_dtype)
    for column in range(jacobian.shape[1]):
        one = np.zeros(jacobian.shape[1], jacobian.dtype)
        one[column] = 1
        value = None if found is None else session.run(found, {**feeds, x: at, direction: one.reshape(outputs)})
        if hasattr(value, "dense_shape"):
            dense = np.zeros(at.shape, at.dtype)
            np.add.at(dense, value.indices, value.values)
            value = dense
        jacobian[:, column] = 0 if value is None else value.ravel()
    return jacobian


def _by_steps(session: Any, x: Any, y: Any, at: np.ndarray, outputs: list[int], delta: float, feeds: dict[Any, Any]) -> np.ndarray:
    jacobian = np.zeros([at.size, int(np.prod(outputs))], y.dtype.as_numpy_dtype)
    for row in range(at.size):
        up, down = at.copy(), at.copy()
        up.ravel()[row] += delta
        down.ravel()[row] -= delta
        ends = [session.run(y, {**feeds, x: v}) for v in (up, down)]
        jacobian[row] = ((ends[0] - ends[1]) / (2 * delta)).ravel()
    return jacobian


def compute_gradient(
    x: Any, x_shape: Any, y: Any, y_shape: Any, x_init_value: Any = None, delta: float = 1e-3, init_targets: Any = None, extra_feed_dict: Any = None,
) -> Any:
    """The two Jacobians of `y` with respect to `x`: of the gradient, and of differences of values."""
    session = ops.get_default_session()
    if session is None:
        raise ValueError("Cannot run operation: no default session is registered. Use `with sess.as_default()` around the check.")
    for target in init_targets or []:
        session.run(getattr(target, "initializer", target))
    many = isinstance(x, list)
    xs, shapes = (x, x_shape) if many else ([x], [x_shape])
    starts = x_init_value if many and x_init_value is not None else [x_init_value] * len(xs)
    at = [_start(v, _sizes(s), given) for v, s, given in zip(xs, shapes, starts)]
    feeds = dict(extra_feed_dict or {})
    found = []
    for v, here in zip(xs, at):
        others = {**feeds, **{o: a for o, a in zip(xs, at) if o is not v}}
        outputs = _sizes(y_shape)
        found.append((_by_gradient(session, v, y, here, outputs, others), _by_steps(session, v, y, here, outputs, delta, others)))
    return found if many else found[0]


def compute_gradient_error(
    x: Any, x_shape: Any, y: Any, y_shape: Any, x_init_value: Any = None, delta: float = 1e-3, init_targets: Any = None, extra_feed_dict: Any = None,
) -> float:
    """The largest difference between the two."""
    found = compute_gradient(x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict)
    pairs = found if isinstance(found, list) else [found]
    return max([0.0, *(float(np.fabs(a - b).max()) for a, b in pairs if a.size)])
