"""tf.py_func, tf.numpy_function, tf.py_function: Python functions as operations.

The engine calls `_answer` from whichever thread runs the operation. A function lives as long as the
graph that holds its operation; its token finds it, within this process.
"""

from __future__ import annotations

import collections
import functools
import itertools
import traceback
import weakref
from typing import Any, Callable

import numpy as np

from emplace import _core
from emplace.framework import dispatch, dtypes, errors, ops, signals
from emplace.framework.dispatch import execute as _op
from emplace.framework.thread_state import own
from emplace.gradients.registry import gradient

_CODES = (
    ((ValueError, TypeError), errors.INVALID_ARGUMENT),
    (StopIteration, errors.OUT_OF_RANGE),
    (MemoryError, errors.RESOURCE_EXHAUSTED),
    (NotImplementedError, errors.UNIMPLEMENTED),
)
_TAPES = 64  # of one function: rounds of a loop whose gradient is still to come
_tokens = itertools.count()
_functions: weakref.WeakValueDictionary[str, "_Function"] = weakref.WeakValueDictionary()


class _Function:
    """A function of arrays."""

    @property
    def speaks_plainly(self) -> bool:
        """Its errors are the operation's, as they are."""
        return getattr(self._function, "speaks_plainly", False)

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.token = f"pyfunc_{next(_tokens)}"
        _functions[self.token] = self
        # Several graphs deep (a branch's, a function's), the innermost is held by the others.
        ops.get_default_graph()._extra.setdefault("py_functions", []).append(self)

    def __call__(self, inputs: list[Any]) -> list[Any]:
        given = self._function(*inputs)
        if given is None:
            return []
        return [_array(g) for g in given] if isinstance(given, (list, tuple)) else [_array(given)]


def _array(value: Any) -> np.ndarray:
    """Text as objects, for NumPy pads strings."""
    made = np.asarray(value, order="C")
    if made.dtype.kind not in "SU":
        return made
    return np.asarray(value, dtype=object, order="C")


def _on_host(results: list[Any]) -> list[Any]:
    """The engine takes results from the host; what the function computed may lie on a GPU."""
    return [r.cpu() if isinstance(r, ops.Tensor) else r for r in results]


class _EagerFunction(_Function):
    """A function of eager tensors. Once its gradient has been built, each call leaves a tape for it."""

    def __init__(self, function: Callable[..., Any], types: list[Any], is_gradient: bool = False) -> None:
        from emplace.eager import tensor  # noqa: F401: its type must be there when the engine calls

        super().__init__(function)
        self._types, self._is_gradient = types, is_gradient
        self.differentiated = False
        self._taped: collections.deque[Any] = collections.deque(maxlen=_TAPES)

    def __call__(self, inputs: list[Any]) -> list[Any]:
        from emplace.eager import context, tape

        with context.eager_mode():
            if not self.differentiated:
                return _on_host(self._results(inputs))
            with tape.GradientTape() as recorded:
                for x in inputs:
                    if x.dtype.is_floating or x.dtype.is_complex:
                        recorded.watch(x)
                results = self._results(inputs)
            self._taped.append((recorded, inputs, results))
            return _on_host(results)

    def _results(self, inputs: list[Any]) -> list[Any]:
        given = self._function(*inputs)
        if given is None:
            return []
        given = list(given) if isinstance(given, (list, tuple)) else [given]
        return [self._tensor(g, t) for g, t in zip(given, self._types)] + given[len(self._types):]

    def _tensor(self, value: Any, dtype: Any) -> Any:
        if value is None and self._is_gradient:
            value = 0.0
        if hasattr(value, "read_value"):
            raise RuntimeError(f"a py_function returned the variable {value!r}; return what it holds: variable.read_value()")
        return ops.convert_to_tensor(value, dtype=dtype)

    def backward(self, *grads: Any) -> Any:
        recorded, inputs, results = self._taped.pop()  # a loop goes back from its last round
        return recorded.gradient(results, inputs, output_gradients=list(grads))


def session_number() -> int:
    """Inside a function that is called: which session calls it."""
    return own.calling_session


def _answer(op: str, token: str, device: str, inputs: list[Any], session: int = 0) -> Any:
    """The results, or the error's code and message."""
    own.calling_session = session
    try:
        function = _functions.get(token)
        if function is None:
            raise ValueError(f"Could not find callback with key={token} in the registry.")
        return function(inputs)
    except BaseException as e:  # noqa: BLE001: an error is the operation's
        if signals.raised_by_handler(e):
            raise
        if isinstance(e, errors.OpError) and function.speaks_plainly:
            return e.error_code, e.message
        code = next((c for kinds, c in _CODES if isinstance(e, kinds)), errors.UNKNOWN)
        lines = "".join(traceback.format_exception(e)[:-1])
        return code, f"{type(e).__name__}: {e}\n{lines}"


