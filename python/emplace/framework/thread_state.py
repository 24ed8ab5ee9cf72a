"""What a thread is in the middle of. A new thread begins with nothing of it, wherever it was started.

`state` is the part that the C side looks at too (`thread_state.h`), `own` what Python alone looks at;
`OfGraph` is what a thread is in the middle of in one graph.
"""

from __future__ import annotations

import collections
import threading
from typing import Any

from emplace import _core

state = _core.ThreadState()  # graphs, devices, recorders, eager: the calling thread's


class _Own(threading.local):
    def __init__(self) -> None:
        super().__init__()
        self.root_graph: Any = None  # the default graph outside of all blocks
        self.builds_graphs = False  # nothing runs eagerly: eager execution was turned off
        self.sessions: list[Any] = []  # default sessions, innermost last
        self.name_scopes: list[str] = []  # of eager code
        self.made_variables: list[list[Any]] = []  # of traces under way: the variables made meanwhile
        self.watchers: list[Any] = []  # tapes that want to know which variables are read
        self.accumulators: list[Any] = []  # of forward gradients
        self.calling_session = 0  # which session calls a Python function
        self.summary: dict[str, Any] = {"writer": None, "step": None, "record": True}
        self.distribution: list[Any] = []  # strategies' scopes and replicas, innermost last (distribute/contexts.py)
        self.worker: list[int] = []  # whose steps this thread of a coordinator hands out
        self.converting = False  # the function being traced has its `if` and loops converted
        self.automatic_names: collections.Counter[Any] = collections.Counter()  # given so far


own = _Own()


class OfGraph(threading.local):
    def __init__(self) -> None:
        super().__init__()
        self.devices: list[Any] = []  # open device blocks
        self.variable_scope: Any = None  # None: the root, not asked for yet
        self.variable_scope_counts: dict[str, int] = {}
        self.flow_context: Any = None  # the branch or loop that is being built
        self.loop_states: Any = None  # of the gradients that are being built
