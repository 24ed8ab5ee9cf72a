"""Element types, comparable with NumPy's."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

_REF = 100


def _bfloat16() -> Any:
    try:
        import ml_dtypes
    except ImportError:
        raise ImportError("NumPy has no bfloat16 without the package ml_dtypes: pip install ml_dtypes") from None
    return ml_dtypes.bfloat16


# name -> (number, NumPy type or a function that finds it)
_TABLE: dict[str, tuple[int, Any]] = {
    "float32": (1, np.float32),
    "float64": (2, np.float64),
    "int32": (3, np.int32),
    "uint8": (4, np.uint8),
    "int16": (5, np.int16),
    "int8": (6, np.int8),
    "string": (7, object),
    "complex64": (8, np.complex64),
    "int64": (9, np.int64),
    "bool": (10, np.bool_),
    "qint8": (11, np.int8),
    "quint8": (12, np.uint8),
    "qint32": (13, np.int32),
    "bfloat16": (14, _bfloat16),
    "qint16": (15, np.int16),
    "quint16": (16, np.uint16),
    "uint16": (17, np.uint16),
    "complex128": (18, np.complex128),
    "float16": (19, np.float16),
    "resource": (20, object),
    "variant": (21, object),
    "uint32": (22, np.uint32),
    "uint64": (23, np.uint64),
}
_NAMES = {number: name for name, (number, _) in _TABLE.items()}
_QUANTIZED = frozenset({11, 12, 13, 15, 16})
_INTEGERS = frozenset({3, 4, 5, 6, 9, 17, 22, 23})
_UNSIGNED = frozenset({4, 17, 22, 23})
_FLOATS = frozenset({1, 2, 14, 19})
_COMPLEX = frozenset({8, 18})


class DType:
    """The type of a tensor's elements."""

    __slots__ = ("_enum", "_numpy", "__weakref__")

    def __init__(self, type_enum: builtins.int) -> None:
        if type_enum % _REF not in _NAMES or type_enum >= 2 * _REF:
            raise TypeError(f"{type_enum} does not correspond to a valid type")
        self._enum = type_enum
        self._numpy: Any = None

    @property
    def as_datatype_enum(self) -> builtins.int:
        return self._enum

    @property
    def name(self) -> str:
        base = _NAMES[self._enum % _REF]
        return base + "_ref" if self._enum > _REF else base

    @property
    def as_numpy_dtype(self) -> Any:
        if self._numpy is None:
            found = _TABLE[_NAMES[self._enum % _REF]][1]
            self._numpy = found() if found is _bfloat16 else found
        return self._numpy

    @property
    def base_dtype(self) -> "DType":
        return _BY_NUMBER[self._enum % _REF]

    @property
    def _as_ref(self) -> "DType":
        return _BY_NUMBER[self._enum % _REF + _REF]

    @property
    def _is_ref_dtype(self) -> builtins.bool:
        return self._enum > _REF

    @property
    def real_dtype(self) -> "DType":
        base = self._enum % _REF
        return float32 if base == 8 else float64 if base == 18 else self

    @property
    def is_integer(self) -> builtins.bool:
        return self._enum % _REF in _INTEGERS

    @property
    def is_unsigned(self) -> builtins.bool:
        return self._enum % _REF in _UNSIGNED

    @property
    def is_floating(self) -> builtins.bool:
        return self._enum % _REF in _FLOATS

    @property
    def is_complex(self) -> builtins.bool:
        return self._enum % _REF in _COMPLEX

    @property
    def is_bool(self) -> builtins.bool:
        return self._enum % _REF == 10

    @property
    def is_quantized(self) -> builtins.bool:
        return self._enum % _REF in _QUANTIZED

    @property
    def is_numpy_compatible(self) -> builtins.bool:
        return self._enum % _REF not in (20, 21)

    @property
    def is_numeric(self) -> builtins.bool:
        return self.is_integer or self.is_floating or self.is_complex

    @property
    def size(self) -> builtins.int:
        base = self._enum % _REF
        return 0 if base in (7, 20, 21) else np.dtype(self.as_numpy_dtype).itemsize

    @property
    def min(self) -> Any:
        return self._bound("minimum", "min")

    @property
    def max(self) -> Any:
        return self._bound("maximum", "max")

    @property
    def limits(self) -> tuple[Any, Any]:
        """What an image's values lie between."""
        if self.is_integer:
            return (0, self.max)
        if self.is_bool:
            return (0, True)
        if self._enum % _REF in (1, 2):
            return (0, 1)
        raise ValueError(f"{self} does not have defined limits.")

    def _bound(self, word: str, attribute: str) -> Any:
        if self.is_integer:
            return getattr(np.iinfo(self.as_numpy_dtype), attribute)
        if self._enum % _REF == 14:
            import ml_dtypes

            return getattr(ml_dtypes.finfo(self.as_numpy_dtype), attribute)
        if self.is_floating:
            return getattr(np.finfo(self.as_numpy_dtype), attribute)
        why = f" with quantized type {self}" if self.is_quantized else f" with type {self}" if self.is_numpy_compatible else ""
        raise TypeError(f"Cannot find {word} value of {self}{why}.")

    def is_compatible_with(self, other: Any) -> builtins.bool:
        """Whether a tensor of the other dtype will do: the same, or for a reference its base."""
        other = as_dtype(other)
        return self._enum in (other._enum, other.base_dtype._enum)

    def __eq__(self, other: object) -> builtins.bool:
        if other is self:
            return True
        if other is None:
            return False
        if type(other) is not DType:
            try:
                other = as_dtype(other)
            except TypeError:
                return False
        return self._enum == other._enum  # type: ignore[attr-defined]

    def __ne__(self, other: object) -> builtins.bool:
        return not self == other

    def __hash__(self) -> builtins.int:
        return self._enum

    def __int__(self) -> builtins.int:
        return self._enum

    def __str__(self) -> str:
        return f"<dtype: {self.name!r}>"

    def __repr__(self) -> str:
        return "tf." + self.name

    def __reduce__(self) -> Any:
        return as_dtype, (self.name,)


