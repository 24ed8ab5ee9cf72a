"""Functions and classes below `tensorflow.python` that programs use and that stand behind no public name."""

from __future__ import annotations

import contextlib
import functools
import importlib
import itertools
import types
from typing import Any, Callable, Iterator

from emplace.eager import context as eager_context
from emplace.eager import modes, nest
from emplace.framework import constant_op, dtypes, ops, tensor_shape

_numbers = itertools.count(1)
contextmanager = contextlib.contextmanager


# ---- Which mode, which devices.


class _Context:
    """What `context.context()` gives: questions about the eager engine."""

    def executing_eagerly(self) -> bool:
        return modes.executing_eagerly()

    def ensure_initialized(self) -> None:
        eager_context.engine()

    def num_gpus(self) -> int:
        from emplace.eager import config

        return len(config.list_logical_devices("GPU"))

    def clear_kernel_cache(self) -> None:
        """Kernels are kept by what they do, not by who asked: there is nothing to clear."""

    @property
    def device_name(self) -> str:
        return eager_context.current_device()

    @property
    def summary_writer(self) -> Any:
        from emplace.framework.thread_state import own

        return own.summary["writer"]


_context = _Context()


def context() -> _Context:
    """The eager engine's context."""
    return _context


def num_gpus() -> int:
    """How many GPUs the eager engine has."""
    return _context.num_gpus()


def async_wait() -> None:
    """Waits for what runs: an operation's caller has waited for it already."""


def reset_context() -> None:
    """Ends the engine, so that devices can be configured anew; tensors made so far keep their values on the CPU only."""
    from emplace.eager import config

    config.start_anew()


@contextlib.contextmanager
def graph_mode() -> Iterator[None]:
    """What is made within it belongs to a graph."""
    with ops.get_default_graph().as_default():
        yield


def global_seed() -> Any:
    """What `tf.random.set_seed` was given, None if nothing was."""
    from emplace.eager.functions import random

    return random.global_seed()


def tf2_enabled() -> bool:
    """Whether TensorFlow 2's behaviour is on."""
    return eager_context._state.eager_everywhere  # type: ignore[no-any-return]


def executing_eagerly_outside_functions() -> bool:
    """Whether operations outside of functions run at once."""
    if modes.executing_eagerly():
        return True
    stack = ops._default_graphs.stack
    return bool(stack) and all(hasattr(g, "_capture") for g in stack)


# ---- Values and graphs.


def uid() -> int:
    """A number that no other call got."""
    return next(_numbers)


def graph_of_inputs(op_input_list: Any, graph: Any = None) -> Any:
    """The graph that tensors are of."""
    return graph or next((t.graph for t in nest.flatten(op_input_list) if isinstance(t, ops.SymbolicTensor)), ops.get_default_graph())


def smart_constant_value(pred: Any) -> Any:
    """A predicate's value where it is known, else None."""
    if isinstance(pred, (bool, int)):
        return bool(pred)
    return constant_op.constant_value(pred) if isinstance(pred, ops.Tensor) else None


def constant_value_as_shape(tensor: Any) -> tensor_shape.TensorShape:
    """A tensor of sizes as a shape, unknown where its value is."""
    known = constant_op.constant_value(tensor)
    if known is None:
        return tensor_shape.TensorShape([None] * tensor.shape[0] if tensor.shape.rank == 1 and tensor.shape[0] is not None else None)
    return tensor_shape.TensorShape([None if d < 0 else int(d) for d in known])


def is_resource_variable(var: Any) -> bool:
    """Whether a value is a variable that stands behind a handle."""
    return hasattr(var, "_handle") or getattr(var, "dtype", None) is dtypes.resource


