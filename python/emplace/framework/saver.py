"""tf.train.Saver: a graph's variables to checkpoints and back."""

from __future__ import annotations

import os
import shutil
import time
from typing import Any

from emplace.framework import array_ops, checkpoints, constant_op, control_flow_ops, device_spec, dispatch, dtypes, errors, meta_graph, ops, string_ops
from emplace.framework import variables as _variables
from emplace.framework.checkpoints import (
    CheckpointManager as CheckpointManager, NewCheckpointReader as NewCheckpointReader, checkpoint_exists as checkpoint_exists,
    get_checkpoint_mtimes as get_checkpoint_mtimes, get_checkpoint_state as get_checkpoint_state, latest_checkpoint as latest_checkpoint,
    list_variables as list_variables, load_checkpoint as load_checkpoint, load_variable as load_variable,
    generate_checkpoint_state_proto as generate_checkpoint_state_proto, remove_checkpoint as remove_checkpoint,
    update_checkpoint_state as update_checkpoint_state,
)
from emplace.framework.dispatch import execute as _op
from emplace.framework.event_writer import summary_iterator as summary_iterator
from emplace.framework.graph_io import write_graph as write_graph
from emplace.framework.meta_graph import export_meta_graph as export_meta_graph
from emplace.framework.ops import GraphKeys

_SHARDS = "_temp"  # a folder beside the checkpoint: what the devices write before it is one

def _is_resource(var: Any) -> bool:
    if hasattr(var, "_should_act_as_resource_variable"):
        return True
    return getattr(var, "handle", None) is not None and not isinstance(var, _variables.Variable)


def _var_name(var: Any) -> str:
    if isinstance(var, ops.Tensor):
        return var.op.name
    return getattr(var, "_shared_name", None) or var.op.name


def _named(var_list: Any) -> dict[str, list[Any]]:
    """Name in the checkpoint -> the variable (several: parts of one)."""
    if not isinstance(var_list, (dict, list, tuple, set)):
        raise TypeError(f"Variables to save should be passed in a dict or a list. Got {var_list}")
    named: dict[str, list[Any]] = {}
    items = var_list.items() if isinstance(var_list, dict) else ((None, v) for v in var_list)
    for key, value in items:
        for var in value if isinstance(value, (list, tuple)) or _is_partitioned(value) else [value]:
            if not (hasattr(var, "_saved_value") or _variables.is_variable(var) or isinstance(var, ops.Tensor) and var.dtype._is_ref_dtype):
                raise TypeError(f"Variable to save is not a Variable: {var}")
            part = getattr(var, "_save_slice_info", None)
            name = key if key is not None else part.full_name if part is not None else _var_name(var)
            if named.get(name) and part is None:
                raise ValueError(f"At least two variables have the same name: {name}")
            named.setdefault(name, []).append(var)
    return named


def _is_partitioned(value: Any) -> bool:
    return type(value).__name__ == "PartitionedVariable"


