"""What a guide prints. As a program: paths come in by line, what they print on ours goes out, as JSON; in a process without
TensorFlow, whose place Emplace takes there for Keras."""

import contextlib
import importlib
import io
import json
import linecache
import os
import pathlib
import re
import sys
from typing import Any

import numpy as np

_LOOSE = (
    (r"0x[0-9a-fA-F]+", "0x"),
    (r"\b(tensorflow|emplace)(\.\w+)*\b", "tf"),
    (r"(__inference_\w+?_)\d+", r"\1n"),
    (r"\b\d{15}\b", "id"),
    (r"(?<!_)node \w+/", "node "),
)


def clean(text: str) -> list[str]:
    for pattern, said in _LOOSE:
        text = re.sub(pattern, said, text)
    return [line.rstrip() for line in text.splitlines()]


def printed(tf: Any, guide: pathlib.Path) -> list[str]:
    source = guide.read_text().replace("import tensorflow as tf\n", "\n")
    file = str(guide)
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)  # for AutoGraph
    out = io.StringIO()
    tf.random.set_seed(1)  # whatever the guides before this one did, each where it ran
    with contextlib.redirect_stdout(out), np.printoptions():
        try:
            exec(compile(source, file, "exec"), {"tf": tf, "__name__": guide.stem})
        except Exception as e:  # the other side must end the same way
            print(f"ended by {type(e).__name__}: {e}")
    return clean(out.getvalue())


def main() -> None:
    tf = importlib.import_module("emplace")
    channel = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        print(json.dumps(printed(tf, pathlib.Path(line.strip()))), file=channel, flush=True)


if __name__ == "__main__":
    main()
