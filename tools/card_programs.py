"""Runs the documents' programs (tests/programs/doc00*), whole networks (tests/programs/networks.py, training_graphs.py) and a
card's own (tests/cuda/programs) on a real card and compares what they print.

As many logical GPUs as a program wants virtual ones; its description lines may name any card.
Prints what differs, then one line of counts.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent / "tests"
CARD = re.compile(r"name: Virtual GPU, pci bus id: (<\*>|[0-9a-f:.]+)")


def directives(program: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in program.read_text().splitlines():
        match = re.fullmatch(r"# (env|args|exit|compare|oracle): (.*)", line)
        if not match:
            break
        found.setdefault(match[1], []).append(match[2])
    return found


def environment(settings: list[str]) -> dict[str, str]:
    env = dict(os.environ)
    for setting in settings:
        name, value = setting.split("=", 1)
        if name == "EMPLACE_VIRTUAL_GPUS":
            name, value = "EMPLACE_SPLIT_GPUS", value.split(":")[0]
        env[name] = value
    return env


def pattern(line: str) -> str:
    line = CARD.sub("name: NVIDIA<*>", line)
    return ".*".join(map(re.escape, line.split("<*>")))


def differs(program: Path) -> str:
    says = directives(program)
    env = environment(says.get("env", []))
    if env.get("EMPLACE_SPLIT_GPUS", "0") == "0":  # written for a machine without GPUs
        env["CUDA_VISIBLE_DEVICES"] = ""
        env.pop("EMPLACE_SPLIT_GPUS", None)
    done = subprocess.run([sys.executable, program], env=env, capture_output=True, text=True,
                          timeout=300, check=False)
    want = program.with_suffix(".expected").read_text().splitlines()
    got = done.stdout.splitlines()
    if says.get("compare") == ["sorted"]:
        want, got = sorted(want), sorted(got)
    if done.returncode != int(says.get("exit", ["0"])[0]):
        return f"exit status {done.returncode}\n{done.stderr[-1500:]}"
    if len(want) == len(got) and all(re.fullmatch(pattern(w), g) for w, g in zip(want, got)):
        return ""
    return "expected\n" + "\n".join(want[:12]) + "\ngot\n" + "\n".join(got[:12])


def main() -> int:
    programs = [p for glob in ("programs/doc00*.py", "programs/networks.py", "programs/training_graphs.py", "cuda/programs/*.py")
                for p in sorted(TESTS.glob(glob))]
    bad = []
    for program in programs:
        if why := differs(program):
            bad.append(program.stem)
            print(f"--- {program.stem}: {why}")
    print(f"{len(programs) - len(bad)} programs as printed, {len(bad)} not:",
          *(bad or ["none"]))
    return bool(bad)


sys.exit(main())
