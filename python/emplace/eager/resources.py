"""`tf.saved_model.experimental.TrackableResource`: something that lives in the runtime, made by a program's own operations."""

from __future__ import annotations

import contextlib
import weakref
from typing import Any

from emplace import _core
from emplace.eager import context
from emplace.framework import lookup_ops, trackable


class _Resources(type):
    def __instancecheck__(cls, value: Any) -> bool:
        """Tables are resources too."""
        return super().__instancecheck__(value) or cls is TrackableResource and isinstance(value, lookup_ops.LookupInterface)


class TrackableResource(trackable.Trackable, metaclass=_Resources):
    """A class says how it is made (`_create_resource`), filled (`_initialize`) and given back (`_destroy_resource`)."""

    def __init__(self, device: str = "") -> None:
        self._device, self._made = device, None

    @property
    def resource_handle(self) -> Any:
        """Made when first asked for."""
        if self._made is None:
            with context.eager_mode(), context.device(self._device) if self._device else contextlib.nullcontext():
                self._made = self._create_resource()
                if type(self)._destroy_resource is not TrackableResource._destroy_resource:
                    weakref.finalize(self, _give_back, type(self), self._made)
        return self._made

    def _create_resource(self) -> Any:
        raise NotImplementedError("TrackableResource._create_resource not implemented.")

    def _initialize(self) -> None:
        pass

    def _destroy_resource(self) -> None:
        pass


def own(handle: Any) -> None:
    """The engine forgets the resource when nothing holds `handle` any more."""
    if hasattr(handle, "_numpy_of_eager"):
        twin = _core.execute_call("Identity", [handle], {}, "")[0]
        weakref.finalize(handle, context.engine().forget, twin).atexit = False


def _give_back(kind: Any, handle: Any) -> None:
    """The object is gone; what it made goes, too."""
    left = object.__new__(kind)
    left._device, left._made = "", handle
    with contextlib.suppress(Exception), context.eager_mode():
        left._destroy_resource()
