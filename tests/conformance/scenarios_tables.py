"""Lookup tables and accumulators of gradients, in all their forms."""

from __future__ import annotations

from typing import Any

import numpy as np

from scenario import Run, rows, scenario


def _ops(raw: Any, table: Any, v: str) -> Any:
    return lambda name, **args: getattr(raw, f"LookupTable{name}{v}")(table_handle=table, **args)


def _fixed(op: str, v: str) -> Any:
    """Filled once."""

    def build(tf: Any, raw: Any, run: Run) -> None:
        table = getattr(raw, op)(key_dtype=tf.string, value_dtype=tf.int64)
        do, many = _ops(raw, table, v), {"keys": ["a", "b", "c"], "values": np.int64([1, 2, 3])}
        find = do("Find", keys=["c", "x", "a"], default_value=np.int64(-1))
        init = getattr(raw, "InitializeTable" + v)(table_handle=table, **many)
        if op.startswith("Anonymous"):  # a table each step: its use follows from its being filled
            with tf.control_dependencies([init]):
                run(do("Find", keys=["c", "x", "a"], default_value=np.int64(-1)), do("Size"))
            return
        run(find)
        run(do("Size"))
        run(init)
        run(find, do("Size"))
        run(do("Export", Tkeys=tf.string, Tvalues=tf.int64)[0].op)
        run(init)  # the same once more
        run(getattr(raw, "InitializeTable" + v)(table_handle=table, keys=["d"], values=np.int64([4])))
        run(do("Insert", **many))
        run(do("Find", keys=[1], default_value=np.int64(-1)))
        run(do("Find", keys=["a"], default_value=1.5))

    return build


rows("table_fixed_", {op: _fixed(op, "V2" if op != "HashTable" else "") for op in ("HashTable", "HashTableV2", "AnonymousHashTable")})


def _sorted(tf: Any, raw: Any, exported: Any) -> Any:
    """An export in the order of its keys."""
    keys, values = exported
    keys = tf.reshape(keys, [-1])
    order = raw.TopKV2(input=raw.Neg(x=keys), k=tf.size(keys)).indices
    return tf.gather(keys, order), tf.gather(values, order)


DENSE: dict[str, Any] = {"empty_key": np.int64(-1), "initial_num_buckets": 8}
MUTABLE: dict[str, dict[str, Any]] = {
    "MutableHashTable": {}, "MutableHashTableV2": {}, "AnonymousMutableHashTable": {},
    "MutableHashTableOfTensors": {"value_shape": [2]}, "MutableHashTableOfTensorsV2": {"value_shape": [2]},
    "AnonymousMutableHashTableOfTensors": {"value_shape": [2]},
    "MutableDenseHashTableV2": {**DENSE, "deleted_key": np.int64(-2), "value_shape": [2]},
    "AnonymousMutableDenseHashTable": {**DENSE, "deleted_key": np.int64(-2), "value_shape": [2]},
}


def _changing(op: str, attrs: dict[str, Any]) -> Any:
    v = "V2" if op.endswith("V2") or op.startswith("Anonymous") else ""

    def build(tf: Any, raw: Any, run: Run) -> None:
        more = {"value_dtype": tf.float32, **attrs}
        if "Dense" not in op:
            more["key_dtype"] = tf.int64
        width = attrs.get("value_shape", [])
        value = np.zeros(width, np.float32)

        def values(*numbers: float) -> Any:
            return np.float32([np.full(width, n) for n in numbers])

        if op.startswith("Anonymous"):
            do = _ops(raw, getattr(raw, op)(**more), v)
            with tf.control_dependencies([do("Insert", keys=np.int64([1, 2]), values=values(10, 20))]):
                size, found = do("Size"), do("Find", keys=np.int64([2, 3]), default_value=value - 1)
            with tf.control_dependencies([size, found]), tf.control_dependencies([do("Remove", keys=np.int64([2]))]):
                run(size, found, *_sorted_export(tf, raw, do, "Dense" in op))
            return
        do = _ops(raw, getattr(raw, op)(**more), v)
        find = do("Find", keys=np.int64([2, 3]), default_value=value - 1)
        run(find, do("Size"))
        run(do("Insert", keys=np.int64([1, 2]), values=values(10, 20)))
        run(find, do("Size"))
        run(do("Insert", keys=np.int64([2, 3]), values=values(21, 30)))
        run(find, do("Size"), *_sorted_export(tf, raw, do, "Dense" in op))
        if v == "V2":
            run(do("Remove", keys=np.int64([1, 9])))
            run(do("Find", keys=np.int64([1]), default_value=value - 1), do("Size"))
        if "Dense" not in op:  # TensorFlow wants values of one element's shape, and has keys for many
            run(do("Import", keys=np.int64([7]), values=values(70)))
        run(do("Size"), *_sorted_export(tf, raw, do, "Dense" in op))
        if "Dense" not in op:  # TensorFlow ends the process
            run(do("Insert", keys=np.int64([1, 2]), values=values(1)))
            run(lambda: do("Find", keys=np.int32([1]), default_value=value))
        else:
            run(do("Insert", keys=np.int64([-1]), values=values(1)))
            run(do("Find", keys=np.int64([-1]), default_value=value))
            run(do("Insert", keys=np.arange(40), values=values(*range(40))))
            run(do("Size"), do("Find", keys=np.int64([39, 0, 41]), default_value=value))

    return build


def _sorted_export(tf: Any, raw: Any, do: Any, dense: bool) -> Any:
    keys, values = do("Export", Tkeys=tf.int64, Tvalues=tf.float32)
    if dense:  # whole buckets
        full = raw.Where(condition=tf.greater_equal(keys, 0))[:, 0]
        keys, values = tf.gather(keys, full), tf.gather(values, full)
    return _sorted(tf, raw, (keys, values))


