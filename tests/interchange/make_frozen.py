"""make_frozen.py FOLDER [NAME...]: each case as FOLDER/NAME/{graph.pb,case.json,in*.npy,out*.npy}, made and
run by TensorFlow. A process of its own, since graph programs turn eager execution off."""

from __future__ import annotations

import json
import os
import pathlib
import sys
import traceback
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2  # noqa: E402

import frozen  # noqa: E402,F401  (fills the table)
from frozen_cases import FROZEN  # noqa: E402


def save(path: pathlib.Path, value: np.ndarray) -> None:
    np.save(path, value.astype("S") if value.dtype.kind in "OU" else value)


def graph_of(traced: Any, lower: bool) -> Any:
    """Variables as constants; what is left a resource is refused."""
    return convert_variables_to_constants_v2(traced, lower_control_flow=lower)


def make(name: str, folder: pathlib.Path) -> None:
    maker, inputs = FROZEN[name]
    function = maker(tf)

    def flat(*x: Any) -> list[Any]:
        return [t for t in tf.nest.flatten(function(*x), expand_composites=True) if isinstance(t, tf.Tensor)]

    specs = [tf.TensorSpec([None, *i.shape[1:]] if i.ndim else [], i.dtype if i.dtype.kind not in "OSU" else tf.string, name=f"x{n}")
             for n, i in enumerate(inputs)]
    traced = tf.function(flat, autograph=False).get_concrete_function(*specs)
    lowered = graph_of(traced, name.endswith("_lowered"))
    values = [v.numpy() for v in lowered(*map(tf.constant, inputs))]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "graph.pb").write_bytes(lowered.graph.as_graph_def().SerializeToString())
    for n, value in enumerate(inputs):
        save(folder / f"in{n}.npy", value)
    for n, value in enumerate(values):
        save(folder / f"out{n}.npy", np.asarray(value))
    names = {"feeds": [t.name for t in lowered.inputs], "fetches": [t.name for t in lowered.outputs]}
    (folder / "case.json").write_text(json.dumps(names))


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    for name in sys.argv[2:] or FROZEN:
        try:
            make(name, folder / name)
        except Exception:
            print(f"cannot make {name}", file=sys.stderr)
            traceback.print_exc(limit=-3)
        finally:
            tf.keras.backend.clear_session()


if __name__ == "__main__":
    main()
