"""load.py [--seconds S | --steps N] [--sessions N] [--threads N]: so many sessions and eager threads at once, with
errors, cancelled steps and closed sessions among them. Every result must be right and no step may be lost; the last
line tells how long small steps took."""

import argparse
import threading
import time

import numpy as np

import emplace as tf
import emplace.compat.v1 as v1

REFUSED = (tf.errors.OpError, ValueError, RuntimeError)  # RuntimeError: of a closed session


class Tally:
    """What came of the steps; filled by all threads."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.begun = self.right = self.refused = 0
        self.wrong: list[str] = []
        self.took: list[float] = []

    def step(self, work, expected=None, refused: bool = False) -> None:  # noqa: ANN001
        with self.lock:
            self.begun += 1
        begin = time.monotonic()
        try:
            got = work()
            fine = not refused and np.array_equal(got, expected)
            note = None if fine else f"{got!r} for {expected!r}"
        except REFUSED as error:
            fine, note = refused, None if refused else repr(error)
        took = time.monotonic() - begin
        with self.lock:
            self.took.append(took)
            self.right += fine and not refused
            self.refused += fine and refused
            if note:
                self.wrong.append(note)


def in_sessions(number: int, goes_on, tally: Tally) -> None:  # noqa: ANN001
    rng = np.random.default_rng(number)
    steps = 0
    while goes_on(steps):
        with v1.Graph().as_default():
            x = v1.placeholder(tf.float32, [None, 8])
            y = v1.reduce_sum(v1.matmul(x, tf.ones([8, 8])))
            taken = v1.FIFOQueue(1, tf.float32).dequeue()
            session = v1.Session()
        for _ in range(20):
            rows = int(rng.integers(1, 9))
            tally.step(lambda s=session, n=rows: s.run(y, {x: np.ones((n, 8), np.float32)}), np.float32(64 * rows))
            tally.step(lambda s=session: s.run(y, {x: np.ones((2, 3), np.float32)}), refused=True)
            steps += 2
        if number % 4 == 0:  # ended from elsewhere while it waits
            closer = threading.Thread(target=lambda s=session: [time.sleep(0.01), s.close()])
            closer.start()
            tally.step(lambda s=session: s.run(taken), refused=True)
            closer.join()
            tally.step(lambda s=session: s.run(y, {x: np.ones((1, 8), np.float32)}), refused=True)
            steps += 2
        session.close()


def eagerly(number: int, goes_on, tally: Tally) -> None:  # noqa: ANN001
    rng = np.random.default_rng(1000 + number)
    steps = 0
    while goes_on(steps):
        n = int(rng.integers(1, 50))
        tally.step(lambda: tf.reduce_sum(tf.range(n)).numpy(), n * (n - 1) // 2)
        tally.step(lambda: tf.matmul(tf.ones([2, n]), tf.ones([n + 1, 2])).numpy(), refused=True)
        steps += 2


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--sessions", type=int, default=64)
    parser.add_argument("--threads", type=int, default=64)
    given = parser.parse_args()
    end = time.monotonic() + given.seconds
    tally = Tally()

    def goes_on(steps: int) -> bool:
        return time.monotonic() < end if given.seconds else steps < given.steps

    work = [threading.Thread(target=in_sessions, args=(i, goes_on, tally)) for i in range(given.sessions)]
    work += [threading.Thread(target=eagerly, args=(i, goes_on, tally)) for i in range(given.threads)]
    for t in work:
        t.start()
    for t in work:
        t.join()
    p50, p99 = np.quantile(tally.took, [0.5, 0.99]) * 1e3
    lost = tally.begun - tally.right - tally.refused - len(tally.wrong)
    for text in tally.wrong[:10]:
        print(text)
    print(f"{tally.begun} steps: {tally.right} right, {tally.refused} refused as they should be, {len(tally.wrong)} wrong,"
          f" {lost} lost; p50 {p50:.2f} ms, p99 {p99:.2f} ms")  # fmt: skip
    return int(bool(tally.wrong) or lost != 0)


if __name__ == "__main__":
    raise SystemExit(main())
