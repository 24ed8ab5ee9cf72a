"""Datasets of files: lines, records, rows of tables."""

from __future__ import annotations

import os
from typing import Any

from emplace.eager import nest, tensor_spec
from emplace.eager.datasets import building
from emplace.eager.datasets.building import AUTOTUNE
from emplace.eager.datasets.dataset import Dataset, DatasetV1
from emplace.framework import array_ops, constant_op, dtypes, ops

_TEXT = tensor_spec.TensorSpec([], dtypes.string)
_READ_AHEAD, _CSV_READ_AHEAD = 256 * 1024, 4 * 1024 * 1024


def _names(owner: Any, filenames: Any) -> Any:
    """A dataset of the names: given as one, or as a tensor of any shape."""
    if isinstance(filenames, Dataset):
        spec = filenames.element_spec
        if not isinstance(spec, tensor_spec.TensorSpec) or spec.dtype != dtypes.string or spec.shape.rank not in (0, None):
            raise TypeError(f"The `filenames` argument must contain `tf.string` scalar elements. Got a dataset of {spec!r} elements.")
        return filenames
    if isinstance(filenames, os.PathLike):
        filenames = os.fspath(filenames)
    elif isinstance(filenames, (list, tuple)):
        filenames = [os.fspath(f) if isinstance(f, os.PathLike) else f for f in filenames]
    named = filenames if isinstance(filenames, ops.Tensor) else ops.convert_to_tensor(filenames, dtypes.string)
    return owner._slices(array_ops.reshape(named, [-1], name="flat_filenames"), None, True)


def _or(value: Any, default: Any) -> Any:
    return default if value is None else value


class _Files(Dataset):
    """The pieces of one file after another, or of several at a time."""

    def _read(self, filenames: Any, one_file: Any, num_parallel_reads: Any, name: str | None) -> None:
        def read_one_file(filename: Any) -> Any:
            op, inputs = one_file(filename)
            return owner._made(self._kind_of, op, inputs, _TEXT, name=name)

        def build() -> Any:
            names = _names(owner, filenames)
            if num_parallel_reads is None:
                return names.flat_map(read_one_file, name=name)
            if not isinstance(num_parallel_reads, ops.Tensor) and num_parallel_reads == AUTOTUNE:
                return names.interleave(read_one_file, num_parallel_calls=num_parallel_reads, name=name)
            return names._read_side_by_side(read_one_file, num_parallel_reads, 1, False, None, None, name)

        owner = self._result_class()
        made = self._in_mode(build)
        Dataset.__init__(self, made._variant_tensor, _TEXT, self._kind_of, [made])

    _kind_of = ""


class TextLineDataset(_Files):
    """The lines of files as strings without their ends; GZIP or ZLIB as `compression_type`. `num_parallel_reads` files are
    read at a time."""

    _kind_of = "TextLineDatasetV2"

    def __init__(self, filenames: Any, compression_type: Any = None, buffer_size: Any = None, num_parallel_reads: Any = None, name: str | None = None) -> None:
        def one_file(filename: Any) -> Any:
            packed = building.text(_or(compression_type, ""), "compression_type")
            return "TextLineDataset", [filename, packed, building.whole(_or(buffer_size, _READ_AHEAD), "buffer_size")]

        self._read(filenames, one_file, num_parallel_reads, name)


class TFRecordDataset(_Files):
    """The records of TFRecord files as strings; GZIP or ZLIB as `compression_type`. `num_parallel_reads` files are read at
    a time."""

    _kind_of = "TFRecordDatasetV2"

    def __init__(self, filenames: Any, compression_type: Any = None, buffer_size: Any = None, num_parallel_reads: Any = None, name: str | None = None) -> None:
        def one_file(filename: Any) -> Any:
            packed = building.text(_or(compression_type, ""), "compression_type")
            return "TFRecordDataset", [filename, packed, building.whole(_or(buffer_size, -1), "buffer_size")]

        self._read(filenames, one_file, num_parallel_reads, name)


