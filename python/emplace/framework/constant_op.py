"""Constants, and Python values turned into tensors."""

from __future__ import annotations

import operator
import reprlib
from typing import Any, TYPE_CHECKING

import numpy as np

from emplace import _core
from emplace.framework import dispatch, dtypes, ops, tensor_shape

if TYPE_CHECKING:
    from emplace.framework.tensor import Tensor

_Symbolic = ops.SymbolicTensor
_NUMBERS = (float, int, bool)
_INT32_MIN, _INT32_MAX = -(2**31), 2**31 - 1


def out_of_range(values: Any, dtype: dtypes.DType) -> ValueError:
    """For numbers that their dtype does not hold: they are refused, never wrapped around."""
    return ValueError(f"Can't convert Python sequence with out-of-range integer to Tensor. Got {reprlib.repr(values)} for {dtype.name}.")


def held(array: Any, dtype: dtypes.DType, copy: bool = True) -> np.ndarray:
    """An array in another dtype, as long as a whole one holds its numbers."""
    wanted = np.dtype(dtype.as_numpy_dtype)
    try:
        if dtype.is_integer and array.size and array.dtype.kind in "iuf" and not np.can_cast(array.dtype, wanted):
            if not (dtype.min - 1 < array.min().item() and array.max().item() < dtype.max + 1):
                raise out_of_range(array, dtype)
        return array.astype(wanted, copy=copy)
    except OverflowError:  # Python's numbers in an array of objects
        raise out_of_range(array, dtype) from None


def _describe(value: Any, dtype: dtypes.DType) -> str:
    return f"Expected {dtype.name}, but got {value} of type '{type(value).__name__}'."


def _first_leaf(values: Any) -> Any:
    while isinstance(values, (list, tuple)) and len(values):
        values = values[0]
    return values


def _refuse_deep(values: Any, depth: int = 0) -> None:
    """Refuses lists nested too deeply to be a tensor; those that contain themselves, above all."""
    if depth > 254:
        raise ValueError("Attempt to convert a value with more than 254 levels of nesting to a Tensor.")
    for v in values:
        if isinstance(v, (list, tuple)):
            _refuse_deep(v, depth + 1)


def _check_python_values(values: Any, dtype: dtypes.DType) -> None:
    """Refuses Python values that TensorFlow does not turn into `dtype`."""
    if isinstance(values, (list, tuple)):
        for v in values:
            _check_python_values(v, dtype)
        return
    if isinstance(values, (np.ndarray, np.generic)):
        if dtype.is_integer:
            held(values, dtype)
        return
    if values is None:
        raise ValueError("None values not supported.")
    if dtype.is_integer:
        ok = isinstance(values, (int, tensor_shape.Dimension)) and not isinstance(values, bool)
    elif dtype.is_floating:
        ok = isinstance(values, (float, int)) and not isinstance(values, bool)
    elif dtype.is_complex:
        ok = isinstance(values, (complex, float, int)) and not isinstance(values, bool)
    elif dtype.is_bool:
        ok = isinstance(values, bool)
    elif dtype is dtypes.string:
        ok = isinstance(values, (str, bytes))
    else:
        ok = True
    if not ok and hasattr(values, "__array__"):
        ok = True
    if not ok:
        raise TypeError(_describe(values, dtype))


def make_array(values: Any, dtype: Any = None, shape: Any = None) -> np.ndarray:
    """The NumPy array of a constant, with TensorFlow's choice of dtype."""
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype).base_dtype
    if values is None:
        raise ValueError("None values not supported.")
    if isinstance(values, tensor_shape.TensorShape):
        values = values.as_list()
        if None in values:
            raise ValueError(f"Cannot convert a partially known TensorShape {values} to a Tensor.")
        array = _dimensions(values, dtype)
    elif isinstance(values, (np.ndarray, np.generic)):
        array = np.asarray(values)
        if dtype is not None and dtype is not dtypes.string:
            array = held(array, dtype)
        elif array.dtype.kind in "SU" or array.dtype == np.object_:
            array = _strings(array)
        elif dtype is dtypes.string and array.size:
            raise TypeError(f"Expected binary or unicode string, got {array.flat[0]}")
        elif dtype is dtypes.string:
            array = array.astype(object)
        if array.dtype == np.float128 if hasattr(np, "float128") else False:
            array = array.astype(np.float64)
    else:
        array = _from_python(values, dtype)
    if shape is not None:
        array = _with_shape(array, tensor_shape.as_shape(shape).as_list())
    return array


def _dimensions(values: list[int], dtype: dtypes.DType | None) -> np.ndarray:
    wide = max(values, default=0) > _INT32_MAX
    if wide and dtype is dtypes.int32:
        raise ValueError(f"Cannot convert TensorShape {tuple(values)} to dtype int32; a dimension is too large. Consider using tf.int64.")
    return np.array(values, dtype=(np.int64 if wide else np.int32) if dtype is None else dtype.as_numpy_dtype)


