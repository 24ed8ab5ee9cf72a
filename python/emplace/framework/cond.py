"""tf.cond, tf.case, tf.switch_case in TensorFlow 1's form."""

from __future__ import annotations

import functools
from typing import Any, Callable

from emplace.eager import nest
from emplace.framework import array_ops, constant_op, control_flow_ops, dtypes, flow_contexts, math_ops, ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import GraphKeys, name_scope


def cond(
    pred: Any, true_fn: Any = None, false_fn: Any = None, strict: bool = False, name: str | None = None, fn1: Any = None, fn2: Any = None,
) -> Any:
    """What `true_fn` gives if `pred` holds, otherwise what `false_fn` gives; only that one runs."""
    true_fn = math_ops._one_of("true_fn", true_fn, "fn1", fn1)
    false_fn = math_ops._one_of("false_fn", false_fn, "fn2", fn2)
    if not callable(true_fn):
        raise TypeError("'true_fn' must be callable.")
    if not callable(false_fn):
        raise TypeError("'false_fn' must be callable.")
    with name_scope(name, "cond", [pred]):
        if isinstance(pred, bool):
            raise TypeError("'pred' must not be a Python bool.")
        pred = ops.convert_to_tensor(pred, name="pred") if not isinstance(pred, ops.Tensor) else pred
        p_false, p_true = _op("Switch", [pred, pred], {})
        pivot_true = array_ops.identity(p_true, name="switch_t")
        pivot_false = array_ops.identity(p_false, name="switch_f")
        pred = array_ops.identity(pred, name="pred_id")
        for t in (p_true, pivot_true, pivot_false, pred):
            t.graph.prevent_fetching(t.op)
        given_true, in_true, context_true = _branch(true_fn, pred, pivot_true, 1)
        given_false, in_false, context_false = _branch(false_fn, pred, pivot_false, 0)
        _check_alike(_unpacked(given_true, strict), _unpacked(given_false, strict), in_true, in_false)
        merged = [flow_contexts.merge([f, t])[0] for f, t in zip(in_false, in_true)]
        for t, f, m in zip(in_true, in_false, merged):
            _merged_shape(m, t, f)
        for context in (context_true, context_false):
            ops.add_to_collection(GraphKeys.COND_CONTEXT, context)
        result = nest.pack_sequence_as(given_true, _with_arrays(nest.flatten(given_true), merged))
        return _unpacked(result, strict)


def _branch(function: Callable[[], Any], pred: Any, pivot: Any, branch: int) -> tuple[Any, list[Any], Any]:
    """What the branch returned, its leaves as tensors inside of it, and its context."""
    context = flow_contexts.CondContext(pred, pivot, branch)
    with flow_contexts.entered(context):
        given = function()
        if given is None:
            raise ValueError(f"'{'true_fn' if branch else 'false_fn'}' must have a return value.")
        leaves = [_inside(context, leaf) for leaf in nest.flatten(given)]
    context.exit_result(leaves)
    return given, leaves, context


def _inside(context: Any, leaf: Any) -> Any:
    if leaf is None or isinstance(leaf, ops.Operation):
        deps = [] if leaf is None else [leaf]
        return control_flow_ops.with_dependencies(deps, context.pivot)
    if isinstance(leaf, ops.IndexedSlices):
        leaf = ops.convert_to_tensor(leaf)
    if hasattr(leaf, "flow"):
        leaf = leaf.flow
    if not isinstance(leaf, ops.Tensor):
        leaf = ops.convert_to_tensor(leaf)
    return context.add_result(leaf)


def _with_arrays(given: list[Any], merged: list[Any]) -> list[Any]:
    from emplace.framework import tensor_array_ops

    return [tensor_array_ops.with_flow(g, m) if hasattr(g, "flow") else m for g, m in zip(given, merged)]


def _check_alike(a: Any, b: Any, ta: list[Any], tb: list[Any]) -> None:
    try:
        nest.assert_same_structure(a, b)
    except (TypeError, ValueError) as e:
        raise type(e)(str(e)) from None
    for x, y in zip(ta, tb):
        if x.dtype.base_dtype != y.dtype.base_dtype:
            raise ValueError(f"Outputs of 'true_fn' and 'false_fn' must have the same type(s). Received {x.dtype.name} from 'true_fn' and {y.dtype.name} from 'false_fn'.")


def _merged_shape(merged: Any, a: Any, b: Any) -> None:
    if a.shape.is_fully_defined() and a.shape == b.shape:
        merged.set_shape(a.shape)


