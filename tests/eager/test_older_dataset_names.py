"""Operations of datasets under the names that they had first do what they do under those they have now."""

import pathlib
from typing import Any

import pytest

import emplace as tf
from emplace.eager import context

KIND: dict[str, Any] = {"output_types": [tf.int64], "output_shapes": [[]]}


@pytest.fixture(autouse=True)
def eager() -> Any:
    """Whatever face of the package the process met first."""
    with context.eager_mode():
        yield


def _variant(dataset: Any) -> Any:
    return tf.data.experimental.to_variant(dataset)


def _elements(op: str, spec: Any = None, **given: Any) -> list[Any]:
    made = getattr(tf.raw_ops, op)(**given)
    return list(tf.data.experimental.from_variant(made, spec or tf.TensorSpec([], tf.int64)).take(5).as_numpy_iterator())


SIMPLE: dict[str, dict[str, Any]] = {
    "IgnoreErrorsDataset": KIND,
    "MaxIntraOpParallelismDataset": {**KIND, "max_intra_op_parallelism": 1},
    "NonSerializableDataset": KIND,
    "PrivateThreadPoolDataset": {**KIND, "num_threads": 1},
    "SleepDataset": {**KIND, "sleep_microseconds": 1},
    "UniqueDataset": KIND,
    "AutoShardDataset": {**KIND, "num_workers": 2, "index": 1},
}


@pytest.mark.parametrize("op", SIMPLE)
def test_over_a_dataset(op: str) -> None:
    given = {k: tf.constant(v, tf.int64) if isinstance(v, int) else v for k, v in SIMPLE[op].items()}
    found = [_elements(name + op, input_dataset=_variant(tf.data.Dataset.range(4)), **given) for name in ("", "Experimental")]
    assert found[0] == found[1] == ([1, 3] if op == "AutoShardDataset" else [0, 1, 2, 3])


def test_others(tmp_path: pathlib.Path) -> None:
    raw = tf.raw_ops
    assert raw.ExperimentalDatasetCardinality(input_dataset=_variant(tf.data.Dataset.range(4))).numpy() == 4
    assert _elements("ExperimentalRandomDataset", seed=tf.constant(3, tf.int64), seed2=tf.constant(0, tf.int64), **KIND) == _elements(
        "RandomDataset", seed=tf.constant(3, tf.int64), seed2=tf.constant(0, tf.int64), **KIND)
    batches = tf.data.Dataset.range(4).batch(2)
    assert _elements("ExperimentalUnbatchDataset", input_dataset=_variant(batches), **KIND) == [0, 1, 2, 3]
    rows = tf.data.Dataset.from_tensors(tf.constant([1, 2], tf.int64))
    sparse = rows.apply(tf.data.experimental.dense_to_sparse_batch(1, [3]))
    _called("DenseToSparseBatchDataset", "ExperimentalDenseToSparseBatchDataset", dataset=sparse, without=["metadata"])
    (tmp_path / "a.csv").write_text("1,2\n3,4\n")
    columns = (tf.TensorSpec([], tf.int64), tf.TensorSpec([], tf.int64))
    csv = raw.ExperimentalCSVDataset(
        filenames=[str(tmp_path / "a.csv")], compression_type="", buffer_size=tf.constant(4096, tf.int64), header=False, field_delim=",", use_quote_delim=True,
        na_value="", select_cols=tf.constant([], tf.int64), record_defaults=[tf.constant([], tf.int64)] * 2, output_shapes=[[], []],
    )
    assert [tuple(int(v) for v in r) for r in tf.data.experimental.from_variant(csv, columns)] == [(1, 2), (3, 4)]
    (tmp_path / "b.txt").write_text("")
    names = tf.TensorSpec([], tf.string)
    pattern = str(tmp_path / "*")
    for op in ("MatchingFilesDataset", "ExperimentalMatchingFilesDataset"):
        assert _elements(op, names, patterns=[pattern, pattern]) == [str(tmp_path / n).encode() for n in ("a.csv", "b.txt")]


def test_iterators_device() -> None:
    it = iter(tf.data.Dataset.range(1))
    here = tf.raw_ops.IteratorGetDevice(resource=it._resource)  # noqa: SLF001
    assert tf.raw_ops.ExperimentalIteratorGetDevice(resource=it._resource) == here  # noqa: SLF001


