"""Tensors that stay in a session between its steps: kept in one, taken by their handle in later ones."""

from __future__ import annotations

import contextlib
from typing import Any, Iterator

import numpy as np

from emplace.framework import array_ops, device_spec, dtypes, errors, ops
from emplace.framework.dispatch import execute as _op

MOST_DEAD = 10  # handles that nobody has any more, before the next step lets their tensors go


class TensorHandle:
    """A tensor that a session keeps. With the last reference to this it is let go."""

    def __init__(self, handle: Any, dtype: Any, session: Any) -> None:
        self._handle: str = handle.decode() if isinstance(handle, bytes) else handle
        self._dtype, self._session, self._ours = dtype, session, True

    def __del__(self) -> None:
        if self._ours:
            self._session._dead_handles.append(self._handle)

    def __str__(self) -> str:
        return self._handle

    @property
    def handle(self) -> str:
        return self._handle

    def _check(self) -> None:
        if not self._ours:
            raise TypeError(f"Persistent tensor {self._handle} may have already been deleted.")

    def eval(self) -> Any:
        self._check()
        return self.value()

    def value(self) -> Any:
        holder, tensor = _reader(self._session.graph, self._handle, self._dtype)
        return self._session.run(tensor, {holder: self._handle})

    def delete(self) -> None:
        self._check()
        self._ours = False
        _let_go(self._session, self._handle)

    def get_raw_handle(self) -> str:
        """The handle; when the tensor is let go is the caller's affair from now on."""
        self._ours = False
        return self._handle


def get_session_handle(data: Any, name: str | None = None) -> Any:
    """A handle by which a value stays in the session from run to run."""
    if not isinstance(data, ops.Tensor):
        raise TypeError("`data` must be of type Tensor.")
    with ops.colocate_with(data):
        return _op("GetSessionHandle", [data], {"T": data.dtype}, name)


def get_session_tensor(handle: Any, dtype: Any, name: str | None = None) -> tuple[Any, Any]:
    """A placeholder for a handle, and the value that it stands for."""
    with ops.device(_device_of(handle)):
        holder = array_ops.placeholder(dtypes.string)
        _known(holder.graph)[holder.op.name] = dtypes.as_dtype(dtype)
        return holder, _op("GetSessionTensor", [holder], {"dtype": dtypes.as_dtype(dtype)}, name)


def delete_session_tensor(handle: Any, name: str | None = None) -> tuple[Any, Any]:
    """A placeholder for a handle, and an op that forgets its value."""
    with ops.device(_device_of(handle)):
        holder = array_ops.placeholder(dtypes.string)
        return holder, _op("DeleteSessionTensor", [holder], {}, name)


# ---- What a session does with them.


def is_handle(fetch: Any) -> bool:
    return fetch.op.type == "GetSessionHandle"


def fed_value(tensor: Any, index: int, value: TensorHandle) -> Any:
    """What a handle stands for, where a tensor itself is fed by one."""
    if tensor.dtype != value._dtype:
        raise errors.InvalidArgumentError(None, None, f"Expects arg[{index}] to be {dtypes.engine_name(tensor.dtype)} but {dtypes.engine_name(value._dtype)} is provided")
    return value.value()


def moved(session: Any, fed: list[Any], values: list[Any]) -> list[Any]:
    """The values of a step. Where a handle's tensor is asked for on another device it is moved there first."""
    holders = session.graph._extra.get("session_tensors")
    if holders is None:
        return values
    # All of them live until the last is there.
    handles = [_moved(session, t, str(v), holders[t.op.name]) if t.op.name in holders else None for t, v in zip(fed, values)]
    return [v if h is None else np.asarray(h.handle, dtype=object) for h, v in zip(handles, values)]


def _moved(session: Any, holder: Any, handle: str, dtype: Any) -> TensorHandle | None:
    if _device_of(handle) == holder.op.device:
        return None
    graph = session.graph
    source, tensor = _reader(graph, handle, dtype)
    with _outside(graph), ops.device(holder.op.device):
        mover = _made_once(graph, f"mover of {dtype.name} to {holder.op.device}", handle, lambda: _op("GetSessionHandle", [tensor], {"T": dtype}, None))
    return session.run(mover, {source: handle})


def sweep(session: Any) -> None:
    """Lets go what belongs to handles that nobody has any more, once there are some."""
    if len(session._dead_handles) < MOST_DEAD:
        return
    dead, session._dead_handles = session._dead_handles, []
    for handle in dead:
        _let_go(session, handle)


def _let_go(session: Any, handle: str) -> None:
    with _outside(session.graph):
        holder, deleter = _made_once(session.graph, "deleter", handle, lambda: delete_session_tensor(handle))
    session.run(deleter, {holder: handle})


def _reader(graph: Any, handle: str, dtype: Any) -> Any:
    with _outside(graph):
        return _made_once(graph, f"reader of {dtype.name}", handle, lambda: get_session_tensor(handle, dtype))


@contextlib.contextmanager
def _outside(graph: Any) -> Iterator[None]:
    """In the graph, but in none of its blocks."""
    with graph.as_default(), graph.name_scope(None), graph.control_dependencies(None), graph.device(None):
        yield


def _made_once(graph: Any, what: str, handle: str, make: Any) -> Any:
    """Nodes that serve every handle of a device."""
    made = graph._extra.setdefault("session_tensor_nodes", {})
    key = (what, _device_of(handle))
    if key not in made:
        made[key] = make()
    return made[key]


def _known(graph: Any) -> dict[str, Any]:
    """The placeholders that take handles, with the types of what they lead to."""
    return graph._extra.setdefault("session_tensors", {})


def _device_of(handle: Any) -> str:
    text = handle.decode() if isinstance(handle, bytes) else str(handle)
    return device_spec.canonical_name(text.split(";")[-1])
