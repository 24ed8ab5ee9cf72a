"""Operations and tensors of a graph by name."""

from __future__ import annotations

from typing import Any

from emplace.framework.operation import Operation
from emplace.framework.tensor import Tensor


class Lookup:
    """The part of Graph that finds things in it."""

    _core: Any
    _op_of: Any
    _unfeedable: set[Any]
    _unfetchable: set[Any]
    _has_unfeedable: bool

    def get_operation_by_name(self, name: str) -> Operation:
        """The op of a name; KeyError if there is none."""
        if not isinstance(name, str):
            raise TypeError(f"Operation names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_tensor=False)

    def get_tensor_by_name(self, name: str) -> Tensor:
        """The tensor of a name such as "x:0"; KeyError if there is none."""
        if not isinstance(name, str):
            raise TypeError(f"Tensor names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_operation=False)

    def as_graph_element(self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True) -> Any:
        """The tensor or op that a name or object means in this graph; an error that says why not otherwise."""
        if allow_tensor and allow_operation:
            types = "Tensor or Operation"
        elif allow_tensor:
            types = "Tensor"
        else:
            types = "Operation"
        if not isinstance(obj, (Tensor, Operation)) and hasattr(obj, "_as_graph_element"):
            obj = obj._as_graph_element()
        if isinstance(obj, bytes):
            obj = obj.decode()
        if isinstance(obj, str):
            return self._element_by_name(obj, allow_tensor, allow_operation)
        if isinstance(obj, Tensor) and allow_tensor:
            if obj.graph is not self:
                raise ValueError(f"Tensor {obj} is not an element of this graph.")
            return obj
        if isinstance(obj, Operation) and allow_operation:
            if obj.graph is not self:
                raise ValueError(f"Operation {obj.name!r} is not an element of this graph.")
            return obj
        raise TypeError(f"Can not convert a {type(obj).__name__} into a {types}.")

    def _element_by_name(self, name: str, allow_tensor: bool, allow_operation: bool) -> Any:
        if ":" in name and allow_tensor:
            op_name, _, index = name.partition(":")
            try:
                n = int(index)
            except ValueError:
                raise ValueError(f"The name {name!r} looks a like a Tensor name, but is not a valid one. Tensor names must be of the form \"<op_name>:<output_index>\".") from None
            node = self._core.find(op_name)
            if node is None:
                raise KeyError(f"The name {name!r} refers to a Tensor which does not exist. The operation, {op_name!r}, does not exist in the graph.")
            outputs = self._op_of(node).outputs
            if n >= len(outputs):
                raise KeyError(f"The name {name!r} refers to a Tensor which does not exist. The operation, {op_name!r}, exists but only has {len(outputs)} outputs.")
            return outputs[n]
        if ":" in name:
            raise ValueError(f"Name {name!r} appears to refer to a Tensor, not a Operation.")
        if not allow_operation:
            if self._core.find(name) is not None:
                raise ValueError(f"The name {name!r} refers to an Operation, not a Tensor. Tensor names must be of the form \"<op_name>:<output_index>\".")
            raise ValueError(f"The name {name!r} looks like an (invalid) Operation name, not a Tensor. Tensor names must be of the form \"<op_name>:<output_index>\".")
        node = self._core.find(name)
        if node is None:
            raise KeyError(f"The name {name!r} refers to an Operation not in the graph.")
        return self._op_of(node)

    def is_feedable(self, tensor: Any) -> bool:
        """Whether a tensor may be fed."""
        return tensor not in self._unfeedable

    def prevent_feeding(self, tensor: Any) -> None:
        """From now on a tensor may not be fed."""
        self._unfeedable.add(tensor)
        self._has_unfeedable = True

    def prevent_fetching(self, op: Any) -> None:
        """From now on an op may not be fetched."""
        self._unfetchable.add(op)

    def is_fetchable(self, tensor_or_op: Any) -> bool:
        """Whether a tensor or op may be fetched."""
        return getattr(tensor_or_op, "op", tensor_or_op) not in self._unfetchable
