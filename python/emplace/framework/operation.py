"""Operations: the nodes of a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emplace import _core
from emplace.framework import default_stacks, device_scope, dtypes, tensor_shape

if TYPE_CHECKING:
    from emplace.framework.tensor import Tensor

# Positions in the engine's attribute variant.
_KIND_TYPE, _KIND_SHAPE, _KIND_TENSOR, _KIND_TYPE_LIST = 5, 6, 7, 13


class Operation(_core.OperationBase):
    """A node of a graph."""

    # name, type, device, graph, inputs, control_inputs, outputs are the base's.
    __slots__ = ("__weakref__",)

    @property
    def _control_outputs(self) -> list["Operation"]:
        return [op for op in self._graph.get_operations() if self in op.control_inputs]

    @property
    def node_def(self) -> Any:
        from emplace.framework import graph_io

        return graph_io.node_def(self)

    @property
    def op_def(self) -> Any:
        return _core.find_op(self.type)

    @property
    def traceback(self) -> list[str]:
        return [self._source]

    def colocation_groups(self) -> list[bytes]:
        """The groups of ops, b"loc:@name", with which this op shares its device."""
        return [g.encode() for g in self._node.colocation_groups]

    def get_attr(self, name: str) -> Any:
        """An attribute's value by its name; ValueError if the op has none of it."""
        try:
            value = self._node.attr(name)
        except KeyError:
            raise ValueError(f"Operation '{self.name}' has no attr named '{name}'.") from None
        kind = self._node.attr_kind(name)
        if kind == _KIND_TYPE:
            return dtypes.as_dtype(value)
        if kind == _KIND_TYPE_LIST:
            return [dtypes.as_dtype(v) for v in value]
        if kind == _KIND_SHAPE:
            return tensor_shape.TensorShape._of(value).as_proto()
        if kind == _KIND_TENSOR:
            from emplace.framework import graph_io

            return graph_io.make_tensor_proto(value)
        return value

    def values(self) -> tuple["Tensor", ...]:
        """The outputs as a tuple."""
        return tuple(self.outputs)

    def run(self, feed_dict: Any = None, session: Any = None) -> None:
        """Runs the op in a session, by default the current one."""
        default_stacks._evaluate(self, feed_dict, self._graph, session)

    def _set_device(self, device: Any) -> None:
        self._graph._core.set_device(self._node, device_scope.device_text(device))

    def _set_attr(self, name: str, value: Any) -> None:
        core = self._graph._core
        if isinstance(value, bool):
            core.set_bool_attr(self._node, name, value)
        elif isinstance(value, int):
            core.set_int_attr(self._node, name, value)
        elif isinstance(value, (list, tuple)):
            core.set_string_list_attr(self._node, name, list(value))
        else:
            core.set_string_attr(self._node, name, value.encode() if isinstance(value, str) else value)

    def _add_control_input(self, op: "Operation") -> None:
        self._graph._core.add_control_input(self._node, op._node)

    def _add_control_inputs(self, ops: Any) -> None:
        for op in ops:
            self._add_control_input(op)

    def _update_input(self, index: int, tensor: "Tensor") -> None:
        self._graph._core.update_input(self._node, index, tensor._out)

    def __repr__(self) -> str:
        return f"<tf.Operation '{self.name}' type={self.type}>"

    def __str__(self) -> str:
        return str(self.node_def)
