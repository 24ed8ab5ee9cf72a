"""One function for every operation of the catalogue, made from its definition when first asked for."""

from __future__ import annotations

import collections
import inspect
import keyword
import re
from typing import Any

from emplace import _core
from emplace.framework import constant_op, dispatch, dtypes, index_values, op_docs, ops

_Tensor = ops.Tensor


class _Arg:
    __slots__ = ("name", "type", "type_attr", "number_attr", "type_list_attr", "is_ref", "is_list", "is_index")

    def __init__(self, a: Any) -> None:
        self.name = a.name
        self.type = dtypes.as_dtype(a.type) if a.type else None
        self.type_attr = a.type_attr
        self.number_attr = a.number_attr
        self.type_list_attr = a.type_list_attr
        self.is_ref = a.is_ref
        self.is_list = bool(a.number_attr or a.type_list_attr)
        self.is_index = False  # sizes, axes, places


class Definition:
    """A definition laid out for quick calls."""

    def __init__(self, op_def: Any) -> None:
        self.name: str = op_def.name
        self.doc: str = op_def.doc
        self.stateful: bool = op_def.stateful
        self.inputs = [_Arg(a) for a in op_def.inputs]
        self.outputs = [_Arg(a) for a in op_def.outputs]
        self.attrs = list(op_def.attrs)
        self.attr_types = {a.name: a.type for a in self.attrs}
        self.allowed = {a.name: list(a.allowed_types) for a in self.attrs if a.allowed_types}
        for a in self.inputs:
            types = self.allowed.get(a.type_attr) if a.type_attr else a.type and [a.type._enum]
            a.is_index = bool(types) and index_values.TYPES.issuperset(types)
        self.minimum = {a.name: a.minimum for a in self.attrs if getattr(a, "minimum", None) is not None}
        self.limited = [(a, frozenset(self.allowed[a.type_attr])) if a.type_attr in self.allowed else None for a in self.inputs]
        self.default_types = {
            a.name: dtypes.as_dtype(a.default) for a in self.attrs if a.type == "type" and a.has_default
        }
        inferred = {a.type_attr for a in self.inputs} | {a.number_attr for a in self.inputs}
        inferred |= {a.type_list_attr for a in self.inputs}
        self.inferred = inferred - {""}
        self.explicit = [a for a in self.attrs if a.name not in self.inferred]
        self.list_outputs = any(a.is_list for a in self.outputs)
        self.list_inputs = any(a.is_list for a in self.inputs)
        self.result: Any = None
        if len(self.outputs) > 1:
            fields = [a.name + "_" if keyword.iskeyword(a.name) else a.name for a in self.outputs]
            self.result = collections.namedtuple(self.name, fields)  # type: ignore[misc]


_definitions: dict[str, Definition] = {}


def definition(name: str) -> Definition:
    found = _definitions.get(name)
    if found is None:
        op_def = _core.find_op(name)
        if op_def is None:
            raise RuntimeError(f"Unrecognized Op name {name}")
        found = _definitions[name] = Definition(op_def)
    return found


class Outputs(tuple):
    """`Outputs["Unique"]`: the class of what an operation with several outputs gives, in annotations."""

    def __class_getitem__(cls, name: str) -> Any:
        return definition(name).result


# apply(op_type, inputs, attrs=None, name=None): adds an operation to the graph of its inputs; one
# value an argument, lists for lists. Tensors of one graph go straight to the engine.
apply = _core.apply


