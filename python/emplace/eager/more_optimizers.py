"""The optimizers of TensorFlow 2 that programs use less often, and finding one by name."""

from __future__ import annotations

from typing import Any

from emplace.eager import variables
from emplace.eager.optimizers import SGD, Adagrad, Adam, Optimizer, RMSprop
from emplace.framework import clip_ops, math_ops, ops
from emplace.framework.dispatch import execute as _op


class AdamW(Adam):
    """Adam whose weights shrink by themselves."""

    def __init__(self, learning_rate: Any = 0.001, weight_decay: float = 0.004, *args: Any, **kwargs: Any) -> None:
        super().__init__(learning_rate, *args, weight_decay=weight_decay, **kwargs)


class Adadelta(Optimizer):
    """Steps scaled by running means of squared gradients and of squared steps before; `rho` is how long they remember."""

    def __init__(self, learning_rate: Any = 0.001, rho: float = 0.95, epsilon: float = 1e-7, name: str | None = None, **kwargs: Any) -> None:
        super().__init__(name, learning_rate, **kwargs)
        self._rho, self._epsilon = rho, epsilon

    def _step(self, g: Any, v: Any, rate: Any) -> None:
        seen, moved = self._slot("accumulated_grad", v), self._slot("accumulated_delta_var", v)
        seen.assign(self._rho * seen + (1 - self._rho) * g * g)
        delta = -math_ops.sqrt(moved + self._epsilon) * g / math_ops.sqrt(seen + self._epsilon)
        moved.assign(self._rho * moved + (1 - self._rho) * delta * delta)
        v.assign_add(rate * delta)


