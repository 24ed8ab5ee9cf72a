"""Settings of the process that sessions inherit."""

from __future__ import annotations

import os
from typing import Any, Callable

log_device_placement = False
gpu_memory_growth: bool | None = None
gpu_memory_fraction: float | None = None
soft_device_placement: bool | None = None
task = ""  # of a cluster, that this process's engine is: "/job:worker/replica:0/task:1"
options: dict[str, Any] = {}  # of the engine: what tf.config.* collects
gpu_options: Callable[[], dict[str, Any]] = dict  # set by eager.config, which knows once all was said
full_tracebacks = bool(os.environ.get("EMPLACE_FULL_TRACEBACKS"))
resource_variables = False  # what tf.Variable makes unless told


def of_process() -> dict[str, Any]:
    """The options of a session that is made without a ConfigProto."""
    made = {**options, **gpu_options()}
    if soft_device_placement is not None:
        made["allow_soft_placement"] = soft_device_placement
    return made


def with_globals(options: dict[str, Any]) -> dict[str, Any]:
    if log_device_placement:
        options["log_device_placement"] = True
    if gpu_memory_growth is not None:
        options.setdefault("allow_growth", gpu_memory_growth)
    if gpu_memory_fraction is not None and not options.get("per_process_gpu_memory_fraction"):
        options["per_process_gpu_memory_fraction"] = gpu_memory_fraction
    return options
