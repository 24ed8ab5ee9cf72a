"""`tf.data.Options`: each field means what it says, or is refused; and the report of where the time goes."""

import threading
import time
from typing import Any

import pytest

tf = pytest.importorskip("emplace")


def _with(d: Any, **fields: Any) -> Any:
    options = tf.data.Options()
    for path, value in fields.items():
        owner = options
        *parents, name = path.split("__")
        for parent in parents:
            owner = getattr(owner, parent)
        setattr(owner, name, value)
    return d.with_options(options)


def _slow(d: Any, most: list[int], **how: Any) -> Any:
    """A map that sleeps, and notes in `most` how many calls there were at once."""
    lock, now = threading.Lock(), [0]

    def sleep(x: Any) -> Any:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        time.sleep(0.003)
        with lock:
            now[0] -= 1
        return x

    return d.map(lambda x: tf.py_function(sleep, [x], tf.int64), **how)


@pytest.mark.parametrize(
    "path, value",
    [
        ("experimental_slack", True), ("experimental_symbolic_checkpoint", True), ("experimental_service__pinned", True),
        ("experimental_distribute__num_devices", 2), ("experimental_optimization__map_fusion", True),
        ("experimental_optimization__filter_fusion", True), ("experimental_optimization__map_and_batch_fusion", True),
        ("experimental_optimization__map_and_filter_fusion", True), ("experimental_optimization__shuffle_and_repeat_fusion", True),
        ("experimental_optimization__seq_interleave_prefetch", True),
        ("autotune__autotune_algorithm", tf.data.experimental.AutotuneAlgorithm.GRADIENT_DESCENT),
        ("autotune__autotune_algorithm", tf.data.experimental.AutotuneAlgorithm.STAGE_BASED),
    ],
)  # fmt: skip
def test_what_is_not_supported_is_refused(path: str, value: Any) -> None:
    with pytest.raises(tf.errors.UnimplementedError, match=path.rpartition("__")[2]):
        _with(tf.data.Dataset.range(3), **{path: value})


@pytest.mark.parametrize("word", ["experimental_slack", "experimental_symbolic_checkpoint", "experimental_optimization__map_fusion"])
def test_saying_no_to_it_is_well(word: str) -> None:
    assert [int(x) for x in _with(tf.data.Dataset.range(3), **{word: False})] == [0, 1, 2]


def test_a_stage_that_sleeps_gets_more_threads_than_one_that_does_little() -> None:
    most = [0]
    d = _slow(tf.data.Dataset.range(150), most, num_parallel_calls=tf.data.AUTOTUNE)
    d = _with(d.map(lambda x: x + 1, num_parallel_calls=tf.data.AUTOTUNE), autotune__cpu_budget=1)
    assert [int(x) for x in d] == list(range(1, 151))
    cheap, slow, source = d.report().stages
    assert (slow.op, slow.elements, source.elements) == ("ParallelMapDatasetV2", 150, 150)
    assert cheap.threads <= 2 < slow.threads and most[0] > 2


def test_how_many_threads_there_are_at_first() -> None:
    d = _slow(tf.data.Dataset.range(3), [0], num_parallel_calls=tf.data.AUTOTUNE)
    for fields, threads in (({"autotune__initial_parallelism": 5}, 5), ({"autotune__min_parallelism": 6}, 6)):
        made = _with(d, autotune__enabled=True, **fields)
        next(iter(made))
        assert made.report().stages[0].threads == threads
    fixed = _with(d, autotune__enabled=False, autotune__cpu_budget=3)
    next(iter(fixed))
    assert fixed.report().stages[0].threads == 3 and not fixed.report().stages[0].adapts
    all_at_once = _with(d, autotune__autotune_algorithm=tf.data.experimental.AutotuneAlgorithm.MAX_PARALLELISM, autotune__cpu_budget=4)
    next(iter(all_at_once))
    assert all_at_once.report().stages[0].threads == 4


def test_a_private_pool_has_so_many_threads_for_functions() -> None:
    most = [0]
    d = _slow(_slow(tf.data.Dataset.range(40), most, num_parallel_calls=8), most, num_parallel_calls=8)
    assert len(list(_with(d, threading__private_threadpool_size=2))) == 40
    assert 1 <= most[0] <= 2


def test_buffers_stay_within_the_budget() -> None:
    d = tf.data.Dataset.range(200).map(lambda x: tf.zeros([1000]), num_parallel_calls=4).prefetch(tf.data.AUTOTUNE)
    d = _with(d, autotune__ram_budget=20_000)
    for i, _ in enumerate(it := iter(d)):
        if i % 20 == 0:
            time.sleep(0.002)  # elements gather, were there room
        assert it.report()["PrefetchDataset"].buffered_bytes <= 20_000
    assert it.report().ram_budget == 20_000


def test_rewrites_that_are_asked_for() -> None:
    d = tf.data.Dataset.range(10).map(lambda x: x * 3).filter(lambda x: x % 2 == 0).batch(2)
    names = ("map_parallelization", "filter_parallelization", "parallel_batch", "inject_prefetch")
    made = _with(d, **{f"experimental_optimization__{n}": True for n in names})
    assert [x.tolist() for x in made.as_numpy_iterator()] == [[0, 6], [12, 18], [24]]
    assert [(s.op, s.threads > 0) for s in made.report().stages] == [
        ("PrefetchDataset", True), ("BatchDatasetV2", True), ("FilterDataset", True), ("MapDataset", True), ("RangeDataset", False),
    ]  # fmt: skip
    state = tf.Variable(0, dtype=tf.int64)
    counted = _with(tf.data.Dataset.range(4).map(lambda x: state.assign_add(x)), experimental_optimization__map_parallelization=True)
    assert [int(x) for x in counted] == [0, 1, 3, 6] and counted.report()["MapDataset"].threads == 0


def test_a_warm_start_begins_before_the_first_element_is_asked_for() -> None:
    begun = threading.Event()
    d = tf.data.Dataset.range(3).map(lambda x: tf.py_function(lambda v: (begun.set(), v)[1], [x], tf.int64)).prefetch(1)
    it = iter(_with(d, experimental_warm_start=True))
    assert begun.wait(60)
    assert [int(x) for x in it] == [0, 1, 2]


def test_an_operation_of_a_map_stays_on_its_thread() -> None:
    d = tf.data.Dataset.from_tensors(tf.ones([400, 400])).repeat(3).map(lambda x: tf.reduce_sum(x @ x))
    made = _with(d, threading__max_intra_op_parallelism=1)
    assert [float(x) for x in made] == [float(x) for x in d]


def test_the_report_is_a_table() -> None:
    d = _with(tf.data.Dataset.range(6).map(lambda x: x + 1).prefetch(2), dataset_name="numbers")
    assert d.report().stages == []
    assert len(list(d)) == 6
    report = d.report()
    assert report.name == "numbers" and [s.elements for s in report.stages] == [6, 6, 6]
    assert report["MapDataset"].inputs == (2,) and report["PrefetchDataset"].threads == 1
    assert repr(report).splitlines()[0].split()[:2] == ["stage", "elements"] and len(repr(report).splitlines()) == 4


def test_the_model_of_an_iterator() -> None:
    it = iter(tf.data.Dataset.range(5).batch(2))
    next(it)
    model = tf.data.experimental.get_model_proto(it)
    assert [(model.nodes[i].name, model.nodes[i].num_elements) for i in sorted(model.nodes)] == [("BatchDatasetV2", 1), ("RangeDataset", 2)]
    with pytest.raises(ValueError, match="Iterator"):
        tf.data.experimental.get_model_proto(3)
