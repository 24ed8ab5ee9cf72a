"""Sessions: feeds in, fetches out."""

from __future__ import annotations

import collections
import collections.abc
import os
import weakref
from typing import Any

import numpy as np

from emplace import _core
from emplace.framework import errors, ops


def _options(config: Any) -> dict[str, Any]:
    """The engine's options of a ConfigProto."""
    if config is None:
        return {}
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
    }
    pools = config.session_inter_op_thread_pool
    if pools:
        o["session_inter_op_thread_pool"] = [(p.num_threads, p.global_name) for p in pools]
    return o


# ---- Fetches: a structure of tensors and operations, and how to put the values back into it.


class _Leaf:
    """One graph element; `contract` makes its value of those of `elements`."""

    def __init__(self, elements: list[Any], contract: Any) -> None:
        self.elements, self.contract = elements, contract

    def build(self, values: list[Any]) -> Any:
        return self.contract(values)


class _Sequence:
    def __init__(self, items: list[Any], make: Any) -> None:
        self.items, self.make = items, make
        self.elements = [e for i in items for e in i.elements]

    def build(self, values: list[Any]) -> Any:
        results, at = [], 0
        for i in self.items:
            n = len(i.elements)
            results.append(i.build(values[at : at + n]))
            at += n
        return self.make(results)


_fetch_converters: list[tuple[Any, Any, Any]] = []


def register_session_run_conversion_functions(tensor_type: Any, fetch_function: Any, feed_function: Any = None, feed_function_for_partial_run: Any = None) -> None:
    for kind, _, _ in _fetch_converters:
        if issubclass(tensor_type, kind):
            raise ValueError(f"{tensor_type} has already been registered so ignore it.")
    _fetch_converters.insert(0, (tensor_type, fetch_function, feed_function))


def _fetch_tree(graph: Any, fetch: Any) -> Any:
    if fetch is None:
        raise TypeError(f"Argument `fetch` = {fetch} has invalid type \"NoneType\". Cannot be None")
    if isinstance(fetch, (list, tuple)):
        items = [_fetch_tree(graph, f) for f in fetch]
        if isinstance(fetch, list):
            return _Sequence(items, list)
        if hasattr(fetch, "_fields"):
            return _Sequence(items, lambda r: type(fetch)(*r))
        return _Sequence(items, tuple)
    if isinstance(fetch, collections.abc.Mapping):
        keys = list(fetch.keys())
        items = [_fetch_tree(graph, fetch[k]) for k in keys]
        if isinstance(fetch, collections.OrderedDict):
            return _Sequence(items, lambda r: collections.OrderedDict(zip(keys, r)))
        return _Sequence(items, lambda r: dict(zip(keys, r)))
    if hasattr(fetch, "__attrs_attrs__"):
        names = [a.name for a in fetch.__attrs_attrs__]
        return _Sequence([_fetch_tree(graph, getattr(fetch, n)) for n in names], lambda r: type(fetch)(**dict(zip(names, r))))
    if isinstance(fetch, ops.IndexedSlices):
        parts = [fetch.values, fetch.indices] + ([fetch.dense_shape] if fetch.dense_shape is not None else [])
        items = [_fetch_tree(graph, p) for p in parts]
        return _Sequence(items, lambda r: IndexedSlicesValue(*(r + [None] * (3 - len(r)))))
    for kind, function, _ in _fetch_converters:
        if isinstance(fetch, kind):
            elements, contract = function(fetch)
            return _Leaf([_element(graph, e) for e in elements], contract)
    return _Leaf([_element(graph, fetch)], lambda v: v[0])


def _element(graph: Any, fetch: Any) -> Any:
    try:
        element = graph.as_graph_element(fetch)
    except TypeError as e:
        raise TypeError(f"Argument `fetch` = {fetch} has invalid type \"{type(fetch).__name__}\" must be a string or Tensor. ({e})") from None
    except ValueError as e:
        raise ValueError(f"Argument `fetch` = {fetch} cannot be interpreted as a Tensor. ({e})") from None
    except KeyError as e:
        raise ValueError(f"Argument `fetch` = {fetch} cannot be interpreted as a Tensor. ({e})") from None
    return element


IndexedSlicesValue = collections.namedtuple("IndexedSlicesValue", ["values", "indices", "dense_shape"])