_BY_NUMBER: dict[builtins.int, DType] = {}
for _name, (_number, _) in _TABLE.items():
    for _n in (_number, _number + _REF):
        _BY_NUMBER[_n] = DType(_n)

float32 = _BY_NUMBER[1]
float64 = double = _BY_NUMBER[2]
int32 = _BY_NUMBER[3]
uint8 = _BY_NUMBER[4]
int16 = _BY_NUMBER[5]
int8 = _BY_NUMBER[6]
string = _BY_NUMBER[7]
complex64 = _BY_NUMBER[8]
int64 = _BY_NUMBER[9]
bool = _BY_NUMBER[10]
qint8 = _BY_NUMBER[11]
quint8 = _BY_NUMBER[12]
qint32 = _BY_NUMBER[13]
bfloat16 = _BY_NUMBER[14]
qint16 = _BY_NUMBER[15]
quint16 = _BY_NUMBER[16]
uint16 = _BY_NUMBER[17]
complex128 = _BY_NUMBER[18]
float16 = half = _BY_NUMBER[19]
resource = _BY_NUMBER[20]
variant = _BY_NUMBER[21]
uint32 = _BY_NUMBER[22]
uint64 = _BY_NUMBER[23]

_BY_NAME: dict[str, DType] = {d.name: d for d in _BY_NUMBER.values()}
_BY_NAME.update({"float": float32, "double": float64, "half": float16, "float_ref": float32._as_ref})
_BY_PYTHON: dict[Any, DType] = {
    float: float32,
    builtins.int: int32,
    builtins.bool: bool,
    complex: complex128,
    str: string,
    bytes: string,
    object: string,
}
_BY_NUMPY: dict[Any, DType] = {
    np.dtype(t): _BY_NUMBER[n]
    for _, (n, t) in _TABLE.items()
    if n not in _QUANTIZED and t is not _bfloat16 and t is not object
}
_BY_NUMPY[np.dtype(np.object_)] = string


_ENGINE_NAMES = {"float16": "half", "float32": "float", "float64": "double"}


def engine_name(dtype: DType) -> str:
    """What the engine, and TensorFlow's, calls it in errors."""
    return _ENGINE_NAMES.get(dtype.name, dtype.name)


def as_dtype(value: Any) -> DType:
    """The DType for a name, number, Python type or NumPy type."""
    if type(value) is DType:
        return value
    try:
        if value in _BY_PYTHON and isinstance(value, type):
            return _BY_PYTHON[value]
    except TypeError:
        pass
    if isinstance(value, str) and value in _BY_NAME:
        return _BY_NAME[value]
    if isinstance(value, builtins.int) and not isinstance(value, builtins.bool):
        if value in _BY_NUMBER:
            return _BY_NUMBER[value]
        raise TypeError(f"Cannot convert the argument `type_value`: {value!r} to a TensorFlow DType.")
    if value is not None:
        try:
            numpy_type = np.dtype(value)
            if numpy_type in _BY_NUMPY:
                return _BY_NUMPY[numpy_type]
            if numpy_type.kind in "SU":
                return string
            if numpy_type.name == "bfloat16":
                return bfloat16
        except (TypeError, ValueError):
            pass
        if hasattr(value, "dtype") and value.dtype is not None:
            try:
                return as_dtype(value.dtype)
            except RecursionError:
                pass
    raise TypeError(f"Cannot convert the argument `type_value`: {value!r} to a TensorFlow DType.")

QUANTIZED_DTYPES = frozenset(d for t in (qint8, quint8, qint16, quint16, qint32) for d in (t, t._as_ref))
