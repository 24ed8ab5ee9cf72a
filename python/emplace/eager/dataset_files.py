"""Datasets of files: lines, records, and datasets that were saved."""

from __future__ import annotations

import json
import os
from typing import Any, Iterator

import numpy as np

from emplace.eager import context, nest, records, tensor_spec
from emplace.eager.dataset import Dataset
from emplace.eager.dataset_more import UNKNOWN
from emplace.framework import dtypes, errors, ops

_TEXT = tensor_spec.TensorSpec([], dtypes.string)


def _names(filenames: Any) -> Iterator[bytes]:
    if isinstance(filenames, Dataset):
        for name in filenames:
            yield from np.asarray(name.numpy(), object).reshape(-1)
        return
    with context.eager_mode():
        given = np.asarray(ops.convert_to_tensor(os.fspath(filenames) if isinstance(filenames, os.PathLike) else filenames, dtypes.string).numpy(), object)
    yield from given.reshape(-1)


def _text(value: bytes) -> Any:
    with context.eager_mode():
        return ops.convert_to_tensor(value, dtypes.string)


class _Files(Dataset):
    """The pieces of one file after another."""

    def __init__(self, filenames: Any, compression_type: Any) -> None:
        names = filenames if isinstance(filenames, Dataset) else list(_names(filenames))

        def rows() -> Iterator[Any]:
            for name in _names(names) if isinstance(names, Dataset) else names:
                for piece in self._pieces_of(name, compression_type):
                    yield _text(piece)

        super().__init__(rows, _TEXT, UNKNOWN)

    def _with(self, make: Any, n: int, spec: Any = None) -> Dataset:
        return Dataset(make, self.element_spec if spec is None else spec, n)

    _of = _with

    def _pieces_of(self, name: bytes, compression_type: Any) -> Iterator[bytes]:
        raise NotImplementedError


class TextLineDataset(_Files):
    """The lines of files as strings without their ends; GZIP or ZLIB as `compression_type`."""

    _kind = "TextLineDatasetV2"

    def __init__(self, filenames: Any, compression_type: Any = None, buffer_size: Any = None, num_parallel_reads: Any = None, name: str | None = None) -> None:
        super().__init__(filenames, compression_type)

    def _pieces_of(self, name: bytes, compression_type: Any) -> Iterator[bytes]:
        with records.opened(name, compression_type) as file:
            for line in file:
                yield line.removesuffix(b"\n").removesuffix(b"\r")


class TFRecordDataset(_Files):
    """The records of TFRecord files as strings; GZIP or ZLIB as `compression_type`."""

    _kind = "TFRecordDatasetV2"

    def __init__(self, filenames: Any, compression_type: Any = None, buffer_size: Any = None, num_parallel_reads: Any = None, name: str | None = None) -> None:
        super().__init__(filenames, compression_type)

    def _pieces_of(self, name: bytes, compression_type: Any) -> Iterator[bytes]:
        return records.records(name, compression_type)


class FixedLengthRecordDataset(_Files):
    """Pieces of `record_bytes` bytes from files, what lies before `header_bytes` and in the last `footer_bytes` left out."""

    _kind = "FixedLengthRecordDatasetV2"

    def __init__(
        self, filenames: Any, record_bytes: Any, header_bytes: Any = None, footer_bytes: Any = None, buffer_size: Any = None,
        compression_type: Any = None, num_parallel_reads: Any = None, name: str | None = None,
    ) -> None:
        self._size, self._head, self._foot = (int(v or 0) for v in (record_bytes, header_bytes, footer_bytes))
        super().__init__(filenames, compression_type)

    def _pieces_of(self, name: bytes, compression_type: Any) -> Iterator[bytes]:
        with records.opened(name, compression_type) as file:
            content = file.read()
        body = content[self._head : len(content) - self._foot]
        if len(body) % self._size:
            raise errors.InvalidArgumentError(None, None, f"Excluding the header ({self._head} bytes) and footer ({self._foot} bytes), input file \"{os.fsdecode(name)}\" has body length {len(body)} bytes, which is not an exact multiple of the record length ({self._size} bytes).")
        for i in range(0, len(body), self._size):
            yield body[i : i + self._size]


_SPEC, _ELEMENTS = "dataset_spec.json", "elements.tfrecords"


def save(dataset: Any, path: Any, compression: Any = None, shard_func: Any = None, checkpoint_args: Any = None) -> None:
    """Writes the elements, each component a serialized tensor, and what they look like."""
    from emplace.eager.functions import strings

    os.makedirs(path, exist_ok=True)
    with open(os.path.join(path, _SPEC), "w", encoding="utf-8") as file:
        json.dump(_written(dataset.element_spec), file)
    with records.TFRecordWriter(os.path.join(path, _ELEMENTS), compression) as writer, context.eager_mode():
        for item in dataset:
            for leaf in nest.flatten(item):
                writer.write(strings.serialize_tensor(leaf).numpy())


def load(path: Any, element_spec: Any = None, compression: Any = None, reader_func: Any = None) -> Dataset:
    if not os.path.exists(os.path.join(path, _SPEC)):
        raise errors.NotFoundError(None, None, f"Could not find a saved dataset in {os.fspath(path)}")
    with open(os.path.join(path, _SPEC), encoding="utf-8") as file:
        spec = _read(json.load(file))
    leaves = nest.flatten(spec)

    def rows() -> Iterator[Any]:
        from emplace.framework.dispatch import execute as op

        pieces = records.records(os.path.join(path, _ELEMENTS), compression)
        for first in pieces:
            texts = [first, *(next(pieces) for _ in leaves[1:])]
            with context.eager_mode():
                values = [op("ParseTensor", [ops.convert_to_tensor(t, dtypes.string)], {"out_type": s.dtype}) for t, s in zip(texts, leaves)]
            yield nest.pack_sequence_as(spec, values)

    return Dataset(rows, spec if element_spec is None else element_spec, UNKNOWN)


def _written(spec: Any) -> Any:
    if isinstance(spec, dict):
        return {"dict": {k: _written(v) for k, v in spec.items()}}
    if isinstance(spec, (tuple, list)):
        return {"tuple": [_written(v) for v in spec]}
    if not isinstance(spec, tensor_spec.TensorSpec):
        raise NotImplementedError(f"a saved dataset of {spec!r}")
    return {"dtype": spec.dtype.name, "shape": None if spec.shape.rank is None else spec.shape.as_list()}


def _read(text: Any) -> Any:
    if "dict" in text:
        return {k: _read(v) for k, v in text["dict"].items()}
    if "tuple" in text:
        return tuple(_read(v) for v in text["tuple"])
    return tensor_spec.TensorSpec(text["shape"], text["dtype"])
