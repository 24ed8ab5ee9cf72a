"""The modules below `tensorflow.python`, `.core`, `.compiler` and `.tools`: their names lead to public ones."""

from __future__ import annotations

import functools
import importlib
import sys
import types
from typing import Any

from emplace import posing

ROOTS = ("python", "core", "compiler", "tools")

# Names that are private to TensorFlow, and programs use: module, then `name=module:attribute` of ours.
_OWN = """
python.client.device_lib | list_local_devices=python.client.device_lib:list_local_devices
python.client.timeline | Timeline=python.client.timeline:Timeline
python.eager.context | context=posing.internals:context async_wait=posing.internals:async_wait executing_eagerly=eager.modes:executing_eagerly
 _reset_context=posing.internals:reset_context num_gpus=posing.internals:num_gpus eager_mode=eager.context:eager_mode
 graph_mode=posing.internals:graph_mode global_seed=posing.internals:global_seed set_global_seed=eager.functions.random:set_seed
python.data.ops.multi_device_iterator_ops | MultiDeviceIterator=eager.datasets.devices:MultiDeviceIterator
 OwnedMultiDeviceIterator=eager.datasets.devices:OwnedMultiDeviceIterator
python.eager.backprop | GradientTape=eager.tape:GradientTape
python.eager.def_function | function=eager.function:function
python.eager.function | ConcreteFunction=eager.about:ConcreteFunction
python.framework.config | is_op_determinism_enabled=eager.config:is_op_determinism_enabled enable_op_determinism=eager.config:enable_op_determinism
 disable_op_determinism=eager.config:disable_op_determinism
python.framework.composite_tensor | CompositeTensor=eager.internal:CompositeTensor
python.framework.func_graph | FuncGraph=eager.func_graph:FuncGraph
python.framework.ops | EagerTensor=framework.ops:EagerTensor Tensor=framework.ops:Tensor convert_to_tensor=framework.ops:convert_to_tensor
 convert_to_tensor_v2=eager.functions.array:convert_to_tensor get_default_graph=framework.ops:get_default_graph
 uid=posing.internals:uid executing_eagerly_outside_functions=posing.internals:executing_eagerly_outside_functions
 get_default_session=framework.ops:get_default_session reset_default_graph=framework.ops:reset_default_graph
 IndexedSlices=framework.tensor:IndexedSlices _get_graph_from_inputs=posing.internals:graph_of_inputs
 internal_convert_to_tensor=framework.ops:convert_to_tensor colocate_with=framework.ops:colocate_with name_scope_v2=eager.modes:name_scope
python.framework.smart_cond | smart_cond=eager.internal:smart_cond smart_constant_value=posing.internals:smart_constant_value
python.framework.tensor_util | constant_value=eager.functions.array:get_static_value is_tensor=eager.functions.array:is_tensor
 is_tf_type=eager.functions.array:is_tensor make_tensor_proto=framework.graph_io:make_tensor_proto MakeNdarray=framework.graph_io:make_ndarray
 constant_value_as_shape=posing.internals:constant_value_as_shape
python.framework.type_spec_registry | get_name=eager.internal:name_of_spec lookup=eager.internal:spec_of_name
python.ops.control_flow_util | smart_cond=eager.internal:smart_cond smart_constant_value=posing.internals:smart_constant_value
python.ops.linalg.sparse.sparse_csr_matrix_ops | sparse_tensor_to_csr_sparse_matrix=posing.sparse_matrices:sparse_tensor_to_csr_sparse_matrix
 sparse_matrix_sparse_mat_mul=posing.sparse_matrices:sparse_matrix_sparse_mat_mul
 csr_sparse_matrix_to_sparse_tensor=posing.sparse_matrices:csr_sparse_matrix_to_sparse_tensor
python.ops.resource_variable_ops | ResourceVariable=eager.variables:Variable is_resource_variable=posing.internals:is_resource_variable
 BaseResourceVariable=eager.variables:Variable
python.ops.variables | RefVariable=framework.variables:Variable
python.pywrap_tensorflow | NewCheckpointReader=framework.checkpoints:CheckpointReader
python.training.tracking.base | Trackable=framework.trackable:Trackable no_automatic_dependency_tracking=framework.trackable:no_automatic_dependency_tracking
python.training.tracking.tracking | AutoTrackable=framework.trackable:AutoTrackable
python.trackable.base | Trackable=framework.trackable:Trackable no_automatic_dependency_tracking=framework.trackable:no_automatic_dependency_tracking
python.trackable.autotrackable | AutoTrackable=framework.trackable:AutoTrackable
python.trackable.data_structures | ListWrapper=eager.checkpoint:ListWrapper _DictWrapper=framework.trackable:DictWrapper NoDependency=framework.trackable:NoDependency
python.tf2 | enabled=posing.internals:tf2_enabled
python.types.core | Tensor=eager.internal:TensorType
python.util.nest | flatten=eager.nest:flatten pack_sequence_as=eager.nest:pack_sequence_as map_structure=eager.nest:map_structure
 assert_same_structure=eager.nest:assert_same_structure is_nested=eager.nest:is_nested is_sequence=eager.nest:is_nested
 flatten_with_joined_string_paths=posing.internals:flatten_with_joined_string_paths map_structure_up_to=posing.internals:map_structure_up_to
 is_nested_or_composite=eager.nest:is_nested
python.util.tf_export | tf_export=posing.internals:tf_export keras_export=posing.internals:tf_export
python.util.deprecation | deprecated=posing.internals:deprecated deprecated_args=posing.internals:deprecated deprecated_arg_values=posing.internals:deprecated
python.util.tf_inspect | *=inspect
python.util.object_identity | ObjectIdentitySet=posing.internals:ObjectIdentitySet ObjectIdentityDictionary=posing.internals:ObjectIdentityDictionary
 ObjectIdentityWeakSet=posing.internals:ObjectIdentitySet
python.util.tf_contextlib | contextmanager=posing.internals:contextmanager
python.util.tf_decorator | unwrap=eager.internal:unwrap make_decorator=posing.internals:make_decorator
python.util.lazy_loader | LazyLoader=posing.internals:LazyLoader
python.util.all_util | remove_undocumented=posing.internals:remove_undocumented
python.util.compat | *=compat
python.platform.tf_logging | *=compat.v1.logging
python.platform.flags | *=compat.v1.flags
python.platform.app | *=compat.v1.app
python.platform.test | *=compat.v1.test
python.platform.googletest | *=compat.v1.test
python.lib.io.file_io | FileIO=compat.v1.gfile:GFile
python.lib.io.tf_record | *=compat.v1.python_io TFRecordWriter=eager.records:TFRecordWriter TFRecordOptions=eager.records:TFRecordOptions
python.lib.io.python_io | *=compat.v1.python_io
python.summary.summary | *=compat.v1.summary
python.layers.layers | *=compat.v1.layers
python.framework.errors | *=framework.errors
python.framework.dtypes | *=framework.dtypes
python.framework.tensor_shape | *=framework.tensor_shape
python.training.training | *=compat.v1.train
compiler.tf2xla.python.xla | dynamic_update_slice=eager.internal:dynamic_update_slice
tools.docs.doc_controls | do_not_generate_docs=posing.internals:undocumented do_not_doc_inheritable=posing.internals:undocumented
 for_subclass_implementers=posing.internals:undocumented do_not_doc_in_subclasses=posing.internals:undocumented
"""