def _strings(values: Any) -> np.ndarray:
    array = np.array(values, dtype=object)
    flat = array.reshape(-1)
    for i, v in enumerate(flat):
        if isinstance(v, str):
            flat[i] = v.encode()
        elif isinstance(v, np.bytes_):
            flat[i] = bytes(v)
        elif not isinstance(v, bytes):
            raise TypeError(f"Expected string, but got {v!r} of type '{type(v).__name__}'.")
    return flat.reshape(array.shape)


def _from_python(values: Any, dtype: dtypes.DType | None) -> np.ndarray:
    if type(values) in (list, tuple):
        quick = _core.array_of_list(values, 0 if dtype is None else dtype._enum)
        if quick is not None:
            return quick
    if isinstance(values, (list, tuple)):
        _refuse_deep(values)
        _refuse_ragged(values)
    leaf = _first_leaf(values)
    if dtype is dtypes.string or dtype is None and isinstance(leaf, (str, bytes)):
        return _strings(values)
    if dtype is None and isinstance(values, (list, tuple)) and any(isinstance(v, (str, bytes)) for v in values):
        raise TypeError(f"Failed to convert elements of {values} to Tensor. Consider casting elements to a supported type.")
    if dtype is not None:
        _check_python_values(values, dtype)
        try:
            array = np.array(values, dtype=dtype.as_numpy_dtype)
        except OverflowError:
            raise out_of_range(values, dtype) from None
        return array
    try:
        array = np.array(_plain(values))
    except ValueError as e:
        raise ValueError(f"Can't convert non-rectangular Python sequence to Tensor. {e}") from None
    if array.dtype == np.object_:
        if isinstance(values, (list, tuple)):
            raise TypeError(f"Failed to convert elements of {values} to Tensor. Consider casting elements to a supported type.")
        if isinstance(values, int):
            raise TypeError(f"Failed to convert elements of {values} to Tensor. Consider casting elements to a supported type.")
        raise ValueError(f"Attempt to convert a value ({values!r}) with an unsupported type ({type(leaf)}) to a Tensor.")
    if array.dtype == np.float64 and not _has_numpy(values):
        with np.errstate(over="ignore"):  # infinite in a graph, refused elsewhere
            array = array.astype(np.float32)
    elif array.dtype == np.int64 and not _has_numpy(values):
        if array.size == 0 or (array.min() >= _INT32_MIN and array.max() <= _INT32_MAX):
            array = array.astype(np.int32)
    if array.size == 0 and array.dtype == np.float64:
        array = array.astype(np.float32)
    return array


def _plain(values: Any) -> Any:
    if isinstance(values, (list, tuple)):
        return [_plain(v) for v in values]
    if isinstance(values, tensor_shape.Dimension):
        return values.value
    return values


def _has_numpy(values: Any) -> bool:
    leaf = _first_leaf(values)
    return isinstance(leaf, (np.ndarray, np.generic))


def _refuse_ragged(values: Any, depth: int = 0) -> Any:
    if depth > 254:
        raise ValueError("Attempt to convert a value with more than 254 levels of nesting to a Tensor.")
    if not isinstance(values, (list, tuple)):
        return None
    shapes = {_freeze(_refuse_ragged(v, depth + 1)) if isinstance(v, (list, tuple)) else () for v in values}
    if len(shapes) > 1 and not any(hasattr(v, "shape") for v in values):
        raise ValueError("Can't convert non-rectangular Python sequence to Tensor.")
    return (len(values), *(next(iter(shapes)) if shapes else ()))


def _freeze(s: Any) -> Any:
    return tuple(s) if s is not None else ()


def _with_shape(array: np.ndarray, shape: Any) -> np.ndarray:
    want = 1
    for d in shape:
        want *= d
    if array.size == want:
        return array.reshape(shape)
    if array.size == 1 and want == 0:
        return np.empty(shape, dtype=array.dtype)
    if array.size == 0 and want:
        raise TypeError(f"Eager execution of tf.constant with unsupported shape. Tensor [] (converted from []) has 0 elements, but got `shape` {tuple(shape)} with {want} elements).")
    if array.size > want or array.size == 0:
        raise ValueError(f"Too many elements provided. Takes at most {want}, but got {array.size}.")
    flat = np.empty(want, dtype=array.dtype)  # the last value fills up
    flat[: array.size] = array.reshape(-1)
    flat[array.size :] = array.reshape(-1)[-1]
    return flat.reshape(shape)


