"""`tf.data.Dataset`: a builder of dataset operations. Its methods make nodes in a graph, and run them outside of one."""

from __future__ import annotations

from typing import Any, Iterator

from emplace.eager import composite, context, nest, tensor_spec
from emplace.eager.datasets import building, iterators, reports
from emplace.eager.datasets.building import INFINITE, UNKNOWN
from emplace.eager.datasets.mapping import Mappings
from emplace.eager.datasets.options import Options
from emplace.eager.datasets.sources import Sources
from emplace.eager.datasets.stages import Stages
from emplace.framework import dtypes, gen, ops


class DatasetV2(composite.Composite):
    """What datasets are known by to those who look at the names of classes (`posing/guise.py`)."""


@building.in_their_mode
class Dataset(Sources, Stages, Mappings, iterators.InGraph, DatasetV2):
    """A sequence of elements that can be gone through again and again. `variant_tensor` stands for it in operations."""

    _of_graph_program = False  # the class of graph programs builds where others run

    def __init__(
        self, variant_tensor: Any, element_spec: Any = None, kind: str = "_VariantDataset", inputs: Any = (), functions: Any = (),
        options: Any = None,
    ) -> None:
        self._variant_tensor, self._spec, self._kind = variant_tensor, element_spec, kind
        self._inputs, self._functions = list(inputs), list(functions)
        self._options = options
        if options is None:
            merged = Options()
            for source in self._inputs:
                merged = merged.merge(source._options)
            self._options = merged

    # ---- How the methods make others.

    @classmethod
    def _made(cls, kind: str, op: str, inputs: Any, spec: Any, parents: Any = (), functions: Any = (), name: str | None = None, **attrs: Any) -> Any:
        """The dataset of one operation; `kind`: its class in TensorFlow, for printing."""
        return cls._of(building.variant(op, inputs, spec, name, **attrs), spec, kind, parents, functions)

    @classmethod
    def _of(cls, variant: Any, spec: Any, kind: str = "_VariantDataset", parents: Any = (), functions: Any = (), options: Any = None) -> Any:
        made = object.__new__(cls._result_class())
        Dataset.__init__(made, variant, spec, kind, parents, functions, options)
        return made

    @classmethod
    def _result_class(cls) -> Any:
        return Dataset

    def _stage(self, kind: str, op: str, inputs: Any, spec: Any, parents: Any = (), **how: Any) -> Any:
        """A stage over this dataset and others."""
        return self._made(kind, op, [self._variant_tensor, *inputs], spec, [self, *parents], **how)

    def _in_mode(self, build: Any) -> Any:
        """What `build()` makes, in the mode of this class."""
        return building.in_its_mode(lambda _: build())(self)

    # ---- What elements look like.

    @property
    def element_spec(self) -> Any:
        """What an element looks like."""
        return self._spec

    def cardinality(self, name: str | None = None) -> Any:
        """The number of elements as an int64 tensor, -1 for endless and -2 for unknown."""
        return gen.apply("DatasetCardinality", [self._variant_tensor], {}, name)

    def __len__(self) -> int:
        if not context.executing_eagerly():
            raise TypeError("`tf.data.Dataset` only supports `len` in eager mode. Use `tf.data.Dataset.cardinality()` instead.")
        n = int(self.cardinality())
        if n == INFINITE:
            raise TypeError("The dataset is infinite.")
        if n == UNKNOWN:
            raise TypeError("The dataset length is unknown.")
        return n

    def __bool__(self) -> bool:
        return True

    def fingerprint(self) -> Any:
        """A uint64 number that pipelines of the same stages and values share."""
        return gen.apply("DatasetFingerprint", [self._variant_tensor], {})

    # ---- Going through.

    def __iter__(self) -> Iterator[Any]:
        if not hasattr(self._variant_tensor, "_numpy_of_eager") and not getattr(ops.get_default_graph(), "building_function", False):
            raise RuntimeError("`tf.data.Dataset` only supports Python-style iteration in eager mode or within tf.function.")
        with building.beside(self):
            return iterators.OwnedIterator(self)

    def as_numpy_iterator(self) -> Iterator[Any]:
        """An iterator of the elements with arrays in the place of tensors."""
        if not context.executing_eagerly():
            raise RuntimeError("`tf.data.Dataset.as_numpy_iterator()` is only supported in eager mode.")
        return iterators.NumpyIterator(self)

    def report(self) -> Any:
        """Where the time went when the dataset was last gone through, or goes now: a line for each stage."""
        return reports.Report(reports.model_of_dataset(self))

    # ---- Options.

    def options(self) -> Options:
        """The options of this dataset and of those it is made of."""
        return self._options

    def with_options(self, options: Options, name: str | None = None) -> Any:
        """The same dataset with options merged into its own."""
        with building.beside(self):
            merged = self._options.merge(options)
            variant = building.variant("OptionsDataset", [self._variant_tensor], self._spec, name, serialized_options=options._serialized())
            return self._of(variant, self._spec, "_OptionsDataset", [self], options=merged)

    def apply(self, transformation_func: Any) -> Any:
        """The dataset that `transformation_func(self)` gives: lets a function stand in a chain of methods."""
        made = transformation_func(self)
        if not isinstance(made, Dataset):
            raise TypeError(f"`transformation_func` must return a `tf.data.Dataset` object. Got {type(made)}.")
        return made

    # ---- Files.

    def save(self, path: Any, compression: Any = None, shard_func: Any = None, checkpoint_args: Any = None) -> Any:
        """Writes the elements to a folder, for `load`; `shard_func` says to which of several files each goes."""
        from emplace.eager.datasets import saved

        return saved.save(self, path, compression, shard_func, checkpoint_args)

    @classmethod
    def load(cls, path: Any, element_spec: Any = None, compression: Any = None, reader_func: Any = None, wait: bool = False) -> Any:
        """The dataset that `save` wrote to a folder."""
        from emplace.eager.datasets import saved

        return saved.load(cls, path, element_spec, compression, reader_func)

    # ---- As a value: made of one tensor.

    def _parts(self) -> list[Any]:
        return [self._variant_tensor]

    def _part_specs(self) -> list[Any]:
        return self._type_spec._part_specs()

    def _rebuilt(self, parts: list[Any]) -> Any:
        return self._of(parts[0], self._spec)

    def _outline(self) -> str:
        return f"Dataset {self._spec!r}"

    @property
    def _type_spec(self) -> Any:
        from emplace.eager.optional import DatasetSpec

        return DatasetSpec(self._spec)

    @property
    def _runs_in_graph(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<{self._kind} element_spec={self.element_spec!r}>"


class DatasetV1(Dataset):
    """Elements that an iterator hands to a graph, one a step."""

    _of_graph_program = True

    @classmethod
    def _result_class(cls) -> Any:
        return DatasetV1

    @property
    def output_types(self) -> Any:
        """The dtypes of an element, in its structure."""
        return output_types(self)

    @property
    def output_shapes(self) -> Any:
        """The shapes of an element, in its structure."""
        return output_shapes(self)

    @property
    def output_classes(self) -> Any:
        """The classes of an element, in its structure."""
        return output_classes(self)

    def map_with_legacy_function(self, map_func: Any, num_parallel_calls: Any = None, deterministic: Any = None) -> Any:
        """The older name of `map`."""
        return self.map(map_func, num_parallel_calls, deterministic)

    def filter_with_legacy_function(self, predicate: Any) -> Any:
        """The older name of `filter`."""
        return self.filter(predicate)

    @classmethod
    def from_sparse_tensor_slices(cls, sparse_tensor: Any) -> Any:
        """A dataset of the rows of a sparse tensor, each as its indices, values and shape."""
        rank = sparse_tensor.dense_shape.shape[0]
        inner = None if rank is None else rank - 1
        kinds = ([None, inner], dtypes.int64), ([None], sparse_tensor.dtype), ([inner], dtypes.int64)
        spec = tuple(tensor_spec.TensorSpec(*k) for k in kinds)
        parts = [sparse_tensor.indices, sparse_tensor.values, sparse_tensor.dense_shape]
        return cls._made("_SparseTensorSliceDataset", "SparseTensorSliceDataset", parts, spec)

    def make_one_shot_iterator(self) -> Any:
        """An iterator that needs no initialization and goes through the dataset once in each session."""
        from emplace.eager.datasets import graph_iterators

        return graph_iterators.one_shot(self)

    def make_initializable_iterator(self, shared_name: str | None = None) -> Any:
        """An iterator whose `initializer` op must run first, and may run again to start anew."""
        from emplace.eager.datasets import graph_iterators

        return graph_iterators.initializable(self, shared_name)


def output_types(dataset_or_iterator: Any) -> Any:
    """The dtypes of an element, in its structure."""
    return nest.map_structure(lambda s: getattr(s, "dtype", dtypes.variant), dataset_or_iterator.element_spec)


def output_shapes(dataset_or_iterator: Any) -> Any:
    """The shapes of an element, in its structure."""
    return nest.map_structure(lambda s: s.shape, dataset_or_iterator.element_spec)


def output_classes(dataset_or_iterator: Any) -> Any:
    """The classes of an element, in its structure."""
    return nest.map_structure(lambda s: getattr(s, "value_type", ops.Tensor), dataset_or_iterator.element_spec)


