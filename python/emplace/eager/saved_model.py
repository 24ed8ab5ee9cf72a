"""`tf.saved_model`: models that were written earlier, by whomever, called by their signatures; and models
of our own, written."""

from __future__ import annotations

import os
from typing import Any, Iterator, Mapping

import numpy as np

from emplace.eager import context, tensor_spec
from emplace.framework import dtypes, ops, saved_model, saver, session, tensor_shape

_HIDDEN = (saved_model.INIT_OP_KEY, "__saved_model_train_op")


class _Model:
    """The graph of a SavedModel with its variables, shared by its signatures."""

    def __init__(self, export_dir: str, tags: Any) -> None:
        self.graph = ops.Graph()
        self.session = session.Session(graph=self.graph)
        self.meta = saved_model.load(self.session, tags, export_dir)


class Signature:
    """A function of a SavedModel: tensors by name in, a dictionary of tensors out."""

    def __init__(self, model: _Model, name: str, definition: Any) -> None:
        self._model, self.name = model, name
        self._inputs = {k: _spec(v, k) for k, v in sorted(definition.inputs.items())}
        self._feeds = {k: v.name for k, v in definition.inputs.items()}
        self._fetches = {k: v.name for k, v in sorted(definition.outputs.items())}
        self.structured_outputs = {k: _spec(v, k) for k, v in sorted(definition.outputs.items())}

    @property
    def structured_input_signature(self) -> tuple[tuple[()], dict[str, Any]]:
        return ((), dict(self._inputs))

    @property
    def graph(self) -> Any:
        return self._model.graph

    def __call__(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        if args:
            if len(args) > 1 or len(self._inputs) != 1 or kwargs:
                raise TypeError(f"Signature '{self.name}' takes its arguments by name: {', '.join(self._inputs)}")
            kwargs = {next(iter(self._inputs)): args[0]}
        missing, unknown = set(self._inputs) - set(kwargs), set(kwargs) - set(self._inputs)
        if missing or unknown:
            raise TypeError(
                f"Signature '{self.name}' missing required arguments: {', '.join(sorted(missing))}" if missing
                else f"Signature '{self.name}' got unexpected arguments: {', '.join(sorted(unknown))}"
            )
        feeds = {self._feeds[k]: _array(v, self._inputs[k]) for k, v in kwargs.items()}
        values = self._model.session.run(self._fetches, feeds)
        from emplace.eager import tensor

        return {k: tensor.constant(v) if not _is_text(v) else tensor.constant(v, dtypes.string) for k, v in values.items()}


def _is_text(value: Any) -> bool:
    return isinstance(value, bytes) or getattr(value, "dtype", None) == object


def _spec(info: Any, name: str) -> Any:
    return tensor_spec.TensorSpec(tensor_shape.TensorShape(info.tensor_shape), dtypes.as_dtype(info.dtype), name)


def _array(value: Any, spec: Any) -> Any:
    value = value.numpy() if hasattr(value, "numpy") else value
    return np.asarray(value, dtype=object if spec.dtype == dtypes.string else spec.dtype.as_numpy_dtype)


class _Signatures(Mapping[str, Signature]):
    def __init__(self, signatures: dict[str, Signature]) -> None:
        self._signatures = signatures

    def __getitem__(self, key: str) -> Signature:
        return self._signatures[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._signatures)

    def __len__(self) -> int:
        return len(self._signatures)

    def __repr__(self) -> str:
        return f"_SignatureMap({self._signatures})"


class Loaded:
    """What `load` returns: the signatures, and the graph below them."""

    def __init__(self, model: _Model) -> None:
        self._model = model
        self.signatures = _Signatures({n: Signature(model, n, s) for n, s in model.meta.signature_def.items() if n not in _HIDDEN})
        self.graph = model.graph
        self.tensorflow_version = model.meta.meta_info_def.tensorflow_version


def load(export_dir: Any, tags: Any = None, options: Any = None) -> Any:
    """Reads a SavedModel that TensorFlow, Keras or this library wrote: the object that was saved, with its functions,
    where it says what that was; else the graph's signatures."""
    export_dir = os.fspath(export_dir)
    message = saved_model.parse_saved_model(export_dir)
    if tags is None:
        if len(message.meta_graphs) != 1:
            raise ValueError(
                "Importing a SavedModel with `tf.saved_model.load` requires a `tags=` argument if there is more than one MetaGraph. Got "
                f"`tags=None`, but there are {len(message.meta_graphs)} MetaGraphs in the SavedModel with tag sets: "
                f"{[list(m.meta_info_def.tags) for m in message.meta_graphs]}. Pass a `tags=` argument to load this SavedModel."
            )
        tags = list(message.meta_graphs[0].meta_info_def.tags)
    tags = [tags] if isinstance(tags, str) else list(tags)
    meta = saved_model.chosen_meta_graph(message, tags)
    if meta.object_graph_def.nodes:
        from emplace.eager import restored

        with context.eager_mode():
            return restored.load(meta, export_dir)
    return Loaded(_Model(export_dir, tags))


contains_saved_model = saved_model.contains_saved_model


# ---- Writing: the functions as signatures of one graph, their variables as that graph's.


def save(obj: Any, export_dir: Any, signatures: Any = None, options: Any = None) -> None:
    """Writes the functions of a module with their variables, for anybody's `tf.saved_model.load`."""
    from emplace.eager import checkpoint, saved_objects

    if not hasattr(obj, "__dict__") or not checkpoint._is_trackable(obj):
        raise ValueError(
            "Expected an object of type `Trackable`, such as `tf.Module` or a subclass of the `Trackable` class, for export. "
            f"Got {obj} with type {type(obj)}."
        )
    chosen = _chosen(obj, signatures)
    graph = ops.Graph()
    with graph.as_default():
        variables: dict[int, tuple[Any, Any]] = {}  # id of the eager handle -> (graph variable, value)
        for v in map(checkpoint.variable_of, getattr(obj, "variables", ())):
            _graph_variable(v._handle, v, variables)
        tables = _Tables(obj)
        definitions = {key: _signature(graph, key, function, variables, tables) for key, function in chosen.items()}
        objects = saved_objects.Writer(graph, lambda handle, v: _key(_graph_variable(handle, v, variables)))
        given = signatures if isinstance(signatures, Mapping) else {}
        objects.add_root(obj, chosen, {key for key, f in given.items() if f is chosen.get(key)})
        with session.Session(graph=graph) as running:
            for variable, value in variables.values():
                variable.load(value, running)
            builder = saved_model.SavedModelBuilder(export_dir, overwrite=True)
            by_key = {_key(v): v for v, _ in variables.values()}
            used = saver.Saver(by_key, sharded=True) if by_key else None
            builder.add_meta_graph_and_variables(running, [saved_model.tag_constants.SERVING], definitions, saver=used, init_op=tables.initializer())
            builder._model.meta_graphs[0].object_graph_def.CopyFrom(objects.saved)
            builder.save()
    os.makedirs(os.path.join(os.fspath(export_dir), "assets"), exist_ok=True)
    _add_object_graph(os.path.join(os.fspath(export_dir), "variables", "variables"), objects.tracked)


def _key(variable: Any) -> str:
    """A variable's name in the checkpoint, in the form that loaders of objects know."""
    return f"{variable.op.name}/.ATTRIBUTES/VARIABLE_VALUE"


def _add_object_graph(prefix: str, message: Any) -> None:
    """Into the checkpoint, where loaders of objects look for it."""
    from emplace import _core
    from emplace.framework import checkpoints

    tensors: dict[str, Any] = {}
    if os.path.exists(prefix + ".index"):
        reader = checkpoints.CheckpointReader(prefix)
        tensors = {name: np.asarray(reader.get_tensor(name)) for name in reader.get_variable_to_shape_map()}
        checkpoints.remove_checkpoint(prefix)  # its data would keep the first name
    os.makedirs(os.path.dirname(prefix), exist_ok=True)
    tensors["_CHECKPOINTABLE_OBJECT_GRAPH"] = np.array(message.SerializeToString(), dtype=object)
    _core.write_checkpoint(prefix, tensors)


def _chosen(obj: Any, signatures: Any) -> dict[str, Any]:
    """What is saved, by name: what was asked for, or the one function that the object has."""
    default = saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
    if signatures is None:
        found = [f for f in (_concrete(_attribute(obj, n)) for n in dir(type(obj)) + list(vars(obj)) if not n.startswith("__") or n == "__call__") if f is not None]
        found = list({id(f): f for f in found}.values())
        return {default: found[0]} if len(found) == 1 else {}
    given = signatures if isinstance(signatures, Mapping) else {default: signatures}
    made = {key: _concrete(f) for key, f in given.items()}
    for key, f in made.items():
        if f is None:
            raise ValueError(
                f"Expected a TensorFlow function for which to generate a signature, but got {given[key]}. Only `tf.functions` with an input signature "
                "or concrete functions can be used as a signature."
            )
    return made


def _attribute(obj: Any, name: str) -> Any:
    """None where a property of the program's fails: nobody asked for it."""
    try:
        return getattr(obj, name, None)
    except Exception:
        return None


def _concrete(f: Any) -> Any:
    from emplace.eager import function

    if isinstance(f, function.ConcreteFunction):
        return f
    if not isinstance(f, function.Function):
        return None
    if f.input_signature is not None:
        return f.get_concrete_function()
    return next(iter(f._traces.values())) if len(f._traces) == 1 else None


def _graph_variable(handle: Any, variable: Any, known: dict[int, tuple[Any, Any]]) -> Any:
    from emplace.framework import variable_scope

    if id(handle) not in known:
        used = {v.op.name for v, _ in known.values()}
        base = variable._shared_name
        name = next(n for n in (base, *(f"{base}_{i}" for i in range(1, len(used) + 2))) if n not in used)
        with variable_scope.variable_scope(variable_scope.get_variable_scope(), reuse=False):
            made = variable_scope.get_variable(name, variable.shape.as_list(), variable.dtype, use_resource=True, trainable=variable.trainable)
        with context.eager_mode():
            known[id(handle)] = (made, variable.numpy())
    return known[id(handle)][0]


class _Tables:
    """The tables below an object, made again in a graph when a signature uses them."""

    def __init__(self, obj: Any) -> None:
        self._known: dict[int, Any] = {}
        self._made: dict[int, Any] = {}
        self._fills: list[Any] = []
        self._collect(obj, set())

    def _collect(self, obj: Any, seen: set[int]) -> None:
        from emplace.eager import checkpoint, saved_objects

        if id(obj) in seen:
            return
        seen.add(id(obj))
        if saved_objects.is_table(obj):
            self._known[id(obj.resource_handle)] = obj
        for _, child in checkpoint.children(obj, "savedmodel"):
            self._collect(child, seen)

    def handle(self, outside: Any) -> Any:
        from emplace.eager import saved_objects

        if id(outside) not in self._known:
            return None
        if id(outside) not in self._made:
            contents = saved_objects.TableContents(self._known[id(outside)])
            self._made[id(outside)] = contents.make()
            self._fills.append(contents.fill(self._made[id(outside)]))
        return self._made[id(outside)]

    def initializer(self) -> Any:
        from emplace.framework import control_flow_ops

        return control_flow_ops.group(*self._fills, name="init_tables") if self._fills else None


def _signature(graph: Any, key: str, concrete: Any, variables: dict[int, tuple[Any, Any]], tables: _Tables) -> Any:
    from emplace.eager import function, nest
    from emplace.framework import array_ops, constant_op

    owners = {id(v._handle): v for v in concrete.variables}
    inputs = {p.op.name: array_ops.placeholder(p.dtype, p.shape, name=f"{key}_{p.op.name}") for p in concrete._arguments}
    values = list(inputs.values())
    for outside in concrete.captured_inputs:
        owner = owners.get(id(outside))
        if owner is not None:
            values.append(_graph_variable(outside, owner, variables).handle)
        elif outside.dtype == dtypes.resource and tables.handle(outside) is not None:
            values.append(tables.handle(outside))
        elif outside.dtype == dtypes.resource:
            raise NotImplementedError(f"Signature '{key}' uses a resource that is no variable")
        else:
            values.append(constant_op.constant(outside.numpy(), outside.dtype))
    with graph.name_scope(key):
        results = [array_ops.identity(r, name="output") for r in concrete._call_in_graph(values)]
    structure = function._repacked(concrete._structure, results)
    outputs = structure if isinstance(structure, dict) else {f"output_{i}": r for i, r in enumerate(nest.flatten(structure)) if r is not None}
    return saved_model.predict_signature_def(inputs, outputs) if inputs else saved_model.build_signature_def(
        {}, {k: saved_model.build_tensor_info(v) for k, v in outputs.items()}, saved_model.signature_constants.PREDICT_METHOD_NAME
    )
