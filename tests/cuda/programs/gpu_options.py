# env: EMPLACE_SPLIT_GPUS=1
"""What gpu_options says of a card and its memory holds."""
import contextlib

import emplace.compat.v1 as tf


@contextlib.contextmanager
def session(options):
    with tf.Graph().as_default(), tf.Session(config=tf.ConfigProto(gpu_options=options)) as sess:
        yield sess


def limits(sess):
    return [(d.name[-5:], d.memory_limit_bytes >> 20) for d in sess.list_devices() if d.device_type == "GPU"]


def total(count, gpu):
    with tf.device(gpu):
        return tf.reduce_sum(tf.fill([count << 18], 1.0))  # MiB


cut = tf.GPUOptions()
cut.experimental.virtual_devices.add(memory_limit_mb=[256, 1024])
with session(cut) as sess:
    print(limits(sess))
    print(*map(float, sess.run([total(64, "/gpu:0"), total(512, "/gpu:1")])))
    try:
        sess.run(total(512, "/gpu:0"))
    except tf.errors.ResourceExhaustedError as e:
        print(type(e).__name__, "GPU:0" in str(e))
    print(float(sess.run(total(512, "/gpu:1"))))
sess = None  # a card is under the options of the first session that lives
pool = tf.GPUOptions(per_process_gpu_memory_fraction=0.02)
pool.experimental.use_cuda_malloc_async = True
with session(pool) as sess:
    print(float(sess.run(total(1024, "/gpu:0"))))
    try:
        sess.run(total(4096, "/gpu:0"))
    except tf.errors.ResourceExhaustedError as e:
        print(type(e).__name__, "gpu_async_0" in str(e))
sess = None
with session(tf.GPUOptions(allow_growth=True, force_gpu_compatible=True)) as sess:
    x = tf.placeholder(tf.float32, [None])
    with tf.device("/cpu:0"):
        doubled = x * 2.0
    with tf.device("/gpu:0"):
        shifted = doubled + 1.0
    with tf.device("/cpu:0"):
        back = shifted - 1.0
    for n in (2, 3):
        print(sess.run([doubled, shifted, back], {x: [1.0] * n}))