class Saver:
    """Adds operations that save and restore variables to the graph, and runs them."""

    def __init__(
        self, var_list: Any = None, reshape: bool = False, sharded: bool = False, max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000.0, name: str | None = None, restore_sequentially: bool = False,
        saver_def: Any = None, builder: Any = None, defer_build: bool = False, allow_empty: bool = False, write_version: int = 2,
        pad_step_number: bool = False, save_relative_paths: bool = False, filename: str | None = None,
    ) -> None:
        if var_list is None and dispatch.executing_eagerly():
            raise RuntimeError("When eager execution is enabled, `var_list` must specify a list or dict of variables to save")
        if defer_build and var_list:
            raise ValueError("If `var_list` is provided then build cannot be deferred. Either set defer_build=False or var_list=None.")
        self._var_list, self._reshape, self._sharded = var_list, reshape, sharded
        self._max_to_keep, self._keep_hours = max_to_keep or 0, keep_checkpoint_every_n_hours
        self._name, self._sequential, self._allow_empty = name, restore_sequentially, allow_empty
        self._pad, self._relative, self._filename = pad_step_number, save_relative_paths, filename
        self.saver_def = saver_def
        self._last_checkpoints: list[tuple[str, float]] = []
        self._checkpoints_to_be_deleted: list[tuple[str, float]] = []
        self._is_empty = False
        self._next_kept = time.time() + keep_checkpoint_every_n_hours * 3600
        if saver_def is not None:
            self._max_to_keep, self._keep_hours = saver_def.max_to_keep, saver_def.keep_checkpoint_every_n_hours
            self._next_kept = time.time() + self._keep_hours * 3600
        elif not defer_build:
            self.build()

    # ---- Operations.

    def build(self) -> None:
        """Adds the ops that save and restore, if they were deferred."""
        if self.saver_def is not None:
            return
        var_list = self._var_list
        if var_list is None:
            graph = ops.get_default_graph()
            var_list = [*graph.get_collection(GraphKeys.GLOBAL_VARIABLES), *graph.get_collection(GraphKeys.SAVEABLE_OBJECTS)]
        if not var_list:
            if not self._allow_empty:
                raise ValueError("No variables to save")
            self._is_empty = True
            return
        self.saver_def = self._build_operations(_named(var_list))

    def _build_operations(self, named: dict[str, list[Any]]) -> Any:
        from emplace.proto import saved_model_pb2

        items = [(name, var) for name in sorted(named) for var in named[name]]
        with ops.name_scope(self._name, "save", [v.op for _, v in items]):
            default = self._filename or "model"
            filename = array_ops.placeholder_with_default(constant_op.constant(default, name="filename/input"), shape=[], name="filename")
            filename = array_ops.placeholder_with_default(filename, shape=[], name="Const")
            if self._sharded:
                parts = _by_device(items)
                saved = _save_shards(filename, parts)
                restore = control_flow_ops.group(
                    *(self._restore_shard(filename, device, part) for device, part in parts), name="restore_all"
                )
            else:
                saved = _saved(filename, items)
                restore = self._restore_operations(filename, items, "restore_all")
        return saved_model_pb2.SaverDef(
            filename_tensor_name=filename.name, save_tensor_name=saved.name, restore_op_name=restore.name, max_to_keep=self._max_to_keep,
            sharded=self._sharded, keep_checkpoint_every_n_hours=self._keep_hours, version=2,
        )

    def _restore_shard(self, filename: Any, device: str, items: list[Any]) -> Any:
        with ops.device(device):
            return self._restore_operations(filename, items, "restore_shard")

    def _restore_operations(self, filename: Any, items: list[Any], name: str) -> Any:
        with ops.device("/cpu:0"):
            tensors = _restore(filename, [n for n, _ in items], [_spec_of(v) for _, v in items], [v.dtype.base_dtype for _, v in items])
        assigned: list[Any] = []
        for (_, var), tensor in zip(items, tensors):
            before = assigned[-1:] if self._sequential else []
            with ops.control_dependencies(before):
                assigned.append(_assign(var, tensor, self._reshape))
        return control_flow_ops.group(*assigned, name=name)

    # ---- Saving.

    def save(
        self, sess: Any, save_path: Any, global_step: Any = None, latest_filename: str | None = None, meta_graph_suffix: str = "meta",
        write_meta_graph: bool = True, write_state: bool = True, strip_default_attrs: bool = False, save_debug_info: bool = False,
    ) -> str | None:
        """Writes the variables' values to files of this prefix, with the step behind it, deletes those beyond `max_to_keep`
        and returns the path."""
        self._check_built()
        if not hasattr(sess, "run"):
            raise TypeError(f"'sess' must be a Session; {sess}")
        save_path = os.fspath(save_path)
        latest_filename = latest_filename or "checkpoint"
        if os.path.split(latest_filename)[0]:
            raise ValueError("'latest_filename' must not contain path components")
        path = save_path
        if global_step is not None:
            if not isinstance(global_step, int):
                global_step = int(sess.run(global_step)) if not hasattr(global_step, "numpy") else int(global_step.numpy())
            path = f"{save_path}-{global_step:08d}" if self._pad else f"{save_path}-{global_step}"
        elif os.path.basename(save_path) == latest_filename and not self._sharded:
            raise ValueError(f"'latest_filename' collides with 'save_path': '{latest_filename}' and '{save_path}'")
        folder = os.path.dirname(save_path)
        if self._is_empty:
            return None
        try:
            written = self._write(sess, path)
        except (errors.FailedPreconditionError, errors.NotFoundError) as e:
            if folder and not os.path.isdir(folder):
                raise ValueError(f"Parent directory of {save_path} doesn't exist, can't save.") from e
            raise
        written = written.decode() if isinstance(written, bytes) else str(written)
        if write_state:
            self._record(written, meta_graph_suffix)
            checkpoints.update_checkpoint_state(folder or ".", written, self.last_checkpoints, latest_filename, save_relative_paths=self._relative)
            self._sweep(meta_graph_suffix)
        if write_meta_graph:
            self.export_meta_graph(f"{written}.{meta_graph_suffix}", graph=sess.graph, strip_default_attrs=strip_default_attrs)
        return written

    def _write(self, sess: Any, path: str) -> Any:
        try:
            return sess.run(self.saver_def.save_tensor_name, {self.saver_def.filename_tensor_name: path})
        except BaseException:
            if self._sharded:  # shards that no checkpoint will have
                shutil.rmtree(path + _SHARDS, ignore_errors=True)
            raise

    def _record(self, path: str, suffix: str) -> None:
        if self._max_to_keep <= 0:
            return
        self._last_checkpoints = [c for c in self._last_checkpoints if c[0] != path] + [(path, time.time())]
        if len(self._last_checkpoints) > self._max_to_keep:
            self._checkpoints_to_be_deleted.append(self._last_checkpoints.pop(0))

    def _sweep(self, suffix: str) -> None:
        """Deletes after the state file names them no more."""
        while self._checkpoints_to_be_deleted:
            path, made = self._checkpoints_to_be_deleted.pop(0)
            if made > self._next_kept:
                self._next_kept += self._keep_hours * 3600
                continue
            try:
                checkpoints.remove_checkpoint(path, suffix)
            except OSError:
                pass  # somebody else's folder now

    @property
    def last_checkpoints(self) -> list[str]:
        return [p for p, _ in self._last_checkpoints]

    def set_last_checkpoints(self, last_checkpoints: Any) -> None:
        """Takes these paths, oldest first, for the checkpoints written so far."""
        self._last_checkpoints = [(p, 0.0) for p in last_checkpoints]

    def set_last_checkpoints_with_time(self, last_checkpoints_with_time: Any) -> None:
        """Takes these (path, time) pairs, oldest first, for the checkpoints written so far."""
        self._last_checkpoints = list(last_checkpoints_with_time)

    def recover_last_checkpoints(self, checkpoint_paths: Any) -> None:
        """Takes those of these paths that exist for the checkpoints written so far."""
        self._last_checkpoints = [(p, os.path.getmtime(p + ".index")) for p in checkpoint_paths if os.path.exists(p + ".index")]

    # ---- Restoring.

    def restore(self, sess: Any, save_path: Any) -> None:
        """Gives the variables their values from a checkpoint; they need no other initialization."""
        self._check_built()
        if self._is_empty:
            return
        if save_path is None:
            raise ValueError("Can't load save_path when it is None.")
        save_path = os.fspath(save_path)
        if not checkpoints.checkpoint_exists(save_path):
            raise ValueError(f"The passed save_path is not a valid checkpoint: {save_path}")
        try:
            sess.run(self.saver_def.restore_op_name, {self.saver_def.filename_tensor_name: save_path})
        except errors.NotFoundError as e:
            raise _advised(e, "a Variable name or other graph key that is missing") from None
        except errors.InvalidArgumentError as e:
            raise _advised(e, "a mismatch between the current graph and the graph") from None

    def _check_built(self) -> None:
        if self.saver_def is None and not self._is_empty:
            raise RuntimeError("`build()` should be called before save if defer_build==True")

    # ---- As messages.

    def as_saver_def(self) -> Any:
        """The SaverDef message that names the ops."""
        return self.saver_def

    def to_proto(self, export_scope: Any = None) -> Any:
        """The SaverDef message that names the ops."""
        return self.saver_def

    @staticmethod
    def from_proto(saver_def: Any, import_scope: str | None = None) -> "Saver":
        """A saver of ops that are in the graph already, from its SaverDef."""
        return Saver(saver_def=saver_def, name=import_scope)

    def export_meta_graph(
        self, filename: Any = None, collection_list: Any = None, as_text: bool = False, export_scope: Any = None, clear_devices: bool = False,
        clear_extraneous_savers: bool = False, strip_default_attrs: bool = False, save_debug_info: bool = False, graph: Any = None,
    ) -> Any:
        """The graph with this saver as a MetaGraphDef, also written to `filename` if one is given."""
        return meta_graph.export_meta_graph(
            filename=filename, graph=graph, saver_def=self.saver_def, collection_list=collection_list, as_text=as_text,
            export_scope=export_scope, clear_devices=clear_devices, strip_default_attrs=strip_default_attrs,
        )


