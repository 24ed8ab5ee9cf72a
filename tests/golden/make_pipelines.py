#!/usr/bin/env python3
"""Writes pipelines.txt: graphs with input pipelines as TensorFlow builds them, and the elements it takes from them.

usage: make_pipelines.py  (in tests/golden, with TensorFlow)

For each: `pipeline NAME`, the operations in it (`op NAME`), the operation that makes the iterator begin (`begin NAME`),
what gives an element (`fetch NAME:0`), the GraphDef as text (`graph LINES`), and a line `element` for each element: its
components as NumPy prints them, between tabs.
"""

from __future__ import annotations

import os
import pathlib
import re
from typing import Any, Callable

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from google.protobuf import text_format  # noqa: E402

v1 = tf.compat.v1
raw = tf.raw_ops
Dataset = tf.data.Dataset
PIPELINES: dict[str, Callable[[], Any]] = {}
MOST = 40


def pipeline(f: Callable[[], Any]) -> Callable[[], Any]:
    PIPELINES[f.__name__] = f
    return f


def of_op(name: str, spec: Any, inputs: Any = (), **attrs: Any) -> Any:
    """A dataset made by an operation that the API does not make (any more)."""
    from tensorflow.python.data.ops import dataset_ops

    kind = {"output_types": [s.dtype for s in spec], "output_shapes": [s.shape for s in spec]}
    variant = getattr(raw, name)(**{k: (v._variant_tensor if isinstance(v, Dataset) else v) for k, v in dict(inputs).items()}, **attrs, **kind)
    return dataset_ops._VariantDataset(variant, tuple(spec) if len(spec) > 1 else spec[0])


INT = tf.TensorSpec([], tf.int64)
INTS = tf.TensorSpec([None], tf.int64)


@pipeline
def map_filter_batch() -> Any:
    return Dataset.range(20).map(lambda x: x * 3).filter(lambda x: x % 2 == 0).batch(4)


@pipeline
def range_with_step() -> Any:
    return Dataset.range(10, -7, -3, output_type=tf.float32)


@pipeline
def shuffle_repeat() -> Any:
    return Dataset.range(10).shuffle(4, seed=7).repeat(3)


@pipeline
def shuffle_same_order() -> Any:
    return Dataset.range(10).shuffle(20, seed=3, reshuffle_each_iteration=False).repeat(2)


@pipeline
def shuffle_and_repeat() -> Any:
    return of_op("ShuffleAndRepeatDataset", [INT], {"input_dataset": Dataset.range(7)}, buffer_size=np.int64(3), seed=np.int64(1), seed2=np.int64(2), count=np.int64(3))


@pipeline
def shuffle_and_repeat_v2() -> Any:
    return of_op("ShuffleAndRepeatDatasetV2", [INT], {"input_dataset": Dataset.range(7)}, buffer_size=np.int64(3), seed=np.int64(1), seed2=np.int64(2),
                 count=np.int64(3), seed_generator=raw.DummySeedGenerator())


@pipeline
def shuffle_v2() -> Any:
    generator = raw.AnonymousSeedGenerator(seed=np.int64(5), seed2=np.int64(6), reshuffle=True).handle
    return of_op("ShuffleDatasetV2", [INT], {"input_dataset": Dataset.range(9)}, buffer_size=np.int64(4), seed_generator=generator).repeat(2)


@pipeline
def shuffle_v3() -> Any:
    generator = raw.AnonymousSeedGenerator(seed=np.int64(5), seed2=np.int64(6), reshuffle=True).handle
    return of_op("ShuffleDatasetV3", [INT], {"input_dataset": Dataset.range(9)}, buffer_size=np.int64(4), seed=np.int64(5), seed2=np.int64(6), seed_generator=generator).repeat(2)


@pipeline
def slices_and_zip() -> Any:
    rows = Dataset.from_tensor_slices((np.arange(6.0, dtype=np.float32).reshape(3, 2), ["a", "b", "c"]))
    return Dataset.zip((rows, Dataset.range(10), Dataset.from_tensors([1, 2]).repeat()))


