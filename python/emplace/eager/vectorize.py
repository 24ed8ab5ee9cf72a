"""`tf.vectorized_map`: a function of one row, run on all rows at once.

The function is traced for a row; then each of its operations runs once, on stacked values, by the
rule that the table below has for it. What no row takes part in is computed once for all.
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from emplace.eager import nest
from emplace.framework import array_ops, constant_op, dtypes, gen, math_ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert
from emplace.gradients import common

# As they are: element by element, or over the last dimensions only.
_ALIKE = frozenset(
    "Abs Acos Acosh Angle Asin Asinh Atan Atanh BesselI0e BesselI1e Bitcast Cast Ceil CheckNumerics Cholesky ComplexAbs Conj Cos Cosh "
    "Digamma Elu Erf Erfc Erfinv Exp Expm1 FFT FFT2D FFT3D Floor IFFT IFFT2D IFFT3D Identity Imag Inv Invert IsFinite IsInf IsNan "
    "LeakyRelu Lgamma Log Log1p LogMatrixDeterminant LogSoftmax LogicalNot Lu MatrixDeterminant MatrixDiag MatrixDiagPart "
    "MatrixExponential MatrixInverse Ndtri Neg OnesLike PreventGradient Qr Real Reciprocal Relu Relu6 Rint Round Rsqrt "
    "SelfAdjointEigV2 Selu Sigmoid Sign Sin Sinh Softmax Softplus Softsign Sqrt Square StopGradient Svd Tan Tanh ZerosLike".split()
)
# Element by element, with broadcasting.
_BROADCAST = frozenset(
    "Add AddV2 ApproximateEqual Atan2 BitwiseAnd BitwiseOr BitwiseXor Complex Div DivNoNan EluGrad Equal FloorDiv FloorMod Greater "
    "GreaterEqual Igamma Igammac InvGrad LeakyReluGrad LeftShift Less LessEqual LogicalAnd LogicalOr Maximum Minimum Mod Mul MulNoNan "
    "NextAfter NotEqual Polygamma Pow RealDiv ReciprocalGrad ReluGrad Relu6Grad RightShift RsqrtGrad SelectV2 SeluGrad SigmoidGrad "
    "SoftplusGrad SoftsignGrad SqrtGrad SquaredDifference Sub TanhGrad TruncateDiv TruncateMod Xdivy Xlog1py Xlogy Zeta "
    "BatchMatMulV2 MatrixSolve".split()
)
_IMAGES = frozenset("AvgPool AvgPool3D Conv2D Conv3D DepthToSpace DepthwiseConv2dNative LRN MaxPool MaxPool3D ResizeBilinear SpaceToDepth".split())
_RANDOM = frozenset("RandomStandardNormal RandomUniform RandomUniformInt TruncatedNormal".split())
_READS = frozenset("ReadVariableOp VarHandleOp VariableShape".split())


class NoRule(Exception):
    """Some operation can't be run on stacked rows."""

    def __init__(self, op: Any) -> None:
        super().__init__(op.type)
        self.op = op


class _Call:
    """One operation: its operands, which of them are stacked, and how many rows there are."""

    def __init__(self, op: Any, tensors: list[Any], stacked: list[bool], rows: int) -> None:
        self.op, self.tensors, self.stacked, self.rows = op, tensors, stacked, rows

    def run(self, tensors: list[Any] | None = None, **changed: Any) -> list[Any]:
        return run(self.op, self.tensors if tensors is None else tensors, changed)

    def all_stacked(self) -> list[Any]:
        return [self.stack(i) for i in range(len(self.tensors))]

    def stack(self, i: int) -> Any:
        t = self.tensors[i]
        return t if self.stacked[i] else repeated(t, self.rows)

    def only(self, *places: int) -> None:
        """Refuses stacked operands in other places."""
        if any(s for i, s in enumerate(self.stacked) if i not in places):
            raise NoRule(self.op)

    def value(self, i: int) -> np.ndarray:
        """The value of an operand that says where and how much."""
        known = None if self.stacked[i] else common.known(self.tensors[i])
        if known is None:
            raise NoRule(self.op)
        return np.asarray(known)

    def attr(self, name: str) -> Any:
        return self.op.get_attr(name)

    def row_rank(self, i: int) -> int:
        rank = self.tensors[i].shape.rank
        if rank is None:
            raise NoRule(self.op)
        return rank - 1 if self.stacked[i] else rank

    def widened(self, i: int, rank: int) -> Any:
        """A stacked operand whose rows have that rank at least."""
        t, missing = self.tensors[i], rank - self.row_rank(i)
        if not self.stacked[i] or missing <= 0:
            return t
        shape = array_ops.shape(t)
        return array_ops.reshape(t, array_ops.concat([shape[:1], [1] * missing, shape[1:]], 0))