constant_at_once: Any = None  # set by the eager package when it is loaded


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const", verify_shape: bool = False) -> Tensor:
    """A tensor of a Python value or array; `dtype` and `shape` convert it, a single value fills the shape."""
    if constant_at_once is not None and dispatch.executing_eagerly():
        return constant_at_once(value, dtype, shape)
    try:
        return _graph_constant(value, dtype, shape, name, verify_shape)
    except ValueError as e:
        if "is not a valid root scope name" in str(e):
            raise ValueError(f"`{name}` is not a valid node name. Accepted names conform to Regex /re.compile({_NODE_NAME!r})/") from None
        raise


_NODE_NAME = r"^[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*$"


def _graph_constant(value: Any, dtype: Any, shape: Any, name: str, verify_shape: bool) -> Any:
    if shape is None and type(value) in _NUMBERS:
        made = _core.number(ops.get_default_graph(), value, 0 if dtype is None else dtypes.as_dtype(dtype)._enum, name or "Const")
        if made is not None:
            return made
    if isinstance(value, ops.SymbolicTensor):
        raise TypeError(f"Expected any non-tensor type, but got a tensor instead: {value!r}")
    array = _graph_array(value, dtype, shape if not verify_shape else None)
    if verify_shape and shape is not None and tuple(array.shape) != tuple(tensor_shape.as_shape(shape).as_list()):
        raise TypeError(f"Expected Tensor's shape: {tuple(tensor_shape.as_shape(shape).as_list())}, but got {array.shape}.")
    return _const(array, dtype, name)


def _graph_array(value: Any, dtype: Any, shape: Any = None) -> np.ndarray:
    """make_array; what is refused, in the words TensorFlow has for graphs."""
    try:
        return make_array(value, dtype, shape)
    except ValueError as e:
        if str(e).startswith("Can't convert non-rectangular"):
            np.array(_plain(value), dtype=None if dtype is None else dtypes.as_dtype(dtype).as_numpy_dtype)  # says where
        if str(e).startswith("Attempt to convert a value (") and not isinstance(value, (list, tuple)):
            raise TypeError(f"Failed to convert elements of {value} to Tensor. Consider casting elements to a supported type.") from None
        raise


def _const(array: np.ndarray, dtype: Any, name: str | None) -> Any:
    d = dtypes.as_dtype(array.dtype) if dtype is None else dtypes.as_dtype(dtype).base_dtype
    op = ops.get_default_graph()._add("Const", [], {"dtype": d.as_datatype_enum, "value": array}, name or "Const")
    return op.outputs[0]


_converters: list[tuple[int, Any, Any]] = []


def register_tensor_conversion_function(base_type: Any, conversion_func: Any, priority: int = 100) -> None:
    """Has objects of a type converted by `conversion_func(value, dtype, name, as_ref)` wherever a tensor is wanted; lower
    priorities are asked first."""
    _converters.append((priority, base_type, conversion_func))
    _converters.sort(key=lambda c: c[0])


def convert_to_tensor(value: Any, dtype: Any = None, name: str | None = None, preferred_dtype: Any = None, as_ref: bool = False) -> Any:
    if type(value) is _Symbolic and dtype is None:
        return value
    if hasattr(value, "_numpy_of_eager") and ops._default_graphs.stack:
        graph = ops._default_graphs.stack[-1]
        # A value from outside becomes a constant of the graph, or an input of the function.
        value = graph.inside(value) if graph._captures else value._numpy_of_eager()
    if isinstance(value, ops.Tensor):
        if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(value.dtype.base_dtype):
            raise ValueError(f"Tensor conversion requested dtype {dtypes.as_dtype(dtype).name} for Tensor with dtype {value.dtype.name}: {value!r}")
        return value
    if dispatch.execute_eagerly is not None and dispatch.executing_eagerly():
        from emplace.eager import tensor as eager_tensor

        return eager_tensor.convert_to_tensor(value, dtype, name, preferred_dtype)
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype)
    if type(value) in _NUMBERS:
        wanted = dtype or preferred_dtype
        made = _core.number(ops.get_default_graph(), value, 0 if wanted is None else dtypes.as_dtype(wanted)._enum, name or "Const")
        if made is not None:
            return made
    if hasattr(value, "_dense_var_to_tensor"):
        made = value._dense_var_to_tensor(dtype, name, as_ref)
        around = ops._default_graphs.stack
        return around[-1].inside(made) if around and around[-1]._captures else made
    if hasattr(value, "__tf_tensor__"):
        return value.__tf_tensor__(dtype, name)
    if isinstance(value, ops.IndexedSlices):
        from emplace.framework import indexed_slices

        return indexed_slices.to_tensor(value, dtype, name)
    for _, base, function in _converters:
        if isinstance(value, base):
            result = function(value, dtype=dtype, name=name, as_ref=as_ref)
            if result is not NotImplemented:
                return result
    if isinstance(value, (list, tuple)):
        _refuse_deep(value)
        if _contains_tensor(value):
            return _pack(value, dtype, name)
    if hasattr(value, "_numpy_of_eager"):
        value = value._numpy_of_eager()
    if dtype is None and preferred_dtype is not None:
        try:
            return _const(_graph_array(value, preferred_dtype), preferred_dtype, name)
        except (TypeError, ValueError, OverflowError):
            pass
    return _const(_graph_array(value, dtype), dtype, name)