def flatten_with_joined_string_paths(structure: Any, separator: str = "/", expand_composites: bool = False) -> list[tuple[str, Any]]:
    """The leaves with the keys that lead to them."""

    def walk(value: Any, path: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
        if not nest.is_nested(value, expand_composites):
            yield separator.join(path), value
            return
        named = value.items() if isinstance(value, dict) else zip(getattr(value, "_fields", itertools.count()), value)
        for key, child in sorted(named) if isinstance(value, dict) else named:
            yield from walk(child, (*path, str(key)))

    return list(walk(structure, ()))


def map_structure_up_to(shallow_tree: Any, func: Callable[..., Any], *inputs: Any, **kwargs: Any) -> Any:
    """What the function gives for the parts of the inputs that stand at the shallow tree's leaves."""

    def parts(shallow: Any, values: tuple[Any, ...]) -> Any:
        if not nest.is_nested(shallow):
            return func(*values, **kwargs)
        below = zip(nest._children(shallow), *(nest._children(v) for v in values))
        return nest._rebuild(shallow, [parts(s, vs) for s, *vs in below])  # type: ignore[arg-type]

    return parts(shallow_tree, inputs)


# ---- Python helpers.


class tf_export:  # noqa: N801  (a decorator)
    """Names under which a function is public: kept with it."""

    def __init__(self, *names: str, **_: Any) -> None:
        self._names = names

    def __call__(self, function: Any) -> Any:
        with contextlib.suppress(AttributeError, TypeError):
            function._tf_api_names = self._names
        return function

    def export_constant(self, module_name: str, name: str) -> None:
        """A constant's module keeps it anyhow."""


def deprecated(*_: Any, **__: Any) -> Callable[[Any], Any]:
    """Decorates what will go: the function stays as it is."""
    return lambda function: function


def make_decorator(target: Any, decorator_func: Any, decorator_name: Any = None, *_: Any, **__: Any) -> Any:
    """`decorator_func` in the guise of `target`."""
    return functools.wraps(target)(decorator_func)


def remove_undocumented(module_name: str, *_: Any, **__: Any) -> None:
    """What a module shows is its own affair."""


class LazyLoader(types.ModuleType):
    """A module that is imported when first asked for a name."""

    def __init__(self, local_name: str, parent_module_globals: dict[str, Any], name: str, warning: str | None = None) -> None:
        super().__init__(name)
        self._local_name, self._scope = local_name, parent_module_globals

    def _load(self) -> Any:
        module = importlib.import_module(self.__name__)
        self._scope[self._local_name] = module
        return module

    def __getattr__(self, name: str) -> Any:
        return getattr(self._load(), name)

    def __dir__(self) -> list[str]:
        return dir(self._load())


class ObjectIdentityDictionary(dict):  # type: ignore[type-arg]
    """A dict whose keys are told apart by identity."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self.update(dict(*args, **kwargs))

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(id(key), (key, value))

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(id(key))[1]

    def __delitem__(self, key: Any) -> None:
        super().__delitem__(id(key))

    def __contains__(self, key: object) -> bool:
        return super().__contains__(id(key))

    def __iter__(self) -> Iterator[Any]:
        return iter([key for key, _ in super().values()])

    def get(self, key: Any, default: Any = None) -> Any:
        return self[key] if key in self else default

    def pop(self, key: Any, *default: Any) -> Any:
        return super().pop(id(key), (key, *default))[1]

    def setdefault(self, key: Any, default: Any = None) -> Any:
        return super().setdefault(id(key), (key, default))[1]

    def update(self, other: Any = (), **kwargs: Any) -> None:  # type: ignore[override]
        for key, value in dict(other, **kwargs).items() if not isinstance(other, ObjectIdentityDictionary) else other.items():
            self[key] = value

    def keys(self) -> Any:
        return list(self)

    def values(self) -> Any:
        return [value for _, value in super().values()]

    def items(self) -> Any:
        return list(super().values())


class ObjectIdentitySet:
    """A set whose elements are told apart by identity."""

    def __init__(self, *elements: Any) -> None:
        self._held = {id(e): e for given in elements for e in given}

    def add(self, element: Any) -> None:
        self._held[id(element)] = element

    def discard(self, element: Any) -> None:
        self._held.pop(id(element), None)

    def update(self, elements: Any) -> None:
        self._held.update({id(e): e for e in elements})

    def __contains__(self, element: object) -> bool:
        return id(element) in self._held

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self._held.values()))

    def __len__(self) -> int:
        return len(self._held)


def undocumented(thing: Any) -> Any:
    """Decorates what documentation leaves out: it stays as it is."""
    return thing
