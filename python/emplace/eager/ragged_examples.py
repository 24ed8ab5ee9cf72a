"""Rows within the rows of a batch of examples, by the graph's operations."""

from __future__ import annotations

from typing import Any

from emplace.framework import array_ops, dtypes, gen, math_ops


class Parts:
    """Values of all examples one behind the other: `splits` says where those of each begin."""

    def __init__(self, values: Any, splits: Any) -> None:
        self.values, self.splits = values, splits

    def split(self, kind: Any, part: Any, said: "Parts | None", dtype: Any) -> "Parts":
        """With rows as `part` says, whose numbers for each example are in `said`."""
        name = type(part).__name__
        if said is None:
            length = math_ops.cast(part.length, dtype)
            begin = math_ops.floordiv(math_ops.cast(self.splits, dtype), length)
            every = math_ops.range(begin[-1] + math_ops.cast(1, dtype)) * length
            return Parts(kind(self.values, every, part.length), begin)
        numbers, begin, rows = math_ops.cast(said.values, dtype), math_ops.cast(self.splits, dtype), math_ops.cast(said.splits, dtype)
        example = kind.from_row_splits(numbers, rows, validate=False).value_rowids()
        if name == "RowLengths":
            return Parts(kind.from_row_lengths(self.values, numbers), rows)
        if name == "ValueRowIds":
            return self._by_row_of_each(kind, numbers, example, rows, dtype)
        numbers += array_ops.gather(begin, example)
        if name == "RowStarts":
            return Parts(kind.from_row_starts(self.values, numbers), rows)
        if name == "RowLimits":
            return Parts(kind.from_row_limits(self.values, numbers), rows)
        # Splits: limits, but for the first one of each example.
        place = math_ops.range(array_ops.size(example, out_type=dtype))
        later = array_ops.boolean_mask(numbers, math_ops.not_equal(place, array_ops.gather(rows, example)))
        return Parts(kind.from_row_limits(self.values, later), rows - math_ops.range(array_ops.size(rows, out_type=dtype)))

    def _by_row_of_each(self, kind: Any, numbers: Any, example: Any, rows: Any, dtype: Any) -> "Parts":
        count = array_ops.size(rows, out_type=dtypes.int64) - 1
        last = gen.apply("UnsortedSegmentMax", [numbers, example, math_ops.cast(count, dtypes.int64)], {})
        rows_of_each = gen.apply("Maximum", [last, math_ops.cast(-1, dtype)], {}) + math_ops.cast(1, dtype)
        splits = array_ops.concat([array_ops.zeros([1], dtype), math_ops.cumsum(rows_of_each)], 0)
        ids = numbers + array_ops.gather(splits, example)
        return Parts(kind.from_value_rowids(self.values, ids, splits[-1]), splits)

    def joined(self, kind: Any) -> Any:
        """The ragged tensor of all: a row for each example."""
        return kind.from_row_splits(self.values, self.splits, validate=False)
