"""Type checkers see the package: stubs that agree with it, and a program that passes `--strict`."""

import ast
import importlib
import os
import subprocess
import sys
from pathlib import Path

import public_names
import pytest

ROOT = Path(__file__).parents[2]
SAMPLES = sorted((ROOT / "tests" / "typing").glob("*.py"))
PROGRAMS = sorted((ROOT / "tests" / "programs").glob("*.py"))
BORROWED = [ROOT / "bench" / "gpu", ROOT / "tests" / "training"]  # of which programs take their networks


def mypy(files: list[Path], cache: Path, *options: str) -> subprocess.CompletedProcess:
    pytest.importorskip("mypy")
    return subprocess.run(
        [sys.executable, "-m", "mypy", *options, "--cache-dir", str(cache), *map(str, files)],
        env={**os.environ, "MYPYPATH": os.pathsep.join(map(str, [ROOT / "python", *BORROWED]))}, capture_output=True, text=True, timeout=600,
    )


def test_stubs_are_those_of_the_package():
    made = subprocess.run([sys.executable, ROOT / "tools" / "make_stubs", "--check"], capture_output=True, text=True, timeout=300)
    assert made.returncode == 0, f"run tools/make_stubs in the project's environment\n{made.stdout}{made.stderr}"


def test_the_package_says_that_it_is_typed():
    assert (ROOT / "python" / "emplace" / "py.typed").is_file()


def test_programs_pass_strict_checking(tmp_path):
    checked = mypy(SAMPLES, tmp_path, "--strict")
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_names_and_arguments_of_all_programs_are_in_the_stubs(tmp_path):
    said = mypy(PROGRAMS, tmp_path, "--follow-imports", "silent").stdout
    assert "checked" in said or "no issues" in said
    ours = [line for line in said.splitlines() if line.endswith(("[attr-defined]", "[call-arg]", "[name-defined]", "[import-not-found]"))]
    assert ours == []


@pytest.mark.parametrize("face", ["emplace", "emplace.compat.v1"])
def test_a_wrong_program_is_refused(face, tmp_path):
    wrong = tmp_path / "wrong.py"
    wrong.write_text(f"import {face} as tf\n\ntf.matmul(1)\ntf.no_such_thing()\ntf.Graph(grap=None)\ntf.math.no_such\ntf.constant(1).no_method()\n")
    said = mypy([wrong], tmp_path, "--strict").stdout
    assert 'Missing positional argument "b"' in said
    assert 'no attribute "no_such_thing"' in said
    assert 'Unexpected keyword argument "grap"' in said or 'Too many arguments for "Graph"' in said
    assert 'no attribute "no_such"' in said
    assert '"Tensor" has no attribute "no_method"' in said


KINDS = """
import emplace as tf

x = tf.constant([[1.0]])
reveal_type([x, tf.matmul(x, x), tf.add(x, 1), x * 2, x[0], tf.reduce_sum(x), tf.nn.relu(x), tf.raw_ops.Relu(features=x)])
reveal_type([tf.split(x, 1), tf.unstack(x)])
reveal_type(x.shape)
reveal_type(tf.raw_ops.Qr(input=x).q)
reveal_type([tf.unique([1]).idx, tf.unique_with_counts([1])[2], tf.math.top_k(x, 1).indices, tf.nn.top_k(x).values, tf.where(x > 1.0)])
reveal_type(tf.abs(tf.RaggedTensor.from_row_splits(x, [0, 1])))
"""


def test_what_functions_give_is_known(tmp_path):
    program = tmp_path / "kinds.py"
    program.write_text(KINDS)
    said = mypy([program], tmp_path, "--strict").stdout
    found = [line.rpartition("type is ")[2].strip('"') for line in said.splitlines() if "Revealed" in line]
    assert found == ["list[emplace.Tensor]", "list[list[emplace.Tensor]]", "emplace.TensorShape", "emplace.Tensor", "list[emplace.Tensor]", "Any"]


@pytest.mark.parametrize("module", public_names.FACES)
def test_a_stub_lists_what_dir_lists(module):
    stub = ROOT / "python" / Path(*module.split(".")) / "__init__.pyi"
    listed = {n for n in dir(importlib.import_module(module)) if not n.startswith("_")}
    assert {n for n in named(ast.parse(stub.read_text())) if not n.startswith("_")} == listed


def named(stub: ast.Module) -> set[str]:
    """The names that a stub offers: an import is one where it says `as`."""
    found = set()
    for node in stub.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            found.add(node.target.id)
        elif isinstance(node, ast.Assign):
            found.add(node.targets[0].id)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {a.asname for a in node.names if a.asname}
    return found


def test_no_stub_of_a_public_module_says_any_name():
    stubs = [f for f in (ROOT / "python" / "emplace").rglob("*.pyi") if f.name != "_core.pyi"]
    assert len(stubs) > 80
    assert [str(f) for f in stubs if "\ndef __getattr__" in f.read_text()] == []


@pytest.mark.parametrize("sample, said", [
    ("sample", ["FailedPreconditionError Attempting", "1 2", "/job:worker/task:1 Sum True"]),
    ("eager_sample", [
        "[0.0, 0.0]", "InvalidArgumentError True", "[1, 2] [None, 3] True tf.Tensor(True, shape=(), dtype=bool)", "[[2.]] b'ab' CPU",
    ]),
])  # fmt: skip
def test_the_samples_run(sample, said):
    ran = subprocess.run([sys.executable, ROOT / "tests" / "typing" / f"{sample}.py"], capture_output=True, text=True, timeout=600)
    assert ran.stderr == "" and ran.stdout.splitlines() == said
