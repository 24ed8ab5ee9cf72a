"""A Python function of elements as a graph that a dataset's operation takes by name."""

from __future__ import annotations

import re
import weakref
from typing import Any

from emplace import _core
from emplace.eager import autograph, context, func_graph, nest
from emplace.eager.datasets import structure
from emplace.eager.func_graph import Body, FuncGraph
from emplace.framework import dtypes, ops
from emplace.framework.thread_state import own


_debugging = False


def enable_debug_mode() -> None:
    """From now on the stages of pipelines call Python functions as such, element by element, one after another, so that a
    debugger stops in them."""
    global _debugging
    if not context.executing_eagerly():
        raise ValueError("`enable_debug_mode() is only supported in eager mode.")
    _debugging = True


def at_a_time(num_parallel_calls: Any) -> Any:
    """How many calls of a stage run at a time: None where pipelines are debugged."""
    return None if _debugging else num_parallel_calls


def debugging() -> bool:
    return _debugging


def check_callable(function: Any) -> None:
    if not callable(function):
        raise ValueError(f"Argument `func` must be a callable. Received func={function} (of type {type(function)})")


def _arguments(element: Any) -> tuple[Any, ...]:
    """The components of a tuple are a function's arguments."""
    return element if isinstance(element, tuple) and not hasattr(element, "_fields") else (element,)


class Traced:
    """`function` of values with these specs. `stage`: what it is for, in names and errors; `captured`: the tensors of the
    graph around, or eager ones, that the operation takes as its other arguments; `spec`: what the function gives."""

    def __init__(self, function: Any, stage: str, spec: Any, convert: Any = None) -> None:
        check_callable(function)
        self._function, self._stage = function, stage
        called = getattr(function, "__name__", None) or type(getattr(function, "func", function)).__name__
        self._at_once = context.executing_eagerly()
        outer = None if self._at_once else ops.get_default_graph()
        self.graph = FuncGraph(re.sub(r"\W", "_", f"{stage}_{called}"), outer)
        flat = structure.flat_kinds(spec)
        with self.graph.as_default():
            inputs = [self.graph.argument(k.dtype, k.shape, f"args_{i}") for i, k in enumerate(flat)]
            result = self._traced(structure.from_tensors(spec, inputs), convert)
            if _debugging and self._gives_tensors():
                result = self._called_as_it_is(spec, inputs, convert)
            self.graph.finish([self.graph.inside(t) for t in structure.to_tensors(self.spec, result)])
        self.name = f"__inference_{self.graph.name}_{func_graph.number()}"
        self.captured = [outside for outside, _ in self.graph.captures]
        if self._at_once:
            self._define_at_once()
        else:
            self._define_in(outer)

    def _gives_tensors(self) -> bool:
        return all(k.dtype not in (dtypes.variant, dtypes.resource) for k in structure.flat_kinds(self.spec))

    def _called_as_it_is(self, spec: Any, inputs: list[Any], convert: Any) -> Any:
        """What Python gives when the stage runs."""
        from emplace.eager.functions import flow

        kinds = structure.flat_kinds(self.spec)

        def call(*tensors: Any) -> list[Any]:
            result = self._function(*_arguments(structure.from_tensors(spec, list(tensors))))
            if isinstance(result, list):
                result = tuple(result)
            return structure.to_tensors(self.spec, structure.normalized(result if convert is None else convert(result)))

        made = flow.py_function(call, inputs, [k.dtype for k in kinds])
        for tensor, kind in zip(made, kinds):
            tensor.set_shape(kind.shape)
        return structure.from_tensors(self.spec, list(made))

    def _traced(self, nested: Any, convert: Any) -> Any:
        """What the function gives for stand-ins, normalized."""
        args = _arguments(nested)
        saved, context._state.recorders = context._state.recorders, []
        converting, own.converting = own.converting, True
        try:
            result = autograph.call(self._function, args, {})
        finally:
            context._state.recorders = saved
            own.converting = converting
        if isinstance(result, list):
            result = tuple(result)
        if convert is not None:
            result = convert(result)
        try:
            result = structure.normalized(result)
            self.spec = structure.spec_of(result)
        except (TypeError, ValueError) as e:
            raise TypeError(f"Unsupported return value from function passed to {self._shown}: {result}.") from e
        return result

    @property
    def _shown(self) -> str:
        return self._stage.replace("Dataset_", "Dataset.") + "()"

    # ---- Known by its name.

    def _body(self) -> Body:
        return Body(self.graph, self.graph.inputs, self.graph.outputs)

    def _define_in(self, outer: Any) -> None:
        if isinstance(outer, FuncGraph):
            outer.add_body(self.name, self._body())
            return
        func_graph.define_in(outer, self.name, self._body())
        outer._extra.setdefault("dataset_functions", []).append(self.graph)  # Python functions inside live as long

    def _define_at_once(self) -> None:
        """The engine knows it until this object is gone; datasets made of it hold it themselves."""
        graph = self.graph
        context.engine()
        graph.define()
        _core.define_eager_function(
            self.name, graph._core, [t._out for t in graph.inputs], [t._out for t in graph.outputs],
            [op._node for op in graph.control_outputs], func_graph._argument_names(graph.inputs),
            func_graph._argument_names(graph.outputs), graph.stateful,
        )
        weakref.finalize(self, _core.forget_eager_function, self.name).atexit = False


def dataset_of(traced: Traced) -> Any:
    """What the elements of the dataset look like that the function gives; TypeError where it gives none."""
    from emplace.eager.optional import DatasetSpec

    if not isinstance(traced.spec, DatasetSpec):
        raise TypeError(f"The `map_func` argument must return a `Dataset` object. Got {traced.spec!r}.")
    return traced.spec._element_spec


def flat_dtypes(tensors: Any) -> list[Any]:
    return [t.dtype.base_dtype for t in nest.flatten(tensors)]
