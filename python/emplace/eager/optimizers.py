"""Optimizers of TensorFlow 2: plain loops of eager operations over the variables."""

from __future__ import annotations

import functools
import inspect
import re
from typing import Any

from emplace.eager import context, schedules, tape, variables
from emplace.framework import array_ops, dtypes, math_ops, ops
from emplace.framework.thread_state import own
from emplace.gradients import backprop


# Of those that are not about weights or clipping only the names are known: they change nothing here.
_OF_ALL = {
    "weight_decay": None, "clipnorm": None, "global_clipnorm": None, "clipvalue": None, "use_ema": False, "ema_momentum": 0.99,
    "ema_overwrite_frequency": None, "loss_scale_factor": None, "gradient_accumulation_steps": None,
}  # settings of every optimizer
_WORDS = {"m": "momentum", "v": "velocity", "vhat": "velocity_hat"}  # slots, as they are printed


class Optimizer:
    """Keeps slots for each variable; `apply_gradients` makes one step."""

    def __init__(self, name: str | None, learning_rate: Any, clipnorm: Any = None, clipvalue: Any = None, global_clipnorm: Any = None, weight_decay: Any = None, **rest: Any) -> None:
        unknown = {k: v for k, v in rest.items() if k not in _OF_ALL and k != "jit_compile"}
        if unknown:
            raise ValueError(f"Argument(s) not recognized: {unknown}")
        self.name = name or _own_name(type(self).__name__)
        self._rate = learning_rate if callable(learning_rate) else _rate_variable(learning_rate, self.name)
        self._clip = (clipnorm, clipvalue, global_clipnorm)
        self._decay = weight_decay
        self._slots: dict[tuple[str, int], Any] = {}
        self._kept: list[Any] = []
        self._known: set[int] = set()
        self._iterations: Any = None
        self._waiting: list[Any] = []

    @property
    def iterations(self) -> Any:
        if self._iterations is None:
            import numpy as np

            self._iterations = variables.Owned(np.int64(0), self.name, "iteration")
        return self._iterations

    @property
    def learning_rate(self) -> Any:
        """The variable, or what a schedule says for the next step."""
        return self._current_rate() if callable(self._rate) else self._rate

    @learning_rate.setter
    def learning_rate(self, value: Any) -> None:
        if callable(value) or callable(self._rate) and not hasattr(self._rate, "assign"):
            self._rate = value if callable(value) else _rate_variable(value, self.name)
        else:
            self._rate.assign(value)

    lr = learning_rate

    def build(self, var_list: Any) -> None:
        """Makes the optimizer's own variables for these variables ahead of the first step."""
        for v in var_list:
            self._kept.append(v)
            self._known.add(id(v._handle))

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        """For checkpoints: its variables in the order they are made in."""
        rate = {} if callable(self._rate) else {"_learning_rate": self._rate}
        return {"_iterations": self.iterations, **rate, "_variables": self.variables}

    def _restore_later(self, values: list[Any]) -> None:
        """Of slots that the first step will make."""
        self._waiting = values

    def _slot(self, word: str, variable: Any, value: Any = 0.0) -> Any:
        """It begins with `value`, a number or the variable itself."""
        key = (word, id(variable._handle))
        if key not in self._slots:
            self._kept.append(variable)
            with context.eager_mode(), tape.not_recording():  # once, also where a function is being traced
                value = value._outside() if value is variable else ops.convert_to_tensor(value, variable.dtype)
                start = array_ops.zeros_like(variable._outside()) + value
                if self._waiting:
                    start = ops.convert_to_tensor(self._waiting.pop(0), variable.dtype)
                said = re.sub("[/:]", "_", f"{variable.name}_{_WORDS.get(word, word)}")
                self._slots[key] = variables.Owned(start, self.name, said)
        return self._slots[key]

    def _current_rate(self) -> Any:
        rate = self._rate
        if isinstance(rate, schedules.LearningRateSchedule):
            return context.v2(rate)(self.iterations)
        return rate() if callable(rate) else rate.read_value()

    def minimize(self, loss: Any, var_list: Any, tape: Any = None) -> Any:  # noqa: A002
        """One step: gradients of `loss`, a callable (or a tensor with its `tape`), applied to the variables."""
        return self.apply_gradients(self.compute_gradients(loss, var_list, tape))

    def compute_gradients(self, loss: Any, var_list: Any, given_tape: Any = None) -> list[Any]:
        """Pairs of (gradient, variable) of `loss`, a callable or a tensor with its `tape`."""
        if not callable(loss) and given_tape is None:
            raise ValueError("`tape` is required when a `Tensor` loss is passed. Received: loss={}, tape={}.".format(loss, given_tape))
        if given_tape is None:
            given_tape = tape.GradientTape()
        if callable(loss):
            with given_tape:
                if not callable(var_list):
                    given_tape.watch(var_list)
                loss = loss()
        var_list = var_list() if callable(var_list) else var_list
        return list(zip(given_tape.gradient(loss, var_list), var_list))

    def apply_gradients(self, grads_and_vars: Any, name: str | None = None, **_: Any) -> Any:
        """One step from pairs of (gradient, variable); pairs without a gradient are left out."""
        given = list(grads_and_vars)
        if not given:
            raise ValueError("not enough values to unpack (expected 2, got 0)")
        self._check_known([v for _, v in given])
        pairs = [(g, v) for g, v in given if g is not None]
        if not pairs:
            raise ValueError("No gradients provided for any variable.")
        context._state.eager += 1
        try:
            grads = self._clipped([backprop.dense(g) for g, _ in pairs])
            rate = self._current_rate()
            self._begin_step()
            for g, (_, v) in zip(grads, pairs):
                if self._decay:
                    v.assign_sub(v * math_ops.cast(self._decay * rate, v.dtype))
                self._step(math_ops.cast(g, v.dtype), v, math_ops.cast(rate, v.dtype))
            return self.iterations.assign_add(1)
        finally:
            context._state.eager -= 1

    def _check_known(self, given: list[Any]) -> None:
        """The variables of the first step are all there are."""
        if not self._known:
            self._known = {id(v._handle) for v in given}
        for v in given:
            if id(v._handle) not in self._known:
                raise ValueError(
                    f"Unknown variable: {v}. This optimizer can only be called for the variables it was originally built with. "
                    "When working with a new set of variables, you should recreate a new optimizer instance."
                )

    def _clipped(self, grads: list[Any]) -> list[Any]:
        from emplace.framework import clip_ops

        norm, value, total = self._clip
        if norm is not None:
            return [clip_ops.clip_by_norm(g, norm) for g in grads]
        if total is not None:
            return clip_ops.clip_by_global_norm(grads, total)[0]
        if value is not None:
            return [clip_ops.clip_by_value(g, -value, value) for g in grads]
        return grads

    def _begin_step(self) -> None:
        """What is done once for all variables."""

    def _step(self, g: Any, v: Any, rate: Any) -> None:
        raise NotImplementedError

    @property
    def variables(self) -> list[Any]:
        rate = [] if callable(self._rate) else [self._rate]
        return [self.iterations, *rate, *self._slots.values()]

    def get_config(self) -> dict[str, Any]:
        """The settings by name, as `from_config` takes them."""
        rate = schedules.serialize(self._rate) if hasattr(self._rate, "get_config") else self._rate if callable(self._rate) else float(self._rate)
        own = {k: v for k, v in self._given.items() if k not in _OF_ALL}
        return {"name": self.name, "learning_rate": rate, **{k: self._given.get(k, v) for k, v in _OF_ALL.items()}, **own}

    def __init_subclass__(cls) -> None:
        """What an optimizer was made with is its configuration."""
        make = cls.__init__

        @functools.wraps(make)
        def init(self: Any, *args: Any, **kwargs: Any) -> None:
            bound = inspect.signature(make).bind(self, *args, **kwargs)
            bound.apply_defaults()
            own = {k: v for k, v in bound.arguments.items() if k not in ("self", "name", "learning_rate", "args", "kwargs")}
            self._given = {**own, **bound.arguments.get("kwargs", {}), **vars(self).get("_given", {})}
            make(self, *args, **kwargs)

        if "__init__" in vars(cls):
            cls.__init__ = init  # type: ignore[method-assign]

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> "Optimizer":
        """An optimizer from the settings that `get_config` gave."""
        return cls(**config)