def repeated(t: Any, rows: int) -> Any:
    t = _convert(t)
    return _op("BroadcastTo", [t, array_ops.concat([[rows], array_ops.shape(t)], 0)], {})


def run(op: Any, tensors: list[Any], changed: dict[str, Any]) -> list[Any]:
    """The same operation on other tensors."""
    d = gen.definition(op.type)
    given, inputs = iter(tensors), []
    for arg in d.inputs:
        size = op.get_attr(arg.number_attr) if arg.number_attr else len(op.get_attr(arg.type_list_attr)) if arg.type_list_attr else None
        inputs.append(next(given) if size is None else [next(given) for _ in range(size)])
    attrs = {a.name: op.get_attr(a.name) for a in d.explicit if not a.name.startswith("_")}
    made = _op(op.type, inputs, attrs | changed)
    return list(made) if isinstance(made, (list, tuple)) else [made]


def _moved(axis: int) -> int:
    """An axis of a row, in what is stacked."""
    return int(axis) + 1 if axis >= 0 else int(axis)


# ---- Rules: what an operation gives for all rows, stacked.

_Rule = Callable[[_Call], list[Any]]
_RULES: dict[str, _Rule] = {}


def _rule(*names: str) -> Callable[[_Rule], _Rule]:
    def keep(rule: _Rule) -> _Rule:
        for name in names:
            _RULES[name] = rule
        return rule

    return keep


@_rule(*_ALIKE)
def _alike(c: _Call) -> list[Any]:
    return c.run()


@_rule(*_BROADCAST)
def _broadcast(c: _Call) -> list[Any]:
    rank = max(c.row_rank(i) for i in range(len(c.tensors)))
    return c.run([c.widened(i, rank) for i in range(len(c.tensors))])


@_rule("Select")
def _select(c: _Call) -> list[Any]:
    if c.row_rank(0) not in (0, c.row_rank(1)):
        raise NoRule(c.op)
    rank = max(c.row_rank(i) for i in range(3))
    return [_op("SelectV2", [c.widened(i, rank) for i in range(3)], {})]


@_rule("AddN")
def _add_n(c: _Call) -> list[Any]:
    return c.run(c.all_stacked())


@_rule("Sum", "Mean", "Prod", "Max", "Min", "All", "Any", "EuclideanNorm", "ReverseV2")
def _over_axes(c: _Call) -> list[Any]:
    axes = [_moved(a) for a in c.value(1).reshape(-1)]
    return c.run([c.tensors[0], _convert(axes, dtypes.int32)])


@_rule("ArgMax", "ArgMin", "Cumsum", "Cumprod", "ExpandDims")
def _along(c: _Call) -> list[Any]:
    return c.run([c.tensors[0], _convert(_moved(int(c.value(1).reshape(()))), dtypes.int32)])


@_rule("L2Loss")
def _half_square(c: _Call) -> list[Any]:
    x = c.tensors[0]
    return [math_ops.reduce_sum(x * x, list(range(1, x.shape.rank))) / 2]


@_rule("Reshape", "BroadcastTo")
def _reshape(c: _Call) -> list[Any]:
    shape = c.value(1)
    return c.run([c.widened(0, len(shape)) if c.op.type == "BroadcastTo" else c.tensors[0], _convert([c.rows, *shape.tolist()], dtypes.int32)])


@_rule("Squeeze")
def _squeeze(c: _Call) -> list[Any]:
    dims = list(c.attr("squeeze_dims")) or [i for i, d in enumerate(c.tensors[0].shape.as_list()[1:]) if d == 1]
    return c.run(squeeze_dims=[_moved(d) for d in dims]) if dims else [c.tensors[0]]


@_rule("Transpose")
def _transpose(c: _Call) -> list[Any]:
    return c.run([c.tensors[0], _convert([0, *(c.value(1) + 1).tolist()], dtypes.int32)])


