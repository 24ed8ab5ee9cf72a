"""What the command line does with the files it is given to write, and with a disk that is full."""

from __future__ import annotations

import io
import os
import pathlib
import resource
import stat
import subprocess
import threading
from typing import Any

import numpy as np
import pytest
from cli import EMPLACE, ENVIRONMENT, emplace

pytestmark = pytest.mark.skipif(not EMPLACE.exists(), reason="the command line is not built")

GRAPH = """node { name: 'two' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } }
  attr { key: 'value' value { tensor { dtype: DT_FLOAT tensor_shape {} float_val: 2 } } } }"""

COSTS = """{"name": "one", "objective": "latency", "model": {"kind": "list", "contention": "none", "through_host": false},
 "devices": [{"name": "/device:CPU:0", "type": "CPU", "memory": null, "slots": 1}], "links": {"default": {"latency_s": 1e-4, "bytes_per_s": 1e9},
 "pairs": []}, "nodes": [{"name": "a", "time": {"CPU": 1}, "memory": 1, "pin": null, "colocate": null}], "edges": []}"""


@pytest.fixture
def graph(tmp_path: pathlib.Path) -> pathlib.Path:
    (tmp_path / "graph.pbtxt").write_text(GRAPH)
    return tmp_path / "graph.pbtxt"


def run_to(graph: pathlib.Path, out: Any, **kwargs: Any) -> subprocess.CompletedProcess[str]:
    return emplace("run", graph, "--fetch", "two", "--out", out, **kwargs)


def two(file: Any) -> float:
    with np.load(file) as arrays:
        return float(arrays["two"])


@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_and_the_file_behind_it_is_written(graph: pathlib.Path, tmp_path: pathlib.Path, there: bool) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder/link")
    (tmp_path / "folder" / "link").symlink_to("file")
    if there:
        (tmp_path / "folder" / "file").write_text("old")
    done = run_to(graph, tmp_path / "link")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "link").is_symlink() and (tmp_path / "folder" / "link").is_symlink()
    assert two(tmp_path / "folder" / "file") == 2
    assert sorted(os.listdir(tmp_path / "folder")) == ["file", "link"]


def test_a_pipe_is_written_to(graph: pathlib.Path, tmp_path: pathlib.Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_bytes()), daemon=True)
    reader.start()
    done = run_to(graph, tmp_path / "pipe")
    assert done.returncode == 0, done.stderr
    assert stat.S_ISFIFO(os.stat(tmp_path / "pipe").st_mode)
    reader.join(60)
    assert two(io.BytesIO(read[0])) == 2


def test_a_device_is_written_to(graph: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (tmp_path / "full").symlink_to("/dev/full")  # a link, so that no mistake costs the machine its device
    done = run_to(graph, tmp_path / "full")
    assert done.returncode == 1 and f"{tmp_path / 'full'}; No space left on device" in done.stderr
    assert (tmp_path / "full").is_symlink()
    (tmp_path / "null").symlink_to("/dev/null")
    assert run_to(graph, tmp_path / "null").returncode == 0
    assert (tmp_path / "null").is_symlink()


def test_permissions_stay(graph: pathlib.Path, tmp_path: pathlib.Path) -> None:
    secret = tmp_path / "secret"
    secret.touch(0o600)
    assert run_to(graph, secret).returncode == 0
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600 and two(secret) == 2


def test_nothing_stays_behind_when_the_disk_is_full(graph: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (tmp_path / "out.npz").write_text("old")
    before = sorted(os.listdir(tmp_path))

    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))  # and the signal is ignored, as Python has it

    done = run_to(graph, tmp_path / "out.npz", preexec_fn=small_files, restore_signals=False)
    assert done.returncode == 1 and "File too large" in done.stderr
    assert sorted(os.listdir(tmp_path)) == before and (tmp_path / "out.npz").read_text() == "old"


PRINTING = [
    "devices", "devices --json", "run GRAPH --fetch two", "place GRAPH", "place GRAPH --json", "plan COSTS", "show GRAPH", "show GRAPH --json", "doctor",
    "doctor --json", "launch -n 2 -- echo x", "cluster init KEYS", "--version", "--help", "run --help", "serve --help", "cluster token --help",
]  # fmt: skip


@pytest.mark.parametrize("arguments", PRINTING)
def test_a_full_disk_behind_stdout_is_a_failure(graph: pathlib.Path, tmp_path: pathlib.Path, arguments: str) -> None:
    (tmp_path / "costs.json").write_text(COSTS)
    files = {"GRAPH": str(graph), "COSTS": str(tmp_path / "costs.json"), "KEYS": str(tmp_path / "keys")}
    command = [str(EMPLACE), *(files.get(a, a) for a in arguments.split())]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT, timeout=600)
    if "lacks" in done.stderr:
        pytest.skip(done.stderr)  # a build without clusters
    why = "" if arguments.startswith("launch") else ": No space left on device"
    assert done.returncode == 1 and f"what was to be printed could not be written{why}" in done.stderr


def test_only_a_place_that_can_be_written_is_written(graph: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "round").symlink_to("about")
    (tmp_path / "about").symlink_to("round")
    for out in ("folder", "round", "missing/file", "graph.pbtxt/file"):
        done = run_to(graph, tmp_path / out)
        assert done.returncode == 1 and str(tmp_path / out) in done.stderr, out
    assert (tmp_path / "folder").is_dir() and not os.listdir(tmp_path / "folder")
    assert (tmp_path / "round").is_symlink() and (tmp_path / "about").is_symlink() and graph.read_text() == GRAPH


@pytest.mark.skipif(os.getuid() != 0, reason="only root makes device nodes")
def test_a_device_node_stays(graph: pathlib.Path, tmp_path: pathlib.Path) -> None:
    for name, minor, status in (("null", 3, 0), ("full", 7, 1)):
        try:
            os.mknod(tmp_path / name, 0o600 | stat.S_IFCHR, os.makedev(1, minor))
            open(tmp_path / name, "w").close()
        except PermissionError as e:  # in a container, or a folder without devices
            pytest.skip(str(e))
        done = run_to(graph, tmp_path / name)
        assert done.returncode == status, done.stderr
        assert stat.S_ISCHR(os.stat(tmp_path / name).st_mode)
    assert sorted(os.listdir(tmp_path)) == ["full", "graph.pbtxt", "null"]


def test_a_name_that_is_no_subcommand_is_named() -> None:
    done = emplace("foo", "--bar")
    assert done.returncode == 2 and not done.stdout
    assert "there is no subcommand 'foo'; there are: devices, run, place, plan, show, doctor" in done.stderr
    done = emplace("--foo")
    assert done.returncode == 2 and "--foo" in done.stderr
    done = emplace()
    assert done.returncode == 2 and "devices, run, place, plan, show, doctor" in done.stderr
