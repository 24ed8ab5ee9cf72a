"""Iterators in checkpoints: they go on where they were, buffers included."""

import pathlib
from typing import Any, Callable

import pytest

tf = pytest.importorskip("emplace")

_R = tf.data.Dataset.range

PIPELINES: dict[str, Callable[[], Any]] = {
    "shuffle": lambda: _R(60).shuffle(20, seed=3).repeat(2),
    "shuffle anew": lambda: _R(30).shuffle(8).map(lambda x: -x),
    "threads": lambda: _R(60).map(lambda x: x + 1, num_parallel_calls=3).batch(3).prefetch(2),
    "interleave": lambda: _R(6).interleave(lambda x: _R(5).map(lambda y: 10 * x + y), cycle_length=3, num_parallel_calls=2),
    "windows": lambda: _R(20).window(3).flat_map(lambda w: w.batch(2)),
    "windows in a buffer": lambda: _R(40).window(3).shuffle(4, seed=1).flat_map(lambda w: w.batch(3)),
    "groups": lambda: _R(20).group_by_window(lambda x: x % 3, lambda k, d: d.batch(3), 4),
    "state": lambda: _R(20).scan(tf.constant(0, tf.int64), lambda s, x: (s + x, s)),
    "ragged": lambda: tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[1], [2, 3], [], [4, 5, 6], [7]])).shuffle(3, seed=2),
    "sparse": lambda: _R(8).map(lambda x: tf.sparse.from_dense([x, 0, 2])).shuffle(4, seed=5),
    "text": lambda: tf.data.Dataset.from_tensor_slices(["a", "bc", "", "d", "é"]).shuffle(3, seed=4),
    "cache": lambda: _R(10).cache().repeat(3).skip(1),
    "unique": lambda: _R(20).map(lambda x: x % 7).unique(),
    "choice": lambda: tf.data.Dataset.sample_from_datasets([_R(20), _R(100, 120)], seed=3),
    "padded": lambda: _R(12).map(lambda x: tf.fill([x % 4], x)).padded_batch(2),
}


def _told(x: Any) -> str:
    if isinstance(x, tf.SparseTensor):
        return str(tf.sparse.to_dense(x).numpy().tolist())
    return str(x.to_list() if hasattr(x, "to_list") else x.numpy())


def _rest(it: Any, count: int = 100) -> list[str]:
    return [_told(x) for _, x in zip(range(count), it)]


@pytest.mark.parametrize("name", PIPELINES)
def test_an_iterator_goes_on_where_it_was(name: str, tmp_path: pathlib.Path) -> None:
    d = PIPELINES[name]()
    it = iter(d)
    _rest(it, 2)
    path = tf.train.Checkpoint(iterator=it, step=tf.Variable(7)).save(tmp_path / "ck")
    rest = _rest(it)
    assert len(rest) > 1
    tf.train.Checkpoint(iterator=it, step=tf.Variable(0)).restore(path).assert_consumed()
    assert _rest(it) == rest
    other, step = iter(d), tf.Variable(0)
    tf.train.Checkpoint(iterator=other, step=step).restore(path)
    assert _rest(other) == rest and int(step) == 7


def test_a_name_in_the_checkpoint_is_tensorflows(tmp_path: pathlib.Path) -> None:
    path = tf.train.Checkpoint(iterator=iter(_R(3))).write(tmp_path / "ck")
    assert "iterator/.ATTRIBUTES/ITERATOR_STATE" in dict(tf.train.list_variables(path))


def test_what_has_state_outside_is_refused_unless_one_says_otherwise(tmp_path: pathlib.Path) -> None:
    d = _R(9).map(lambda x: tf.py_function(lambda v: v + 1, [x], tf.int64))
    with pytest.raises(tf.errors.FailedPreconditionError, match="EagerPyFunc is stateful"):
        tf.train.Checkpoint(iterator=iter(d)).write(tmp_path / "a")
    options = tf.data.Options()
    options.experimental_external_state_policy = tf.data.experimental.ExternalStatePolicy.IGNORE
    it = iter(d.with_options(options))
    next(it)
    checkpoint = tf.train.Checkpoint(iterator=it)
    path = checkpoint.write(tmp_path / "b")
    rest = _rest(it)
    checkpoint.read(path)
    assert _rest(it) == rest == [str(i) for i in range(2, 10)]


def test_arrays_have_iterators_with_a_place_too(tmp_path: pathlib.Path) -> None:
    it = _R(5).as_numpy_iterator()
    next(it)
    state = it.save()
    assert list(it) == [1, 2, 3, 4]
    it.restore(state)
    assert list(it) == [1, 2, 3, 4]


def test_a_graphs_saver_saves_iterators(tmp_path: pathlib.Path) -> None:
    v1 = tf.compat.v1
    with v1.Graph().as_default(), v1.Session() as sess:
        it = v1.data.make_initializable_iterator(v1.data.Dataset.range(30).shuffle(10, seed=2))
        element, w = it.get_next(), v1.get_variable("w", initializer=1.0)
        v1.add_to_collection(v1.GraphKeys.SAVEABLE_OBJECTS, tf.data.experimental.make_saveable_from_iterator(it))
        saver = v1.train.Saver()
        sess.run([it.initializer, w.initializer])
        sess.run([element] * 1)
        path = saver.save(sess, str(tmp_path / "ck"))
        rest = [int(sess.run(element)) for _ in range(29)]
        saver.restore(sess, path)
        assert [int(sess.run(element)) for _ in range(29)] == rest
        with pytest.raises(ValueError, match="ExternalStatePolicy"):
            tf.data.experimental.make_saveable_from_iterator(it, "perhaps")


def _slowly(x: Any) -> Any:
    ones = tf.ones([200, 200])
    return x + tf.cast(0 * tf.reduce_sum(tf.matmul(ones, ones * tf.cast(x, tf.float32))), tf.int64)


@pytest.mark.parametrize("threads", [1, 2])
def test_sources_that_nobody_has_opened_yet_come_later(threads: int, tmp_path: pathlib.Path) -> None:
    d = _R(6).interleave(lambda x: _R(5).map(lambda y: _slowly(10 * x + y)), cycle_length=3, num_parallel_calls=threads)
    for taken in [1, 2, 3, 5] * 4:
        it = iter(d)
        _rest(it, taken)
        path = tf.train.Checkpoint(iterator=it).write(tmp_path / "ck")
        rest = _rest(it)
        tf.train.Checkpoint(iterator=it).read(path)
        assert _rest(it) == rest
