"""Arithmetic, reductions, products: functions that TensorFlow writes by hand."""

from __future__ import annotations

import builtins
from typing import Any, TYPE_CHECKING

import numpy as np

from emplace.framework import dtypes, index_values, ops, tensor_shape
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert
from emplace.framework.ops import is_tensor, name_scope

if TYPE_CHECKING:
    from emplace.framework.tensor import Tensor

_DTYPE_OF_QUOTIENT = {
    dtypes.uint8: dtypes.float32,
    dtypes.int8: dtypes.float32,
    dtypes.uint16: dtypes.float32,
    dtypes.int16: dtypes.float32,
    dtypes.uint32: dtypes.float64,
    dtypes.int32: dtypes.float64,
    dtypes.uint64: dtypes.float64,
    dtypes.int64: dtypes.float64,
}


# ---- Unary.


def _unary(op: str, doc: str) -> Any:
    def function(x: Any, name: str | None = None) -> Tensor:
        return _op(op, [x], {}, name)

    function.__name__ = function.__qualname__ = op.lower()
    function.__doc__ = doc
    return function


def _scoped(op: str, scope: str, doc: str) -> Any:
    """A function whose operation has a scope of its own."""

    def function(x: Any, name: str | None = None) -> Tensor:
        with name_scope(name, scope, [x]):
            return _op(op, [x], {})

    function.__name__, function.__doc__ = scope, doc
    return function


sqrt = _unary("Sqrt", "The square root of each element.")
rsqrt = _unary("Rsqrt", "1 over the square root of each element.")
exp = _unary("Exp", "e to the power of x.")
floor = _unary("Floor", "The greatest whole number not above x.")
ceil = _unary("Ceil", "The least whole number not below x.")
acos = _unary("Acos", "The angle, from 0 to pi, whose cosine each element is.")
ndtri = _scoped("Ndtri", "ndtri", "The quantile function of the normal distribution.")
bessel_i0e = _scoped("BesselI0e", "bessel_i0e", "Exponentially scaled Bessel function of order 0.")
bessel_i1e = _scoped("BesselI1e", "bessel_i1e", "Exponentially scaled Bessel function of order 1.")


def sign(x: Any, name: str | None = None) -> Tensor:
    """-1, 0 or 1 for each element; for complex ones `x / abs(x)`."""
    x = _convert(x)
    return _op("Sign", [x], {}, name)


def abs(x: Any, name: str | None = None) -> Tensor:  # noqa: A001
    """Absolute value of each element; the modulus of complex ones, in their real dtype."""
    with name_scope(name, "Abs", [x]) as scope:
        x = _convert(x, name="x")
        if x.dtype.is_complex:
            return _op("ComplexAbs", [x], {"Tout": x.dtype.real_dtype}, scope)
        return _op("Abs", [x], {}, scope)


def sigmoid(x: Any, name: str | None = None) -> Tensor:
    """`1 / (1 + exp(-x))` of each element."""
    with name_scope(name, "Sigmoid", [x]) as scope:
        return _op("Sigmoid", [_convert(x, name="x")], {}, scope)


def log_sigmoid(x: Any, name: str | None = None) -> Tensor:
    """`log(1 / (1 + exp(-x)))` of each element, without overflow."""
    with name_scope(name, "LogSigmoid", [x]) as scope:
        x = _convert(x, name="x")
        return _op("Neg", [_op("Softplus", [_op("Neg", [x], {})], {})], {}, scope)


def round(x: Any, name: str | None = None) -> Tensor:  # noqa: A001
    """Nearest whole number of each element; halves go to the even one."""
    x = _convert(x, name="x")
    return x if x.dtype.is_integer else _op("Round", [x], {}, name)


def real(input: Any, name: str | None = None) -> Tensor:  # noqa: A002
    """Real part of each element, in the matching real dtype."""
    with name_scope(name, "Real", [input]) as scope:
        input = _convert(input, name="input")
        if not input.dtype.is_complex:
            return input
        return _op("Real", [input], {"Tout": input.dtype.real_dtype}, scope)


