"""`tf.experimental.dlpack`: tensors handed to and taken from other libraries."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

import numpy as np

from emplace.eager import tensor as eager_tensor

if TYPE_CHECKING:
    from emplace.framework.tensor import Tensor

_HOST = (1, 0)  # kDLCPU, device 0


class _Given:
    """A capsule as NumPy wants it offered."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return _HOST


def to_dlpack(tf_tensor: Any) -> Any:
    """A capsule with the tensor's value, in host memory."""
    if not hasattr(tf_tensor, "_numpy_of_eager"):
        raise TypeError(f"Expected an eager tensor, but got {tf_tensor!r}")
    return tf_tensor.__dlpack__()


def from_dlpack(dlcapsule: Any) -> Tensor:
    """The tensor of a capsule, or of what offers one."""
    offered = dlcapsule if hasattr(dlcapsule, "__dlpack__") else _Given(dlcapsule)
    return eager_tensor.from_array(np.from_dlpack(offered))
