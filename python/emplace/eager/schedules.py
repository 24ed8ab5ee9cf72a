"""Learning rates that change with the step: `tf.optimizers.schedules`."""

from __future__ import annotations

import math
from typing import Any

from emplace.eager import context
from emplace.framework import array_ops, dtypes, math_ops, ops
from emplace.framework.dispatch import execute as _op


class LearningRateSchedule:
    """`schedule(step)` is the rate of that step. The settings are attributes of the same names."""

    def __call__(self, step: Any) -> Any:
        context._state.eager += 1
        try:
            return self._rate(math_ops.cast(step, dtypes.float32))
        finally:
            context._state.eager -= 1

    def _rate(self, step: Any) -> Any:
        raise NotImplementedError(f"Learning rate schedule '{type(self).__name__}' must override `__call__(self, step)`.")

    def get_config(self) -> dict[str, Any]:
        """The settings by name, as `from_config` takes them."""
        return dict(vars(self))

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> "LearningRateSchedule":
        """A schedule from the settings that `get_config` gave."""
        return cls(**config)


def _tensor(value: Any) -> Any:
    return ops.convert_to_tensor(value, dtypes.float32)


class ExponentialDecay(LearningRateSchedule):
    """The initial rate times `decay_rate` to the power of `step / decay_steps`; `staircase` takes whole numbers of it."""

    def __init__(self, initial_learning_rate: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False, name: str = "ExponentialDecay") -> None:
        self.initial_learning_rate, self.decay_steps, self.decay_rate = initial_learning_rate, decay_steps, decay_rate
        self.staircase, self.name = staircase, name

    def _rate(self, step: Any) -> Any:
        p = step / _tensor(self.decay_steps)
        return _tensor(self.initial_learning_rate) * math_ops.pow(_tensor(self.decay_rate), math_ops.floor(p) if self.staircase else p)


class InverseTimeDecay(ExponentialDecay):
    """The initial rate over `1 + decay_rate * step / decay_steps`; `staircase` takes whole numbers of the quotient."""

    def __init__(self, initial_learning_rate: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False, name: str = "InverseTimeDecay") -> None:
        super().__init__(initial_learning_rate, decay_steps, decay_rate, staircase, name)

    def _rate(self, step: Any) -> Any:
        p = step / _tensor(self.decay_steps)
        return _tensor(self.initial_learning_rate) / (1.0 + _tensor(self.decay_rate) * (math_ops.floor(p) if self.staircase else p))


class PiecewiseConstantDecay(LearningRateSchedule):
    """One of `values`, one more than there are `boundaries`: a step up to a boundary takes the value before it."""

    def __init__(self, boundaries: Any, values: Any, name: str = "PiecewiseConstant") -> None:
        if len(boundaries) != len(values) - 1:
            raise ValueError(
                "The length of boundaries should be 1 less than the length of values. "
                f"Received: boundaries={boundaries} of length {len(boundaries)}, and values={values} of length {len(values)}."
            )
        self.boundaries, self.values, self.name = boundaries, values, name

    def _rate(self, step: Any) -> Any:
        rate = _tensor(self.values[0])
        for limit, value in zip(self.boundaries, self.values[1:]):
            rate = array_ops.where_v2(step > _tensor(limit), _tensor(value), rate)
        return rate


class PolynomialDecay(LearningRateSchedule):
    """From the initial rate to the last over `decay_steps`, as a power of what is left; `cycle` stretches the time again and
    again."""

    def __init__(
        self, initial_learning_rate: Any, decay_steps: Any, end_learning_rate: Any = 0.0001, power: float = 1.0, cycle: bool = False,
        name: str = "PolynomialDecay",
    ) -> None:
        self.initial_learning_rate, self.decay_steps, self.end_learning_rate = initial_learning_rate, decay_steps, end_learning_rate
        self.power, self.cycle, self.name = power, cycle, name

    def _rate(self, step: Any) -> Any:
        start, end, steps = _tensor(self.initial_learning_rate), _tensor(self.end_learning_rate), _tensor(self.decay_steps)
        if self.cycle:
            turns = array_ops.where_v2(step == 0.0, _tensor(1.0), math_ops.ceil(step / steps))
            steps = steps * turns
        else:
            step = _op("Minimum", [step, steps], {})
        return (start - end) * math_ops.pow(1.0 - step / steps, _tensor(self.power)) + end


class CosineDecay(LearningRateSchedule):
    """Half a wave down, after a rise where `warmup_target` is given."""

    def __init__(
        self, initial_learning_rate: Any, decay_steps: Any, alpha: float = 0.0, name: str = "CosineDecay", warmup_target: Any = None, warmup_steps: int = 0
    ) -> None:
        self.initial_learning_rate, self.decay_steps, self.alpha, self.name = initial_learning_rate, decay_steps, alpha, name
        self.warmup_target, self.warmup_steps = warmup_target, warmup_steps

    def _falling(self, step: Any, start: Any) -> Any:
        done = _op("Minimum", [step, _tensor(self.decay_steps)], {}) / _tensor(self.decay_steps)
        wave = 0.5 * (1.0 + _op("Cos", [math.pi * done], {}))
        return start * ((1.0 - self.alpha) * wave + self.alpha)

    def _rate(self, step: Any) -> Any:
        start = _tensor(self.initial_learning_rate)
        if self.warmup_target is None:
            return self._falling(step, start)
        target, steps = _tensor(self.warmup_target), _tensor(self.warmup_steps)
        rising = start + (target - start) * step / steps
        return array_ops.where_v2(step < steps, rising, self._falling(step - steps, target))


class CosineDecayRestarts(LearningRateSchedule):
    """Wave after wave, each `t_mul` times as long and `m_mul` times as high as the last."""

    def __init__(
        self, initial_learning_rate: Any, first_decay_steps: Any, t_mul: float = 2.0, m_mul: float = 1.0, alpha: float = 0.0, name: str = "SGDRDecay"
    ) -> None:
        self.initial_learning_rate, self.first_decay_steps = initial_learning_rate, first_decay_steps
        self.t_mul, self.m_mul, self.alpha, self.name = t_mul, m_mul, alpha, name

    def _rate(self, step: Any) -> Any:
        done = step / _tensor(self.first_decay_steps)
        if self.t_mul == 1.0:
            turn = math_ops.floor(done)
            part = done - turn
        else:
            turn = math_ops.floor(_op("Log", [1.0 - done * (1.0 - self.t_mul)], {}) / math.log(self.t_mul))
            grown = math_ops.pow(_tensor(self.t_mul), turn)
            part = (done - (1.0 - grown) / (1.0 - self.t_mul)) / grown
        wave = 0.5 * math_ops.pow(_tensor(self.m_mul), turn) * (1.0 + _op("Cos", [math.pi * part], {}))
        return _tensor(self.initial_learning_rate) * ((1.0 - self.alpha) * wave + self.alpha)


def serialize(learning_rate_schedule: Any) -> dict[str, Any]:
    """A schedule as a dict of its class and settings, as `deserialize` takes it."""
    kind = type(learning_rate_schedule)
    return {"module": "keras.optimizers.schedules", "class_name": kind.__name__, "config": learning_rate_schedule.get_config(), "registered_name": None}


def deserialize(config: dict[str, Any], custom_objects: Any = None) -> Any:
    """A schedule from the dict that `serialize` gave; classes of one's own go in `custom_objects`, by name."""
    kind = (custom_objects or {}).get(config["class_name"]) or globals()[config["class_name"]]
    return kind.from_config(config["config"])
