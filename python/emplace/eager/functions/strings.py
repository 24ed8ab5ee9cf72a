"""Text."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

from emplace.framework import array_ops, dtypes, math_ops, string_ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert

if TYPE_CHECKING:
    from emplace.framework.tensor import Tensor


def length(input: Any, unit: str = "BYTE", name: str | None = None) -> Tensor:  # noqa: A002
    """The length of each string, in bytes or with `unit` "UTF8_CHAR" in characters."""
    return _op("StringLength", [input], {"unit": unit}, name)


def substr(input: Any, pos: Any, len: Any, unit: str = "BYTE", name: str | None = None) -> Tensor:  # noqa: A002
    """Of each string the `len` bytes (or characters, by `unit`) from `pos`; a negative `pos` counts from the end."""
    return _op("Substr", [input, pos, len], {"unit": unit}, name)


def to_number(input: Any, out_type: Any = dtypes.float32, name: str | None = None) -> Tensor:  # noqa: A002
    """Each string read as a number of dtype `out_type`."""
    return _op("StringToNumber", [input], {"out_type": out_type}, name)


def to_hash_bucket(input: Any, num_buckets: int, name: str | None = None) -> Tensor:  # noqa: A002
    """A bucket number for each string, the same in every process but not proof against collisions on purpose."""
    return _op("StringToHashBucket", [input], {"num_buckets": num_buckets}, name)


def join(inputs: Any, separator: str = "", name: str | None = None) -> Tensor:
    """Strings of several tensors put together element by element, `separator` between them."""
    return _op("StringJoin", [list(inputs)], {"separator": separator}, name)


def reduce_join(inputs: Any, axis: Any = None, keepdims: bool = False, separator: str = "", name: str | None = None) -> Tensor:
    """The strings along `axis`, or all of them, put together into one."""
    inputs = _convert(inputs)
    if axis is None and inputs.shape.rank is not None:  # the innermost first, so that the text reads on
        axis = list(range(inputs.shape.rank))[::-1]
    return _op("ReduceJoin", [inputs, math_ops._dims(inputs, axis)], {"keep_dims": keepdims, "separator": separator}, name)


def format(template: str, inputs: Any, placeholder: str = "{}", summarize: int = 3, name: str | None = None) -> Tensor:  # noqa: A001
    """The template with the printed tensors in its places; long ones are shortened to `summarize` values an end."""
    given = inputs if isinstance(inputs, (list, tuple)) else [inputs]
    if template.count(placeholder) != len(given):
        raise ValueError(
            f"The template expects {template.count(placeholder)} tensors, but the inputs only has {len(given)}. Please ensure the number of placeholders in template matches inputs length."
        )
    return string_ops.string_format(template, inputs, placeholder, summarize, name)


def split(input: Any, sep: Any = None, maxsplit: int = -1, name: str | None = None) -> Any:  # noqa: A002
    """The parts of a string; a row of them for each of several strings."""
    if hasattr(input, "row_splits"):
        return input.with_flat_values(split(input.flat_values, sep, maxsplit))
    input = _convert(input, dtype=dtypes.string)  # noqa: A001
    rank = input.shape.rank
    flat = array_ops.reshape(input, [-1])
    out = _op("StringSplitV2", [flat, "" if sep is None else sep], {"maxsplit": maxsplit}, name)
    if rank == 0:
        return out.values
    from emplace.eager.ragged.tensor import RaggedTensor

    made = RaggedTensor.from_value_rowids(out.values, out.indices[:, 0], array_ops.shape(flat)[0], validate=False)
    for size in reversed(input.shape.as_list()[1:]):
        made = RaggedTensor.from_uniform_row_length(made, size)
    return made


def bytes_split(input: Any, name: str | None = None) -> Any:  # noqa: A002
    """Each string as a ragged row of its single bytes."""
    from emplace.eager.functions import unicode

    def parts(flat: Any) -> Any:
        lengths = math_ops.cast(length(flat), dtypes.int64)
        return unicode.cut(flat, lengths, array_ops.ones_like)

    return unicode.of_each(input, parts)


def decode_raw(input_bytes: Any, out_type: Any, little_endian: bool = True, fixed_length: Any = None, name: str | None = None) -> Tensor:
    """The bytes of each string as numbers of dtype `out_type`; `fixed_length` cuts or pads to so many bytes."""
    if fixed_length is not None:
        attrs = {"out_type": out_type, "little_endian": little_endian}
        return _op("DecodePaddedRaw", [input_bytes, fixed_length], attrs, name)
    return _op("DecodeRaw", [input_bytes], {"out_type": out_type, "little_endian": little_endian}, name)


def serialize_tensor(tensor: Any, name: str | None = None) -> Tensor:
    """The tensor as a serialized TensorProto, for `parse_tensor`."""
    return _op("SerializeTensor", [tensor], {}, name)


def read_file(filename: Any, name: str | None = None) -> Tensor:
    """The whole content of a file as a string."""
    return _op("ReadFile", [filename], {}, name)


def decode_csv(
    records: Any, record_defaults: Any, field_delim: str = ",", use_quote_delim: bool = True, na_value: str = "", select_cols: Any = None, name: str | None = None
) -> list[Any]:
    """A tensor for each column of lines of text."""
    defaults = [_convert([], d) if isinstance(d, dtypes.DType) else _convert(d) for d in record_defaults]
    attrs = {"field_delim": field_delim, "use_quote_delim": use_quote_delim, "na_value": na_value}
    return list(_op("DecodeCSV", [records, defaults], attrs | ({} if select_cols is None else {"select_cols": list(select_cols)}), name))
