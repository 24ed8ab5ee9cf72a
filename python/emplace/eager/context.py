"""Which mode a call runs in, on which device, and the engine behind it."""

from __future__ import annotations

import contextlib
import functools
import re
import sys
import threading
from typing import Any, Callable, Iterator

from emplace import _core
from emplace.framework import device_spec, dispatch, errors, ops, settings, thread_state


_state = thread_state.state
_engine: Any = None
_engine_lock = threading.Lock()
_operation_timeout = 0  # milliseconds; 0: none
_options = settings.options  # tf.config.* collects them until the engine starts
_scratch = _core.Graph()  # knows what a device name looks like


class CompositeGiven(Exception):
    """A ragged or sparse tensor where an operation takes a tensor."""


handle_composite: Any = None  # set by eager.composite


def started() -> bool:
    return _engine is not None


def engine() -> Any:
    global _engine
    if _engine is None:
        with _engine_lock:
            if _engine is None:
                _engine = _core.Eager(settings.with_globals(settings.of_process()), settings.task)
                _engine.operation_timeout = _operation_timeout
                _core.set_engine(_engine)
                if settings.log_device_placement:
                    _engine.set_log(_log)
    return _engine


def here() -> str:
    """What this process's devices' names begin with."""
    return settings.task or "/job:localhost/replica:0/task:0"


connections = 0  # to other tasks, so far: functions are told to them anew


_ended: list[Any] = []  # engines that others follow: tensors and variables made meanwhile are theirs


def end_engine() -> None:
    """The next operation starts another one."""
    global _engine
    with _engine_lock:
        if _engine is not None:
            _ended.append(_engine)
            _core.set_engine(None)
            _engine = None


def set_option(name: str, value: Any, what: str) -> None:
    if started():
        raise RuntimeError(f"{what} cannot be modified after initialization.")
    _options[name] = value


def set_soft_device_placement(enabled: bool) -> None:
    """Whether an op that its device cannot run may run on another one."""
    settings.soft_device_placement = bool(enabled)
    if started():
        engine().set_soft_placement(bool(enabled))


def set_placer(placer: str, *, budget_ms: float = 0, evaluations: int = 0, seed: int = 1) -> None:
    """Who decides where operations run that leave a choice: "simple" (rules, as in TensorFlow) or "dynamic" (what a step costs).

    It holds for functions that are traced from now on, and for sessions that are made from now on
    without a ConfigProto. `budget_ms` limits the dynamic placer's search in time, `evaluations` in
    steps: with these alone the same `seed` gives the same placement everywhere; 0: as suits the
    graph.
    """
    said = {"placer": placer, "placer_budget_ms": float(budget_ms), "placer_evaluations": evaluations, "placer_seed": seed}
    _core.check_placer(said)
    _options.update(said)
    if started():
        engine().set_placer(said)


def get_placer() -> str:
    """The placer that `set_placer` named; "" where nobody did."""
    return str(_options.get("placer", ""))


def get_soft_device_placement() -> bool:
    """Whether an op that its device cannot run may run on another one."""
    return bool(settings.soft_device_placement)


def set_operation_timeout(ms: int) -> None:
    """Operations and functions that take longer than `ms` milliseconds end with `DeadlineExceededError`; 0: none does."""
    if ms != int(ms) or not 0 <= ms < 2**63:
        raise ValueError(f"a timeout is a whole number of milliseconds, not {ms!r}")
    global _operation_timeout
    _operation_timeout = int(ms)
    if started():
        engine().operation_timeout = _operation_timeout