class Adamax(Optimizer):
    """Adam over the greatest gradient instead of the mean square."""

    def __init__(
        self, learning_rate: Any = 0.001, beta_1: float = 0.9, beta_2: float = 0.999, epsilon: float = 1e-7, name: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(name, learning_rate, **kwargs)
        self._b1, self._b2, self._epsilon = beta_1, beta_2, epsilon

    def _step(self, g: Any, v: Any, rate: Any) -> None:
        power = math_ops.pow(ops.convert_to_tensor(self._b1, v.dtype), math_ops.cast(self.iterations + 1, v.dtype))
        m, top = self._slot("m", v), self._slot("norm", v)
        m.assign_add((g - m) * (1 - self._b1))
        top.assign(_op("Maximum", [self._b2 * top, math_ops.abs(g)], {}))
        v.assign_sub(rate * m / ((1 - power) * (top + self._epsilon)))


class Nadam(Optimizer):
    """Adam with Nesterov's momentum."""

    def __init__(
        self, learning_rate: Any = 0.001, beta_1: float = 0.9, beta_2: float = 0.999, epsilon: float = 1e-7, name: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(name, learning_rate, **kwargs)
        self._b1, self._b2, self._epsilon = beta_1, beta_2, epsilon
        self._product = variables.Variable(1.0, trainable=False, name="u_product")

    def _momentum(self, steps: int, dtype: Any) -> Any:
        t = math_ops.cast(self.iterations + steps, dtype)
        return self._b1 * (1.0 - 0.5 * math_ops.pow(ops.convert_to_tensor(0.96, dtype), t))

    def _begin_step(self) -> None:
        self._product.assign(self._product * self._momentum(1, self._product.dtype))

    def _step(self, g: Any, v: Any, rate: Any) -> None:
        now, following = self._momentum(1, v.dtype), self._momentum(2, v.dtype)
        product = math_ops.cast(self._product.read_value(), v.dtype)
        power = math_ops.pow(ops.convert_to_tensor(self._b2, v.dtype), math_ops.cast(self.iterations + 1, v.dtype))
        m, s = self._slot("m", v), self._slot("v", v)
        m.assign_add((g - m) * (1 - self._b1))
        s.assign_add((g * g - s) * (1 - self._b2))
        ahead = following * m / (1 - product * following) + (1 - now) * g / (1 - product)
        v.assign_sub(ahead * rate / (math_ops.sqrt(s / (1 - power)) + self._epsilon))


class Ftrl(Optimizer):
    """Follows the leader: weights that matter little become zero."""

    def __init__(
        self, learning_rate: Any = 0.001, learning_rate_power: float = -0.5, initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0, l2_regularization_strength: float = 0.0, l2_shrinkage_regularization_strength: float = 0.0,
        beta: float = 0.0, name: str | None = None, **kwargs: Any,
    ) -> None:
        super().__init__(name, learning_rate, **kwargs)
        if initial_accumulator_value < 0.0:
            raise ValueError(f"`initial_accumulator_value` needs to be positive or zero. Received: initial_accumulator_value={initial_accumulator_value}.")
        if learning_rate_power > 0.0:
            raise ValueError(f"`learning_rate_power` needs to be negative or zero. Received: learning_rate_power={learning_rate_power}.")
        self._power, self._initial, self._beta = -learning_rate_power, initial_accumulator_value, beta
        self._l1, self._l2, self._shrinkage = l1_regularization_strength, l2_regularization_strength, l2_shrinkage_regularization_strength

    def _step(self, g: Any, v: Any, rate: Any) -> None:
        seen, linear = self._slot("accumulator", v, self._initial), self._slot("linear", v)
        more = seen + g * g
        grown = math_ops.pow(more, ops.convert_to_tensor(self._power, v.dtype))
        before = math_ops.pow(seen.read_value(), ops.convert_to_tensor(self._power, v.dtype))
        linear.assign_add(g + 2 * self._shrinkage * v - (grown - before) / rate * v)
        quadratic = grown / rate + 2 * (self._l2 + self._beta / (2.0 * rate))
        clipped = clip_ops.clip_by_value(linear.read_value(), -self._l1, self._l1)
        v.assign((clipped - linear) / quadratic)
        seen.assign(more)


class Lion(Optimizer):
    """Steps of one length, in the direction of the momentum."""

    def __init__(self, learning_rate: Any = 0.001, beta_1: float = 0.9, beta_2: float = 0.99, name: str | None = None, **kwargs: Any) -> None:
        super().__init__(name, learning_rate, **kwargs)
        self._b1, self._b2 = beta_1, beta_2

    def _step(self, g: Any, v: Any, rate: Any) -> None:
        m = self._slot("m", v)
        v.assign_sub(rate * math_ops.sign(m * self._b1 + g * (1 - self._b1)))
        m.assign(m * self._b2 + g * (1 - self._b2))


class ScheduleFreeAdamW(Optimizer):
    """Adam's steps on one sequence, whose mean is the other; the variables stand between the two."""

    def __init__(
        self, learning_rate: Any = 0.0025, beta_1: float = 0.9, beta_2: float = 0.999, epsilon: float = 1e-8, warmup_steps: int = 0,
        weight_decay: Any = None, name: str | None = None, **kwargs: Any,
    ) -> None:
        super().__init__(name, learning_rate, weight_decay=weight_decay, **kwargs)
        self._b1, self._b2, self._epsilon, self._warmup = beta_1, beta_2, epsilon, warmup_steps

    def _check_known(self, given: list[Any]) -> None:
        super()._check_known(given)
        for v in given:  # it begins with the variable, before that shrinks
            self._slot("m", v, v)

    def _step(self, g: Any, v: Any, rate: Any) -> None:
        t = math_ops.cast(self.iterations + 1, v.dtype)
        if self._warmup:
            rate = rate * _op("Minimum", [t / self._warmup, ops.convert_to_tensor(1.0, v.dtype)], {})
        z, s = self._slot("m", v), self._slot("v", v)
        s.assign_add((g * g - s) * (1 - self._b2))
        power = math_ops.pow(ops.convert_to_tensor(self._b2, v.dtype), t)
        z.assign_sub(rate * g / (math_ops.sqrt(s / (1 - power)) + self._epsilon))
        mean = (v - (1 - self._b1) * z) / self._b1  # Keras takes the sequence as it is after its step
        mean = (1 - 1 / t) * mean + z / t
        v.assign((1 - self._b1) * z + self._b1 * mean)


_KINDS = {
    kind.__name__.lower(): kind for kind in (SGD, RMSprop, Adam, AdamW, Adadelta, Adagrad, Adamax, Nadam, Ftrl, Lion, ScheduleFreeAdamW)
}  # fmt: skip


def get(identifier: Any) -> Any:
    """An optimizer by its name, its configuration, or as it is."""
    if isinstance(identifier, Optimizer):
        return identifier
    if isinstance(identifier, dict):
        return deserialize(identifier)
    if isinstance(identifier, str) and identifier.lower() in _KINDS:
        return _KINDS[identifier.lower()]()
    raise ValueError(f"Could not interpret optimizer identifier: {identifier}")


def serialize(optimizer: Any) -> dict[str, Any]:
    """An optimizer as a dict of its class and settings, as `deserialize` takes it."""
    return {"module": "keras.optimizers", "class_name": type(optimizer).__name__, "config": optimizer.get_config(), "registered_name": None}


def deserialize(config: dict[str, Any], custom_objects: Any = None) -> Any:
    """An optimizer from the dict that `serialize` gave; classes of one's own go in `custom_objects`, by name."""
    title = config["class_name"]
    kind = (custom_objects or {}).get(title) or _KINDS.get(title.lower())
    if kind is None:
        raise ValueError(f"Could not interpret optimizer identifier: {config}")
    return kind.from_config(config.get("config", {}))

