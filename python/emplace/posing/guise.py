"""Others know some classes by the name that TensorFlow's have (Keras does, so as not to load TensorFlow)."""

from __future__ import annotations

import importlib

_KNOWN_AS = {
    "emplace.framework.tensor:Tensor": "framework.tensor",
    "emplace.eager.sparse.tensor:SparseTensor": "framework.sparse_tensor",
    "emplace.eager.ragged.tensor:RaggedTensor": "ops.ragged.ragged_tensor",
    "emplace.eager.datasets.dataset:DatasetV2": "data.ops.dataset_ops",
    "emplace.distribute.inputs:DistributedDataset": "distribute.input_lib",
    "emplace.distribute.inputs:DistributedDatasetsFromFunction": "distribute.input_lib",
}


def put_on() -> None:
    """While Emplace poses, they say that they are from there."""
    for where, known_as in _KNOWN_AS.items():
        module, _, name = where.partition(":")
        getattr(importlib.import_module(module), name).__module__ = f"tensorflow.python.{known_as}"
