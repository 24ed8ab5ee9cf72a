#!/usr/bin/env python3
"""Kernels of a network's training step on a card, the dearest first: total ms a step, calls a step, name.

    profile_kernels.py NAME:BATCH... [--steps N] [--most N]     NAME: resnet50, bert

torch's profiler listens to every kernel of the process, replayed recordings included.
"""
import argparse
import collections
import sys

import models


def profiled(name: str, batch: int, steps: int) -> list[tuple[float, float, str]]:
    import torch

    spent, calls, plain = collections.Counter(), collections.Counter(), models.timed

    def listened(step, _):
        row = plain(step, steps)
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as listener:
            for _ in range(steps):
                step()
        for event in listener.events():
            spent[event.name] += event.device_time_total / 1e3 / steps
            calls[event.name] += 1 / steps
        return row

    models.timed = listened
    row = models.ours(name, batch, steps)
    print(f"{name}:{batch}: {row['ms']} ms a step, {sum(spent.values()):.2f} ms of kernels and copies")
    return [(ms, calls[kernel], kernel) for kernel, ms in spent.most_common()]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="+", metavar="NAME:BATCH")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--most", type=int, default=40)
    given = parser.parse_args()
    for network in given.networks:
        name, batch = network.split(":")
        for ms, calls, kernel in profiled(name, int(batch), given.steps)[: given.most]:
            print(f"{ms:9.3f} ms {calls:7.1f} ×  {kernel[:150]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