@_rule("ConcatV2")
def _concat(c: _Call) -> list[Any]:
    axis = _moved(int(c.value(len(c.tensors) - 1)))
    return c.run([c.stack(i) for i in range(len(c.tensors) - 1)] + [_convert(axis, dtypes.int32)])


@_rule("Pack")
def _pack(c: _Call) -> list[Any]:
    return c.run(c.all_stacked(), axis=_moved(c.attr("axis")))


@_rule("Unpack")
def _unpack(c: _Call) -> list[Any]:
    return c.run(axis=_moved(c.attr("axis")))


@_rule("Split")
def _split(c: _Call) -> list[Any]:
    return c.run([_convert(_moved(int(c.value(0))), dtypes.int32), c.tensors[1]])


@_rule("SplitV")
def _split_sizes(c: _Call) -> list[Any]:
    c.only(0)
    return c.run([c.tensors[0], c.tensors[1], _convert(_moved(int(c.value(2))), dtypes.int32)])


@_rule("Slice")
def _slice(c: _Call) -> list[Any]:
    begin, size = c.value(1), c.value(2)
    return c.run([c.tensors[0], _convert([0, *begin.tolist()], dtypes.int32), _convert([-1, *size.tolist()], dtypes.int32)])


@_rule("StridedSlice")
def _strided_slice(c: _Call) -> list[Any]:
    places = [[first, *c.value(i).tolist()] for i, first in ((1, 0), (2, 0), (3, 1))]
    masks = {name: c.attr(name) << 1 for name in ("ellipsis_mask", "new_axis_mask", "shrink_axis_mask")}
    masks |= {name: c.attr(name) << 1 | 1 for name in ("begin_mask", "end_mask")}
    return c.run([c.tensors[0], *(_convert(p, dtypes.int32) for p in places)], **masks)


@_rule("GatherV2")
def _gather(c: _Call) -> list[Any]:
    axis, batch = int(c.value(2)), c.attr("batch_dims")
    if axis < 0 or batch < 0:
        raise NoRule(c.op)
    if c.stacked[0]:
        if not c.stacked[1] and batch:
            raise NoRule(c.op)
        return c.run([c.tensors[0], c.tensors[1], _convert(axis + 1, dtypes.int32)], batch_dims=batch + 1 if c.stacked[1] else 0)
    if batch:
        raise NoRule(c.op)
    (made,) = c.run()
    if axis == 0:
        return [made]
    order = list(range(made.shape.rank))
    order.insert(0, order.pop(axis))
    return [array_ops.transpose(made, order)]


@_rule("Tile")
def _tile(c: _Call) -> list[Any]:
    return c.run([c.tensors[0], _convert([1, *c.value(1).tolist()], dtypes.int32)])


@_rule("Pad", "PadV2", "MirrorPad")
def _pad(c: _Call) -> list[Any]:
    c.only(0)
    return c.run([c.tensors[0], _convert([[0, 0], *c.value(1).tolist()], dtypes.int32), *c.tensors[2:]])


@_rule("Fill")
def _fill(c: _Call) -> list[Any]:
    dims = c.value(0).tolist()
    value = array_ops.reshape(c.tensors[1], [c.rows] + [1] * len(dims))
    return [_op("BroadcastTo", [value, _convert([c.rows, *dims], dtypes.int32)], {})]


@_rule("OneHot")
def _one_hot(c: _Call) -> list[Any]:
    c.only(0)
    return c.run(axis=_moved(c.attr("axis")))


@_rule("BiasAdd")
def _bias(c: _Call) -> list[Any]:
    c.only(0)
    if c.attr("data_format") not in (b"NHWC", "NHWC"):
        raise NoRule(c.op)
    return c.run()


@_rule("MatMul")
def _matmul(c: _Call) -> list[Any]:
    a, b = c.tensors
    turned = {"adj_x": c.attr("transpose_a"), "adj_y": c.attr("transpose_b")}
    if a.dtype.is_complex and any(turned.values()):
        raise NoRule(c.op)
    if c.stacked[1] or turned["adj_x"]:
        return [_op("BatchMatMulV2", [a, b], turned)]
    (made,) = c.run([array_ops.reshape(a, [-1, array_ops.shape(a)[2]]), b])  # one product of all rows
    return [array_ops.reshape(made, [c.rows, -1, array_ops.shape(made)[1]])]