def _advised(e: Any, cause: str) -> Any:
    """The error with words about its likely cause, still of the same operation."""
    made = type(e)(
        e.node_def, e.op, f"Restoring from checkpoint failed. This is most likely due to {cause} from the checkpoint. Please ensure that you have not "
        f"altered the graph expected based on the checkpoint. Original error:\n\n{e.message}",
    )
    made._node_name, made._device, made._source = e._node_name, e._device, e._source
    return made


def _spec_of(var: Any) -> str:
    part = getattr(var, "_save_slice_info", None)
    return part.spec if part is not None else ""


def _value_of(var: Any) -> Any:
    if hasattr(var, "_saved_value"):  # an iterator's place
        return var._saved_value()
    if isinstance(var, ops.Tensor):
        return array_ops.identity(var)
    if _is_resource(var):
        return var._as_graph_element() if hasattr(var, "_as_graph_element") else _op("ReadVariableOp", [var.handle], {"dtype": var.dtype.base_dtype}, None)
    return var._ref()


def _assign(var: Any, tensor: Any, reshape: bool) -> Any:
    if reshape:
        tensor = array_ops.reshape(tensor, var.shape.as_list())
    if hasattr(var, "_restored"):  # a strategy's, with copies
        return var._restored(tensor)
    if _is_resource(var):
        with ops.colocate_with(var.handle.op):
            return _op("AssignVariableOp", [var.handle, array_ops.identity(tensor)], {}, None)
    ref = var if isinstance(var, ops.Tensor) else var._ref()
    return _variables.assign(ref, tensor, validate_shape=not reshape and ref.shape.is_fully_defined()).op


