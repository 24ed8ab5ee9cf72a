"""`tf.__internal__`: what packages that build on TensorFlow take from beneath its public names. Keras does."""

from __future__ import annotations

import contextlib
import importlib
import types
from typing import Any, Callable

from emplace.eager import func_graph, modes
from emplace.eager.functions import array, flow
from emplace.framework import ops, tensor, trackable

CompositeTensor = tensor.CompositeTensor
TensorType = tensor.TensorLike
EagerTensor = ops.EagerTensor  # type: ignore[attr-defined]


class _AnyFuncGraph(type):
    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, func_graph.FuncGraph)


class FuncGraph(func_graph.FuncGraph, metaclass=_AnyFuncGraph):
    """One that others make: it may take what the function has that is being traced around it."""

    def __init__(self, name: str, *_: Any, **__: Any) -> None:
        super().__init__(name, func_graph.innermost())




def smart_cond(pred: Any, true_fn: Callable[[], Any] | None = None, false_fn: Callable[[], Any] | None = None, name: str | None = None) -> Any:
    """`tf.cond`, but only the branch that is taken where the predicate is known already."""
    if not callable(true_fn) or not callable(false_fn):
        raise TypeError("`true_fn` and `false_fn` must be callable")
    known = array.get_static_value(pred) if isinstance(pred, ops.Tensor) else pred
    if isinstance(known, ops.Tensor) or hasattr(known, "_dense_var_to_tensor") or known is None:
        return flow.cond(pred, true_fn=true_fn, false_fn=false_fn, name=name)
    return true_fn() if known else false_fn()


@contextlib.contextmanager
def eager_mode() -> Any:
    """What is made within it is run at once, even in a function that is being traced."""
    with modes.init_scope():
        yield


def unwrap(decorated: Any) -> tuple[list[Any], Any]:
    """The decorators of a function, outermost first, and the function below them."""
    decorators = []
    while (inner := getattr(decorated, "__wrapped__", None)) is not None:
        decorators.append(decorated)
        decorated = inner
    return decorators, decorated


def dynamic_update_slice(operand: Any, update: Any, start_indices: Any) -> Any:
    """`operand` with `update` in the place that begins at `start_indices`, which are moved so that it fits."""
    from emplace.framework import array_ops, clip_ops, dtypes, math_ops

    operand, update = ops.convert_to_tensor(operand), ops.convert_to_tensor(update)
    shape = array_ops.shape(update)
    start = math_ops.cast(ops.convert_to_tensor(start_indices), dtypes.int32)
    start = clip_ops.clip_by_value(start, 0, array_ops.shape(operand) - shape)
    ranges = [math_ops.range(shape[i]) + start[i] for i in range(operand.shape.rank)]
    if not ranges:
        return update
    places = array_ops.stack(array_ops.meshgrid(*ranges, indexing="ij"), -1)
    return array_ops.tensor_scatter_nd_update(operand, places, update)


_specs: dict[str, Any] = {}


def register_spec(name: str) -> Callable[[type], type]:
    """Decorates a TypeSpec of a program's own: it is saved under this name."""

    def keep(spec: type) -> type:
        if name in _specs:
            raise ValueError(f"Name {name} has already been registered for class {_specs[name].__module__}.{_specs[name].__name__}.")
        _specs[name] = spec
        return spec

    return keep


def name_of_spec(spec: type) -> str:
    """The name a TypeSpec class was registered under; ValueError if it was not."""
    for name, kind in _specs.items():
        if kind is spec:
            return name
    raise ValueError(f"TypeSpec {spec.__module__}.{spec.__name__} has not been registered.")


def spec_of_name(name: str) -> type:
    """The TypeSpec class registered under a name; ValueError if there is none."""
    if not isinstance(name, str):
        raise TypeError(f"Expected `name` to be a string; got {name!r}.")
    if name not in _specs:
        raise ValueError(f"No TypeSpec has been registered with name {name!r}.")
    return _specs[name]


class _Space(types.ModuleType):
    def __init__(self, name: str, **members: Any) -> None:
        super().__init__(f"emplace.__internal__{name and '.'}{name}")
        self.__dict__.update(members)


class _Internal(_Space):
    """The module; its `distribute` is loaded when first asked for."""

    def __getattr__(self, name: str) -> Any:
        if name == "distribute":
            contexts = importlib.import_module("emplace.distribute.contexts")
            interim = _Space("distribute.interim", maybe_merge_call=contexts.maybe_merge_call)
            return _Space("distribute", interim=interim, strategy_supports_no_merge_call=contexts.strategy_supports_no_merge_call)
        raise AttributeError(f"tf.__internal__.{name} is not part of Emplace")


space = _Internal(
    "", CompositeTensor=CompositeTensor, EagerTensor=EagerTensor, FuncGraph=FuncGraph,
    decorator=_Space("decorator", unwrap=unwrap),
    eager_context=_Space("eager_context", eager_mode=eager_mode),
    smart_cond=_Space("smart_cond", smart_cond=smart_cond),
    tf2=_Space("tf2", enabled=lambda: True),
    tracking=_Space(
        "tracking", Trackable=trackable.Trackable, AutoTrackable=trackable.AutoTrackable,
        no_automatic_dependency_tracking=trackable.no_automatic_dependency_tracking,
    ),
    type_spec=_Space("type_spec", register=register_spec, get_name=name_of_spec, lookup=spec_of_name),
    types=_Space("types", Tensor=TensorType),
)  # fmt: skip
