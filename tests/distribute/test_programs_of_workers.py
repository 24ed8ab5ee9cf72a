"""Programs of `tf.distribute` that several processes run: each prints what it printed on TensorFlow (`NAME.expected`).

`python tests/distribute/test_programs_of_workers.py [NAME…]` runs them on TensorFlow and writes those files anew.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cluster"))
from processes import LIMIT, environment, free_ports  # noqa: E402
from test_programs_of_strategies import clean  # noqa: E402

PROGRAMS = Path(__file__).parent / "workers"
CLUSTER = {"worker": 2}
JOBS = {"parameter_servers": {"chief": 1, "worker": 2, "ps": 2}, "parameter_servers_v1": {"worker": 2, "ps": 2}}
ALONE = ("keras_fit",)  # on TensorFlow: Keras 3 fails there on several workers, which compute what one does


def names() -> list[str]:
    return sorted(p.stem for p in PROGRAMS.glob("*.py"))


def run(name: str, folder: str, here: bool = True) -> list[str]:
    """What each of its processes printed; of a coordinator's program only what the coordinator did, or workers did: the others serve."""
    jobs = {"worker": 1} if not here and name in ALONE else JOBS.get(name, CLUSTER)
    ports = iter(free_ports(sum(jobs.values())))
    cluster = {job: [f"localhost:{next(ports)}" for _ in range(n)] for job, n in jobs.items()}
    started, servers = [], []
    for job, tasks in cluster.items():
        for index in range(len(tasks)):
            config = {"cluster": cluster, "task": {"type": job, "index": index}}
            env = environment() | {"TF_CONFIG": json.dumps(config), "PYTHONDONTWRITEBYTECODE": "1"}
            command = [sys.executable, *(["-m", "emplace"] if here else []), str(PROGRAMS / f"{name}.py"), folder]
            serves = job == "ps" or ("chief" in cluster and job == "worker")
            where = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL} if serves else {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
            (servers if serves else started).append(subprocess.Popen(command, env=env, text=True, **where))
    try:
        told = [p.communicate(timeout=LIMIT) for p in started]
    finally:
        for p in started + servers:
            p.kill()
            p.wait()
    assert not any(p.returncode for p in started), "\n".join(error[-3000:] for _, error in told)
    return [out for out, _ in told]


@pytest.mark.parametrize("name", names())
def test_each_process_prints_what_it_did_on_tensorflow(name: str, tmp_path: Path) -> None:
    told = run(name, str(tmp_path))
    want = (PROGRAMS / f"{name}.expected").read_text().split("----\n")
    for i, out in enumerate(told):
        assert clean(out) == want[i % len(want)].splitlines(), f"process {i}"


def record() -> None:
    for name in sys.argv[1:] or names():
        with tempfile.TemporaryDirectory() as folder:
            told = run(name, folder, here=False)
        (PROGRAMS / f"{name}.expected").write_text("----\n".join("".join(f"{line}\n" for line in clean(out)) for out in told))


if __name__ == "__main__":
    record()
