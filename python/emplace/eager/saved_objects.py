"""The graph of objects in a SavedModel: what `tf.saved_model.load`, ours or TensorFlow's, makes again."""

from __future__ import annotations

import collections
from typing import Any

from emplace.eager import checkpoint, func_graph, function, nest, tensor_spec
from emplace.eager.func_graph import Body
from emplace.eager.structured_values import encoded
from emplace.framework import constant_op, dtypes, gen, lookup_ops

FullArgSpec = collections.namedtuple("FullArgSpec", "args varargs varkw defaults kwonlyargs kwonlydefaults annotations")
_VALUE = "VARIABLE_VALUE"


def functions_of(obj: Any) -> dict[str, function.Function]:
    """The `tf.function`s that an object has, by name: its class's and its own."""
    names = [n for n in dir(type(obj)) if isinstance(getattr(type(obj), n, None), function.Function)]
    found = {n: getattr(obj, n) for n in names}
    own = getattr(obj, "__dict__", {})
    found.update((n, f) for n, f in own.items() if isinstance(f, function.Function) and not n.startswith("_tf_function_"))
    return found


class TableContents:
    """A table as it can be made again, by eager functions and in graphs: what it holds now."""

    def __init__(self, table: Any) -> None:
        from emplace.eager import context

        with context.eager_mode():
            attrs = {"Tkeys": table.key_dtype, "Tvalues": table.value_dtype}
            self.keys, self.values = (t.numpy() for t in gen.apply("LookupTableExportV2", [table.resource_handle], attrs))
        self.key_dtype, self.value_dtype = table.key_dtype, table.value_dtype
        self._name = f"saved_table_{func_graph.number()}_{id(table)}"

    def make(self) -> Any:
        attrs = {"key_dtype": self.key_dtype, "value_dtype": self.value_dtype, "shared_name": self._name}
        return gen.apply("MutableHashTableV2", [], attrs)

    def fill(self, handle: Any) -> Any:
        keys, values = constant_op.constant(self.keys, self.key_dtype), constant_op.constant(self.values, self.value_dtype)
        return gen.apply("LookupTableImportV2", [handle, keys, values], {})


def is_table(obj: Any) -> bool:
    return isinstance(obj, lookup_ops.LookupInterface) and obj.resource_handle is not None and obj._value_shape is not None


