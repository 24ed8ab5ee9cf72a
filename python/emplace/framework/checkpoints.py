"""Checkpoints on disk: which there are, and what is in them."""

from __future__ import annotations

import os
import re
import time
from typing import Any

from emplace import _core
from emplace.framework import dtypes, errors
from emplace.framework.graph_io import write_atomically


class CheckpointReader:
    """What is in a checkpoint, by name."""

    def __init__(self, prefix: Any) -> None:
        self._prefix = os.fspath(prefix)
        self._file = _core.Checkpoint(os.fspath(prefix))
        self._entries = {name: (dtypes.as_dtype(dtype), shape) for name, dtype, shape in self._file.entries()}

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """The shape of each tensor in the checkpoint, as a list, by its name."""
        return {name: list(shape) for name, (_, shape) in self._entries.items()}

    def get_variable_to_dtype_map(self) -> dict[str, dtypes.DType]:
        """The dtype of each tensor in the checkpoint by its name."""
        return {name: dtype for name, (dtype, _) in self._entries.items()}

    def has_tensor(self, name: str) -> bool:
        """Whether the checkpoint has a tensor of this name."""
        return name in self._entries

    def get_tensor(self, name: Any) -> Any:
        """A tensor of the checkpoint as an array; NotFoundError if there is none of the name."""
        name = name.decode() if isinstance(name, bytes) else name
        if name not in self._entries:
            raise errors.NotFoundError(None, None, f"Key {name} not found in checkpoint")
        return self._file.read(name)

    def get_state(self, name: str) -> Any:
        """A tensor that no array can hold, as the engine's own."""
        from emplace.eager import context
        from emplace.framework import gen

        read = context.v2(lambda: gen.apply("RestoreV2", [self._prefix, [name], [""]], {"dtypes": [dtypes.variant]}))
        return read()[0]

    def debug_string(self) -> bytes:
        """A line for each tensor: its name, dtype and shape."""
        from emplace.proto import tensor_pb2

        lines = [f"{n} ({tensor_pb2.DataType.Name(d.as_datatype_enum)}) [{','.join(map(str, s))}]\n" for n, (d, s) in self._entries.items()]
        return "".join(lines).encode()


def load_checkpoint(ckpt_dir_or_file: Any) -> CheckpointReader:
    """A reader of a checkpoint, given by its prefix or by a folder whose latest it is."""
    return CheckpointReader(_file_of(ckpt_dir_or_file))


NewCheckpointReader = CheckpointReader


def list_variables(ckpt_dir_or_file: Any) -> list[tuple[str, list[int]]]:
    """(name, shape) of each tensor, by name."""
    shapes = load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map()
    return [(name, shapes[name]) for name in sorted(shapes)]


def load_variable(ckpt_dir_or_file: Any, name: str) -> Any:
    """One variable's value out of a checkpoint, as an array."""
    if name.endswith(":0"):
        name = name[:-2]
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name)


def _file_of(path: Any) -> str:
    path = os.fspath(path)
    if not os.path.isdir(path):
        return path
    found = latest_checkpoint(path)
    if found is None:
        raise ValueError(f"Couldn't find 'checkpoint' file or checkpoints in given directory {path}")
    return found


# ---- Which there are.


def checkpoint_exists(checkpoint_prefix: Any) -> bool:
    """Whether there is a checkpoint of this prefix, in the newer or older format."""
    prefix = os.fspath(checkpoint_prefix)
    return os.path.exists(prefix + ".index") or os.path.exists(prefix)


def get_checkpoint_mtimes(checkpoint_prefixes: Any) -> list[float]:
    """When checkpoints were written, in seconds; those that are not there are left out."""
    return [os.path.getmtime(p + ".index") for p in checkpoint_prefixes if os.path.exists(p + ".index")]


