"""Fetches: a structure of tensors and operations, and how to put the values back into it."""

from __future__ import annotations

import collections
import collections.abc
import weakref
from typing import Any

from emplace import _core
from emplace.framework import errors, ops, session_tensors


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
        if isinstance(fetch, collections.defaultdict):
            return _Sequence(items, lambda r: type(fetch)(fetch.default_factory, zip(keys, r)))
        return _Sequence(items, lambda r: type(fetch)(zip(keys, r)))
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
    if graph._unfetchable and not graph.is_fetchable(element):
        op = getattr(element, "op", element)
        raise errors.InaccessibleTensorError(
            f"Operation {op.name} has been marked as not fetchable. Typically this happens when it is defined in another function or code"
            " block. Use return values, explicit Python locals or TensorFlow collections to access it."
        )
    return element


IndexedSlicesValue = collections.namedtuple("IndexedSlicesValue", ["values", "indices", "dense_shape"])


def outputs_of(graph: Any, fetches: Any) -> list[Any]:
    """What the engine knows the nodes of `fetches` by; of None: nothing."""
    elements = [] if fetches is None else _fetch_tree(graph, fetches).elements
    return [_core.Output(e._node if isinstance(e, ops.Operation) else e.op._node, 0) for e in elements]


class _Prepared:
    """A run of one (fetches, feeds) signature: what to hand to the engine and what to make of it."""

    __slots__ = ("tree", "callable", "positions", "feeds", "handles", "session")

    def __init__(self, session: Any, tree: Any, feeds: list[Any]) -> None:
        self.tree = tree
        self.feeds = feeds
        fed = {id(t): i for i, t in enumerate(feeds)}
        fetches: list[Any] = []
        index: dict[int, int] = {}
        targets: list[Any] = []
        self.handles: dict[int, Any] = {}  # fetches that are handles, with the types of what they lead to
        self.session = weakref.ref(session)
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
                    if session_tensors.is_handle(e):
                        self.handles[len(fetches)] = e.op.inputs[0].dtype
                    fetches.append(e._out)
                self.positions.append((0, index[id(e)]))
        for contract in session.graph._contracts[session._contracts_told :]:
            _core.require(session._core, contract)
            session._contracts_told += 1
        self.callable = session._core.make_callable([t._out for t in feeds], fetches, targets) if fetches or targets else None

    def values(self, fetched: list[Any], fed: list[Any]) -> Any:
        elements = []
        for i, dtype in self.handles.items():
            fetched[i] = session_tensors.TensorHandle(fetched[i], dtype, self.session())
        for kind, i in self.positions:
            elements.append(fetched[i] if kind == 0 else fed[i] if kind == 1 else None)
        return self.tree.build(elements)

    def with_tree(self, tree: Any) -> "_Prepared":
        """The same run for another structure of the same elements."""
        copy = _Prepared.__new__(_Prepared)
        copy.tree, copy.feeds = tree, self.feeds
        copy.positions, copy.callable = self.positions, self.callable
        copy.handles, copy.session = self.handles, self.session
        return copy

    def quick_positions(self) -> list[int] | None:
        """Where each element's value stands among those fetched (-1: an operation); None when
        some are fed, or handles."""
        if self.callable is None or self.handles or any(kind == 1 for kind, _ in self.positions):
            return None
        return [i if kind == 0 else -1 for kind, i in self.positions]