@pipeline
def take_skip_shard_concatenate() -> Any:
    return Dataset.range(20).skip(2).take(12).shard(3, 1).concatenate(Dataset.range(2))


@pipeline
def captured_values() -> Any:
    factor, text = tf.constant(5, tf.int64), tf.constant("x")
    return Dataset.range(4).map(lambda x: (x * factor, tf.strings.join([text, tf.strings.as_string(x)])))


@pipeline
def flat_map() -> Any:
    return Dataset.range(5).flat_map(lambda x: Dataset.range(x).map(lambda y: y + 10 * x))


@pipeline
def interleave() -> Any:
    return Dataset.range(1, 7).interleave(lambda x: Dataset.from_tensors(x).repeat(x), cycle_length=3, block_length=2)


@pipeline
def parallel_interleave() -> Any:
    return Dataset.range(1, 9).interleave(lambda x: Dataset.from_tensors(x).repeat(x), cycle_length=4, block_length=2, num_parallel_calls=3)


@pipeline
def parallel_interleave_v1() -> Any:
    return Dataset.range(1, 7).apply(tf.data.experimental.parallel_interleave(lambda x: Dataset.from_tensors(x).repeat(x), cycle_length=3, block_length=2))


@pipeline
def parallel_map() -> Any:
    return Dataset.range(12).map(lambda x: x * x, num_parallel_calls=4).prefetch(2)


@pipeline
def parallel_batch() -> Any:
    return Dataset.range(11).batch(4, num_parallel_calls=2, deterministic=True)


@pipeline
def map_and_batch() -> Any:
    return Dataset.range(9).apply(tf.data.experimental.map_and_batch(lambda x: x + 1, 4, num_parallel_calls=2))


@pipeline
def older_parallel_maps() -> Any:
    f = tf.function(lambda x: x + 5, autograph=False).get_concrete_function(INT)
    return of_op("ParallelMapDataset", [INT], {"input_dataset": Dataset.range(5)}, other_arguments=[], num_parallel_calls=2, f=f)


def _older_interleave(name: str) -> Any:
    f = tf.function(lambda x: Dataset.range(x)._variant_tensor, autograph=False).get_concrete_function(INT)
    return of_op(name, [INT], {"input_dataset": Dataset.range(6)}, other_arguments=[], cycle_length=np.int64(2), block_length=np.int64(1), num_parallel_calls=np.int64(2), f=f)


@pipeline
def parallel_interleave_v2() -> Any:
    return _older_interleave("ParallelInterleaveDatasetV2")


@pipeline
def parallel_interleave_v3() -> Any:
    return _older_interleave("ParallelInterleaveDatasetV3")


@pipeline
def padded_batch() -> Any:
    return Dataset.range(7).map(lambda x: (tf.fill([x], x), tf.as_string(x))).padded_batch(3, padded_shapes=([None], []), padding_values=(np.int64(-1), "none"))


@pipeline
def padded_batch_to_a_length() -> Any:
    rows = Dataset.range(5).map(lambda x: tf.fill([x], x))
    return rows.padded_batch(2, [6], np.int64(9), drop_remainder=True)


@pipeline
def unbatch_rebatch() -> Any:
    return Dataset.range(13).batch(5).unbatch().batch(3).rebatch([4, 2], drop_remainder=False)


@pipeline
def windows() -> Any:
    return Dataset.range(10).window(4, shift=3, stride=2, drop_remainder=False).flat_map(lambda w: w.batch(4))


@pipeline
def group_by_window() -> Any:
    return Dataset.range(12).group_by_window(lambda x: x % 3, lambda key, w: w.batch(3), window_size=3)


@pipeline
def group_by_reducer() -> Any:
    reducer = tf.data.experimental.Reducer(lambda key: key * 0, lambda old, x: old + x, lambda s: s)
    return Dataset.range(10).apply(tf.data.experimental.group_by_reducer(lambda x: x % 3, reducer))