def _apply_long(op_type: str, inputs: Any, attrs: dict[str, Any] | None, name: str | None) -> Any:
    """`apply` where values are to be converted, or what is wrong to be said."""
    d = _definitions.get(op_type) or definition(op_type)
    attrs = {} if attrs is None else attrs
    if ops._default_graphs.stack and ops._default_graphs.stack[-1]._captures:
        inputs = _inside(ops._default_graphs.stack[-1], inputs)
    elif not ops._default_graphs.stack:
        for v in flat(inputs):
            if type(v) is ops.SymbolicTensor and v.graph._captures:
                raise TypeError(ops.out_of_scope(v))
    if not inputs or d.list_inputs or any(type(v) is not ops.SymbolicTensor for v in inputs):
        return _apply_other(d, inputs, attrs, name)
    graph = inputs[0].graph
    _check_same_graph(graph, inputs)
    _check_types(d, inputs)
    return _outputs(d, graph._add(op_type, list(inputs), attrs, name))


def _inside(graph: Any, inputs: Any) -> list[Any]:
    """Tensors from outside a function come in as what stands for them."""
    return [[graph.inside(v) for v in x] if isinstance(x, (list, tuple)) else graph.inside(x) for x in inputs]


def _apply_other(d: Definition, inputs: Any, attrs: dict[str, Any], name: str | None) -> Any:
    if dispatch.runs_eagerly is not None and dispatch.runs_eagerly(inputs):
        return dispatch.execute_eagerly(d.name, inputs, attrs, name)
    if inputs:
        return _apply_converting(d, inputs, attrs, name)
    return _outputs(d, ops.get_default_graph()._add(d.name, [], attrs, name))


def _check_same_graph(graph: Any, tensors: Any) -> None:
    for t in tensors:
        if t.graph is not graph:
            raise ValueError(f"{t} must be from the same graph as {tensors[0]} (graphs are {t.graph} and {graph}).")


def _check_types(d: Definition, tensors: Any) -> None:
    seen: dict[str, Any] = {}
    for arg, limited, t in zip(d.inputs, d.limited, tensors):
        base = t._dtype.base_dtype
        if arg.type_attr:
            first = seen.get(arg.type_attr)
            if first is None:
                first = seen[arg.type_attr] = (base, arg.name)
                if limited is not None and base._enum not in limited[1]:
                    _check_allowed(d, arg, base)
            if first[0] is not base:
                raise TypeError(
                    f"Input '{arg.name}' of '{d.name}' Op has type {base.name} that does not match "
                    f"type {first[0].name} of argument '{first[1]}'."
                )
        elif arg.type is not None and arg.type is not base:
            raise TypeError(
                f"Input '{arg.name}' of '{d.name}' Op has type {base.name} that does not match expected type of {arg.type.name}."
            )


def _apply_converting(d: Definition, inputs: Any, attrs: dict[str, Any], name: str | None) -> Any:
    graph = ops.graph_of(flat(inputs))
    with graph.as_default():
        scope = graph.name_scope(name if name else d.name)
        full = scope.__enter__()
        try:
            outs, attrs = _convert(d, inputs, dict(attrs))
        finally:
            scope.__exit__(None, None, None)
        op = graph._add(d.name, outs, attrs, full)
    return _outputs(d, op)


def flat(inputs: Any) -> Any:
    for v in inputs:
        if isinstance(v, (list, tuple)):
            yield from v
        else:
            yield v


