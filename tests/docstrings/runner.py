"""Runs the examples of TensorFlow's docstrings on ours.

    python tests/docstrings/runner.py [--self] [-v] [PATTERN…]

prints how many examples of each namespace pass; -v what differs; --self runs TensorFlow itself.
"""

import argparse
import contextlib
import faulthandler
import fnmatch
import importlib
import io
import json
import linecache
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import traceback
from typing import Any, Iterator

from checker import agrees, same_error

_HERE = pathlib.Path(__file__).resolve().parent
_CACHE = _HERE.parents[1] / "build" / "docstrings" / "examples.json"
_SECONDS = 20  # for one docstring
# Examples that TensorFlow itself fails ("tf.shape 4"): they run, but their outcome counts nothing.
_OUT_OF_REACH = _HERE / "not_reproducible.txt"


def load_examples() -> dict[str, Any]:
    """TensorFlow's examples, extracted in a process of its own and kept in the build folder."""
    version = importlib.import_module("importlib.metadata").version
    try:
        release = version("tensorflow-cpu")
    except Exception:
        release = version("tensorflow")
    cache = _CACHE.with_name(f"examples-{release}.json")
    if not cache.exists() or cache.stat().st_mtime < (_HERE / "extract.py").stat().st_mtime:
        cache.parent.mkdir(parents=True, exist_ok=True)
        fresh = cache.with_suffix(f".{os.getpid()}")
        subprocess.run(
            [sys.executable, _HERE / "extract.py", fresh], check=True, capture_output=True,
            # Other tests of this process may have asked TensorFlow for its old Keras.
            env={k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "TF_USE_LEGACY_KERAS")},
        )  # fmt: skip
        fresh.rename(cache)
    found = json.loads(cache.read_text())
    for line in _OUT_OF_REACH.read_text().splitlines() if _OUT_OF_REACH.exists() else ():
        symbol, _, i = line.rpartition(" ")
        if symbol in found and int(i) < len(found[symbol]):
            found[symbol][int(i)]["ignore"] = True
    return found


def _late(*_: Any) -> None:
    raise TimeoutError(f"no result within {_SECONDS} s")


def _compiled(example: dict[str, Any], module: str, file: str) -> Any:
    source = re.sub(r"\bimport tensorflow\b(\.compat\.v2)?", f"import {module}", example["source"])
    source = re.sub(r"/tmp\b", lambda _: tempfile.gettempdir(), source)
    # Converters of Python control flow look at the source of a function.
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    return compile(source, file, "single")


def _run_one(example: dict[str, Any], names: dict[str, Any], module: str, file: str) -> str:
    """What is wrong with the outcome; empty when it is right."""
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            exec(_compiled(example, module, file), names)
    except BaseException as e:  # whatever an example does, the next one is run
        if example["error"] and same_error(example["error"], e):
            return ""
        if isinstance(e, TimeoutError):
            raise
        where = traceback.format_exc(limit=-1).strip().splitlines()
        return f"{type(e).__name__}: {e}\n    ({where[-3].strip() if len(where) > 3 else ''})"
    if example["error"]:
        return f"no error, expected {example['error']}"
    return "" if agrees(example["want"], out.getvalue()) else f"printed {out.getvalue().rstrip()}"


def _names(symbol: str, tf: Any) -> dict[str, Any]:
    """What an example finds defined: what its module imports, and its own name."""
    names = {"tf": tf, "np": importlib.import_module("numpy"), "os": os, "__name__": "__main__"}
    if hasattr(tf, "get_logger"):
        tf.get_logger().setLevel("ERROR")  # what is printed counts, not what is logged
    owner = tf
    for part in symbol.split(".")[1:]:
        owner = names[part] = getattr(owner, part, None)
    names["keras"] = getattr(tf, "keras", None)
    return names


def _run_docstring(symbol: str, examples: list[Any], module: str) -> list[tuple[int, str]]:
    """(example, what is wrong) of those that fail."""
    names = _names(symbol, importlib.import_module(module))
    failed = []
    sys.displayhook = sys.__displayhook__
    signal.alarm(_SECONDS)
    try:
        for i, example in enumerate(examples):
            if example["skip"]:
                continue
            wrong = _run_one(example, names, module, f"<{symbol}[{i}]>")
            if wrong and not example.get("ignore"):
                failed.append((i, wrong))
    except TimeoutError as e:
        failed.append((i, str(e)))
    finally:
        signal.alarm(0)
    return failed


def _work(module: str) -> None:
    """The inner process: symbols and examples come in by line, outcomes go out."""
    faulthandler.enable()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    signal.signal(signal.SIGALRM, _late)
    os.chdir(tempfile.gettempdir())
    channel = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        symbol, examples = json.loads(line)
        print(json.dumps([symbol, _run_docstring(symbol, examples, module)]), file=channel, flush=True)


def _worker(module: str, place: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, _HERE / "runner.py", "--work", module], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True, env={**os.environ, "TMPDIR": place},
    )  # fmt: skip


def outcomes(wanted: dict[str, Any], module: str = "emplace") -> Iterator[tuple[str, list[Any]]]:
    """(symbol, failures) of each. One that ends the process fails alone: another process goes on.
    What examples write, many of them under fixed names, goes to a folder of this run."""
    rest = list(wanted.items())
    while rest:
        with tempfile.TemporaryDirectory() as place, _worker(module, place) as worker:
            assert worker.stdin and worker.stdout
            while rest:
                try:
                    worker.stdin.write(json.dumps(rest[0]) + "\n")
                    worker.stdin.flush()
                    answer = worker.stdout.readline()
                except BrokenPipeError:
                    answer = ""
                symbol = rest.pop(0)[0]
                if not answer:
                    yield symbol, [(0, "the process died")]
                    break
                yield symbol, json.loads(answer)[1]


def _space(symbol: str) -> str:
    parts = symbol.split(".")
    return ".".join(parts[:2]) if len(parts) > 2 else "tf"


def report(module: str, patterns: list[str], verbose: bool) -> None:
    wanted = load_examples()
    if patterns:
        wanted = {s: e for s, e in wanted.items() if any(fnmatch.fnmatch(s, p) for p in patterns)}
    counts: dict[str, list[int]] = {}
    for symbol, failed in outcomes(wanted, module):
        examples = wanted[symbol]
        for key in (_space(symbol), "all"):
            c = counts.setdefault(key, [0, 0, 0, 0])
            c[0] += len(examples) - len(failed)
            c[1] += len(examples)
            c[2] += not failed
            c[3] += 1
        for i, wrong in failed if verbose else ():
            e = examples[i]
            print(f"---- {symbol} [{i}]\n>>> {e['source'].rstrip()}\n{e['want'].rstrip()}\nBUT {wrong}")
    for key in sorted(counts):
        c = counts[key]
        print(f"{key:28} {c[2]:4} of {c[3]:4} docstrings, {c[0]:5} of {c[1]:5} examples")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("patterns", nargs="*")
    parser.add_argument("-v", action="store_true")
    parser.add_argument("--self", action="store_true", dest="oracle")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        _work(options.work)
    else:
        report("tensorflow" if options.oracle else "emplace", options.patterns, options.v)