def _own_name(title: str) -> str:
    """`sgd`, then `sgd_1`."""
    word = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", title).lower()
    n = own.automatic_names[word]
    own.automatic_names[word] += 1
    return f"{word}_{n}" if n else word


def _rate_variable(value: Any, owner: str) -> Any:
    with context.eager_mode():
        return variables.Owned(math_ops.cast(value, dtypes.float32), owner, "learning_rate")


class SGD(Optimizer):
    """Steps against the gradient times the learning rate, with momentum if asked for; `nesterov` looks a step ahead."""

    def __init__(self, learning_rate: Any = 0.01, momentum: float = 0.0, nesterov: bool = False, name: str | None = None, **kwargs: Any) -> None:
        super().__init__(name, learning_rate, **kwargs)
        if not 0 <= momentum <= 1:
            raise ValueError("`momentum` must be a float between [0, 1].")
        self._momentum, self._nesterov = momentum, nesterov

    def _step(self, g: Any, v: Any, rate: Any) -> None:
        if not self._momentum:
            v.assign_sub(g * rate)
            return
        m = self._slot("m", v)
        m.assign(-g * rate + m * self._momentum)
        v.assign_add(-g * rate + m * self._momentum if self._nesterov else m)


class Adam(Optimizer):
    """Steps by running means of gradients over the root of those of their squares, made up for their start at 0; `amsgrad`
    divides by the greatest so far."""

    def __init__(
        self, learning_rate: Any = 0.001, beta_1: float = 0.9, beta_2: float = 0.999, epsilon: float = 1e-7,
        amsgrad: bool = False, name: str | None = None, **kwargs: Any,
    ) -> None:
        super().__init__(name, learning_rate, **kwargs)
        self._b1, self._b2, self._epsilon, self._amsgrad = beta_1, beta_2, epsilon, amsgrad

    def _step(self, g: Any, v: Any, rate: Any) -> None:
        t = math_ops.cast(self.iterations + 1, v.dtype)
        p1 = math_ops.pow(ops.convert_to_tensor(self._b1, v.dtype), t)
        p2 = math_ops.pow(ops.convert_to_tensor(self._b2, v.dtype), t)
        alpha = rate * math_ops.sqrt(1 - p2) / (1 - p1)
        m, s = self._slot("m", v), self._slot("v", v)
        m.assign_add((g - m) * (1 - self._b1))
        s.assign_add((g * g - s) * (1 - self._b2))
        top = s
        if self._amsgrad:
            top = self._slot("vhat", v)
            top.assign(array_ops.where_v2(top >= s, top, s))
        v.assign_sub(m * alpha / (math_ops.sqrt(ops.convert_to_tensor(top)) + self._epsilon))