class _Prepared:
    """A run of one (fetches, feeds) signature: what to hand to the engine and what to make of it."""

    __slots__ = ("tree", "callable", "positions", "simple", "fed", "feeds")

    def __init__(self, session: Any, tree: Any, feeds: list[Any]) -> None:
        self.tree = tree
        self.feeds = feeds
        fed = {id(t): i for i, t in enumerate(feeds)}
        fetches: list[Any] = []
        index: dict[int, int] = {}
        targets: list[Any] = []
        # Where each element's value comes from: a fetch, a feed, or nowhere (an operation).
        self.positions: list[tuple[int, int]] = []
        for e in tree.elements:
            if isinstance(e, ops.Operation):
                targets.append(e._node)
                self.positions.append((2, 0))
            elif id(e) in fed:
                self.positions.append((1, fed[id(e)]))
            else:
                if id(e) not in index:
                    index[id(e)] = len(fetches)
                    fetches.append(e._out)
                self.positions.append((0, index[id(e)]))
        self.simple = isinstance(tree, _Leaf) and self.positions == [(0, 0)]
        self.callable = session._core.make_callable([t._out for t in feeds], fetches, targets) if fetches or targets else None

    def values(self, fetched: list[Any], fed: list[Any]) -> Any:
        elements = []
        for kind, i in self.positions:
            elements.append(fetched[i] if kind == 0 else fed[i] if kind == 1 else None)
        return self.tree.build(elements)


_session_graph_closed = "Attempted to use a closed Session."
_live: "weakref.WeakSet[BaseSession]" = weakref.WeakSet()
_used = False  # the engine's threads are running
_forked = False
_forked_words = "This process was forked after a session had been made, and the engine's threads stayed behind. Fork first, or start processes with multiprocessing's 'spawn'."


def _in_child() -> None:
    global _forked
    _core.forget_watcher()
    _forked = _used
    for session in list(_live):
        session._cache = {}
        _kept.append(session._core)  # its threads are gone: it must not be torn down


_kept: list[Any] = []
os.register_at_fork(after_in_child=_in_child)


