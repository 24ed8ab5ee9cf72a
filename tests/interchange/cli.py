"""Runs cases with the command line, whose errors bear the names of codes: Python's ValueError is InvalidArgument."""

from __future__ import annotations

import os
import pathlib
import subprocess

import numpy as np

from case import Built, Outcome

ROOT = pathlib.Path(__file__).resolve().parents[2]
EMPLACE = ROOT / "build" / "release" / "bin" / "emplace"
ENVIRONMENT = {**os.environ, "EMPLACE_VIRTUAL_GPUS": ""}


def emplace(*arguments: object, **kwargs: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(EMPLACE), *map(str, arguments)], capture_output=True, text=True, timeout=300, env=ENVIRONMENT, **kwargs
    )


def arguments(built: Built, folder: pathlib.Path) -> list[object]:
    """Writes the case's files; returns what comes after `run`."""
    (folder / "graph.pb").write_bytes(built.graph_def.SerializeToString())
    soft = "true" if built.soft else "false"
    (folder / "config.pbtxt").write_text(
        f'device_count {{ key: "CPU" value: {built.cpus} }}\nallow_soft_placement: {soft}\n'
    )
    out: list[object] = [folder / "graph.pb", "--config", folder / "config.pbtxt"]
    for i, (name, value) in enumerate(built.feeds.items()):
        value = value.astype("S") if value.dtype.kind in "OU" else value
        np.save(folder / f"feed{i}.npy", value)
        out += ["--feed", f"{name}={folder / f'feed{i}.npy'}"]
    for name in built.fetches:
        out += ["--fetch", name]
    for name in built.targets:
        out += ["--target", name]
    if built.steps > 1:
        out += ["--steps", built.steps]
    return out


def run(built: Built, folder: pathlib.Path) -> Outcome:
    done = emplace("run", *arguments(built, folder), "--out", folder / "out.npz")
    if done.returncode != 0:
        first = done.stderr.removeprefix("emplace: ")
        return Outcome(error=first.partition(":")[0], message=first)
    with np.load(folder / "out.npz") as arrays:
        return Outcome([arrays[name] for name in built.fetches])
