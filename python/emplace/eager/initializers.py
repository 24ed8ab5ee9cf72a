"""Initializers of TensorFlow 2: the shape comes with the call."""

from __future__ import annotations

from typing import Any

from emplace.eager import context
from emplace.framework import array_ops, constant_op, dtypes, init_ops, ops, tensor_shape


class _Initializer:
    """Runs an initializer of the graph front at once."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __call__(self, shape: Any, dtype: Any = None, **kwargs: Any) -> Any:
        context._state.eager += 1
        try:
            return self._inner(shape, dtype=dtypes.as_dtype(dtype or dtypes.float32))
        finally:
            context._state.eager -= 1


def _wrapped(name: str) -> Any:
    inner = getattr(init_ops, name)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        _Initializer.__init__(self, inner(*args, **kwargs))

    return type(name, (_Initializer,), {"__init__": __init__})


Zeros, Ones, RandomUniform, RandomNormal = (_wrapped(n) for n in ("Zeros", "Ones", "RandomUniform", "RandomNormal"))
TruncatedNormal, VarianceScaling = _wrapped("TruncatedNormal"), _wrapped("VarianceScaling")
GlorotUniform, GlorotNormal, Identity, Orthogonal = (_wrapped(n) for n in ("GlorotUniform", "GlorotNormal", "Identity", "Orthogonal"))


def _scaling(title: str, scale: float, distribution: str) -> Any:
    def __init__(self: Any, seed: Any = None) -> None:  # noqa: N807
        _Initializer.__init__(self, init_ops.VarianceScaling(scale, "fan_in", distribution, seed))

    return type(title, (_Initializer,), {"__init__": __init__})


HeNormal, HeUniform = _scaling("HeNormal", 2.0, "truncated_normal"), _scaling("HeUniform", 2.0, "uniform")
LecunNormal, LecunUniform = _scaling("LecunNormal", 1.0, "truncated_normal"), _scaling("LecunUniform", 1.0, "uniform")


class Constant(_Initializer):
    """The same value, spread over the shape."""

    def __init__(self, value: Any = 0) -> None:
        super().__init__(self._spread)
        self._value = value

    def _spread(self, shape: Any, dtype: Any) -> Any:
        value = ops.convert_to_tensor(self._value, dtype)
        return array_ops.zeros(shape, value.dtype) + value


class ConstantOfShape(Constant):
    """`tf.constant_initializer`: a list gives the elements one after another, as many as there are."""

    def __init__(self, value: Any = 0, support_partition: bool = False) -> None:
        super().__init__(value)

    def _spread(self, shape: Any, dtype: Any) -> Any:
        array = constant_op.make_array(self._value, dtype)
        shape = tensor_shape.as_shape(shape)
        if array.ndim == 0:
            return array_ops.fill(shape, ops.convert_to_tensor(array))
        if array.size != shape.num_elements():
            raise TypeError(f"Eager execution of tf.constant with unsupported shape: value has {array.size} elements, shape is {shape} with {shape.num_elements()} elements.")
        return array_ops.reshape(ops.convert_to_tensor(array), shape)


Initializer = _Initializer
zeros, ones, constant, identity, orthogonal = Zeros, Ones, Constant, Identity, Orthogonal
glorot_uniform, glorot_normal, variance_scaling = GlorotUniform, GlorotNormal, VarianceScaling
he_normal, he_uniform, lecun_normal, lecun_uniform = HeNormal, HeUniform, LecunNormal, LecunUniform
random_normal, random_uniform, truncated_normal = RandomNormal, RandomUniform, TruncatedNormal


def get(identifier: Any) -> Any:
    """An initializer by its name, its configuration, or as it is."""
    if identifier is None:
        return None
    if isinstance(identifier, dict):
        return globals()[identifier["class_name"]](**identifier.get("config", {}))
    if isinstance(identifier, str):
        found = globals().get(identifier)
        if not (isinstance(found, type) and issubclass(found, _Initializer)):
            raise ValueError(f"Could not interpret initializer identifier: {identifier}")
        return found()
    if isinstance(identifier, ops.Tensor):
        return Constant(identifier)
    if callable(identifier):
        return identifier() if isinstance(identifier, type) else identifier
    raise ValueError(f"Could not interpret initializer identifier: {identifier}")
