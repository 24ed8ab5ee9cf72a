"""Seeds, generators, stateless numbers, distributions."""
import tensorflow as tf

tf.random.set_seed(1234)
print(tf.random.uniform([2]), tf.random.normal([2]), tf.random.uniform([3], 1, 100, tf.int32), tf.random.truncated_normal([2]))
print(tf.random.uniform([2], seed=1), tf.random.uniform([2], seed=1), tf.random.shuffle(tf.range(6)), tf.random.categorical([[1.0, 2.0, 3.0]], 5))
tf.random.set_seed(1234)
print(tf.random.uniform([2]))


@tf.function
def f():
    a = tf.random.uniform([1])
    b = tf.random.uniform([1], seed=3)
    return a, b


@tf.function
def g():
    return tf.random.normal([1]), tf.random.normal([1])


tf.random.set_seed(9)
print(f(), f(), g(), g())
gen = tf.random.Generator.from_seed(42)
print(gen.normal([3]), gen.uniform([2], 0, 10, tf.int32), gen.uniform_full_int([2]), gen.truncated_normal([2]))
print(gen.state, gen.algorithm, gen.key)
gen2 = gen.split(2)
print([x.normal([1]) for x in gen2], gen.make_seeds(2))
gen.skip(10)
gen.reset_from_seed(1)
print(gen.normal([2]), tf.random.Generator.from_state([1, 2, 3], alg="philox").uniform([2]), tf.random.Generator.from_key_counter(5, [1, 2], "philox").normal([2]))
tf.random.set_seed(5)
print(tf.random.get_global_generator().algorithm)
tf.random.set_global_generator(tf.random.Generator.from_seed(3))
print(tf.random.get_global_generator().normal([2]))
print(tf.random.stateless_uniform([2], seed=[1, 2]), tf.random.stateless_normal([2], seed=(3, 4)), tf.random.stateless_uniform([3], [1, 2], 5, 50, tf.int64), tf.random.stateless_categorical([[0.1, 0.9]], 4, [1, 2]), tf.random.stateless_truncated_normal([2], [1, 2]), tf.random.stateless_poisson([3], [1, 2], 4.0), tf.random.stateless_gamma([2], [1, 2], 2.0))
print(tf.random.experimental.stateless_split([1, 2], 3), tf.random.experimental.stateless_fold_in([1, 2], 7), tf.random.split([1, 2]), tf.random.fold_in([1, 2], 3))
print(tf.random.gamma([2], 2.0, seed=1), tf.random.poisson([2], 3.0, seed=1), tf.nn.dropout(tf.ones([6]), 0.5, seed=1), tf.nn.experimental.stateless_dropout(tf.ones([6]), 0.5, [1, 2]))
for init in (tf.initializers.GlorotUniform(seed=1), tf.initializers.HeNormal(seed=2), tf.random_normal_initializer(seed=3), tf.initializers.Orthogonal(seed=4), tf.initializers.TruncatedNormal(seed=5), tf.random_uniform_initializer(seed=6)):
    print(tf.convert_to_tensor(init([2, 2])).shape)
print(tf.ones_initializer()([2]), tf.constant_initializer(3)([2]), tf.initializers.Identity()([2, 2]))
v = tf.Variable(tf.random_uniform_initializer(seed=6)([2, 2]))
print(v.shape, bool(tf.reduce_all(tf.abs(v) <= 0.05)))
print(tf.image.stateless_random_flip_left_right(tf.reshape(tf.range(4), [1, 4, 1]), [1, 3])[0, :, 0], tf.image.stateless_random_brightness([[[1.0]]], 0.5, [1, 2]), tf.image.stateless_random_crop(tf.reshape(tf.range(16), [4, 4, 1]), [2, 2, 1], [1, 2])[..., 0])
print(tf.random.experimental.stateless_shuffle(tf.range(5), [1, 2]), tf.random.log_uniform_candidate_sampler([[1]], 1, 3, True, 10, seed=1).sampled_candidates.shape)
