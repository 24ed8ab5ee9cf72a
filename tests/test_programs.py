"""Runs every program in tests/programs as a user would and compares what it prints.

`NAME.py` is the program, `NAME.expected` its standard output, `NAME.stderr` (where a program ends
in an uncaught error) lines that appear on standard error in that order. `<*>` stands for any text.
Comment lines at the head of a program say how to run it:

    # env: EMPLACE_VIRTUAL_GPUS=4    an environment variable (several lines allowed)
    # args: --steps=3                command line arguments
    # exit: 1                        expected exit status, 0 otherwise
    # compare: sorted                the lines count, their order does not
    # oracle: none                   TensorFlow prints something else (older words, virtual GPUs)

With `--self` the programs run on TensorFlow itself: whatever is not marked `oracle: none` must
print the same there.
"""

import functools
import importlib.util
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "programs"
TIMEOUT_S = 600

# A package `emplace` that is TensorFlow, for `--self`.
STAND_IN = """
import sys
import warnings
import tensorflow.compat.v1 as tf
tf.logging.set_verbosity(tf.logging.ERROR)
warnings.simplefilter("ignore")
tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.WARN)
sys.modules[__name__] = tf
"""


def directives(program: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in program.read_text().splitlines():
        match = re.fullmatch(r"# (env|args|exit|compare|oracle): (.*)", line)
        if not match:
            break
        found.setdefault(match[1], []).append(match[2])
    return found


def line_matches(pattern: str, line: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split("<*>"))), line) is not None


def assert_same_lines(expected: list[str], actual: list[str]) -> None:
    same = len(expected) == len(actual) and all(map(line_matches, expected, actual))
    assert same, "expected\n{}\n\ngot\n{}".format("\n".join(expected), "\n".join(actual))


def assert_lines_in_order(patterns: list[str], text: str) -> None:
    lines = iter(text.splitlines())
    for pattern in patterns:
        assert any(line_matches(pattern, line) for line in lines), f"no {pattern!r} in\n{text}"


def assert_traceback_ends_in(program: Path, stderr: str) -> None:
    frames = re.findall(r'^  File "([^"]*)", line \d+', stderr, re.MULTILINE)
    assert frames and Path(frames[-1]).name == program.name, stderr


def environment(settings: list[str], stand_in: Path | None) -> dict[str, str]:
    env = {k: v for k, v in os.environ.items() if not k.startswith("EMPLACE_VIRTUAL")}
    env |= {"CUDA_VISIBLE_DEVICES": "-1", "PYTHONDONTWRITEBYTECODE": "1"}
    env |= dict(setting.split("=", 1) for setting in settings)
    if stand_in:
        env |= {"PYTHONPATH": str(stand_in), "TF_CPP_MIN_LOG_LEVEL": "3"}
    return env


@functools.cache
def can_import(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


@pytest.fixture(scope="session")
def stand_in(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Path | None:
    if not request.config.getoption("oracle_self"):
        if not can_import("emplace"):
            pytest.skip("emplace is not installed")
        return None
    if not can_import("tensorflow"):
        pytest.skip("TensorFlow is not installed")
    root = tmp_path_factory.mktemp("stand_in")
    package = root / "emplace" / "compat"
    package.mkdir(parents=True)
    (root / "emplace" / "__init__.py").touch()
    (package / "__init__.py").touch()
    (package / "v1.py").write_text(STAND_IN)
    return root


def sources() -> list[Path]:
    return sorted(PROGRAMS.glob("*.py"))


@pytest.mark.parametrize("program", sources(), ids=lambda path: path.stem)
def test_prints_what_is_expected(program: Path, stand_in: Path | None) -> None:
    how = directives(program)
    if stand_in and how.get("oracle") == ["none"]:
        pytest.skip("TensorFlow prints something else here")
    arguments = shlex.split(how.get("args", [""])[0])
    done = subprocess.run(
        [sys.executable, str(program), *arguments],
        env=environment(how.get("env", []), stand_in),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    status = int(how.get("exit", ["0"])[0])
    assert done.returncode == status, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    expected = program.with_suffix(".expected").read_text().splitlines()
    order = sorted if how.get("compare") == ["sorted"] else list
    assert_same_lines(order(expected), order(done.stdout.splitlines()))
    errors = program.with_suffix(".stderr")
    if errors.exists():
        assert_lines_in_order(errors.read_text().splitlines(), done.stderr)
        if status and not stand_in:
            assert_traceback_ends_in(program, done.stderr)
    elif not stand_in:
        assert done.stderr == ""


def test_every_program_has_its_expected_output() -> None:
    assert len(sources()) >= 40
    assert [p.name for p in sources() if not p.with_suffix(".expected").exists()] == []
