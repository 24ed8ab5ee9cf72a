"""Sessions: feeds in, fetches out."""

from __future__ import annotations

import os
import weakref
from typing import Any

from emplace import _core
from emplace.framework import errors, feeds, ops, session_tensors
from emplace.framework.fetches import _fetch_tree, _Prepared, outputs_of, register_session_run_conversion_functions


def _options(config: Any) -> dict[str, Any]:
    """The engine's options of a ConfigProto."""
    gpu = config.gpu_options
    o: dict[str, Any] = {
        "device_count": dict(config.device_count),
        "intra_op_parallelism_threads": config.intra_op_parallelism_threads,
        "inter_op_parallelism_threads": config.inter_op_parallelism_threads,
        "use_per_session_threads": config.use_per_session_threads,
        "allow_soft_placement": config.allow_soft_placement,
        "log_device_placement": config.log_device_placement,
        "place_pruned_graph": config.graph_options.place_pruned_graph,
        "operation_timeout_in_ms": config.operation_timeout_in_ms,
        "per_process_gpu_memory_fraction": gpu.per_process_gpu_memory_fraction,
        "allow_growth": gpu.allow_growth,
        "visible_device_list": gpu.visible_device_list,
        "use_cuda_malloc_async": gpu.experimental.use_cuda_malloc_async,
        "force_gpu_compatible": gpu.force_gpu_compatible,
        "placer": config.placer,
        "placer_budget_ms": config.placer_budget_ms,
        "placer_evaluations": config.placer_evaluations,
        "placer_seed": config.placer_seed or 1,
        "measure_costs": config.measure_costs,
        "costs": config.costs,
        "save_costs": config.save_costs,
        "replan_after_steps": config.replan_after_steps,
        "device_filters": list(config.device_filters),
        "isolate_session_state": config.isolate_session_state,
    }
    if gpu.experimental.virtual_devices:
        o["virtual_devices"] = [list(v.memory_limit_mb) for v in gpu.experimental.virtual_devices]
    pools = config.session_inter_op_thread_pool
    if pools:
        o["session_inter_op_thread_pool"] = [(p.num_threads, p.global_name) for p in pools]
    return o


_session_graph_closed = "Attempted to use a closed Session."
_live: "weakref.WeakSet[BaseSession]" = weakref.WeakSet()
_MOST_CALLS = 256  # kinds of call that a session is prepared for
_used = False  # the engine's threads are running
_forked = False
_forked_words = "This process was forked after a session had been made, and the engine's threads stayed behind. Fork first, or start processes with multiprocessing's 'spawn'."


def _in_child() -> None:
    global _forked
    _core.forget_threads()
    _forked = _used
    _core.set_forked(_forked)
    for session in list(_live):
        session._cache = {}
        session._forget()
        _kept.append(session._core)  # its threads are gone: it must not be torn down


_kept: list[Any] = []
os.register_at_fork(after_in_child=_in_child)


def _is_stable(key: Any) -> bool:
    """Does the object itself, wherever it is met again, mean the same tensor or operation?"""
    return isinstance(key, (ops.Tensor, ops.Operation)) or hasattr(key, "_dense_var_to_tensor")


def _check_target(target: Any, config: Any) -> None:
    from emplace import compat

    if target and not compat.as_text(target).startswith("grpc://"):
        raise errors.NotFoundError(None, None, f"No session factory registered for the given session options: {{target: \"{target}\" config: {config}}} Registered factories are {{DIRECT_SESSION, GRPC_SESSION}}.")


