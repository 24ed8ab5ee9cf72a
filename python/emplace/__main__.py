"""`python -m emplace program.py …`: runs a program with Emplace in TensorFlow's place."""

from __future__ import annotations

import argparse
import os
import runpy
import sys


def _split(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Our options, and from the program on its own: what follows `-m NAME` and `-c CODE` is the program's too."""
    for i, word in enumerate(arguments):
        if word in ("-m", "-c"):
            return arguments[: i + 2], arguments[i + 2 :]
        if not word.startswith("-") and (i == 0 or arguments[i - 1] != "--as-tensorflow"):
            return arguments[: i + 1], arguments[i + 1 :]
    return arguments, []


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m emplace", description="Runs a Python program with Emplace in TensorFlow's place.",
        epilog="What follows PROGRAM is the program's own.",
    )  # fmt: skip
    parser.add_argument("--as-tensorflow", choices=("v1", "v2"), default="v2", help="the face of `import tensorflow` (v2)")
    parser.add_argument("-m", dest="module", action="store_true", help="PROGRAM is the name of a module")
    parser.add_argument("-c", dest="code", action="store_true", help="PROGRAM is Python code")
    parser.add_argument("program", metavar="PROGRAM", help="a file, or what -m and -c say")
    return parser


def main() -> None:
    from emplace import posing

    ours, rest = _split(sys.argv[1:])
    options = _parser().parse_args(ours)
    posing.pose_as_tensorflow(options.as_tensorflow)
    sys.argv = [options.program, *rest]
    if options.module:
        sys.path[0] = ""
        runpy.run_module(options.program, run_name="__main__", alter_sys=True)
    elif options.code:
        sys.argv[0], sys.path[0] = "-c", ""
        exec(compile(options.program, "<string>", "exec"), {"__name__": "__main__", "__builtins__": __builtins__})
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(options.program))
        runpy.run_path(options.program, run_name="__main__")


if __name__ == "__main__":
    main()
