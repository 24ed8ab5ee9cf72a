"""Takes the examples out of TensorFlow's docstrings, for a run of ours: {symbol: [example, …]}.

Run with TensorFlow installed; writes JSON to the file it is given. None of the text is kept here.
"""

import doctest
import inspect
import json
import os
import sys
from typing import Any, Iterator

# Namespaces, and classes whose methods have examples of their own; the first name found wins.
SPACES = (
    "", "math", "linalg", "nn", "random", "strings", "bitwise", "image", "config", "debugging",
    "nest", "data", "losses", "optimizers", "initializers", "sets", "sparse", "signal", "autodiff",
    "config.experimental", "config.threading", "random.experimental", "dtypes", "io", "types.experimental",
    "math.special", "linalg.experimental", "nn.experimental", "ragged", "quantization",
    "data.experimental", "optimizers.schedules", "io.gfile", "train", "lookup", "queue",
    "graph_util", "experimental.dlpack", "audio", "raw_ops", "lookup.experimental", "autograph",
    "autograph.experimental", "errors", "experimental", "experimental.numpy", "metrics", "saved_model",
    "saved_model.experimental", "summary", "sysconfig", "test", "test.experimental", "distribute",
    "distribute.experimental",
)  # fmt: skip


def _public(owner: Any) -> list[str]:
    return sorted(n for n in dir(owner) if not n.startswith("_") or n in ("__init__", "__getitem__"))


def _space(tf: Any, path: str) -> Any:
    for part in path.split(".") if path else ():
        tf = getattr(tf, part, None)
    return tf


def symbols(tf: Any) -> Iterator[tuple[str, Any]]:
    """(name, object) of what the namespaces offer, classes followed by their members."""
    for path in SPACES:
        space = _space(tf, path)
        for name in _public(space):
            value = getattr(space, name, None)
            if value is None or inspect.ismodule(value):
                continue
            full = f"tf.{path}.{name}" if path else f"tf.{name}"
            yield full, value
            if inspect.isclass(value) and not issubclass(value, (Exception, int)):
                for member in _public(value):
                    yield f"{full}.{member}", inspect.getattr_static(value, member)


def _docstring(value: Any) -> str:
    if isinstance(value, (staticmethod, classmethod)):
        value = value.__func__
    text = getattr(value, "__doc__", None)
    return inspect.cleandoc(text) if isinstance(text, str) else ""


def examples(tf: Any) -> dict[str, list[dict[str, Any]]]:
    parser, seen, found = doctest.DocTestParser(), set(), {}
    for name, value in symbols(tf):
        text = _docstring(value)
        if ">>>" not in text or text in seen or name in found:
            continue
        seen.add(text)
        try:
            parts = parser.get_examples(text, name)
        except ValueError:  # not a doctest after all
            continue
        if any("keras.src" in e.source for e in parts):  # Keras's private modules, not ours
            continue
        found[name] = [
            {"source": e.source, "want": e.want, "error": e.exc_msg,
             "skip": bool(e.options.get(doctest.SKIP)), "line": e.lineno + 1}
            for e in parts
        ]  # fmt: skip
    return found


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow

    with open(sys.argv[1], "w") as file:
        json.dump(examples(tensorflow), file)