class BaseSession(_core.SessionBase):
    def __init__(self, target: Any = "", graph: Any = None, config: Any = None) -> None:
        if graph is None:
            self._graph = ops.get_default_graph()
        elif not isinstance(graph, ops.Graph):
            raise TypeError(f"Argument `graph` must be a tf.Graph, but got \"{type(graph).__name__}\"")
        else:
            self._graph = graph
        self._partial_runs: dict[str, Any] = {}
        if not isinstance(target, (str, bytes)) and target is not None:
            raise TypeError(f"Argument `target` must be a string, but got \"{type(target).__name__}\"")
        if config is not None and not hasattr(config, "SerializeToString"):
            raise TypeError(f"Argument `config` must be a tf.ConfigProto, but got \"{type(config).__name__}\"")
        _check_target(target, config)
        self._target = target or ""
        self._config = config
        self._cache: dict[Any, _Prepared] = {}
        self._contracts_told = 0  # of the graph's, to the engine
        self._keep: dict[Any, Any] = {}
        self._dead_handles: list[str] = []
        self._default_context: Any = None
        global _used
        if _forked:
            raise RuntimeError(_forked_words)
        _used = True
        self._core = _core.Session(self._graph._core, self._engine_options())
        _live.add(self)

    def _engine_options(self) -> dict[str, Any]:
        from emplace.framework import settings

        o = settings.with_globals(settings.of_process() if self._config is None else _options(self._config))
        if self._target:
            o["target"] = self._target if isinstance(self._target, str) else self._target.decode()
        return o

    @property
    def graph(self) -> Any:
        return self._graph

    @property
    def graph_def(self) -> Any:
        return self._graph.as_graph_def()

    @property
    def sess_str(self) -> bytes:
        return self._target.encode() if isinstance(self._target, str) else self._target

    def as_default(self) -> Any:
        """Within it this session is the one that `eval` and `run` use; it is not closed at the end."""
        return ops._default_sessions.scope(self)

    def close(self) -> None:
        """Frees what the session holds; runs in progress fail and later ones are refused."""
        if not self._closed:
            self._closed = True
            self._cache.clear()
            self._forget()
            if not _forked:
                self._core.close()

    def list_devices(self) -> list[Any]:
        """The devices of the session, with name, type and memory."""
        return [_DeviceAttributes(*d) for d in self._core.list_devices()]

    # ---- Running. `run` is the base's: it knows the calls it was told to remember.

    def _attach(self, e: BaseException) -> None:
        """Gives an error of the engine the operation it is about; a signal's handler may have raised another."""
        if isinstance(e, errors.OpError) and e._op is None and e._node_name:
            node = self._graph._core.find(e._node_name)
            if node is not None:
                e._op = self._graph._op_of(node)
                e._source = e._source or node.source

    def _run(self, fetches: Any, feed_dict: Any, options: Any, run_metadata: Any) -> Any:
        try:
            return self._run_long(fetches, feed_dict, options, run_metadata)
        except errors.OpError as e:
            self._attach(e)
            raise

    def _run_long(self, fetches: Any, feed_dict: Any, options: Any, run_metadata: Any) -> Any:
        if _forked:
            raise RuntimeError(_forked_words)
        if self._closed:
            raise RuntimeError(_session_graph_closed)
        if self._graph.version == 0:
            raise RuntimeError("The Session graph is empty. Add operations to the graph before calling run().")
        if self._dead_handles:
            session_tensors.sweep(self)
        fed, values = feeds.expand(self._graph, feed_dict)
        values = session_tensors.moved(self, fed, values)
        prepared = self._prepare(fetches, feed_dict, fed)
        if prepared.callable is None:
            return prepared.values([], values)
        if options is None and run_metadata is None:
            fetched = prepared.callable(values)
        else:
            fetched = self._run_with_options(prepared, values, options, run_metadata)
        return prepared.values(fetched, values)

    def _prepare(self, fetches: Any, feed_dict: Any, fed: list[Any]) -> _Prepared:
        try:
            tree = _fetch_tree(self._graph, fetches)
        except RecursionError:
            raise TypeError("Argument `fetches` is nested too deeply.") from None
        key = (tuple(map(id, tree.elements)), *map(id, fed))
        found = self._cache.get(key)
        if found is not None:
            self._remember_call(fetches, feed_dict, found)
            return found.with_tree(tree)
        prepared = _Prepared(self, tree, fed)
        if len(self._cache) >= _MOST_CALLS:  # a graph that grows: what was asked long ago is prepared anew
            for old in list(self._cache)[: _MOST_CALLS // 2]:
                self._cache.pop(old, None)
                self._keep.pop(old, None)
            self._forget()
        self._cache[key] = prepared
        self._keep[key] = (tree.elements, fed)  # ids stay theirs
        self._remember_call(fetches, feed_dict, prepared)
        return prepared

    def _remember_call(self, fetches: Any, feed_dict: Any, prepared: _Prepared) -> None:
        """Lets the next such call go the short way, where its keys stand for themselves."""
        keys = list(feed_dict or ())
        items = fetches if type(fetches) in (list, tuple) else [fetches]
        if not all(_is_stable(k) for k in (*items, *keys)) or len(keys) != len(prepared.feeds):
            return
        positions = prepared.quick_positions()
        if positions is not None:
            self._remember(fetches, keys, prepared.feeds, positions, prepared.callable)

    def _run_with_options(self, prepared: _Prepared, values: list[Any], options: Any, run_metadata: Any) -> list[Any]:
        for message, method in ((options, "SerializeToString"), (run_metadata, "ParseFromString")):
            if message is not None:
                getattr(message, method)  # what is no message is refused in Python's words
        timeout = options.timeout_in_ms if options is not None else 0
        pool = options.inter_op_thread_pool if options is not None else 0
        trace = options is not None and options.trace_level > 0 and run_metadata is not None
        experimental = self._config.experimental if self._config is not None else None
        if options is not None and options.output_partition_graphs and experimental and experimental.disable_output_partition_graphs:
            words = "RunOptions.output_partition_graphs() is not supported when disable_output_partition_graphs is true."
            raise errors.InvalidArgumentError(None, None, words)
        fetched, start_us, rows = prepared.callable.call_with_options(values, timeout, pool, trace)
        if run_metadata is not None:
            from emplace.framework import run_stats

            run_stats.fill(run_metadata, start_us, rows, self._graph, options)
            if options is not None and options.output_partition_graphs:
                elements = prepared.tree.elements
                run_stats.fill_partitions(run_metadata, self.placement(elements), elements, prepared.feeds, self._graph)
        return fetched

    def make_callable(self, fetches: Any, feed_list: Any = None, accept_options: bool = False) -> Any:
        """A function of the values of `feed_list`, prepared once."""
        if feed_list is not None and not isinstance(feed_list, (list, tuple)):
            raise TypeError(f"Argument `feed_list` must be a list or tuple. Received: feed_list={feed_list}")
        if self._closed:
            raise RuntimeError(_session_graph_closed)
        fed = [self._graph.as_graph_element(f, allow_operation=False) for f in feed_list or []]
        prepared = _Prepared(self, _fetch_tree(self._graph, fetches), fed)

        def function(*args: Any, options: Any = None, run_metadata: Any = None) -> Any:
            if len(args) != len(fed):
                return self.run(fetches, dict(zip(fed, args)), options, run_metadata)
            if _forked:
                raise RuntimeError(_forked_words)
            if self._closed:
                raise RuntimeError(_session_graph_closed)
            values = session_tensors.moved(self, fed, feeds.values_for(fed, args))
            try:
                if options is not None or run_metadata is not None:
                    fetched = self._run_with_options(prepared, values, options, run_metadata)
                else:
                    fetched = prepared.callable(values) if prepared.callable else []
            except errors.OpError as e:
                self._attach(e)
                raise
            return prepared.values(fetched, values)

        positions = prepared.quick_positions()
        items = fetches if type(fetches) in (list, tuple) else [fetches]
        if positions is None or not all(_is_stable(f) for f in items):
            return function
        return _core.make_prepared(self, function, type(fetches).__name__, fed, positions, prepared.callable)

    # ---- One step in pieces.

    def partial_run_setup(self, fetches: Any, feeds: Any = None) -> str:
        """A step to be run in pieces by `partial_run`; the handle they take."""
        from emplace.framework.partial_runs import PartialRun

        if self._closed:
            raise RuntimeError(_session_graph_closed)
        made = PartialRun(self, fetches, feeds)
        self._partial_runs[made.handle] = made
        return made.handle

    def partial_run(self, handle: str, fetches: Any, feed_dict: Any = None) -> Any:
        """Goes on with a run that `partial_run_setup` began: feeds more, fetches more."""
        found = self._partial_runs.get(handle)
        if found is None:
            raise errors.InvalidArgumentError(None, None, "Must run 'setup' before performing partial runs!")
        return found.run(fetches, feed_dict)

    def limit(self, bytes: int, device: Any = "") -> None:
        """From now on this process takes no more than so many bytes of a device's memory, whoever asks.

        What is held stays. Who needs more gets `ResourceExhaustedError`, which says who holds what; the session goes on.

        Args:
          bytes: How many; 0 for no limit of this kind.
          device: Its name; the host's memory unless given.
        """
        self._core.limit(bytes, device if isinstance(device, str) else device.to_string())

    def trim(self) -> int:
        """Gives the memory that nobody uses just now back to the system at once; returns how many bytes."""
        return self._core.trim()

    def waiting(self) -> Any:
        """Who waits in the steps under way, on all tasks, whoever waited longest first: a list of `Waiting`.

        Each is a named tuple: `node`, `op`, `device`; `source`, the user's line; of what comes from another task
        `awaits`, the value, and `from_device`; `seconds` so far.
        """
        from emplace.framework.waiting import Waiting

        return [Waiting(*row) for row in _core.waiting(self._core)]

    # ---- Placement as data.

    def placement(self, fetches: Any = None) -> Any:
        """Where each node runs and why there; only what `fetches` need when given."""
        from emplace.framework import placement

        return placement.Placement(self._core.placement(outputs_of(self._graph, fetches)))

    def forecast(self, fetches: Any) -> Any:
        """What a step that computes `fetches` will take, and what each device will hold, by node, before anything has run.

        Args:
          fetches: As `run` takes them.

        Returns:
          A `tf.placement.Forecast`. Sizes that the graph leaves open are guessed, and it says so.
        """
        from emplace.framework import contracts

        return contracts.forecast(self, fetches)

    def costs(self) -> Any:
        """What was measured of this session's steps so far, as a `tf.placement.CostBook`; empty unless its options ask
        for it (`config.measure_costs`, or a placer that weighs costs)."""
        from emplace.framework import costs

        return costs.CostBook._of(self._core.costs())

    def __del__(self) -> None:
        try:
            self.close()
        except Exception:  # at interpreter exit anything may be gone
            pass


class Session(BaseSession):
    """Runs ops of a graph. In a `with` it is the default session, closed at the end."""

    def __init__(self, target: Any = "", graph: Any = None, config: Any = None) -> None:
        super().__init__(target, graph, config)
        self._contexts: list[Any] = []

    def __enter__(self) -> "Session":
        graph_context = self._graph.as_default()
        session_context = self.as_default()
        graph_context.__enter__()
        session_context.__enter__()
        self._contexts.append((graph_context, session_context))
        return self

    def __exit__(self, exc_type: Any, exc: Any, tb: Any) -> None:
        graph_context, session_context = self._contexts.pop()
        try:
            session_context.__exit__(None, None, None)
            graph_context.__exit__(None, None, None)
        finally:
            self.close()

    @staticmethod
    def reset(target: str, containers: Any = None, config: Any = None) -> None:
        """Ends every session of this process, or of the server at `target`, with all that their containers hold."""
        from emplace import compat

        _check_target(target, config)
        if config is not None:
            getattr(config, "SerializeToString")  # what is no message is refused in Python's words
        for name in containers or ():
            compat.as_bytes(name)
        if target:
            return _core.reset_target(compat.as_text(target), [compat.as_text(c) for c in containers or ()], {} if config is None else _options(config))
        for session in list(_live):
            session._core.close()


class _DeviceAttributes:
    """What list_devices() says of a device."""

    def __init__(self, name: str, device_type: str, memory_limit_bytes: int, incarnation: int, description: str = "") -> None:
        self._name, self._type = name, device_type
        self._memory, self._incarnation = memory_limit_bytes, incarnation
        self.physical_device_desc = description

    @property
    def name(self) -> str:
        return self._name

    @property
    def device_type(self) -> str:
        return self._type

    @property
    def memory_limit_bytes(self) -> int:
        return self._memory

    @property
    def incarnation(self) -> int:
        return self._incarnation

    def __repr__(self) -> str:
        return f"_DeviceAttributes({self._name}, {self._type}, {self._memory}, {self._incarnation})"


