"""`tf.saved_model`: models that were written earlier, by whomever, called by their signatures."""

from __future__ import annotations

import os
from typing import Any, Iterator, Mapping

import numpy as np

from emplace.eager import tensor_spec
from emplace.framework import dtypes, ops, saved_model, session, tensor_shape

_HIDDEN = (saved_model.INIT_OP_KEY, "__saved_model_train_op")


class _Model:
    """The graph of a SavedModel with its variables, shared by its signatures."""

    def __init__(self, export_dir: str, tags: Any) -> None:
        message = saved_model.parse_saved_model(export_dir)
        if tags is None:
            if len(message.meta_graphs) != 1:
                raise ValueError(
                    "Importing a SavedModel with `tf.saved_model.load` requires a `tags=` argument if there is more than one MetaGraph. Got "
                    f"`tags=None`, but there are {len(message.meta_graphs)} MetaGraphs in the SavedModel with tag sets: "
                    f"{[list(m.meta_info_def.tags) for m in message.meta_graphs]}. Pass a `tags=` argument to load this SavedModel."
                )
            tags = list(message.meta_graphs[0].meta_info_def.tags)
        self.graph = ops.Graph()
        self.session = session.Session(graph=self.graph)
        self.meta = saved_model.load(self.session, [tags] if isinstance(tags, str) else tags, export_dir)


class Signature:
    """A function of a SavedModel: tensors by name in, a dictionary of tensors out."""

    def __init__(self, model: _Model, name: str, definition: Any) -> None:
        self._model, self.name = model, name
        self._inputs = {k: _spec(v, k) for k, v in sorted(definition.inputs.items())}
        self._feeds = {k: v.name for k, v in definition.inputs.items()}
        self._fetches = {k: v.name for k, v in sorted(definition.outputs.items())}
        self.structured_outputs = {k: _spec(v, k) for k, v in sorted(definition.outputs.items())}

    @property
    def structured_input_signature(self) -> tuple[tuple[()], dict[str, Any]]:
        return ((), dict(self._inputs))

    @property
    def graph(self) -> Any:
        return self._model.graph

    def __call__(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        if args:
            if len(args) > 1 or len(self._inputs) != 1 or kwargs:
                raise TypeError(f"Signature '{self.name}' takes its arguments by name: {', '.join(self._inputs)}")
            kwargs = {next(iter(self._inputs)): args[0]}
        missing, unknown = set(self._inputs) - set(kwargs), set(kwargs) - set(self._inputs)
        if missing or unknown:
            raise TypeError(
                f"Signature '{self.name}' missing required arguments: {', '.join(sorted(missing))}" if missing
                else f"Signature '{self.name}' got unexpected arguments: {', '.join(sorted(unknown))}"
            )
        feeds = {self._feeds[k]: _array(v, self._inputs[k]) for k, v in kwargs.items()}
        values = self._model.session.run(self._fetches, feeds)
        from emplace.eager import tensor

        return {k: tensor.constant(v) if not _is_text(v) else tensor.constant(v, dtypes.string) for k, v in values.items()}


def _is_text(value: Any) -> bool:
    return isinstance(value, bytes) or getattr(value, "dtype", None) == object


def _spec(info: Any, name: str) -> Any:
    return tensor_spec.TensorSpec(tensor_shape.TensorShape(info.tensor_shape), dtypes.as_dtype(info.dtype), name)


def _array(value: Any, spec: Any) -> Any:
    value = value.numpy() if hasattr(value, "numpy") else value
    return np.asarray(value, dtype=object if spec.dtype == dtypes.string else spec.dtype.as_numpy_dtype)


class _Signatures(Mapping[str, Signature]):
    def __init__(self, signatures: dict[str, Signature]) -> None:
        self._signatures = signatures

    def __getitem__(self, key: str) -> Signature:
        return self._signatures[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._signatures)

    def __len__(self) -> int:
        return len(self._signatures)

    def __repr__(self) -> str:
        return f"_SignatureMap({self._signatures})"


class Loaded:
    """What `load` returns: the signatures, and the graph below them."""

    def __init__(self, model: _Model) -> None:
        self._model = model
        self.signatures = _Signatures({n: Signature(model, n, s) for n, s in model.meta.signature_def.items() if n not in _HIDDEN})
        self.graph = model.graph
        self.tensorflow_version = model.meta.meta_info_def.tensorflow_version


def load(export_dir: Any, tags: Any = None, options: Any = None) -> Loaded:
    """Reads a SavedModel that TensorFlow, Keras or this library wrote."""
    return Loaded(_Model(os.fspath(export_dir), tags))


contains_saved_model = saved_model.contains_saved_model