class FixedLengthRecordDataset(_Files):
    """Pieces of `record_bytes` bytes from files, what lies before `header_bytes` and in the last `footer_bytes` left out."""

    _kind_of = "FixedLengthRecordDatasetV2"

    def __init__(
        self, filenames: Any, record_bytes: Any, header_bytes: Any = None, footer_bytes: Any = None, buffer_size: Any = None,
        compression_type: Any = None, num_parallel_reads: Any = None, name: str | None = None,
    ) -> None:
        def one_file(filename: Any) -> Any:
            size = building.whole(record_bytes, "record_bytes")
            head, foot = building.whole(_or(header_bytes, 0), "header_bytes"), building.whole(_or(footer_bytes, 0), "footer_bytes")
            ahead = building.whole(_or(buffer_size, _READ_AHEAD), "buffer_size")
            packed = building.text(_or(compression_type, ""), "compression_type")
            return "FixedLengthRecordDatasetV2", [filename, head, size, foot, ahead, packed]

        self._read(filenames, one_file, num_parallel_reads, name)


class CsvDataset(Dataset):
    """Rows of comma-separated files, a tensor for each column."""

    def __init__(
        self, filenames: Any, record_defaults: Any, compression_type: Any = None, buffer_size: Any = None, header: bool = False,
        field_delim: str = ",", use_quote_delim: bool = True, na_value: str = "", select_cols: Any = None, exclude_cols: Any = None,
    ) -> None:
        def build() -> Any:
            names, packed = building.text(filenames, "filenames"), building.text(_or(compression_type, ""), "compression_type")
            defaults = [_default(d, i) for i, d in enumerate(record_defaults)]
            ahead, has_head = building.whole(_or(buffer_size, _CSV_READ_AHEAD), "buffer_size"), building.flag(header, "header")
            delim, quotes = building.text(field_delim, "field_delim"), building.flag(use_quote_delim, "use_quote_delim")
            missing = building.text(na_value, "na_value")
            taken, left = (ops.convert_to_tensor(_or(c, []), dtypes.int64, name=w) for c, w in ((select_cols, "select_cols"), (exclude_cols, "exclude_cols")))
            spec = tuple(tensor_spec.TensorSpec([], d.dtype) for d in defaults)
            return self._made("CsvDatasetV2", "CSVDatasetV2", [names, packed, ahead, has_head, delim, quotes, missing, taken, defaults, left], spec)

        made = self._in_mode(build)
        Dataset.__init__(self, made._variant_tensor, made.element_spec, "CsvDatasetV2")


class SqlDataset(Dataset):
    """The rows that a query to a data base gives. `driver_name`: "sqlite"; `data_source_name`: its file."""

    def __init__(self, driver_name: Any, data_source_name: Any, query: Any, output_types: Any) -> None:
        spec = nest.map_structure(lambda kind: tensor_spec.TensorSpec([], kind), output_types)
        named = (driver_name, "driver_name"), (data_source_name, "data_source_name"), (query, "query")
        made = self._in_mode(lambda: self._made("SqlDatasetV2", "SqlDataset", [building.text(*n) for n in named], spec))
        Dataset.__init__(self, made._variant_tensor, spec, "SqlDatasetV2")


def _default(given: Any, i: int) -> Any:
    if isinstance(given, dtypes.DType) or isinstance(given, type):
        return constant_op.constant([], dtypes.as_dtype(given))
    return ops.convert_to_tensor(given, name=f"record_defaults_{i}")


# ---- Those of graph programs.


class TextLineDatasetV1(TextLineDataset, DatasetV1):
    __doc__ = TextLineDataset.__doc__


class TFRecordDatasetV1(TFRecordDataset, DatasetV1):
    __doc__ = TFRecordDataset.__doc__


class FixedLengthRecordDatasetV1(FixedLengthRecordDataset, DatasetV1):
    __doc__ = FixedLengthRecordDataset.__doc__


class SqlDatasetV1(SqlDataset, DatasetV1):
    __doc__ = SqlDataset.__doc__


class CsvDatasetV1(CsvDataset, DatasetV1):
    __doc__ = CsvDataset.__doc__