def _unpacked(result: Any, strict: bool) -> Any:
    """A list or tuple of one element is that element, unless strict."""
    if not strict and isinstance(result, (list, tuple)) and len(result) == 1 and not hasattr(result, "_fields"):
        return result[0]
    return result


# ---- Several branches.


def case(pred_fn_pairs: Any, default: Any = None, exclusive: bool = False, strict: bool = False, name: str = "case") -> Any:
    """The first function whose predicate holds."""
    pairs = list(pred_fn_pairs.items()) if isinstance(pred_fn_pairs, dict) else list(pred_fn_pairs)
    _check_pairs(pairs, default)
    with name_scope(name, "case", [p for p, _ in pairs]):
        checks: list[Any] = []
        preds = [p for p, _ in pairs]
        if exclusive:
            checks.append(_at_most_one(preds))
        chosen = default
        if chosen is None:
            chosen, pairs = pairs[-1][1], pairs[:-1]
            checks.append(_some_holds(preds))
        with ops.control_dependencies(checks):
            for pred, function in reversed(pairs):
                chosen = functools.partial(cond, pred, true_fn=function, false_fn=chosen, strict=strict)
            return chosen()


def _check_pairs(pairs: list[Any], default: Any) -> None:
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"Each entry in 'pred_fn_pairs' must be a 2-tuple. Received {pair}.")
        pred, function = pair
        if not isinstance(pred, (ops.Tensor, bool)) and not hasattr(pred, "_as_graph_element"):
            raise TypeError(f"pred must be Tensor, got {pred}")
        if isinstance(pred, ops.Tensor) and pred.dtype.base_dtype != dtypes.bool:
            raise TypeError(f"pred must be of type bool: {pred.name}")
        if not callable(function):
            raise TypeError(f"fn for pred {pred} must be callable.")
    if default is not None and not callable(default):
        raise TypeError("'default' must be callable.")


def _at_most_one(preds: list[Any]) -> Any:
    together = array_ops.stack(preds, name="preds_c")
    count = math_ops.reduce_sum(math_ops.cast(together, dtypes.int32), name="num_true_conds")
    one = constant_op.constant(1, name="n_true_conds")
    fits = _op("LessEqual", [count, one], {})
    says = f"More than one condition evaluated as True but exclusive=True. Conditions: ({', '.join(p.name for p in preds)}), Values:"
    return control_flow_ops.Assert(fits, [says, together], summarize=len(preds))


def _some_holds(preds: list[Any]) -> Any:
    some = math_ops.reduce_any(array_ops.stack(preds))
    return control_flow_ops.Assert(some, ["None of the conditions evaluated as True. Conditions: " + ", ".join(p.name for p in preds)])


def switch_case(branch_index: Any, branch_fns: Any, default: Any = None, name: str = "switch_case") -> Any:
    """branch_fns[branch_index](); the last one, or `default`, for an index that is out of range."""
    from emplace.eager import flow_graph

    if not isinstance(branch_index, ops.Tensor):
        raise TypeError(f"'branch_index' must be a Tensor, got {type(branch_index)}")
    if not branch_index.dtype.is_integer:
        raise TypeError(f"'branch_index' must be an integer Tensor, got <dtype: '{branch_index.dtype.name}'>")
    branches = _branches(branch_fns)
    if default is not None:
        branches.append(default)
    return flow_graph.switch_case(branch_index, branches, name or "switch_case")


def _branches(branch_fns: Any) -> list[Any]:
    """In the order of their indices."""
    if not isinstance(branch_fns, (list, tuple, dict)):
        raise TypeError("'branch_fns' must be a list, tuple, or dict")
    pairs = list(branch_fns.items()) if isinstance(branch_fns, dict) else list(branch_fns)
    if not pairs:
        raise ValueError("Must provide at least one item in 'branch_fns'")
    if all(callable(f) for f in pairs):
        pairs = list(enumerate(pairs))
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError("Each entry in 'branch_fns' must be a 2-tuple. Received {}.".format(pair))
        if not isinstance(pair[0], int):
            raise TypeError("key must be a Python `int`, got {}".format(type(pair[0])))
        if not callable(pair[1]):
            raise TypeError("fn for key {} must be callable.".format(pair[0]))
    indices = sorted(k for k, _ in pairs)
    if indices != list(range(len(indices))):
        raise ValueError("branch indices (keys) must form contiguous range of [0 to {}) but found {{{}}}".format(len(indices), ",".join(map(str, indices))))
    return [dict(pairs)[i] for i in indices]
