"""bench/run loops [--rounds N] [--seconds S] [--turns N] [--json FILE]

Loops in functions beside TensorFlow and beside the same rounds written out one after another: processor time a round. A loop's
overhead is what it takes beyond the rounds written out. A process each, in turns, as in bench/run sweep.
"""

from __future__ import annotations

import argparse
import json
import statistics
from typing import Any

from sweep import Worker, workers

BODY = "tf.tanh(x * 1.01 + 0.1)"
CELL = """
n, units, batch = ROUNDS, 64, 16
w = tf.Variable(tf.random.stateless_normal([2 * units, 4 * units], [1, 2]) * 0.1)
xs = tf.random.stateless_normal([n, batch, units], [3, 4])
def cell(state, x):
  h, c = state
  i, j, f, o = tf.split(tf.matmul(tf.concat([x, h], 1), w), 4, 1)
  c = c * tf.sigmoid(f) + tf.sigmoid(i) * tf.tanh(j)
  return tf.tanh(c) * tf.sigmoid(o), c
start = (tf.zeros([batch, units]), tf.zeros([batch, units]))
def looped():
  def step(i, h, c):
    h, c = cell((h, c), xs[i])
    return i + 1, h, c
  return tf.while_loop(lambda i, h, c: i < n, step, (0, *start))[1]
def straight():
  state = start
  for i in range(n): state = cell(state, xs[i])
  return state[0]
def trained(forward):
  def f():
    with tf.GradientTape() as g:
      loss = tf.reduce_sum(forward() ** 2)
    return g.gradient(loss, w)
  return f
"""
VECTOR = "a = tf.ones([ROUNDS, 50]); v = tf.ones([50])"

# name, what is made, the loop, the same written out
ROWS = [
    ("while_loop", VECTOR, f"tf.while_loop(lambda i, x: i < ROUNDS, lambda i, x: (i + 1, {BODY}), (0, v))[1]", f"chain(lambda x: {BODY}, v)"),
    ("foldl", VECTOR, "tf.foldl(lambda s, x: s + x, a)", "sum_of(a)"),
    ("scan", VECTOR, "tf.scan(lambda s, x: s + x, a)", "tf.stack(sums_of(a))"),
    ("map_fn", VECTOR, "tf.map_fn(lambda x: tf.reduce_sum(x * x), a)", "tf.stack([tf.reduce_sum(x * x) for x in tf.unstack(a)])"),
    ("LSTM cell, forward", CELL, "looped()", "straight()"),
    ("LSTM cell, forward and backward", CELL, "trained(looped)()", "trained(straight)()"),
]
HELPERS = """
def chain(f, x):
  for _ in range(ROUNDS): x = f(x)
  return x
def sums_of(a):
  s = []
  for x in tf.unstack(a): s.append(x if not s else s[-1] + x)
  return s
def sum_of(a): return sums_of(a)[-1]
"""


def a_round(worker: Worker, made: str, body: str, options: Any) -> float | None:
    """Microseconds."""
    made = f"{made}\n{HELPERS}\nf = tf.function(lambda: {body})".replace("ROUNDS", str(options.rounds))
    times = []
    for _ in range(options.turns):
        answer = worker.ask(made, "f()", options.seconds)
        if "error" in answer:
            return None
        times.append(answer["time"])
    return statistics.median(times) / options.rounds * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=0.1, help="of each turn of a call")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--json", help="write the rows there, one a line")
    options = parser.parse_args()
    contenders = workers()
    rows = []
    print(f"{'us a round':34} {'loop':>8} {'straight':>9} {'overhead':>9} {'tensorflow':>11} {'ratio':>6}")
    for name, made, loop, straight in ROWS:
        times = {w.library: a_round(w, made, loop, options) for w in contenders}
        written_out = a_round(contenders[0], made, straight, options)
        ours, theirs = times["emplace"], times.get("tensorflow")
        if ours is None or written_out is None:
            print(f"{name:34} failed")
            continue
        ratio = ours / theirs if theirs else None
        print(f"{name:34} {ours:8.2f} {written_out:9.2f} {ours - written_out:9.2f} {theirs or 0:11.2f} {ratio or 0:6.2f}")
        peers = {"straight": written_out} | ({"tensorflow": theirs} if theirs else {})
        rows.append({"name": name, "value": round(ours, 3), "unit": "us a round", "peers": {k: round(v, 3) for k, v in peers.items()},
                     "ratio": round(ours / min(peers.values()), 3)})
    for worker in contenders:
        worker.close()
    if options.json:
        with open(options.json, "w") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)


if __name__ == "__main__":
    main()
