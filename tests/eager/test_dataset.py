"""tf.data beyond the everyday: windows, groups, padding, interleaving."""

import pytest

tf = pytest.importorskip("emplace")


def _list(d: "tf.data.Dataset") -> list:
    return [a.tolist() for a in d.as_numpy_iterator()]


def test_windows_are_datasets() -> None:
    d = tf.data.Dataset.range(7).window(3, shift=2, drop_remainder=True)
    assert [_list(w) for w in d] == [[0, 1, 2], [2, 3, 4], [4, 5, 6]]
    pairs = tf.data.Dataset.zip((tf.data.Dataset.range(4), tf.data.Dataset.range(4, 8))).window(2)
    assert [(_list(a), _list(b)) for a, b in pairs] == [([0, 1], [4, 5]), ([2, 3], [6, 7])]


def test_ragged_and_sparse_features_are_parsed_in_maps() -> None:
    feature = tf.train.Feature
    values, rows = feature(float_list=tf.train.FloatList(value=[1.0, 2.0, 3.0])), feature(int64_list=tf.train.Int64List(value=[1, 2]))
    text = tf.train.Example(features=tf.train.Features(feature={"v": values, "r": rows})).SerializeToString()
    part = tf.io.RaggedFeature.RowLengths("r")
    spec = {
        "s": tf.io.VarLenFeature(tf.int64), "v": tf.io.RaggedFeature(tf.float32),
        "w": tf.io.RaggedFeature(tf.float32, value_key="v", partitions=[part]), "r": tf.io.VarLenFeature(tf.int64),
    }
    texts = tf.data.Dataset.from_tensors(text)
    (row,) = texts.map(lambda t: tf.io.parse_single_example(t, spec))
    assert tf.sparse.to_dense(row["r"]).numpy().tolist() == [1, 2]
    assert row["v"].numpy().tolist() == [1.0, 2.0, 3.0] and row["w"].to_list() == [[1.0], [2.0, 3.0]]
    (batch,) = texts.repeat(2).batch(2).map(lambda t: tf.io.parse_example(t, {"v": spec["v"]}))
    assert batch["v"].to_list() == [[1.0, 2.0, 3.0]] * 2


def _example(**lists: list) -> bytes:
    feature, floats, whole = tf.train.Feature, tf.train.FloatList, tf.train.Int64List
    made = {k: feature(float_list=floats(value=v)) if k == "v" else feature(int64_list=whole(value=v)) for k, v in lists.items()}
    return tf.train.Example(features=tf.train.Features(feature=made)).SerializeToString()


def test_rows_within_rows_of_batches_are_parsed_in_maps() -> None:
    texts = tf.data.Dataset.from_tensor_slices([
        _example(v=[1.0, 2.0, 3.0], n=[1, 2], outer=[1, 1], splits=[0, 1, 3], starts=[0, 1], limits=[1, 3], ids=[0, 1, 1]),
        _example(v=[], n=[0], outer=[1], splits=[0, 0], starts=[0], limits=[0], ids=[]),
        _example(v=[4.0, 5.0], n=[1, 1, 0], outer=[2, 1], splits=[0, 1, 2, 2], starts=[0, 1, 2], limits=[1, 2, 2], ids=[0, 2]),
    ]).batch(3)  # fmt: skip
    kind = tf.io.RaggedFeature
    alike = [[[1.0], [2.0, 3.0]], [[]], [[4.0], [5.0], []]]
    nested = [[[[1.0]], [[2.0, 3.0]]], [[[]]], [[[4.0], [5.0]], [[]]]]
    for parts, expected in (
        ([kind.RowLengths("n")], alike), ([kind.RowSplits("splits")], alike), ([kind.RowStarts("starts")], alike),
        ([kind.RowLimits("limits")], alike), ([kind.ValueRowIds("ids")], [[[1.0], [2.0, 3.0]], [], [[4.0], [], [5.0]]]),
        ([kind.UniformRowLength(1)], [[[1.0], [2.0], [3.0]], [], [[4.0], [5.0]]]),
        ([kind.RowLengths("outer"), kind.RowStarts("starts")], nested),
    ):  # fmt: skip
        spec = {"w": kind(tf.float32, value_key="v", partitions=parts)}
        (found,) = texts.map(lambda t: tf.io.parse_example(t, spec)["w"])
        assert found.to_list() == expected


