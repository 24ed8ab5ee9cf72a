"""The command line: what it prints, writes and returns."""

from __future__ import annotations

import json
import os
import pathlib
import pty
import re
import signal
import subprocess
from typing import Any

import numpy as np
import pytest

from cli import EMPLACE, ENVIRONMENT, emplace

pytestmark = pytest.mark.skipif(not EMPLACE.exists(), reason="the command line is not built")

FLOAT = "attr { key: 'dtype' value { type: DT_FLOAT } }"
GRAPH = f"""
node {{ name: 'x' op: 'Placeholder' {FLOAT} attr {{ key: 'shape' value {{ shape {{ dim {{ size: -1 }} }} }} }} }}
node {{ name: 'two' op: 'Const' {FLOAT} attr {{ key: 'value' value {{ tensor {{ dtype: DT_FLOAT tensor_shape {{}} float_val: 2 }} }} }} }}
node {{ name: 'y' op: 'Mul' input: 'x' input: 'two' attr {{ key: 'T' value {{ type: DT_FLOAT }} }} }}
node {{ name: 'v' op: 'VariableV2' {FLOAT} attr {{ key: 'shape' value {{ shape {{}} }} }} }}
node {{ name: 'init' op: 'Assign' input: 'v' input: 'two' attr {{ key: 'T' value {{ type: DT_FLOAT }} }} }}
node {{ name: 'bump' op: 'AssignAdd' input: 'v' input: 'two' attr {{ key: 'T' value {{ type: DT_FLOAT }} }} }}
node {{ name: 'text' op: 'Const' attr {{ key: 'dtype' value {{ type: DT_STRING }} }} attr {{ key: 'value' value {{ tensor {{ dtype: DT_STRING
  tensor_shape {{ dim {{ size: 2 }} }} string_val: 'one' string_val: 'three' }} }} }} }}
"""


@pytest.fixture
def graph(tmp_path: pathlib.Path) -> pathlib.Path:
    (tmp_path / "graph.pbtxt").write_text(GRAPH)
    np.save(tmp_path / "x.npy", np.array([1.0, 2.0], np.float32))
    return tmp_path / "graph.pbtxt"


def pinned(graph: pathlib.Path, **devices: str) -> pathlib.Path:
    text = GRAPH
    for node, device in devices.items():
        text = text.replace(f"name: '{node}'", f"name: '{node}' device: '{device}'")
    graph.write_text(text)
    return graph


