"""Every operation on files fails in turn: an error of the right kind, and what was complete stays."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent


def test_failing_operations_on_files_end_in_errors(tmp_path: pathlib.Path) -> None:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        pytest.skip("no C compiler")
    library = tmp_path / "libfaulty_disk.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-D_FORTIFY_SOURCE=0", str(HERE / "faulty_disk.c"), "-o", str(library), "-ldl"],
                   check=True)  # fmt: skip
    ran = subprocess.run([sys.executable, str(HERE / "disk_programs.py"), str(tmp_path)], capture_output=True, text=True,
                         env=dict(os.environ, LD_PRELOAD=str(library)))  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr[-3000:]
    assert len(ran.stdout.splitlines()) == 15