def _saved(filename: Any, items: list[Any]) -> Any:
    """`filename`, once the variables are saved there."""
    save = _save(filename, [n for n, _ in items], [_spec_of(v) for _, v in items], [_value_of(v) for _, v in items])
    with ops.control_dependencies([save]):
        return array_ops.identity(filename, name="control_dependency")


def _by_device(items: list[Any]) -> list[tuple[str, list[Any]]]:
    found: dict[str, list[Any]] = {}
    for name, var in items:
        found.setdefault(device_spec.canonical_name(var.device), []).append((name, var))
    return sorted(found.items())


def _save_shards(filename: Any, parts: list[tuple[str, list[Any]]]) -> Any:
    """`filename`, once each device's variables are in a file of their own and those are one checkpoint."""
    host = {device: device_spec.DeviceSpec.from_string(device).replace(device_type="CPU", device_index=0).to_string() for device, _ in parts}
    with ops.device("CPU"):
        remote = string_ops.regex_full_match(filename, "^s3://.*")
        suffix = array_ops.where(remote, constant_op.constant(".part"), constant_op.constant(f"{_SHARDS}/part"))
        temporary = string_ops.string_join([filename, suffix])
    count = constant_op.constant(len(parts), name="num_shards")
    prefixes, saves = [], []
    for shard, (device, items) in enumerate(parts):
        with ops.device(host[device]):
            prefixes.append(_op("ShardedFilename", [temporary, shard, count], {}, None))
            saves.append(_saved(prefixes[-1], items))
    with ops.control_dependencies([s.op for s in saves]), ops.device(host[parts[-1][0]]):
        merged = _op("MergeV2Checkpoints", [prefixes, filename], {"delete_old_dirs": True}, None)
        with ops.control_dependencies([getattr(merged, "op", merged)]):
            return array_ops.identity(filename)


def _save(filename: Any, names: list[str], specs: list[str], values: list[Any]) -> Any:
    with ops.name_scope("SaveV2") as scope:
        tensor_names = constant_op.constant(names, dtypes.string, name="tensor_names")
        slices = constant_op.constant(specs, dtypes.string, name="shape_and_slices")
        made = _op("SaveV2", [filename, tensor_names, slices, values], {}, scope)
    return made[0].op if isinstance(made, (list, tuple)) else getattr(made, "op", made)


def _restore(filename: Any, names: list[str], specs: list[str], types: list[Any]) -> list[Any]:
    with ops.name_scope("RestoreV2") as scope:
        tensor_names = constant_op.constant(names, dtypes.string, name="tensor_names")
        slices = constant_op.constant(specs, dtypes.string, name="shape_and_slices")
        made = _op("RestoreV2", [filename, tensor_names, slices], {"dtypes": types}, scope)
    return list(made) if isinstance(made, (list, tuple)) else [made]


def import_meta_graph(meta_graph_or_file: Any, clear_devices: bool = False, import_scope: str | None = None, **kwargs: Any) -> Any:
    """Adds a MetaGraphDef to the default graph; returns the Saver it speaks of, or None."""
    message = meta_graph.import_meta_graph(meta_graph_or_file, clear_devices, import_scope, **kwargs)
    if not message.HasField("saver_def"):
        if GraphKeys.GLOBAL_VARIABLES in message.collection_def and _variables.global_variables():
            return Saver()
        return None
    saver_def = type(message.saver_def)()
    saver_def.CopyFrom(message.saver_def)
    scope = meta_graph.scope_of(message, import_scope)
    if scope:
        for field in ("filename_tensor_name", "save_tensor_name", "restore_op_name"):
            setattr(saver_def, field, f"{scope}/{getattr(saver_def, field)}")
    return Saver(saver_def=saver_def, name=import_scope)
