"""Strings: functions that TensorFlow writes by hand."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

from emplace.framework import dtypes, math_ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert
from emplace.framework.ops import name_scope

if TYPE_CHECKING:
    from emplace.framework.tensor import Tensor


def string_join(inputs: Any, separator: str = "", name: str | None = None) -> Tensor:
    """Strings of several tensors put together element by element, `separator` between them."""
    return _op("StringJoin", [list(inputs)], {"separator": separator}, name)


def reduce_join(inputs: Any, axis: Any = None, keep_dims: Any = None, separator: str = "", name: str | None = None, reduction_indices: Any = None, keepdims: Any = None) -> Tensor:
    """The strings along `axis`, or all of them, put together into one."""
    from emplace.framework.ops import convert_to_tensor

    axis = reduction_indices if axis is None else axis
    keep = bool(keepdims if keepdims is not None else keep_dims or False)
    with name_scope(None, "ReduceJoin"):
        inputs = convert_to_tensor(inputs)
        return _op("ReduceJoin", [inputs, math_ops._dims(inputs, axis)], {"keep_dims": keep, "separator": separator}, name)


def string_to_number(string_tensor: Any = None, out_type: Any = dtypes.float32, name: str | None = None, input: Any = None) -> Tensor:  # noqa: A002
    """Each string read as a number of dtype `out_type`."""
    return _op("StringToNumber", [string_tensor if input is None else input], {"out_type": out_type}, name)


def substr(input: Any, pos: Any, len: Any, name: str | None = None, unit: str = "BYTE") -> Tensor:  # noqa: A002
    """Of each string the `len` bytes (or characters, by `unit`) from `pos`; a negative `pos` counts from the end."""
    return _op("Substr", [input, pos, len], {"unit": unit}, name)


def regex_replace(input: Any, pattern: Any, rewrite: Any, replace_global: bool = True, name: str | None = None) -> Tensor:  # noqa: A002
    r"""Each string with matches of an RE2 pattern, all or the first, replaced; \1 stands for a group."""
    if isinstance(pattern, (str, bytes)) and isinstance(rewrite, (str, bytes)):
        return _op("StaticRegexReplace", [input], {"pattern": pattern, "rewrite": rewrite, "replace_global": replace_global}, name)
    return _op("RegexReplace", [input, pattern, rewrite], {"replace_global": replace_global}, name)


def regex_full_match(input: Any, pattern: Any, name: str | None = None) -> Tensor:  # noqa: A002
    """Whether each whole string matches an RE2 pattern."""
    if isinstance(pattern, (str, bytes)):
        return _op("StaticRegexFullMatch", [input], {"pattern": pattern}, name)
    return _op("RegexFullMatch", [input, pattern], {}, name)


def string_length(input: Any, name: str | None = None, unit: str = "BYTE") -> Tensor:  # noqa: A002
    """The length of each string, in bytes or with `unit` "UTF8_CHAR" in characters."""
    return _op("StringLength", [input], {"unit": unit}, name)


def string_to_hash_bucket(string_tensor: Any = None, num_buckets: Any = None, name: str | None = None, input: Any = None) -> Tensor:  # noqa: A002
    """A bucket number for each string, the same in every process."""
    return _op("StringToHashBucket", [string_tensor if input is None else input], {"num_buckets": num_buckets}, name)


def string_format(template: str, inputs: Any, placeholder: str = "{}", summarize: int = 3, name: str | None = None) -> Tensor:
    """The template with the printed tensors in its places; long ones are shortened to `summarize` values an end."""
    values = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    return _op("StringFormat", [values], {"template": template, "placeholder": placeholder, "summarize": summarize}, name)


def fingerprint(data: Any, method: str = "farmhash64", name: str | None = None) -> Tensor:
    """A hash of each row."""
    return _op("Fingerprint", [data, _convert(method, dtype=dtypes.string)], {}, name)
