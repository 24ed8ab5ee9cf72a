"""tf.distribute as version 1 has it: the same strategies, in graphs too."""

from __future__ import annotations

import types as _types

from emplace.distribute import cluster_resolver as cluster_resolver
from emplace.distribute.contexts import (
    experimental_set_strategy as experimental_set_strategy, get_replica_context as get_replica_context, get_strategy as get_strategy,
    has_strategy as has_strategy, in_cross_replica_context as in_cross_replica_context,
)
from emplace.distribute.cross_device_ops import (
    CrossDeviceOps as CrossDeviceOps, HierarchicalCopyAllReduce as HierarchicalCopyAllReduce, NcclAllReduce as NcclAllReduce,
    ReduceOp as ReduceOp, ReductionToOneDevice as ReductionToOneDevice,
)
from emplace.distribute.inputs import InputContext as InputContext, InputReplicationMode as InputReplicationMode
from emplace.distribute.strategy import StrategyExtended as StrategyExtended
from emplace.distribute.version1 import (
    CentralStorageStrategy as _CentralStorageStrategy, MirroredStrategy as MirroredStrategy,
    MultiWorkerMirroredStrategy as _MultiWorkerMirroredStrategy, OneDeviceStrategy as OneDeviceStrategy,
    ParameterServerStrategy as _ParameterServerStrategy, ReplicaContext as ReplicaContext, Strategy as Strategy,
    get_loss_reduction as get_loss_reduction,
)
from emplace.distribute.worker_strategies import (
    CommunicationImplementation as _CommunicationImplementation, CommunicationOptions as _CommunicationOptions, RunOptions as RunOptions,
    TPUStrategy as _TPUStrategy,
)
from emplace.framework import listing as _listing
from emplace.framework.server import Server as Server

experimental = _types.ModuleType(f"{__name__}.experimental", "Strategies of version 1 that may still change.")
experimental.__dict__.update(
    CentralStorageStrategy=_CentralStorageStrategy, MultiWorkerMirroredStrategy=_MultiWorkerMirroredStrategy,
    ParameterServerStrategy=_ParameterServerStrategy, TPUStrategy=_TPUStrategy, CommunicationImplementation=_CommunicationImplementation,
    CollectiveCommunication=_CommunicationImplementation, CommunicationOptions=_CommunicationOptions,
)

__dir__ = _listing.of_module(globals())