def imag(input: Any, name: str | None = None) -> Tensor:  # noqa: A002
    """Imaginary part of each element, in the matching real dtype; 0 for real ones."""
    with name_scope(name, "Imag", [input]) as scope:
        input = _convert(input, name="input")
        if not input.dtype.is_complex:
            from emplace.framework import array_ops

            return array_ops.zeros_like(input)
        return _op("Imag", [input], {"Tout": input.dtype.real_dtype}, scope)


def angle(input: Any, name: str | None = None) -> Tensor:  # noqa: A002
    """Argument of each complex number, in radians; 0 or pi for real ones."""
    with name_scope(name, "Angle", [input]) as scope:
        input = _convert(input, name="input")
        if input.dtype.is_complex:
            return _op("Angle", [input], {"Tout": input.dtype.real_dtype}, scope)
        from emplace.framework import array_ops

        return array_ops.where(input < 0, np.pi * array_ops.ones_like(input), array_ops.zeros_like(input))


def conj(x: Any, name: str | None = None) -> Tensor:
    """Complex conjugate of each element; real tensors as they are."""
    if is_tensor(x) and not (x.dtype.is_complex or x.dtype in (dtypes.variant,)):
        return x
    with name_scope(name, "Conj", [x]) as scope:
        x = _convert(x, name="x")
        return _op("Conj", [x], {}, scope) if x.dtype.is_complex else x


def complex(real: Any, imag: Any, name: str | None = None) -> Tensor:  # noqa: A001
    """Complex numbers of a real and an imaginary part: complex64 of float32, complex128 of float64."""
    real = _convert(real, name="real")
    imag = _convert(imag, name="imag")
    with name_scope(name, "Complex", [real, imag]) as scope:
        kinds = (real.dtype, imag.dtype)
        if kinds == (dtypes.float64, dtypes.float64):
            result = dtypes.complex128
        elif kinds == (dtypes.float32, dtypes.float32):
            result = dtypes.complex64
        else:
            raise TypeError(
                f"The `real` and `imag` components have incorrect types: {real.dtype.name} {imag.dtype.name}. "
                "They must be consistent, and one of [tf.float32, tf.float64]"
            )
        return _op("Complex", [real, imag], {"Tout": result}, scope)


def cast(x: Any, dtype: Any, name: str | None = None) -> Tensor:
    """`x` with its elements converted to `dtype`; fractions are cut off towards zero. Sparse and ragged tensors keep their form."""
    base = dtypes.as_dtype(dtype).base_dtype
    if is_tensor(x) and base == x.dtype and not hasattr(x, "__tf_tensor__"):
        return x
    if type(x) is getattr(ops, "EagerTensor", None) and not ops._default_graphs.stack:
        return _op("Cast", [x], {"DstT": base})
    with name_scope(name, "Cast", [x]) as scope:
        if isinstance(x, ops.IndexedSlices):
            values = cast(x.values, base, name=scope)
            return ops.IndexedSlices(values, x.indices, x.dense_shape)
        if hasattr(x, "dense_shape") and not isinstance(x, ops.Tensor):
            return type(x)(x.indices, cast(x.values, base, name=scope), x.dense_shape)
        x = _convert(x, name="x")
        if x.dtype.base_dtype != base:
            x = _op("Cast", [x], {"DstT": base}, scope)
        return x


def saturate_cast(value: Any, dtype: Any, name: str | None = None) -> Tensor:
    """`value` converted to `dtype`; what is out of its range becomes the nearest value in it."""
    dtype = dtypes.as_dtype(dtype).base_dtype
    with name_scope(name, "saturate_cast", [value]) as scope:
        value = _convert(value, name="value")
        if value.dtype.is_complex and dtype.is_complex:
            part = dtypes.float32 if dtype == dtypes.complex64 else dtypes.float64
            return _op("Complex", [saturate_cast(real(value), part), saturate_cast(imag(value), part)], {"Tout": dtype}, scope)
        if value.dtype.is_complex:
            value = real(value)
        if not dtype.is_complex:
            from emplace.framework import clip_ops

            low, high = (_convert(limit, dtype=value.dtype) for limit in _common_range(value.dtype, dtype))
            value = clip_ops.clip_by_value(value, low, high, name="clamp")
        return cast(value, dtype, name=scope)


