"""Records, examples, serialized tensors, datasets of files."""

import os
import pathlib
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import emplace as tf


@pytest.mark.parametrize("dtype", ["float32", "int8", "complex64", "bool", "string", "bfloat16"])
def test_a_serialized_tensor_comes_back(dtype: str) -> None:
    value = tf.constant([[b"a", b""], [b"b", b"c"]]) if dtype == "string" else tf.cast([[1, 0], [2, 3]], dtype)
    back = tf.io.parse_tensor(tf.io.serialize_tensor(value), value.dtype)
    assert back.dtype == value.dtype and np.array_equal(back.numpy(), value.numpy())


def test_a_serialized_tensor_of_another_dtype_is_refused() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="mismatch"):
        tf.io.parse_tensor(tf.io.serialize_tensor([1.0]), tf.int32)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.io.parse_tensor(b"\xff\xff\xff", tf.int32)


@pytest.mark.parametrize("kind", ["", "GZIP", "ZLIB"])
def test_records_are_read_as_they_were_written(tmp_path: pathlib.Path, kind: str) -> None:
    path = str(tmp_path / "records")
    with tf.io.TFRecordWriter(path, kind) as writer:
        for text in (b"one", b"", b"three" * 1000):
            writer.write(text)
    assert [r.numpy() for r in tf.data.TFRecordDataset(path, kind)] == [b"one", b"", b"three" * 1000]


def test_records_on_a_full_disk_are_refused(tmp_path: pathlib.Path) -> None:
    (tmp_path / "full").symlink_to("/dev/full")
    writer = tf.io.TFRecordWriter(str(tmp_path / "full"))
    with pytest.raises(tf.errors.ResourceExhaustedError, match="full; No space left on device"):
        writer.write(b"x")
        writer.flush()
    with pytest.raises(tf.errors.ResourceExhaustedError):
        writer.close()
    writer.close()


@pytest.mark.parametrize("at", [3, 9, 13, 17])
def test_a_damaged_record_is_found(tmp_path: pathlib.Path, at: int) -> None:
    path = tmp_path / "records"
    with tf.io.TFRecordWriter(str(path)) as writer:
        writer.write(b"hello")
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)
    with pytest.raises(tf.errors.DataLossError):
        list(tf.data.TFRecordDataset(str(path)))


def test_an_example_gives_what_its_features_say() -> None:
    example = tf.train.Example(features=tf.train.Features(feature={
        "n": tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2, 3])),
        "w": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"x"])),
    })).SerializeToString()  # fmt: skip
    found = tf.io.parse_example([example, b""], {
        "n": tf.io.VarLenFeature(tf.int64), "w": tf.io.FixedLenFeature([], tf.string, "none"), "r": tf.io.RaggedFeature(tf.int64, "n"),
    })  # fmt: skip
    assert tf.sparse.to_dense(found["n"]).numpy().tolist() == [[1, 2, 3], [0, 0, 0]]
    assert found["w"].numpy().tolist() == [b"x", b"none"]
    assert found["r"].to_list() == [[1, 2, 3], []]
    with pytest.raises(tf.errors.InvalidArgumentError, match="required"):
        tf.io.parse_single_example(b"", {"w": tf.io.FixedLenFeature([], tf.string)})


def test_a_dataset_is_saved_and_loaded(tmp_path: pathlib.Path) -> None:
    made = tf.data.Dataset.from_tensor_slices({"a": [1, 2, 3], "b": ["x", "y", "z"]})
    made.save(str(tmp_path / "saved"))
    back = tf.data.Dataset.load(str(tmp_path / "saved"))
    assert back.element_spec == made.element_spec
    assert list(back.as_numpy_iterator()) == list(made.as_numpy_iterator())


def test_the_function_of_a_map_is_traced_once() -> None:
    calls = []

    def double(x: object) -> object:
        calls.append(tf.executing_eagerly())
        return x * 2

    assert [int(v) for v in tf.data.Dataset.range(4).map(double)] == [0, 2, 4, 6]
    assert calls == [False]


def test_windows_of_an_endless_dataset() -> None:
    windows = tf.data.Dataset.range(5).repeat().window(3, shift=2)
    assert [[int(v) for v in w] for w in windows.take(3)] == [[0, 1, 2], [2, 3, 4], [4, 0, 1]]
    short = tf.data.Dataset.range(7).window(2, shift=3, drop_remainder=True)
    assert [[int(v) for v in w] for w in short] == [[0, 1], [3, 4]]


def test_new_checkpoints_come_one_by_one(tmp_path: pathlib.Path) -> None:
    made = tf.train.Checkpoint(v=tf.Variable(1.0))
    first = made.save(str(tmp_path / "c"))
    found = tf.train.checkpoints_iterator(str(tmp_path), timeout=0.2)
    assert next(found) == first
    second = made.save(str(tmp_path / "c"))
    assert list(found) == [second]


@pytest.mark.parametrize("mode", ["w", "wb"])
def test_a_file_takes_text_and_bytes_in_every_mode(tmp_path: pathlib.Path, mode: str) -> None:
    with tf.io.gfile.GFile(tmp_path / "f", mode) as f:
        for content in ("aé", b"\r\n\xff", bytearray(b"b")):
            f.write(content)
        for content in (3, None, ["a"], memoryview(b"c")):
            with pytest.raises(TypeError, match="Expected binary or unicode string, got"):
                f.write(content)
    assert (tmp_path / "f").read_bytes() == b"a\xc3\xa9\r\n\xffb"


