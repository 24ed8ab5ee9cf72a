"""tf.make_template: a function whose calls share their variables."""

from __future__ import annotations

import functools
from typing import Any

from emplace.framework import variable_scope


def make_template(name_: str, func_: Any, create_scope_now_: bool = False, unique_name_: str | None = None, custom_getter_: Any = None, **kwargs: Any) -> "Template":
    """`func_`, which makes its variables when called first and finds them again afterwards."""
    if kwargs:
        func_ = functools.partial(func_, **kwargs)
    return Template(name_, func_, create_scope_now_, unique_name_, custom_getter_)


class Template:
    def __init__(self, name: str, func: Any, create_scope_now: bool = False, unique_name: str | None = None, custom_getter: Any = None) -> None:
        if name is None:
            raise ValueError("name cannot be None.")
        self._name, self._func, self._unique_name = name, func, unique_name
        self._getter = custom_getter
        self._scope: Any = None
        self._called = False
        if create_scope_now:
            with self._fresh() as scope:
                self._scope = scope

    def _fresh(self) -> Any:
        return variable_scope.variable_scope(self._unique_name, self._name, custom_getter=self._getter)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._scope is None:
            with self._fresh() as self._scope:
                return self._first(args, kwargs)
        with variable_scope.variable_scope(self._scope, reuse=True if self._called else None):
            return self._func(*args, **kwargs) if self._called else self._first(args, kwargs)

    def _first(self, args: Any, kwargs: Any) -> Any:
        result = self._func(*args, **kwargs)
        self._called = True
        return result

    @property
    def name(self) -> str:
        return self._name

    @property
    def func(self) -> Any:
        return self._func

    @property
    def variable_scope(self) -> Any:
        return self._scope

    @property
    def var_scope(self) -> Any:
        return self._scope

    @property
    def variable_scope_name(self) -> str | None:
        return None if self._scope is None else self._scope.name + "/"

    @property
    def variables(self) -> list[Any]:
        return self.global_variables + self.local_variables

    @property
    def trainable_variables(self) -> list[Any]:
        return [] if self._scope is None else self._scope.trainable_variables()

    @property
    def global_variables(self) -> list[Any]:
        return [] if self._scope is None else self._scope.global_variables()

    @property
    def local_variables(self) -> list[Any]:
        return [] if self._scope is None else self._scope.local_variables()
