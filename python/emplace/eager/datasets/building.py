"""How the methods of `Dataset` make operations: attributes that all of them have, values as tensors, the mode they run in."""

from __future__ import annotations

import functools
from typing import Any, Callable

import numpy as np

from emplace.eager import context, tensor_spec
from emplace.eager.datasets import structure
from emplace.framework import array_ops, constant_op, dtypes, gen, index_values, math_ops, ops, random_ops

AUTOTUNE, INFINITE, UNKNOWN = -1, -1, -2
SCALAR = tensor_spec.TensorSpec([], dtypes.int64)


def variant(op: str, inputs: Any, spec: Any, name: str | None = None, **attrs: Any) -> Any:
    """The variant tensor of a dataset whose elements look like `spec`."""
    d = gen.definition(op)
    for key, value in structure.attributes(spec).items():
        if key in d.attr_types:
            attrs.setdefault(key, value)
    if name and "metadata" in d.attr_types:
        attrs["metadata"] = _metadata(name)
    return gen.apply(op, inputs, attrs)


def _metadata(name: str) -> bytes:
    """A message whose one field, the first, is the name."""
    if not isinstance(name, str):
        raise TypeError(f"the name of a dataset is a string, not {name!r}")
    text, size = name.encode(), b""
    n = len(text)
    while n > 127:
        size, n = size + bytes([n & 127 | 128]), n >> 7
    return b"\n" + size + bytes([n]) + text


# ---- Values.


def whole(value: Any, name: str) -> Any:
    """As int64."""
    if not isinstance(value, ops.Tensor):
        index_values.check(value, dtypes.int64)
    return ops.convert_to_tensor(value, dtypes.int64, name=name)


def flag(value: Any, name: str) -> Any:
    return ops.convert_to_tensor(value, dtypes.bool, name=name)


def text(value: Any, name: str) -> Any:
    return ops.convert_to_tensor(value, dtypes.string, name=name)


def known(tensor: Any) -> Any:
    """The value, where it is known now; else None."""
    if hasattr(tensor, "_numpy_of_eager"):
        return tensor._numpy_of_eager()
    return constant_op.constant_value(tensor)


def lead_of(batch_size: Any, drop_remainder: Any) -> int | None:
    """How many rows every batch has, if that is known."""
    drops, size = known(drop_remainder), known(batch_size)
    return int(size) if drops is not None and bool(drops) and size is not None else None


def determinism(deterministic: Any) -> str:
    """The attribute of parallel stages."""
    return "default" if deterministic is None else "true" if deterministic else "false"


def seeds(seed: Any) -> tuple[Any, Any]:
    """The pair of int64 tensors of a stage that draws."""
    if hasattr(seed, "_numpy_of_eager"):
        seed = int(seed)
    one, two = random_ops.get_seed(seed)
    first = ops.convert_to_tensor(0 if one is None else one, dtypes.int64, name="seed")
    if two is None:
        return first, ops.convert_to_tensor(0, dtypes.int64, name="seed2")
    if hasattr(first, "_numpy_of_eager") and isinstance(two, int):
        two = 2**31 - 1 if (one, two) == (0, 0) else two
        return first, ops.convert_to_tensor(two, dtypes.int64, name="seed2")
    with ops.name_scope("seed2") as scope:
        second = math_ops.cast(two, dtypes.int64) if isinstance(two, ops.Tensor) else ops.convert_to_tensor(two, dtypes.int64)
        both = math_ops.logical_and(math_ops.equal(first, 0), math_ops.equal(second, 0))
        return first, array_ops.where_v2(both, constant_op.constant(2**31 - 1, dtypes.int64), second, name=scope)


def shape_tensor(dims: Any) -> Any:
    """A shape, perhaps of None or -1 for what is open, as int64."""
    if isinstance(dims, ops.Tensor):
        return dims if dims.dtype == dtypes.int64 else math_ops.cast(dims, dtypes.int64)
    if isinstance(dims, (int, np.integer)):
        dims = [dims]
    listed = getattr(dims, "as_list", lambda: dims)()
    if any(isinstance(d, ops.Tensor) for d in listed):
        return array_ops.stack([ops.convert_to_tensor(-1 if d is None else d, dtypes.int64) for d in listed])
    return constant_op.constant([-1 if d is None else int(d) for d in listed], dtypes.int64, [len(listed)])


def keeps_state() -> bool:
    """Outside a graph program's graph: what a stage remembers is a resource of its own."""
    return context.executing_eagerly() or bool(getattr(ops.get_default_graph(), "building_function", False))


def beside(dataset: Any) -> Any:
    """A block whose operations go where the dataset is."""
    given, graph = dataset._variant_tensor, ops.get_default_graph()
    if isinstance(given, ops.SymbolicTensor) and given.graph is not graph and hasattr(graph, "inside"):
        given = graph.inside(given)
    return ops.colocate_with(given)


# ---- Where a method runs.


def in_its_mode(function: Callable[..., Any]) -> Callable[..., Any]:
    """Outside graphs at once and on the host; that of a graph program's class as the program is set."""
    at_once = context.v2(function)

    @functools.wraps(function)
    def call(owner: Any, *args: Any, **kwargs: Any) -> Any:
        if owner._of_graph_program:
            return function(owner, *args, **kwargs)
        if ops._default_graphs.stack:
            return at_once(owner, *args, **kwargs)
        with context.on_host():
            return at_once(owner, *args, **kwargs)

    return call


def in_their_mode(kind: Any) -> Any:
    """A class whose public methods, and those Python calls, run in its mode."""
    for word, member in list(vars(kind).items()):
        if word.startswith("_") and word not in ("__iter__", "__len__", "__next__"):
            continue
        if isinstance(member, classmethod):
            setattr(kind, word, classmethod(in_its_mode(member.__func__)))
        elif callable(member) and hasattr(member, "__code__"):
            setattr(kind, word, in_its_mode(member))
    return kind