def test_a_file_is_read_as_it_is_and_by_lines(tmp_path: pathlib.Path) -> None:
    (tmp_path / "f").write_bytes(b"x\r\ny\n")
    assert tf.io.gfile.GFile(tmp_path / "f").read() == "x\r\ny\n"
    assert tf.io.gfile.GFile(tmp_path / "f", "rb").read(2) == b"x\r"
    assert tf.io.gfile.GFile(tmp_path / "f").readlines() == list(tf.io.gfile.GFile(tmp_path / "f")) == ["x\n", "y\n"]


def refused(tmp_path: pathlib.Path) -> dict[str, list[Callable[[], Any]]]:
    there, none = tmp_path / "there", tmp_path / "none"
    there.touch()
    gfile = tf.io.gfile
    return {
        "NotFound: none; No such file or directory": [
            lambda: gfile.GFile(none).read(), lambda: gfile.GFile(none).size(), lambda: gfile.copy(none, there, overwrite=True),
            lambda: gfile.rename(none, tmp_path / "x"), lambda: gfile.remove(none), lambda: gfile.stat(none),
        ],
        "NotFound: none not found": [lambda: gfile.rmtree(none)],
        "FailedPrecondition: .; Is a directory": [
            lambda: gfile.GFile(tmp_path).read(), lambda: gfile.GFile(tmp_path, "w").write("a"), lambda: gfile.remove(tmp_path),
        ],
        "FailedPrecondition: there is not a directory": [lambda: gfile.makedirs(there)],
        "AlreadyExists: file already exists: there": [lambda: gfile.copy(there, there), lambda: gfile.rename(there, there)],
        "PermissionDenied: File isn't open for writing": [lambda: gfile.GFile(there).write("a")],
        "PermissionDenied: File isn't open for reading": [lambda: gfile.GFile(there, "a").read()],
        "InvalidArgument: mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+'": [lambda: gfile.GFile(there, "rw")],
    }  # fmt: skip


def test_what_files_refuse_is_said_as_tensorflow_says_it(tmp_path: pathlib.Path) -> None:
    for expected, calls in refused(tmp_path).items():
        for call in calls:
            with pytest.raises(tf.errors.OpError) as caught:
                call()
            said = f"{type(caught.value).__name__.removesuffix('Error')}: {caught.value.message}"
            assert said.replace(f"{tmp_path}/", "").replace(str(tmp_path), ".") == expected


def test_a_full_disk_is_an_error_of_the_file_s(tmp_path: pathlib.Path) -> None:
    full = tf.io.gfile.GFile("/dev/full", "w")
    full.write("a")
    with pytest.raises(tf.errors.ResourceExhaustedError, match="/dev/full; No space left on device"):
        full.close()


WRITES_ON_A_FULL_DISK = """
import errno, os, resource, sys
import emplace.compat.v1 as tf
folder = sys.argv[1]
v = [tf.get_variable(f"v{i}", initializer=0.0) for i in range(100)]
with tf.device("/cpu:1"):
    w = tf.get_variable("w", initializer=tf.zeros([50]))
savers = [tf.train.Saver(), tf.train.Saver(sharded=True)]
with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
    session.run(tf.global_variables_initializer())
    for size in (100, 1000):  # no room for the data, for the index
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        for write in (
            lambda: tf.train.write_graph(session.graph, folder, "graph"),
            lambda: tf.train.export_meta_graph(folder + "/meta"),
            *(lambda s=s: s.save(session, folder + "/model", write_meta_graph=False) for s in savers),
        ):
            try:
                write()
            except (OSError, tf.errors.OpError) as e:
                assert getattr(e, "errno", None) == errno.EFBIG or "File too large" in str(e), e
            else:
                raise AssertionError("it was written")
            assert not os.listdir(folder), (size, os.listdir(folder))
"""


def test_nothing_stays_behind_on_a_full_disk(tmp_path: pathlib.Path) -> None:
    done = subprocess.run([sys.executable, "-c", WRITES_ON_A_FULL_DISK, tmp_path], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr


CONVERTS_AND_ENDS = """
import os, tempfile
import emplace as tf

@tf.function
def f(x):
    for i in tf.range(3):
        x += tf.cast(i, x.dtype)
    return tf.reshape(x, [2]) if x.shape.rank else x

tempfile.NamedTemporaryFile = None
print(f(tf.constant(1)).numpy())
try:
    f(tf.zeros([3]))
except ValueError as e:
    print("return tf.reshape(x, [2])" in str(e), "__autograph" in str(e))
print(os.listdir(os.environ["TMPDIR"]))
os._exit(0) if os.fork() else None
"""


def test_converting_a_function_writes_no_file(tmp_path: pathlib.Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(CONVERTS_AND_ENDS)
    (tmp_path / "tmp").mkdir()
    env = {**os.environ, "TMPDIR": str(tmp_path / "tmp")}
    done = subprocess.run([sys.executable, program], env=env, capture_output=True, text=True, timeout=600)
    assert done.stdout == "4\nTrue False\n[]\n", done.stdout + done.stderr
