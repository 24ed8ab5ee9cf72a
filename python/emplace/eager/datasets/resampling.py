"""Elements dropped at random, so that classes occur as often as asked for."""

from __future__ import annotations

from typing import Any

import numpy as np

from emplace.eager.datasets import building
from emplace.eager.functions import flow
from emplace.framework import array_ops, control_flow_ops, dtypes, gen, math_ops, ops, random_ops

_BATCH, _SMOOTHING = 32, 10


def resampled(dataset: Any, class_func: Any, target_dist: Any, initial_dist: Any, seed: Any, name: str | None) -> Any:
    """Some elements are taken as they come, the others where a draw by their class accepts them."""
    target = ops.convert_to_tensor(target_dist, name="target_dist")
    kind, original = type(dataset), None
    if initial_dist is not None:
        initial = ops.convert_to_tensor(initial_dist, name="initial_dist")
        accepted, share = _acceptance(initial, target)
        at_first, accepting, shares = (kind.from_tensors(t).repeat() for t in (initial, accepted, share))
        original = _known_share(initial, target)
    else:
        at_first = _estimated(dataset.map(class_func), target)
        both = at_first.map(lambda seen: _acceptance(seen, target))
        accepting, shares = both.map(lambda accepted, _: accepted), both.map(lambda _, share: share)
    filtered = _filtered(dataset, accepting, at_first, class_func, seed).prefetch(3)

    def with_class(*element: Any) -> Any:
        return class_func(*element), element[0] if len(element) == 1 else element

    if original == 1:
        return dataset.map(with_class)
    if original == 0:
        return filtered
    taken = dataset.map(with_class)
    odds = shares.map(lambda p: [(p, 1.0 - p)])
    return kind.sample_from_datasets([taken, filtered], weights=odds, seed=seed, stop_on_empty_dataset=True)


def _acceptance(initial: Any, target: Any) -> tuple[Any, Any]:
    """With which chance each class is accepted, and which share of the elements need no draw."""
    ratios = target / (initial + np.finfo(initial.dtype.as_numpy_dtype).tiny)
    most, least = math_ops.reduce_max(ratios), math_ops.reduce_min(ratios)
    return (ratios - least) / (most - least), least


def _known_share(initial: Any, target: Any) -> Any:
    seen, wanted = building.known(initial), building.known(target)
    return None if seen is None or wanted is None else np.min(wanted / seen)


def _estimated(classes: Any, target: Any) -> Any:
    """How often each class occurred so far, for each element."""
    count = target.shape[0] or array_ops.shape(target)[0]

    def seen(so_far: Any, batch: Any) -> Any:
        hot = array_ops.one_hot(batch, count, dtype=dtypes.int64)
        total = math_ops.add(so_far, math_ops.reduce_sum(hot, 0))
        share = math_ops.cast(math_ops.truediv(total, math_ops.reduce_sum(total)), dtypes.float32)
        return total, gen.apply("Tile", [array_ops.expand_dims(share, 0), [_BATCH, 1]], {})

    first = gen.apply("Fill", [[count], np.int64(_SMOOTHING)], {})
    return classes.batch(_BATCH).scan(first, seen).unbatch()


def _filtered(dataset: Any, accepting: Any, at_first: Any, class_func: Any, seed: Any) -> Any:
    kind = type(dataset)

    def told(accepted: Any, initial: Any) -> Any:
        rejected = math_ops.reduce_sum((1 - accepted) * initial)
        said = "Proportion of examples rejected by sampler is high: "
        shown = [rejected, initial, accepted]
        return flow.cond(
            gen.apply("Less", [rejected, 0.5], {}), lambda: accepted,
            lambda: control_flow_ops.Print(accepted, shown, message=said, summarize=100, first_n=10),
        )

    def with_chance(accepted: Any, element: Any) -> Any:
        klass = class_func(*element) if isinstance(element, tuple) else class_func(element)
        return klass, array_ops.gather(accepted, klass), element

    def accepts(_: Any, chance: Any, __: Any) -> Any:
        return random_ops.random_uniform([], seed=seed, dtype=chance.dtype) < chance

    chances = kind.zip((kind.zip((accepting, at_first)).map(told), dataset)).map(with_chance)
    return chances.filter(accepts).map(lambda klass, _, element: (klass, element))
