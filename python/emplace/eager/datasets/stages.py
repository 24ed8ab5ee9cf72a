"""Stages without functions: batches, parts, repetition, order, what is kept or made ahead."""

from __future__ import annotations

from typing import Any

import numpy as np

from emplace.eager import nest, tensor_spec
from emplace.eager.datasets import building, functions, structure
from emplace.eager.datasets.building import AUTOTUNE
from emplace.framework import dtypes, gen, ops


@building.in_their_mode
class Stages:
    """Mixed into Dataset."""

    element_spec: Any
    _stage: Any
    _variant_tensor: Any
    _of_graph_program: bool

    def batch(
        self, batch_size: Any, drop_remainder: Any = False, num_parallel_calls: Any = None, deterministic: Any = None, name: str | None = None
    ) -> Any:
        """Stacks `batch_size` elements in a row into one with a new first dimension; a smaller rest stays unless
        `drop_remainder`. `num_parallel_calls` batches are put together at a time."""
        size, drops = building.whole(batch_size, "batch_size"), building.flag(drop_remainder, "drop_remainder")
        lead = building.lead_of(size, drops)
        spec = nest.map_structure(lambda s: structure.batched(s, lead), self.element_spec)
        if functions.at_a_time(num_parallel_calls) is None:
            made = self._stage("_BatchDataset", "BatchDatasetV2", [size, drops], spec, name=name)
        else:
            calls, in_order = building.whole(num_parallel_calls, "num_parallel_calls"), building.determinism(deterministic)
            made = self._stage("_ParallelBatchDataset", "ParallelBatchDataset", [size, calls, drops], spec, name=name, deterministic=in_order)
        made._batch_size = building.known(size)
        return made

    def padded_batch(
        self, batch_size: Any, padded_shapes: Any = None, padding_values: Any = None, drop_remainder: Any = False, name: str | None = None
    ) -> Any:
        """Batches of elements that are first padded to `padded_shapes`, or to the largest of the batch, with `padding_values`
        (zeros)."""
        from emplace.eager.datasets import padding

        size = building.whole(batch_size, "batch_size")
        shapes, fills, specs = padding.plan(self.element_spec, padded_shapes, padding_values)
        drops = building.flag(drop_remainder, "drop_remainder")
        lead = building.lead_of(size, drops)
        spec = nest.pack_sequence_as(self.element_spec, [structure.batched(s, lead) for s in specs])
        return self._stage("_PaddedBatchDataset", "PaddedBatchDatasetV2", [size, shapes, fills, drops], spec, name=name)

    def ragged_batch(self, batch_size: Any, drop_remainder: Any = False, row_splits_dtype: Any = dtypes.int64, name: str | None = None) -> Any:
        """Elements whose sizes differ, as the rows of ragged tensors."""
        return self._as_ragged_rows(dtypes.as_dtype(row_splits_dtype)).batch(batch_size, drop_remainder=drop_remainder, name=name)

    def _as_ragged_rows(self, row_splits_dtype: Any) -> Any:
        from emplace.eager.datasets import padding

        spec = nest.map_structure(lambda s: padding.ragged_spec(s, row_splits_dtype), self.element_spec)

        def boxed(*element: Any) -> Any:
            return nest.map_structure(padding.ragged_variant, element if isinstance(spec, tuple) else element[0], spec)

        made = self._mapped_by(boxed)  # type: ignore[attr-defined]
        made._spec = spec
        return made

    def sparse_batch(self, batch_size: Any, row_shape: Any, name: str | None = None) -> Any:
        """Elements one below another as a sparse tensor of rows of that shape."""
        from emplace.eager.sparse.tensor import SparseTensorSpec

        spec = self.element_spec
        if not isinstance(spec, tensor_spec.TensorSpec):
            raise TypeError(f"`dense_to_sparse_batch` requires an input dataset whose elements have a single component, but the given dataset has the following component types: {spec}.")
        shape = building.shape_tensor(row_shape)
        dims = building.known(shape)
        made = SparseTensorSpec(None if dims is None else [None, *(None if d < 0 else int(d) for d in dims)], spec.dtype)
        return self._stage("_DenseToSparseBatchDataset", "DenseToSparseBatchDataset", [batch_size, shape], made, name=name)

    def unbatch(self, name: str | None = None) -> Any:
        """The rows of each element as elements of their own: the reverse of `batch`."""
        if any(getattr(s, "shape", None) is not None and s.shape.rank == 0 for s in nest.flatten(self.element_spec)):
            raise ValueError("Cannot unbatch an input with scalar components.")
        spec = nest.map_structure(structure.unbatched, self.element_spec)
        return self._as_rows()._stage("_UnbatchDataset", "UnbatchDataset", [], spec, name=name)

    def _as_rows(self) -> Any:
        """Components that are no tensors in the form whose rows stand for rows."""
        whole = self.element_spec

        def normalize(*args: Any) -> Any:
            rows = structure.to_batched_tensors(whole, args if isinstance(whole, tuple) else args[0])
            return rows[0] if len(rows) == 1 else tuple(rows)

        return self._mapped_by(normalize)  # type: ignore[attr-defined]

    def rebatch(self, batch_size: Any, drop_remainder: Any = False, name: str | None = None) -> Any:
        """The rows of all batches in batches of another size, or of a list of sizes in turn."""
        sizes, drops = building.whole(batch_size, "batch_sizes"), building.flag(drop_remainder, "drop_remainder")
        lead = _lead_of_rebatched(self.element_spec, building.known(sizes), building.known(drops))

        def rows(s: Any) -> Any:
            if s.shape.rank == 0:
                raise ValueError("Invalid `batch_sizes`. Expected dataset with rank of >= 1 but found a dataset with scalar elements. Fix the issue by adding the `batch` transformation to the dataset.")
            return structure.batched(structure.unbatched(s), lead)

        spec = nest.map_structure(rows, self.element_spec)
        return self._as_rows()._stage("_RebatchDataset", "RebatchDatasetV2", [batch_size, drop_remainder], spec, name=name)

    def repeat(self, count: Any = None, name: str | None = None) -> Any:
        """The dataset `count` times, or without end."""
        times = building.whole(-1 if count is None else count, "count")
        return self._stage("_RepeatDataset", "RepeatDataset", [times], self.element_spec, name=name)

    def take(self, count: Any, name: str | None = None) -> Any:
        """The first `count` elements at most, all for -1."""
        return self._stage("_TakeDataset", "TakeDataset", [building.whole(count, "count")], self.element_spec, name=name)

    def skip(self, count: Any, name: str | None = None) -> Any:
        """All but the first `count` elements, none for -1."""
        return self._stage("_SkipDataset", "SkipDataset", [building.whole(count, "count")], self.element_spec, name=name)

    def shard(self, num_shards: Any, index: Any, name: str | None = None) -> Any:
        """Every `num_shards`th element, from the one at `index`: a part for each of several readers."""
        inputs = [building.whole(num_shards, "num_shards"), building.whole(index, "index")]
        return self._stage("_ShardDataset", "ShardDataset", inputs, self.element_spec, name=name)

    def concatenate(self, dataset: Any, name: str | None = None) -> Any:
        """The elements of this dataset, then those of another with the same dtypes."""
        spec = structure.common(self.element_spec, dataset.element_spec)
        if spec is None:
            raise TypeError(f"Incompatible dataset elements:\n  {self.element_spec} vs.   {dataset.element_spec}")
        return self._stage("_ConcatenateDataset", "ConcatenateDataset", [dataset._variant_tensor], spec, [dataset], name=name)

    def enumerate(self, start: Any = 0, name: str | None = None) -> Any:
        """Pairs of a running int64 number, from `start`, and an element."""
        numbers = type(self).range(start, np.iinfo(np.int64).max, name=name)._rewritten("replicate_on_split")
        return type(self).zip((numbers, self), name=name)

    def _rewritten(self, rewrite: str) -> Any:
        return self._stage("_RewriteDataset", "RewriteDataset", [rewrite], self.element_spec)

    def shuffle(self, buffer_size: Any, seed: Any = None, reshuffle_each_iteration: Any = True, name: str | None = None) -> Any:
        """Elements drawn at random from a buffer of the next `buffer_size`; with `reshuffle_each_iteration` in another order
        for each iterator."""
        again = True if reshuffle_each_iteration is None else bool(reshuffle_each_iteration)
        inputs, op = [building.whole(buffer_size, "buffer_size"), *building.seeds(seed)], "ShuffleDataset"
        if building.keeps_state():
            inputs, op = [*inputs, gen.apply("DummySeedGenerator", [], {})], "ShuffleDatasetV3"
        return self._stage("_ShuffleDataset", op, inputs, self.element_spec, name=name, reshuffle_each_iteration=again)

    def _shuffled_and_repeated(self, buffer_size: Any, count: Any, seed: Any) -> Any:
        size, times = building.whole(buffer_size, "buffer_size"), building.whole(-1 if count is None else count, "count")
        inputs = [size, *building.seeds(seed), times]
        return self._stage("_ShuffleAndRepeatDataset", "ShuffleAndRepeatDataset", inputs, self.element_spec)

    def prefetch(self, buffer_size: Any, name: str | None = None) -> Any:
        """Makes up to `buffer_size` elements ahead, on a thread of its own, while the ones before are used."""
        if functions.debugging():
            return self
        tuned = buffer_size is None or not isinstance(buffer_size, ops.Tensor) and buffer_size == AUTOTUNE
        size = building.whole(AUTOTUNE if buffer_size is None else buffer_size, "buffer_size")
        with building.beside(self):
            return self._stage("_PrefetchDataset", "PrefetchDataset", [size], self.element_spec, name=name, legacy_autotune=tuned)

    def cache(self, filename: Any = "", name: str | None = None) -> Any:
        """Keeps the elements once they were all read, in memory or in files that begin with `filename`, so that later
        iterators need not make them again."""
        inputs, op = [building.text(filename, "filename")], "CacheDataset"
        if building.keeps_state():
            inputs, op = [*inputs, gen.apply("DummyMemoryCache", [], {})], "CacheDatasetV2"
        return self._stage("CacheDataset", op, inputs, self.element_spec, name=name)

    def window(self, size: Any, shift: Any = None, stride: Any = 1, drop_remainder: Any = False, name: str | None = None) -> Any:
        """Datasets of `size` elements each, `stride` apart in the source, that begin `shift` elements after each other."""
        from emplace.eager.optional import DatasetSpec

        numbers = [building.whole(v, word) for v, word in ((size, "size"), (size if shift is None else shift, "shift"), (stride, "stride"))]
        inputs = [*numbers, building.flag(drop_remainder, "drop_remainder")]
        return self._stage("_WindowDataset", "WindowDataset", inputs, nest.map_structure(DatasetSpec, self.element_spec), name=name)

    def unique(self, name: str | None = None) -> Any:
        """The elements, int32 or int64 numbers or strings, that did not occur before."""
        for s in nest.flatten(self.element_spec):
            if s.dtype not in (dtypes.int32, dtypes.int64, dtypes.string):
                raise TypeError(f"`tf.data.Dataset.unique` does not support type {s.dtype} -- only `tf.int32`, `tf.int64`, and `tf.string` are supported.")
        return self._stage("_UniqueDataset", "UniqueDataset", [], self.element_spec, name=name)

    def ignore_errors(self, log_warning: bool = False, name: str | None = None) -> Any:
        """Passes over elements that could not be made."""
        return self._stage("_IgnoreErrorsDataset", "IgnoreErrorsDataset", [], self.element_spec, name=name, log_warning=bool(log_warning))

    def _asserting(self, count: Any) -> Any:
        def build() -> Any:
            expected = building.whole(count, "expected_cardinality")
            return self._stage("_AssertCardinalityDataset", "AssertCardinalityDataset", [expected], self.element_spec)

        return self._in_mode(build)  # type: ignore[attr-defined]

    def get_single_element(self, name: str | None = None) -> Any:
        """The one element of a dataset; InvalidArgumentError if there are none or more."""
        made = building.variant("DatasetToSingleElement", [self._variant_tensor], self.element_spec, name)
        return structure.from_tensors(self.element_spec, made)


def _lead_of_rebatched(spec: Any, sizes: Any, drops: Any) -> int | None:
    """How many rows all of the new batches have; None where that is open."""
    if sizes is None:
        return None
    if np.ndim(sizes) and np.any(sizes != sizes[0]):
        return None
    size = int(np.reshape(sizes, -1)[0])
    if drops is not None and bool(drops):
        return size
    before = {s.shape.as_list()[0] for s in nest.flatten(spec) if s.shape.rank} - {None}
    if len(before) > 1:
        raise ValueError(f"Invalid `dataset.element_spec`: the components have batches of {sorted(before)}.")
    return size if before and next(iter(before)) % size == 0 else None