def _common_range(source: Any, target: Any) -> Any:
    """The least and the greatest number of `source` that `target` holds too."""
    limits = max(source.min, target.min, key=float), min(source.max, target.max, key=float)
    return [int(x) if source.is_integer else _towards_zero(x, source.as_numpy_dtype) for x in limits]


def _towards_zero(limit: Any, kind: Any) -> Any:
    near = kind(float(limit))
    beyond = int(near) > int(limit) if limit > 0 else int(near) < int(limit)
    return np.nextafter(near, kind(0)) if beyond else near


def _to(dtype: Any, default: str) -> Any:
    def function(x: Any, name: str = default) -> Any:
        return cast(x, dtype, name=name)

    function.__doc__ = f"`x` as {dtype.name}, the older form of `cast`."
    function.__name__ = function.__qualname__ = f"to_{default[2:].lower()}"
    return function


to_float = _to(dtypes.float32, "ToFloat")
to_double = _to(dtypes.float64, "ToDouble")
to_int32 = _to(dtypes.int32, "ToInt32")
to_int64 = _to(dtypes.int64, "ToInt64")
to_bfloat16 = _to(dtypes.bfloat16, "ToBFloat16")
to_complex64 = _to(dtypes.complex64, "ToComplex64")
to_complex128 = _to(dtypes.complex128, "ToComplex128")


# ---- Binary.


def add(x: Any, y: Any, name: str | None = None) -> Tensor:
    """`x + y` element by element, with broadcasting; joins strings."""
    if isinstance(x, ops.Tensor) and isinstance(y, ops.Tensor) and x._dtype is not dtypes.string:
        return _op("AddV2", (x, y), None, name or "Add")
    with name_scope(name, "Add", [x]) as scope:
        x = _convert(x, name="x")
        y = _convert(y, dtype_hint=x.dtype.base_dtype, name="y")
        return _op("Add" if x.dtype == dtypes.string else "AddV2", [x, y], {}, scope)


def subtract(x: Any, y: Any, name: str | None = None) -> Tensor:
    """`x - y` element by element, with broadcasting."""
    return _op("Sub", [x, y], {}, name)


def multiply(x: Any, y: Any, name: str | None = None) -> Tensor:
    """`x * y` element by element, with broadcasting."""
    return _op("Mul", [x, y], {}, name)


def _same_dtype(x: Any, y: Any) -> None:
    a, b = x.dtype.base_dtype, y.dtype.base_dtype
    if a != b:
        raise TypeError(f"`x` and `y` must have the same dtype, got {a!r} != {b!r}.")


def truediv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """`x / y` element by element as Python 3 divides: integers give floats."""
    with name_scope(name, "truediv", [x, y]) as scope:
        x = _convert(x, name="x")
        y = _convert(y, dtype_hint=x.dtype.base_dtype, name="y")
        _same_dtype(x, y)
        wide = _DTYPE_OF_QUOTIENT.get(x.dtype.base_dtype)
        if wide is not None:
            x, y = cast(x, wide), cast(y, wide)
        return _op("RealDiv", [x, y], {}, scope)