def remove_checkpoint(checkpoint_prefix: Any, meta_graph_suffix: str = "meta") -> None:
    """The index first: what is left without it is no checkpoint any more."""
    prefix = os.fspath(checkpoint_prefix)
    folder, base = os.path.split(prefix)
    _remove(prefix + ".index")
    pattern = re.compile(re.escape(base) + r"\.data-\d{5}-of-\d{5}$")
    for name in os.listdir(folder or "."):
        if pattern.match(name):
            _remove(os.path.join(folder, name))
    _remove(f"{prefix}.{meta_graph_suffix}")


def _remove(path: str) -> None:
    try:
        os.remove(path)
    except FileNotFoundError:
        pass


def generate_checkpoint_state_proto(
    save_dir: Any, model_checkpoint_path: str, all_model_checkpoint_paths: Any = None, all_model_checkpoint_timestamps: Any = None,
    last_preserved_timestamp: Any = None,
) -> Any:
    """A CheckpointState message for a folder, with paths relative to it where they lie in it."""
    from emplace.proto import checkpoint_pb2

    paths = list(all_model_checkpoint_paths or [])
    if not paths or paths[-1] != model_checkpoint_path:
        paths.append(model_checkpoint_path)
    times = list(all_model_checkpoint_timestamps or [])
    if times and len(times) != len(paths):
        raise ValueError(f"Checkpoint timestamps, if provided, must match checkpoint paths (got paths {paths} and timestamps {times})")
    save_dir = os.fspath(save_dir)
    if not os.path.isabs(save_dir):
        paths = [p if os.path.isabs(p) else os.path.relpath(p, save_dir) for p in paths]
        if not os.path.isabs(model_checkpoint_path):
            model_checkpoint_path = os.path.relpath(model_checkpoint_path, save_dir)
    return checkpoint_pb2.CheckpointState(
        model_checkpoint_path=model_checkpoint_path, all_model_checkpoint_paths=paths, all_model_checkpoint_timestamps=times,
        last_preserved_timestamp=last_preserved_timestamp or 0.0,
    )


def update_checkpoint_state(
    save_dir: Any, model_checkpoint_path: Any, all_model_checkpoint_paths: Any = None, latest_filename: str | None = None,
    all_model_checkpoint_timestamps: Any = None, last_preserved_timestamp: Any = None, save_relative_paths: bool = False,
) -> None:
    """Writes the file that says which checkpoint is the latest."""
    from google.protobuf import text_format

    save_dir, model_checkpoint_path = os.fspath(save_dir), os.fspath(model_checkpoint_path)
    paths = list(all_model_checkpoint_paths or [])
    if save_relative_paths:
        model_checkpoint_path = _relative(model_checkpoint_path, save_dir)
        paths = [_relative(p, save_dir) for p in paths]
        state = generate_checkpoint_state_proto(os.path.abspath(save_dir), model_checkpoint_path, paths, all_model_checkpoint_timestamps, last_preserved_timestamp)
    else:
        state = generate_checkpoint_state_proto(save_dir, model_checkpoint_path, paths, all_model_checkpoint_timestamps, last_preserved_timestamp)
    name = os.path.join(save_dir, latest_filename or "checkpoint")
    if name == model_checkpoint_path:
        raise RuntimeError(f"Save path '{model_checkpoint_path}' conflicts with path used for checkpoint state.  Please use a different save path.")
    write_atomically(name, text_format.MessageToString(state).encode())


def _relative(path: str, folder: str) -> str:
    return os.path.relpath(path, folder) if os.path.isabs(path) == os.path.isabs(folder) else path


def get_checkpoint_state(checkpoint_dir: Any, latest_filename: str | None = None) -> Any:
    """The CheckpointState of a folder, its paths made usable from here; None if there is none."""
    from google.protobuf import text_format

    from emplace.proto import checkpoint_pb2

    checkpoint_dir = os.fspath(checkpoint_dir)
    name = os.path.join(checkpoint_dir, latest_filename or "checkpoint")
    try:
        with open(name, encoding="utf-8") as f:
            state = text_format.Merge(f.read(), checkpoint_pb2.CheckpointState())
    except (OSError, text_format.ParseError):
        return None
    if not state.model_checkpoint_path:
        raise ValueError(f"Invalid checkpoint state loaded from {checkpoint_dir}")
    if not os.path.isabs(state.model_checkpoint_path):
        state.model_checkpoint_path = os.path.join(checkpoint_dir, state.model_checkpoint_path)
    for i, p in enumerate(state.all_model_checkpoint_paths):
        if not os.path.isabs(p):
            state.all_model_checkpoint_paths[i] = os.path.join(checkpoint_dir, p)
    return state


