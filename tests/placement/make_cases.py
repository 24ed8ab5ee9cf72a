#!/usr/bin/env python3
"""Writes tests/golden/placement/tensorflow.txt: random graphs, and where TensorFlow puts their nodes.

usage: make_cases.py COUNT > tests/golden/placement/tensorflow.txt     (needs tensorflow)

A case is
    case NUMBER soft|hard
    NAME OP DEVICE GROUPS INPUTS CONTROL       one line a node; `-` stands for nothing
    = DEVICE_OF_FIRST DEVICE_OF_SECOND ...     or   ! THE ERROR'S FIRST LINE
Devices are the four CPUs of one process: what differs between types is not tested here.
"""
import os
import random
import re
import subprocess
import sys

CPUS = 4
LINE = re.compile(r"^(n\d+): \(\w+\): .*/device:(CPU:\d+)$")


def draw(rng: random.Random) -> list[dict]:
    """A random graph as a list of nodes; inputs are (index, output kind)."""
    nodes: list[dict] = []
    kinds: dict[str, list[int]] = {"value": [], "ref": [], "handle": [], "int": []}

    def add(op: str, inputs=(), gives: str | None = None):
        index = len(nodes)
        control = []
        if index and op not in ("Shape", "Rank", "Size") and rng.random() < 0.12:
            control = [rng.randrange(index)]
            control = [c for c in control if c not in inputs]  # Python leaves such out
        device = ""
        if rng.random() < 0.3:
            device = rng.choice([f"/device:CPU:{rng.randrange(CPUS)}"] * 37 + [
                "/device:CPU:*", "/job:localhost", "/device:CPU:7"])
        groups = []
        if rng.random() < 0.12:
            groups = [rng.choice([f"n{rng.randrange(index + 6)}", "ghost"])]
        nodes.append({"op": op, "in": list(inputs), "control": control, "device": device,
                      "groups": groups})
        if gives:
            kinds[gives].append(index)

    def any_of(kind: str) -> int:
        return rng.choice(kinds[kind])

    add("Placeholder", gives="value")
    for _ in range(rng.randrange(3, 25)):
        roll = rng.randrange(14)
        if roll <= 1:
            add("Placeholder", gives="value")
        elif roll == 2:
            add("VariableV2", gives="ref")
        elif roll == 3:
            add("VarHandleOp", gives="handle")
        elif roll <= 5 and kinds["ref"]:
            add("Assign", (any_of("ref"), any_of("value")))
        elif roll == 6 and kinds["ref"]:
            add("Identity", (any_of("ref"),), "value")
        elif roll == 7 and kinds["handle"]:
            add("ReadVariableOp", (any_of("handle"),), "value")
        elif roll == 8 and kinds["handle"]:
            add("AssignVariableOp", (any_of("handle"), any_of("value")))
        elif roll == 9 and kinds["handle"]:
            add(rng.choice(["Identity", "IdentityN"]), (any_of("handle"),), "handle")
        elif roll == 10:
            add(rng.choice(["Shape", "Rank", "Size"]), (any_of("value"),), "int")
        elif roll == 11:
            add("AddV2", (any_of("value"), any_of("value")), "value")
        elif roll == 12:
            add("Identity", (any_of("value"),), "value")
        else:
            add("Neg", (any_of("value"),), "value")
    return nodes


def build(tf, nodes: list[dict]):
    """The graph in TensorFlow, device and groups set afterwards so that nothing adjusts them."""
    from tensorflow.core.framework import attr_value_pb2
    raw = tf.raw_ops
    graph = tf.Graph()
    ops = []
    with graph.as_default():
        for index, node in enumerate(nodes):
            name = f"n{index}"
            inputs = [ops[i].outputs[0] for i in node["in"]]
            with tf.control_dependencies([ops[i] for i in node["control"]]):
                ops.append(make(tf, raw, node["op"], inputs, name))
        for op, node in zip(ops, nodes):
            op._set_device(node["device"])
            groups = [f"loc:@{g}".encode() for g in node["groups"]]
            op._clear_attr("_class") if "_class" in op.node_def.attr else None
            if groups:
                op._set_attr("_class", attr_value_pb2.AttrValue(
                    list=attr_value_pb2.AttrValue.ListValue(s=groups)))
        with tf.device("/device:CPU:0"):
            run = tf.no_op("run")
    return graph, run


def make(tf, raw, op, inputs, name):
    if op == "Placeholder":
        made = raw.Placeholder(dtype=tf.float32, shape=[], name=name)
    elif op == "VariableV2":
        made = raw.VariableV2(shape=[], dtype=tf.float32, name=name)
    elif op == "VarHandleOp":
        made = raw.VarHandleOp(dtype=tf.float32, shape=[], shared_name=name, name=name)
    elif op == "Assign":
        made = raw.Assign(ref=inputs[0], value=inputs[1], name=name)
    elif op == "ReadVariableOp":
        made = raw.ReadVariableOp(resource=inputs[0], dtype=tf.float32, name=name)
    elif op == "AssignVariableOp":
        return raw.AssignVariableOp(resource=inputs[0], value=inputs[1], name=name)
    elif op == "IdentityN":
        return raw.IdentityN(input=inputs, name=name)[0].op
    elif op == "AddV2":
        made = raw.AddV2(x=inputs[0], y=inputs[1], name=name)
    elif op == "Neg":
        made = raw.Neg(x=inputs[0], name=name)
    else:
        made = getattr(raw, op)(input=inputs[0], name=name)
    return made.op


def place(tf, nodes, soft: bool) -> str:
    """Runs the graph; the placements go to stdout, the error is returned."""
    graph, run = build(tf, nodes)
    config = tf.compat.v1.ConfigProto(device_count={"CPU": CPUS}, allow_soft_placement=soft,
                                      log_device_placement=True)
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    with tf.compat.v1.Session(graph=graph, config=config) as session:
        try:
            session.run(run)
        except tf.errors.OpError as error:
            return next(x for x in error.message.splitlines() if re.match("Cannot|Nodes", x))
    return ""


def worker(seeds: list[int]) -> None:
    import tensorflow as tf
    tf.compat.v1.disable_eager_execution()
    for seed in seeds:
        rng = random.Random(seed)
        nodes, soft = draw(rng), rng.random() < 0.5
        print(f"CASE {seed}", flush=True)
        error = place(tf, nodes, soft)
        print(f"END {error}", flush=True)


def show(seed: int, lines: list[str], error: str) -> None:
    rng = random.Random(seed)
    nodes, soft = draw(rng), rng.random() < 0.5
    placed = dict(m.groups() for m in map(LINE.match, lines) if m)
    print(f"case {seed} {'soft' if soft else 'hard'}")
    for index, node in enumerate(nodes):
        print(f"n{index}", node["op"], node["device"] or "-", ",".join(node["groups"]) or "-",
              ",".join(map(str, node["in"])) or "-", ",".join(map(str, node["control"])) or "-")
    print(f"! {error}" if error else "= " + " ".join(placed[f"n{i}"] for i in range(len(nodes))))


def main(count: int) -> None:
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "0"}
    out = subprocess.run([sys.executable, __file__, "--worker", str(count)], text=True, check=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment).stdout
    seed, lines = -1, []
    for line in out.splitlines():
        if line.startswith("CASE "):
            seed, lines = int(line[5:]), []
        elif line.startswith("END"):
            show(seed, lines, line[4:])
        else:
            lines.append(line)


if __name__ == "__main__":
    if sys.argv[1] == "--worker":
        worker(list(range(int(sys.argv[2]))))
    else:
        main(int(sys.argv[1]))
