"""Calls every operation's wrapper with sense and nonsense; run by test_robustness.py in a process of
its own, so that a crash is a failed test.

usage: robustness.py CALLS SEED LAST_CALL_FILE

Prints one JSON object: calls, reached (those that came as far as a shape rule or a kernel), ran,
and wrong (calls that raised something they should not).
"""

import json
import math
import resource
import sys
from typing import Any

import hypothesis
import numpy as np
from hypothesis import strategies as st

import emplace.compat.v1 as tf
from emplace import _core
from emplace.framework import dtypes, errors, gen

MEMORY = 6 << 30
RIGHT = (TypeError, ValueError, errors.OpError, OverflowError, NotImplementedError)
LEFT_OUT = {"Abort", "_Arg", "_Retval"}
NUMPY = {n: np.dtype(d.as_numpy_dtype) for n, d in dtypes._BY_NUMBER.items() if n in (1, 2, 3, 4, 5, 6, 8, 9, 10, 17, 18, 19, 22, 23)}


def recursive_list() -> list[Any]:
    loop: list[Any] = [1]
    loop.append(loop)
    return loop


WILD = st.one_of(
    st.none(), st.just([]), st.just(math.nan), st.just(-1), st.just(2**40), st.just(-(2**63)), st.just(2**70), st.just(""),
    st.just("word"), st.just(b"\xff\x00"), st.just({}), st.just(object), st.builds(object), st.builds(recursive_list), st.just([[], [1]]),
    st.just([None]), st.just(np.empty((0, 3), np.float32)), st.just(np.array(["a", 1], dtype=object)), st.just(1 + 2j), st.just(True),
    st.just(np.full((2, 2), np.nan, np.float32)), st.just(slice(1, 2)), st.just([2**31, 2**31, 2**31]), st.just(tf.float32), st.just("\ud800"),
)
SHAPES = st.one_of(
    st.sampled_from([(), (1,), (2,), (3,), (2, 2), (2, 3), (3, 3), (1, 4, 4, 1), (2, 2, 2), (0,), (2, 0), (4,)]),
    st.lists(st.integers(0, 3), max_size=5).map(tuple),
)


def array_of(number: int, shape: tuple[int, ...], seed: int) -> Any:
    if number == 7:
        return np.array([f"w{i}" for i in range(int(np.prod(shape)))], dtype=object).reshape(shape)
    kind = NUMPY.get(number)
    if kind is None:
        return None
    values = np.random.default_rng(seed).integers(0, 4, shape)
    return values.astype(kind)


@st.composite
def input_value(draw: Any, arg: gen._Arg, types: dict[str, int], d: gen.Definition, shape: tuple[int, ...]) -> Any:
    number = arg.type.as_datatype_enum if arg.type is not None else 1
    if arg.type_attr:
        if arg.type_attr not in types:
            allowed = [t for t in d.allowed.get(arg.type_attr, [1, 3, 9, 2, 10, 7]) if t in NUMPY or t == 7]
            preferred = d.default_types.get(arg.type_attr)
            types[arg.type_attr] = preferred._enum if preferred is not None else draw(st.sampled_from(allowed or [1]))
        number = types[arg.type_attr]
    if draw(st.integers(0, 3)) == 0:
        shape = draw(SHAPES)
    if arg.name in ("axis", "dim", "concat_dim", "split_dim", "dimension", "num_segments", "depth", "k", "seed", "begin", "size"):
        shape = draw(st.sampled_from([(), (1,)]))
    if arg.is_list:
        return [array_of(number, shape, i) for i in range(draw(st.integers(1, 3)))]
    value = array_of(number, shape, draw(st.integers(0, 5)))
    if arg.is_ref and value is not None:
        return tf.Variable(value)
    return value


ATTRIBUTES = {
    "string": st.sampled_from(["SAME", "VALID", "NHWC", "", "x"]), "int": st.integers(-1, 4), "float": st.sampled_from([0.0, 0.5, -1.0]),
    "bool": st.booleans(), "type": st.sampled_from([tf.float32, tf.int32, tf.int64]), "shape": SHAPES.map(list), "tensor": st.just(np.float32(1)),
    "list(int)": st.lists(st.integers(0, 3), min_size=1, max_size=4), "list(type)": st.just([tf.float32]), "list(float)": st.just([1.0]),
    "list(shape)": st.just([[2]]), "list(string)": st.just(["a"]), "list(bool)": st.just([True]), "func": st.just("f"), "list(func)": st.just([]),
}


@st.composite
def call(draw: Any, names: list[str]) -> tuple[str, dict[str, Any]]:
    """An operation and its arguments: mostly such as it might take, one of them sometimes wild."""
    name = draw(st.sampled_from(names))
    d = gen.definition(name)
    types: dict[str, int] = {}
    shape = draw(SHAPES)
    arguments = {a.name: draw(input_value(a, types, d, shape)) for a in d.inputs}
    for a in d.explicit:
        if not a.has_default or draw(st.integers(0, 5)) == 0:
            choices = a.allowed_strings or [dtypes.as_dtype(t) for t in a.allowed_types]
            arguments[a.name] = draw(st.sampled_from(list(choices)) if choices and not a.type.startswith("list") else ATTRIBUTES.get(a.type, WILD))
    if arguments and draw(st.integers(0, 3)) == 0:
        arguments[draw(st.sampled_from(sorted(arguments)))] = draw(WILD)
    return name, arguments


class Tally:
    def __init__(self, last_call: str) -> None:
        self.last_call, self.calls, self.reached, self.ran = last_call, 0, 0, 0
        self.wrong: list[str] = []

    def make(self, name: str, arguments: dict[str, Any]) -> None:
        self.calls += 1
        with open(self.last_call, "w", encoding="utf-8", errors="replace") as file:
            file.write(f"{name}({str(arguments)[:2000]})")
        try:
            self.reached += self.build_and_run(name, arguments)
        except RIGHT as e:
            self.reached += "{{node" in str(e)  # a shape rule's words
        except Exception as e:  # noqa: BLE001
            self.wrong.append(f"{name}: {type(e).__name__}: {str(e)[:200]} {str(arguments)[:300]}")

    def build_and_run(self, name: str, arguments: dict[str, Any]) -> bool:
        made = gen.make_function(name)(**{k + "_" if k in ("in", "lambda", "is") else k: v for k, v in arguments.items()})
        fetches = made if isinstance(made, tf.Operation) else [t for t in _flat(made)]
        with tf.Session() as sess:
            try:
                sess.run(tf.global_variables_initializer())
                sess.run(fetches, options=tf.RunOptions(timeout_in_ms=2000))
                self.ran += 1
            except RIGHT:
                pass
        return True


def _flat(made: Any) -> Any:
    for value in made if isinstance(made, (list, tuple)) else [made]:
        if isinstance(value, (list, tuple)):
            yield from _flat(value)
        elif isinstance(value, tf.Tensor) and value.dtype._enum % 100 not in (20, 21):
            yield value


def drive(calls: int, seed: int, last_call: str) -> Tally:
    names = sorted(n for n in _core.op_names() if n not in LEFT_OUT)
    tally = Tally(last_call)

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=calls, database=None, deadline=None, phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(st.data())
    def all_calls(data: Any) -> None:
        with tf.Graph().as_default():
            tally.make(*data.draw(call(names)))

    all_calls()
    return tally


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    found = drive(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
    print(json.dumps({"calls": found.calls, "reached": found.reached, "ran": found.ran, "wrong": found.wrong}))
