"""Operations that write to reference variables against TensorFlow's: what they leave and what they give."""

from __future__ import annotations

import importlib.util
import inspect
import os
from typing import Any

import numpy as np
import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
for _name in ("tensorflow", "emplace"):
    if importlib.util.find_spec(_name) is None:
        pytest.skip(f"{_name} is not installed", allow_module_level=True)

APPLY = """
    AdaMax Adadelta Adagrad AdagradDA AdagradV2 Adam AddSign CenteredRMSProp Ftrl FtrlV2 GradientDescent Momentum PowerSign
    ProximalAdagrad ProximalGradientDescent RMSProp
""".split()
SPARSE = """
    Adadelta Adagrad AdagradDA AdagradV2 CenteredRMSProp Ftrl FtrlV2 Momentum ProximalAdagrad ProximalGradientDescent RMSProp
""".split()
SCATTER = "Update Add Sub Mul Div Min Max".split()
SCATTER_ND = "Update Add Sub Min Max".split()

KEPT = {"var", "accum", "m", "v", "ms", "mom", "mg", "linear", "accum_update", "gradient_accumulator", "gradient_squared_accumulator", "ref"}
SHAPE = (4, 3)
NUMBERS = {"lr": 0.1, "alpha": 0.1, "lr_power": -0.5, "l1": 0.01, "l2": 0.02, "l2_shrinkage": 0.03, "beta1_power": 0.9, "beta2_power": 0.999,
           "logbase": 1.3, "sign_decay": 0.7, "global_step": 5, "epsilon": 1e-3, "momentum": 0.8, "rho": 0.85, "beta1": 0.9,
           "beta2": 0.99, "beta": 0.75}


def _values(op: str, dtype: Any) -> dict[str, Any]:
    """An argument for each parameter of the operation, by its name."""
    import tensorflow as tf

    rng = np.random.RandomState(len(op))
    given: dict[str, Any] = {}
    for name, parameter in inspect.signature(getattr(tf.raw_ops, op)).parameters.items():
        if name in KEPT:
            given[name] = (rng.rand(*SHAPE) + 0.5).astype(dtype)
        elif name == "indices":
            given[name] = np.array([[2], [0]] if "ScatterNd" in op else [2, 0], np.int32)
        elif name in ("grad", "updates"):
            rows = (2,) if op.startswith(("Sparse", "Scatter")) else SHAPE[:1]
            given[name] = (rng.randn(*rows, *SHAPE[1:]) + 2 * ("Div" in op)).astype(dtype)
        elif name == "delta":
            given[name] = rng.randn(*SHAPE).astype(dtype)
        elif name in NUMBERS:
            given[name] = np.array(NUMBERS[name], np.int64 if name == "global_step" else dtype)
        elif parameter.default is inspect.Parameter.empty and name != "name":
            raise AssertionError(f"{op} wants {name}, of which the table knows nothing")
    return given


def _left(tf: Any, op: str, given: dict[str, Any]) -> list[Any]:
    """What the operation gives, and what lies in the variables afterwards."""
    with tf.Graph().as_default():
        refs, inits, args = [], [], {}
        for name, value in given.items():
            if name in KEPT:
                refs.append(tf.raw_ops.VariableV2(shape=list(value.shape), dtype=tf.as_dtype(value.dtype), container="", shared_name=f"of_{name}"))
                inits.append(tf.raw_ops.Assign(ref=refs[-1], value=tf.constant(value), validate_shape=True, use_locking=True))
                args[name] = refs[-1]
            else:
                args[name] = tf.constant(value)
        done = getattr(tf.raw_ops, op)(**args)
        with tf.Session() as session:
            session.run(inits)
            return [session.run(done), *session.run(refs)]


OPS = [*(f"Apply{o}" for o in APPLY), *(f"SparseApply{o}" for o in SPARSE), *(f"Scatter{o}" for o in SCATTER), *(f"ScatterNd{o}" for o in SCATTER_ND)]


NOT_HALF = ("AdagradDA", "ProximalAdagrad", "ProximalGradientDescent")  # TensorFlow has no such kernel
ROWS = [(op, t) for op in OPS for t in ("float32", "float64", "float16") if t != "float16" or not op.endswith(NOT_HALF)]


@pytest.mark.parametrize("op,dtype", ROWS)
def test_leaves_what_tensorflow_leaves(op: str, dtype: str) -> None:
    import tensorflow.compat.v1 as theirs

    import emplace.compat.v1 as ours

    given = _values(op, np.dtype(dtype))
    # Of halves TensorFlow rounds every step, we the result.
    close = {"float16": 2e-2, "float32": 2e-6, "float64": 1e-12}[dtype]
    for mine, wanted in zip(_left(ours, op, given), _left(theirs, op, given), strict=True):
        np.testing.assert_allclose(np.asarray(mine, np.float64), np.asarray(wanted, np.float64), rtol=close, atol=close)