def _make(op_type: str, function: _Function, inputs: Any, types: list[Any], name: str | None) -> Any:
    _core.set_host_function(_answer)
    values = [v.value() if hasattr(v, "initialized_value") else v for v in inputs]
    made = _op(op_type, [values], {"token": function.token, "Tout": types}, name)
    return made if isinstance(made, (list, tuple)) or not types else [made]


def _call(function: Any, inputs: Any, kinds: Any, stateful: bool | None, name: str | None) -> Any:
    """`stateful`: None for a function of eager tensors."""
    if not callable(function):
        raise ValueError(f"Expected func to be callable. Received func={function} of type {type(function)}.")
    several = isinstance(kinds, (list, tuple))
    types = [_type(k) for k in (kinds if several else [kinds])]
    if dispatch.execute_eagerly is not None and dispatch.executing_eagerly():
        made = _at_once(function, inputs, types, stateful is None)
    elif stateful is None:
        made = _make("EagerPyFunc", _EagerFunction(function, types), inputs, types, name)
    else:
        made = _make("PyFunc" if stateful else "PyFuncStateless", _Function(function), inputs, types, name)
    return made if several else made[0]


def _type(kind: Any) -> Any:
    return dtypes.as_dtype(getattr(kind, "dtype", kind))


def _at_once(function: Any, inputs: Any, types: list[Any], of_tensors: bool) -> list[Any]:
    """Outside graphs the function is called where it stands; a tape sees what it does with tensors."""
    values = [ops.convert_to_tensor(v) for v in inputs]
    given = function(*values) if of_tensors else function(*(v.numpy() for v in values))
    given = [] if given is None else list(given) if isinstance(given, (list, tuple)) else [given]
    if len(given) != len(types):
        raise errors.InvalidArgumentError(None, None, f"pyfunc returns {len(given)} values, but expects to see {len(types)} values.")
    return [_checked(g, t, i, of_tensors) for i, (g, t) in enumerate(zip(given, types))]


def _checked(value: Any, dtype: Any, i: int, of_tensors: bool) -> Any:
    if of_tensors:
        return ops.convert_to_tensor(value, dtype=dtype)
    made = ops.convert_to_tensor(_array(value))
    if made.dtype != dtype:
        words = f"{i}-th value returned by pyfunc is {_name(made.dtype)}, but expects {_name(dtype)}"
        raise errors.InvalidArgumentError(None, None, words)
    return made


def _name(dtype: Any) -> str:
    return {"float32": "float", "float64": "double"}.get(dtype.name, dtype.name)


def py_func(func: Any, inp: Any, Tout: Any, stateful: bool = True, name: str | None = None) -> Any:  # noqa: N803
    """`func` of the arrays of `inp`, as an operation. Without state it may be left out or run twice."""
    return _call(func, inp, Tout, bool(stateful), name)


def _decorating(public: str, make: Any, func: Any, inp: Any, kinds: Any) -> Any:
    """A decorator, where no function was given; None otherwise."""
    if kinds is None:
        raise TypeError(f"Missing required argument: 'Tout'\n  As a decorator: `@{public}(Tout=tout)`")
    if func is not None:
        if inp is None:
            raise TypeError(f"Missing argument `inp`:\n  the arguments of the function, unless `{public}` is a decorator (`func=None`).")
        return None
    if inp is not None:
        raise TypeError(f"Don't set the `inp` argument when using {public} as a decorator (`func=None`).")
    return lambda function: functools.wraps(function)(lambda *args: make(function, args))


def numpy_function(
    func: Any = None, inp: Any = None, Tout: Any = None, stateful: bool = True, name: str | None = None,  # noqa: N803
) -> Any:
    """An op that calls a Python function with arrays; `Tout` says the dtypes of its results. Also a decorator."""
    made = _decorating("tf.numpy_function", lambda f, args: py_func(f, args, Tout, stateful, name), func, inp, Tout)
    return made or py_func(func, inp, Tout, stateful, name)


def py_function(func: Any = None, inp: Any = None, Tout: Any = None, name: str | None = None) -> Any:  # noqa: N803
    """`func` of eager tensors, as an operation that has a gradient."""
    made = _decorating("tf.py_function", lambda f, args: _call(f, args, Tout, None, name), func, inp, Tout)
    return made or _call(func, inp, Tout, None, name)


@gradient("EagerPyFunc")
def _eager_grad(op: Any, *grads: Any) -> Any:
    token = op.get_attr("token")
    function = _functions[token.decode() if isinstance(token, bytes) else token]
    function.differentiated = True
    types = [t.dtype.base_dtype for t in op.inputs]
    with ops.control_dependencies(op.outputs):
        return _make("EagerPyFunc", _EagerFunction(function.backward, types, is_gradient=True), grads, types, None)
