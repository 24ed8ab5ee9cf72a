"""tf.data.experimental.service: pipelines run by servers of this process and of others."""

import pathlib
import subprocess
import sys
import threading
from typing import Any

import pytest

import emplace as tf
from emplace.eager import context

S = tf.data.experimental.service
Dataset = tf.data.Dataset


@pytest.fixture(autouse=True)
def eager() -> Any:
    """Whatever face of the package the process met first."""
    with context.eager_mode():
        yield


class Service:
    """A dispatcher with workers, in this process."""

    def __init__(self, workers: int = 1, **config: Any) -> None:
        self.dispatcher = S.DispatchServer(S.DispatcherConfig(**config))
        self.target = self.dispatcher.target
        self.workers = [self.worker() for _ in range(workers)]

    def worker(self, **config: Any) -> Any:
        return S.WorkerServer(S.WorkerConfig(dispatcher_address=self.target.split("://")[1], **config))

    def runs(self, dataset: Any, mode: Any = "parallel_epochs", **how: Any) -> Any:
        return dataset.apply(S.distribute(mode, self.target, **how))

    def stop(self) -> None:
        for server in (*self.workers, self.dispatcher):
            server.stop()


@pytest.fixture
def service() -> Any:
    made = Service(2)
    yield made
    made.stop()


def numbers(dataset: Any) -> list[int]:
    return sorted(int(x) for x in dataset.as_numpy_iterator())


def test_each_worker_gives_the_whole(service: Service) -> None:
    assert numbers(service.runs(Dataset.range(4))) == [0, 0, 1, 1, 2, 2, 3, 3]
    assert service.dispatcher._num_workers() == 2  # noqa: SLF001


def test_one_worker_keeps_the_order() -> None:
    alone = Service(1)
    assert [int(x) for x in alone.runs(Dataset.range(100).map(lambda x: x * 2))] == list(range(0, 200, 2))
    alone.stop()


def test_workers_share_the_elements_out(service: Service) -> None:
    dataset = Dataset.range(50).map(lambda x: x * 2)
    assert numbers(service.runs(dataset, "distributed_epoch")) == list(range(0, 100, 2))
    assert numbers(service.runs(dataset.repeat(2), S.ShardingPolicy.DYNAMIC)) == sorted([*range(0, 100, 2)] * 2)
    both = Dataset.range(5).concatenate(Dataset.range(10, 13))
    assert numbers(service.runs(both, "distributed_epoch")) == [0, 1, 2, 3, 4, 10, 11, 12]
    records = tf.raw_ops.TFRecordDataset(filenames=["x"], compression_type="", buffer_size=0)
    unshared = tf.data.experimental.from_variant(records, tf.TensorSpec([], tf.string))
    with pytest.raises(tf.errors.UnimplementedError, match="Cannot create split providers"):
        numbers(service.runs(unshared, "distributed_epoch"))


def test_each_time_anew(service: Service) -> None:
    dataset = service.runs(Dataset.range(5), "distributed_epoch")
    assert [numbers(dataset) for _ in range(3)] == [[0, 1, 2, 3, 4]] * 3
    assert numbers(dataset.repeat(2)) == sorted([0, 1, 2, 3, 4] * 2)
    assert numbers(dataset.map(lambda x: x + 1)) == [1, 2, 3, 4, 5]


def test_readers_of_one_job_share_it(service: Service) -> None:
    make = lambda: service.runs(Dataset.range(200), "distributed_epoch", job_name="one")  # noqa: E731
    got: list[int] = []
    readers = [threading.Thread(target=lambda: got.extend(int(x) for x in make())) for _ in range(3)]
    for r in readers:
        r.start()
    for r in readers:
        r.join()
    assert sorted(got) == list(range(200))
    assert numbers(make()) == [], "whoever comes later finds the job at its end"
    with pytest.raises(tf.errors.InvalidArgumentError, match="existing job with different parameters"):
        numbers(service.runs(Dataset.range(200), "parallel_epochs", job_name="one"))


def test_consumers_read_in_rounds(service: Service) -> None:
    batches = Dataset.range(1000).repeat().batch(3)
    consumers = [iter(service.runs(batches, job_name="rounds", consumer_index=i, num_consumers=2)) for i in range(2)]
    rounds = [[next(c).numpy().tolist() for c in consumers] for _ in range(6)]
    # Each worker has its turn, and gives neighbours to the consumers.
    assert rounds == [[[k, k + 1, k + 2], [k + 3, k + 4, k + 5]] for k in (0, 0, 6, 6, 12, 12)]
    with pytest.raises(tf.errors.FailedPreconditionError, match="infinite cardinality"):
        numbers(service.runs(Dataset.range(3), job_name="finite", consumer_index=0, num_consumers=1))
    with pytest.raises(ValueError, match="`job_name` must be set"):
        service.runs(batches, consumer_index=0, num_consumers=1)


