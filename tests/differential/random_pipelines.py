"""Input pipelines drawn at random: a list of stages with their parameters, built and gone through by either package."""

import dataclasses
import random
from collections.abc import Callable
from typing import Any

MOST = 60  # elements that are compared of one pipeline


@dataclasses.dataclass
class Pipeline:
    """`said` is the pipeline as text; `stages` build it, given the package and the dataset so far."""

    said: list[str]
    stages: list[Callable[[Any, Any], Any]]


class _Drawn:
    """Draws stages that fit the elements so far: `kind` is "int", "pair" or "row" (a vector of ints), or "dict"."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.kind, self.rank, self.ragged = "int", 0, False
        self.endless = False
        self.out = Pipeline([], [])

    def add(self, said: str, stage: Callable[[Any, Any], Any]) -> None:
        self.out.said.append(said)
        self.out.stages.append(stage)

    # ---- Sources.

    def source(self) -> None:
        r = self.random
        which = r.choice(["range", "range", "slices", "pairs", "dicts", "random", "generator", "list", "counter"])
        n = r.randint(0, 24)
        if which == "range":
            start, step = r.randint(-3, 3), r.choice([1, 2, 3])
            self.add(f"range({start}, {start + n}, {step})", lambda tf, _: tf.data.Dataset.range(start, start + n, step))
        elif which == "slices":
            values = [r.randint(-9, 9) for _ in range(max(n, 1))]
            self.add(f"slices({values})", lambda tf, _: tf.data.Dataset.from_tensor_slices(tf.constant(values, tf.int64)))
        elif which == "pairs":
            a, b = [r.randint(0, 9) for _ in range(max(n, 1))], [r.random() for _ in range(max(n, 1))]
            self.kind = "pair"
            self.add(
                f"pairs({a}, {b})",
                lambda tf, _: tf.data.Dataset.from_tensor_slices((tf.constant(a, tf.int64), tf.constant(b, tf.float32))),
            )
        elif which == "dicts":
            a = [r.randint(0, 9) for _ in range(max(n, 1))]
            self.kind = "dict"
            self.add(f"dicts({a})", lambda tf, _: tf.data.Dataset.from_tensor_slices({"b": tf.constant(a, tf.int64), "a": [str(v) for v in a]}))
        elif which == "random":
            seed = r.randint(0, 99)
            self.add(f"random({seed}).take({n})", lambda tf, _: tf.data.Dataset.random(seed=seed).take(n))
        elif which == "generator":
            self.add(
                f"generator({n})",
                lambda tf, _: tf.data.Dataset.from_generator(lambda: iter(range(n)), output_signature=tf.TensorSpec([], tf.int64)),
            )
        elif which == "list":
            values = [r.randint(0, 9) for _ in range(max(n, 1))]
            self.add(f"list({values})", lambda tf, _: tf.data.experimental.from_list([tf.constant(v, tf.int64) for v in values]))
        else:
            step = r.randint(1, 4)
            self.add(f"counter(step={step}).take({n})", lambda tf, _: tf.data.Dataset.counter(step=step).take(n))

    # ---- Stages.

    def stage(self) -> None:
        names = ["batch", "repeat", "take", "skip", "shuffle", "prefetch", "cache", "shard", "map", "filter", "zip", "concatenate", "enumerate"]
        if self.kind == "int" and not self.rank:
            names += ["map", "map", "flat_map", "interleave", "scan", "take_while", "window", "group", "unique", "choose", "sample", "reduce"]
            names += ["padded", "ragged_rows", "options", "numpy_function", "random_map", "nested", "bucket"]
        if self.rank:
            names += ["unbatch", "unbatch", "rebatch"]
        name = self.random.choice(names)
        getattr(self, f"_{name}")()

    def _calls(self) -> tuple[Any, str]:
        calls = self.random.choice([None, None, 1, 2, 4, -1])
        return calls, "" if calls is None else f", {calls} at a time"

    def _batch(self) -> None:
        size, drops, (calls, said) = self.random.randint(1, 5), self.random.random() < 0.3, self._calls()
        self.rank += 1
        self.add(f"batch({size}, {drops}{said})", lambda tf, d: d.batch(size, drop_remainder=drops, num_parallel_calls=calls))

    def _unbatch(self) -> None:
        self.rank -= 1
        self.add("unbatch()", lambda tf, d: d.unbatch())

    def _rebatch(self) -> None:
        size, drops = self.random.choice([1, 2, 3, [2, 3], [1, 4, 2]]), self.random.random() < 0.3
        self.add(f"rebatch({size}, {drops})", lambda tf, d: d.rebatch(size, drop_remainder=drops))

    def _repeat(self) -> None:
        times = self.random.choice([None, 0, 1, 2, 3])
        if times == 0 and self.out.said[-1].startswith("shuffle"):
            times = 1  # TensorFlow makes one stage of both, which refuses 0
        self.endless |= times is None
        self.add(f"repeat({times})", lambda tf, d: d.repeat(times))

    def _take(self) -> None:
        n = self.random.choice([-1, 0, 3, 7, 20])
        self.endless &= n < 0
        self.add(f"take({n})", lambda tf, d: d.take(n))

    def _skip(self) -> None:
        n = self.random.choice([0, 1, 3, 7])
        self.add(f"skip({n})", lambda tf, d: d.skip(n))

    def _shuffle(self) -> None:
        size, seed, again = self.random.randint(1, 12), self.random.randint(0, 99), self.random.random() < 0.5
        self.add(f"shuffle({size}, {seed}, {again})", lambda tf, d: d.shuffle(size, seed=seed, reshuffle_each_iteration=again))

    def _prefetch(self) -> None:
        n = self.random.choice([0, 1, 3, -1])
        self.add(f"prefetch({n})", lambda tf, d: d.prefetch(n))

    def _cache(self) -> None:
        if not self.endless:
            self.add("cache()", lambda tf, d: d.cache())

    def _shard(self) -> None:
        n = self.random.randint(1, 3)
        i = self.random.randrange(n)
        self.add(f"shard({n}, {i})", lambda tf, d: d.shard(n, i))

    def _function(self) -> tuple[str, Callable[[Any], Callable[..., Any]]]:
        """A function that keeps the structure."""
        k = self.random.randint(1, 5)
        if self.kind == "pair":
            return f"(a + {k}, b * {k})", lambda tf: lambda a, b: (a + k, b * float(k))
        if self.kind == "dict":
            return f"{{a, b: b * {k}}}", lambda tf: lambda x: {"a": x["a"], "b": x["b"] * k}
        which = self.random.randrange(4)
        if which == 0:
            return f"x * {k}", lambda tf: lambda x: x * k
        if which == 1:
            return f"captured + {k}", lambda tf: (lambda c: lambda x: x + c)(tf.constant(k, tf.int64))
        if which == 2:
            return f"cond x > {k}", lambda tf: lambda x: tf.where(x > k, x - k, x + k)
        return f"loop {k}", lambda tf: lambda x: tf.while_loop(lambda i, v: i < k, lambda i, v: (i + 1, v + i), [tf.constant(0, tf.int64), x])[1] if not self.rank else x

    def _map(self) -> None:
        (said, function), (calls, calls_said) = self._function(), self._calls()
        order = self.random.choice([None, True])
        self.add(f"map({said}{calls_said})", lambda tf, d: d.map(function(tf), num_parallel_calls=calls, deterministic=order))

    def _random_map(self) -> None:
        seed = self.random.randint(1, 50)
        self.add(
            f"map(+ random, {seed})",
            lambda tf, d: d.map(lambda x: x + tf.random.uniform([], 0, 100, tf.int64, seed=seed)),
        )

    def _numpy_function(self) -> None:
        def add(tf: Any, d: Any) -> Any:
            def one(x: Any) -> Any:
                made = tf.numpy_function(lambda v: v + 7, [x], tf.int64)
                made.set_shape([])
                return made

            return d.map(one)

        self.add("map(numpy_function)", add)

    def _nested(self) -> None:
        k = self.random.randint(1, 3)
        self.kind = "pair"
        self.add(f"map(pair {k})", lambda tf, d: d.map(lambda x: (x, tf.cast(x, tf.float32) / k)))

    def _filter(self) -> None:
        k = self.random.randint(2, 4)

        def add(tf: Any, d: Any) -> Any:
            def keep(*x: Any) -> Any:
                first = x[0]["b"] if isinstance(x[0], dict) else x[0]
                return tf.reduce_sum(first) % k != 0

            return d.filter(keep)

        self.endless = self.endless  # of an endless one of multiples there would be no element
        if not self.endless:
            self.add(f"filter(sum % {k})", add)

    def _zip(self) -> None:
        if self.kind == "int":
            self.kind = "pair"
            lead = self.rank

            def add(tf: Any, d: Any) -> Any:
                other = tf.data.Dataset.range(100).map(lambda x: tf.cast(x, tf.float32) / 2.0)
                for _ in range(lead):
                    other = other.batch(2)
                return tf.data.Dataset.zip((d, other))

            self.endless = False
            if lead:
                self.kind = "int"  # batches of unlike sizes go no further together
                return
            self.add("zip(range)", add)

    def _concatenate(self) -> None:
        if not self.endless:
            self.add("concatenate(itself.take(2))", lambda tf, d: d.concatenate(d.take(2)))

    def _enumerate(self) -> None:
        if self.kind == "int" and not self.rank:
            start = self.random.randint(0, 5)
            self.add(f"enumerate({start}) summed", lambda tf, d: d.enumerate(start=start).map(lambda i, x: i + x))

    def _flat_map(self) -> None:
        k = self.random.randint(1, 4)
        self.add(f"flat_map(range {k})", lambda tf, d: d.flat_map(lambda x: tf.data.Dataset.range(x, x + k)))

    def _interleave(self) -> None:
        k, cycle, block, (calls, said) = self.random.randint(1, 4), self.random.randint(1, 4), self.random.randint(1, 3), self._calls()
        self.add(
            f"interleave(range {k}, {cycle}, {block}{said})",
            lambda tf, d: d.interleave(lambda x: tf.data.Dataset.range(x, x + k), cycle_length=cycle, block_length=block, num_parallel_calls=calls),
        )

    def _scan(self) -> None:
        self.add("scan(sum)", lambda tf, d: d.scan(tf.constant(0, tf.int64), lambda s, x: (s + x, s)))

    def _take_while(self) -> None:
        k = self.random.randint(3, 30)
        self.add(f"take_while(< {k})", lambda tf, d: d.take(40).take_while(lambda x: x < k))
        self.endless = False

    def _window(self) -> None:
        size, shift, stride, drops = self.random.randint(1, 4), self.random.choice([None, 1, 2, 5]), self.random.randint(1, 2), self.random.random() < 0.5
        self.add(
            f"window({size}, {shift}, {stride}, {drops}) flat",
            lambda tf, d: d.window(size, shift, stride, drop_remainder=drops).flat_map(lambda w: w.batch(size)),
        )
        self.rank += 1

    def _group(self) -> None:
        if self.endless:
            return
        keys, size, window = self.random.randint(1, 3), self.random.randint(1, 3), self.random.randint(1, 4)
        self.add(
            f"group_by_window(% {keys}, {window}, batch {size})",
            lambda tf, d: d.group_by_window(lambda x: x % keys, lambda key, g: g.batch(size), window_size=window),
        )
        self.rank += 1

    def _bucket(self) -> None:
        if self.endless:
            return
        self.add(
            "bucket_by_sequence_length",
            lambda tf, d: d.map(lambda x: tf.fill([tf.abs(x) % 6], x)).bucket_by_sequence_length(lambda x: tf.shape(x)[0], [2, 4], [3, 2, 2]).map(
                lambda x: tf.reduce_sum(x)
            ),
        )

    def _unique(self) -> None:
        if not self.endless:
            self.add("unique()", lambda tf, d: d.unique())

    def _choose(self) -> None:
        picks = [self.random.randint(0, 1) for _ in range(8)]
        stop = self.random.random() < 0.5
        self.endless = False
        self.add(
            f"choose({picks}, {stop})",
            lambda tf, d: tf.data.Dataset.choose_from_datasets(
                [d, tf.data.Dataset.range(100, 105)], tf.data.Dataset.from_tensor_slices(tf.constant(picks, tf.int64)), stop
            ),
        )

    def _sample(self) -> None:
        seed, stop = self.random.randint(0, 99), self.random.random() < 0.5
        weights = self.random.choice([None, [0.5, 0.5], [0.2, 0.8]])
        self.add(
            f"sample({weights}, {seed}, {stop})",
            lambda tf, d: tf.data.Dataset.sample_from_datasets(
                [d, tf.data.Dataset.range(100, 120)], weights, seed=seed, stop_on_empty_dataset=stop
            ),
        )

    def _reduce(self) -> None:
        if self.endless:
            return
        self.add(
            "one reduced",
            lambda tf, d: tf.data.Dataset.from_tensors(d.reduce(tf.constant(0, tf.int64), lambda s, x: s * 3 + x)),
        )

    def _padded(self) -> None:
        size = self.random.randint(1, 4)
        self.rank += 2
        self.add(f"padded_batch({size})", lambda tf, d: d.map(lambda x: tf.fill([tf.abs(x) % 5], x)).padded_batch(size))

    def _ragged_rows(self) -> None:
        size = self.random.randint(1, 4)
        self.add(
            f"ragged_batch({size}) summed",
            lambda tf, d: d.map(lambda x: tf.fill([tf.abs(x) % 5], x)).ragged_batch(size).map(lambda x: tf.reduce_sum(x)),
        )

    def _options(self) -> None:
        def add(tf: Any, d: Any) -> Any:
            options = tf.data.Options()
            options.deterministic = True
            options.threading.private_threadpool_size = 2
            return d.with_options(options)

        self.add("with_options", add)


def drawn(seed: int) -> Pipeline:
    made = _Drawn(seed)
    made.source()
    for _ in range(made.random.randint(1, 6)):
        made.stage()
    return made.out


def _flat(value: Any) -> Any:
    if isinstance(value, dict):
        return [(k, _flat(value[k])) for k in sorted(value)]
    if isinstance(value, (tuple, list)):
        return [_flat(v) for v in value]
    array = getattr(value, "numpy", lambda: value)()
    if hasattr(array, "tobytes") and getattr(array, "dtype", None) != object:
        return str(array.dtype), tuple(array.shape), array.tobytes()
    return "object", getattr(array, "tolist", lambda: array)()


def told(tf: Any, pipeline: Pipeline) -> list[Any]:
    """What a pipeline gives, twice gone through: specs, number, elements, or the kind of error it ends with."""
    tf.random.set_seed(1234)
    said: list[Any] = []
    try:
        dataset = None
        for stage in pipeline.stages:
            dataset = stage(tf, dataset)
        said.append(repr(dataset.element_spec))
        said.append(int(dataset.cardinality()))
        for _ in range(2):
            said.append([_flat(element) for element in dataset.take(MOST)])
    except Exception as e:  # noqa: BLE001  (its kind is compared)
        said.append(type(e).__name__)
    return said
