"""Products of sparse matrices, under the names that TensorFlow has for those of compressed rows.

A matrix, or a batch of them, stays a SparseTensor here; a product is made densely and its zeros left out.
"""

from __future__ import annotations

from typing import Any

from emplace.eager.sparse.tensor import SparseTensor
from emplace.framework import math_ops
from emplace.framework import sparse_ops as sparse


def sparse_tensor_to_csr_sparse_matrix(indices: Any, values: Any, dense_shape: Any, name: str | None = None) -> SparseTensor:
    """The matrix, or the batch of them, that these places and values are."""
    return SparseTensor(indices, values, dense_shape)


def sparse_matrix_sparse_mat_mul(
    a: SparseTensor, b: SparseTensor, type: Any, transpose_a: bool = False, transpose_b: bool = False, adjoint_a: bool = False,  # noqa: A002
    adjoint_b: bool = False, name: str | None = None,
) -> SparseTensor:
    """The matrix product."""
    dense = [sparse.to_dense(sparse.reorder(m)) for m in (a, b)]
    product = math_ops.matmul(*dense, transpose_a, transpose_b, adjoint_a, adjoint_b)
    return sparse.from_dense(product)  # type: ignore[no-any-return]


def csr_sparse_matrix_to_sparse_tensor(sparse_matrix: SparseTensor, type: Any, name: str | None = None) -> SparseTensor:  # noqa: A002
    """Its places and values."""
    return sparse_matrix
