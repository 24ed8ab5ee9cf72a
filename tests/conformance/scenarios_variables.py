"""Variables in both forms, and what counts, gathers, mutexes and generators do with them."""

from __future__ import annotations

from typing import Any

import numpy as np

from scenario import Run, as_of, rows, scenario


def _ref(tf: Any, raw: Any, run: Any, value: Any, op: str = "VariableV2") -> Any:
    value = np.asarray(value)
    ref = getattr(raw, op)(shape=list(value.shape), dtype=tf.as_dtype(value.dtype))
    run(raw.Assign(ref=ref, value=value))
    return ref


def _handle(tf: Any, raw: Any, run: Any, value: Any) -> Any:
    value = np.asarray(value)
    handle = raw.VarHandleOp(shape=list(value.shape), dtype=tf.as_dtype(value.dtype))
    run(raw.AssignVariableOp(resource=handle, value=value))
    return handle


def _with_ref(op: str, *steps: Any) -> Any:
    def build(tf: Any, raw: Any, run: Any) -> None:
        ref = _ref(tf, raw, run, np.float32([1, 2, 3]), op)
        for step in steps:
            run(step(raw, ref))
        run(raw.Identity(input=ref))

    return build


for _op in ("Variable", "VariableV2"):
    rows(f"{_op}_", {
        "assign": _with_ref(_op, lambda raw, v: raw.Assign(ref=v, value=[4.0, 5.0, 6.0])),
        "assign_of_another_shape": _with_ref(_op, lambda raw, v: raw.Assign(ref=v, value=[4.0])),
        "assign_any_shape": _with_ref(_op, lambda raw, v: raw.Assign(ref=v, value=[4.0], validate_shape=False)),
        "add": _with_ref(_op, *[lambda raw, v: raw.AssignAdd(ref=v, value=[1.0, 1.0, 1.0])] * 2),
        "sub": _with_ref(_op, lambda raw, v: raw.AssignSub(ref=v, value=[1.0, 1.0, 1.0])),
        "sub_of_another_shape": _with_ref(_op, lambda raw, v: raw.AssignSub(ref=v, value=[1.0, 1.0])),
        "identity": _with_ref(_op, lambda raw, v: raw.AssignAdd(ref=raw.RefIdentity(input=v), value=[1.0, 1.0, 1.0])),
        "initialized": _with_ref(_op, lambda raw, v: raw.IsVariableInitialized(ref=v)),
        "slice": _with_ref(_op, lambda raw, v: raw.StridedSliceAssign(ref=v, begin=[1], end=[3], strides=[1], value=[8.0, 9.0])),
        "slice_of_another_shape": _with_ref(_op, lambda raw, v: raw.StridedSliceAssign(ref=v, begin=[1], end=[3], strides=[1], value=[8.0])),
    })


@scenario
def variable_before_it_is_set(tf: Any, raw: Any, run: Any) -> None:
    ref = raw.VariableV2(shape=[2], dtype=tf.float32)
    handle = raw.VarHandleOp(shape=[2], dtype=tf.float32)
    run(raw.IsVariableInitialized(ref=ref), raw.VarIsInitializedOp(resource=handle))
    run(raw.Identity(input=ref))
    run(raw.ReadVariableOp(resource=handle, dtype=tf.float32))
    run(raw.AssignAdd(ref=ref, value=[1.0, 1.0]))
    run(raw.AssignAddVariableOp(resource=handle, value=[1.0, 1.0]))
    run(raw.VariableShape(input=handle))
    run(raw.DestroyResourceOp(resource=handle, ignore_lookup_error=False))
    run(raw.DestroyResourceOp(resource=handle))


@scenario
def variable_shared_by_name(tf: Any, raw: Any, run: Any) -> None:
    one, two = (raw.VarHandleOp(shape=[], dtype=tf.int32, shared_name="both") for _ in range(2))
    run(raw.AssignVariableOp(resource=one, value=5))
    run(raw.ReadVariableOp(resource=two, dtype=tf.int32))
    run(raw.ReadVariableOp(resource=two, dtype=tf.float32))
    refs = [raw.VariableV2(shape=[], dtype=tf.int32, shared_name="refs") for _ in range(2)]
    run(raw.Assign(ref=refs[0], value=6))
    run(raw.Identity(input=refs[1]))


