"""Stages that call a function for each element: it is traced once, and the engine runs it."""

from __future__ import annotations

from typing import Any

from emplace.eager import nest, tensor_spec
from emplace.eager.datasets import building, functions, structure
from emplace.eager.datasets.building import AUTOTUNE, SCALAR
from emplace.framework import dtypes, ops


def _is_scalar(spec: Any, dtype: Any) -> bool:
    return isinstance(spec, tensor_spec.TensorSpec) and spec.dtype == dtype and spec.shape.rank in (0, None)


@building.in_their_mode
class Mappings:
    """Mixed into Dataset."""

    element_spec: Any
    _stage: Any
    _variant_tensor: Any
    _of_graph_program: bool

    def map(
        self, map_func: Any, num_parallel_calls: Any = None, deterministic: Any = None, synchronous: Any = None,
        use_unbounded_threadpool: bool = False, name: str | None = None,
    ) -> Any:
        """What `map_func` gives for each element, in the order of the elements unless `deterministic` is False. The function
        is traced once; the components of a tuple are its arguments. `num_parallel_calls` run at a time."""
        if functions.at_a_time(num_parallel_calls) is None:
            return self._mapped_by(map_func, name, force_synchronous=bool(synchronous))
        if synchronous:
            raise ValueError("`synchronous` is not supported with `num_parallel_calls`, but got `num_parallel_calls` set to {num_parallel_calls}.")
        f = functions.Traced(map_func, "Dataset_map", self.element_spec)
        inputs = [f.captured, building.whole(num_parallel_calls, "num_parallel_calls")]
        return self._stage(
            "_ParallelMapDataset", "ParallelMapDatasetV2", inputs, f.spec, functions=[f], name=name, f=f.name, preserve_cardinality=True,
            deterministic=building.determinism(deterministic), use_unbounded_threadpool=bool(use_unbounded_threadpool),
        )

    def _mapped_by(self, function: Any, name: str | None = None, **attrs: Any) -> Any:
        f = functions.Traced(function, "Dataset_map", self.element_spec)
        return self._stage("_MapDataset", "MapDataset", [f.captured], f.spec, functions=[f], name=name, f=f.name, preserve_cardinality=True, **attrs)

    def _map_and_batch(self, function: Any, batch_size: Any, calls: Any, drop_remainder: Any) -> Any:
        f = functions.Traced(function, "tf_data_experimental_map_and_batch", self.element_spec)
        size, at_once = building.whole(batch_size, "batch_size"), building.whole(calls, "num_parallel_calls")
        drops = building.flag(drop_remainder, "drop_remainder")
        lead = building.lead_of(size, drops)
        spec = nest.map_structure(lambda s: structure.batched(s, lead), f.spec)
        inputs = [f.captured, size, at_once, drops]
        return self._stage("_MapAndBatchDataset", "MapAndBatchDataset", inputs, spec, functions=[f], f=f.name, preserve_cardinality=True)

    def filter(self, predicate: Any, name: str | None = None) -> Any:
        """The elements for which `predicate` gives a true bool scalar."""
        f = functions.Traced(predicate, "Dataset_filter", self.element_spec)
        if not _is_scalar(f.spec, dtypes.bool):
            raise ValueError(f"Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but its return type is {f.spec}.")
        return self._stage("_FilterDataset", "FilterDataset", [f.captured], self.element_spec, functions=[f], name=name, predicate=f.name)

    def take_while(self, predicate: Any, name: str | None = None) -> Any:
        """The elements up to the first for which `predicate` is false."""
        f = functions.Traced(predicate, "Dataset_take_while", self.element_spec)
        if not _is_scalar(f.spec, dtypes.bool):
            raise ValueError(f"Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor but its return type is{f.spec}.")
        return self._stage("_TakeWhileDataset", "TakeWhileDataset", [f.captured], self.element_spec, functions=[f], name=name, predicate=f.name)

    def flat_map(self, map_func: Any, name: str | None = None) -> Any:
        """The elements of the datasets that `map_func` gives for each element, one after another."""
        f = functions.Traced(map_func, "Dataset_flat_map", self.element_spec)
        return self._stage("_FlatMapDataset", "FlatMapDataset", [f.captured], functions.dataset_of(f), functions=[f], name=name, f=f.name)

    def interleave(
        self, map_func: Any, cycle_length: Any = None, block_length: Any = None, num_parallel_calls: Any = None, deterministic: Any = None,
        name: str | None = None,
    ) -> Any:
        """Elements of the datasets that `map_func` gives, `block_length` at a time from `cycle_length` of them in turn;
        `num_parallel_calls` of them are read at a time."""
        f = functions.Traced(map_func, "Dataset_interleave", self.element_spec)
        spec = functions.dataset_of(f)
        inputs = [f.captured, building.whole(AUTOTUNE if cycle_length is None else cycle_length, "cycle_length")]
        inputs.append(building.whole(1 if block_length is None else block_length, "block_length"))
        if functions.at_a_time(num_parallel_calls) is None:
            return self._stage("_InterleaveDataset", "InterleaveDataset", inputs, spec, functions=[f], name=name, f=f.name)
        inputs += [building.whole(AUTOTUNE, word) for word in ("buffer_output_elements", "prefetch_input_elements")]
        inputs.append(building.whole(num_parallel_calls, "num_parallel_calls"))
        order = building.determinism(deterministic)
        return self._stage("_ParallelInterleaveDataset", "ParallelInterleaveDatasetV4", inputs, spec, functions=[f], name=name, f=f.name, deterministic=order)

    def _read_side_by_side(self, map_func: Any, cycle_length: Any, block_length: Any, sloppy: Any, buffered: Any, ahead: Any, name: Any = None) -> Any:
        """`parallel_interleave` of tf.data.experimental."""
        f = functions.Traced(map_func, "tf_data_experimental_parallel_interleave", self.element_spec)
        buffered = 2 * (1 if block_length is None else block_length) if buffered is None else buffered
        ahead = 2 * cycle_length if ahead is None else ahead
        numbers = (cycle_length, "cycle_length"), (block_length, "block_length"), (buffered, "buffer_output_elements"), (ahead, "prefetch_input_elements")
        inputs = [f.captured, *(building.whole(v, word) for v, word in numbers)]
        order = building.determinism(None if sloppy is None else not sloppy)
        spec = functions.dataset_of(f)
        return self._stage("ParallelInterleaveDataset", "LegacyParallelInterleaveDatasetV2", inputs, spec, functions=[f], name=name, f=f.name, deterministic=order)

    def scan(self, initial_state: Any, scan_func: Any, name: str | None = None) -> Any:
        """`scan_func(state, element)` gives the next state and an element of the result."""
        state = structure.normalized(initial_state)
        f, spec = _with_state(scan_func, "Dataset_scan", state, self.element_spec, _pair)
        inputs = [structure.to_tensors(spec, state), f.captured]
        return self._stage("_ScanDataset", "ScanDataset", inputs, f.spec[1], functions=[f], name=name, f=f.name, preserve_cardinality=True, use_default_device=True)

    def reduce(self, initial_state: Any, reduce_func: Any, name: str | None = None) -> Any:
        """Folds the elements into one state: `reduce_func(state, element)` gives the next, the last is returned."""
        with ops.name_scope("initial_state"):
            state = structure.normalized(initial_state)
        f, spec = _with_state(reduce_func, "reduce", state, self.element_spec, lambda given: given)
        inputs = [self._variant_tensor, structure.to_tensors(spec, state), f.captured]
        made = building.variant("ReduceDataset", inputs, spec, name, f=f.name)
        return structure.from_tensors(spec, made)

    def group_by_window(self, key_func: Any, reduce_func: Any, window_size: Any = None, window_size_func: Any = None, name: str | None = None) -> Any:
        """Collects elements by the int64 key of `key_func`; each time a key has `window_size` of them, `reduce_func(key,
        dataset)` gives the elements of the result."""
        if (window_size is None) == (window_size_func is None):
            raise ValueError("Either the `window_size` argument or the `window_size_func` argument must be specified.")
        from emplace.eager.optional import DatasetSpec

        size_of = window_size_func if window_size is None else lambda _: window_size
        keys = functions.Traced(key_func, "Dataset_group_by_window", self.element_spec, _int64)
        if not _is_scalar(keys.spec, dtypes.int64):
            raise ValueError(f"Invalid `key_func`. `key_func` must return a single `tf.int64` scalar tensor but its return type is {keys.spec}.")
        groups = functions.Traced(reduce_func, "Dataset_group_by_window", (SCALAR, DatasetSpec(self.element_spec)))
        if not isinstance(groups.spec, DatasetSpec):
            raise TypeError(f"Invalid `reduce_func`. `reduce_func` must return a single `tf.data.Dataset` object but its return type is {groups.spec}.")
        sizes = functions.Traced(size_of, "Dataset_group_by_window", SCALAR, _int64)
        if not _is_scalar(sizes.spec, dtypes.int64):
            raise ValueError(f"Invalid `window_size_func`. `window_size_func` must return a single `tf.int64` scalar tensor but its return type is {sizes.spec}.")
        inputs, names = [keys.captured, groups.captured, sizes.captured], dict(key_func=keys.name, reduce_func=groups.name, window_size_func=sizes.name)
        return self._stage("_GroupByWindowDataset", "GroupByWindowDataset", inputs, groups.spec._element_spec, functions=[keys, groups, sizes], name=name, **names)

    def _group_by_reducer(self, key_func: Any, reducer: Any) -> Any:
        stage = "tf_data_experimental_group_by_reducer"
        keys = functions.Traced(key_func, stage, self.element_spec)
        if not _is_scalar(keys.spec, dtypes.int64):
            raise ValueError(f"Invalid `key_func`. Expected `key_func` to return a scalar tf.int64 tensor, but instead `key_func` has output {keys.spec}.")
        first = functions.Traced(reducer.init_func, stage, SCALAR)
        following, state = _until_stable(reducer.reduce_func, stage, first.spec, self.element_spec, lambda given: given)
        last = functions.Traced(reducer.finalize_func, stage, state)
        made = [keys, first, following, last]
        names = dict(zip(("key_func", "init_func", "reduce_func", "finalize_func"), (f.name for f in made)))
        return self._stage("_GroupByReducerDataset", "ExperimentalGroupByReducerDataset", [f.captured for f in made], last.spec, functions=made, **names)

    def snapshot(self, path: Any, compression: Any = "AUTO", reader_func: Any = None, shard_func: Any = None, name: str | None = None) -> Any:
        """Keeps the elements in files at `path`: written the first time, read from then on."""
        from emplace.eager.datasets import saved

        return saved.snapshot(self, path, compression, reader_func, shard_func, name)

    def bucket_by_sequence_length(
        self, element_length_func: Any, bucket_boundaries: Any, bucket_batch_sizes: Any, padded_shapes: Any = None, padding_values: Any = None,
        pad_to_bucket_boundary: bool = False, no_padding: bool = False, drop_remainder: bool = False, name: str | None = None,
    ) -> Any:
        """Batches of elements of like length: `bucket_boundaries` part the lengths, each bucket has its batch size."""
        from emplace.eager.datasets import buckets

        pad = buckets.Padding(padded_shapes, padding_values, pad_to_bucket_boundary, no_padding, drop_remainder)
        return buckets.by_length(self, element_length_func, bucket_boundaries, bucket_batch_sizes, pad, name)

    def rejection_resample(self, class_func: Any, target_dist: Any, initial_dist: Any = None, seed: Any = None, name: str | None = None) -> Any:
        """Drops elements at random so that classes, as `class_func` gives them, occur as in `target_dist`; gives pairs of
        class and element."""
        from emplace.eager.datasets import resampling

        return resampling.resampled(self, class_func, target_dist, initial_dist, seed, name)


