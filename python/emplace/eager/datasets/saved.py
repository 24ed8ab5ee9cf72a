"""Datasets in files: saved whole, or kept as they are made."""

from __future__ import annotations

import multiprocessing
import os
from typing import Any

from emplace.eager import context, structured_values, tensor_spec
from emplace.eager.datasets import building, functions
from emplace.eager.datasets.building import AUTOTUNE
from emplace.framework import dtypes, errors, gen, ops

_SPEC = "dataset_spec.pb"


def _together(datasets: Any) -> Any:
    return datasets.interleave(lambda d: d, cycle_length=multiprocessing.cpu_count(), num_parallel_calls=AUTOTUNE)


def snapshot(dataset: Any, path: Any, compression: Any, reader_func: Any, shard_func: Any, name: str | None) -> Any:
    from emplace.eager.optional import DatasetSpec

    source, count = dataset, multiprocessing.cpu_count()
    if shard_func is None:
        source = dataset.enumerate(name=name)
    spec = source.element_spec
    reader = functions.Traced(reader_func or _together, "Dataset_snapshot_reader_func", DatasetSpec(DatasetSpec(spec)))
    shard = functions.Traced(shard_func or (lambda index, _: index % count), "Dataset_snapshot_shard_func", spec)
    inputs = [path if isinstance(path, (str, bytes)) else os.fspath(path), reader.captured, shard.captured]
    made = source._stage(
        "_SnapshotDataset", "SnapshotDatasetV2", inputs, spec, functions=[reader, shard], name=name, compression=compression or "",
        reader_func=reader.name, shard_func=shard.name,
    )
    return made if shard_func is not None else made.map(lambda _, element: element, name=name)


def save(dataset: Any, path: Any, compression: Any, shard_func: Any, checkpoint_args: Any) -> Any:
    if checkpoint_args is not None:
        raise errors.UnimplementedError(None, None, "checkpoint_args: a dataset is saved in one go; leave them out")
    shard = functions.Traced(shard_func or (lambda *_: ()), "save", dataset.element_spec)
    where = building.text(path if isinstance(path, (str, bytes)) else os.fspath(path), "path")
    attrs = {"compression": compression or "", "shard_func": shard.name, "use_shard_func": shard_func is not None}
    done = gen.apply("SaveDataset", [dataset._variant_tensor, where, shard.captured], attrs)
    if context.executing_eagerly():
        _write_spec(os.fspath(path), dataset.element_spec)
    return done


def _write_spec(path: str, spec: Any) -> None:
    from emplace.proto import saved_model_pb2

    message = structured_values.encoded(spec, saved_model_pb2.StructuredValue())
    with open(os.path.join(path, _SPEC), "wb") as file:
        file.write(message.SerializeToString(deterministic=True))


def _read_spec(path: str) -> Any:
    from emplace.proto import saved_model_pb2

    try:
        with open(os.path.join(path, _SPEC), "rb") as file:
            return structured_values.decoded(saved_model_pb2.StructuredValue.FromString(file.read()))
    except FileNotFoundError:
        raise errors.NotFoundError(None, None, f"{os.path.join(path, _SPEC)}; No such file or directory") from None


def load(owner: Any, path: Any, element_spec: Any, compression: Any, reader_func: Any) -> Any:
    from emplace.eager.optional import DatasetSpec

    if element_spec is None:
        if not context.executing_eagerly():
            raise ValueError("In graph mode the `element_spec` argument must be provided.")
        element_spec = _read_spec(os.fspath(path))
    reader = functions.Traced(reader_func or _together, "load", DatasetSpec(DatasetSpec(element_spec)))
    inputs = [path if isinstance(path, (str, bytes)) else os.fspath(path), reader.captured]
    attrs = {"compression": compression or "", "reader_func": reader.name}
    return owner._made("_LoadDataset", "LoadDataset", inputs, element_spec, functions=[reader], **attrs)




class TFRecordWriter:
    """Writes a dataset of strings to a file of records."""

    def __init__(self, filename: Any, compression_type: Any = None) -> None:
        self._filename, self._compression = filename, compression_type or ""

    def write(self, dataset: Any) -> Any:
        """Writes all elements, over what is there; in a graph, the operation that does."""
        if not hasattr(dataset, "_variant_tensor"):
            raise TypeError(f"Invalid `dataset.` Expected a `tf.data.Dataset` object but got {type(dataset)}.")
        spec = dataset.element_spec
        if not isinstance(spec, tensor_spec.TensorSpec) or not spec.is_compatible_with(tensor_spec.TensorSpec([], dtypes.string)):
            raise TypeError(f"Invalid `dataset`. Expected a`dataset` that produces scalar `tf.string` elements, but got a dataset which produces elements of {spec!r}.")
        where = self._filename if isinstance(self._filename, (str, bytes, ops.Tensor)) else os.fspath(self._filename)
        return dataset._in_mode(lambda: gen.apply("DatasetToTFRecord", [dataset._variant_tensor, where, self._compression], {}))
