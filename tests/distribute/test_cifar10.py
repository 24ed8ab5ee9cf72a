"""The example examples/cifar10 on two virtual GPUs: it learns, in version 1's words and as a MirroredStrategy."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "cifar10"
SMALL = ("--filters=8", "--batch_size=16")


def run(program: str, folder: pathlib.Path, *arguments: str) -> str:
    env = {**os.environ, "EMPLACE_VIRTUAL_GPUS": "2", "CUDA_VISIBLE_DEVICES": "-1"}
    where = [f"--data_dir={folder / 'data'}", f"--train_dir={folder / 'train'}"]
    done = subprocess.run([sys.executable, EXAMPLE / program, *SMALL, *where, *arguments], env=env, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("program, options", [("towers.py", ["--num_gpus=2"]), ("mirrored.py", [])])
def test_loss_falls_in_200_steps(program: str, options: list[str], tmp_path: pathlib.Path) -> None:
    out = run(program, tmp_path, *options, "--max_steps=200")
    losses = [float(x) for x in re.findall(r"^step \d+, loss = (\S+) \(\S+ examples/s\)$", out, re.MULTILINE)]
    assert "data: a stand-in for CIFAR-10" in out and len(losses) == 20
    assert sorted(losses[10:])[3] < 0.8 * losses[0], losses  # of so few examples they jump now and then
    found = re.search(r"precision @ 1 = (\S+)", run(program, tmp_path, "--evaluate"))
    assert found and float(found[1]) > 0.11  # of moving averages, which lag behind


def test_the_files_of_cifar_10_are_read_where_they_are(tmp_path: pathlib.Path) -> None:
    run("towers.py", tmp_path, "--max_steps=1")
    there = tmp_path / "data" / "cifar-10-batches-bin"
    there.mkdir()
    for name in ("data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5", "test_batch"):
        shutil.copy(tmp_path / "data" / "stand_in_training.bin", there / f"{name}.bin")
    assert "data: CIFAR-10\n" in run("towers.py", tmp_path, "--max_steps=1")