@pipeline
def scan_and_take_while() -> Any:
    return Dataset.range(20).scan(np.int64(1), lambda s, x: (s + x, s * 2)).take_while(lambda x: x < 60)


@pipeline
def unique() -> Any:
    return Dataset.from_tensor_slices(["a", "b", "a", "c", "b"]).unique()


@pipeline
def caches() -> Any:
    return Dataset.range(6).shuffle(6, seed=2).cache().repeat(2)


@pipeline
def cache_v2() -> Any:
    return of_op("CacheDatasetV2", [INT], {"input_dataset": Dataset.range(4)}, filename="", cache=raw.DummyMemoryCache()).repeat(2)


@pipeline
def cache_v2_of_handle() -> Any:
    return of_op("CacheDatasetV2", [INT], {"input_dataset": Dataset.range(4)}, filename="", cache=raw.AnonymousMemoryCache().handle).repeat(2)


@pipeline
def choose() -> Any:
    return Dataset.choose_from_datasets([Dataset.range(3), Dataset.range(10, 20)], Dataset.from_tensor_slices(np.int64([0, 1, 1, 0, 0, 0, 1])), stop_on_empty_dataset=False)


@pipeline
def choose_experimental() -> Any:
    selector = Dataset.from_tensor_slices(np.int64([1, 0, 1]))
    return of_op("ExperimentalDirectedInterleaveDataset", [INT], {"selector_input_dataset": selector}, data_input_datasets=[Dataset.range(3)._variant_tensor, Dataset.range(7, 9)._variant_tensor])


@pipeline
def random_numbers() -> Any:
    return Dataset.random(seed=4).take(5)


@pipeline
def random_numbers_again() -> Any:
    return Dataset.random(seed=4, rerandomize_each_iteration=True).take(3).repeat(2)


@pipeline
def ignore_errors() -> Any:
    return Dataset.from_tensor_slices([1.0, 0.0, 2.0]).map(lambda x: tf.debugging.check_numerics(1.0 / x, "bad")).ignore_errors()


@pipeline
def options() -> Any:
    o = tf.data.Options()
    o.deterministic = True
    o.threading.private_threadpool_size = 2
    return Dataset.range(6).map(lambda x: x + 1, num_parallel_calls=3).with_options(o)


@pipeline
def passed_on() -> Any:
    d: Any = Dataset.range(3)
    for name, attrs in [("ModelDataset", {}), ("FinalizeDataset", {}), ("NonSerializableDataset", {}), ("MaxIntraOpParallelismDataset", {"max_intra_op_parallelism": np.int64(1)}),
                        ("PrivateThreadPoolDataset", {"num_threads": np.int64(2)}), ("AssertCardinalityDataset", {"cardinality": np.int64(3)}),
                        ("SleepDataset", {"sleep_microseconds": np.int64(10)}), ("OptimizeDataset", {"optimizations": np.array([], "S")}),
                        ("OptimizeDatasetV2", {"optimizations_enabled": np.array([], "S"), "optimizations_disabled": np.array([], "S"), "optimizations_default": np.array([], "S")}),
                        ("RewriteDataset", {"rewrite_name": ""})]:
        d = of_op(name, [INT], {"input_dataset": d}, **attrs)
    return d


@pipeline
def wrapped() -> Any:
    from tensorflow.python.data.ops import dataset_ops

    return dataset_ops._VariantDataset(raw.UnwrapDatasetVariant(input_handle=raw.WrapDatasetVariant(input_handle=Dataset.range(3)._variant_tensor)), INT)


@pipeline
def lists() -> Any:
    return tf.data.experimental.from_list([(1, "a"), (2, "b")])


@pipeline
def while_loops_in_functions() -> Any:
    return Dataset.range(5).map(lambda x: tf.while_loop(lambda i, s: i < x, lambda i, s: (i + 1, s + i), [np.int64(0), np.int64(0)])[1])


@pipeline
def random_in_map() -> Any:
    return Dataset.range(4).map(lambda x: tf.random.uniform([2], seed=3)).repeat(2)