def answer(*arguments: Any) -> Any:
    done = emplace(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_help_names_every_subcommand() -> None:
    done = emplace("--help")
    assert done.returncode == 0
    for name in ("devices", "run", "place", "show", "doctor", "serve", "launch", "cluster"):
        assert name in done.stdout
        assert emplace(name, "--help").returncode == 0


def test_a_bad_command_line_is_status_2(graph: pathlib.Path) -> None:
    for bad in (["run"], ["run", graph], ["walk"], ["run", graph, "--fetch", "y:0", "--steps", "0"],
                ["run", graph, "--fetch", "y:0", "--feed", "x:0"], ["run", graph, "--target", "init", "--out", "o.npz"], []):
        done = emplace(*bad)
        assert done.returncode == 2, bad
        assert done.stderr and not done.stdout


def test_run_writes_the_fetches_under_their_names(graph: pathlib.Path, tmp_path: pathlib.Path) -> None:
    out = tmp_path / "out.npz"
    done = emplace("run", graph, "--feed", f"x:0={tmp_path / 'x.npy'}", "--fetch", "y:0", "--fetch", "text:0", "--fetch", "two", "--out", out)
    assert done.returncode == 0 and not done.stderr and not done.stdout
    with np.load(out) as arrays:
        assert sorted(arrays) == ["text:0", "two", "y:0"]
        np.testing.assert_array_equal(arrays["y:0"], np.float32([2, 4]))
        assert arrays["text:0"].dtype == "S5" and arrays["text:0"].tolist() == [b"one", b"three"]
        assert arrays["two"].shape == ()


def test_targets_are_steps_in_order(graph: pathlib.Path) -> None:
    values = {}
    for name, targets in {"a": ["init", "bump"], "b": ["init", "bump", "bump"], "c": ["init", "bump", "init"]}.items():
        arguments = [w for t in targets for w in ("--target", t)]
        values[name] = answer("run", graph, *arguments, "--fetch", "v:0")["fetches"]["v:0"]["text"]
    assert values == {"a": "4", "b": "6", "c": "2"}


def test_an_error_goes_to_stderr(graph: pathlib.Path) -> None:
    done = emplace("run", graph, "--fetch", "v:0")
    assert done.returncode == 1 and not done.stdout
    assert done.stderr.startswith("emplace: FailedPrecondition: ")
    done = emplace("run", graph, "--fetch", "v:0", "--json")
    assert done.returncode == 1 and json.loads(done.stdout)["error"]["code"] == "FailedPrecondition"


def test_steps_trace_and_placement(graph: pathlib.Path, tmp_path: pathlib.Path) -> None:
    feed = ["--feed", f"x={tmp_path / 'x.npy'}"]
    done = emplace("run", graph, *feed, "--fetch", "y:0", "--steps", 5, "--trace", tmp_path / "t.json", "--log-placement")
    assert done.returncode == 0, done.stderr
    assert "y: /job:localhost/replica:0/task:0/device:CPU:0" in done.stdout.replace("(Mul): ", "")
    assert "5 steps" in done.stdout and "Mul" in done.stdout
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    assert any(e["ph"] == "X" and e["args"]["name"] == "y" for e in events)
    hottest = answer("run", graph, *feed, "--fetch", "y:0", "--steps", 5)["hottest"]
    assert hottest[0]["node"] == "y" and hottest[0]["calls"] == 5


def test_feeds_are_made_the_dtype_that_is_expected(graph: pathlib.Path, tmp_path: pathlib.Path) -> None:
    np.save(tmp_path / "d.npy", np.array([1.5, 2.5], np.float64))
    found = answer("run", graph, "--feed", f"x:0={tmp_path / 'd.npy'}", "--fetch", "y:0")
    assert found["fetches"]["y:0"] == {"dtype": "float32", "shape": [2], "text": "3 5"}
    (tmp_path / "bad.npy").write_bytes(b"no array")
    done = emplace("run", graph, "--feed", f"x:0={tmp_path / 'bad.npy'}", "--fetch", "y:0")
    assert done.returncode == 1 and "bad.npy: Not a .npy file" in done.stderr


def test_config_is_a_config_proto(graph: pathlib.Path, tmp_path: pathlib.Path) -> None:
    config = tmp_path / "config.pbtxt"
    config.write_text("device_count { key: 'CPU' value: 3 }")
    assert [d["name"][-5:] for d in answer("devices", "--config", config)["devices"]] == ["CPU:0", "CPU:1", "CPU:2"]
    config.write_text("nonsense: 1")
    done = emplace("devices", "--config", config)
    assert done.returncode == 1 and "config.pbtxt" in done.stderr and "nonsense" in done.stderr


def test_place_on_devices_that_are_not_here(graph: pathlib.Path, tmp_path: pathlib.Path) -> None:
    pinned(graph, y="/job:worker/task:1/gpu:1", v="/cpu:0")
    devices = ["-d", "CPU:0", "-d", "GPU:0", "--device", "/job:worker/replica:0/task:1/device:GPU:1"]
    nodes = {n["name"]: n for n in answer("place", graph, *devices)["nodes"]}
    assert set(nodes) == {"x", "two", "y", "v", "init", "bump", "text"}
    assert nodes["y"]["device"] == "/job:worker/replica:0/task:1/device:GPU:1" and nodes["y"]["op"] == "Mul"
    assert nodes["v"]["device"] == nodes["bump"]["device"] == "/job:localhost/replica:0/task:0/device:CPU:0"
    assert nodes["y"]["reason"] and {"device", "why"} == set(nodes["y"]["rejected"][0])
    done = emplace("place", graph, *devices, "--dot", tmp_path / "p.dot", "--svg", tmp_path / "p.svg")
    assert done.returncode == 0
    assert (tmp_path / "p.dot").read_text().startswith("digraph") and (tmp_path / "p.svg").read_text().startswith("<svg")


def test_place_lists_every_pin_that_cannot_be_met(graph: pathlib.Path) -> None:
    pinned(graph, y="/gpu:3", two="/cpu:5")
    done = emplace("place", graph, "-d", "CPU:0", "--json")
    assert done.returncode == 1
    assert {e["node"] for e in json.loads(done.stdout)["unmet"]} == {"y", "two"}
    assert "'y'" in done.stderr and "'two'" in done.stderr
    assert emplace("place", graph, "-d", "CPU:0", "--soft").returncode == 0


TOPOLOGY = {
    "devices": [{"name": "CPU:0", "slots": 8}, {"name": "GPU:0", "memory": 8e9, "launch_s": 5e-6}, {"name": "GPU:1", "memory": 8e9}],
    "links": {"default": {"latency_s": 1e-5, "bytes_per_s": 2.5e10}, "pairs": [{"src": "GPU:0", "dst": "GPU:1", "latency_s": 5e-6, "bytes_per_s": 3e11}]},
}


def test_place_foretells_a_step_on_machines_that_are_not_here(graph: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (tmp_path / "topology.json").write_text(json.dumps(TOPOLOGY))
    options = ["--placer", "dynamic", "--devices", tmp_path / "topology.json", "--fetch", "y"]
    found = answer("place", pinned(graph, two="/gpu:1"), *options, "--trace", tmp_path / "t.json")
    ways = {o["way"]: o for o in found["outlooks"]}
    assert list(ways) == ["CPU:0 alone", "GPU:0 alone", "GPU:1 alone", "simple placer", "your pins", "dynamic placer"]
    assert all(o["possible"] and o["step_s"] > 0 and len(o["devices"]) == 3 for o in ways.values())
    assert ways["GPU:0 alone"]["devices"][1]["limit_bytes"] == 8e9
    assert {n["name"]: n["device"] for n in found["nodes"]}["two"].endswith("GPU:1")
    assert json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    done = emplace("place", graph, *options)
    assert done.returncode == 0 and "soonest" in done.stdout and "reason" in done.stdout
    done = emplace("place", graph, "--placer", "simple", *options[2:])
    assert done.returncode == 0 and "pinned by the user" in done.stdout


def test_run_draws_a_step_below_what_was_predicted_of_it(graph: pathlib.Path, tmp_path: pathlib.Path) -> None:
    done = emplace("run", graph, "--feed", f"x:0={tmp_path / 'x.npy'}", "--fetch", "y:0", "--steps", 3, "--timeline", tmp_path / "t.svg")
    assert done.returncode == 0, done.stderr
    picture = (tmp_path / "t.svg").read_text()
    assert picture.startswith("<svg") and picture.index("predicted: ") < picture.index("measured: ")
    assert picture.count("y (Mul) on /job:localhost/replica:0/task:0/device:CPU:0") == 2
    assert emplace("run", graph, "--target", "init", "--timeline", tmp_path / "t.svg").returncode == 2


def test_place_says_what_is_wrong_with_a_topology(graph: pathlib.Path, tmp_path: pathlib.Path) -> None:
    topology = tmp_path / "topology.json"
    for text, words in (
        ("{", "Not a topology in JSON"),
        ('{"devices": [{"name": "GPU"}]}', "GPU"),
        ('{"devices": [{"name": "GPU:0"}, {"name": "GPU:0"}]}', "Two devices are called GPU:0"),
        ('{"devices": [{"name": "GPU:0"}], "links": {"pairs": [{"src": "GPU:1", "dst": "GPU:0"}]}}', "GPU:1"),
    ):
        topology.write_text(text)
        done = emplace("place", graph, "--placer", "dynamic", "--devices", topology)
        assert done.returncode == 1 and words in done.stderr, done.stderr
    assert emplace("place", graph, "--devices", topology).returncode == 2
    assert emplace("place", graph, "--placer", "wise").returncode == 2


def test_place_lists_what_is_not_as_demanded(graph: pathlib.Path, tmp_path: pathlib.Path) -> None:
    demands = tmp_path / "demands.txt"
    demands.write_text("# all\n/gpu:*  ops=y\nops=**  max_copies=0  max_copied_bytes=1KiB\n/cpu:0  ops=nobody/**\n")
    devices = ["-d", "CPU:0", "-d", "GPU:0"]
    done = emplace("place", pinned(graph, y="/cpu:0"), *devices, "--require", demands, "--json")
    assert done.returncode == 1
    broken = json.loads(done.stdout)["violations"]
    assert [v["demanded_at"].rsplit(":", 1)[1] for v in broken] == ["2", "3", "4"]
    assert broken[0]["node"] == "y" and broken[0]["device"].endswith("CPU:0")
    assert "must be on /gpu:*" in broken[0]["reason"] and "no operation matches" in broken[2]["reason"]
    assert len(done.stderr.splitlines()) == 3
    demands.write_text("/cpu:0 ops=y\n")
    done = emplace("place", pinned(graph, y="/cpu:0"), *devices, "--require", demands)
    assert done.returncode == 0 and "reason" in done.stdout and not done.stderr
    demands.write_text("/cpu:* ops=y max_peak=3\n")
    done = emplace("place", pinned(graph, y="/cpu:0"), *devices, "--require", demands, "--placer", "dynamic")
    assert done.returncode == 1 and "held at once, 3 bytes allowed" in done.stderr
    demands.write_text("/cpu:0 peak=1\n")
    assert f"{demands}:1: " in emplace("place", graph, *devices, "--require", demands).stderr


def test_show_and_doctor(graph: pathlib.Path) -> None:
    shown = answer("show", graph)
    assert shown["nodes"] == 7 and shown["ops"]["Const"] == 2
    assert shown["parameters"][0]["name"] == "v" and shown["num_parameters"] == 1
    assert [t["tensor"] for t in shown["inputs"]] == ["x:0"]
    assert "Placeholder" in emplace("show", graph).stdout
    done = emplace("doctor", "--json")
    topics = {f["topic"] for f in json.loads(done.stdout)["findings"]}
    assert {"version", "library", "cpu", "memory", "limits", "gpu"} <= topics and done.returncode in (0, 1)


def test_unknown_ops_are_listed_at_once(graph: pathlib.Path) -> None:
    graph.write_text("node { name: 'a' op: 'First' } node { name: 'b' op: 'Second' } node { name: 'c' op: 'First' }")
    done = emplace("show", graph)
    assert done.returncode == 1
    assert "NotFound: Op types not registered: 'First' (node 'a' and 1 more), 'Second' (node 'b')" in done.stderr


def test_limits(graph: pathlib.Path) -> None:
    """What asks for more than there is ends at once, with an error."""
    dims = " ".join("dim { size: 1000000 }" for _ in range(3))
    graph.write_text(f"node {{ name: 'a' op: 'Const' {FLOAT} attr {{ key: 'value' value {{ tensor {{ dtype: DT_FLOAT tensor_shape {{ {dims} }} float_val: 1 }} }} }} }}")
    assert emplace("show", graph).returncode == 1
    fill = "node { name: 's' op: 'Const' attr { key: 'dtype' value { type: DT_INT64 } } attr { key: 'value' value { tensor { dtype: DT_INT64 tensor_shape { dim { size: 2 } } int64_val: 1000000000 int64_val: 1000000000 } } } }"
    graph.write_text(fill + "node { name: 'v' op: 'Const' " + FLOAT + " attr { key: 'value' value { tensor { dtype: DT_FLOAT tensor_shape {} float_val: 1 } } } }"
                     "node { name: 'f' op: 'Fill' input: 's' input: 'v' attr { key: 'T' value { type: DT_FLOAT } } attr { key: 'index_type' value { type: DT_INT64 } } }")
    done = emplace("run", graph, "--fetch", "f:0")
    assert done.returncode == 1 and "ResourceExhausted" in done.stderr
    calls = "".join(
        f"function {{ signature {{ name: 'f{i}' }} node_def {{ name: 'n' op: 'f{(i + 1) % 3}' }} }}" for i in range(3)
    )
    graph.write_text(f"library {{ {calls} }} node {{ name: 'a' op: 'f0' }}")
    done = emplace("show", graph)
    assert done.returncode == 1 and "calls itself" in done.stderr


def test_place_lists_pins_beside_what_no_device_can_run(graph: pathlib.Path) -> None:
    pinned(graph, y="/gpu:3", two="/cpu:5")
    done = emplace("place", graph, "-d", "GPU:0", "--json")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert {e["node"] for e in found["unmet"]} == {"y", "two", "text"}  # a GPU has no texts
    assert {n["name"] for n in found["nodes"]} == {"x", "two", "y", "v", "init", "bump"}


def test_virtual_gpus_are_linked_through_host_memory() -> None:
    devices = answer("devices", "--virtual-gpus", 2)["devices"]
    assert [d["type"] for d in devices] == ["CPU", "GPU", "GPU"]
    assert {link["kind"] for d in devices for link in d["links"]} == {"copy within host memory"}
    assert "GiB free" in emplace("devices").stdout


def test_what_a_count_is(graph: pathlib.Path) -> None:
    for bad in ("x", "0", "-3", "1.5", "99999999999"):
        done = emplace("run", graph, "--fetch", "two", "--steps", bad)
        assert done.returncode == 2 and "--steps" in done.stderr and len(done.stderr) < 200, done.stderr


def test_a_file_that_cannot_be_written_is_named_with_the_reason(graph: pathlib.Path, tmp_path: pathlib.Path) -> None:
    for option in ("--out", "--trace"):
        done = emplace("run", graph, "--fetch", "two", option, tmp_path / "no" / "f")
        assert done.returncode == 1 and f"NotFound: {tmp_path / 'no' / 'f'}; No such file or directory" in done.stderr
    done = emplace("place", graph, "-d", "CPU:0", "--svg", tmp_path)
    assert done.returncode == 1 and f"FailedPrecondition: {tmp_path}; Is a directory" in done.stderr


def test_a_contradiction_is_json_too(graph: pathlib.Path) -> None:
    done = emplace("run", graph, "--json")
    assert done.returncode == 2 and "nothing to run" in json.loads(done.stdout)["error"]["message"]


def on_a_terminal(*arguments: Any, until: str | None = None) -> tuple[int, str]:
    """Exit status, and what was written to a terminal as stderr; the run is ended when `until` shows."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([str(EMPLACE), *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=theirs, env=ENVIRONMENT) as process:
        os.close(theirs)
        seen = b""
        while True:
            try:
                more = os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            if not more:
                break
            seen += more
            if until is not None and re.search(until, seen.decode()):
                process.terminate()
    os.close(ours)
    return process.returncode, seen.decode()


def test_a_long_run_shows_progress_on_a_terminal(graph: pathlib.Path, tmp_path: pathlib.Path) -> None:
    feed = ["--feed", f"x={tmp_path / 'x.npy'}"]
    status, seen = on_a_terminal("run", graph, *feed, "--fetch", "y:0", "--steps", 1000000, "--config", tmp_path / "short.pbtxt")
    assert status == 1 and "\r[" not in seen  # there is no such file: over at once
    bar = r"\r\[=* *\] \d+/2000000000  \d+ s"
    status, seen = on_a_terminal("run", graph, *feed, "--fetch", "y:0", "--steps", 2000000000, until=bar)
    assert status == -signal.SIGTERM and re.search(bar, seen)
    status, seen = on_a_terminal("run", graph, *feed, "--fetch", "y:0")
    assert status == 0 and not seen


def test_a_signature_gives_names_to_feeds_and_fetches(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("emplace")
    import emplace as tf

    class Model(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32, name="in")])
        def serve(self, x: Any) -> Any:
            return {"twice": 2 * x, "sum": tf.reduce_sum(x)}

    model = Model()
    tf.saved_model.save(model, str(tmp_path / "m"), signatures={"serve": model.serve})
    np.save(tmp_path / "x.npy", np.float32([1, 2]))
    run = ["run", tmp_path / "m", "--signature", "serve", "--feed", f"in={tmp_path / 'x.npy'}"]
    assert answer(*run, "--fetch", "sum")["fetches"]["sum"]["text"] == "3"
    assert set(answer(*run)["fetches"]) == {"twice", "sum"}  # all of them
    done = emplace("run", tmp_path / "m", "--signature", "none", "--fetch", "sum")
    assert done.returncode == 1 and "no signature 'none'; it has: 'serve'" in done.stderr, done.stderr


@pytest.mark.parametrize("name, value", [("EMPLACE_VIRTUAL_GPUS", "abc"), ("EMPLACE_HOST_TENSOR_MB", "much"), ("EMPLACE_MAX_CPU_ISA", "AVX9"), ("EMPLACE_NO_SUCH_THING", "1")])
def test_doctor_complains_about_the_environment(name: str, value: str) -> None:
    environment = {k: v for k, v in ENVIRONMENT.items() if not k.startswith("EMPLACE_")} | {name: value}
    done = subprocess.run([str(EMPLACE), "doctor", "--json"], capture_output=True, text=True, env=environment)
    problems = [f for f in json.loads(done.stdout)["findings"] if f["problem"] and name in f["text"]]
    assert done.returncode == 1 and len(problems) == 1 and problems[0]["advice"]


@pytest.mark.parametrize("name, value", [("EMPLACE_TF32", "0"), ("EMPLACE_MAX_CPU_ISA", "AVX2")])
def test_doctor_knows_what_is_read(name: str, value: str) -> None:
    environment = {k: v for k, v in ENVIRONMENT.items() if not k.startswith("EMPLACE_")} | {name: value}
    done = subprocess.run([str(EMPLACE), "doctor", "--json"], capture_output=True, text=True, env=environment)
    assert not [f for f in json.loads(done.stdout)["findings"] if f["problem"] and name in f["text"]]