@functools.cache
def _own() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for line in _OWN.replace("\n ", " ").strip().splitlines():
        module, _, words = line.partition("|")
        found[module.strip()] = dict(word.split("=") for word in words.split())
    return found


@functools.cache
def _table() -> dict[str, dict[str, str]]:
    """module -> private name -> public one"""
    from emplace.posing import private_paths

    found = {}
    for block in private_paths.TABLE.strip().split("\n\n"):
        module, *words = block.split()
        found[module] = {name: public or name for name, _, public in (w.partition("=") for w in words)}
    return found


@functools.cache
def _packages() -> frozenset[str]:
    modules = [*_own(), *_table()]
    return frozenset(name.rsplit(".", depth)[0] for name in modules for depth in range(1, name.count(".") + 1)) | set(ROOTS)


def module(below: str) -> types.ModuleType | None:
    """What stands at `tensorflow.<below>`; None if nothing does."""
    known = below in _own() or below in _table() or below in _packages() or _is_generated(below)
    return PrivateModule(below) if known else None


def _is_generated(below: str) -> bool:
    """`python.ops.gen_math_ops`: the functions of single operations."""
    parent, _, name = below.rpartition(".")
    return parent == "python.ops" and name.startswith("gen_") and name.endswith("_ops")


class PrivateModule(types.ModuleType):
    """A module that Emplace does not have, and answers for."""

    def __init__(self, below: str) -> None:
        super().__init__(f"tensorflow.{below}")
        self.__path__: list[str] = []  # a package to the import statement
        self.__dict__["_below"] = below

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")
        value = _find(self._below, name)
        if value is _NOTHING:
            raise AttributeError(f"{self.__name__}.{name} is not part of Emplace, which stands in TensorFlow's place")
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *_own().get(self._below, {}), *_table().get(self._below, {})} - {"*", "_below"})


