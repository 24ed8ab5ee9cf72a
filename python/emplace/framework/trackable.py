"""Objects that know what they hold, for checkpoints and saved models: the base of variables, modules, and of others' layers."""

from __future__ import annotations

import functools
from typing import Any, Callable


class Trackable:
    """What a checkpoint can hold. `_trackable_children` names the objects below it."""

    def _track_trackable(self, trackable: Any, name: str, overwrite: bool = False) -> Any:
        """Notes an object under a name. ValueError where another has it, unless it is to give way."""
        held = self._held()
        if not overwrite and held.get(name, trackable) is not trackable:
            raise ValueError(
                f"Called Trackable._track_trackable() with name='{name}', but a Trackable with this name is already declared as a dependency. "
                "Names must be unique (or overwrite=True)."
            )
        held[name] = trackable
        restore_now(self, name, trackable)
        return trackable

    def _held(self) -> dict[str, Any]:
        return self.__dict__.setdefault("_self_held", {})  # type: ignore[no-any-return]

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        return dict(self._held())

    def _lookup_dependency(self, name: str, cached_dependencies: Any = None) -> Any:
        return (self._held() if cached_dependencies is None else cached_dependencies).get(name)

    def _maybe_initialize_trackable(self) -> None:
        """Nothing is left to do: what an object holds is noted when there is something."""


class AutoTrackable(Trackable):
    """Notes the objects that its attributes hold."""

    def __setattr__(self, name: str, value: Any) -> None:
        if getattr(self, "_self_setattr_tracking", True):
            value = self._noted(name, value)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        self._held().pop(name, None)
        super().__delattr__(name)

    def _noted(self, name: str, value: Any) -> Any:
        if isinstance(value, NoDependency):
            self._held().pop(name, None)
            return value.value
        if isinstance(value, Trackable) or type(value) in (list, dict, tuple):
            self._track_trackable(value, name, overwrite=True)
        else:
            self.__dict__.get("_self_held", {}).pop(name, None)
        return value

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        from emplace.eager import checkpoint, saved_objects

        below = super()._trackable_children(save_type, **kwargs)
        found = {n: v for n, v in below.items() if checkpoint.holds(v)}
        return {**found, **saved_objects.functions_of(self)} if save_type == "savedmodel" else found


class NoDependency:
    """Wrapped around the value of an attribute: it is not to be followed."""

    def __init__(self, value: Any) -> None:
        self.value = value


class DictWrapper(dict):  # type: ignore[type-arg]
    """A dict as part of a model, as TensorFlow wraps it; ours stay dicts."""


def no_automatic_dependency_tracking(method: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates a method: what it sets is not followed."""

    @functools.wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = getattr(self, "_self_setattr_tracking", True)
        self._self_setattr_tracking = False
        try:
            return method(self, *args, **kwargs)
        finally:
            self._self_setattr_tracking = before

    return call


def restore_now(owner: Any, name: str, value: Any) -> None:
    """A checkpoint that was restored before the attribute was there has its value."""
    awaited = vars(owner).get("_awaits")
    if awaited is not None and name in awaited[1]:
        awaited[0].match(awaited[1].pop(name), value)