class BaseSession:
    def __init__(self, target: Any = "", graph: Any = None, config: Any = None) -> None:
        if graph is None:
            self._graph = ops.get_default_graph()
        elif not isinstance(graph, ops.Graph):
            raise TypeError(f"Argument `graph` must be a tf.Graph, but got \"{type(graph).__name__}\"")
        else:
            self._graph = graph
        if not isinstance(target, (str, bytes)) and target is not None:
            raise TypeError(f"Argument `target` must be a string, but got \"{type(target).__name__}\"")
        if config is not None and not hasattr(config, "SerializeToString"):
            raise TypeError(f"Argument `config` must be a tf.ConfigProto, but got \"{type(config).__name__}\"")
        if target:
            raise errors.NotFoundError(None, None, f"No session factory registered for the given session options: {{target: \"{target}\" config: {config}}} Registered factories are {{DIRECT_SESSION}}.")
        self._target = target or ""
        self._config = config
        self._closed = False
        self._cache: dict[Any, _Prepared] = {}
        self._keep: list[Any] = []
        self._default_context: Any = None
        global _used
        if _forked:
            raise RuntimeError(_forked_words)
        _used = True
        self._core = _core.Session(self._graph._core, self._engine_options())
        _live.add(self)

    def _engine_options(self) -> dict[str, Any]:
        from emplace.framework import settings

        return settings.with_globals(_options(self._config))

    @property
    def graph(self) -> Any:
        return self._graph

    @property
    def graph_def(self) -> Any:
        return self._graph.as_graph_def()

    @property
    def sess_str(self) -> str:
        return self._target

    def as_default(self) -> Any:
        return ops._default_sessions.scope(self)

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._cache.clear()
            if not _forked:
                self._core.close()

    def list_devices(self) -> list[Any]:
        return [_DeviceAttributes(*d) for d in self._core.list_devices()]

    # ---- Running.

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        try:
            return self._run_known(fetches, feed_dict, options, run_metadata)
        except errors.OpError as e:
            self._attach(e)
            raise

    def _attach(self, e: errors.OpError) -> None:
        """Gives an error of the engine the operation it is about."""
        if e._op is None and e._node_name:
            node = self._graph._core.find(e._node_name)
            if node is not None:
                e._op = self._graph._op_of(node)

    def _run_known(self, fetches: Any, feed_dict: Any, options: Any, run_metadata: Any) -> Any:
        if options is None and run_metadata is None:
            # The usual case: one tensor, the same feeds as before.
            if type(fetches) is ops.Tensor and not self._closed:
                key = (id(fetches), *map(id, feed_dict)) if feed_dict else id(fetches)
                found = self._cache.get(key)
                if found is not None and found.simple:
                    if not feed_dict:
                        return found.callable([])[0]
                    return found.callable([self._feed_value(t, v) for t, v in zip(found.feeds, feed_dict.values())])[0]
        return self._run(fetches, feed_dict, options, run_metadata)

    def _run(self, fetches: Any, feed_dict: Any, options: Any, run_metadata: Any) -> Any:
        if _forked:
            raise RuntimeError(_forked_words)
        if self._closed:
            raise RuntimeError(_session_graph_closed)
        if self._graph.version == 0:
            raise RuntimeError("The Session graph is empty. Add operations to the graph before calling run().")
        feeds, values = self._expand_feeds(feed_dict)
        prepared = self._prepare(fetches, feed_dict, feeds)
        if prepared.callable is None:
            return prepared.values([], values)
        if options is None and run_metadata is None:
            fetched = prepared.callable(values)
        else:
            fetched = self._run_with_options(prepared, values, options, run_metadata)
        return prepared.values(fetched, values)

    def _prepare(self, fetches: Any, feed_dict: Any, feeds: list[Any]) -> _Prepared:
        hashable = isinstance(fetches, (ops.Tensor, ops.Operation))
        if hashable:
            key = (id(fetches), *map(id, feeds)) if feeds else id(fetches)
            found = self._cache.get(key)
            if found is not None:
                return found
        tree = _fetch_tree(self._graph, fetches)
        if not hashable:
            key = (tuple(map(id, tree.elements)), *map(id, feeds))
            found = self._cache.get(key)
            if found is not None:
                found = _with_tree(found, tree)
                return found
        prepared = _Prepared(self, tree, feeds)
        self._cache[key] = prepared
        self._keep.append((fetches if hashable else tree.elements, feeds))  # ids stay theirs
        return prepared

    def _expand_feeds(self, feed_dict: Any) -> tuple[list[Any], list[Any]]:
        if not feed_dict:
            return [], []
        feeds, values = [], []
        if not isinstance(feed_dict, collections.abc.Mapping):
            raise TypeError(f"FlattenDictItems: 'dict' must be a dictionary or collection.Mapping type object, instead of '{type(feed_dict).__name__}'.")
        for key, value in feed_dict.items():
            for element, v in self._expand_nested(key, value):
                feeds.append(element)
                values.append(self._feed_value(element, v))
        return feeds, values

    def _expand_nested(self, key: Any, value: Any) -> Any:
        if not isinstance(key, tuple):
            return self._expand_feed(key, value)
        return [pair for k, v in zip(key, value) for pair in self._expand_nested(k, v)]

    def _expand_feed(self, key: Any, value: Any) -> Any:
        if isinstance(key, ops.IndexedSlices):
            parts = [key.values, key.indices] + ([key.dense_shape] if key.dense_shape is not None else [])
            return list(zip(parts, value))
        for kind, _, function in _fetch_converters:
            if function is not None and isinstance(key, kind):
                return function(key, value)
        try:
            element = self._graph.as_graph_element(key, allow_operation=False)
        except Exception as e:
            raise TypeError(f"Cannot interpret feed_dict key as Tensor: {e.args[0] if e.args else e}") from None
        return [(element, value)]

    def _feed_value(self, tensor: Any, value: Any) -> Any:
        if self._graph._unfeedable and not self._graph.is_feedable(tensor):
            raise ValueError(f"Tensor {tensor.name} may not be fed.")
        dtype = tensor._dtype
        numpy_type = dtype.as_numpy_dtype
        if type(value) is np.ndarray and value.dtype == numpy_type and dtype._enum != 7:
            array = value
        else:
            array = self._convert_feed(tensor, value, dtype, numpy_type)
        shape = tensor._out.shape
        if shape is not None:
            given = array.shape
            if len(given) != len(shape) or any(d is not None and d != g for d, g in zip(shape, given)):
                raise ValueError(
                    f"Cannot feed value of shape {given} for Tensor {tensor.name}, which has shape "
                    f"{tensor.shape}"
                )
        return array

    def _convert_feed(self, tensor: Any, value: Any, dtype: Any, numpy_type: Any) -> Any:
        if isinstance(value, (ops.Tensor, ops.Operation)):
            raise TypeError(
                "The value of a feed cannot be a tf.Tensor object. Acceptable feed values include "
                "Python scalars, strings, lists, numpy ndarrays, or TensorHandles. For reference, "
                f"the tensor object was {value} which was passed to the argument `feed_dict` with key {tensor}."
            )
        if isinstance(value, int) and not isinstance(value, bool) and dtype.is_integer:
            limits = np.iinfo(numpy_type)
            if not limits.min <= value <= limits.max:
                raise TypeError(f"Type of feed value {value} with type {type(value)} is not compatible with Tensor type {numpy_type}. Try explicitly setting the type of the feed tensor to a larger type (e.g. int64).")
        if dtype._enum % 100 == 7:
            from emplace.framework import constant_op

            constant_op._strings(value)  # refuses what is no text
            return np.asarray(value, dtype=object)
        return np.asarray(value, dtype=numpy_type)

    def _run_with_options(self, prepared: _Prepared, values: list[Any], options: Any, run_metadata: Any) -> list[Any]:
        timeout = options.timeout_in_ms if options is not None else 0
        pool = options.inter_op_thread_pool if options is not None else 0
        trace = options is not None and options.trace_level > 0 and run_metadata is not None
        fetched, start_us, rows = prepared.callable.call_with_options(values, timeout, pool, trace)
        if run_metadata is not None:
            from emplace.framework import run_stats

            run_stats.fill(run_metadata, start_us, rows, self._graph, options)
        return fetched

    def make_callable(self, fetches: Any, feed_list: Any = None, accept_options: bool = False) -> Any:
        """A function of the values of `feed_list`, prepared once."""
        if feed_list is not None and not isinstance(feed_list, (list, tuple)):
            raise TypeError(f"Argument `feed_list` must be a list or tuple. Received: feed_list={feed_list}")
        if self._closed:
            raise RuntimeError(_session_graph_closed)
        feeds = [self._graph.as_graph_element(f, allow_operation=False) for f in feed_list or []]
        prepared = _Prepared(self, _fetch_tree(self._graph, fetches), feeds)
        if prepared.simple and not accept_options:
            return self._simple_callable(prepared, feeds)

        def function(*args: Any, options: Any = None, run_metadata: Any = None) -> Any:
            if len(args) != len(feeds):
                raise ValueError(f"Must provide values for tensors in `feed_list`: expected {len(feeds)}, got {len(args)}")
            if self._closed:
                raise RuntimeError(_session_graph_closed)
            values = [self._feed_value(t, v) for t, v in zip(feeds, args)]
            if options is not None or run_metadata is not None:
                fetched = self._run_with_options(prepared, values, options, run_metadata)
            else:
                fetched = prepared.callable(values) if prepared.callable else []
            return prepared.values(fetched, values)

        return function

    def _simple_callable(self, prepared: _Prepared, feeds: list[Any]) -> Any:
        run, value_of = prepared.callable, self._feed_value

        def function(*args: Any) -> Any:
            if len(args) != len(feeds):
                raise ValueError(f"Must provide values for tensors in `feed_list`: expected {len(feeds)}, got {len(args)}")
            if _forked:
                raise RuntimeError(_forked_words)
            try:
                return run([value_of(t, v) for t, v in zip(feeds, args)])[0]
            except errors.OpError as e:
                if self._closed:
                    raise RuntimeError(_session_graph_closed) from None
                self._attach(e)
                raise

        return function

    # ---- Placement as data.

    def placement(self, fetches: Any = None) -> Any:
        """Where each node runs and why there; only what `fetches` need when given."""
        from emplace.framework import placement

        outputs = []
        if fetches is not None:
            for e in _fetch_tree(self._graph, fetches).elements:
                node = e.op._node if isinstance(e, ops.Tensor) else e._node
                outputs.append(_core.Output(node, 0))
        return placement.Placement(self._core.placement(outputs))

    def __del__(self) -> None:
        try:
            self.close()
        except Exception:  # at interpreter exit anything may be gone
            pass