def test_shares_that_stand_beforehand(tmp_path: pathlib.Path) -> None:
    for i in range(4):
        with tf.io.TFRecordWriter(str(tmp_path / f"{i}.records")) as writer:
            for k in range(3):
                writer.write(str(10 * i + k).encode())
    fixed = Service(0, worker_addresses=["localhost:%port%", "localhost"])
    fixed.workers = [fixed.worker() for _ in range(2)]
    files = Dataset.list_files(str(tmp_path / "*.records"), shuffle=False).flat_map(tf.data.TFRecordDataset).map(tf.strings.to_number)
    everything = [10 * i + k for i in range(4) for k in range(3)]
    for policy in ("FILE", "DATA", "FILE_OR_DATA"):
        assert numbers(fixed.runs(files, S.ShardingPolicy[policy])) == everything
    hinted = Dataset.range(9).shard(tf.data.experimental.SHARD_HINT, tf.data.experimental.SHARD_HINT)
    assert numbers(fixed.runs(hinted, S.ShardingPolicy.HINT)) == list(range(9))
    with pytest.raises(tf.errors.FailedPreconditionError, match="SHARD_HINT"):
        numbers(hinted)
    with pytest.raises(tf.errors.NotFoundError, match="unshardable"):
        numbers(fixed.runs(Dataset.range(9), S.ShardingPolicy.FILE))
    with pytest.raises(tf.errors.FailedPreconditionError, match="no place for it"):
        fixed.worker()
    fixed.stop()


def test_static_shares_need_to_know_the_workers(service: Service) -> None:
    with pytest.raises(tf.errors.NotFoundError, match="worker_addresses"):
        numbers(service.runs(Dataset.range(9), S.ShardingPolicy.DATA))


def test_registered_once_read_by_its_id(service: Service) -> None:
    dataset = Dataset.range(5).map(lambda x: {"x": x, "words": tf.strings.as_string(x)})
    given = S.register_dataset(service.target, dataset)
    assert given.dtype == tf.string
    read = S.from_dataset_id("distributed_epoch", service.target, given)
    assert read.element_spec == dataset.element_spec
    assert sorted(e["words"] for e in read.as_numpy_iterator()) == [b"0", b"1", b"2", b"3", b"4"]
    assert S.register_dataset(service.target, Dataset.range(5), dataset_id="mine").numpy() == b"mine"
    assert numbers(S.from_dataset_id("distributed_epoch", service.target, "mine")) == [0, 1, 2, 3, 4]
    with pytest.raises(tf.errors.InvalidArgumentError, match="same structure"):
        S.register_dataset(service.target, Dataset.range(5).batch(2), dataset_id="mine")
    with pytest.raises(ValueError, match="Failed to fetch element spec"):
        S.from_dataset_id("distributed_epoch", service.target, "nobody's")
    with pytest.raises(tf.errors.NotFoundError, match="not found"):
        numbers(S.from_dataset_id("distributed_epoch", service.target, "nobody's", element_spec=tf.TensorSpec([], tf.int64)))


def test_elements_of_any_kind(service: Service) -> None:
    ragged, sparse = tf.ragged.constant([[1], [2, 3]]), tf.sparse.from_dense([0, 3])
    for compression in ("AUTO", "SNAPPY", None):
        (got,) = service.runs(Dataset.from_tensors((ragged, sparse, "x", tf.zeros([300, 300]))), "distributed_epoch", compression=compression)
        assert got[0].to_list() == [[1], [2, 3]]
        assert tf.sparse.to_dense(got[1]).numpy().tolist() == [0, 3]
        assert got[2].numpy() == b"x" and got[3].shape == [300, 300]


def test_what_functions_need_goes_along(service: Service) -> None:
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer([0, 1], [10, 11], tf.int64, tf.int64), -1)
    added = tf.Variable(5, dtype=tf.int64)
    assert numbers(service.runs(Dataset.range(3).map(table.lookup), "distributed_epoch")) == [-1, 10, 11]
    assert numbers(service.runs(Dataset.range(3).map(lambda x: x + added), "distributed_epoch")) == [5, 6, 7]
    shuffled = Dataset.range(30).shuffle(10, seed=1).cache()
    assert numbers(service.runs(shuffled, "distributed_epoch")) == list(range(30))
    stateful = tf.data.Options()
    stateful.experimental_external_state_policy = tf.data.experimental.ExternalStatePolicy.FAIL
    with pytest.raises(tf.errors.FailedPreconditionError, match="is stateful"):
        service.runs(Dataset.range(3).map(lambda x: x + added).with_options(stateful))


