"""What users demand of a placement, and what it would be elsewhere."""

from __future__ import annotations

import html
import json
import os
import sys
from typing import Any, Iterator, NamedTuple, Sequence

from emplace import _core
from emplace.framework import ops
from emplace.framework.costs import CostBook
from emplace.framework.fetches import outputs_of
from emplace.framework.placement import Placement

Bytes = int | str  # 4096, "64MiB"


class Violation(NamedTuple):
    """A demand that a placement does not meet.

    Attributes:
      node: The operation that shows it; empty where no operation does.
      op: Its type.
      device: Where it is.
      reason: What is demanded, and why it is otherwise.
      source: The line that made the operation.
      demanded_at: The line that demands it.
    """

    node: str
    op: str
    device: str
    reason: str
    source: str
    demanded_at: str


class DeviceMemory(NamedTuple):
    """What a device will hold while a step runs.

    Attributes:
      device: Its name.
      peak: Bytes at the worst moment.
      kept: Bytes of them that stay from step to step: variables and constants.
      least: Bytes that it needs whatever order its operations run in; counts on no guessed size.
      limit: Bytes that it has; None: nobody limits it.
      holders: (node, bytes) at the worst moment, the largest first.
    """

    device: str
    peak: int
    kept: int
    least: int
    limit: int | None
    holders: list[tuple[str, int]]


class Forecast(NamedTuple):
    """What a step will take and hold, before anything has run.

    Attributes:
      step_seconds: How long it is expected to take.
      devices: What each device that holds something will hold.
      guessed: Whether some size was not known and is a guess.
    """

    step_seconds: float
    devices: list[DeviceMemory]
    guessed: bool


def _size(size: Bytes | None) -> str | None:
    return None if size is None else str(size)


def _graph(graph: Any) -> Any:
    # A program that uses version 2's face alone builds no graph outside of functions and graph blocks.
    if graph is None and not ops._default_graphs.stack and "emplace.compat.v1" not in sys.modules:
        raise RuntimeError("This is about graphs that sessions run, and there is none here: give one as `graph`.")
    graph = ops.get_default_graph() if graph is None else graph
    if hasattr(graph, "_capture"):
        raise RuntimeError("This is about graphs that sessions run, not about functions.")
    return graph


def require(
    device: str = "",
    ops: str = "**",
    *,
    max_copies: int | None = None,
    max_copied_bytes: Bytes | None = None,
    max_peak: Bytes | None = None,
    graph: Any = None,
) -> None:
    """Demands where operations of the graph are, and what may be copied for them.

    What sessions prepare from now on is refused with FailedPreconditionError where it is placed
    otherwise; the message has all violations, each with node, device, reason and line.

    Args:
      device: Where they must be, as a full or partial name with `*` for any: `"/gpu:*"`. Empty: anywhere.
      ops: Which operations, by name. `*` is anything within a scope, `**` anything across scopes: `"tower_*/**"`.
      max_copies: How many tensors may be copied between devices for them in one step.
      max_copied_bytes: How many bytes, as a number or a text such as `"64MiB"`.
      max_peak: What any device that runs one of them may hold at once.
      graph: The graph; the default one if not given.

    Raises:
      InvalidArgumentError: The device or a size makes no sense.
      RuntimeError: There is no graph.
    """
    demanded = _core.Contract(device, ops, max_copies, _size(max_copied_bytes), _size(max_peak))
    _graph(graph)._contracts.append(demanded)


def violations(session: Any, fetches: Any = None) -> list[Violation]:
    """All that is not as `require` demands of the session's graph, without running anything.

    Args:
      session: The session whose placement is looked at.
      fetches: Only what these need; None: the whole graph.

    Returns:
      One row a violation; none: all demands are met.
    """
    return [Violation(*v) for v in _core.violations(session._core, outputs_of(session.graph, fetches), session.graph._contracts)]


def forecast(session: Any, fetches: Any) -> Forecast:
    """See `Session.forecast`."""
    step, devices, guessed = _core.forecast(session._core, outputs_of(session.graph, fetches))
    return Forecast(step, [DeviceMemory(*d) for d in devices], guessed)


