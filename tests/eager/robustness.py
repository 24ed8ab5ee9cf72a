"""Calls every public function with sense and nonsense; run by test_robustness.py in a process of its
own, so that a crash is a failed test.

usage: robustness.py CALLS SEED LAST_CALL_FILE

Prints one JSON object: calls, functions, ran (calls that returned), wrong (calls that raised what
they should not).
"""

import inspect
import json
import random
import resource
import signal
import sys
from typing import Any

import numpy as np

import emplace as tf

MEMORY = 6 << 30
SECONDS = 20  # that a call may take
RIGHT = (
    TypeError, ValueError, tf.errors.OpError, OverflowError, NotImplementedError, RuntimeError, AttributeError,
    IndexError, KeyError, ZeroDivisionError, AssertionError, StopIteration, ImportError, OSError,
)  # fmt: skip
SPACES = ["", "math", "nn", "linalg", "strings", "random", "bitwise", "image", "signal", "sets", "sparse", "ragged", "debugging", "nest", "dtypes"]
# What ends programs, changes how the process works, or waits for somebody.
LEFT_OUT = {
    "tf.function", "tf.py_function", "tf.numpy_function", "tf.init_scope", "tf.print", "tf.load_op_library", "tf.load_library",
    "tf.debugging.set_log_device_placement", "tf.debugging.enable_check_numerics", "tf.debugging.disable_traceback_filtering",
    "tf.debugging.enable_traceback_filtering", "tf.register_tensor_conversion_function", "tf.while_loop", "tf.get_logger",
    "tf.debugging.experimental", "tf.random.set_global_generator", "tf.random.set_seed",
}  # fmt: skip


def public() -> dict[str, Any]:
    found = {}
    for space in SPACES:
        module = getattr(tf, space, None) if space else tf
        if module is None:
            continue
        for name in dir(module):
            full = f"tf.{space}.{name}" if space else f"tf.{name}"
            value = getattr(module, name, None)
            plain = callable(value) and not inspect.isclass(value) and not inspect.ismodule(value)
            if plain and not name.startswith("_") and full not in LEFT_OUT:
                found[full] = value
    return found


def _loop() -> list[Any]:
    loop: list[Any] = [1]
    loop.append(loop)
    return loop


def values(r: random.Random) -> Any:
    shape = r.choice([(), (1,), (2,), (3,), (2, 2), (2, 3), (3, 3), (1, 4, 4, 1), (0,), (2, 0)])
    kind = r.choice(["f4", "f4", "f4", "i4", "i8", "f8", "?", "c8", "u1", "f2"])
    array = np.random.RandomState(r.randrange(100)).randint(0, 4, shape).astype(kind)
    plain = [
        None, 0, 1, 2, -1, 3, 0.5, -2.5, True, False, "", "a", "float32", "SAME", "VALID", b"\xff", float("nan"), float("inf"), 2**40,
        -(2**63), 2**70, [], [1], [0, 1], [1.0, 2.0], [[1, 2], [3, 4]], [[1], [2, 3]], [None], ["a", "bc"], {}, {"a": 1}, (), (1, 2), object(),
        slice(1, 2), 1 + 2j, tf.float32, tf.int32, tf.string, "\ud800", [2**31, 2**31, 2**31], lambda *a: a[0] if a else 1, int, tf,
    ]  # fmt: skip
    pick = r.random()
    if pick < 0.5:
        return tf.constant(array)
    if pick < 0.6:
        return array
    if pick < 0.63:
        return _loop()
    if pick < 0.68:
        return tf.constant(["a", "bc", ""])
    return r.choice(plain)


def arguments(r: random.Random, function: Any) -> tuple[list[Any], dict[str, Any]]:
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return [values(r) for _ in range(r.randrange(4))], {}
    args, kwargs = [], {}
    for p in parameters:
        if p.kind is p.VAR_POSITIONAL:
            args += [values(r) for _ in range(r.randrange(3))]
        elif p.kind is p.VAR_KEYWORD:
            continue
        elif p.default is p.empty:
            args.append(values(r))
        elif r.random() < 0.2:
            kwargs[p.name] = values(r)
    return args, kwargs


def late(*_: Any) -> None:
    raise TimeoutError("the call takes too long")


def main() -> None:
    count, seed, note = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGALRM, late)
    r = random.Random(seed)
    functions = public()
    names = sorted(functions)
    ran, wrong = 0, []
    with open(note, "w") as log:
        for i in range(count):
            name = names[i % len(names)]
            args, kwargs = arguments(r, functions[name])
            log.seek(0)
            log.write(f"{name} {str(args)[:2000]} {str(kwargs)[:2000]}".encode("utf-8", "replace").decode() + "\n" + " " * 200)
            log.flush()
            signal.alarm(SECONDS)
            try:
                functions[name](*args, **kwargs)
                ran += 1
            except RIGHT:
                pass
            except (MemoryError, RecursionError):
                pass
            except BaseException as e:  # noqa: BLE001
                wrong.append(f"{name}: {type(e).__name__}: {e}"[:300])
            finally:
                signal.alarm(0)
    print(json.dumps({"calls": count, "functions": len(names), "ran": ran, "wrong": wrong[:50]}))


main()
