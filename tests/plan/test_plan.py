"""`emplace plan`: its answers hold, are worth what they say, and errors are in words."""

from __future__ import annotations

import json
import pathlib
import random
import subprocess
import sys
from typing import Any

import pytest
from reference import Reference

ROOT = pathlib.Path(__file__).resolve().parents[2]
EMPLACE = ROOT / "build/release/bin/emplace"
SHARED = ROOT.parent / "shared/placement"
pytestmark = pytest.mark.skipif(not EMPLACE.exists(), reason="the command line is not built")


def plan(path: pathlib.Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([EMPLACE, "plan", path, *options], capture_output=True, text=True, timeout=600)


def made(seed: int, kind: str) -> dict[str, Any]:
    """A small network: a chain with branches, accelerators with little memory, one CPU."""
    rng = random.Random(seed)
    count, edges = 1, []
    for _ in range(rng.randint(2, 6)):
        start, ends = count - 1, []
        for _ in range(rng.randint(1, 3)):
            at = start
            for _ in range(rng.randint(1, 3)):
                edges.append((at, count))
                at, count = count, count + 1
            ends.append(at)
        edges += [(e, count) for e in ends]
        count += 1
    gpus = rng.randint(1, 4)
    room = 2 * 50 * count // gpus
    nodes = [
        {"name": f"n{i}", "time": {"GPU": rng.randint(1, 9) * 1e-3, "CPU": 0.05}, "memory": rng.randint(1, 90),
         "pin": "/device:CPU:0" if i == 0 and seed % 3 == 0 else None, "colocate": f"g{i // 2}" if i % 5 == 0 else None}
        for i in range(count)
    ]
    devices = [{"name": f"/device:GPU:{i}", "type": "GPU", "memory": room, "slots": 1} for i in range(gpus)]
    devices.append({"name": "/device:CPU:0", "type": "CPU", "memory": None, "slots": 1 if kind == "list" else None})
    return {
        "name": f"own/{kind}-{seed}", "objective": "throughput" if kind == "maxload" else "latency",
        "model": {"kind": kind, "contention": "none", "through_host": kind != "list"}, "devices": devices,
        "links": {"default": {"latency_s": 1e-4, "bytes_per_s": 1e9}, "pairs": []}, "nodes": nodes,
        "edges": [[f"n{a}", f"n{b}", rng.randint(0, 3_000_000)] for a, b in edges],
    }


@pytest.mark.parametrize("kind", ["list", "maxload", "calls"])
@pytest.mark.parametrize("seed", range(8))
def test_is_worth_what_it_says(tmp_path: pathlib.Path, kind: str, seed: int) -> None:
    case = made(seed, kind)
    (tmp_path / "case.json").write_text(json.dumps(case))
    done = plan(tmp_path / "case.json", "--evaluations", "2000")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    value = answer["bottleneck_s" if kind == "maxload" else "makespan_s"]
    assert Reference(case).value(answer) == pytest.approx(value, rel=1e-9)
    assert answer["bound_s"] <= value * (1 + 1e-9)


@pytest.mark.skipif(not SHARED.exists(), reason="the shared evaluator is not beside the checkout")
def test_the_shared_evaluator_agrees(tmp_path: pathlib.Path) -> None:
    subprocess.run([sys.executable, SHARED / "practice.py", tmp_path, "--count", "2", "--seed", "5"],
                   check=True, capture_output=True)
    for path in sorted(tmp_path.glob("*.json")):
        done = plan(path, "--evaluations", "300")
        assert done.returncode == 0, done.stderr
        answer = json.loads(done.stdout)
        (tmp_path / "answer").write_text(done.stdout)
        judged = subprocess.run([sys.executable, SHARED / "simulate.py", path, tmp_path / "answer"],
                                capture_output=True, text=True)
        assert judged.returncode == 0, judged.stdout
        value = answer.get("makespan_s", answer.get("bottleneck_s"))
        assert float(judged.stdout) == pytest.approx(value, rel=1e-8), path.name


def test_the_same_evaluations_give_the_same_answer(tmp_path: pathlib.Path) -> None:
    (tmp_path / "case.json").write_text(json.dumps(made(4, "calls")))
    first, second = (json.loads(plan(tmp_path / "case.json", "--evaluations", "999", "--seed", "3").stdout)
                     for _ in range(2))
    assert first["placement"] == second["placement"] and first["calls"] == second["calls"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("{", "Not a case in JSON"),
        ("[]", "The case is not an object"),
        ({"nodes": 3}, '"nodes" is not a list'),
        ({"edges": [["n0", "nobody", 1]]}, "An edge names node 'nobody', which is not there"),
        ({"edges": [["n0", "n0", 1]]}, "Node 'n0' waits for itself"),
        ({"model": {"kind": "magic"}}, "The model is 'magic'"),
        ({"devices": []}, "has no device"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: pathlib.Path, change: Any, words: str) -> None:
    text = change if isinstance(change, str) else json.dumps({**made(1, "list"), **change})
    (tmp_path / "case.json").write_text(text)
    done = plan(tmp_path / "case.json")
    assert done.returncode == 1 and words in done.stderr, done.stderr
    assert done.stdout == ""


def test_names_nodes_and_bytes_where_there_is_no_room(tmp_path: pathlib.Path) -> None:
    case = made(1, "calls")
    for device in case["devices"]:
        device["memory"] = 10
    (tmp_path / "case.json").write_text(json.dumps(case))
    done = plan(tmp_path / "case.json")
    assert done.returncode == 1
    assert "No device has room for 'n" in done.stderr and "bytes are missing" in done.stderr
