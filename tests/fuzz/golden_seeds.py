"""A graph for each operation: calls of tests/golden as small GraphDefs, in text and in bytes."""

from __future__ import annotations

import pathlib
import urllib.parse
from typing import Any, Iterator

import numpy as np

import emplace.compat.v1 as tf
from emplace.framework import gen

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden"
FILES = ("cpu_kernels", "cpu_kernels_more", "net_kernels", "imported_kernels", "file_kernels")
LARGEST = 3000  # bytes of a seed: larger ones are slow to change
EACH = 2  # seeds of one operation


def blocks() -> Iterator[list[list[str]]]:
    for name in FILES:
        for block in (GOLDEN / f"{name}.txt").read_text().split("\n\n"):
            if lines := [line.split() for line in block.splitlines() if line]:
                yield lines


def value(words: list[str]) -> Any:
    dtype, dims, *texts = words
    shape = [] if dims == "-" else [int(d) for d in dims.split(",")]
    if dtype == "string":
        flat = np.array([urllib.parse.unquote_to_bytes(t[1:]) for t in texts], object)
    elif dtype.startswith("complex"):
        flat = np.array([complex(*map(float, t.split(","))) for t in texts], dtype)
    else:
        flat = np.array([float(t) if "float" in dtype else int(t) for t in texts], tf.as_dtype(dtype).as_numpy_dtype)
    return tf.constant(flat.reshape(shape), tf.as_dtype(dtype))


def attribute(kind: str, words: list[str]) -> Any:
    one = {
        "int": int, "float": float, "type": tf.as_dtype, "string": str, "bool": lambda w: w == "1",
        "text": lambda w: urllib.parse.unquote(w[1:]),
        "shape": lambda w: [] if w == "-" else [int(d) for d in w.split(",")],
    }  # fmt: skip
    if kind in one:
        return one[kind](words[0] if words else "")
    return [one[kind.removesuffix("s")](w) for w in words]


def graph_of(lines: list[list[str]]) -> tf.Graph:
    with tf.Graph().as_default() as graph:
        values = [value(words) for what, *words in lines if what == "in"]
        attrs = {words[0]: attribute(words[1], words[2:]) for what, *words in lines if what == "attr"}
        inputs: list[Any] = []
        for arg in gen.definition(lines[0][1]).inputs:
            if not arg.is_list:
                inputs.append(values.pop(0))
                continue
            count = attrs.get(arg.number_attr, len(values)) if arg.number_attr else len(values)
            inputs.append(values[:count])
            del values[:count]
        gen.apply(lines[0][1], inputs, attrs, None)
    return graph


def graphs() -> Iterator[tf.Graph]:
    made: dict[str, int] = {}
    for lines in blocks():
        op = lines[0][1]
        if made.get(op, 0) >= EACH or sum(map(len, map(" ".join, lines))) > LARGEST or any(l[0] == "var" for l in lines):
            continue
        try:
            yield graph_of(lines)
        except Exception:  # a call that is wrong already in a graph is no seed
            continue
        made[op] = made.get(op, 0) + 1


def seeds() -> Iterator[tuple[bytes, bytes]]:
    """In text and in bytes."""
    for graph in graphs():
        graph_def = graph.as_graph_def()
        yield str(graph_def).encode(), graph_def.SerializeToString()


def files(folder: pathlib.Path) -> tuple[bytes, bytes]:
    """A SavedModel's file with a function and a variable, and the index of its checkpoint."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        y = tf.matmul(x, tf.get_variable("w", [2, 3], use_resource=True), name="y")
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, str(folder), {"x": x}, {"y": y})
    return (folder / "saved_model.pb").read_bytes(), (folder / "variables" / "variables.index").read_bytes()
