"""disk_programs.py FOLDER: lets every operation on files of some programs fail in turn (under faulty_disk.c), and looks
what is there afterwards. Prints how many faults there were of each kind; what does not hold is an exception."""

import ctypes
import os
import pathlib
import shutil
import sys
from collections.abc import Callable

import numpy as np

if hasattr(os, "RTLD_DEEPBIND"):
    del os.RTLD_DEEPBIND  # with it the engine would not see what was preloaded
import emplace as tf  # noqa: E402

KINDS = {"EIO": 1, "ENOSPC": 2, "short": 3}
MOST = 400  # operations of a program: far more than any makes
SAID = (tf.errors.OpError, OSError, ValueError, RuntimeError)
disk = ctypes.CDLL(None)
folder = pathlib.Path(sys.argv[1])


def newest(place: pathlib.Path) -> float | None:
    path = tf.train.latest_checkpoint(str(place))
    if path is None:
        return None
    got = tf.train.load_checkpoint(path).get_tensor("v/.ATTRIBUTES/VARIABLE_VALUE")
    assert len(set(got.tolist())) == 1, got
    return float(got[0])


def save(place: pathlib.Path) -> Callable[[], None]:
    v = tf.Variable(np.zeros(5000, np.float32))
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=v), str(place), max_to_keep=2)
    v.assign(np.full(5000, 1, np.float32))
    manager.save()

    def run() -> None:
        v.assign(np.full(5000, 2, np.float32))
        manager.save()

    return run


def check_saved(place: pathlib.Path, failed: bool) -> None:
    assert newest(place) in ((1.0, 2.0) if failed else (2.0,)), newest(place)


def load(place: pathlib.Path) -> Callable[[], None]:
    path = tf.train.Checkpoint(v=tf.Variable(np.full(5000, 3, np.float32))).write(str(place / "c"))

    def run() -> None:
        v = tf.Variable(np.zeros(5000, np.float32))
        tf.train.Checkpoint(v=v).read(path).assert_consumed()
        assert v.numpy().tolist() == [3.0] * 5000

    return run


def nothing_to_check(place: pathlib.Path, failed: bool) -> None:
    pass


RECORDS = [bytes([i]) * 1000 * i for i in range(40)]


def write_records(place: pathlib.Path) -> Callable[[], None]:
    def run() -> None:
        with tf.io.TFRecordWriter(str(place / "r")) as writer:
            for r in RECORDS:
                writer.write(r)

    return run


def check_records(place: pathlib.Path, failed: bool) -> None:
    if not failed:
        assert [r.numpy() for r in tf.data.TFRecordDataset(str(place / "r"))] == RECORDS


def read_records(place: pathlib.Path) -> Callable[[], None]:
    write_records(place)()

    def run() -> None:
        assert [r.numpy() for r in tf.data.TFRecordDataset(str(place / "r"))] == RECORDS

    return run


def write_and_read_text(place: pathlib.Path) -> Callable[[], None]:
    def run() -> None:
        tf.io.write_file(str(place / "t"), "text" * 5000)
        assert tf.io.read_file(str(place / "t")).numpy() == b"text" * 5000

    return run


PROGRAMS = [(save, check_saved), (load, nothing_to_check), (write_records, check_records),
            (read_records, nothing_to_check), (write_and_read_text, nothing_to_check)]  # fmt: skip

for prepare, check in PROGRAMS:
    for kind, number in KINDS.items():
        count = 0
        while count < MOST:
            place = folder / "below"
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
            run = prepare(place)
            disk.faulty_disk_arm(str(place).encode(), number, ctypes.c_long(count))
            failed = False
            try:
                run()
            except SAID:
                failed = True
            done = disk.faulty_disk_count()
            disk.faulty_disk_arm(b"", 0, ctypes.c_long(-1))
            try:
                assert not (failed and kind == "short"), "what was written in part is to be written on"
                check(place, failed)
            except Exception as error:
                raise AssertionError(f"{prepare.__name__}, {kind} at operation {count}: {error!r}") from error
            if done <= count:
                break
            count += 1
        print(prepare.__name__, kind, count, flush=True)
        assert 0 < count < MOST
