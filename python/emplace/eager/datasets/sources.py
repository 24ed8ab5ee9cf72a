"""Where elements come from: tensors, numbers, Python generators, other datasets."""

from __future__ import annotations

from typing import Any

from emplace.eager import nest
from emplace.eager.datasets import building, generators, structure
from emplace.eager.datasets.building import SCALAR
from emplace.framework import array_ops, control_flow_ops, dtypes, gen, index_values, math_ops, ops, string_ops, tensor_shape


@building.in_their_mode
class Sources:
    """Mixed into Dataset."""

    _of_graph_program: bool
    _made: Any

    @classmethod
    def from_tensors(cls, tensors: Any, name: str | None = None) -> Any:
        """A dataset of one element: all of `tensors` as it is."""
        element = structure.normalized(tensors)
        spec = structure.spec_of(element)
        return cls._made("_TensorDataset", "TensorDataset", [structure.to_tensors(spec, element)], spec, name=name)

    @classmethod
    def from_tensor_slices(cls, tensors: Any, name: str | None = None) -> Any:
        """A dataset of the rows of tensors, which must be as many in each of the structure."""
        return cls._slices(tensors, name, False)

    @classmethod
    def _slices(cls, tensors: Any, name: str | None, is_files: bool) -> Any:
        element = structure.normalized(tensors)
        whole = structure.spec_of(element)
        spec = nest.map_structure(structure.unbatched, whole)
        parts = structure.to_batched_tensors(whole, element)
        rows = tensor_shape.Dimension(None)
        for t in parts:
            if t.shape.rank:
                rows = rows.merge_with(t.shape[0])
        return cls._made("_TensorSliceDataset", "TensorSliceDataset", [parts], spec, name=name, is_files=is_files)

    @classmethod
    def range(cls, *args: Any, **kwargs: Any) -> Any:
        """The int64 numbers of Python's `range`, with the same one to three arguments; `output_type` gives another dtype."""
        if not 1 <= len(args) <= 3:
            raise ValueError(f"Invalid `args`. The length of `args` should be between 1 and 3 but was {len(args)}.")
        given = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
        index_values.check([a for a in given if not isinstance(a, ops.Tensor)], dtypes.int64)
        inputs = [building.whole(a, word) for a, word in zip(given, ("start", "stop", "step"))]
        spec = type(SCALAR)([], dtypes.as_dtype(kwargs.get("output_type", dtypes.int64)))
        return cls._made("_RangeDataset", "RangeDataset", inputs, spec, name=kwargs.get("name"))

    @classmethod
    def from_generator(
        cls, generator: Any, output_types: Any = None, output_shapes: Any = None, args: Any = None, output_signature: Any = None,
        name: str | None = None,
    ) -> Any:
        """A dataset of what `generator(*args)` yields, started anew by each iterator. `output_signature`, specs in the
        structure of an element, says what to expect."""
        return generators.dataset(cls, generator, generators.signature(generator, output_types, output_shapes, output_signature), args, name)

    @classmethod
    def zip(cls, *args: Any, datasets: Any = None, name: str | None = None) -> Any:
        """Datasets side by side: an element is the structure with one element of each; ends with the shortest."""
        if not args and datasets is None:
            raise TypeError("Must pass at least one dataset to `zip`.")
        if args and datasets is not None:
            raise TypeError("Both `*args` and `datasets` cannot be set.")
        given = args[0] if len(args) == 1 else args if args else datasets
        if isinstance(given, list):
            raise TypeError(f"{_ZIP}. Python `list` is not supported and you should use `tuple` instead.")
        parts = nest.flatten(given)
        for part in parts:
            if not hasattr(part, "_variant_tensor"):
                raise TypeError(f"{_ZIP} but encountered object of type {type(part)}.")
        spec = nest.map_structure(lambda d: d.element_spec, given)
        return cls._made("_ZipDataset", "ZipDataset", [[p._variant_tensor for p in parts]], spec, parts, name=name)

    @classmethod
    def counter(cls, start: Any = 0, step: Any = 1, dtype: Any = dtypes.int64, name: str | None = None) -> Any:
        """The endless numbers `start`, `start + step`, …"""
        with ops.name_scope("counter"):
            first = ops.convert_to_tensor(start, dtypes.as_dtype(dtype), name="start")
            by = ops.convert_to_tensor(step, dtypes.as_dtype(dtype), name="step")
            return cls.from_tensors(0, name=name).repeat(None, name=name).scan(first, lambda state, _: (state + by, state), name=name)

    @classmethod
    def random(cls, seed: Any = None, rerandomize_each_iteration: Any = None, name: str | None = None) -> Any:
        """Endless random int64 numbers; with `rerandomize_each_iteration` other ones for each iterator."""
        pair = list(building.seeds(seed))
        if not rerandomize_each_iteration:
            return cls._made("_RandomDataset", "RandomDataset", pair, SCALAR, name=name)
        pair.append(gen.apply("DummySeedGenerator", [], {}))
        return cls._made("_RandomDataset", "RandomDatasetV2", pair, SCALAR, name=name, rerandomize_each_iteration=True)

    @classmethod
    def list_files(cls, file_pattern: Any, shuffle: Any = None, seed: Any = None, name: str | None = None) -> Any:
        """The names of the files that match one or more patterns, shuffled unless `shuffle` is False."""
        with ops.name_scope("list_files"):
            pattern = building.text(file_pattern, "file_pattern")
            found = gen.apply("MatchingFiles", [pattern], {})
            any_found = gen.apply("Greater", [array_ops.shape(found)[0], 0], {}, "match_not_empty")
            said = math_ops.add("No files matched pattern: ", string_ops.reduce_join(pattern, separator=", "), name="message")
            check = control_flow_ops.Assert(any_found, [said], summarize=1, name="assert_not_empty")
            with ops.control_dependencies([] if check is None else [check]):
                found = array_ops.identity(found)
            made = cls._slices(found, name, True)
            if shuffle is None or shuffle:
                count = gen.apply("Maximum", [array_ops.shape(found, out_type=dtypes.int64)[0], 1], {})
                made = made.shuffle(count, seed=seed, name=name)
            return made

    @classmethod
    def choose_from_datasets(cls, datasets: Any, choice_dataset: Any, stop_on_empty_dataset: bool = True) -> Any:
        """Elements of several datasets in turn, as the numbers (int64 scalars) in `choice_dataset` say."""
        datasets = _several(datasets)
        spec = choice_dataset.element_spec
        if not (isinstance(spec, type(SCALAR)) and spec.dtype == dtypes.int64 and spec.shape.is_compatible_with([])):
            raise TypeError(f"Invalid `choice_dataset`. Elements of `choice_dataset` must be scalar `tf.int64` tensors but are {spec}.")
        return cls._directed(choice_dataset._rewritten("replicate_on_split"), datasets, stop_on_empty_dataset)

    @classmethod
    def sample_from_datasets(
        cls, datasets: Any, weights: Any = None, seed: Any = None, stop_on_empty_dataset: bool = False, rerandomize_each_iteration: Any = None
    ) -> Any:
        """Elements of several datasets at random, by `weights`; one that has ended is passed over, or ends the whole with
        `stop_on_empty_dataset`."""
        datasets = _several(datasets)
        if hasattr(weights, "_variant_tensor"):
            rows = weights.map(lambda *p: gen.apply("Log", [p], {}, "logits"))
            return cls._directed(cls._chosen(seed, rerandomize_each_iteration, rows, None), datasets, stop_on_empty_dataset)
        logits = [[1.0] * len(datasets)]
        if weights is not None:
            if not isinstance(weights, ops.Tensor) and len(weights) == len(datasets):
                pairs = [(d, w) for d, w in zip(datasets, weights) if w > 0] or [(datasets[0].take(0), 1.0)]
                datasets, weights = [d for d, _ in pairs], [w for _, w in pairs]
            odds = ops.convert_to_tensor(weights, name="weights")
            if odds.dtype not in (dtypes.float32, dtypes.float64):
                raise TypeError(f"Invalid `weights`. `weights` type must be either `tf.float32` or `tf.float64` but is {odds.dtype}.")
            if not odds.shape.is_compatible_with([len(datasets)]):
                raise ValueError(f"Invalid `weights`. `weights` should have the same length as `datasets` but got `len(weights)={odds.shape[0]}` vs. `len(datasets)={len(datasets)}`.")
            logits = array_ops.expand_dims(gen.apply("Log", [odds], {}, "logits"), 0)
        if len(datasets) == 1:
            return datasets[0]
        return cls._directed(cls._chosen(seed, rerandomize_each_iteration, None, logits), datasets, stop_on_empty_dataset)

    @classmethod
    def _chosen(cls, seed: Any, again: Any, rows: Any, logits: Any) -> Any:
        """Which dataset comes next, drawn by the same odds each time or by those that a dataset gives."""

        def drawn(odds: Any, pair: Any) -> Any:
            made = gen.apply("StatelessMultinomial", [odds, 1, pair], {"output_dtype": dtypes.int64})
            return array_ops.squeeze(made, [0, 1])

        numbers = cls.random(seed=seed, rerandomize_each_iteration=again).batch(2)
        if rows is not None:
            return cls.zip((rows, numbers))._mapped_by(drawn, use_inter_op_parallelism=False)
        return numbers._mapped_by(lambda pair: drawn(logits, pair), use_inter_op_parallelism=False)

    @classmethod
    def _directed(cls, selector: Any, datasets: Any, stop: bool) -> Any:
        spec = datasets[0].element_spec
        for i, d in enumerate(datasets[1:], 1):
            wider = structure.common(spec, d.element_spec)
            if wider is None:
                said = f" Dataset 0 element_spec={spec}.\nDataset {i} element_spec={d.element_spec}."
                raise TypeError(f"Invalid `datasets`. `datasets` must have compatible element specs.\n{said}")
            spec = wider
        inputs = [selector._variant_tensor, [d._variant_tensor for d in datasets]]
        return cls._made("_DirectedInterleaveDataset", "DirectedInterleaveDataset", inputs, spec, [selector, *datasets], stop_on_empty_dataset=stop)

    @classmethod
    def _of_list(cls, elements: Any, name: str | None = None) -> Any:
        """Of the elements of a list, which all have one structure."""
        if not isinstance(elements, list):
            raise TypeError(f"Expected a list of elements, got {type(elements)}")
        if not elements:
            raise ValueError("Invalid `elements`. `elements` should not be empty. If you want an empty dataset, use `tf.data.Dataset.range(0)`.")
        items = [structure.normalized(e) for e in elements]
        specs = [structure.spec_of(i) for i in items]
        spec = specs[0]
        for other in specs[1:]:
            nest.assert_same_structure(spec, other)
            wider = structure.common(spec, other)
            if wider is None:
                raise TypeError(f"Invalid `elements`. `elements` must have compatible specs, not {spec} and {other}.")
            spec = wider
        tensors = [t for i in items for t in structure.to_tensors(spec, i)]
        return cls._made("_ListDataset", "ListDataset", [tensors], spec, name=name)

    @classmethod
    def _of_python(cls, make: Any, spec: Any, count: int) -> Any:
        """Of what `make()` gives, an iterator of elements with these specs; so many of them."""
        made = cls.from_generator(make, output_signature=spec)
        return made._asserting(count) if count != building.UNKNOWN else made


_ZIP = "Invalid input to `zip`. Inputs are expected to be (nested) structures of `tf.data.Dataset` objects"


def _several(datasets: Any) -> list[Any]:
    found = list(datasets)
    if not found:
        raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
    for d in found:
        if not hasattr(d, "_variant_tensor"):
            raise TypeError(f"`datasets` must be a list of datasets, not {d!r}")
    return found