@pipeline
def folded() -> Any:
    total = Dataset.range(6).reduce(np.int64(10), lambda s, x: s + x)
    one = Dataset.from_tensors(np.int64(3)).get_single_element()
    size = Dataset.range(100).batch(7).cardinality()
    return Dataset.from_tensors((total, one, size))


@pipeline
def generator() -> Any:
    """What from_generator makes, with functions that need no Python."""
    begin = tf.function(lambda: tf.constant(5, tf.int64), autograph=False).get_concrete_function()
    after = tf.function(lambda s: s * 2, autograph=False).get_concrete_function(INT)
    end = tf.function(lambda s: s, autograph=False).get_concrete_function(INT)
    return of_op("GeneratorDataset", [INT], init_func_other_args=[], next_func_other_args=[], finalize_func_other_args=[],
                 init_func=begin, next_func=after, finalize_func=end).take(3)


@pipeline
def sparse_slices() -> Any:
    rows = tf.sparse.SparseTensor(np.int64([[0, 1], [2, 0], [2, 3]]), np.float32([1, 2, 3]), np.int64([3, 4]))
    return v1.data.Dataset.from_sparse_tensor_slices(rows)


@pipeline
def dense_to_sparse_batch() -> Any:
    rows = Dataset.range(1, 5).map(lambda x: tf.fill([x], x))
    return rows.apply(tf.data.experimental.dense_to_sparse_batch(2, [6])).map(lambda s: (s.indices, s.values, s.dense_shape))


@pipeline
def parallel_interleave_of_old() -> Any:
    f = tf.function(lambda x: Dataset.range(x)._variant_tensor, autograph=False).get_concrete_function(INT)
    return of_op("ParallelInterleaveDataset", [INT], {"input_dataset": Dataset.range(6)}, other_arguments=[], cycle_length=np.int64(2),
                 block_length=np.int64(1), sloppy=False, buffer_output_elements=np.int64(1), prefetch_input_elements=np.int64(1), f=f)


def line(value: tuple[Any, ...]) -> str:
    texts = [str(v.decode() if isinstance(v, bytes) else v) for v in value]
    return "\t".join(t.replace("\n", "\\n") for t in texts)


def write(name: str, build: Callable[[], Any], out: Any) -> None:
    with tf.Graph().as_default() as graph:
        v1.set_random_seed(11)
        dataset = build()
        iterator = v1.data.make_initializable_iterator(dataset)
        element = iterator.get_next()
        flat = tf.nest.flatten(element)
        proto = graph.as_graph_def()
        ops = {n.op for n in proto.node} | {n.op for f in proto.library.function for n in f.node_def}
        elements = []
        with v1.Session() as session:
            session.run(iterator.initializer)
            for _ in range(MOST):
                try:
                    elements.append(line(tuple(session.run(flat))))
                except tf.errors.OutOfRangeError:
                    break
    for node in [*proto.node, *(n for f in proto.library.function for n in f.node_def)]:
        for attr in [a for a in node.attr if a in ("metadata", "_output_shapes", "experimental_debug_info")]:
            del node.attr[attr]
        node.ClearField("experimental_debug_info")
    for f in proto.library.function:
        f.ClearField("arg_attr")
    text = text_format.MessageToString(proto, as_utf8=True, indent=0).rstrip("\n")
    text = re.sub(r"^ +", "", text, flags=re.MULTILINE)
    print(f"pipeline {name}", file=out)
    for op in sorted(ops):
        print(f"op {op}", file=out)
    print(f"begin {iterator.initializer.name}", file=out)
    for t in flat:
        print(f"fetch {t.name}", file=out)
    print(f"graph {text.count(chr(10)) + 1}", file=out)
    print(text, file=out)
    for e in elements:
        print(f"element {e}", file=out)


def main() -> None:
    here = pathlib.Path(__file__).parent
    with open(here / "pipelines.txt", "w", encoding="utf-8") as out:
        for name, build in PIPELINES.items():
            write(name, build, out)


if __name__ == "__main__":
    main()