def as_one(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose call is one operation to users, whatever it runs: it meets the deadline as a whole."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not _operation_timeout or not outside_graph():
            return function(*args, **kwargs)
        return engine().run_as_one(lambda: function(*args, **kwargs))

    return call


def get_operation_timeout() -> int:
    """The milliseconds after which an operation or a function ends with `DeadlineExceededError`; 0: it may take as long as it likes."""
    return _operation_timeout


def _log(op: str, device: str) -> None:
    sys.stdout.write(f"Executing op {op} in device {device}\n")
    sys.stdout.flush()


def set_log_device_placement(enabled: bool) -> None:
    """Whether each op run is written to stdout with its device."""
    settings.log_device_placement = bool(enabled)
    if started():
        engine().set_log(_log if enabled else None)


def executing_eagerly() -> bool:
    return _state.eager > 0 and not ops._default_graphs.stack


def outside_graph() -> bool:
    return not ops._default_graphs.stack


def v2(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` as the eager namespace offers it: run at once unless a graph is being built."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        state = _state
        state.eager += 1
        try:
            return function(*args, **kwargs)
        except CompositeGiven as given:
            return handle_composite(call, given, args, kwargs)
        except TypeError as e:
            if (graph := _default_graph_of(e)) is None:
                raise
            with graph.as_default():
                return function(*args, **kwargs)
        finally:
            state.eager -= 1

    def redirect(to: Callable[..., Any]) -> None:
        """From now on calls go there (`api_dispatch.py`)."""
        nonlocal function
        function = to

    call._redirect = redirect  # type: ignore[attr-defined]
    return call


def _default_graph_of(refused: TypeError) -> Any:
    """The graph that a program of TensorFlow 1 builds, if the error is about one of its tensors."""
    symbolic = getattr(refused, "symbolic", None)
    if symbolic is None or ops._default_graphs.stack or symbolic.graph is not ops.get_default_graph():
        return None
    return symbolic.graph


@contextlib.contextmanager
def eager_mode() -> Iterator[None]:
    _state.eager += 1
    saved, ops._default_graphs.stack = ops._default_graphs.stack, []
    try:
        yield
    finally:
        ops._default_graphs.stack = saved
        _state.eager -= 1


class device:  # noqa: N801  (called as a function)
    """`with tf.device(…)` of eager programs; in a graph it is the graph's. May be entered again."""

    def __init__(self, name: Any) -> None:
        if name is not None and hasattr(name, "to_string"):
            name = name.to_string()
        if callable(name) and outside_graph():
            raise RuntimeError("tf.device does not support functions.")
        self._name = name
        self._entered: list[Any] = []  # a graph's block, or how deep this one lies

    def __enter__(self) -> None:
        if ops._default_graphs.stack:
            block = ops.get_default_graph().device(self._name)
            block.__enter__()
            self._entered.append(block)
            return
        # The last of a repeated part wins, so the inner block goes behind the outer one.
        outer = _state.devices[-1] if _state.devices and self._name else ""
        _state.devices.append(outer + _text(self._name))
        self._entered.append(len(_state.devices))

    def __exit__(self, *error: Any) -> None:
        entered = self._entered.pop()
        if not isinstance(entered, int):
            entered.__exit__(*error)
            return
        nested_well = len(_state.devices) == entered
        _state.devices.pop()
        if not nested_well:
            raise RuntimeError("Exiting device scope without proper scope nesting")


def _text(name: Any) -> str:
    """As the engine reads it."""
    text = "" if name is None else name
    if not isinstance(text, str):
        raise ValueError(f"Expecting a string device name. Got {type(name)}({name})")
    text = re.sub(r"^([cg]pu)(?=:)", lambda m: m[1].upper(), text)
    if re.fullmatch(r"/?[CG]PU", text, re.I):  # any device of the type
        text = f"/device:{text.lstrip('/').upper()}:*"
    _core_check(text)
    return text if not text or text.startswith("/") else f"/{text}"


@functools.lru_cache(maxsize=1024)
def _core_check(text: str) -> None:
    if text:
        device_spec.check_valid(text)
        try:
            _scratch.device(text).close()
        except errors.InvalidArgumentError as e:
            raise ValueError(e.message) from None


@contextlib.contextmanager
def on_host() -> Iterator[None]:
    """What runs at once runs on the CPU of the task that the blocks around it say."""
    devices = _state.devices
    task = re.match(r".*/job:[^/]*(/replica:[^/]*)?(/task:[^/]*)?", devices[-1]) if devices and "/job:" in devices[-1] else None
    devices.append(f"{task[0] if task else ''}/device:CPU:0")
    try:
        yield
    finally:
        devices.pop()


def current_device() -> str:
    return _state.devices[-1] if _state.devices else ""


dispatch.executing_eagerly = executing_eagerly
