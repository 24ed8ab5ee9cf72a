"""How an operation that failed outside graphs says so: where it ran, its type, the name it was given."""

from __future__ import annotations

import re
from typing import Any

from emplace.eager import context
from emplace.framework import errors

# Names that public functions give when their caller does not.
_NAMES = {
    "ConcatV2": "concat", "Pack": "stack", "Split": "split", "SplitV": "split", "Unpack": "unstack",
    "StridedSlice": "strided_slice/", "MatrixDiagPartV3": "diag_part", "MatrixDiagV3": "diag",
}  # fmt: skip
# Their public functions make tensors of lists first.
_CONVERTED = frozenset(("AddV2", "MatMul", "BatchMatMulV2", "RealDiv", "Cumsum", "Cumprod", "StridedSlice"))
# Said before anything runs.
_BEFORE = ("Value for attr", "Could not satisfy", "Could not find", "cannot compute", "No OpKernel")


def worded(said: str, d: Any, inputs: Any, attrs: dict[str, Any], device: str) -> str:
    """`said` by a kernel of `d`, with what TensorFlow puts before and behind it."""
    name = _given_name(d, inputs)
    if said.startswith(_BEFORE) or said.endswith(" unknown device."):
        return f"{said} [Op:{d.name}]{name}"
    return f"{{{{function_node __wrapped__{d.name}{_counts(d, attrs)}_device_{device or _here()}}}}} {said} [Op:{d.name}]{name}"


def refused(op: str, said: str, counts: str = "", name: str = " name: ", kind: type[errors.OpError] = errors.InvalidArgumentError) -> errors.OpError:
    """What `op` would say, of what does not reach it."""
    return kind(None, None, f"{{{{function_node __wrapped__{op}{counts}_device_{_here()}}}}} {said} [Op:{op}]{name}")


def _given_name(d: Any, inputs: Any) -> str:
    """Nothing where a list or a text was given for a tensor: TensorFlow's slow way forgets the name."""
    flat = [v for arg, x in zip(d.inputs, inputs) for v in (x if arg.is_list and isinstance(x, (list, tuple)) else (x,))]
    if d.name not in _CONVERTED and any(isinstance(v, (list, tuple, str, bytes)) for v in flat):
        return ""
    return f" name: {_NAMES.get(d.name, '')}"


def _counts(d: Any, attrs: dict[str, Any]) -> str:
    """`_N_2`: how many tensors stand in each list."""
    counted: dict[str, int] = {}
    for arg in (*d.inputs, *d.outputs):
        key = arg.number_attr or arg.type_list_attr
        if key and key in attrs:
            counted[key] = attrs[key] if arg.number_attr else len(attrs[key])
    return "".join(f"_{key}_{n}" for key, n in sorted(counted.items()))


def _here() -> str:
    found = re.findall(r"(CPU|GPU):(\d+)", context.current_device().upper())
    return f"{context.here()}/device:{':'.join(found[-1]) if found else 'CPU:0'}"
