"""Random programs with branches and loops, the same for the same number."""

import random
from typing import Any

from flow_graphs import Program


class Writer:
    """Writes one program by TensorFlow 1's API: values are vectors of three, kept within bounds."""

    def __init__(self, tf: Any, seed: int) -> None:
        self.tf = tf
        self.random = random.Random(seed)
        self.variable = tf.get_variable(
            "v", initializer=tf.constant([0.5, -0.25, 1.0]), use_resource=self.random.random() < 0.5
        )
        self.updates = self.random.random() < 0.4

    def unary(self, x: Any) -> Any:
        tf = self.tf
        return self.random.choice([tf.tanh, tf.sin, tf.abs, tf.negative, tf.identity, tf.sigmoid])(x)

    def binary(self, x: Any, y: Any) -> Any:
        tf = self.tf
        return tf.tanh(self.random.choice([tf.add, tf.multiply, tf.subtract, tf.maximum])(x, y))

    def test(self, x: Any) -> Any:
        tf = self.tf
        bound = self.random.uniform(-0.5, 0.5)
        return self.random.choice([tf.less, tf.greater])(tf.reduce_sum(x), bound)

    def value(self, known: list[Any], depth: int) -> Any:
        kind = self.random.choice(["unary", "binary", "constant", "cond", "while", "read", "pinned"])
        if depth == 0 and kind in ("cond", "while"):
            kind = "binary"
        return getattr(self, "make_" + kind)(known, depth)

    def make_unary(self, known: list[Any], depth: int) -> Any:
        return self.unary(self.random.choice(known))

    def make_binary(self, known: list[Any], depth: int) -> Any:
        return self.binary(self.random.choice(known), self.random.choice(known))

    def make_constant(self, known: list[Any], depth: int) -> Any:
        numbers = [round(self.random.uniform(-1, 1), 3) for _ in range(3)]
        return self.binary(self.random.choice(known), self.tf.constant(numbers))

    def make_read(self, known: list[Any], depth: int) -> Any:
        if self.updates:  # a read that no order ties to the writes may see either
            return self.make_unary(known, depth)
        return self.binary(self.random.choice(known), self.variable)

    def make_pinned(self, known: list[Any], depth: int) -> Any:
        with self.tf.device(self.random.choice(["/cpu:0", "/gpu:0", "/gpu:1"])):
            return self.make_binary(known, depth)

    def block(self, known: list[Any], depth: int) -> Any:
        inside = list(known)
        for _ in range(self.random.randint(1, 3)):
            inside.append(self.value(inside, depth))
        return inside[-1]

    def make_cond(self, known: list[Any], depth: int) -> Any:
        predicate = self.test(self.random.choice(known))
        return self.tf.cond(
            predicate, lambda: self.block(known, depth - 1), lambda: self.block(known, depth - 1)
        )

    def make_while(self, known: list[Any], depth: int) -> Any:
        tf = self.tf
        rounds = self.random.randint(0, 4)
        start = [tf.constant(0), self.random.choice(known), self.random.choice(known)]
        swaps, memory = self.random.random() < 0.3, self.random.random() < 0.3

        def body(i: Any, a: Any, b: Any) -> Any:
            new = self.block([*known, a, b], depth - 1)
            return [i + 1, new, a if swaps else self.binary(b, new)]

        out = tf.while_loop(lambda i, a, b: i < rounds, body, start, swap_memory=memory)
        return self.binary(out[1], out[2])

    def update(self, last: Any) -> Any:
        """Adds to the variable in a loop, in a branch of it."""
        tf, v = self.tf, self.variable

        def body(i: Any) -> Any:
            write = tf.cond(
                tf.equal(i % 2, 0),
                lambda: tf.identity(tf.assign_add(v, last)),
                lambda: tf.identity(tf.assign_sub(v, [0.1, 0.2, 0.3])),
            )
            with tf.control_dependencies([write]):
                return i + 1

        done = tf.while_loop(lambda i: i < 3, body, [0], parallel_iterations=1)
        with tf.control_dependencies([done]):
            return tf.identity(v.read_value())


def program(tf: Any, seed: int) -> Program:
    writer = Writer(tf, seed)
    x = tf.placeholder(tf.float32, [3])
    known = [x, x * 0.5]
    for _ in range(writer.random.randint(2, 4)):
        known.append(writer.value(known, 2))
    fetches = [known[-1], known[-2]]
    gradient = tf.gradients(known[-1], x)[0]
    if gradient is not None:
        fetches.append(gradient)
    if writer.updates:
        fetches.append(writer.update(known[-1]))
    feed = [round(writer.random.uniform(-1, 1), 3) for _ in range(3)]
    return Program(fetches, {x: feed}, steps=2)
