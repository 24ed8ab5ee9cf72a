"""tf.graph_util: GraphDefs taken apart and put together."""

from __future__ import annotations

from typing import Any

import numpy as np

from emplace.framework.graph_io import import_graph_def as import_graph_def
from emplace.framework.graph_io import make_tensor_proto as _make_tensor_proto
from emplace.framework import listing as _listing


def _source(text: str) -> str:
    return text.lstrip("^").split(":")[0]


def extract_sub_graph(graph_def: Any, dest_nodes: Any) -> Any:
    """The nodes that `dest_nodes` need, in their order."""
    if isinstance(dest_nodes, str):
        raise TypeError(f"dest_nodes must be an iterable of strings, but got type {type(dest_nodes)}.")
    nodes = {n.name: n for n in graph_def.node}
    for name in dest_nodes:
        if name not in nodes:
            raise AssertionError(f"{name} is not in graph")
    needed: set[str] = set()
    todo = list(dest_nodes)
    while todo:
        name = todo.pop()
        if name not in needed:
            needed.add(name)
            todo.extend(_source(i) for i in nodes[name].input)
    out = type(graph_def)()
    out.node.extend(n for n in graph_def.node if n.name in needed)
    out.library.CopyFrom(graph_def.library)
    out.versions.CopyFrom(graph_def.versions)
    return out


def remove_training_nodes(input_graph: Any, protected_nodes: Any = None) -> Any:
    """Without checks and without Identity nodes in between."""
    protected = set(protected_nodes or ())
    kept = [n for n in input_graph.node if n.op not in ("CheckNumerics", "Print") or n.name in protected]
    skipped = {n.name: n.input[0] for n in input_graph.node if n.op in ("CheckNumerics", "Print") and n.name not in protected}
    for n in kept:
        if n.op == "Identity" and n.name not in protected and len(n.input) == 1 and not n.input[0].startswith("^"):
            skipped[n.name] = n.input[0]
    out = type(input_graph)()
    for n in kept:
        if n.name in skipped:
            continue
        node = out.node.add()
        node.CopyFrom(n)
        for i, text in enumerate(node.input):
            while text in skipped:
                text = skipped[text]
            node.input[i] = text
    out.library.CopyFrom(input_graph.library)
    out.versions.CopyFrom(input_graph.versions)
    return out


def convert_variables_to_constants(
    sess: Any, input_graph_def: Any, output_node_names: Any, variable_names_whitelist: Any = None, variable_names_blacklist: Any = None,
) -> Any:
    """The graph that `output_node_names` need, its variables replaced by their values in `sess`."""
    graph_def = extract_sub_graph(input_graph_def, list(output_node_names))
    by_name = {n.name: n for n in graph_def.node}
    wanted = [
        n.name for n in graph_def.node
        if n.op in ("Variable", "VariableV2", "VarHandleOp")
        and (variable_names_whitelist is None or n.name in variable_names_whitelist)
        and (variable_names_blacklist is None or n.name not in variable_names_blacklist)
    ]
    fetches = [f"{n}:0" if by_name[n].op != "VarHandleOp" else _reader(input_graph_def, n) for n in wanted]
    values = dict(zip(wanted, sess.run(fetches) if fetches else []))
    out = type(graph_def)()
    for n in graph_def.node:
        node = out.node.add()
        if n.name in values:
            _make_constant(node, n, values[n.name])
        elif n.op == "ReadVariableOp" and n.input[0] in values:
            node.name, node.op, node.device = n.name, "Identity", n.device
            node.input.append(n.input[0])
            node.attr["T"].CopyFrom(n.attr["dtype"])
        else:
            node.CopyFrom(n)
    out.library.CopyFrom(graph_def.library)
    out.versions.CopyFrom(graph_def.versions)
    return out


def _reader(graph_def: Any, handle: str) -> str:
    for n in graph_def.node:
        if n.op == "ReadVariableOp" and n.input and _source(n.input[0]) == handle:
            return f"{n.name}:0"
    raise ValueError(f"No node reads variable {handle!r}")


def _make_constant(node: Any, variable: Any, value: Any) -> None:
    node.name, node.op, node.device = variable.name, "Const", variable.device
    node.attr["dtype"].CopyFrom(variable.attr["dtype"])
    node.attr["value"].tensor.CopyFrom(_make_tensor_proto(np.asarray(value)))


def must_run_on_cpu(node: Any, pin_variables_on_cpu: bool = False) -> bool:
    """Whether a node should stay on the CPU: a variable, if these are pinned there."""
    return pin_variables_on_cpu and getattr(node, "op", node) in ("Variable", "VariableV2")


def tensor_shape_from_node_def_name(graph: Any, input_name: str) -> Any:
    """The static shape of a tensor, given by its name or its op's."""
    return graph.get_tensor_by_name(input_name if ":" in input_name else input_name + ":0").shape

__dir__ = _listing.of_module(globals())
