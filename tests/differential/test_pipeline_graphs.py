"""The graphs that stages of `tf.data` make: the same nodes as TensorFlow's, by name, operation, inputs and attributes."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from test_eager import ours, theirs  # noqa: F401  (fixtures)


def _range(tf: Any, n: int = 10) -> Any:
    return tf.data.Dataset.range(n)


def _options(tf: Any) -> Any:
    options = tf.data.Options()
    options.deterministic = False
    options.autotune.cpu_budget = 3
    return _range(tf).with_options(options)


def _captured(tf: Any) -> Any:
    more = tf.constant(5, tf.int64)
    return _range(tf).map(lambda x: x + more)


def _iterator(tf: Any, kind: str) -> Any:
    return getattr(tf.compat.v1.data, f"make_{kind}_iterator")(_range(tf))


def _groups(tf: Any) -> Any:
    return _range(tf).group_by_window(lambda x: x % 2, lambda k, d: d.batch(2), window_size=3)


CASES: dict[str, Callable[[Any], Any]] = {
    "range": _range,
    "tensors": lambda tf: tf.data.Dataset.from_tensors({"a": [1, 2], "b": (3.0,)}),
    "slices": lambda tf: tf.data.Dataset.from_tensor_slices(([1, 2], ["a", "b"])),
    "map": lambda tf: _range(tf).map(lambda x: x + 1),
    "map with a name": lambda tf: _range(tf).map(lambda x: x + 1, name="foo"),
    "map with a capture": _captured,
    "parallel map": lambda tf: _range(tf).map(lambda x: x + 1, num_parallel_calls=2, deterministic=False),
    "filter": lambda tf: _range(tf).filter(lambda x: x > 1),
    "flat_map": lambda tf: _range(tf).flat_map(lambda x: tf.data.Dataset.range(x)),
    "interleave": lambda tf: _range(tf).interleave(lambda x: tf.data.Dataset.range(x)),
    "parallel interleave": lambda tf: _range(tf).interleave(lambda x: tf.data.Dataset.range(x), num_parallel_calls=3),
    "shuffle": lambda tf: _range(tf).shuffle(4, seed=3),
    "shuffle without a seed": lambda tf: _range(tf).shuffle(4),
    "batch": lambda tf: _range(tf).batch(3),
    "parallel batch": lambda tf: _range(tf).batch(3, True, num_parallel_calls=2),
    "padded_batch": lambda tf: _range(tf).map(lambda x: tf.fill([x], x)).padded_batch(3),
    "unbatch": lambda tf: _range(tf).batch(2).unbatch(),
    "rebatch": lambda tf: _range(tf).batch(2).rebatch([1, 2]),
    "repeat": lambda tf: _range(tf).repeat(),
    "take": lambda tf: _range(tf).take(2),
    "skip": lambda tf: _range(tf).skip(2),
    "shard": lambda tf: _range(tf).shard(2, 1),
    "zip": lambda tf: tf.data.Dataset.zip((_range(tf), _range(tf))),
    "concatenate": lambda tf: _range(tf).concatenate(_range(tf)),
    "cache": lambda tf: _range(tf).cache(),
    "prefetch": lambda tf: _range(tf).prefetch(2),
    "prefetch tuned": lambda tf: _range(tf).prefetch(-1),
    "window": lambda tf: _range(tf).window(2),
    "group_by_window": _groups,
    "scan": lambda tf: _range(tf).scan(np.int64(0), lambda s, x: (s + x, s * x)),
    "take_while": lambda tf: _range(tf).take_while(lambda x: x < 3),
    "reduce": lambda tf: _range(tf).reduce(np.int64(0), lambda s, x: s + x),
    "unique": lambda tf: _range(tf).unique(),
    "enumerate": lambda tf: _range(tf).enumerate(),
    "snapshot": lambda tf: _range(tf).snapshot("/nowhere"),
    "generator": lambda tf: tf.data.Dataset.from_generator(lambda: iter([1]), output_signature=tf.TensorSpec([], tf.int32)),
    "records": lambda tf: tf.data.TFRecordDataset(["a", "b"]),
    "records of several files": lambda tf: tf.data.TFRecordDataset(["a", "b"], num_parallel_reads=2),
    "lines": lambda tf: tf.data.TextLineDataset("a"),
    "fixed records": lambda tf: tf.data.FixedLengthRecordDataset("a", 4),
    "table": lambda tf: tf.data.experimental.CsvDataset("a", [tf.int32, [1.0]]),
    "random": lambda tf: tf.data.Dataset.random(4),
    "counter": lambda tf: tf.data.Dataset.counter(),
    "sample": lambda tf: tf.data.Dataset.sample_from_datasets([_range(tf), _range(tf)], [0.5, 0.5], seed=1),
    "choose": lambda tf: tf.data.Dataset.choose_from_datasets([_range(tf), _range(tf)], _range(tf, 2)),
    "options": _options,
    "ignore_errors": lambda tf: _range(tf).ignore_errors(),
    "ragged_batch": lambda tf: _range(tf).map(lambda x: tf.fill([x], x)).ragged_batch(2),
    "sparse_batch": lambda tf: _range(tf).map(lambda x: tf.fill([x], x)).sparse_batch(2, [10]),
    "bucket": lambda tf: _range(tf).map(lambda x: tf.fill([x], x)).bucket_by_sequence_length(lambda x: tf.shape(x)[0], [3], [2, 2]),
    "resample": lambda tf: _range(tf).rejection_resample(lambda x: tf.cast(x % 2, tf.int32), [0.5, 0.5], seed=1),
    "cardinality": lambda tf: _range(tf).cardinality(),
    "single element": lambda tf: _range(tf, 1).get_single_element(),
    "list": lambda tf: tf.data.experimental.from_list([1, 2]),
    "assert_cardinality": lambda tf: _range(tf).apply(tf.data.experimental.assert_cardinality(3)),
    "parallel_interleave": lambda tf: _range(tf).apply(tf.data.experimental.parallel_interleave(lambda x: tf.data.Dataset.range(x), 2)),
    "map_and_batch": lambda tf: _range(tf).apply(tf.data.experimental.map_and_batch(lambda x: x + 1, 2)),
    "one shot iterator": lambda tf: _iterator(tf, "one_shot").get_next(),
    "initializable iterator": lambda tf: _iterator(tf, "initializable").get_next(),
    "optional": lambda tf: _iterator(tf, "initializable").get_next_as_optional().get_value(),
    "iterator of a structure": lambda tf: tf.compat.v1.data.Iterator.from_structure(tf.int64, []).make_initializer(_range(tf)),
    "iterator of a handle": lambda tf: tf.compat.v1.data.Iterator.from_string_handle(tf.constant("a"), tf.int64, []).get_next(),
}


def _value(attr: Any) -> Any:
    """An attribute as text; a function by what it is, not by its name."""
    if attr.HasField("func"):
        return "a function"
    return attr.SerializeToString(deterministic=True)


def _nodes(tf: Any, make: Callable[[Any], Any]) -> list[Any]:
    with tf.Graph().as_default() as graph:
        make(tf)
    found = []
    for node in graph.as_graph_def().node:
        attrs = {k: _value(v) for k, v in node.attr.items() if not k.startswith("_")}
        if node.op == "Const":
            attrs.pop("value")
        found.append((node.op, node.name, list(node.input), attrs))
    return found


@pytest.mark.parametrize("name", CASES)
def test_has_tensorflows_nodes(name: str, ours: Any, theirs: Any) -> None:  # noqa: F811
    expected, found = _nodes(theirs, CASES[name]), _nodes(ours, CASES[name])
    assert [n[:3] for n in found] == [n[:3] for n in expected]
    for mine, theirs_ in zip(found, expected):
        assert mine == theirs_
