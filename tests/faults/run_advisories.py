"""run_advisories.py [--tensorflow] [FROM [TO]]: makes the calls of the tables of advisories, each
eagerly and traced, and prints a line for each: its place, how it was made, and what came of it.
A process that dies has named the call before."""

import os
import sys

import numpy as np

import advisories_2018_2021
import advisories_2022_2023

CALLS = [*advisories_2018_2021.TABLE, *advisories_2022_2023.TABLE]


def flat(value):
    if isinstance(value, (list, tuple)):
        return [part for v in value for part in flat(v)]
    return [] if value is None else [value]


def told(value) -> str:
    """Types and shapes of what came; a number that isn't there is a matter of luck, so no values."""
    parts = []
    for v in flat(value):
        try:
            parts.append(f"{v.dtype.name}{list(np.shape(v.numpy()))}")
        except Exception:  # variants, ragged tensors, datasets, operations
            parts.append(type(v).__name__)
    return " ".join(parts)


def outcome(tf, make) -> str:
    try:
        return "answered " + told(make())
    except (tf.errors.OpError, ValueError, TypeError, NotImplementedError) as error:
        return "refused " + type(error).__name__
    except OverflowError as error:  # a Python integer that fits no dtype
        return "refused " + type(error).__name__
    except BaseException as error:
        return f"BROKE {type(error).__name__}: {error}"


def main() -> None:
    args = sys.argv[1:]
    if args and args[0] == "--tensorflow":
        args = args[1:]
        import tensorflow as tf
    else:
        import emplace as tf
    begin = int(args[0]) if args else 0
    end = int(args[1]) if len(args) > 1 else len(CALLS)
    for at in range(begin, end):
        call = CALLS[at]
        ways = [("eager", lambda call=call: call.run(tf)),
                ("traced", lambda call=call: tf.function(lambda: call.run(tf))())]  # fmt: skip
        for way, make in ways:
            print(at, call.advisory, call.function, way, flush=True, end=" ")
            print(outcome(tf, make), flush=True)


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)  # nothing of what was begun is waited for