def _with_tree(prepared: _Prepared, tree: Any) -> _Prepared:
    copy = _Prepared.__new__(_Prepared)
    copy.tree = tree
    copy.feeds = prepared.feeds
    copy.positions = prepared.positions
    copy.callable = prepared.callable
    copy.simple = False
    return copy


class Session(BaseSession):
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
        raise errors.UnimplementedError(None, None, "Session.reset needs a server; a session without one keeps its state to itself.")


class InteractiveSession(BaseSession):
    _active = 0

    def __init__(self, target: Any = "", graph: Any = None, config: Any = None) -> None:
        from emplace.proto import config_pb2

        own = config_pb2.ConfigProto()
        if config is not None:
            own.CopyFrom(config)
        own.graph_options.place_pruned_graph = True
        super().__init__(target, graph, own)
        if InteractiveSession._active > 0:
            import warnings

            warnings.warn("An interactive session is already active. This can cause out-of-memory errors in some cases. You must explicitly call `InteractiveSession.close()` to release resources held by the other session(s).")
        InteractiveSession._active += 1
        self._explicit_graph = graph
        self._graph_context: Any = None
        if graph is not None:
            self._graph_context = graph.as_default()
            self._graph_context.__enter__()
        self._default_context = self.as_default()
        self._default_context.__enter__()

    def close(self) -> None:
        if self._closed:
            return
        super().close()
        InteractiveSession._active -= 1
        if self._default_context is not None:
            stack = ops._default_sessions.stack
            if self in stack:
                stack.remove(self)
            if self._graph_context is not None and self._explicit_graph in ops._default_graphs.stack:
                ops._default_graphs.stack.remove(self._explicit_graph)


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