class Adagrad(Optimizer):
    """Steps scaled by the root of the sum of all squared gradients so far."""

    def __init__(self, learning_rate: Any = 0.001, initial_accumulator_value: float = 0.1, epsilon: float = 1e-7, name: str | None = None, **kwargs: Any) -> None:
        super().__init__(name, learning_rate, **kwargs)
        self._initial, self._epsilon = initial_accumulator_value, epsilon

    def _step(self, g: Any, v: Any, rate: Any) -> None:
        a = self._slot("accumulator", v, self._initial)
        a.assign_add(g * g)
        v.assign_sub(rate * g / math_ops.sqrt(a + self._epsilon))


class RMSprop(Optimizer):
    """Steps scaled by the root of a running mean of squared gradients; `centered` takes off the mean gradient's square."""

    def __init__(
        self, learning_rate: Any = 0.001, rho: float = 0.9, momentum: float = 0.0, epsilon: float = 1e-7, centered: bool = False,
        name: str | None = None, **kwargs: Any,
    ) -> None:
        super().__init__(name, learning_rate, **kwargs)
        self._rho, self._momentum, self._epsilon, self._centered = rho, momentum, epsilon, centered

    def _step(self, g: Any, v: Any, rate: Any) -> None:
        rho = self._rho
        velocity = self._slot("velocity", v)
        velocity.assign(rho * velocity + (1 - rho) * (g * g))
        spread = velocity.read_value()
        if self._centered:
            average = self._slot("average_gradient", v)
            average.assign(rho * average + (1 - rho) * g)
            spread = spread - average * average
        step = rate * g * math_ops.rsqrt(spread + self._epsilon)
        if self._momentum:
            m = self._slot("momentum", v)
            m.assign(self._momentum * m + step)
            step = m.read_value()
        v.assign_sub(step)


class GradientDescentOptimizer(SGD):
    """TensorFlow 1's name for it, with its `minimize` of a loss that is a function."""

    def __init__(self, learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent") -> None:
        super().__init__(learning_rate, name=name)

    def minimize(self, loss: Any, var_list: Any = None, tape: Any = None, global_step: Any = None, **_: Any) -> Any:  # noqa: A002
        """One step on the variables that the loss reads, or those listed; adds 1 to `global_step`."""
        if var_list is None:
            var_list = self._read_by(loss)
        done = super().minimize(loss, var_list, tape)
        if global_step is not None:
            global_step.assign_add(1)
        return done

    @staticmethod
    def _read_by(loss: Any) -> list[Any]:
        if not callable(loss):
            raise RuntimeError("`loss` passed to Optimizer.compute_gradients should be a function when eager execution is enabled.")
        with tape.GradientTape() as seen:
            loss()
        return list(seen.watched_variables())
