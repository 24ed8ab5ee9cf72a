"""Every advisory of TensorFlow whose operation is here: each of its calls, eagerly and traced, ends
in an answer or in an error of a sensible class. A child makes them, so that one that dies, hangs or
grows beyond all measure is named."""

import os
import pathlib
import resource
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent
PROGRAM = HERE / "run_advisories.py"
HANGS = 300  # seconds for a batch: far beyond what any takes
MEMORY = 16 << 30

sys.path.insert(0, str(HERE))
from run_advisories import CALLS  # noqa: E402

BATCHES = 4
EXPECTED = HERE / "advisories.expected"


def bounded() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def made(begin: int, end: int, *how: str) -> list[str]:
    """The lines of the calls begin..end; calls that end their process have a line that says so."""
    lines: list[str] = []
    while begin < end:
        command = [sys.executable, str(PROGRAM), *how, str(begin), str(end)]
        try:
            ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                 timeout=HANGS, preexec_fn=bounded, env=environment())  # fmt: skip
            out, status, last_words = ran.stdout, str(ran.returncode), ran.stderr[-500:]
        except subprocess.TimeoutExpired as late:
            out, status, last_words = (late.stdout or b"").decode(), "hangs", ""
        lines += out.splitlines()
        if status == "0":
            break
        if not lines:
            return [f"the program does not begin: {status} {last_words}"]
        lines[-1] += f" DIED {status} {last_words}"
        begin = int(lines[-1].split()[0]) + 1
    return lines


def environment() -> dict[str, str]:
    # Gigabytes may be asked for, but not here.
    return dict(os.environ, EMPLACE_HOST_TENSOR_MB="256", TF_CPP_MIN_LOG_LEVEL="3")


@pytest.mark.parametrize("batch", range(BATCHES))
def test_calls_of_advisories_end_well(batch: int) -> None:
    begin, end = (len(CALLS) * b // BATCHES for b in (batch, batch + 1))
    lines = made(begin, end)
    bad = [line for line in lines if " answered " not in line and " refused " not in line]
    assert not bad, "\n".join(bad)
    assert len(lines) == 2 * (end - begin)