@scenario
def resource_variable(tf: Any, raw: Any, run: Any) -> None:
    v = _handle(tf, raw, run, np.float32([[1, 2], [3, 4], [5, 6]]))
    run(raw.ReadVariableOp(resource=v, dtype=tf.float32), raw.VarIsInitializedOp(resource=v))
    run(raw.VariableShape(input=v), raw.VariableShape(input=v, out_type=tf.int64))
    run(raw.ResourceGather(resource=v, indices=[[2, 0], [1, 1]], dtype=tf.float32))
    run(raw.ResourceGather(resource=v, indices=[3], dtype=tf.float32))
    run(raw.ResourceGather(resource=v, indices=[[0], [1], [1]], dtype=tf.float32, batch_dims=1))
    run(raw.ResourceGatherNd(resource=v, indices=[[2, 1], [0, 0]], dtype=tf.float32), raw.ResourceGatherNd(resource=v, indices=[[1]], dtype=tf.float32))
    run(raw.ResourceGatherNd(resource=v, indices=[[0, 2]], dtype=tf.float32))
    run(raw.DisableCopyOnRead(resource=v))
    run(raw.AssignSubVariableOp(resource=v, value=np.ones((3, 2), np.float32)))
    run(raw.AssignAddVariableOp(resource=v, value=[1.0]))
    run(raw.AssignVariableOp(resource=v, value=[1.0]))
    run(raw.ReadVariableOp(resource=v, dtype=tf.float32))
    run(raw.DestroyResourceOp(resource=v))
    run(raw.VarIsInitializedOp(resource=v))
    run(raw.ReadVariableOp(resource=v, dtype=tf.float32))


@scenario
def counts(tf: Any, raw: Any, run: Any) -> None:
    ref, handle = _ref(tf, raw, run, np.int32(1)), _handle(tf, raw, run, np.int64(1))
    up, other = raw.CountUpTo(ref=ref, limit=3), raw.ResourceCountUpTo(resource=handle, limit=3, T=tf.int64)
    for _ in range(3):
        run(up)
        run(other)
    run(raw.Identity(input=ref), raw.ReadVariableOp(resource=handle, dtype=tf.int64))


@scenario
def mutex(tf: Any, raw: Any, run: Any) -> Any:
    m = raw.MutexV2(shared_name="m")
    for i in range(3):
        lock = raw.MutexLock(mutex=m)
        with tf.control_dependencies([lock]):
            x = tf.constant(i)
        with tf.control_dependencies([x]):
            done = raw.ConsumeMutexLock(mutex_lock=lock)
        with tf.control_dependencies([done]):
            run(raw.Identity(input=x))


@scenario
def session_tensors(tf: Any, raw: Any, run: Any) -> None:
    kept = raw.GetSessionHandle(value=tf.constant([1.5, 2.5]))
    handles = [run.values(kept)[0].handle for _ in range(2)]
    run.note(*handles)
    p = tf.placeholder(tf.string)
    take, wrong, drop = raw.GetSessionTensor(handle=p, dtype=tf.float32), raw.GetSessionTensor(handle=p, dtype=tf.int32), raw.DeleteSessionTensor(handle=p)
    for handle in handles:
        run(take, feeds={p: handle})
    run(wrong, feeds={p: handles[0]})
    for _ in range(2):
        run(drop, feeds={p: handles[0]})
    for handle in handles:
        run(take, feeds={p: handle})
    run(lambda: raw.GetSessionTensor(handle=tf.constant(["a"]), dtype=tf.float32))


STATES = {"philox": (1, [1, 2, 3]), "threefry": (2, [1, 2]), "philox_of_a_short_state": (1, [1, 2]), "no_such_algorithm": (7, [1, 2, 3])}


