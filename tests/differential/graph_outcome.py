"""Runs a graph snippet on one implementation and describes what came of it, ready to compare."""

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from snippet import Fed, Snippet, Steps, Told

# Where TensorFlow's message goes on about a node's text form, its documentation or its call stack.
CUTS = (
    r" for '\{\{node ",
    r"\n",
    r" See https?://",
    r" You can attempt the following",
    r" Consider casting",
    r" \(graphs are ",
    r" Originally defined at",
    r" Please call `x\.shape`",
)


@dataclass
class Outcome:
    nodes: list[dict[str, Any]] = field(default_factory=list)
    result: Any = None
    error: str | None = None  # the class's name
    message: str = ""
    bases: tuple[str, ...] = ()


def node_facts(op: Any) -> dict[str, Any]:
    """Handles are scalars, though of those of arrays TensorFlow says that they are pairs."""
    return {
        "name": op.name,
        "type": {"VariableV2": "Variable"}.get(op.type, op.type),
        "device": op.device,
        "colocation": [group.decode() for group in op.colocation_groups()],
        "inputs": [tensor.name for tensor in op.inputs],
        "controls": sorted(control.name for control in op.control_inputs),
        "shapes": [str(tensor.shape) for tensor in op.outputs if tensor.dtype.name != "resource"],
        "dtypes": [tensor.dtype.name for tensor in op.outputs],
    }


def as_far_as_known(theirs: list[str], ours: list[str]) -> list[str]:
    """Our shapes, those in TensorFlow's words in which we know what it knows and more besides."""

    def refines(known: str, less: str) -> bool:
        sizes, unsure = (re.findall(r"\d+|\?", s) for s in (known, less))
        return less == "<unknown>" or len(sizes) == len(unsure) and all(b in ("?", a) for a, b in zip(sizes, unsure))

    if len(theirs) != len(ours):
        return ours
    return [b if a == b or a != "<unknown>" and refines(a, b) else a for a, b in zip(ours, theirs)]


def first_words(error: BaseException) -> str:
    """What an error says, without what TensorFlow adds about nodes, files and stacks."""
    text = str(error.args[0]) if isinstance(error, KeyError) else str(error)
    text = getattr(error, "message", text)
    if text.startswith("Graph execution error:"):
        text = re.split(r"\nNode: '[^']*'\n|^Graph execution error:\n+", text, flags=re.MULTILINE)[
            -1
        ]
    text = re.sub(r"^\d+ root error\(s\) found\.\n\s+\(0\) \w+: +", "", text)
    for cut in CUTS:
        text = re.split(cut, text, maxsplit=1)[0]
    return text.strip()


def run(tf: Any, session: Any, asked: Any) -> Any:
    if isinstance(asked, Told):
        return asked.value
    if isinstance(asked, Steps):
        return [run(tf, session, step) for step in asked.runs]
    if isinstance(asked, Fed):
        return session.run(asked.fetches, asked.feeds)
    return session.run(asked)


def initialize(tf: Any, session: Any) -> None:
    if variables := tf.global_variables() + tf.local_variables():
        session.run(tf.variables_initializer(variables, name="initialize_everything"))


def outcome(tf: Any, snippet: Snippet) -> Outcome:
    found = Outcome()
    graph = tf.Graph()
    with graph.as_default():
        try:
            asked = snippet.build(tf)
            found.nodes = [node_facts(op) for op in graph.get_operations()]
            config = tf.ConfigProto(device_count={"CPU": snippet.cpus})
            with tf.Session(config=config) as session:
                if snippet.initialize and not isinstance(asked, Told):
                    initialize(tf, session)
                found.result = run(tf, session, asked)
        except Exception as error:  # whatever it is, the other side must raise the same
            found.error = type(error).__name__
            found.bases = tuple(base.__name__ for base in type(error).__mro__)
            found.message = first_words(error)
            found.nodes = found.nodes or [node_facts(op) for op in graph.get_operations()]
    return found


def same(theirs: Any, ours: Any, exact: bool) -> bool:
    """Equal structure, types, dtypes, shapes and values; floats within rounding unless `exact`."""
    if isinstance(theirs, dict):
        return (
            isinstance(ours, dict)
            and theirs.keys() == ours.keys()
            and all(same(theirs[key], ours[key], exact) for key in theirs)
        )
    if isinstance(theirs, (list, tuple)):
        return (
            isinstance(ours, (list, tuple))
            and len(theirs) == len(ours)
            and all(same(a, b, exact) for a, b in zip(theirs, ours))
        )
    if isinstance(theirs, (np.ndarray, np.generic)):
        if (
            not isinstance(ours, type(theirs))
            or theirs.dtype != ours.dtype
            or theirs.shape != ours.shape
        ):
            return False
        if exact or theirs.dtype.kind not in "fc":
            return np.array_equal(theirs, ours)
        return np.allclose(ours, theirs, rtol=2e-5, atol=1e-6, equal_nan=True)
    return theirs == ours
