"""save_for_ever.py FOLDER: saves one number after another, each in all of several tensors, until it is killed."""

import sys

import numpy as np

import emplace as tf

folder = sys.argv[1]
state = [tf.Variable(np.zeros(n, np.float32)) for n in (1, 1000, 70_000)]
checkpoint = tf.train.Checkpoint(**{f"v{i}": v for i, v in enumerate(state)})
manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
for number in range(1, 100_000):
    for v in state:
        v.assign(np.full(v.shape.as_list(), number, np.float32))
    manager.save()
    print(number, flush=True)
