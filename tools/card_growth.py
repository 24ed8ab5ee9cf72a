"""What nvidia-smi says while a session with allow_growth grows, and after it is closed: one line."""

import subprocess

import emplace.compat.v1 as tf


def used() -> str:
    say = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader"]
    return subprocess.run(say, capture_output=True, text=True, check=True).stdout.strip()


def main() -> None:
    config = tf.ConfigProto()
    config.gpu_options.allow_growth = True
    said = [f"before {used()}"]
    with tf.Graph().as_default():
        n = tf.placeholder(tf.int32, [1])
        total = tf.reduce_sum(tf.fill(n, 1.0))
        session = tf.Session(config=config)
        session.run(total, {n: [1000]})
        said.append(f"a small step {used()}")
        session.run(total, {n: [2_000_000_000]})
        said.append(f"8 GB {used()}")
        session.run(total, {n: [1000]})
        session.close()
    said.append(f"closed {used()}")
    print("growth:", ", ".join(said))


main()
