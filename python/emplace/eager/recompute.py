"""Gradients by another way: `tf.recompute_grad`, `tf.grad_pass_through`."""

from __future__ import annotations

import functools
from typing import Any

from emplace.eager import nest, tape


def recompute_grad(f: Any) -> Any:
    """`f`, of whose inside nothing is kept for the way back: it runs once more there."""

    @tape.custom_gradient
    def inner(*args: Any, **kwargs: Any) -> Any:
        result = f(*args, **kwargs)

        def grad(*grads: Any, variables: Any = None) -> Any:
            sources = nest.flatten(list(args))
            with tape.GradientTape() as again:
                again.watch([t for t in sources if tape._trainable(t.dtype)])
                again.watch(list(variables or ()))
                outputs = nest.flatten(f(*args, **kwargs))
            found = again.gradient(outputs, [*sources, *(variables or ())], output_gradients=list(grads))
            given = found[: len(sources)]
            return given if variables is None else (given, found[len(sources) :])

        return result, grad

    if hasattr(f, "__name__"):
        return functools.wraps(f)(inner)
    inner.__wrapped__ = f
    return inner


def grad_pass_through(f: Any) -> Any:
    """A function like `f` through which gradients go as if it were the identity."""
    def inner(*args: Any, **kwargs: Any) -> Any:
        def grad(*grads: Any, variables: Any = None) -> Any:
            return grads if variables is None else (grads, [None] * len(variables))  # nothing comes back to variables

        return f(*args, **kwargs), grad

    return tape.custom_gradient(inner)
