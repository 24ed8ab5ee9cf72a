"""Readers of files whose names come from a queue. What is expected is what TensorFlow 2.21 gave."""

import gzip
import threading

import pytest

import emplace.compat.v1 as tf


def _run(make, files, n, up_to=None):
    """Up to n reads, the class of the error that ended them, and the reader's counts."""
    with tf.Graph().as_default(), tf.Session() as session:
        queue = tf.FIFOQueue(10, [tf.string], [[]])
        reader = make()
        out = reader.read(queue) if up_to is None else reader.read_up_to(queue, up_to)
        counts = [reader.num_records_produced(), reader.num_work_units_completed()]
        session.run(queue.enqueue_many([[str(f) for f in files]]))
        session.run(queue.close())
        got = []
        for _ in range(n):
            try:
                key, value = session.run(out)
                got.append(value if up_to is None else list(value))
            except tf.errors.OpError as e:
                got.append(type(e).__name__)
                break
        found = session.run(counts)
        session.run(reader.reset())
        assert session.run(counts) == [0, 0]
        return got, found


@pytest.fixture
def files(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"h\n1\r\n2\n\nlast")
    (tmp_path / "b.txt").write_bytes(b"h\n9\n")
    (tmp_path / "c.bin").write_bytes(b"HHaabbccddFF")
    with tf.python_io.TFRecordWriter(str(tmp_path / "r")) as writer:
        for i in range(3):
            writer.write(b"rec%d" % i)
    (tmp_path / "g").write_bytes(gzip.compress((tmp_path / "r").read_bytes()))
    return tmp_path


def test_lines(files):
    both = [files / "a.txt", files / "b.txt"]
    assert _run(lambda: tf.TextLineReader(1), both, 9) == ([b"1", b"2", b"", b"last", b"9", "OutOfRangeError"], [5, 2])
    assert _run(tf.TextLineReader, both, 9, 3) == ([[b"h", b"1", b"2"], [b"", b"last"], [b"h", b"9"], "OutOfRangeError"], [7, 2])


def test_records_plain_and_packed(files):
    wanted = ([b"rec0", b"rec1", b"rec2", "OutOfRangeError"], [3, 1])
    assert _run(tf.TFRecordReader, [files / "r"], 9) == wanted
    options = tf.python_io.TFRecordOptions(tf.python_io.TFRecordCompressionType.GZIP)
    assert _run(lambda: tf.TFRecordReader(options=options), [files / "g"], 9) == wanted


def test_broken_records_are_told(files):
    content = bytearray((files / "r").read_bytes())
    content[30] ^= 1
    (files / "broken").write_bytes(content)
    assert _run(tf.TFRecordReader, [files / "broken"], 9)[0] == [b"rec0", "DataLossError"]
    (files / "short").write_bytes((files / "r").read_bytes()[:-3])
    assert _run(tf.TFRecordReader, [files / "short"], 9)[0] == [b"rec0", b"rec1", "DataLossError"]


def test_pieces_of_one_size(files):
    assert _run(lambda: tf.FixedLengthRecordReader(2, 2, 2), [files / "c.bin"], 9) == ([b"aa", b"bb", b"cc", b"dd", "OutOfRangeError"], [4, 1])
    assert _run(lambda: tf.FixedLengthRecordReader(2, 2, 2, 1), [files / "c.bin"], 3) == ([b"aa", b"ab", b"bb"], [3, 0])


def test_whole_files_and_names(files):
    assert _run(tf.WholeFileReader, [files / "c.bin", files / "b.txt"], 3) == ([b"HHaabbccddFF", b"h\n9\n", "OutOfRangeError"], [2, 2])
    assert _run(tf.IdentityReader, ["x", "y"], 3) == ([b"x", b"y", "OutOfRangeError"], [2, 2])
    assert _run(tf.WholeFileReader, [files / "nothing"], 3) == (["NotFoundError"], [0, 0])


def test_many_empty_files_are_passed_over(files):
    (files / "empty").write_bytes(b"")
    with tf.Graph().as_default(), tf.Session() as session:
        queue = tf.FIFOQueue(50_000, [tf.string], [[]])
        _, value = tf.TextLineReader().read(queue)
        session.run(queue.enqueue_many([[str(files / "empty")] * 40_000 + [str(files / "b.txt")]]))
        assert session.run(value) == b"h"


def test_a_read_waits_for_a_name(files):
    with tf.Graph().as_default(), tf.Session() as session:
        queue = tf.FIFOQueue(5, [tf.string], [[]])
        _, value = tf.WholeFileReader().read(queue)
        put = queue.enqueue([str(files / "b.txt")])
        got = []
        thread = threading.Thread(target=lambda: got.append(session.run(value)))
        thread.start()
        session.run(put)
        thread.join()
        assert got == [b"h\n9\n"]
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(value, options=tf.RunOptions(timeout_in_ms=50))


def test_the_graph_is_tensorflows(files):
    with tf.Graph().as_default() as graph:
        tf.TextLineReader().read(tf.FIFOQueue(1, [tf.string]))
        assert {n.op for n in graph.as_graph_def().node} == {"FIFOQueueV2", "TextLineReaderV2", "ReaderReadV2"}
