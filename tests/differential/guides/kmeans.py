import numpy as np
import tensorflow as tf

# k-means with tf.function, unsorted_segment_mean and a while loop.
rng = np.random.RandomState(3)
pts = tf.constant(np.concatenate([rng.randn(30, 2) + c for c in ([0, 0], [6, 0], [0, 6])]).astype("float32"))
k = 3


def assign(points, centroids):
    d = tf.reduce_sum(tf.math.squared_difference(points[:, tf.newaxis], centroids[tf.newaxis]), -1)
    return tf.argmin(d, axis=1, output_type=tf.int32), tf.reduce_min(d, axis=1)


@tf.function
def fit(points, centroids, tolerance):
    moved = tf.constant(1e10)
    rounds = tf.constant(0)
    while moved > tolerance and rounds < 50:
        who, _ = assign(points, centroids)
        fresh = tf.math.unsorted_segment_mean(points, who, num_segments=k)
        moved = tf.reduce_max(tf.norm(fresh - centroids, axis=1))
        centroids = fresh
        rounds += 1
    return centroids, rounds


start = tf.gather(pts, [0, 1, 40])
c, rounds = fit(pts, start, 1e-4)
print(c.numpy().round(3), rounds.numpy())
who, d = assign(pts, c)
print(tf.math.bincount(who, minlength=k, maxlength=k), "inertia %.3f" % tf.reduce_sum(d))
u, idx, count = tf.unique_with_counts(who)
print(u, count)
parts = tf.dynamic_partition(pts, who, k)
for i, p in enumerate(parts):
    print(i, p.shape, tf.reduce_mean(p, axis=0).numpy().round(3), tf.math.reduce_std(p, axis=0).numpy().round(3))
back = tf.dynamic_stitch(tf.dynamic_partition(tf.range(90), who, k), parts)
print(bool(tf.reduce_all(back == pts)))
order = tf.argsort(tf.norm(c, axis=1))
print(order, tf.math.invert_permutation(order), tf.sort(d, direction="DESCENDING")[:3].numpy().round(2))
print(tf.autograph.to_code(assign).splitlines()[0])