def _called(op: str, older: str, **renamed: Any) -> None:
    """The graph of a pipeline with `op`, under its older name, gives the same elements."""
    from emplace.proto import graph_pb2

    dataset = renamed.pop("dataset")
    graph = graph_pb2.GraphDef.FromString(tf.raw_ops.DatasetToGraphV2(input_dataset=_variant(dataset)).numpy())
    changed = [n for n in graph.node if n.op == op]
    assert changed, [n.op for n in graph.node]
    known = set(tf.raw_ops.__dict__)
    for n in changed:
        n.op = older
        for extra in renamed.pop("without", ()):
            n.attr.pop(extra, None)
    assert older in known or hasattr(tf.raw_ops, older)
    made = tf.data.experimental.from_variant(tf.raw_ops.DatasetFromGraph(graph_def=graph.SerializeToString()), dataset.element_spec)
    assert [str(x) for x in made.as_numpy_iterator()] == [str(x) for x in dataset.as_numpy_iterator()]


def test_with_functions() -> None:
    numbers = tf.data.Dataset.range(6)
    e = tf.data.experimental
    _called("MapDataset", "ExperimentalMapDataset", dataset=numbers.map(lambda x: x * 2), without=["force_synchronous", "metadata"])
    _called("ScanDataset", "ExperimentalScanDataset", dataset=numbers.scan(tf.constant(0, tf.int64), lambda s, x: (s + x, s)), without=["use_default_device", "metadata"])
    _called("TakeWhileDataset", "ExperimentalTakeWhileDataset", dataset=numbers.take_while(lambda x: x < 3), without=["metadata"])
    groups = numbers.group_by_window(lambda x: x % 2, lambda _, d: d.batch(2), window_size=2)
    _called("GroupByWindowDataset", "ExperimentalGroupByWindowDataset", dataset=groups, without=["metadata"])
    reducer = e.Reducer(lambda _: tf.constant(0, tf.int64), lambda s, x: s + x, lambda s: s)
    reduced = numbers.apply(e.group_by_reducer(lambda x: x % 2, reducer))
    for one, other in (("ExperimentalGroupByReducerDataset", "GroupByReducerDataset"), ("GroupByReducerDataset", "ExperimentalGroupByReducerDataset")):
        names = {n.op for n in _nodes(reduced)}
        if one in names:
            _called(one, other, dataset=reduced)
    both = numbers.apply(e.map_and_batch(lambda x: x * 2, 2, num_parallel_calls=1))
    _called("MapAndBatchDataset", "ExperimentalMapAndBatchDataset", dataset=both, without=["metadata"])


def _nodes(dataset: Any) -> Any:
    from emplace.proto import graph_pb2

    return graph_pb2.GraphDef.FromString(tf.raw_ops.DatasetToGraphV2(input_dataset=_variant(dataset)).numpy()).node


def test_compressed_and_back() -> None:
    ragged = tf.raw_ops.CompressElement(components=[tf.constant([1, 2]), tf.constant("x")])
    numbers, text = tf.raw_ops.UncompressElement(compressed=ragged, output_types=[tf.int32, tf.string], output_shapes=[[2], []])
    assert numbers.numpy().tolist() == [1, 2] and text.numpy() == b"x"
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.raw_ops.UncompressElement(compressed=ragged, output_types=[tf.int32], output_shapes=[[2]])
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.raw_ops.UncompressElement(compressed=_variant(tf.data.Dataset.range(1)), output_types=[tf.int32], output_shapes=[[2]])


def test_table_of_a_dataset() -> None:
    pairs = tf.data.Dataset.range(3).map(lambda x: (tf.strings.as_string(x), x * 10))
    table = tf.lookup.StaticHashTable(tf.data.experimental.DatasetInitializer(pairs), tf.constant(-1, tf.int64))
    assert table.lookup(tf.constant(["2", "7"])).numpy().tolist() == [20, -1] and int(table.size()) == 3
    empty = tf.lookup.StaticHashTable(tf.data.experimental.DatasetInitializer(pairs.take(0)), tf.constant(-1, tf.int64))
    assert int(empty.size()) == 0


def test_debug_mode_calls_python() -> None:
    from emplace.eager.datasets import functions

    seen = []

    def twice(x: Any) -> Any:
        if hasattr(x, "numpy"):
            seen.append(int(x.numpy()))
        return x * 2

    tf.data.experimental.enable_debug_mode()
    try:
        dataset = tf.data.Dataset.range(3).map(twice, num_parallel_calls=2).prefetch(2)
        assert [int(x) for x in dataset] == [0, 2, 4] and dataset.element_spec.shape == []
        assert seen == [0, 1, 2]
    finally:
        functions._debugging = False  # noqa: SLF001