def _convert(d: Definition, inputs: Any, attrs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    known: dict[str, Any] = {}  # type attribute -> (dtype, argument that fixed it)
    for attr, kind in d.attr_types.items():
        if kind == "type" and attr in attrs and attrs[attr] is not None:
            attrs[attr] = dtypes.as_dtype(attrs[attr])
            known[attr] = (attrs[attr], None)
    known.update((attr, (dtypes.int64, None)) for attr in index_values.wide_attrs(d, inputs, known))
    outs: list[Any] = []
    for arg, value in zip(d.inputs, inputs):
        if arg.is_list:
            _convert_list(d, arg, value, known, attrs, outs)
            continue
        dtype = known[arg.type_attr][0] if arg.type_attr in known else arg.type
        t = _convert_one(d, arg, value, dtype, None, known)
        if dtype is None and isinstance(value, (list, tuple)) and not len(value) and arg.type_attr in d.default_types:
            if t.dtype.as_datatype_enum not in d.allowed.get(arg.type_attr, (t.dtype.as_datatype_enum,)):
                t = _convert_one(d, arg, value, None, d.default_types[arg.type_attr], known)
        if arg.type_attr and arg.type_attr not in known:
            known[arg.type_attr] = (t.dtype.base_dtype, arg.name)
            _check_allowed(d, arg, t.dtype.base_dtype)
        outs.append(t)
    return outs, attrs


def _check_allowed(d: Definition, arg: _Arg, dtype: dtypes.DType) -> None:
    allowed = d.allowed.get(arg.type_attr)
    if allowed and dtype.as_datatype_enum not in allowed:
        names = ", ".join(dtypes.as_dtype(a).name for a in allowed)
        raise TypeError(f"Value passed to parameter '{arg.name}' has DataType {dtype.name} not in list of allowed values: {names}")


def _convert_one(d: Definition, arg: _Arg, value: Any, dtype: Any, preferred: Any, known: Any) -> Any:
    try:
        if arg.is_index and dtype is not None:
            index_values.check(value, dtype)
        t = constant_op.convert_to_tensor(value, None if isinstance(value, _Tensor) else dtype, arg.name, preferred, arg.is_ref)
    except (TypeError, ValueError) as e:
        if dtype is None and value is None:
            raise ValueError(f"Tried to convert '{arg.name}' to a tensor and failed. Error: {e}") from None
        if dtype is None or isinstance(value, _Tensor) or hasattr(value, "_rebuilt"):
            raise
        where = known.get(arg.type_attr)
        if isinstance(e, TypeError) and not arg.is_ref:
            raise TypeError(f"Expected {dtype.name} passed to parameter '{arg.name}' of op '{d.name}', got {value!r} of type '{type(value).__name__}' instead. Error: {e}") from None
        try:
            found = constant_op.convert_to_tensor(value, as_ref=arg.is_ref).dtype.name
        except (TypeError, ValueError):
            raise TypeError(f"Expected {dtype.name} passed to parameter '{arg.name}' of op '{d.name}', got {value!r} of type '{type(value).__name__}' instead. Error: {e}") from None
        if where and where[1] and not d.inputs[0].is_ref:
            raise TypeError(f"Input '{arg.name}' of '{d.name}' Op has type {found} that does not match type {dtype.name} of argument '{where[1]}'.") from None
        raise TypeError(f"Expected {dtype.name} passed to parameter '{arg.name}' of op '{d.name}', got {value!r} of type '{type(value).__name__}' instead. Error: {e}") from None
    if dtype is not None and t.dtype.base_dtype is not dtype.base_dtype:
        where = known.get(arg.type_attr)
        tail = f"type {dtype.name} of argument '{where[1]}'." if where and where[1] else f"expected type of {dtype.name}."
        raise TypeError(f"Input '{arg.name}' of '{d.name}' Op has type {t.dtype.base_dtype.name} that does not match {tail}")
    if arg.is_ref and not t.dtype._is_ref_dtype:
        raise TypeError(f"'{d.name}' Op requires that input '{arg.name}' be a mutable tensor (e.g.: a tf.Variable)")
    return t


def _convert_list(d: Definition, arg: _Arg, values: Any, known: Any, attrs: dict[str, Any], outs: list[Any]) -> None:
    if not isinstance(values, (list, tuple)):
        raise TypeError(f"Expected list for '{arg.name}' argument to '{d.name}' Op, not {values}.")
    dtype = arg.type
    if arg.type_attr and arg.type_attr in known:
        dtype = known[arg.type_attr][0]
    elif arg.type_attr:
        for v in values:  # a tensor among plain values decides for all
            if isinstance(v, _Tensor) or hasattr(v, "_as_graph_element"):
                dtype = v.dtype.base_dtype
                break
    least = d.minimum.get(arg.number_attr or arg.type_list_attr)
    if least is not None and len(values) < least:
        raise ValueError(f"List argument '{arg.name}' to '{d.name}' Op with length {len(values)} shorter than minimum length {least}.")
    types = []
    for i, v in enumerate(values):
        if arg.is_index and dtype is not None:
            index_values.check(v, dtype)
        t = constant_op.convert_to_tensor(v, None if isinstance(v, _Tensor) else dtype, f"{arg.name}_{i}", as_ref=arg.is_ref)
        base = t.dtype.base_dtype
        if not arg.type_list_attr:
            if dtype is None:
                dtype = base
            elif base is not dtype.base_dtype:
                kinds = ", ".join(
                    (x.dtype.base_dtype.name if isinstance(x, _Tensor) else "<NOT CONVERTIBLE TO TENSOR>" if x is None else constant_op.convert_to_tensor(x).dtype.name)
                    for x in values
                )
                raise TypeError(f"Tensors in list passed to '{arg.name}' of '{d.name}' Op have types [{kinds}] that don't all match.")
        types.append(base)
        outs.append(t)
    if arg.type_list_attr:
        attrs[arg.type_list_attr] = types
    else:
        attrs[arg.number_attr] = len(values)
        if arg.type_attr and dtype is not None:
            known.setdefault(arg.type_attr, (dtype.base_dtype, arg.name))
            attrs.setdefault(arg.type_attr, dtype.base_dtype)


def _outputs(d: Definition, op: Any) -> Any:
    if d.list_outputs:
        return _list_outputs(d, op)
    n = len(d.outputs)
    if n == 1:
        return op.outputs[0]
    if n == 0:
        return op
    return d.result(*op.outputs)


def _list_outputs(d: Definition, op: Any) -> Any:
    outputs = list(op.outputs)
    fields: list[Any] = []
    for arg in d.outputs:
        if not arg.is_list:
            fields.append(outputs.pop(0))
            continue
        count = op.get_attr(arg.number_attr) if arg.number_attr else len(op.get_attr(arg.type_list_attr))
        fields.append(outputs[:count])
        del outputs[:count]
    if len(fields) == 1:
        return fields[0] if fields[0] else op
    return d.result(*fields)


_core.set_long_way(_apply_long, lambda op_type, op: _outputs(definition(op_type), op))


def _plain_default(attr: Any) -> Any:
    v = attr.default
    if isinstance(v, bytes):
        return v.decode("utf-8", "replace")
    if attr.type == "type":
        return dtypes.as_dtype(v)
    if attr.type == "list(type)":
        return [dtypes.as_dtype(t) for t in v]
    if isinstance(v, list):
        return [x.decode() if isinstance(x, bytes) else x for x in v]
    return v


def signature(d: Definition) -> tuple[list[str], dict[str, Any]]:
    """Parameter names in TensorFlow's order (inputs, required attributes, optional ones), defaults."""
    names = [a.name for a in d.inputs]
    required = [a.name for a in d.explicit if not a.has_default]
    optional = {a.name: _plain_default(a) for a in d.explicit if a.has_default}
    return names + required + list(optional), optional


def call(d: Definition, values: dict[str, Any], name: str | None) -> Any:
    inputs = [values[a.name] for a in d.inputs]
    attrs = {a.name: values[a.name] for a in d.explicit if a.name in values and values[a.name] is not None}
    return apply(d.name, inputs, attrs, name)


_SOURCE = """def {function}({parameters}):
    {attributes}
    return apply({op!r}, ({inputs}), attrs, name)
"""


def _source(d: Definition, function: str) -> tuple[str, dict[str, Any]]:
    """The text of a wrapper, and what its names stand for."""
    names, optional = signature(d)
    safe = {n: n + "_" if keyword.iskeyword(n) else n for n in names}
    defaults = {f"default_{safe[n]}": v for n, v in optional.items()}
    parameters = [safe[n] if n not in optional else f"{safe[n]}=default_{safe[n]}" for n in names] + ["name=None"]
    attributes = "attrs = None"
    if d.explicit:
        items = ", ".join(f"{a.name!r}: {safe[a.name]}" for a in d.explicit)
        attributes = f"attrs = {{k: v for k, v in {{{items}}}.items() if v is not None}}"
    inputs = "".join(safe[a.name] + ", " for a in d.inputs)
    text = _SOURCE.format(function=function, parameters=", ".join(parameters), attributes=attributes, op=d.name, inputs=inputs)
    return text, {"apply": apply, **defaults}


def make_function(op_name: str, python_name: str | None = None) -> Any:
    """A Python function for the op, named as TensorFlow names it."""
    d = definition(op_name)
    name = python_name or snake_case(op_name)
    plain = re.sub(r"\W", "_", name)
    plain += "_" if keyword.iskeyword(plain) else ""
    text, scope = _source(d, plain)
    exec(compile(text, __file__.replace("gen.py", f"gen/{op_name}"), "exec"), scope)
    function = scope[plain]
    function.__name__ = function.__qualname__ = name
    function.__doc__, function.__module__ = op_docs.described(d), __name__
    if len(d.outputs) == 1 and not d.list_outputs:
        function.__annotations__["return"] = "Tensor"
    elif d.result:
        function.__annotations__["return"] = d.result
    return function


_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def snake_case(op_name: str) -> str:
    return _CAMEL.sub("_", op_name).lower()


# Arguments that TensorFlow's Python calls otherwise than the definition does.
_RAW_NAMES: dict[str, dict[str, str]] = {
    **{op: {"axis": "reduction_indices"} for op in ("All", "Any", "EuclideanNorm", "Max", "Mean", "Min", "Prod", "Sum")},
    "ExpandDims": {"axis": "dim"}, "Select": {"x": "t", "y": "e"}, "Split": {"axis": "split_dim"}, "SplitV": {"axis": "split_dim"},
    "Squeeze": {"axis": "squeeze_dims"}, "Where": {"condition": "input"},
}  # fmt: skip


def _by_name(signature: inspect.Signature, renamed: dict[str, str]) -> inspect.Signature:
    """All parameters by keyword, under the names that `raw_ops` takes."""
    names = {inner: outer for outer, inner in renamed.items()}
    return signature.replace(parameters=[
        p.replace(kind=p.KEYWORD_ONLY, name=names.get(p.name, p.name)) for p in signature.parameters.values()
    ])


class _RawOps:
    """`tf.raw_ops.MatMul(a=…, b=…)`."""

    def __getattr__(self, op_name: str) -> Any:
        if op_name.startswith("__") or _core.find_op(op_name) is None:
            raise AttributeError(f"module 'tensorflow.raw_ops' has no attribute '{op_name}'")
        inner = make_function(op_name, op_name)
        renamed = _RAW_NAMES.get(op_name, {})

        def raw(*args: Any, **kwargs: Any) -> Any:
            if args:
                raise TypeError(f"{op_name} only takes keyword args (possible keys: {signature(definition(op_name))[0] + ['name']}). Please pass these args as kwargs instead.")
            return inner(**{renamed.get(k, k): v for k, v in kwargs.items()})

        raw.__name__ = raw.__qualname__ = op_name
        raw.__doc__, raw.__module__ = op_docs.described(definition(op_name), {v: k for k, v in renamed.items()}), __name__
        raw.__annotations__["return"] = inner.__annotations__.get("return", "Any")
        raw.__signature__ = _by_name(inspect.signature(inner), renamed)  # type: ignore[attr-defined]
        setattr(self, op_name, raw)
        return raw

    def __dir__(self) -> list[str]:
        return list(_core.op_names())


raw_ops = _RawOps()


def has(op_name: str) -> bool:
    return op_name in _definitions or _core.find_op(op_name) is not None
