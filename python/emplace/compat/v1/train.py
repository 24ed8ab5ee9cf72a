"""tf.train: the global step, where variables go, and what trains."""

from __future__ import annotations

from typing import Any

from emplace.framework import clip_ops, dispatch, dtypes, init_ops, ops, variable_scope, variables
from emplace.framework import listing as _listing
from emplace.framework.cluster_spec import ClusterSpec as ClusterSpec
from emplace.framework.replica_device_setter import replica_device_setter as replica_device_setter
from emplace.framework.server import Server as Server

global_norm, clip_by_global_norm = clip_ops.global_norm, clip_ops.clip_by_global_norm


def get_global_step(graph: Any = None) -> Any:
    """The graph's global step, from its collection or by its name, or None."""
    graph = graph or ops.get_default_graph()
    found = graph.get_collection(ops.GraphKeys.GLOBAL_STEP)
    if len(found) > 1:
        raise RuntimeError(f"Multiple items found in collection {ops.GraphKeys.GLOBAL_STEP}.")
    if found:
        return found[0]
    try:
        return graph.get_tensor_by_name("global_step:0")
    except (KeyError, ValueError):
        return None


def create_global_step(graph: Any = None) -> Any:
    """Makes the graph's global step, an int64 variable of 0; ValueError if it has one."""
    graph = graph or ops.get_default_graph()
    if get_global_step(graph) is not None:
        raise ValueError("\"global_step\" already exists.")
    if dispatch.executing_eagerly():
        made = variables.Variable(0, dtype=dtypes.int64, trainable=False, name=ops.GraphKeys.GLOBAL_STEP)
        graph.add_to_collection(ops.GraphKeys.GLOBAL_STEP, made)
        return made
    with graph.as_default(), ops.name_scope(None):
        return variable_scope.get_variable(
            ops.GraphKeys.GLOBAL_STEP, shape=[], dtype=dtypes.int64, initializer=init_ops.Zeros(), trainable=False,
            collections=[ops.GraphKeys.GLOBAL_VARIABLES, ops.GraphKeys.GLOBAL_STEP],
        )


def get_or_create_global_step(graph: Any = None) -> Any:
    """The graph's global step, made if there is none."""
    found = get_global_step(graph)
    return create_global_step(graph) if found is None else found


def global_step(sess: Any, global_step_tensor: Any) -> int:
    """The number of steps so far, read in this session."""
    return int(sess.run(global_step_tensor))


def assert_global_step(global_step_tensor: Any) -> None:
    """TypeError unless it is an integer scalar."""
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

_MODULES = {  # below emplace.framework
    "slot_optimizers": (
        "AdadeltaOptimizer AdagradDAOptimizer AdagradOptimizer AdamOptimizer FtrlOptimizer MomentumOptimizer ProximalAdagradOptimizer"
        " ProximalGradientDescentOptimizer RMSPropOptimizer"
    ),
    "saver": (
        "CheckpointManager NewCheckpointReader Saver checkpoint_exists export_meta_graph generate_checkpoint_state_proto"
        " get_checkpoint_mtimes import_meta_graph list_variables load_checkpoint load_variable remove_checkpoint summary_iterator"
        " update_checkpoint_state write_graph"
    ),
    "hooks": (
        "CheckpointSaverHook CheckpointSaverListener FeedFnHook FinalOpsHook GlobalStepWaiterHook LoggingTensorHook"
        " NanLossDuringTrainingError NanTensorHook SecondOrStepTimer SessionRunArgs SessionRunContext SessionRunHook SessionRunValues"
        " StepCounterHook StopAtStepHook SummarySaverHook"
    ),
    "monitored_session": "ChiefSessionCreator MonitoredSession MonitoredTrainingSession Scaffold SessionManager SingularMonitoredSession",
    "coordinator": "Coordinator LooperThread",
    "sync_replicas": "SyncReplicasOptimizer",
    "moving_averages": "ExponentialMovingAverage",
    "optimizers": "GradientDescentOptimizer Optimizer",
    "queue_runner": "QueueRunner add_queue_runner start_queue_runners",
    "supervisor": "Supervisor basic_train_loop checkpoints_iterator init_from_checkpoint latest_checkpoint",
    "input_queues": (
        "batch batch_join input_producer limit_epochs queue_runner range_input_producer shuffle_batch shuffle_batch_join"
        " slice_input_producer string_input_producer"
    ),
    "decays": (
        "cosine_decay cosine_decay_restarts exponential_decay inverse_time_decay linear_cosine_decay natural_exp_decay"
        " noisy_linear_cosine_decay piecewise_constant piecewise_constant_decay polynomial_decay"
    ),
    "session_manager": "get_checkpoint_state",
}
_WHERE = {name: f"framework.{module}" for module, names in _MODULES.items() for name in names.split()}
_WHERE.update({name: f"proto.{module}" for name, module in _MESSAGES.items()})


def __getattr__(name: str) -> Any:
    import importlib

    from emplace.compat import v1

    if name in _WHERE:
        return getattr(importlib.import_module(f"emplace.{_WHERE[name]}"), name)
    if (later := v1._later(f"train.{name}")) is not None:
        return later
    raise AttributeError(f"module 'emplace.compat.v1.train' has no attribute {name!r}")


def __dir__() -> list[str]:
    from emplace.compat import v1

    later = (n[len("train.") :] for n in v1._LATER if n.startswith("train."))
    return _listing.of_module(globals(), (*_WHERE, *later))()
