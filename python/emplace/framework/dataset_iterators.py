"""Iterators over datasets in graph programs: operations that call Python for the next element.

Where an iterator stands belongs to a session: sessions are told apart by their numbers.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from typing import Any

from emplace import _core
from emplace.eager import context, dataset_state, nest, tensor_spec
from emplace.framework import constant_op, device_scope, dtypes, errors, ops, py_functions, tensor_shape

_MOST_SESSIONS = 16  # of one iterator, before the oldest is forgotten
_NOT_READY = (
    "GetNext() failed because the iterator has not been initialized. Ensure that you have run the initializer operation for this"
    " iterator before getting the next element."
)
_STATEFUL = (
    "A likely cause of this error is that the dataset for which you are calling `make_one_shot_iterator()` captures a stateful object,"
    " such as a `tf.Variable` or `tf.lookup.StaticHashTable`, which is not supported. Use `make_initializable_iterator()` instead."
)
_handles = itertools.count()
_by_handle: weakref.WeakValueDictionary[bytes, "_State"] = weakref.WeakValueDictionary()


class _State:
    """Where the iterator stands, by session. `first` makes the elements where nobody initialized it."""

    def __init__(self, first: Any = None) -> None:
        self._first = first
        self._items: dict[int, Any] = {}
        self._lock = threading.RLock()
        self.handle = b"iterator_%d" % next(_handles)
        _by_handle[self.handle] = self

    def begin(self, dataset: Any) -> None:
        with self._lock:
            while len(self._items) >= _MOST_SESSIONS:
                del self._items[next(iter(self._items))]
            with dataset_state.going(one := dataset_state.Pass()):
                self._items[py_functions.session_number()] = one, dataset._make()  # iter() would be at its end once an element fails

    def next(self) -> list[Any]:
        with self._lock, context.eager_mode():
            if py_functions.session_number() not in self._items:
                if self._first is None:
                    raise errors.FailedPreconditionError(None, None, _NOT_READY)
                self.begin(self._first())
            one, items = self._items[py_functions.session_number()]
            with dataset_state.going(one):
                for item in items:
                    return nest.flatten(item)
        raise errors.OutOfRangeError(None, None, "End of sequence")


def _operation(function: Any, inputs: list[Any], types: list[Any], name: str) -> Any:
    def on_host(*values: Any) -> Any:
        with context.on_host():
            return function(*values)

    on_host.speaks_plainly = True  # type: ignore[attr-defined]
    return py_functions._make("EagerPyFunc", py_functions._EagerFunction(on_host, types), inputs, types, name)


class Iterator:
    """`get_next()` is a tensor, or a structure of them, that has another element in each step."""

    def __init__(self, dataset: Any = None, spec: Any = None, first: Any = None, handle: Any = None) -> None:
        self._spec = dataset.element_spec if dataset is not None else spec
        # What belongs to the iterator is where its dataset is, wherever it is asked for.
        self._devices = dataset._devices if dataset is not None else device_scope.blocks(ops.get_default_graph())
        self._state = _State(first)
        self._handle = handle  # another iterator, chosen when the step runs
        self._initializer = None
        if dataset is not None and first is None:
            self._initializer = self.make_initializer(dataset)

    @property
    def element_spec(self) -> Any:
        return self._spec

    @property
    def output_types(self) -> Any:
        return nest.map_structure(lambda s: s.dtype, self._spec)

    @property
    def output_shapes(self) -> Any:
        return nest.map_structure(lambda s: s.shape, self._spec)

    @property
    def output_classes(self) -> Any:
        return nest.map_structure(lambda s: ops.Tensor, self._spec)

    @property
    def initializer(self) -> Any:
        if self._initializer is None:
            raise ValueError("The iterator does not have an initializer. This means it was likely created using `tf.data.Dataset.make_one_shot_iterator()`. For an initializable iterator, use `tf.data.Dataset.make_initializable_iterator()` instead.")
        return self._initializer

    def make_initializer(self, dataset: Any, name: str | None = None) -> Any:
        """An op that puts the iterator at the start of a dataset with elements of this kind."""
        for mine, other in zip(nest.flatten(self._spec), nest.flatten(dataset.element_spec)):
            if mine.dtype != other.dtype:
                raise TypeError(f"Expected output types {self.output_types!r} but got dataset with output types {dataset.output_types!r}.")
            if not mine.shape.is_compatible_with(other.shape):
                raise TypeError(f"Expected output shapes compatible with {self.output_shapes!r} but got dataset with output shapes {dataset.output_shapes!r}.")
        made = self._operation(lambda *values: self._state.begin(dataset._build(list(values))), dataset._needs, [], name or "MakeIterator")
        return made if isinstance(made, ops.Operation) else made.op

    def _operation(self, *args: Any) -> Any:
        with device_scope.within(ops.get_default_graph(), self._devices):
            return _operation(*args)

    def get_next(self, name: str | None = None) -> Any:
        """Tensors of the next element, another each time that they are run; OutOfRangeError at the end."""
        leaves = nest.flatten(self._spec)
        types = [s.dtype for s in leaves]
        if self._handle is None:
            made = self._operation(self._state.next, [], types, name or "IteratorGetNext")
        else:
            made = self._operation(_next_of, [self._handle], types, name or "IteratorGetNext")
        for t, s in zip(made, leaves):
            t.set_shape(s.shape)
        return nest.pack_sequence_as(self._spec, list(made))

    def string_handle(self, name: str | None = None) -> Any:
        """A string tensor that stands for this iterator, to be fed to one made by `from_string_handle`."""
        return constant_op.constant(self._state.handle, dtypes.string, name=name or "IteratorToStringHandle")

    @staticmethod
    def from_structure(output_types: Any, output_shapes: Any = None, shared_name: str | None = None, output_classes: Any = None) -> "Iterator":
        """An iterator without a dataset, for datasets of these types; `make_initializer` gives it one."""
        return Iterator(spec=_spec(output_types, output_shapes))

    @staticmethod
    def from_string_handle(string_handle: Any, output_types: Any, output_shapes: Any = None, output_classes: Any = None) -> "Iterator":
        """An iterator that is whichever one its handle, usually fed, stands for."""
        return Iterator(spec=_spec(output_types, output_shapes), handle=ops.convert_to_tensor(string_handle, dtypes.string))


def _next_of(handle: Any) -> list[Any]:
    state = _by_handle.get(handle.numpy())
    if state is None:
        raise errors.InvalidArgumentError(None, None, f"No iterator has the handle {handle.numpy()!r}.")
    return state.next()


def _spec(types: Any, shapes: Any) -> Any:
    kinds = nest.flatten(types)
    if shapes is None:
        flat = [None] * len(kinds)
    elif isinstance(shapes, dict):
        flat = [shapes[k] for k in sorted(shapes)]
    elif isinstance(shapes, tuple) and isinstance(types, tuple):
        flat = [s for one in shapes for s in (one if isinstance(one, tuple) else one.values() if isinstance(one, dict) else [one])]
    else:
        flat = [shapes]
    return nest.pack_sequence_as(types, [tensor_spec.TensorSpec(tensor_shape.as_shape(s), t) for s, t in zip(flat, kinds)])


def one_shot(dataset: Any) -> Iterator:
    """Begins in each session where it is first asked; what it needs must be known now."""
    values = [_value_of(t) for t in dataset._needs]
    return Iterator(dataset, first=lambda: dataset._build(values))


def _value_of(tensor: Any) -> Any:
    from emplace.framework import session

    known = constant_op.constant_value(tensor)
    if known is None:
        _check_captured(tensor.op, set())
        with session.Session(graph=tensor.graph) as own:
            known = own.run(tensor)
    with context.eager_mode():
        return ops.convert_to_tensor(known, tensor.dtype.base_dtype)


def _check_captured(op: Any, seen: set[int]) -> None:
    if id(op) in seen:
        return
    seen.add(id(op))
    if op.type.startswith("Placeholder"):
        raise ValueError(f"Cannot capture a placeholder (name:{op.name}, type:{op.type}) by value.")
    d = _core.find_op(op.type)
    if d is None or d.stateful:
        raise ValueError(f"Cannot capture a stateful node (name:{op.name}, type:{op.type}) by value.: {_STATEFUL}")
    for t in op.inputs:
        _check_captured(t.op, seen)


def reduced(dataset: Any, state: Any, traced: Any) -> Any:
    """`Dataset.reduce`: one operation that goes through all elements."""
    leaves = nest.flatten(state)
    needs = dataset._needs
    first, captured = len(leaves), len(leaves) + len(needs)

    def go(*values: Any) -> list[Any]:
        call = traced.bound(list(values[captured:]))
        now = nest.pack_sequence_as(state, list(values[:first]))
        for item in dataset._build(list(values[first:captured])):
            now = call((now, item))
        return nest.flatten(now)

    made = _operation(go, [*leaves, *needs, *traced.needs], [t.dtype.base_dtype for t in leaves], "ReduceDataset")
    for t, s in zip(made, leaves):
        t.set_shape(s.shape)
    return nest.pack_sequence_as(state, list(made))


def single(dataset: Any) -> Any:
    """`Dataset.get_single_element`: an operation that goes through all elements."""
    leaves = nest.flatten(dataset.element_spec)

    def go(*values: Any) -> list[Any]:
        return nest.flatten(dataset._build(list(values)).get_single_element())

    made = _operation(go, dataset._needs, [s.dtype for s in leaves], "DatasetToSingleElement")
    for t, s in zip(made, leaves):
        t.set_shape(s.shape)
    return nest.pack_sequence_as(dataset.element_spec, list(made))