@scenario
def table_dense_of_the_first_kind(tf: Any, raw: Any, run: Run) -> None:
    """TensorFlow refuses each, as it looks for an input that is not there: so one that may be refused."""
    table = raw.MutableDenseHashTable(empty_key=np.int64(-1), value_dtype=tf.float32, initial_num_buckets=3)
    run(raw.LookupTableSize(table_handle=table))


@scenario
def table_dense_of_odd_sizes(tf: Any, raw: Any, run: Run) -> None:
    for given in ({"initial_num_buckets": 3}, {"initial_num_buckets": 0}, {"max_load_factor": 0.0}, {"max_load_factor": 1.0}, {"deleted_key": [np.int64(-2)]}):
        table = raw.MutableDenseHashTableV2(**{"empty_key": np.int64(-1), "deleted_key": np.int64(-2), "value_dtype": tf.float32, **given})
        run(raw.LookupTableSizeV2(table_handle=table))


rows("table_", {op: _changing(op, attrs) for op, attrs in MUTABLE.items()})


def _from_file(v: str) -> Any:
    def build(tf: Any, raw: Any, run: Run) -> None:
        with open(run.path("words"), "w") as f:
            f.write("a 10\nb 20\nc 30\n")
        init = "InitializeTableFromTextFile" + v

        def table(key: int, value: int, kinds: Any, **more: Any) -> Any:
            made = getattr(raw, "HashTable" + v)(key_dtype=kinds[0], value_dtype=kinds[1])
            run(getattr(raw, init)(table_handle=made, filename=run.path("words"), key_index=key, value_index=value, delimiter=" ", **more))
            return _ops(raw, made, v)

        words = table(0, 1, (tf.string, tf.int64))
        run(words("Find", keys=["b", "x"], default_value=np.int64(-1)), words("Size"))
        lines = table(-1, 0, (tf.int64, tf.string))
        run(lines("Find", keys=np.int64([2, 5]), default_value="?"), lines("Size"))
        whole = table(-2, -1, (tf.string, tf.int64), vocab_size=3)
        run(whole("Find", keys=["c 30", "c"], default_value=np.int64(-1)), whole("Size"))
        table(0, 1, (tf.string, tf.int64), vocab_size=4)
        table(0, 2, (tf.string, tf.int64))
        made = getattr(raw, "HashTable" + v)(key_dtype=tf.string, value_dtype=tf.int64)
        run(getattr(raw, init)(table_handle=made, filename=run.path("none"), key_index=0, value_index=1))

    return build


rows("table_from_file", {"": _from_file(""), "V2": _from_file("V2")})


def _accumulator(make: str, prefix: str, reduction: str) -> Any:
    def build(tf: Any, raw: Any, run: Run) -> None:
        handle = getattr(raw, make)(dtype=tf.float32, shape=[2], reduction_type=reduction)

        def do(name: str, **args: Any) -> Any:
            return getattr(raw, prefix + name)(handle=handle, **args)

        for step, x in ((0, [1.0, 2.0]), (0, [3.0, 6.0])):
            run(do("ApplyGradient", local_step=np.int64(step), gradient=x))
        run(do("NumAccumulated"))
        run(do("TakeGradient", num_required=2, dtype=tf.float32))
        run(do("NumAccumulated"))
        run(do("SetGlobalStep", new_global_step=np.int64(5)))
        run(do("ApplyGradient", local_step=np.int64(4), gradient=[9.0, 9.0]))  # too old: left out
        run(do("NumAccumulated"))
        run(do("ApplyGradient", local_step=np.int64(5), gradient=[7.0, 8.0]))
        run(do("TakeGradient", num_required=1, dtype=tf.float32))
        run(do("ApplyGradient", local_step=np.int64(9), gradient=[1.0]))
        run(do("TakeGradient", num_required=0, dtype=tf.float32))
        run(do("SetGlobalStep", new_global_step=np.int64(2)))

    return build


for _r in ("MEAN", "SUM"):
    rows(f"accumulator_{_r}_", {
        "ref": _accumulator("ConditionalAccumulator", "Accumulator", _r), "resource": _accumulator("ResourceConditionalAccumulator", "ResourceAccumulator", _r),
    })


@scenario
def accumulator_of_slices(tf: Any, raw: Any, run: Run) -> None:
    handle = raw.SparseConditionalAccumulator(dtype=tf.float32, shape=[4, 2])

    def put(indices: list[int], values: Any, step: int = 0, shape: Any = (4, 2), known: bool = True) -> Any:
        return raw.SparseAccumulatorApplyGradient(
            handle=handle, local_step=np.int64(step), gradient_indices=np.int64(indices), gradient_values=np.float32(values),
            gradient_shape=np.int64(shape), has_known_shape=known)

    run(put([0, 2], [[1, 1], [2, 2]]))
    run(put([2, 3], [[4, 4], [5, 5]], shape=(), known=False))
    run(raw.AccumulatorNumAccumulated(handle=handle))
    run(raw.SparseAccumulatorTakeGradient(handle=handle, num_required=2, dtype=tf.float32))
    run(put([1], [[9, 9]]))  # too old
    run(put([1], [[1, 1, 1]], step=1))
    run(put([1], [[1, 1]], step=1, shape=(5, 2)))
    run(put([1, 2], [[1, 1]], step=1))
    run(put([1], [[6, 7]], step=1))
    run(raw.AccumulatorSetGlobalStep(handle=handle, new_global_step=np.int64(4)))
    run(put([1], [[9, 9]], step=2))
    run(raw.SparseAccumulatorTakeGradient(handle=handle, num_required=1, dtype=tf.float32))
