"""The kernels that are timed: what one call is, in TensorFlow's words and in NumPy's.

A case takes a size (0 small, 1 medium, 2 large) and gives its inputs; its calls take a module (ours
or TensorFlow) or numpy, and those inputs. The names are shared by everything that prints or judges.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Callable

import numpy as np

SIZES = ("small", "medium", "large")
_ELEMENTS = (1_000, 100_000, 4_000_000)
_SIDES = (32, 316, 2000)
CHAIN_ELEMENTS = 16 << 20  # of the large five-op chain: 64 MiB


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    inputs: Callable[[int], list[np.ndarray]]
    call: Callable[..., Any]
    numpy: Callable[..., Any] | None = None
    graph: bool = False  # traced once: what is timed is the compiled function


def _rng() -> np.random.RandomState:
    return np.random.RandomState(3)


def vector(count: int = 1, dtype: str = "float32", low: float = 0.1, high: float = 2.0) -> Callable[[int], list[np.ndarray]]:
    return lambda size: [_rng().uniform(low, high, _ELEMENTS[size]).astype(dtype) for _ in range(count)]


def square(count: int = 1, dtype: str = "float32", sides: tuple[int, ...] = _SIDES) -> Callable[[int], list[np.ndarray]]:
    return lambda size: [_rng().uniform(-1, 1, (sides[size], sides[size])).astype(dtype) for _ in range(count)]


def _with_scalar(size: int) -> list[np.ndarray]:
    return [*vector()(size), np.float32(1.5)]


def _with_row(size: int) -> list[np.ndarray]:
    x = square()(size)[0]
    return [x, x[0].copy()]


def _indices(size: int) -> list[np.ndarray]:
    x = _rng().uniform(-1, 1, (_SIDES[size] * 10, 64)).astype("float32")
    return [x, _rng().randint(0, len(x), _SIDES[size] * 4).astype("int32")]


def _image(size: int, depth: int = 32) -> np.ndarray:
    side, batch = ((8, 1), (28, 8), (56, 32))[size]
    return _rng().uniform(-1, 1, (batch, side, side, depth)).astype("float32")


def _conv(size: int) -> list[np.ndarray]:
    return [_image(size), _rng().uniform(-1, 1, (3, 3, 32, 64)).astype("float32")]


def _depthwise(size: int) -> list[np.ndarray]:
    return [_image(size), _rng().uniform(-1, 1, (3, 3, 32, 1)).astype("float32")]


def _norm(size: int) -> list[np.ndarray]:
    return [_image(size), np.ones(32, "float32"), np.zeros(32, "float32")]


def _logits(size: int) -> list[np.ndarray]:
    rows, classes = ((4, 10), (128, 100), (1024, 1000))[size]
    return [_rng().uniform(-3, 3, (rows, classes)).astype("float32")]


def _labelled(size: int) -> list[np.ndarray]:
    x = _logits(size)[0]
    return [x, _rng().randint(0, x.shape[1], len(x)).astype("int32")]


def _softmax(np_: Any, x: np.ndarray) -> np.ndarray:
    e = np_.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def _chain(tf: Any, x: Any, y: Any) -> Any:
    return tf.maximum((x * y + x) * 0.5 - y, x)


CASES = [
    Case("add", vector(2), lambda tf, x, y: tf.add(x, y), lambda n, x, y: n.add(x, y)),
    Case("add-scalar", _with_scalar, lambda tf, x, y: tf.add(x, y), lambda n, x, y: n.add(x, y)),
    Case("add-row", _with_row, lambda tf, x, y: tf.add(x, y), lambda n, x, y: n.add(x, y)),
    Case("mul-int32", vector(2, "int32", 1, 99), lambda tf, x, y: tf.multiply(x, y), lambda n, x, y: n.multiply(x, y)),
    Case("div", vector(2), lambda tf, x, y: tf.divide(x, y), lambda n, x, y: n.divide(x, y)),
    Case("maximum", vector(2), lambda tf, x, y: tf.maximum(x, y), lambda n, x, y: n.maximum(x, y)),
    Case("pow", vector(2), lambda tf, x, y: tf.pow(x, y), lambda n, x, y: n.power(x, y)),
    Case("less", vector(2), lambda tf, x, y: tf.less(x, y), lambda n, x, y: n.less(x, y)),
    Case("select", vector(2), lambda tf, x, y: tf.where(x < y, x, y), lambda n, x, y: n.where(x < y, x, y)),
    Case("exp", vector(), lambda tf, x: tf.exp(x), lambda n, x: n.exp(x)),
    Case("log", vector(), lambda tf, x: tf.math.log(x), lambda n, x: n.log(x)),
    Case("tanh", vector(), lambda tf, x: tf.tanh(x), lambda n, x: n.tanh(x)),
    Case("sigmoid", vector(), lambda tf, x: tf.sigmoid(x), lambda n, x: 1 / (1 + n.exp(-x))),
    Case("sqrt", vector(), lambda tf, x: tf.sqrt(x), lambda n, x: n.sqrt(x)),
    Case("erf", vector(), lambda tf, x: tf.math.erf(x)),
    Case("relu", vector(), lambda tf, x: tf.nn.relu(x), lambda n, x: n.maximum(x, 0)),
    Case("cast-to-int", vector(), lambda tf, x: tf.cast(x, tf.int32), lambda n, x: x.astype("int32")),
    Case("sum-all", vector(), lambda tf, x: tf.reduce_sum(x), lambda n, x: x.sum()),
    Case("sum-rows", square(), lambda tf, x: tf.reduce_sum(x, 1), lambda n, x: x.sum(1)),
    Case("sum-columns", square(), lambda tf, x: tf.reduce_sum(x, 0), lambda n, x: x.sum(0)),
    Case("max-rows", square(), lambda tf, x: tf.reduce_max(x, 1), lambda n, x: x.max(1)),
    Case("mean-all", vector(), lambda tf, x: tf.reduce_mean(x), lambda n, x: x.mean()),
    Case("argmax-rows", square(), lambda tf, x: tf.argmax(x, 1), lambda n, x: x.argmax(1)),
    Case("cumsum-rows", square(), lambda tf, x: tf.cumsum(x, 1), lambda n, x: n.cumsum(x, 1)),
    Case("top-10", square(), lambda tf, x: tf.math.top_k(x, 10)),
    Case("transpose", square(), lambda tf, x: tf.transpose(x), lambda n, x: n.ascontiguousarray(x.T)),
    Case("concat", square(2), lambda tf, x, y: tf.concat([x, y], 1), lambda n, x, y: n.concatenate([x, y], 1)),
    Case("slice", square(), lambda tf, x: x[1:-1, 1:-1], lambda n, x: x[1:-1, 1:-1].copy()),
    Case("pad", square(), lambda tf, x: tf.pad(x, [[1, 1], [2, 2]]), lambda n, x: n.pad(x, [[1, 1], [2, 2]])),
    Case("gather", _indices, lambda tf, x, i: tf.gather(x, i), lambda n, x, i: n.take(x, i, 0)),
    Case("one-hot", _labelled, lambda tf, x, i: tf.one_hot(i, 100)),
    Case("matmul", square(2, sides=(32, 256, 1024)), lambda tf, x, y: tf.matmul(x, y), lambda n, x, y: x @ y),
    Case("matmul-vector", lambda s: [*square(1, sides=(32, 256, 1024))(s), np.ones(((32, 256, 1024)[s], 1), "float32")],
         lambda tf, x, y: tf.matmul(x, y), lambda n, x, y: x @ y),
    Case("batch-matmul", lambda s: [_rng().rand(16, *2 * ((16, 64, 128)[s],)).astype("float32") for _ in "ab"],
         lambda tf, x, y: tf.matmul(x, y), lambda n, x, y: x @ y),
    Case("softmax", _logits, lambda tf, x: tf.nn.softmax(x), lambda n, x: _softmax(n, x)),
    Case("cross-entropy", _labelled, lambda tf, x, i: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=i, logits=x)),
    Case("conv2d", _conv, lambda tf, x, f: tf.nn.conv2d(x, f, 1, "SAME")),
    Case("depthwise", _depthwise, lambda tf, x, f: tf.nn.depthwise_conv2d(x, f, [1, 1, 1, 1], "SAME")),
    Case("max-pool", lambda s: [_image(s)], lambda tf, x: tf.nn.max_pool2d(x, 2, 2, "VALID")),
    Case("avg-pool", lambda s: [_image(s)], lambda tf, x: tf.nn.avg_pool2d(x, 3, 2, "SAME")),
    Case("batch-norm", _norm, lambda tf, x, a, b: tf.raw_ops.FusedBatchNormV3(x=x, scale=a, offset=b, mean=a[:0], variance=a[:0])),
    Case("bias-add", lambda s: [_image(s), np.ones(32, "float32")], lambda tf, x, b: tf.nn.bias_add(x, b), lambda n, x, b: x + b),
    Case("resize", lambda s: [_image(s, 3)], lambda tf, x: tf.image.resize(x, [40, 40])),
    Case("random-uniform", lambda s: [np.int32([_ELEMENTS[s]])], lambda tf, n: tf.random.stateless_uniform(n, [1, 2])),
    Case("random-normal", lambda s: [np.int32([_ELEMENTS[s]])], lambda tf, n: tf.random.stateless_normal(n, [1, 2])),
    Case("five-op-chain", lambda s: vector(2)(s) if s < 2 else [_rng().rand(CHAIN_ELEMENTS).astype("float32") for _ in "ab"],
         _chain, graph=True),
]
