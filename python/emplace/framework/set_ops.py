"""Sets in the last dimension, and how far apart sequences are."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert
from emplace.framework.sparse_tensor import SparseTensor

if TYPE_CHECKING:
    from emplace.framework.tensor import Tensor


def parts_of_sparse(sparse: Any, what: str) -> list[Any]:
    if not hasattr(sparse, "dense_shape"):
        raise TypeError(f"{what} must be a SparseTensor.")
    return [sparse.indices, sparse.values, sparse.dense_shape]


def edit_distance(hypothesis: Any, truth: Any, normalize: bool = True, name: str = "edit_distance") -> Tensor:
    """How many insertions, deletions and replacements make one sequence the other."""
    if not hasattr(hypothesis, "dense_shape"):
        raise TypeError("Hypothesis must be a SparseTensor.")
    if not hasattr(truth, "dense_shape"):
        raise TypeError("Truth must be a SparseTensor.")
    return _op("EditDistance", [*parts_of_sparse(hypothesis, "Hypothesis"), *parts_of_sparse(truth, "Truth")], {"normalize": normalize}, name)


def set_size(a: Any, validate_indices: bool = True) -> Tensor:
    """The number of different elements in each row, the sets of a sparse tensor."""
    return _op("SetSize", parts_of_sparse(a, "a"), {"validate_indices": validate_indices})


def _set_operation(a: Any, b: Any, how: str, validate_indices: bool) -> Any:
    attrs = {"set_operation": how, "validate_indices": validate_indices}
    sparse = [hasattr(v, "dense_shape") for v in (a, b)]
    if sparse == [True, False]:
        raise ValueError("sparse `a` and dense `b` are not supported: give them the other way round")
    kind = {(True, True): "SparseToSparse", (False, True): "DenseToSparse", (False, False): "DenseToDense"}[tuple(sparse)]
    inputs = [part for v in (a, b) for part in (parts_of_sparse(v, "set") if hasattr(v, "dense_shape") else [_convert(v)])]
    return SparseTensor(*_op(f"{kind}SetOperation", inputs, attrs))


def set_intersection(a: Any, b: Any, validate_indices: bool = True) -> Any:
    """What rows of `a` and `b` have in common, sets along the last dimension, as a sparse tensor."""
    return _set_operation(a, b, "intersection", validate_indices)


def set_union(a: Any, b: Any, validate_indices: bool = True) -> Any:
    """What is in rows of `a` or `b`, sets along the last dimension, as a sparse tensor."""
    return _set_operation(a, b, "union", validate_indices)


def set_difference(a: Any, b: Any, aminusb: bool = True, validate_indices: bool = True) -> Any:
    """What rows of `a` have and those of `b` have not (the reverse if not `aminusb`), as a sparse tensor."""
    return _set_operation(a, b, "a-b" if aminusb else "b-a", validate_indices)
