"""`tf.test` of eager programs."""

from __future__ import annotations

import platform
from typing import Any

import numpy as np

from emplace.compat.v1 import test as of_graphs
from emplace.eager import config, context, tape
from emplace.framework import ops

TestCase, main = of_graphs.TestCase, of_graphs.main
is_built_with_cuda, is_built_with_rocm, is_built_with_xla = of_graphs.is_built_with_cuda, of_graphs.is_built_with_rocm, of_graphs.is_built_with_xla
is_built_with_gpu_support = of_graphs.is_built_with_gpu_support
get_temp_dir = of_graphs.get_temp_dir


def is_gpu_available(cuda_only: bool = False, min_cuda_compute_capability: Any = None) -> bool:
    """Whether there is a GPU that can be used."""
    return bool(config.list_physical_devices("GPU"))


def gpu_device_name() -> str:
    """The name of the first GPU, such as "/device:GPU:0", or an empty text."""
    found = config.list_logical_devices("GPU")
    return found[0].name if found else ""


def is_cpu_target_available(target: str) -> bool:
    """Whether the CPU is of this kind, such as "x86_64"."""
    return target == platform.machine()


def sync_devices() -> None:
    """Waits for what was asked of the devices."""
    for device in config.list_logical_devices("GPU"):
        with context.device(device.name):
            np.asarray(context.v2(ops.convert_to_tensor)(0.0) + 0.0)


def compute_gradient(f: Any, x: Any, delta: Any = None) -> tuple[Any, Any]:
    """(by the tape, by differences): for each argument the derivatives of all results, as a matrix."""
    with context.eager_mode():
        given = [ops.convert_to_tensor(v) for v in x]
        step = 1.0 / 1024 if delta is None else float(delta)
        return tuple(_by_tape(f, given, i) for i in range(len(given))), tuple(_by_differences(f, given, i, step) for i in range(len(given)))


def _by_tape(f: Any, given: list[Any], i: int) -> np.ndarray:
    with tape.GradientTape() as t:
        t.watch(given[i])
        y = f(*given)
    found = t.jacobian(y, given[i])
    size = (int(np.prod(y.shape.as_list())), int(np.prod(given[i].shape.as_list())))
    return np.zeros(size, y.dtype.as_numpy_dtype) if found is None else found.numpy().reshape(size)


def _by_differences(f: Any, given: list[Any], i: int, step: float) -> np.ndarray:
    start = given[i].numpy()
    columns = []
    for at in range(start.size):
        ends = []
        for sign in (1, -1):
            moved = start.copy().reshape(-1)
            moved[at] += sign * step
            args = [*given[:i], ops.convert_to_tensor(moved.reshape(start.shape)), *given[i + 1 :]]
            ends.append(f(*args).numpy().astype(np.float64).reshape(-1))
        columns.append((ends[0] - ends[1]) / (2 * step))
    return np.stack(columns, 1).astype(start.dtype)
