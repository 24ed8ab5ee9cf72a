"""Checkpoints and records whose writer is killed, or whose bits fall over."""

import os
import pathlib
import random
import signal
import subprocess
import sys

import numpy as np
import pytest

import emplace as tf

FULL = bool(os.environ.get("EMPLACE_TEST_FULL"))
KILLS = 500 if FULL else 8
FLIPS = 10_000 if FULL else 400
PROGRAM = pathlib.Path(__file__).with_name("save_for_ever.py")


def saved_number(folder: pathlib.Path) -> int:
    """What the newest checkpoint holds; it must be whole, and of one time."""
    newest = tf.train.latest_checkpoint(str(folder))
    if newest is None:
        return 0
    reader = tf.train.load_checkpoint(newest)
    numbers = set()
    for name in reader.get_variable_to_shape_map():
        if name.startswith("v"):
            numbers.update(np.unique(reader.get_tensor(name)).tolist())
    assert len(numbers) == 1, f"{newest} holds {numbers}"
    return int(numbers.pop())


@pytest.mark.parametrize("seed", range(KILLS))
def test_newest_complete_checkpoint_loads_after_kill(seed: int, tmp_path: pathlib.Path) -> None:
    rng = random.Random(seed)
    child = subprocess.Popen([sys.executable, str(PROGRAM), str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert child.stdout
    told = 0
    for _ in range(1 + rng.randrange(6)):
        told = int(child.stdout.readline())
    for _ in range(rng.randrange(200_000)):  # somewhere within the next
        pass
    child.send_signal(signal.SIGKILL)
    told = max([told, *map(int, child.stdout.read().split())])
    child.wait()
    assert told <= saved_number(tmp_path) <= told + 1


def flipped(path: pathlib.Path, bit: int) -> None:
    raw = bytearray(path.read_bytes())
    raw[bit // 8] ^= 1 << bit % 8
    path.write_bytes(raw)


def test_bit_that_fell_over_in_a_checkpoint_is_found(tmp_path: pathlib.Path) -> None:
    values = {"a": np.arange(300, dtype=np.float32), "words": np.array([b"one", b"", b"three" * 9]),
              "n": np.int64(7)}  # fmt: skip
    saved = tf.train.Checkpoint(**{k: tf.Variable(v) for k, v in values.items()}).write(str(tmp_path / "ckpt"))
    files = sorted(tmp_path.glob("ckpt*"))
    rng = random.Random(1)
    found = 0
    for _ in range(FLIPS):
        path = rng.choice(files)
        bit = rng.randrange(path.stat().st_size * 8)
        flipped(path, bit)
        try:
            reader = tf.train.load_checkpoint(saved)
            for name, value in values.items():
                got = reader.get_tensor(f"{name}/.ATTRIBUTES/VARIABLE_VALUE")
                np.testing.assert_array_equal(got, value, err_msg=f"{path.name} bit {bit}")
        except (tf.errors.OpError, ValueError, RuntimeError):
            found += 1
        flipped(path, bit)
    assert found > FLIPS // 2


def test_bit_that_fell_over_in_records_is_found(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "records"
    records = [b"", b"x", b"long" * 100, bytes(range(256))]
    with tf.io.TFRecordWriter(str(path)) as writer:
        for r in records:
            writer.write(r)
    for bit in range(path.stat().st_size * 8) if FULL else random.Random(2).sample(range(path.stat().st_size * 8), FLIPS):
        flipped(path, bit)
        got = []
        with pytest.raises(tf.errors.DataLossError):
            for r in tf.data.TFRecordDataset(str(path)):
                got.append(r.numpy())
        assert got == records[: len(got)], bit
        flipped(path, bit)