def test_padded_batches() -> None:
    d = tf.data.Dataset.range(1, 4).map(lambda x: tf.fill([x], x))
    assert _list(d.padded_batch(2)) == [[[1, 0], [2, 2]], [[3, 3, 3]]]
    filled = _list(d.padded_batch(2, padded_shapes=4, padding_values=-1))
    assert filled[0] == [[1, -1, -1, -1], [2, 2, -1, -1]]
    with pytest.raises(tf.errors.DataLossError):
        _list(d.padded_batch(3, padded_shapes=2))


def test_interleaving_in_blocks() -> None:
    d = tf.data.Dataset.range(1, 4).interleave(
        lambda x: tf.data.Dataset.from_tensors(x).repeat(3), cycle_length=2, block_length=2
    )
    assert _list(d) == [1, 1, 2, 2, 1, 2, 3, 3, 3]


def test_shards_and_rebatching() -> None:
    d = tf.data.Dataset.range(10)
    assert _list(d.shard(3, 1)) == [1, 4, 7] and len(d.shard(3, 1)) == 3
    assert _list(d.batch(4).rebatch(3)) == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9]]
    with pytest.raises(tf.errors.InvalidArgumentError):
        d.shard(3, 3)


def test_groups_by_window() -> None:
    d = tf.data.Dataset.range(6).group_by_window(
        lambda x: x % 2, lambda key, group: group.batch(2), window_size=2
    )
    assert _list(d) == [[0, 2], [1, 3], [4], [5]]


def test_errors_can_be_left_out() -> None:
    d = tf.data.Dataset.from_tensor_slices([1.0, 2.0, 0.0, 4.0])
    d = d.map(lambda x: tf.debugging.check_numerics(1.0 / x, "error")).ignore_errors()
    assert _list(d) == [1.0, 0.5, 0.25]


def test_an_iterator_ends_with_out_of_range() -> None:
    it = iter(tf.data.Dataset.range(1))
    assert it.get_next().numpy() == 0
    with pytest.raises(tf.errors.OutOfRangeError):
        it.get_next()


def test_counters_scans_and_more() -> None:
    count = tf.data.Dataset.counter(start=2, step=5).take(3)
    assert _list(count) == [2, 7, 12]
    assert _list(count.scan(0, lambda s, x: (s + tf.cast(x, tf.int32), s))) == [0, 2, 9]
    assert _list(count.take_while(lambda x: x < 10)) == [2, 7]
    assert _list(tf.data.Dataset.from_tensor_slices([1, 2, 1]).unique()) == [1, 2]
    assert count.take(1).get_single_element().numpy() == 2


def test_an_iterator_goes_on_after_a_failure():
    items = iter(tf.data.Dataset.range(4).map(lambda x: tf.debugging.check_numerics(1.0 / tf.cast(x - 1, tf.float32), "cn")).repeat(1).take(9))
    seen = []
    for _ in range(4):
        try:
            seen.append(float(next(items)))
        except tf.errors.InvalidArgumentError:
            seen.append("wrong")
    assert seen == [-1.0, "wrong", 1.0, 0.5]


def test_older_names_of_specs() -> None:
    e = tf.compat.v1.data.experimental
    assert e.TensorStructure(tf.int32, [2]) == tf.TensorSpec([2], tf.int32)
    assert e.SparseTensorStructure(tf.int32, [2]) == tf.SparseTensorSpec([2], tf.int32)
    assert e.RaggedTensorStructure(tf.int32, [None, None], 1) == tf.RaggedTensorSpec([None, None], tf.int32, 1)
    assert isinstance(e.TensorStructure(tf.int32, [2]), e.Structure)


def test_random_numbers_of_a_map_begin_anew_in_each_branch() -> None:
    m = tf.data.Dataset.range(3).map(lambda x: x + tf.random.uniform([], 0, 10**6, tf.int64, seed=3))
    alone = _list(m)
    assert _list(m.concatenate(m)) == alone * 2 and _list(m.repeat(2))[:3] == alone != _list(m.repeat(2))[3:]
    assert [(int(a), int(b)) for a, b in tf.data.Dataset.zip((m, m))] == list(zip(alone, alone))
    many = tf.data.Dataset.range(3).map(lambda x: x + tf.random.uniform([], 0, 10**6, tf.int64, seed=3), num_parallel_calls=1)
    assert _list(many.concatenate(many).prefetch(1)) == _list(many) * 2
