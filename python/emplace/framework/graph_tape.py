"""`tf.GradientTape` in graph programs: the graph itself is the record."""

from __future__ import annotations

import contextlib
from typing import Any, Iterator

from emplace.eager import nest
from emplace.framework import gradients as _gradients, ops, variables


class GradientTape:
    """Gradients of what was made in its `with`, by what it watches: variables that are trained, and what it is told to."""

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent, self._accessed = persistent, watch_accessed_variables
        self._watched: list[Any] = []
        self._used = False

    def __enter__(self) -> "GradientTape":
        return self

    def __exit__(self, *_: Any) -> None:
        return None

    def watch(self, tensor: Any) -> None:
        """Does no more than note the tensors: in a graph every op is known."""
        self._watched += nest.flatten(tensor)

    def reset(self) -> None:
        """Forgets what was watched."""
        self._watched.clear()

    def watched_variables(self) -> tuple[Any, ...]:
        """The graph's trainable variables."""
        return tuple(variables.trainable_variables())

    @contextlib.contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Changes nothing in a graph, where gradients go through all ops."""
        yield

    def _sees(self, source: Any) -> bool:
        return any(source is w for w in self._watched) or self._accessed and isinstance(source, variables.Variable) and bool(source.trainable)

    def gradient(self, target: Any, sources: Any, output_gradients: Any = None, unconnected_gradients: Any = None) -> Any:
        """Tensors of the gradients of the target by each source, in the structure of the sources."""
        if self._used and not self._persistent:
            raise RuntimeError("A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)")
        self._used = True
        flat, none = nest.flatten(sources), _gradients.UnconnectedGradients.NONE
        seen = [s for s in flat if self._sees(s)]
        given = None if output_gradients is None else nest.flatten(output_gradients)
        made = iter(_gradients.gradients(nest.flatten(target), seen, given, unconnected_gradients=unconnected_gradients or none) if seen else [])
        return nest.pack_sequence_as(sources, [next(made) if self._sees(s) else None for s in flat])


def function(func: Any = None, *args: Any, **kwargs: Any) -> Any:
    """`tf.function`; what it gives is called in the default graph, also where no `with` says so."""
    from emplace.eager import function as eager

    if func is None:
        return lambda one: _InGraph(eager.function(one, *args, **kwargs))
    return _InGraph(eager.function(func, *args, **kwargs))


class _InGraph:
    def __init__(self, function: Any) -> None:
        self._function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with ops.get_default_graph().as_default():
            return self._function(*args, **kwargs)

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        return self if owner is None else _InGraph(self._function.__get__(owner, kind))

    def __getattr__(self, name: str) -> Any:
        if name == "_function":  # of a copy under way
            raise AttributeError(name)
        return getattr(self._function, name)
