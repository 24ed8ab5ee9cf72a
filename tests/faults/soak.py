"""soak.py [--seconds S | --rounds N] [--warm-up W]: mixed work, round after round: training, eager operations, functions
with new shapes, datasets, sessions made and closed, errors, cancelled steps. Afterwards memory, descriptors and threads
must be what they were after the warm-up, within a hundredth; the last line says what they were."""

import argparse
import gc
import os
import threading
import time

import numpy as np

import emplace as tf
import emplace.compat.v1 as v1

REFUSED = (tf.errors.OpError, ValueError)


class Model:
    def __init__(self) -> None:
        self.w = tf.Variable(tf.random.normal([16, 4], seed=1))
        self.step = tf.function(self._step, reduce_retracing=True)

    def _step(self, x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, self.w) - y))
        self.w.assign_sub(0.01 * tape.gradient(loss, self.w))
        return loss


def trains(model: Model, rng: np.random.Generator) -> None:
    x = rng.standard_normal((32, 16)).astype(np.float32)
    losses = [float(model.step(x, np.zeros((32, 4), np.float32))) for _ in range(5)]
    assert losses[-1] <= losses[0]


def works_eagerly(rng: np.random.Generator) -> None:
    a = rng.standard_normal((20, 20)).astype(np.float32)
    np.testing.assert_allclose(tf.linalg.matmul(a, a).numpy(), a @ a, rtol=1e-3, atol=1e-3)
    assert tf.strings.join(["a", "b"]).numpy() == b"ab"


def meets_new_shapes(rng: np.random.Generator) -> None:
    double = tf.function(lambda x: 2 * x)
    for n in rng.integers(1, 60, 3):
        assert float(tf.reduce_sum(double(tf.ones([int(n)])))) == 2 * n


def reads_a_dataset() -> None:
    numbers = tf.data.Dataset.range(40).map(lambda x: x * x, num_parallel_calls=2).batch(8).prefetch(2)
    assert sum(int(tf.reduce_sum(b)) for b in numbers) == sum(i * i for i in range(40))


def makes_a_session() -> None:
    with v1.Graph().as_default():
        x = v1.placeholder(tf.float32, [None])
        v = v1.get_variable("v", [4], initializer=v1.ones_initializer())
        total = v1.reduce_sum(x) + v1.reduce_sum(v)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            assert session.run(total, {x: [1.0, 2.0]}) == 7.0
            try:
                session.run(v1.matmul(tf.ones([2, 3]), v1.placeholder_with_default(np.ones((2, 2), np.float32), [None, None])))
                raise AssertionError("shapes that do not fit")
            except REFUSED:
                pass


def is_cancelled() -> None:
    with v1.Graph().as_default():
        queue = v1.FIFOQueue(1, tf.float32)
        taken = queue.dequeue()
        session = v1.Session()
        seen: list[Exception] = []

        def run() -> None:
            try:
                session.run(taken)
            except REFUSED as error:
                seen.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        while not session.waiting() and thread.is_alive():
            time.sleep(0.001)
        session.close()
        thread.join()
        assert len(seen) == 1


def errs() -> None:
    for make in (lambda: tf.matmul(tf.ones([2, 3]), tf.ones([2, 3])), lambda: tf.gather([1, 2], [7]),
                 lambda: tf.zeros([1 << 45])):  # fmt: skip
        try:
            make()
            raise AssertionError("refused before")
        except REFUSED:
            pass


def held() -> dict[str, int]:
    gc.collect()
    with open("/proc/self/statm") as f:
        pages = int(f.read().split()[1])
    return {"memory": pages * os.sysconf("SC_PAGE_SIZE"), "descriptors": len(os.listdir("/proc/self/fd")),
            "threads": len(os.listdir("/proc/self/task"))}  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--rounds", type=int, default=120)
    parser.add_argument("--warm-up", type=int, default=60)
    given = parser.parse_args()
    rng, model = np.random.default_rng(1), Model()
    first: dict[str, int] = {}
    most: dict[str, int] = {}
    end = time.monotonic() + given.seconds
    rounds = 0
    while rounds < given.rounds or time.monotonic() < end:
        trains(model, rng)
        works_eagerly(rng)
        meets_new_shapes(rng)
        reads_a_dataset()
        makes_a_session()
        is_cancelled()
        errs()
        rounds += 1
        warm = rounds >= given.warm_up and (given.seconds == 0 or time.monotonic() > end - 0.9 * given.seconds)
        if warm and rounds % 10 == 0:
            now = held()
            first = first or now
            most = {k: max(now[k], most.get(k, 0)) for k in now}
    last = held()
    grown = {k: last[k] / first[k] - 1 for k in last}
    print(f"{rounds} rounds; after warm-up {first}, at most {most}, at the end {last}")
    print(" ".join(f"{k} {100 * v:+.2f} %" for k, v in grown.items()))
    return int(any(v > 0.01 for v in grown.values()))


if __name__ == "__main__":
    raise SystemExit(main())
