"""Files in pipelines: larger than the pieces they are read in, compressed, from data bases."""

import contextlib
import gzip
import pathlib
import sqlite3

import pytest

tf = pytest.importorskip("emplace")


def test_comma_separated_values_go_over_pieces(tmp_path: pathlib.Path) -> None:
    rows = [(i, "x" * (1 + i * 37 % 5000), f'say "{i}",\nand so on') for i in range(600)]
    text = "n,a,b\n" + "".join(f'{n},{a},"{b.replace(chr(34), chr(34) * 2)}"\r\n' for n, a, b in rows)
    (tmp_path / "plain.csv").write_bytes(text.encode())
    (tmp_path / "packed.csv").write_bytes(gzip.compress(text.encode()))
    for name, kind in (("plain.csv", ""), ("packed.csv", "GZIP")):
        d = tf.data.experimental.CsvDataset(str(tmp_path / name), [tf.int32, tf.string, tf.string], header=True, compression_type=kind)
        assert [(int(n), a.numpy().decode(), b.numpy().decode()) for n, a, b in d] == rows


def test_lines_of_many_files_at_once(tmp_path: pathlib.Path) -> None:
    for i in range(4):
        (tmp_path / f"{i}.txt").write_text("".join(f"{i} {j} {'y' * (j % 700)}\n" for j in range(2000)))
    files = tf.data.Dataset.list_files(str(tmp_path / "*.txt"), shuffle=False)
    lines = files.interleave(tf.data.TextLineDataset, cycle_length=4, num_parallel_calls=2)
    assert [int(tf.strings.to_number(tf.strings.split(x)[1])) for x in lines.take(12)] == [0] * 4 + [1] * 4 + [2] * 4
    assert sum(1 for _ in lines) == 8000


@pytest.mark.parametrize("compression", ["GZIP", "ZLIB", "NONE", ""])
def test_saved_datasets_and_snapshots_are_compressed(tmp_path: pathlib.Path, compression: str) -> None:
    d = tf.data.Dataset.range(3).map(lambda x: tf.fill([1000], x))
    expected = [x.numpy().tolist() for x in d]
    d.save(str(tmp_path / "saved"), compression=compression)
    assert [x.numpy().tolist() for x in tf.data.Dataset.load(str(tmp_path / "saved"), compression=compression)] == expected
    kept = d.snapshot(str(tmp_path / "kept"), compression=compression)
    assert [[x.numpy().tolist() for x in kept] for _ in range(2)] == [expected, expected]
    size = sum(f.stat().st_size for f in tmp_path.rglob("*.snapshot"))
    assert (size < 5000) == (compression in ("GZIP", "ZLIB"))


def test_a_compression_that_there_is_not_is_refused(tmp_path: pathlib.Path) -> None:
    with pytest.raises(tf.errors.UnimplementedError, match="SNAPPY"):
        tf.data.Dataset.range(3).save(str(tmp_path / "a"), compression="SNAPPY")
    with pytest.raises(tf.errors.InvalidArgumentError, match="LZMA"):
        tf.data.Dataset.range(3).save(str(tmp_path / "a"), compression="LZMA")


def test_pipelines_of_one_making_have_one_fingerprint() -> None:
    def made(n: int = 10, k: int = 2) -> int:
        return int(tf.data.Dataset.range(n).map(lambda x: x * k).batch(2).fingerprint())

    assert made() == made() and len({made(), made(11), made(10, 3)}) == 3
    slices = tf.data.Dataset.from_tensor_slices
    assert int(slices([1, 2]).fingerprint()) == int(slices([1, 2]).fingerprint()) != int(slices([1, 3]).fingerprint())


def test_a_dataset_is_written_as_records(tmp_path: pathlib.Path) -> None:
    texts = [b"a", b"", b"c" * 5000]
    for kind in (None, "GZIP"):
        tf.data.experimental.TFRecordWriter(tmp_path / "out", kind).write(tf.data.Dataset.from_tensor_slices(texts))
        assert [x.numpy() for x in tf.data.TFRecordDataset(tmp_path / "out", kind)] == texts
    with pytest.raises(TypeError, match="scalar"):
        tf.data.experimental.TFRecordWriter(tmp_path / "out").write(tf.data.Dataset.range(3))


def test_rows_of_a_data_base(tmp_path: pathlib.Path) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "base")) as base:
        base.execute("create table t (a integer, b text)")
        base.executemany("insert into t values (?, ?)", [(i, str(i)) for i in range(5)])
        base.commit()
    d = tf.data.experimental.SqlDataset("sqlite", str(tmp_path / "base"), "select a, b from t order by a desc", (tf.int32, tf.string))
    assert [(int(a), b.numpy()) for a, b in d] == [(i, str(i).encode()) for i in (4, 3, 2, 1, 0)]
    it = iter(d)
    next(it)
    state = it.save()
    rest = [int(a) for a, _ in it]
    it.restore(state)
    assert [int(a) for a, _ in it] == rest == [3, 2, 1, 0]