def test_an_element_that_fails_is_told(service: Service) -> None:
    dataset = Dataset.range(4).map(lambda x: tf.debugging.check_numerics(1 / tf.cast(x - 2, tf.float32), "bad"))
    read = iter(service.runs(dataset, "distributed_epoch"))
    got, failed = [], 0
    while True:
        try:
            got.append(float(next(read)))
        except StopIteration:
            break
        except tf.errors.InvalidArgumentError as e:
            assert "bad" in str(e)
            failed += 1
    assert sorted(got) == [-1.0, -0.5, 1.0] and failed == 1


def test_in_a_function(service: Service) -> None:
    dataset = service.runs(Dataset.range(5), "distributed_epoch")

    @tf.function
    def total() -> Any:
        made = tf.constant(0, tf.int64)
        for x in dataset:
            made += x
        return made

    assert int(total()) == 10


def test_endless_ones_end_with_their_reader(service: Service) -> None:
    for _ in range(3):
        assert len(numbers(service.runs(Dataset.range(3).repeat()).take(7))) == 7
    dataset = service.runs(Dataset.range(3).repeat())
    assert int(dataset.cardinality()) == tf.data.INFINITE_CARDINALITY
    assert int(service.runs(Dataset.range(3)).cardinality()) == tf.data.UNKNOWN_CARDINALITY


def test_words_that_are_wrong(service: Service) -> None:
    for refused in (
        lambda: S.distribute("nonsense", service.target),
        lambda: S.distribute("parallel_epochs", service.target, job_name=""),
        lambda: S.distribute("parallel_epochs", service.target, compression="foo"),
        lambda: Dataset.range(3).apply(S.distribute("parallel_epochs", "")),
        lambda: S.CrossTrainerCache(""),
        lambda: S.WorkerServer(S.WorkerConfig(dispatcher_address=None)),
        lambda: S.DispatchServer(S.DispatcherConfig(fault_tolerant_mode=True)),
    ):
        with pytest.raises(ValueError):
            refused()
    with pytest.raises(tf.errors.UnimplementedError, match="cross_trainer_cache"):
        numbers(service.runs(Dataset.range(3).repeat(), job_name="c", cross_trainer_cache=S.CrossTrainerCache("me")).take(1))
    with pytest.raises(tf.errors.UnimplementedError, match="fault_tolerant_mode"):
        S.DispatchServer(S.DispatcherConfig(fault_tolerant_mode=True, work_dir="x"))
    with pytest.raises(tf.errors.FailedPreconditionError, match="others than you"):
        service.worker(worker_address="example.com:1")


_WORKER = """
import sys
import emplace as tf
service = tf.data.experimental.service
worker = service.WorkerServer(service.WorkerConfig(dispatcher_address=sys.argv[1]))
print("up", flush=True)
worker.join()
"""


def started(target: str) -> Any:
    process = subprocess.Popen([sys.executable, "-c", _WORKER, target.split("://")[1]], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "up\n"
    return process


def test_a_killed_worker_does_not_end_the_job() -> None:
    service = Service(0)
    processes = [started(service.target) for _ in range(2)]
    try:
        read = iter(service.runs(Dataset.range(300), "distributed_epoch", max_outstanding_requests=2))
        got = [int(next(read)) for _ in range(10)]
        processes[0].kill()
        got += [int(x) for x in read]
        assert len(set(got)) == len(got), "no element comes twice"
        assert len(got) > 100, "the other worker goes on"
        processes[1].kill()
        read = iter(service.runs(Dataset.range(5)))
        processes.append(started(service.target))  # comes when the job has begun
        assert sorted(int(x) for x in read) == [0, 1, 2, 3, 4]
    finally:
        for p in processes:
            p.kill()
            p.wait()
        service.stop()


def test_nothing_is_left_behind(service: Service) -> None:
    def open_files() -> int:
        return len(list(pathlib.Path("/proc/self/fd").iterdir()))

    def threads() -> int:
        return len(list(pathlib.Path("/proc/self/task").iterdir()))

    for _ in range(3):
        numbers(service.runs(Dataset.range(5), "distributed_epoch"))
    files, tasks = open_files(), threads()
    for _ in range(20):
        numbers(service.runs(Dataset.range(5), "distributed_epoch"))
    assert open_files() <= files + 8 and threads() <= tasks + 8
