"""Functions of a GraphDef as the graphs of functions that were traced here: to be called and differentiated."""

from __future__ import annotations

from typing import Any

from emplace import _core
from emplace.eager.func_graph import Body, FuncGraph
from emplace.framework import gen, graph_io


class Library:
    """A GraphDef's functions, each made a graph when it is first asked for."""

    def __init__(self, graph_def: Any) -> None:
        self._defs = {f.signature.name: f for f in graph_def.library.function}
        self._producer = graph_def.versions.producer
        self._made: dict[str, Body] = {}
        self._being_made: list[str] = []

    def __contains__(self, name: str) -> bool:
        return name in self._defs

    def definition(self, name: str) -> Any:
        return self._defs[name]

    def body(self, name: str) -> Body:
        if name not in self._made:
            if name in self._being_made:
                raise NotImplementedError(f"Function '{name}' calls itself")
            self._being_made.append(name)
            try:
                self._made[name] = self.fresh_body(name)
            finally:
                self._being_made.pop()
        return self._made[name]

    def fresh_body(self, name: str) -> Body:
        """A graph that nobody else has."""
        definition = self._defs[name]
        graph = FuncGraph(name)
        graph_def, outputs = self._as_graph(definition)
        for inner in sorted(_called(graph_def) & self._defs.keys()):
            graph.add_body(inner, self.body(inner))
        graph.define()
        arguments = [f"{a.name}:0" for a in definition.signature.input_arg]
        must_run = sorted(set(definition.control_ret.values()))
        with graph.as_default():
            found = graph_io.import_internal(graph_def, return_elements=[*arguments, *outputs, *must_run], name="", validate_colocation=False)
        n, m = len(arguments), len(arguments) + len(outputs)
        graph.inputs, graph.outputs, graph.control_outputs = found[:n], found[n:m], found[m:]
        graph.stateful = bool(must_run) or definition.signature.is_stateful
        return Body(graph, graph.inputs, graph.outputs)

    def _as_graph(self, definition: Any) -> tuple[Any, list[str]]:
        """Its nodes with inputs in a graph's notation, and the names of its results."""
        from emplace.proto import graph_pb2

        out = graph_pb2.GraphDef()
        out.versions.producer = self._producer
        for i, arg in enumerate(definition.signature.input_arg):
            node = out.node.add(name=arg.name, op="Placeholder")
            node.attr["dtype"].type = arg.type
            shapes = definition.arg_attr[i].attr["_output_shapes"].list.shape if i in definition.arg_attr else []
            if shapes:
                node.attr["shape"].shape.CopyFrom(shapes[0])
            else:
                node.attr["shape"].shape.unknown_rank = True
        outputs: dict[str, dict[str, int]] = {}  # node -> output argument -> its first place
        for given in definition.node_def:
            node = out.node.add()
            node.CopyFrom(given)
            if _core.find_op(node.op) is None and node.op in self._defs:
                self._make_call(node)
            outputs[node.name] = _first_places(node)
        for node in out.node:
            node.input[:] = [_in_graph(i, outputs) for i in node.input]
        results = [_in_graph(definition.ret[a.name], outputs) for a in definition.signature.output_arg]
        return out, [r if ":" in r else f"{r}:0" for r in results]

    def _make_call(self, node: Any) -> None:
        """An operation named as a function is a call of it."""
        signature = self._defs[node.op].signature
        node.attr["f"].func.name = node.op
        node.op = "StatefulPartitionedCall" if signature.is_stateful else "PartitionedCall"
        node.attr["Tin"].list.type.extend(a.type for a in signature.input_arg)
        node.attr["Tout"].list.type.extend(a.type for a in signature.output_arg)


def _first_places(node: Any) -> dict[str, int]:
    places: dict[str, int] = {}
    at = 0
    if _core.find_op(node.op) is None:
        return places  # the import says which operations are missing, all at once
    for arg in gen.definition(node.op).outputs:
        places[arg.name] = at
        if arg.number_attr:
            at += node.attr[arg.number_attr].i
        elif arg.type_list_attr:
            at += len(node.attr[arg.type_list_attr].list.type)
        else:
            at += 1
    return places


def _in_graph(name: str, outputs: dict[str, dict[str, int]]) -> str:
    """`node:argument:2` → `node:5`."""
    if name.startswith("^") or ":" not in name:
        return name
    node, argument, *index = name.split(":")
    return f"{node}:{outputs[node].get(argument, 0) + (int(index[0]) if index else 0)}"


def _called(graph_def: Any) -> set[str]:
    found: set[str] = set()
    for node in graph_def.node:
        for value in node.attr.values():
            if value.HasField("func"):
                found.add(value.func.name)
            found.update(f.name for f in value.list.func)
    return found
