"""Accumulators of gradients, from which whoever has enough takes the mean."""

from __future__ import annotations

from typing import Any

from emplace.framework import dtypes as _dtypes, index_values
from emplace.framework import tensor_shape
from emplace.framework.dispatch import execute as _op
from emplace.framework.tensor import IndexedSlices
from emplace.framework.ops import convert_to_tensor as _convert


class ConditionalAccumulatorBase:
    """What both kinds have."""

    def __init__(self, dtype: Any, shape: Any, accumulator_ref: Any) -> None:
        self._dtype, self._ref = _dtypes.as_dtype(dtype), accumulator_ref
        self._shape = tensor_shape.TensorShape(None) if shape is None else tensor_shape.as_shape(shape)
        self._name = accumulator_ref.op.name.split("/")[-1]

    @property
    def accumulator_ref(self) -> Any:
        return self._ref

    @property
    def name(self) -> str:
        return self._name

    @property
    def dtype(self) -> Any:
        return self._dtype

    def num_accumulated(self, name: str | None = None) -> Any:
        """How many gradients have been taken in since the last one was given out."""
        return _op("AccumulatorNumAccumulated", [self._ref], {}, name or f"{self._name}_num_accumulated")

    def set_global_step(self, new_global_step: Any, name: str | None = None) -> Any:
        """Sets the accumulator's step; gradients of earlier steps are dropped from then on."""
        step = _convert(new_global_step, dtype=_dtypes.int64)
        return _op("AccumulatorSetGlobalStep", [self._ref, step], {}, name)


def _made(kind: str, dtype: Any, shape: Any, shared_name: str | None, name: str, reduction_type: str) -> Any:
    attrs = {
        "dtype": _dtypes.as_dtype(dtype), "shape": tensor_shape.TensorShape(None) if shape is None else tensor_shape.as_shape(shape),
        "shared_name": shared_name or "", "reduction_type": reduction_type,
    }
    return _op(kind, [], attrs, name)


class ConditionalAccumulator(ConditionalAccumulatorBase):
    """Of dense gradients. Those of steps before the accumulator's own are left out."""

    def __init__(self, dtype: Any, shape: Any = None, shared_name: str | None = None, name: str = "conditional_accumulator", reduction_type: str = "MEAN") -> None:
        super().__init__(dtype, shape, _made("ConditionalAccumulator", dtype, shape, shared_name, name, reduction_type))

    def apply_grad(self, grad: Any, local_step: Any = 0, name: str | None = None) -> Any:
        """Takes in a gradient, unless its `local_step` is behind the accumulator's step."""
        grad = _convert(grad, dtype=self._dtype)
        grad.get_shape().assert_is_compatible_with(self._shape)
        return _op("AccumulatorApplyGradient", [self._ref, _convert(local_step, dtype=_dtypes.int64), grad], {}, name)

    def take_grad(self, num_required: Any, name: str | None = None) -> Any:
        """Waits for `num_required` gradients, then gives out their mean (or sum) and begins anew."""
        out = _op("AccumulatorTakeGradient", [self._ref, index_values.tensor(num_required)], {"dtype": self._dtype}, name)
        out.set_shape(self._shape)
        return out


class SparseConditionalAccumulator(ConditionalAccumulatorBase):
    """Of gradients of chosen rows: each row is divided by how often it came."""

    def __init__(self, dtype: Any, shape: Any = None, shared_name: str | None = None, name: str = "sparse_conditional_accumulator", reduction_type: str = "MEAN") -> None:
        super().__init__(dtype, shape, _made("SparseConditionalAccumulator", dtype, shape, shared_name, name, reduction_type))

    def apply_indexed_slices_grad(self, grad: Any, local_step: Any = 0, name: str | None = None) -> Any:
        """Takes in a gradient given as IndexedSlices, unless it is of an earlier step."""
        return self.apply_grad(grad.indices, grad.values, grad.dense_shape, local_step, name)

    def apply_grad(self, grad_indices: Any, grad_values: Any, grad_shape: Any = None, local_step: Any = 0, name: str | None = None) -> Any:
        """Takes in a gradient given by its indices and values, unless it is of an earlier step."""
        inputs = [
            self._ref, _convert(local_step, dtype=_dtypes.int64), _convert(grad_indices, dtype=_dtypes.int64), _convert(grad_values, dtype=self._dtype),
            _convert([] if grad_shape is None else grad_shape, dtype=_dtypes.int64),
        ]
        return _op("SparseAccumulatorApplyGradient", inputs, {"has_known_shape": grad_shape is not None}, name)

    def take_grad(self, num_required: Any, name: str | None = None) -> Any:
        """Waits for `num_required` gradients, then gives out indices, values and shape of their mean (or sum)."""
        return _op("SparseAccumulatorTakeGradient", [self._ref, index_values.tensor(num_required)], {"dtype": self._dtype}, name)

    def take_indexed_slices_grad(self, num_required: Any, name: str | None = None) -> Any:
        """As `take_grad`, but as IndexedSlices."""
        indices, values, shape = self.take_grad(num_required, name)
        return IndexedSlices(values=values, indices=indices, dense_shape=shape)