@functools.cache
def _absent() -> frozenset[str]:
    from emplace.posing import private_paths

    return frozenset(private_paths.ABSENT.split())


def refusal(face: str, path: str) -> str:
    """What an AttributeError says of a public name that is not there: does TensorFlow have it?"""
    v1 = face == "emplace.compat.v1"
    if (f"1:{path}" if v1 else path) in _absent():
        return f"tf.{'compat.v1.' if v1 else ''}{path} is not part of Emplace"
    where, _, name = path.rpartition(".")
    return f"module '{face}{where and '.'}{where}' has no attribute '{name}'"


_NOTHING = object()


def _find(below: str, name: str) -> Any:
    own = _own().get(below, {})
    if name in own:
        return _ours(own[name])
    if "*" in own and (value := getattr(_ours(own["*"]), name, _NOTHING)) is not _NOTHING:
        return value
    if name in _table().get(below, {}):
        return _message(name) if below.startswith("core.") else _public(_table()[below][name])
    if module(f"{below}.{name}") is not None:
        return importlib.import_module(f"tensorflow.{below}.{name}")
    if _is_generated(below):
        return _generated(name)
    return _NOTHING if below in _packages() or name.startswith("_") else _of_faces(name)


def _ours(where: str) -> Any:
    """`module:attribute` below `emplace`; a module without a dot may be Python's own."""
    path, _, attribute = where.partition(":")
    module = importlib.import_module(path if path == "inspect" else f"emplace.{path}")
    return getattr(module, attribute) if attribute else module


def _public(path: str) -> Any:
    face, _, name = path.rpartition(":")
    value: Any = importlib.import_module("emplace.compat.v1" if face else "emplace")
    for part in name.split("."):
        value = getattr(value, part, _NOTHING)
    return value


def _of_faces(name: str) -> Any:
    """A module imports from its neighbours: what is public under the same name is meant."""
    faces = ["emplace", "emplace.compat.v1"]
    for face in faces[::-1] if posing.posed_as() == "v1" else faces:
        if (value := getattr(importlib.import_module(face), name, _NOTHING)) is not _NOTHING:
            return value
    return _NOTHING


def _message(name: str) -> Any:
    from emplace import proto

    for file in _PROTO_FILES:
        value = getattr(importlib.import_module(f"{proto.__name__}.{file}_pb2"), name, _NOTHING)
        if value is not _NOTHING:
            return value
    return _NOTHING


_PROTO_FILES = ("graph", "tensor", "config", "saved_model", "event", "checkpoint", "example", "stats", "cluster", "server", "device", "reader", "graph_debug_info")


def _generated(name: str) -> Any:
    from emplace.framework import gen

    wanted = name.replace("_", "").removesuffix("eagerfallback")
    for op in gen.raw_ops.__dir__():
        if op.lower() == wanted:
            from emplace.eager import context

            return context.v2(gen.make_function(op, name))
    return _NOTHING


def forget() -> None:
    """Takes all modules of TensorFlow's name out of this process again; tests do it."""
    for name in [n for n in sys.modules if n == "tensorflow" or n.startswith("tensorflow.")]:
        del sys.modules[name]
