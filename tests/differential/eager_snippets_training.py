"""Eager snippets: modules, datasets, optimizers, losses."""

import tempfile

from snippet import Table

snippet = Table()


@snippet
def module(tf):
    class Dense(tf.Module):
        def __init__(self, n, name=None):
            super().__init__(name=name)
            self.w = tf.Variable(tf.ones([n, 1]), name="w")
            self.b = tf.Variable(0.0, name="b", trainable=False)

        @tf.Module.with_name_scope
        def __call__(self, x):
            return x @ self.w + self.b

    class Two(tf.Module):
        def __init__(self):
            super().__init__(name="two")
            self.layers = [Dense(2, name="first"), Dense(1)]

        def __call__(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    m = Two()
    return [
        m(tf.ones([1, 2])),
        [v.name for v in m.variables],
        len(m.trainable_variables),
        [s.name for s in m.submodules],
        m.name,
    ]


def _dataset(tf):
    return tf.data.Dataset.from_tensor_slices([1, 2, 3, 4, 5])


snippet.one_liners(
    "data",
    [
        ("slices", lambda tf: [x for x in _dataset(tf)]),
        ("numpy", lambda tf: list(_dataset(tf).as_numpy_iterator())),
        (
            "range",
            lambda tf: [
                list(tf.data.Dataset.range(*a).as_numpy_iterator())
                for a in ((5,), (2, 5), (1, 9, 3))
            ],
        ),
        ("map", lambda tf: list(_dataset(tf).map(lambda x: x * x).as_numpy_iterator())),
        ("filter", lambda tf: list(_dataset(tf).filter(lambda x: x % 2 == 1).as_numpy_iterator())),
        ("batch", lambda tf: [b for b in _dataset(tf).batch(2)]),
        ("batch_drop", lambda tf: [b for b in _dataset(tf).batch(2, drop_remainder=True)]),
        (
            "repeat_take_skip",
            lambda tf: list(_dataset(tf).repeat(2).skip(3).take(4).as_numpy_iterator()),
        ),
        (
            "zip",
            lambda tf: [
                (a, b) for a, b in tf.data.Dataset.zip((_dataset(tf), tf.data.Dataset.range(3)))
            ],
        ),
        (
            "dictionary",
            lambda tf: [
                d for d in tf.data.Dataset.from_tensor_slices({"a": [1, 2], "b": ["x", "y"]})
            ],
        ),
        ("prefetch", lambda tf: list(_dataset(tf).prefetch(2).as_numpy_iterator())),
        (
            "shuffle_keeps_elements",
            lambda tf: sorted(_dataset(tf).shuffle(5, seed=1).as_numpy_iterator()),
        ),
        ("reduce", lambda tf: _dataset(tf).reduce(0, lambda s, x: s + x)),
        ("enumerate", lambda tf: [(i, x) for i, x in _dataset(tf).take(2).enumerate()]),
        (
            "concatenate",
            lambda tf: list(
                _dataset(tf).take(1).concatenate(_dataset(tf).skip(4)).as_numpy_iterator()
            ),
        ),
        (
            "element_spec",
            lambda tf: [_dataset(tf).element_spec, _dataset(tf).batch(2).element_spec],
        ),
        ("cardinality", lambda tf: [_dataset(tf).cardinality(), len(_dataset(tf))]),
        ("from_tensors", lambda tf: [x for x in tf.data.Dataset.from_tensors([1, 2])]),
        (
            "generator",
            lambda tf: list(
                tf.data.Dataset.from_generator(
                    lambda: iter([1, 2]), output_signature=tf.TensorSpec([], tf.int32)
                ).as_numpy_iterator()
            ),
        ),
    ],
)


@snippet
def checkpoint_view_of_a_root(tf):
    class Pair(tf.Module):
        def __init__(self):
            super().__init__()
            self.a, self.rest = tf.Variable(1.0), [tf.Variable(2.0)]

    with tempfile.TemporaryDirectory() as folder:
        saved = tf.train.Checkpoint(Pair(), extra=tf.Variable(3.0)).save(f"{folder}/x")
        view = tf.train.CheckpointView(saved)
        other = Pair()
        tf.train.Checkpoint(other).restore(saved).expect_partial()
        return [str(view.children(0)), str(view.descendants()), other.a, other.rest[0]]


@snippet
def saved_function_without_traces(tf):
    class Model(tf.Module):
        @tf.function
        def f(self, x):
            return x + 1

    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(Model(), folder)
        try:
            return tf.saved_model.load(folder).f(1.0)
        except ValueError as e:
            return str(e)