def latest_checkpoint(checkpoint_dir: Any, latest_filename: str | None = None) -> str | None:
    """The prefix of the newest checkpoint in a folder, or None."""
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state and checkpoint_exists(state.model_checkpoint_path):
        return state.model_checkpoint_path
    return None


class CheckpointManager:
    """Keeps a number of checkpoints in a folder and deletes the others."""

    def __init__(
        self, checkpoint: Any, directory: Any, max_to_keep: int | None, keep_checkpoint_every_n_hours: float | None = None,
        checkpoint_name: str = "ckpt", step_counter: Any = None, checkpoint_interval: int | None = None, init_fn: Any = None,
    ) -> None:
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(f"Expected a positive integer or `None` for `max_to_keep`, got {max_to_keep}.")
        self._checkpoint, self._directory, self._name = checkpoint, os.fspath(directory), checkpoint_name
        self._max, self._every = max_to_keep, keep_checkpoint_every_n_hours
        self._step_counter, self._interval, self._init = step_counter, checkpoint_interval, init_fn
        self._last_step: int | None = None
        self._kept: list[tuple[str, float]] = []
        self._last_preserved = time.time()
        state = get_checkpoint_state(self._directory)
        if state is not None:
            times = list(state.all_model_checkpoint_timestamps) or [0.0] * len(state.all_model_checkpoint_paths)
            self._kept = [(p, t) for p, t in zip(state.all_model_checkpoint_paths, times) if checkpoint_exists(p)]
            self._last_preserved = state.last_preserved_timestamp or self._last_preserved

    @property
    def directory(self) -> str:
        return self._directory

    @property
    def checkpoint(self) -> Any:
        return self._checkpoint

    @property
    def checkpoints(self) -> list[str]:
        return [p for p, _ in self._kept]

    @property
    def latest_checkpoint(self) -> str | None:
        return self._kept[-1][0] if self._kept else None

    @property
    def checkpoint_interval(self) -> int | None:
        return self._interval

    def save(self, checkpoint_number: Any = None, check_interval: bool = True, options: Any = None) -> str | None:
        """Writes a checkpoint, deletes those beyond `max_to_keep` and returns its path; None if the interval of steps has not
        passed."""
        if self._interval is not None and check_interval:
            step = int(self._step_counter.numpy())
            if self._last_step is not None and step - self._last_step < self._interval:
                return None
            self._last_step = step
        prefix = os.path.join(self._directory, self._name)
        if checkpoint_number is None:
            path = self._checkpoint.save(prefix, _write_state=False)
        else:
            path = self._checkpoint.write(f"{prefix}-{int(checkpoint_number)}")
        self._kept = [(p, t) for p, t in self._kept if p != path] + [(path, time.time())]
        self._sweep()
        update_checkpoint_state(
            self._directory, path, self.checkpoints, all_model_checkpoint_timestamps=[t for _, t in self._kept],
            last_preserved_timestamp=self._last_preserved, save_relative_paths=True,
        )
        return path

    def _sweep(self) -> None:
        while self._max is not None and len(self._kept) > self._max:
            path, made = self._kept.pop(0)
            if self._every is not None and made - self._last_preserved >= self._every * 3600:
                self._last_preserved = made
                continue
            remove_checkpoint(path)

    def restore_or_initialize(self) -> str | None:
        """Restores the latest checkpoint and returns its path; without one calls `init_fn`."""
        if self.latest_checkpoint is not None:
            self._checkpoint.restore(self.latest_checkpoint)
            return self.latest_checkpoint
        if self._init is not None:
            self._init()
        return None