@_rule("Einsum")
def _einsum(c: _Call) -> list[Any]:
    equation = c.attr("equation")
    equation = equation.decode() if isinstance(equation, bytes) else equation
    free = [chr(i) for i in range(ord("A"), ord("z") + 1) if chr(i).isalpha() and chr(i) not in equation]
    if "..." in equation or not free:
        raise NoRule(c.op)
    sides, result = equation.split("->")
    operands = [free[0] + part if stacked else part for part, stacked in zip(sides.split(","), c.stacked)]
    return c.run(equation=f"{','.join(operands)}->{free[0]}{result}")


@_rule(*_IMAGES)
def _images(c: _Call) -> list[Any]:
    """Batches of images become one batch."""
    c.only(0)
    x = c.tensors[0]
    shape = array_ops.shape(x)
    (made,) = c.run([array_ops.reshape(x, array_ops.concat([[-1], shape[2:]], 0)), *c.tensors[1:]])
    return [array_ops.reshape(made, array_ops.concat([shape[:2], array_ops.shape(made)[1:]], 0))]


@_rule(*_RANDOM)
def _random(c: _Call) -> list[Any]:
    """Each row draws numbers of its own."""
    c.only()
    return c.run([array_ops.concat([[c.rows], math_ops.cast(c.tensors[0], dtypes.int32)], 0), *c.tensors[1:]])


def _told_by_shape(op: Any, x: Any) -> Any:
    """The shape, size or rank of one row; None for other operations."""
    if op.type == "Shape":
        return array_ops.shape(x, out_type=op.get_attr("out_type"))[1:]
    if op.type == "Size":
        return math_ops.reduce_prod(array_ops.shape(x, out_type=op.get_attr("out_type"))[1:])
    if op.type == "Rank":
        return _convert(x.shape.rank - 1, dtypes.int32) if x.shape.rank is not None else None
    return None


# ---- A trace, run on rows.


def _needed(graph: Any, outputs: list[Any]) -> list[Any]:
    """The operations that outputs depend on, and those with effects, in order."""
    wanted, todo = set(), [t.op for t in outputs]
    operations = graph.get_operations()
    todo += [op for op in operations if gen.definition(op.type).stateful and op.type not in _READS and op.type not in _RANDOM and op.type != "Placeholder"]
    while todo:
        op = todo.pop()
        if op.name not in wanted:
            wanted.add(op.name)
            todo += [t.op for t in op.inputs]
    return [op for op in operations if op.name in wanted]


def _one(op: Any, values: dict[str, tuple[Any, bool]], rows: int) -> None:
    given = [values[t.name] for t in op.inputs]
    tensors, stacked = [t for t, _ in given], [s for _, s in given]
    random = op.type in _RANDOM
    if not any(stacked) and not random:
        if gen.definition(op.type).stateful and op.type not in _READS:
            raise NoRule(op)
        made, together = run(op, tensors, {}), False
    else:
        told = _told_by_shape(op, tensors[0]) if tensors else None
        if told is not None:
            made, together = [told], False
        else:
            rule = _RULES.get(op.type)
            if rule is None:
                raise NoRule(op)
            made, together = rule(_Call(op, tensors, stacked, rows)), True
    for t, value in zip(op.outputs, made):
        if value.shape.rank is None and t.shape.rank is not None:  # a variable's, say
            value.set_shape([rows, *t.shape.as_list()] if together else t.shape)
        values[t.name] = (value, together)


def run_on_rows(concrete: Any, arguments: list[tuple[Any, bool]], rows: int) -> Any:
    """What the traced function gives for each of the rows, stacked. An argument: a tensor, and whether its rows are meant.
    Raises NoRule."""
    graph = concrete.graph
    outside = [(t, False) for t in concrete.captured_inputs]
    values = {t.name: given for t, given in zip(graph.inputs, arguments + outside)}
    outputs = [t for t in nest.flatten(concrete.structured_outputs) if t is not None]
    for op in _needed(graph, outputs):
        if op.type == "Const":
            values[op.outputs[0].name] = (constant_op.constant(constant_op.constant_value(op.outputs[0]), op.outputs[0].dtype), False)
        elif op.outputs and op.outputs[0].name in values:
            continue
        else:
            _one(op, values, rows)

    def stacked(t: Any) -> Any:
        if t is None:
            return None
        value, together = values[t.name]
        return value if together else repeated(value, rows)

    return nest.map_structure(stacked, concrete.structured_outputs)