def _int64(value: Any) -> Any:
    return ops.convert_to_tensor(value, dtypes.int64)


def _pair(given: Any) -> Any:
    if not isinstance(given, tuple) or len(given) != 2:
        spec = structure.spec_of(structure.normalized(given))
        raise TypeError(f"Invalid `scan_func`. `scan_func` should return a pair consisting of new state and the output value but its return type is {spec}.")
    return given


def _with_state(function: Any, stage: str, state: Any, element_spec: Any, checked: Any) -> tuple[Any, Any]:
    return _until_stable(function, stage, structure.spec_of(state), element_spec, checked)


def _until_stable(function: Any, stage: str, spec: Any, element_spec: Any, checked: Any) -> tuple[Any, Any]:
    """The function traced for a state whose shapes it keeps, and what that state looks like."""
    while True:
        f = functions.Traced(function, stage, (spec, element_spec), checked)
        after = f.spec[0] if checked is _pair else f.spec
        _check_state(spec, after, checked is _pair)
        try:
            nest.assert_same_structure(spec, after)
        except (TypeError, ValueError):
            return f, spec  # the operation says what is wrong
        wider = nest.map_structure(_relaxed, spec, after)
        if nest.flatten(wider) == nest.flatten(spec):
            return f, spec
        spec = wider


def _relaxed(before: Any, after: Any) -> Any:
    return tensor_spec.common_supertype([before, after]) or before


def _check_state(before: Any, after: Any, of_scan: bool) -> None:
    for b, a in zip(nest.flatten(before), nest.flatten(after)):
        if type(b) is not type(a):
            raise TypeError(f"The element classes for the new state must match the initial state. Expected {b} but got {a}.")
        if hasattr(b, "dtype") and b.dtype != a.dtype:
            if of_scan:
                raise TypeError(f"Invalid `scan_func`. The element types for the new state must match the initial state. Expected {b.dtype}, got {a.dtype}.")
            raise TypeError(f"The element types for the new state must match the initial state. Expected {b.dtype} but got {a.dtype}.")
