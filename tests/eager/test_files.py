"""Records, examples, serialized tensors, datasets of files."""

import pathlib

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