def _generator(alg: int, state: list[int]) -> Any:
    def build(tf: Any, raw: Any, run: Any) -> None:
        v = _handle(tf, raw, run, np.int64(state))
        read = raw.ReadVariableOp(resource=v, dtype=tf.int64)
        for step in (
            raw.StatefulStandardNormalV2(resource=v, algorithm=np.int64(alg), shape=[3]),
            raw.StatefulUniform(resource=v, algorithm=np.int64(alg), shape=[3]),
            raw.StatefulUniformInt(resource=v, algorithm=np.int64(alg), shape=[3], minval=np.int64(0), maxval=np.int64(99)),
            raw.StatefulUniformFullInt(resource=v, algorithm=np.int64(alg), shape=[3], dtype=tf.uint64),
            raw.StatefulTruncatedNormal(resource=v, algorithm=np.int64(alg), shape=[3]),
            raw.RngSkip(resource=v, algorithm=np.int64(alg), delta=np.int64(9)),
            raw.RngReadAndSkip(resource=v, alg=alg, delta=np.uint64(5)),
        ):
            run(step)
        run(read)

    return build


rows("generator_", {name: _generator(*state) for name, state in STATES.items()})


@scenario
def generator_whose_state_names_its_algorithm(tf: Any, raw: Any, run: Run) -> None:
    as_of(tf, 28)
    v = _handle(tf, raw, run, np.int64([1, 2, 3, 4]))
    for _ in range(2):
        run(raw.StatefulStandardNormal(resource=v, shape=[3]))
    run(raw.ReadVariableOp(resource=v, dtype=tf.int64))


@scenario
def normal_numbers_between_bounds(tf: Any, raw: Any, run: Run) -> None:
    """Which are far, close, on one side; a stream goes on with each step."""

    def drawn(shape: Any, *given: Any, dtype: str = "float32") -> Any:
        parameters = dict(zip(("means", "stdevs", "minvals", "maxvals"), (np.array(g, dtype) for g in given)))
        return raw.ParameterizedTruncatedNormal(shape=np.array(shape, np.int32), **parameters, seed=7, seed2=9)

    for low, high in ((-0.5, 0.7), (-2, 2), (3, 20), (2, 3.5), (-np.inf, -2), (1, np.inf)):
        one, two = drawn([9], 0, 1, low, high), drawn([9], 0, 1, low, high, dtype="float64")
        run(one, two)
        run(one, two)
    run(drawn([3, 5], [0, 1, 2], 1, [-0.5, 0.5, -9], [0.7, 2, 9]))
    run(drawn([120, 2], 1, 2, 0, 9))
    run(drawn([0], 0, 1, -1, 1))
    for shape, means in (([], 0), ([2, 3], [0, 1, 2]), ([-1], 0)):
        run(drawn(shape, means, 1, -1, 1))
    for given in ((0, -1, -1, 1), (0, 1, 1, 1), (0, 1, -np.inf, np.inf)):
        run(drawn([3], *given))
    run(lambda: drawn([3], [[0.0]], 1, -1, 1))


@scenario
def random_without_a_seed(tf: Any, raw: Any, run: Any) -> None:
    """Nobody knows the values, but the shapes."""
    run(tf.shape(raw.NonDeterministicInts(shape=[2, 3])), raw.StatelessRandomGetAlg())
    a, b = (raw.NonDeterministicInts(shape=[4], dtype=tf.uint64) for _ in range(2))
    run(tf.reduce_all(tf.equal(a, b)))
    run(raw.NonDeterministicInts(shape=[-1]))


@scenario
def temporary_variable_like_steps(tf: Any, raw: Any, run: Any) -> None:
    """An update and a read in one step, in the order of control edges."""
    ref = _ref(tf, raw, run, np.float32([1, 2]))
    with tf.control_dependencies([raw.AssignAdd(ref=ref, value=[1.0, 1.0])]):
        first = raw.Identity(input=ref)
    with tf.control_dependencies([first]), tf.control_dependencies([raw.AssignSub(ref=ref, value=[5.0, 5.0])]):
        run(raw.Identity(input=ref))
