"""tf.train: the global step, where variables go, and what trains."""

from __future__ import annotations

from typing import Any

from emplace.framework import clip_ops, dtypes, init_ops, ops, variable_scope
from emplace.framework.cluster_spec import ClusterSpec as ClusterSpec
from emplace.framework.ops import GraphKeys
from emplace.framework.replica_device_setter import replica_device_setter as replica_device_setter

global_norm, clip_by_global_norm = clip_ops.global_norm, clip_ops.clip_by_global_norm


def get_global_step(graph: Any = None) -> Any:
    graph = graph or ops.get_default_graph()
    found = graph.get_collection(GraphKeys.GLOBAL_STEP)
    if len(found) > 1:
        raise RuntimeError(f"Multiple items found in collection {GraphKeys.GLOBAL_STEP}.")
    if found:
        return found[0]
    try:
        return graph.get_tensor_by_name("global_step:0")
    except (KeyError, ValueError):
        return None


def create_global_step(graph: Any = None) -> Any:
    graph = graph or ops.get_default_graph()
    if get_global_step(graph) is not None:
        raise ValueError("\"global_step\" already exists.")
    with graph.as_default(), ops.name_scope(None):
        return variable_scope.get_variable(
            GraphKeys.GLOBAL_STEP, shape=[], dtype=dtypes.int64, initializer=init_ops.Zeros(), trainable=False,
            collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP],
        )


def get_or_create_global_step(graph: Any = None) -> Any:
    found = get_global_step(graph)
    return create_global_step(graph) if found is None else found


def global_step(sess: Any, global_step_tensor: Any) -> int:
    return int(sess.run(global_step_tensor))


def assert_global_step(global_step_tensor: Any) -> None:
    if not global_step_tensor.dtype.base_dtype.is_integer:
        raise TypeError(f"Existing \"global_step\" does not have integer type: {global_step_tensor.dtype}")
    if global_step_tensor.shape.rank not in (0, None):
        raise TypeError(f"Existing \"global_step\" is not scalar: {global_step_tensor.shape}")


_MESSAGES = {
    **dict.fromkeys((
        "BytesList", "Example", "Feature", "FeatureList", "FeatureLists", "Features", "FloatList", "Int64List", "SequenceExample",
    ), "example_pb2"),
    "ClusterDef": "cluster_pb2", "JobDef": "cluster_pb2", "ServerDef": "server_pb2", "SaverDef": "saved_model_pb2",
}


def __getattr__(name: str) -> Any:
    import importlib

    from emplace.compat import v1

    if name in _MESSAGES:
        return getattr(importlib.import_module(f"emplace.proto.{_MESSAGES[name]}"), name)
    if (later := v1._later(f"train.{name}")) is not None:
        return later
    for module in ("optimizers", "slot_optimizers", "decays", "moving_averages", "coordinator", "queue_runner", "input_queues", "monitored_session", "hooks", "supervisor", "session_manager", "saver", "server"):
        try:
            found = getattr(importlib.import_module(f"emplace.framework.{module}"), name, None)
        except ModuleNotFoundError:
            continue
        if found is not None:
            return found
    raise AttributeError(f"module 'emplace.compat.v1.train' has no attribute {name!r}")