class Outlook:
    """What one way of placing a graph would give.

    Attributes:
      way: `"GPU:0 alone"`, `"simple placer"`, `"your pins"`, `"dynamic placer"`.
      problem: Why it can't be; empty: it can.
      step_seconds: How long a step would take.
      busy_seconds: How long each device would be busy, by name.
      memory: What each device would hold.
      placement: Where each node would run, and why.
    """

    def __init__(self, way: str, problem: str, step: float, devices: Any, rows: Any, trace: str, picture: str) -> None:
        """Made by `outlooks`."""
        self.way, self.problem, self.step_seconds = way, problem, step
        self.busy_seconds = {memory[0]: busy for busy, memory in devices}
        self.memory = [DeviceMemory(*memory) for _, memory in devices]
        self.placement = Placement(rows)
        self._trace, self._picture = trace, picture

    def chrome_trace(self) -> str:
        """The step as it is expected, for chrome://tracing and Perfetto."""
        return self._trace

    def timeline_svg(self) -> str:
        """The step as it is expected, as a picture: a line for each device and slot."""
        return self._picture

    def _repr_html_(self) -> str:
        return self._picture

    def __repr__(self) -> str:
        return f"<Outlook {self.way}: {self.problem or f'{self.step_seconds * 1e3:.3g} ms'}>"


class Outlooks(Sequence[Outlook]):
    """Ways of placing a graph beside each other; prints as a table."""

    def __init__(self, rows: Any, table: str) -> None:
        """Made by `outlooks`."""
        self._rows = [Outlook(*r) for r in rows]
        self._table = table

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, key: Any) -> Any:
        """A way by its number or its name."""
        if isinstance(key, str):
            for o in self._rows:
                if o.way == key:
                    return o
            raise KeyError(key)
        return self._rows[key]

    def __iter__(self) -> Iterator[Outlook]:
        return iter(self._rows)

    def __str__(self) -> str:
        return self._table

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self._table)}</pre>"


def _device(d: Any) -> tuple[str, float | None, int, float, str, float, str]:
    d = {"name": d} if isinstance(d, str) else d
    memory = d.get("memory")
    size = float(_core.byte_size(memory)) if isinstance(memory, str) else memory
    return d["name"], size, d.get("slots", 1) or 0, d.get("launch_s", 0.0), d.get("pool", ""), d.get("pool_cores", 1.0), d.get("kind", "")


def outlooks(devices: Any, fetches: Any = None, graph: Any = None, *, costs: CostBook | None = None, soft: bool = False, evaluations: int = 0) -> Outlooks:
    """What a step of the graph would take on devices that need not be here, under each way of placing it.

    Args:
      devices: Names (`["CPU:0", "GPU:0"]`), or a topology: `{"devices": [{"name": "GPU:0", "memory": "80GiB",
        "slots": 1, "launch_s": 5e-6}, ...], "links": {"default": {"latency_s": 1e-5, "bytes_per_s": 2.5e10},
        "pairs": [{"src": "GPU:0", "dst": "GPU:1", ...}]}}`, or the path of a JSON file that holds one.
      fetches: What the step computes; None: the most that one node of the graph needs.
      graph: The graph; the default one if not given.
      costs: What was measured, on machines of these kinds: a device's `"kind"` in the topology says of which kind
        of the book it is. None: estimates by usual rates.
      soft: Whether pins that can't be met give way.
      evaluations: Plans to look at: the same answer on every machine. 0: as suits the graph.

    Returns:
      Everything on each single device, the simple placer, the pins where there are any, and the dynamic placer.

    Raises:
      InvalidArgumentError: The topology makes no sense, or the costs say nothing of a kind.
    """
    if isinstance(devices, (str, os.PathLike)):
        with open(devices) as file:
            devices = json.load(file)
    topology = devices if isinstance(devices, dict) else {"devices": devices}
    rows = [_device(d) for d in topology["devices"]]
    number = {row[0]: i for i, row in enumerate(rows)}
    links = topology.get("links", {})
    found = [(-1, -1, d["latency_s"], d["bytes_per_s"]) for d in [links.get("default")] if d]
    found += [(number[p["src"]], number[p["dst"]], p["latency_s"], p["bytes_per_s"]) for p in links.get("pairs", ())]
    graph = _graph(graph)
    return Outlooks(*_core.outlooks(graph._core, rows, found, outputs_of(graph, fetches), None if costs is None else costs._core, soft, evaluations))
