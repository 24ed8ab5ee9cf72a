import collections
import tensorflow as tf

# Structures, assertions, devices, bits, sets, signals.
Point = collections.namedtuple("Point", "x y")
st = {"b": Point(1, [2, 3]), "a": (4, None)}
print(tf.nest.flatten(st), tf.nest.map_structure(lambda x: x if x is None else x * 10, st), tf.nest.is_nested(st), tf.nest.is_nested(3))
print(tf.nest.pack_sequence_as(st, list("qwert")), tf.nest.flatten({"z": 1, "a": 2}, expand_composites=True))
try:
    tf.nest.assert_same_structure([1, 2], [1, [2]])
except (ValueError, TypeError) as e:
    print(type(e).__name__, str(e).splitlines()[0])
for check in (
    lambda: tf.debugging.assert_equal([1, 2], [1, 3], message="not same"),
    lambda: tf.debugging.assert_less(3, 2),
    lambda: tf.debugging.assert_rank(tf.zeros([2, 2]), 1),
    lambda: tf.debugging.assert_shapes([(tf.zeros([2, 3]), ("N", "Q")), (tf.zeros([3, 3]), ("N", "D"))]),
    lambda: tf.debugging.assert_positive([-1.0]),
    lambda: tf.debugging.assert_all_finite([1.0, float("nan")], "has nan"),
    lambda: tf.debugging.assert_type(1.0, tf.int32),
    lambda: tf.debugging.assert_near(1.0, 1.1),
    lambda: tf.debugging.Assert(False, ["data", tf.range(3)]),
    lambda: tf.debugging.assert_integer(1.0),
    lambda: tf.debugging.assert_scalar([1]),
    lambda: tf.ensure_shape(tf.zeros([2]), [3]),
    lambda: tf.constant([1, 2]) + tf.constant([1, 2, 3]),
    lambda: tf.matmul(tf.ones([2, 3]), tf.ones([2, 3])),
    lambda: tf.gather([1, 2, 3], 7),
    lambda: tf.concat([tf.ones([1, 2]), tf.ones([1, 3])], 0),
    lambda: tf.linalg.inv(tf.zeros([2, 2])),
    lambda: tf.linalg.cholesky([[-1.0]]),
    lambda: tf.reshape(tf.range(5), [2, 2]),
    lambda: tf.cast("a", tf.float32),
    lambda: tf.stack([tf.ones([1]), tf.ones([2])]),
    lambda: tf.split(tf.range(5), 2),
    lambda: tf.squeeze(tf.ones([2, 1]), 0),
    lambda: tf.one_hot([0.5], 2),
    lambda: tf.constant(1) + tf.constant(1.0),
    lambda: tf.constant("a") - 1,
    lambda: tf.zeros([-1]),
    lambda: tf.transpose(tf.ones([2, 3]), [0, 0]),
    lambda: tf.tile([1, 2], [1, 1]),
    lambda: tf.range(0, 5, 0),
    lambda: tf.Variable(1.0).assign("a"),
    lambda: tf.nn.softmax_cross_entropy_with_logits(labels=[[1.0, 0.0]], logits=[[1.0, 2.0, 3.0]]),
    lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1, 2], logits=[[1.0, 2.0, 3.0]]),
    lambda: tf.argmax([1, 2], axis=3),
    lambda: tf.expand_dims([1], 3),
    lambda: tf.math.segment_sum([1, 2], [1, 0]),
):
    try:
        check()
        print("fine")
    except Exception as e:
        print(type(e).__name__, "|", str(e).splitlines()[0])
print(tf.bitwise.bitwise_and(12, 10), tf.bitwise.bitwise_xor(12, 10), tf.bitwise.left_shift([1, 2], 3), tf.bitwise.invert(tf.constant(5, tf.uint8)), tf.bitwise.right_shift(-8, 1))
print(tf.sets.union([[1, 2, 3]], [[3, 4, 0]]).values, tf.sets.intersection([[1, 2]], [[2, 3]]), tf.sets.size(tf.sparse.from_dense([[1, 2], [3, 0]])))
sig = tf.sin(tf.linspace(0.0, 20.0, 64))
print(tf.abs(tf.signal.rfft(sig))[:4], tf.signal.stft(sig, 16, 8).shape, tf.signal.hann_window(4), tf.signal.frame(tf.range(6), 3, 2), tf.signal.dct(sig)[:2])
print(tf.config.list_physical_devices("CPU"), tf.config.list_logical_devices("CPU"), tf.config.get_visible_devices("CPU"), tf.executing_eagerly())
with tf.device("/CPU:0"), tf.name_scope("outer") as scope:
    print(scope, tf.identity(1).device.rpartition("/")[2])
print(tf.version.VERSION > "2", tf.dtypes.as_dtype("float32"), tf.float32.as_numpy_dtype, tf.int8.max, tf.float16.min, tf.int32.is_integer, tf.as_dtype("int32"), tf.float32.size, tf.string.name, tf.DType.__name__)
print(tf.math.cumsum([1, 2, 3], exclusive=True, reverse=True), tf.math.cumprod([1, 2, 3]), tf.math.polyval([1.0, 2.0], 3.0), tf.math.segment_mean([1.0, 2.0, 3.0], [0, 0, 1]), tf.math.zero_fraction([0, 1]), tf.math.lbeta([1.0, 2.0]), tf.math.top_k([3, 9, 5], 2))
print(tf.searchsorted([1, 3, 5], [2, 5], side="right"), tf.histogram_fixed_width([0.0, 1.0, 5.0], [0.0, 5.0], 5), tf.meshgrid([1, 2], [3]), tf.linspace(0.0, 1.0, 3), tf.eye(2, batch_shape=[1]), tf.sequence_mask([1, 2]), tf.unique([1, 1, 2]))
print(tf.einsum("ij,jk->ik", tf.ones([2, 2]), tf.ones([2, 1])), tf.tensordot([1, 2], [3, 4], 1), tf.norm([3.0, 4.0]), tf.linalg.normalize([3.0, 4.0]), tf.tensor_scatter_nd_update([1, 2, 3], [[1]], [9]), tf.vectorized_map(lambda x: x * 2, tf.range(3)), tf.switch_case(tf.constant(1), [lambda: 1, lambda: 2]), tf.case([(tf.constant(True), lambda: 5)]))
