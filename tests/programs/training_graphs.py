# env: EMPLACE_VIRTUAL_GPUS=2
# oracle: none
"""The graphs of tests/training learn on GPUs what they learn on the CPU: twenty steps, losses beside each other."""
import os
import sys
from pathlib import Path

import numpy as np

os.environ["EMPLACE_TF32"] = "0"
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "training"))
import emplace.compat.v1 as tf  # noqa: E402
from programs import PROGRAMS, towers  # noqa: E402

STEPS, BATCH = 20, 48
NEAR = 1e-3
BY_ADAM = 2e-2  # it divides a gradient by its own size: where that is near zero rounding decides


def digits():
    """Ten patterns and noise, in sixteen shades."""
    draw = np.random.default_rng(3)
    labels = draw.integers(0, 10, STEPS * BATCH).astype(np.int32)
    shades = draw.integers(0, 12, (10, 64))[labels] + draw.integers(0, 5, (len(labels), 64))
    return (shades / 16).astype(np.float32), labels


IMAGES, LABELS = digits()


def losses(make, gpus):
    config = tf.ConfigProto(allow_soft_placement=True, device_count={"GPU": gpus})
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        tf.set_random_seed(7)
        model = make(tf)
        session.run(tf.global_variables_initializer())
        seen = []
        for i in range(STEPS):
            rows = slice(i * BATCH, (i + 1) * BATCH)
            seen.append(session.run([model.loss, model.train], {model.images: IMAGES[rows], model.labels: LABELS[rows]})[0])
        return np.array(seen)


all_of_them = {**PROGRAMS, "towers": lambda tf: towers(tf, ["/gpu:0", "/gpu:1"])}
for name, make in all_of_them.items():
    there, here = losses(make, 2), losses(make, 0)
    near = BY_ADAM if name.endswith("adam") or name in ("convolution", "lstm") else NEAR
    if not np.allclose(there, here, rtol=near, atol=near) or not np.isfinite(there).all():
        print(f"{name}: off: {there.tolist()} {here.tolist()}")
print(f"{len(all_of_them)} graphs learned")