class Writer:
    """Numbers the objects below a root and describes them; functions go into the library of `graph`."""

    def __init__(self, graph: Any, variable_keys: Any) -> None:
        from emplace.proto import saved_model_pb2

        self._graph = graph
        self._keys = variable_keys  # (handle, variable) -> its name in the checkpoint
        self.saved = saved_model_pb2.SavedObjectGraph()
        self.tracked = saved_model_pb2.TrackableObjectGraph()
        self._numbers: dict[int, int] = {}
        self._kept: list[Any] = []  # ids stay theirs

    def add_root(self, root: Any, signatures: dict[str, Any], traced: Any = ()) -> None:
        """`traced`: the signatures that were given as concrete functions."""
        number = self._object(root)
        self._add_signatures(number, signatures, traced)

    def _node(self, obj: Any) -> tuple[int, Any]:
        number = self._numbers[id(obj)] = len(self.saved.nodes)
        self._kept.append(obj)
        self.tracked.nodes.add()
        return number, self.saved.nodes.add()

    def _child(self, parent: int, name: str, child: int) -> None:
        self.saved.nodes[parent].children.add(node_id=child, local_name=name)
        self.tracked.nodes[parent].children.add(node_id=child, local_name=name)

    def _object(self, obj: Any) -> int:
        if id(obj) in self._numbers:
            return self._numbers[id(obj)]
        if (variable := checkpoint.variable_of(obj)) is not None:
            number = self._numbers[id(obj)] = self._object(variable) if variable is not obj else self._variable(obj)
            self._kept.append(obj)
            return number
        if is_table(obj):
            return self._table(obj)
        number, node = self._node(obj)
        node.user_object.identifier = (
            "trackable_list_wrapper" if isinstance(obj, list) else "trackable_tuple_wrapper" if isinstance(obj, tuple)
            else "trackable_dict_wrapper" if isinstance(obj, dict) else "_generic_user_object"
        )  # fmt: skip
        node.user_object.version.producer = node.user_object.version.min_consumer = 1
        for name, child in checkpoint.children(obj, "savedmodel"):
            if not isinstance(child, (function.Function, function.ConcreteFunction)):
                self._child(number, name, self._object(child))
        for name, f in functions_of(obj).items():
            made = self._function(f)
            if made is not None:
                self._child(number, name, made)
        return number

    def _variable(self, v: Any) -> int:
        number, node = self._node(v)
        self._numbers[id(v._handle)] = number
        node.variable.dtype, node.variable.trainable, node.variable.name = v.dtype.as_datatype_enum, v.trainable, v._shared_name
        node.variable.shape.CopyFrom(v.shape.as_proto())
        self.tracked.nodes[number].attributes.add(name=_VALUE, full_name=v._shared_name, checkpoint_key=self._keys(v._handle, v))
        self.tracked.nodes[number].has_checkpoint_values.value = True
        return number

    def _table(self, table: Any) -> int:
        if id(table) in self._numbers:
            return self._numbers[id(table)]
        number, node = self._node(table)
        self._numbers[id(table.resource_handle)] = number
        node.resource.SetInParent()
        contents, handle = TableContents(table), table.resource_handle

        def fill() -> Any:
            contents.fill(handle)
            return constant_op.constant(1)

        made = {"_create_resource": contents.make, "_initialize": fill, "_destroy_resource": lambda: constant_op.constant(1)}
        for name, python in made.items():
            f = function.Function(python, (), False, False)
            self._kept.append(f)
            self._child(number, name, self._function(f))  # type: ignore[arg-type]
        return number

    # ---- Functions.

    def _function(self, f: function.Function) -> int | None:
        if id(f) in self._numbers:
            return self._numbers[id(f)]
        if not f._traces and f.input_signature is not None:
            f.get_concrete_function()
        names = [n for n in (self._concrete(c) for c in f._traces.values()) if n is not None]
        if f._traces and not names:
            return None  # nobody could call it
        number, node = self._node(f)
        node.function.concrete_functions.extend(names)
        encoded(_argument_spec(f), node.function.function_spec.fullargspec)
        encoded(f.input_signature, node.function.function_spec.input_signature)
        return number

    def _concrete(self, c: Any) -> str | None:
        try:
            args, kwargs = c.structured_input_signature
            self._define(c._name, c, c._arguments, c.graph.outputs, (tuple(args), kwargs), _specs(c._structure))
        except NotImplementedError:
            return None
        return c._name

    def _define(self, name: str, c: Any, arguments: list[Any], outputs: list[Any], signature: Any, structure: Any) -> None:
        from emplace.proto import saved_model_pb2

        made = saved_model_pb2.SavedConcreteFunction()
        encoded(signature, made.canonicalized_input_signature)
        encoded(structure, made.output_signature)
        owners = {id(v._handle): v for v in c.variables}
        made.bound_inputs.extend(self._bound(outside, owners) for outside, _ in c.graph.captures)
        body = Body(c.graph, [*arguments, *(inside for _, inside in c.graph.captures)], outputs)
        func_graph.define_in(self._graph, name, body)
        self.saved.concrete_functions[name].CopyFrom(made)

    def _bound(self, outside: Any, owners: dict[int, Any]) -> int:
        if id(outside) in self._numbers:
            return self._numbers[id(outside)]
        if id(outside) in owners:
            return self._untracked(owners[id(outside)])
        if outside.dtype in (dtypes.resource, dtypes.variant):
            raise NotImplementedError("a function that uses a resource that is no variable")
        with self._graph.as_default():
            constant = constant_op.constant(outside.numpy(), outside.dtype)
        number, node = self._node(outside)
        node.constant.operation = constant.op.name
        return number

    def _untracked(self, v: Any) -> int:
        """A variable that a function found elsewhere: the root keeps it."""
        number = self._object(v)
        self._child(0, f"_captured_{number}", number)
        return number

    # ---- Signatures.

    def _add_signatures(self, root: int, signatures: dict[str, Any], traced: Any) -> None:
        number, node = self._node(signatures)
        node.user_object.identifier = "signature_map"
        node.user_object.version.producer = node.user_object.version.min_consumer = 1
        self._child(root, "signatures", number)
        for key, c in signatures.items():
            made = self._signature(c, "" if key in traced else f"_{c.graph.name}")
            if made is not None:
                self._child(number, key, made)

    def _signature(self, c: Any, of: str) -> int | None:
        given = sorted(((p.op.name, p) for p in c._arguments), key=lambda pair: pair[0])
        results = iter(c.graph.outputs)
        structure = nest.map_structure(lambda leaf: None if leaf is None else next(results), c._structure)
        if not isinstance(structure, dict):
            structure = {f"output_{i}": r for i, r in enumerate(nest.flatten(structure)) if r is not None}
        name = f"__inference_signature_wrapper{of}_{func_graph.number()}"
        specs = {n: tensor_spec.TensorSpec(p.shape, p.dtype, n) for n, p in given}
        outputs = {k: tensor_spec.TensorSpec(r.shape, r.dtype, k) for k, r in structure.items()}
        try:
            self._define(name, c, [p for _, p in given], [structure[k] for k in sorted(structure)], ((), specs), outputs)
        except NotImplementedError:
            return None
        number, node = self._node(object())
        node.bare_concrete_function.concrete_function_name = name
        node.bare_concrete_function.argument_keywords.extend(n for n, _ in given)
        node.bare_concrete_function.allowed_positional_arguments = min(len(given), 1)
        return number


def _specs(structure: Any) -> Any:
    def spec(leaf: Any) -> Any:
        return None if leaf is None else tensor_spec.TensorSpec(leaf.shape, leaf.dtype)

    return nest.map_structure(spec, structure)


def _argument_spec(f: function.Function) -> FullArgSpec:
    """The names and defaults of its arguments, as a method has them once it is bound."""
    positional, defaults, keyword_only, keyword_defaults = [], [], [], {}
    varargs = varkw = None
    for p in f._spec.parameters.values():
        if p.kind is p.VAR_POSITIONAL:
            varargs = p.name
        elif p.kind is p.VAR_KEYWORD:
            varkw = p.name
        elif p.kind is p.KEYWORD_ONLY:
            keyword_only.append(p.name)
            if p.default is not p.empty:
                keyword_defaults[p.name] = p.default
        else:
            positional.append(p.name)
            if p.default is not p.empty:
                defaults.append(p.default)
    return FullArgSpec(positional, varargs, varkw, tuple(defaults) or None, keyword_only, keyword_defaults or None, {})