def _contains_tensor(values: Any) -> bool:
    for v in values:
        if isinstance(v, (list, tuple)):
            if _contains_tensor(v):
                return True
        elif isinstance(v, ops.Tensor) or hasattr(v, "_dense_var_to_tensor"):
            return True
    return False


def _first_dtype(values: Any) -> Any:
    for v in values:
        if isinstance(v, (list, tuple)):
            found = _first_dtype(v)
            if found is not None:
                return found
        elif isinstance(v, ops.Tensor) or hasattr(v, "_dense_var_to_tensor"):
            return v.dtype.base_dtype
    return None


def _cast_all(values: Any, dtype: Any) -> Any:
    from emplace.framework import gen

    if isinstance(values, (list, tuple)):
        return [_cast_all(v, dtype) for v in values]
    different = isinstance(values, ops.Tensor) and values.dtype.base_dtype != dtype
    return gen.apply("Cast", [values], {"DstT": dtype}) if different else values


def _pack(values: Any, dtype: Any, name: str | None) -> Any:
    from emplace.framework import gen

    first = _first_dtype(values)
    if dtype is not None and dtype != first:
        values = _cast_all(values, dtype)
    dtype = dtype or first
    graph = ops.get_default_graph()
    with graph.name_scope(name or "packed") as scope:
        items = list(values)
        for i, v in enumerate(items):
            if not isinstance(v, (list, tuple)):
                continue
            if _contains_tensor(v):
                items[i] = _pack(v, dtype, str(i))
            else:
                graph.unique_name(str(i))  # TensorFlow has opened its scope by now
        for i, v in enumerate(items):
            if isinstance(v, ops.Tensor) and v.dtype.base_dtype != dtype:
                raise TypeError(f"Cannot convert a list containing a tensor of dtype {v.dtype} to {dtype} (Tensor is: {v!r})")
            items[i] = convert_to_tensor(v, dtype, str(i))
        return gen.apply("Pack", [items], {"axis": 0}, scope)


def constant_value(tensor: Any) -> Any:
    if not isinstance(tensor, ops.Tensor):
        return getattr(tensor, "_numpy_of_eager", lambda: tensor)()
    op = tensor.op
    if op.type == "Const":
        return op._node.attr("value")
    if op.type in ("Shape", "Size"):
        s = op.inputs[0].shape
        known = s.as_list() if s.is_fully_defined() else None
        if known is not None and op.type == "Size":
            known = s.num_elements()
        # What int32 does not hold is said where the operation runs.
        return None if known is None or np.max(known, initial=0) > tensor.dtype.max else np.array(known, dtype=tensor.dtype.as_numpy_dtype)
    if op.type == "Rank":
        r = op.inputs[0].shape.rank
        return None if r is None else np.array(r, dtype=np.int32)
    if op.type == "Identity":
        return constant_value(op.inputs[0]) if not op.inputs[0].dtype._is_ref_dtype else None
    if op.type == "Cast":
        v = constant_value(op.inputs[0])
        return None if v is None else np.asarray(v).astype(tensor.dtype.as_numpy_dtype)
    if op.type == "Pack":
        parts = [constant_value(t) for t in op.inputs]
        return None if any(p is None for p in parts) else np.array(parts)
    if op.type == "ConcatV2":
        parts = [constant_value(t) for t in op.inputs]
        return None if any(p is None for p in parts) else np.concatenate(parts[:-1], axis=int(parts[-1]))
    return None


def shape_of(shape: Any) -> list[int] | None:
    """A shape given as Python numbers; None when it is not fully known."""
    if isinstance(shape, tensor_shape.TensorShape):
        return shape.as_list() if shape.is_fully_defined() else None  # type: ignore[return-value]
    if isinstance(shape, np.ndarray):
        shape = shape.astype(np.int64).tolist() if shape.dtype.kind == "f" else shape.tolist()
    if isinstance(shape, int):
        return [shape]
    if any(ops.is_tensor(d) for d in shape):
        return None
    return [operator.index(d) for d in shape]


def shape_tensor(shape: Any) -> Any:
    """A shape as a tensor of int32, or int64 where a size needs it."""
    dtype = None
    if isinstance(shape, (tuple, list)):
        if not shape:
            dtype = dtypes.int32
        else:
            shape = tuple(map(tensor_shape.dimension_value, shape))
    return convert_to_tensor(shape, dtype, "shape")


def fill(value: Any, dtype: dtypes.DType, shape: list[int], name: str) -> Any:
    return constant(value, dtype=dtype, shape=shape, name=name)
