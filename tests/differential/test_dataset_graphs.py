"""Datasets as graphs: node for node what TensorFlow writes, and each reads what the other wrote."""

from collections.abc import Callable
from typing import Any

import pytest

from test_eager import ours, theirs  # noqa: F401  (fixtures)


def _table(tf: Any) -> Any:
    pairs = tf.lookup.KeyValueTensorInitializer(tf.constant([1], tf.int64), tf.constant([20], tf.int64))
    return tf.lookup.StaticHashTable(pairs, tf.constant(-1, tf.int64))


def _with_table(tf: Any) -> Any:
    table = _table(tf)
    return tf.data.Dataset.range(3).map(lambda x: table.lookup(x))


def _with_variable(tf: Any) -> Any:
    added = tf.Variable(3, dtype=tf.int64)
    dataset = tf.data.Dataset.range(3).map(lambda x: x + added)
    dataset._kept = added  # noqa: SLF001  (as long as the dataset)
    return dataset


def _captured(tf: Any) -> Any:
    more = tf.constant(5, tf.int64)
    return tf.data.Dataset.range(4).map(lambda x: x + more).filter(lambda x: x > 6)


def _nested(tf: Any) -> Any:
    inner = tf.data.Dataset.range(2)
    return tf.data.Dataset.range(3).flat_map(lambda x: inner.map(lambda y: x * y))


def _options(tf: Any) -> Any:
    options = tf.data.Options()
    options.deterministic = True
    return tf.data.Dataset.range(3).with_options(options)


CASES: dict[str, Callable[[Any], Any]] = {
    "range": lambda tf: tf.data.Dataset.range(2, 9, 3),
    "slices": lambda tf: tf.data.Dataset.from_tensor_slices({"a": tf.constant([[1.0, 2.0]]), "b": ["x"]}),
    "tensors": lambda tf: tf.data.Dataset.from_tensors((tf.constant([1, 2]), tf.constant("a"))),
    "captured": _captured,
    "functions in functions": _nested,
    "batches": lambda tf: tf.data.Dataset.range(7).batch(2, drop_remainder=True).unbatch().padded_batch(3),
    "shuffle": lambda tf: tf.data.Dataset.range(5).shuffle(3, seed=1).repeat(2).prefetch(1),
    "zip": lambda tf: tf.data.Dataset.zip((tf.data.Dataset.range(3), tf.data.Dataset.range(3).take(2))),
    "concatenate": lambda tf: tf.data.Dataset.range(3).concatenate(tf.data.Dataset.range(2).skip(1)),
    "cache": lambda tf: tf.data.Dataset.range(3).cache(),
    "options": _options,
    "parallel": lambda tf: tf.data.Dataset.range(4).map(lambda x: x * 2, num_parallel_calls=2).interleave(lambda x: tf.data.Dataset.range(x), 2, 1),
    "window": lambda tf: tf.data.Dataset.range(5).window(2).flat_map(lambda w: w.batch(2)),
    "scan": lambda tf: tf.data.Dataset.range(5).scan(tf.constant(0, tf.int64), lambda s, x: (s + x, s)).take_while(lambda x: x < 6),
    "group_by_window": lambda tf: tf.data.Dataset.range(6).group_by_window(lambda x: x % 2, lambda _, d: d.batch(2), window_size=2),
    "choose": lambda tf: tf.data.Dataset.choose_from_datasets([tf.data.Dataset.range(3)] * 2, tf.data.Dataset.range(2)),
    "table": _with_table,
    "variable": _with_variable,
}


def _written(tf: Any, dataset: Any) -> bytes:
    return tf.raw_ops.DatasetToGraphV2(input_dataset=tf.data.experimental.to_variant(dataset), external_state_policy=1).numpy()


def _value(attr: Any) -> Any:
    from tensorflow.python.framework import tensor_util  # type: ignore[import-not-found]

    kind = attr.WhichOneof("value")
    if kind == "func":
        return "a function"
    if kind == "tensor":
        resource = attr.tensor.dtype == 20
        return attr.tensor.dtype, "" if resource else tensor_util.MakeNdarray(attr.tensor).tolist()
    return str(attr)


_BY_STAGE = {"DirectedInterleaveDataset": {"output_shapes"}}  # TensorFlow rewrites the choices and forgets it
_OF_NO_ACCOUNT = {"metadata", "_cardinality", "_output_shapes", "shared_name", "container", "debug_name", "allowed_devices", "validate_shape"}


def _told(graph: bytes) -> list[Any]:
    from tensorflow.core.framework import graph_pb2  # type: ignore[import-not-found]

    nodes = graph_pb2.GraphDef.FromString(graph).node
    places = {n.name: i for i, n in enumerate(nodes)}
    told = []
    for n in nodes:
        inputs = [("^" if i.startswith("^") else "") + str(places[i.lstrip("^").split(":")[0]]) for i in n.input]
        attrs = {k: _value(v) for k, v in n.attr.items() if k not in _OF_NO_ACCOUNT | _BY_STAGE.get(n.op, set())}
        told.append((n.op, inputs, attrs))
    return told


def _elements(tf: Any, graph: bytes, spec: Any) -> list[Any]:
    read = tf.data.experimental.from_variant(tf.raw_ops.DatasetFromGraph(graph_def=graph), spec)
    return [_flat(e) for e in read.as_numpy_iterator()]


def _flat(element: Any) -> list[Any]:
    parts = [element[k] for k in sorted(element)] if isinstance(element, dict) else element if isinstance(element, tuple) else [element]
    return [part.tolist() if hasattr(part, "tolist") else part for part in parts]


@pytest.mark.parametrize("name", CASES)
def test_written_as_tensorflow_writes_it(name: str, ours: Any, theirs: Any) -> None:  # noqa: F811
    found, expected = _told(_written(ours, CASES[name](ours))), _told(_written(theirs, CASES[name](theirs)))
    if name == "table":  # reading it again, TensorFlow orders after the filling twice
        found, expected = [sorted({op for op, *_ in g}) for g in (found, expected)]
    assert found == expected


@pytest.mark.parametrize("name", CASES)
def test_each_reads_what_the_other_wrote(name: str, ours: Any, theirs: Any) -> None:  # noqa: F811
    mine, other = CASES[name](ours), CASES[name](theirs)
    graphs = _written(ours, mine), _written(theirs, other)
    expected = [_flat(e) for e in mine.as_numpy_iterator()]
    for graph in graphs:
        assert _elements(ours, graph, mine.element_spec) == expected
        assert _elements(theirs, graph, other.element_spec) == expected


def test_state_is_heeded(ours: Any) -> None:  # noqa: F811
    dataset = ours.data.experimental.to_variant(_with_variable(ours))
    with pytest.raises(ours.errors.FailedPreconditionError, match="Failed to serialize the input pipeline graph: ReadVariableOp is stateful"):
        ours.raw_ops.DatasetToGraphV2(input_dataset=dataset, external_state_policy=2)


def test_what_makes_no_dataset_is_refused(ours: Any) -> None:  # noqa: F811
    with pytest.raises(ours.errors.InvalidArgumentError):
        ours.raw_ops.DatasetFromGraph(graph_def=b"")
    with pytest.raises(ours.errors.InvalidArgumentError):
        ours.raw_ops.DatasetFromGraph(graph_def=b"nonsense")
