"""bench/run data [--json FILE]: what input pipelines cost, beside TensorFlow, NumPy and torch's DataLoader where it is there.

Packages take turns, and the best of their rounds stands; what comes out is checked. `asked`: the issue's goal, as a ratio to
TensorFlow where it says ×, else in the row's unit.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import io
import json
import os
import tempfile
import time
from typing import Any, Callable

import numpy as np

ROUNDS = 5
NAP, AT_ONCE, CALLS = 0.02, 4, 24  # of the function that sleeps
STEP, SHARE, STEPS = 0.01, 0.8, 40  # of the training loop: a step, and how much of it the input takes
Work = Callable[[Any], float]  # the figure of one round


def check(condition: Any, what: str) -> None:
    if not condition:
        raise SystemExit(f"bench data: wrong result: {what}")


def timed(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def gone_through(dataset: Any) -> tuple[float, Any]:
    """The seconds that a Python loop over the dataset takes, and the last element."""
    start, last = time.perf_counter(), None
    for last in dataset:
        pass
    return time.perf_counter() - start, last


# ---- One function a row: microseconds, or a ratio where the unit says so.


def map_batch(tf: Any) -> float:
    """An element of `range`, made another by a function and put in a batch of 100."""
    n = 100_000
    dataset = tf.data.Dataset.range(n).map(lambda x: x + 1).batch(100)
    took, last = gone_through(dataset)
    check(int(last[-1]) == n, "the last number")
    return took / n * 1e6


def shuffle_batch(tf: Any) -> float:
    """A row of a million, shuffled in a buffer of 10,000 and put in batches of 1,000."""
    n = 1_000_000
    dataset = tf.data.Dataset.range(n).shuffle(10_000, seed=1).batch(1000)
    total = 0

    def go() -> None:
        nonlocal total
        for batch in dataset:
            total += int(batch[0]) >= 0

    took = timed(go)
    check(total == n // 1000, "the number of batches")
    return took / n * 1e6


def slices_batch_map(tf: Any) -> float:
    """A row of 16 floats of an array, put in batches of 64 that a function works on."""
    n = 50_000
    rows = np.arange(n * 16, dtype=np.float32).reshape(n, 16)
    dataset = tf.data.Dataset.from_tensor_slices(rows).batch(64).map(lambda x: x * 2.0)
    took, last = gone_through(dataset)
    check(float(last[-1][-1]) == 2.0 * (n * 16 - 1), "the last row")
    return took / n * 1e6


def eager_iteration(tf: Any) -> float:
    """An element of a plain dataset, taken by a Python loop."""
    n = 100_000
    dataset = tf.data.Dataset.range(n)
    took, last = gone_through(dataset)
    check(int(last) == n - 1, "the last number")
    return took / n * 1e6


def loop_in_a_function(tf: Any) -> float:
    """An element in a loop of a tf.function."""
    n = 20_000
    dataset = tf.data.Dataset.range(n)

    @tf.function
    def total() -> Any:
        made = tf.constant(0, tf.int64)
        for x in dataset:
            made += x
        return made

    check(int(total()) == n * (n - 1) // 2, "the sum")
    return timed(total) / n * 1e6


_folder: Any = None


def _pictures() -> list[str]:
    """Files of records, each a JPEG of 256 × 192."""
    global _folder
    if _folder is None:
        import emplace as ours

        _folder = tempfile.TemporaryDirectory()
        draw = np.random.default_rng(1)
        smooth = draw.integers(0, 255, (16, 24, 32, 3)).repeat(8, 1).repeat(8, 2).astype(np.uint8)
        encoded = [ours.io.encode_jpeg(ours.constant(p)).numpy() for p in smooth]
        for i in range(4):
            with ours.io.TFRecordWriter(f"{_folder.name}/{i}.tfrecord") as writer:
                for k in range(64):
                    writer.write(encoded[(i * 7 + k) % 16])
    return sorted(f"{_folder.name}/{f}" for f in os.listdir(_folder.name))


def pictures(tf: Any) -> float:
    """A JPEG out of TFRecords: decoded, resized, cropped, turned, in batches of 32."""
    files = _pictures()

    def one(record: Any) -> Any:
        picture = tf.image.resize(tf.io.decode_jpeg(record, channels=3), [144, 144])
        return tf.image.random_flip_left_right(tf.image.random_crop(picture, [128, 128, 3]))

    dataset = tf.data.TFRecordDataset(files).map(one, num_parallel_calls=tf.data.AUTOTUNE).batch(32).prefetch(tf.data.AUTOTUNE)
    shapes: list[Any] = []

    def go() -> None:
        shapes[:] = [tuple(batch.shape) for batch in dataset]

    took = timed(go)
    check(shapes == [(32, 128, 128, 3)] * 8, "the batches")
    return took / 256 * 1e6


def _napping(tf: Any, seconds: float) -> Any:
    def nap(x: Any) -> Any:
        time.sleep(seconds)
        return x

    return lambda x: tf.numpy_function(nap, [x], tf.int64)


def sleeping(tf: Any) -> float:
    """How much sooner a function that sleeps is done for all elements when 4 run at a time, as a part of 4."""
    def seconds(calls: Any) -> float:
        dataset = tf.data.Dataset.range(CALLS).map(_napping(tf, NAP), num_parallel_calls=calls)
        return timed(lambda: check(len(list(dataset)) == CALLS, "the number of elements"))

    return seconds(None) / seconds(AT_ONCE) / AT_ONCE


def training(tf: Any) -> float:
    """A step of 10 ms whose input takes 8 ms, over the step alone."""
    plain = tf.data.Dataset.range(STEPS).prefetch(2)
    waiting = tf.data.Dataset.range(STEPS).map(_napping(tf, STEP * SHARE)).prefetch(2)

    def loop(dataset: Any) -> float:
        items = iter(dataset)
        next(items)
        return timed(lambda: [time.sleep(STEP) for _ in items])

    return loop(waiting) / loop(plain)


# ---- Peers that are no tf.data.


def numpy_map_batch() -> float:
    n = 100_000
    took = timed(lambda: [np.arange(i, i + 100) + 1 for i in range(0, n, 100)])
    return took / n * 1e6


def numpy_shuffle_batch() -> float:
    n = 1_000_000

    def go() -> None:
        order = np.random.default_rng(1).permutation(n)
        for i in range(0, n, 1000):
            order[i : i + 1000].copy()

    return timed(go) / n * 1e6


def torch_map_batch() -> float:
    from torch.utils import data

    n = 20_000

    class Numbers(data.Dataset):  # type: ignore[misc]
        def __len__(self) -> int:
            return n

        def __getitem__(self, i: int) -> int:
            return i + 1

    return timed(lambda: list(data.DataLoader(Numbers(), batch_size=100))) / n * 1e6


ROWS: tuple[tuple[str, str, Work, str, dict[str, Callable[[], float]]], ...] = (
    ("range, map, batch: an element", "us", map_batch, "1 and 0.1x", {"numpy": numpy_map_batch, "torch": torch_map_batch}),
    ("shuffle, batch: a row of a million", "us", shuffle_batch, "0.5x", {"numpy": numpy_shuffle_batch}),
    ("slices, batch, map: a row", "us", slices_batch_map, "", {}),
    ("a Python loop: an element", "us", eager_iteration, "0.2x", {}),
    ("a loop in tf.function: an element", "us", loop_in_a_function, "", {}),
    ("TFRecords of JPEGs: a picture", "us", pictures, "0.9x", {}),
    ("a function that sleeps: gain over calls", "ratio", sleeping, "0.9", {}),
    ("a step with input over one without", "ratio", training, "1.03", {}),
)


def peer() -> Any:
    if importlib.util.find_spec("tensorflow") is None:
        return None
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
    tf = importlib.import_module("tensorflow")
    tf.get_logger().setLevel("ERROR")
    return tf


def row_of(name: str, unit: str, work: Work, others: dict[str, Callable[[], float]], tf: Any, rounds: int) -> dict[str, Any]:
    import emplace as ours

    best = max if name.endswith("calls") else min
    mine, theirs = [], []
    for _ in range(rounds):
        mine.append(work(ours))
        if tf is not None:
            theirs.append(work(tf))
    peers = {"tensorflow": round(best(theirs), 3)} if theirs else {}
    for called, other in others.items():
        if importlib.util.find_spec(called) is not None:
            peers[called] = round(min(other() for _ in range(rounds)), 3)
    value = round(best(mine), 3)
    against = min(peers.values()) if peers else None
    ratio = round(value / peers["tensorflow"], 4) if "tensorflow" in peers else None
    return {"name": name, "value": value, "unit": unit, "peers": peers, "ratio": round(value / against, 4) if against else None, "of_tensorflow": ratio}


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench/run data")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--only", default="", help="rows with this in their names")
    arguments = parser.parse_args()
    tf, rows = peer(), []
    print(f"{'':42}{'ours':>10}{'TensorFlow':>12}{'ratio':>9}  {'asked':12}others")
    for name, unit, work, asked, others in ROWS:
        if arguments.only not in name:
            continue
        row = row_of(name, unit, work, others, tf, arguments.rounds)
        theirs, ratio = row["peers"].get("tensorflow", "-"), row.pop("of_tensorflow")
        rest = ", ".join(f"{k} {v}" for k, v in row["peers"].items() if k != "tensorflow")
        print(f"{name:42}{row['value']:>10}{theirs:>12}{ratio if ratio is not None else '-':>9}  {asked:12}{rest}", flush=True)
        rows.append(row)
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)


if __name__ == "__main__":
    main()
