"""Characters of strings: code points, and strings of one character."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

from emplace.framework import array_ops, dtypes, index_values, math_ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert

if TYPE_CHECKING:
    from emplace.framework.tensor import Tensor


def of_each(given: Any, parts: Any) -> Any:
    """`parts` makes ragged rows of a vector of strings; here of any number of axes."""
    from emplace.eager.ragged.tensor import RaggedTensor

    if isinstance(given, RaggedTensor):
        return given.with_flat_values(of_each(given.flat_values, parts))
    given = _convert(given, dtypes.string)
    rows = parts(array_ops.reshape(given, [-1]))
    if given.shape.rank == 0:
        return rows.values
    for size in reversed(given.shape.as_list()[1:]):
        rows = RaggedTensor.from_uniform_row_length(rows, size)
    return rows


def cut(flat: Any, lengths: Any, size_of: Any) -> Any:
    """Each string in pieces of as many bytes as `size_of(starts)` says, one at each byte."""
    from emplace.eager.ragged import rows
    from emplace.eager.ragged.tensor import RaggedTensor

    splits = rows.ends(lengths)
    ids = rows.ids(splits)
    starts = math_ops.range(splits[-1]) - array_ops.gather(splits, ids)
    pieces = _op("Substr", [array_ops.gather(flat, ids), starts, size_of(starts)], {"unit": "BYTE"})
    return RaggedTensor(pieces, splits)


def _decoding(encoding: str, errors: str, replacement_char: int, replace_control_characters: bool) -> dict[str, Any]:
    return {
        "input_encoding": encoding, "errors": errors, "replacement_char": replacement_char,
        "replace_control_characters": replace_control_characters,
    }  # fmt: skip


def _decoded(given: Any, attrs: dict[str, Any], which: int) -> Any:
    from emplace.eager.ragged.tensor import RaggedTensor

    def parts(flat: Any) -> Any:
        found = _op("UnicodeDecode" if which == 1 else "UnicodeDecodeWithOffsets", [flat], attrs)
        return RaggedTensor(found[which], found[0])

    return of_each(given, parts)


def unicode_decode(
    input: Any, input_encoding: str, errors: str = "replace", replacement_char: int = 0xFFFD,  # noqa: A002
    replace_control_characters: bool = False, name: str | None = None,
) -> Any:
    """Each string as a row of its code points; what is not valid is replaced, ignored or an error, as `errors` says."""
    return _decoded(input, _decoding(input_encoding, errors, replacement_char, replace_control_characters), 1)


def unicode_decode_with_offsets(
    input: Any, input_encoding: str, errors: str = "replace", replacement_char: int = 0xFFFD,  # noqa: A002
    replace_control_characters: bool = False, name: str | None = None,
) -> Any:
    """The code points as `unicode_decode` gives them, and where each begins in bytes."""
    attrs = _decoding(input_encoding, errors, replacement_char, replace_control_characters)
    return _decoded(input, attrs, 1), _decoded(input, attrs, 2)


def unicode_encode(input: Any, output_encoding: str, errors: str = "replace", replacement_char: int = 65533, name: str | None = None) -> Tensor:  # noqa: A002
    """Rows of code points as strings in UTF-8, UTF-16-BE or UTF-32-BE."""
    from emplace.eager.ragged.tensor import RaggedTensor

    attrs = {"output_encoding": output_encoding, "errors": errors, "replacement_char": replacement_char}
    if not isinstance(input, RaggedTensor):
        input = index_values.tensor(input)  # noqa: A001
        if input.shape.rank == 1:
            n = array_ops.shape(input, out_type=dtypes.int64)[0]
            return array_ops.reshape(_op("UnicodeEncode", [input, array_ops.stack([_convert(0, n.dtype), n])], attrs), [])
        input = RaggedTensor.from_tensor(input, ragged_rank=input.shape.rank - 1)  # noqa: A001
    if isinstance(input.values, RaggedTensor):
        return input.with_values(unicode_encode(input.values, output_encoding, errors, replacement_char))
    return _op("UnicodeEncode", [input.values, input.row_splits], attrs)


def unicode_split(input: Any, input_encoding: str, errors: str = "replace", replacement_char: int = 0xFFFD, name: str | None = None) -> Any:  # noqa: A002
    """Each string as a row of its characters, each a string."""
    return _characters(unicode_decode(input, input_encoding, errors, replacement_char), input_encoding)


def unicode_split_with_offsets(
    input: Any, input_encoding: str, errors: str = "replace", replacement_char: int = 0xFFFD, name: str | None = None  # noqa: A002
) -> Any:
    """The characters as `unicode_split` gives them, and where each begins in bytes."""
    points, offsets = unicode_decode_with_offsets(input, input_encoding, errors, replacement_char)
    return _characters(points, input_encoding), offsets


def _characters(points: Any, encoding: str) -> Any:
    """A string of each code point."""
    flat = points.flat_values if hasattr(points, "flat_values") else points
    n = array_ops.shape(flat, out_type=dtypes.int64)[0]
    made = _op("UnicodeEncode", [flat, math_ops.range(n + 1)], {"output_encoding": encoding})
    return points.with_flat_values(made) if hasattr(points, "flat_values") else made


def ngrams(
    data: Any, ngram_width: Any, separator: str = " ", pad_values: Any = None, padding_width: int | None = None,
    preserve_short_sequences: bool = False, name: str | None = None,
) -> Tensor:
    """Neighbouring strings joined, as many as each of the widths says."""
    from emplace.eager.ragged.tensor import RaggedTensor

    widths = [ngram_width] if isinstance(ngram_width, int) else list(ngram_width)
    if any(w < 1 for w in widths):
        raise ValueError(f"All ngram_widths must be greater than 0. Received: ngram_width={ngram_width}")
    if pad_values is None and padding_width is not None:
        raise ValueError(f"pad_values must be provided if padding_width is set. Received: pad_values={pad_values} and padding_width={padding_width}")
    ends = (pad_values, pad_values) if isinstance(pad_values, (str, bytes)) else pad_values
    left, right = ends if ends is not None else ("", "")
    given = data if isinstance(data, RaggedTensor) else _convert(data, dtypes.string)
    pad = 0 if ends is None else -1 if padding_width is None else padding_width
    return _ngrams(given, {
        "separator": separator, "ngram_widths": widths, "left_pad": left, "right_pad": right, "pad_width": pad,
        "preserve_short_sequences": preserve_short_sequences,
    })  # fmt: skip


def _ngrams(given: Any, attrs: dict[str, Any]) -> Any:
    from emplace.eager.ragged.tensor import RaggedTensor

    if not isinstance(given, RaggedTensor) and given.shape.rank == 1:
        splits = array_ops.stack([0, array_ops.size(given)])
        return _op("StringNGrams", [given, math_ops.cast(splits, dtypes.int64)], attrs)[0]
    rows = given if isinstance(given, RaggedTensor) else RaggedTensor.from_tensor(given)
    if isinstance(rows.values, RaggedTensor):
        return rows.with_values(_ngrams(rows.values, attrs))
    made, splits = _op("StringNGrams", [rows.values, rows.row_splits], attrs)
    return RaggedTensor.from_row_splits(made, splits, validate=False)


def unsorted_segment_join(inputs: Any, segment_ids: Any, num_segments: Any, separator: str = "", name: str | None = None) -> Tensor:
    """The strings of each segment put together; `segment_ids` in any order, empty segments give ""."""
    return _op("UnsortedSegmentJoin", [inputs, segment_ids, num_segments], {"separator": separator}, name)