def div(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Division as Python 2 has it: of integers rounded down, of others exact."""
    with name_scope(name, "div", [x, y]) as scope:
        x = _convert(x, name="x")
        y = _convert(y, name="y", dtype=x.dtype.base_dtype)
        _same_dtype(x, y)
        kind = x.dtype.base_dtype
        return _op("RealDiv" if kind.is_floating or kind.is_complex else "FloorDiv", [x, y], {}, scope)


def divide(x: Any, y: Any, name: str | None = None) -> Tensor:
    """`x / y` element by element as Python divides: integers give floats."""
    if name is not None:
        return truediv(x, y, name)
    if not is_tensor(x):
        x = _convert(x, dtype=y.dtype.base_dtype if is_tensor(y) else None)
    return x / y


def div_no_nan(x: Any, y: Any, name: str | None = None) -> Tensor:
    """`x / y` element by element, 0 where `y` is 0."""
    with name_scope(name, "div_no_nan", [x, y]) as scope:
        x = _convert(x, name="x")
        y = _convert(y, name="y", dtype=x.dtype.base_dtype)
        return _op("DivNoNan", [x, y], {}, scope)


def multiply_no_nan(x: Any, y: Any, name: str | None = None) -> Tensor:
    """`x * y` element by element, 0 where `y` is 0, even if `x` is infinite or NaN."""
    with name_scope(name, "multiply_no_nan", [x, y]) as scope:
        x = _convert(x, name="x")
        y = _convert(y, name="y", dtype=x.dtype.base_dtype)
        return _op("MulNoNan", [x, y], {}, scope)


def floordiv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """`x / y` rounded down element by element; the dtype stays."""
    with name_scope(name, "floordiv", [x, y]) as scope:
        return _op("FloorDiv", [x, y], {}, scope)


def floormod(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Remainder of `x // y` element by element; it has the sign of `y`."""
    return _op("FloorMod", [x, y], {}, name)


def pow(x: Any, y: Any, name: str | None = None) -> Tensor:  # noqa: A001
    """`x` to the power `y`, element by element."""
    with name_scope(name, "Pow", [x]) as scope:
        return _op("Pow", [x, y], {}, scope)


def equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Where `x` and `y` are the same, element by element, as bool; with broadcasting."""
    return _op("Equal", [x, y], {}, name)


def not_equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Where `x` and `y` differ, element by element, as bool; with broadcasting."""
    return _op("NotEqual", [x, y], {}, name)


def logical_xor(x: Any, y: Any, name: str = "LogicalXor") -> Tensor:
    """Where exactly one of two bool tensors is true."""
    return _op(
        "LogicalAnd",
        [_op("LogicalOr", [x, y], {}), _op("LogicalNot", [_op("LogicalAnd", [x, y], {})], {})],
        {},
        name,
    )


def logical_and(x: Any, y: Any, name: str | None = None) -> Tensor:
    return _op("LogicalAnd", [x, y], {}, name)


def xdivy(x: Any, y: Any, name: str | None = None) -> Tensor:
    """`x / y` element by element, 0 where `x` is 0, whatever `y` is."""
    with name_scope(name, "xdivy", [x]):
        return _op("Xdivy", [x, y], {})


def xlog1py(x: Any, y: Any, name: str | None = None) -> Tensor:
    """`x * log1p(y)` element by element, 0 where `x` is 0."""
    with name_scope(name, "xlog1py", [x]):
        return _op("Xlog1py", [x, y], {})


def add_n(inputs: Any, name: str | None = None) -> Tensor:
    """Sum of a list of tensors of one shape and dtype. `IndexedSlices` count as what they stand for."""
    message = "Inputs must be an iterable of at least one Tensor/IndexedSlices with the same dtype and shape."
    if not inputs or not hasattr(inputs, "__iter__"):
        raise ValueError(message)
    inputs = [_convert(i) for i in inputs]
    if len(inputs) == 1:
        return inputs[0] if name is None else _op("Identity", [inputs[0]], {}, name)
    return _op("AddN", [inputs], {}, name)


def accumulate_n(inputs: Any, shape: Any = None, tensor_dtype: Any = None, name: str | None = None) -> Tensor:
    """Sum of tensors of one shape and dtype, element by element."""
    message = "inputs must be a list of at least one Tensor/IndexedSlices with the same dtype and shape"
    if not inputs or not isinstance(inputs, (list, tuple)):
        raise ValueError(message)
    inputs = [_convert(i) for i in inputs]
    if any(i.dtype.base_dtype != inputs[0].dtype.base_dtype for i in inputs):
        raise ValueError(message)
    if len(inputs) == 1:
        return inputs[0] if name is None else _op("Identity", [inputs[0]], {}, name)
    return add_n(inputs, name=name)


# ---- Products.


def _are_matrices(a: Any, b: Any) -> bool:
    """Tensors of rank 2, of one dtype?"""
    if not (isinstance(a, ops.Tensor) and isinstance(b, ops.Tensor)) or a._dtype is not b._dtype:
        return False
    da, db = a._dims, b._dims
    return da is not None and db is not None and len(da) == 2 and len(db) == 2


def matmul(
    a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False, adjoint_a: bool = False,
    adjoint_b: bool = False, a_is_sparse: bool = False, b_is_sparse: bool = False,
    output_type: Any = None, grad_a: bool = False, grad_b: bool = False, name: str | None = None,
) -> Tensor:
    """Product of matrices, the last two dimensions of `a` and `b`; further ones are batches and broadcast. `transpose_a`,
    `adjoint_a` and the like turn an operand first; `output_type` is the dtype of the result where int8 is multiplied."""
    if output_type is not None:  # wide enough for the sums, so for the operands too
        a, b = (cast(_convert(m), output_type) for m in (a, b))
    if _are_matrices(a, b) and not adjoint_a and not adjoint_b:
        return _op("MatMul", (a, b), {"transpose_a": transpose_a, "transpose_b": transpose_b}, name or "MatMul")
    with name_scope(name, "MatMul", [a, b]) as scope:
        if transpose_a and adjoint_a:
            raise ValueError("Only one of `transpose_a` and `adjoint_a` can be True. Received `transpose_a`=True, `adjoint_a`=True.")
        if transpose_b and adjoint_b:
            raise ValueError("Only one of `transpose_b` and `adjoint_b` can be True. Received `transpose_b`=True, `adjoint_b`=True.")
        a = a if is_tensor(a) and not isinstance(a, ops.IndexedSlices) else _convert(a, name="a")
        b = b if is_tensor(b) and not isinstance(b, ops.IndexedSlices) else _convert(b, dtype_hint=a.dtype.base_dtype, name="b")
        ra, rb = a.shape.rank, b.shape.rank
        if (ra is None or ra > 2) and (rb is None or rb > 2):
            if transpose_a:
                a, adjoint_a = conj(a), True
            if transpose_b:
                b, adjoint_b = conj(b), True
            return _op("BatchMatMulV2", [a, b], {"adj_x": adjoint_a, "adj_y": adjoint_b}, scope)
        if ra is not None and ra > 2 or rb is not None and rb > 2:
            if transpose_a:
                a, adjoint_a = conj(a), True
            if transpose_b:
                b, adjoint_b = conj(b), True
            return _op("BatchMatMulV2", [a, b], {"adj_x": adjoint_a, "adj_y": adjoint_b}, scope)
        if adjoint_a:
            a, transpose_a = conj(a), True
        if adjoint_b:
            b, transpose_b = conj(b), True
        return _op("MatMul", [a, b], {"transpose_a": transpose_a, "transpose_b": transpose_b}, scope)


def matvec(a: Any, b: Any, transpose_a: bool = False, adjoint_a: bool = False, a_is_sparse: bool = False, b_is_sparse: bool = False, name: str | None = None) -> Tensor:
    """Product of matrices `a` and vectors `b`; dimensions before are batches."""
    from emplace.framework import array_ops

    with name_scope(name, "MatVec", [a, b]):
        out = matmul(a, array_ops.expand_dims(b, axis=-1), transpose_a=transpose_a, adjoint_a=adjoint_a)
        return array_ops.squeeze(out, axis=-1)


def scalar_mul(scalar: Any, x: Any, name: str | None = None) -> Tensor:
    """`scalar * x`; `x` may be `IndexedSlices`."""
    base = dtypes.as_dtype(x.dtype).base_dtype
    scalar = _convert(scalar, dtype=base, name="scalar")
    if scalar.shape.rank not in (None, 0):
        raise ValueError(f"The input scalar must be a 0-D value. Received shape {scalar.shape}.")
    if isinstance(x, ops.IndexedSlices):
        return ops.IndexedSlices(_op("Mul", [scalar, x.values], {}, name), x.indices, x.dense_shape)
    return _op("Mul", [scalar, x], {}, name)


# ---- Reductions.


_ALL_AXES = [list(builtins.range(n)) for n in builtins.range(9)]


def _dims(x: Any, axis: Any) -> Any:
    if axis is not None:
        return axis
    if type(x) is getattr(ops, "EagerTensor", None) and not ops._default_graphs.stack and 0 < x.ndim <= 8:
        return _ALL_AXES[x.ndim]
    rank = getattr(getattr(x, "shape", None), "rank", None)
    if rank:
        from emplace.framework import constant_op

        return constant_op.constant(np.arange(rank, dtype=np.int32))
    from emplace.framework import array_ops

    return range(0, array_ops.rank(x))


def _scalar(keepdims: Any, axis: Any, out: Any) -> Any:
    if not keepdims and axis is None and type(out) is ops.SymbolicTensor and out.shape.rank is None:
        out.set_shape(())
    return out


def _reduction(op: str, python_name: str, doc: str) -> Any:
    def function(
        input_tensor: Any, axis: Any = None, keepdims: Any = None, name: str | None = None,
        reduction_indices: Any = None, keep_dims: Any = None,
    ) -> Tensor:
        axis = _one_of("axis", axis, "reduction_indices", reduction_indices)
        keepdims = bool(_one_of("keepdims", keepdims, "keep_dims", keep_dims) or False)
        out = _op(op, [input_tensor, _dims(input_tensor, axis)], {"keep_dims": keepdims}, name)
        return _scalar(keepdims, axis, out)

    function.__name__ = function.__qualname__ = python_name
    function.__doc__ = doc
    return function


def _one_of(new_name: str, new: Any, old_name: str, old: Any) -> Any:
    if old is not None:
        if new is not None:
            raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'.")
        return old
    return new


reduce_sum = _reduction("Sum", "reduce_sum", "Sum of the elements along axes.")
reduce_mean = _reduction("Mean", "reduce_mean", "Mean of the elements along axes.")
reduce_prod = _reduction("Prod", "reduce_prod", "Product of the elements along axes.")
reduce_max = _reduction("Max", "reduce_max", "Greatest element along axes.")
reduce_min = _reduction("Min", "reduce_min", "Least element along axes.")
reduce_any = _reduction("Any", "reduce_any", "Logical or of the elements along axes.")
reduce_all = _reduction("All", "reduce_all", "Logical and of the elements along axes.")
reduce_euclidean_norm = _reduction("EuclideanNorm", "reduce_euclidean_norm", "Euclidean norm along axes.")


def reduce_logsumexp(
    input_tensor: Any, axis: Any = None, keepdims: Any = None, name: str | None = None,
    reduction_indices: Any = None, keep_dims: Any = None,
) -> Tensor:
    """`log(sum(exp(x)))` over `axis`, without overflow."""
    from emplace.framework import array_ops

    axis = _one_of("axis", axis, "reduction_indices", reduction_indices)
    keepdims = bool(_one_of("keepdims", keepdims, "keep_dims", keep_dims) or False)
    with name_scope(name, "ReduceLogSumExp", [input_tensor]) as scope:
        raw = reduce_max(input_tensor, axis=axis, keepdims=True)
        finite = _op("SelectV2", [_op("IsFinite", [raw], {}), raw, 0.0], {})
        top = array_ops.stop_gradient(finite)
        total = reduce_sum(_op("Exp", [_op("Sub", [input_tensor, top], {})], {}), axis=axis, keepdims=keepdims)
        result = _op("Log", [total], {})
        if not keepdims:
            top = array_ops.reshape(top, _op("Shape", [result], {}))
        return _scalar(keepdims, axis, add(result, top, name=scope))


def reduce_variance(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    """Variance over `axis`, of the whole population (not n - 1)."""
    with name_scope(name, "reduce_variance", [input_tensor]):
        input_tensor = _convert(input_tensor)
        means = reduce_mean(input_tensor, axis=axis, keepdims=True)
        if means.dtype.is_integer:
            raise TypeError(f"Input must be either real or complex. Received integer type {means.dtype}.")
        off = input_tensor - means
        squared = _op("Square", [off], {}) if not off.dtype.is_complex else real(off * conj(off))
        return reduce_mean(squared, axis=axis, keepdims=keepdims)


def reduce_std(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    """Standard deviation over `axis`, of the whole population (not n - 1)."""
    with name_scope(name, "reduce_std", [input_tensor]):
        return sqrt(reduce_variance(input_tensor, axis=axis, keepdims=keepdims))


def count_nonzero(
    input_tensor: Any = None, axis: Any = None, keepdims: Any = None, dtype: Any = dtypes.int64,
    name: str | None = None, reduction_indices: Any = None, keep_dims: Any = None, input: Any = None,  # noqa: A002
) -> Tensor:
    """Number of elements that are not zero (or not empty) over `axis`, of dtype int64 unless another is asked for."""
    input_tensor = _one_of("input", input, "input_tensor", input_tensor)
    axis = _one_of("axis", axis, "reduction_indices", reduction_indices)
    keepdims = bool(_one_of("keepdims", keepdims, "keep_dims", keep_dims) or False)
    with name_scope(name, "count_nonzero", [input_tensor]):
        input_tensor = _convert(input_tensor, name="input")
        zero = _convert("") if input_tensor.dtype == dtypes.string else _zero(input_tensor.dtype)
        return cast(
            reduce_sum(cast(_op("NotEqual", [input_tensor, zero], {}), dtypes.int64), axis=axis, keepdims=keepdims),
            dtype=dtypes.as_dtype(dtype),
        )


def _zero(dtype: dtypes.DType) -> Any:
    from emplace.framework import array_ops

    return array_ops.zeros([], dtype=dtype)


def argmax(input: Any, axis: Any = None, name: str | None = None, dimension: Any = None, output_type: Any = dtypes.int64) -> Tensor:  # noqa: A002
    """Index of the largest value along `axis`, of dtype `output_type`; the first one among equals."""
    axis = _one_of("axis", axis, "dimension", dimension)
    return _op("ArgMax", [input, 0 if axis is None else axis], {"output_type": output_type}, name)


def argmin(input: Any, axis: Any = None, name: str | None = None, dimension: Any = None, output_type: Any = dtypes.int64) -> Tensor:  # noqa: A002
    """Index of the smallest value along `axis`, of dtype `output_type`; the first one among equals."""
    axis = _one_of("axis", axis, "dimension", dimension)
    return _op("ArgMin", [input, 0 if axis is None else axis], {"output_type": output_type}, name)


def cumsum(x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None) -> Tensor:
    """Sums of the elements up to each one along `axis`; `exclusive` leaves that one out, `reverse` starts at the end."""
    with name_scope(name, "Cumsum", [x]) as scope:
        x = _convert(x, name="x")
        return _op("Cumsum", [x, axis], {"exclusive": exclusive, "reverse": reverse}, scope)


def cumprod(x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None) -> Tensor:
    """Products of the elements up to each one along `axis`; `exclusive` leaves that one out, `reverse` starts at the end."""
    with name_scope(name, "Cumprod", [x]) as scope:
        x = _convert(x, name="x")
        return _op("Cumprod", [x, axis], {"exclusive": exclusive, "reverse": reverse}, scope)


# ---- Sequences.

_RANGE_ORDER = [dtypes.int32, dtypes.int64, dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64]


def _bound(value: Any, dtype: Any, name: str) -> Any:
    if dtype is not None:
        index_values.check(value, dtypes.as_dtype(dtype))
    return _convert(value, dtype=dtype, name=name)


def range(start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str = "range") -> Tensor:  # noqa: A001
    """Numbers from `start` up to `limit`, exclusive, by `delta`. With one argument it is the limit."""
    if limit is None:
        start, limit = 0, start
    with name_scope(name, "Range", [start, limit, delta]) as scope:
        if not is_tensor(start):
            start = _bound(start, dtype, "start")
        if not is_tensor(limit):
            limit = _bound(limit, dtype, "limit")
        if not is_tensor(delta):
            delta = _bound(delta, dtype, "delta")
        if dtype is None:
            kinds = [p.dtype.base_dtype for p in (start, limit, delta)]
            if foreign := [k.name for k in kinds if k not in _RANGE_ORDER]:
                raise TypeError(f"range counts in {', '.join(t.name for t in _RANGE_ORDER)}, not in {foreign[0]}; cast it, or say a dtype")
            widest = max(map(_RANGE_ORDER.index, kinds))
            start, limit, delta = (cast(p, _RANGE_ORDER[widest]) for p in (start, limit, delta))
        else:
            start, limit, delta = (cast(p, dtype) for p in (start, limit, delta))
        return _op("Range", [start, limit, delta], {}, scope)


def bincount(
    arr: Any, weights: Any = None, minlength: Any = None, maxlength: Any = None, dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """How often each integer from 0 occurs, or the sum of its `weights`; `minlength` and `maxlength` bound the result, `axis` counts
    row by row."""
    from emplace.framework import array_ops

    with name_scope(name, "bincount"):
        arr = index_values.tensor(arr, "arr")
        nonempty = array_ops.size(arr) > 0
        size = cast(nonempty, dtypes.int32) * (reduce_max(arr) + 1)
        if minlength is not None:
            size = _op("Maximum", [index_values.tensor(minlength, "minlength"), size], {})
        if maxlength is not None:
            size = _op("Minimum", [index_values.tensor(maxlength, "maxlength"), size], {})
        arr = array_ops.reshape(arr, [-1])
        weights = _convert([], dtype=dtype) if weights is None else _convert(weights, name="weights")
        return _op("DenseBincount", [arr, size, weights], {})


def segment(op: str) -> Any:
    def function(data: Any, segment_ids: Any, name: str | None = None) -> Any:
        return _op(op, [data, segment_ids], {}, name)

    return function


def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Tensor:
    """Sum of products over `axes` of `a` and `b`: a number of dimensions, or a list for each operand."""
    from emplace.framework import tensordot as implementation

    return implementation.tensordot(a, b, axes, name)


def trace(x: Any, name: str | None = None) -> Tensor:
    """Sum of the diagonal of each innermost matrix."""
    with name_scope(name, "Trace", [x]) as scope:
        x = _convert(x, name="x")
        from emplace.framework import array_ops

        return reduce_sum(array_ops.matrix_diag_part(x), [-1], name=scope)


def broadcast_static_shape(shape_x: Any, shape_y: Any) -> tensor_shape.TensorShape:
    """The shape that two shapes broadcast to, as a `TensorShape`; ValueError if they do not fit."""
    x, y = tensor_shape.as_shape(shape_x), tensor_shape.as_shape(shape_y)
    if x.rank is None or y.rank is None:
        return tensor_shape.unknown_shape()
    n = max(x.rank, y.rank)
    dims: list[Any] = []
    for a, b in zip([1] * (n - x.rank) + x.as_list(), [1] * (n - y.rank) + y.as_list()):
        if a == 1 or b == 1:
            dims.append(b if a == 1 else a)
        elif a is None or b is None:
            dims.append(b if a is None else a)
        elif a == b:
            dims.append(a)
        else:
            raise ValueError(f"Incompatible shapes for broadcasting. Two shapes are compatible if for each dimension pair they are either equal or one of them is 1. Received: {x} and {y}.")
    return tensor_shape.TensorShape(dims)
