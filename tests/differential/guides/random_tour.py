import tensorflow as tf

# Random numbers: generators, stateless ops, global and op seeds.
g1 = tf.random.Generator.from_seed(1)
print(g1.normal(shape=[2, 3]))
g2 = tf.random.get_global_generator()
print(g2.normal([2]).shape)
g1 = tf.random.Generator.from_seed(1, alg="philox")
print(g1.normal([2]), g1.uniform([2], 0, 10, tf.int32), g1.uniform_full_int([1], tf.uint64), g1.binomial([3], counts=10.0, probs=0.5))
print(g1.truncated_normal([2]), g1.algorithm, g1.key, g1.state)
g = tf.random.Generator.from_state(state=[1, 2, 3], alg="philox")
print(g.normal([2]), g.state.numpy(), g.make_seeds(2))
new = g.split(3)
print([n.normal([]).numpy().round(4) for n in new], g.normal([]))
g.reset_from_seed(9)
print(g.uniform([2]), g.key)
g.skip(100)
print(g.uniform([2]))
tf.random.set_seed(1234)
print(tf.random.uniform([1]), tf.random.uniform([1]), tf.random.uniform([1], seed=1), tf.random.uniform([1], seed=1))
tf.random.set_seed(1234)


@tf.function
def f():
    return tf.random.uniform([1]), tf.random.uniform([1])


@tf.function
def h():
    return tf.random.normal([2], mean=[1.0, 2.0], stddev=0.1, seed=3)


print(f(), f(), h(), h())
tf.random.set_seed(1234)
print(tf.random.normal([2]), tf.random.truncated_normal([2], stddev=2.0), tf.random.shuffle(tf.range(6)), tf.random.uniform([3], 5, 10, tf.int64))
print(tf.random.gamma([2], alpha=[0.5, 1.5], beta=2.0, seed=7).numpy().round(4), tf.random.poisson([4], 3.0, seed=2), tf.random.categorical([[0.1, 0.9]], 5, seed=4))
print(tf.random.stateless_normal([2], [3, 4]), tf.random.stateless_uniform([2], [1, 2], dtype=tf.float64), tf.random.stateless_uniform([2], [1, 2], None, None, tf.int32))
print(tf.random.stateless_truncated_normal([2], [1, 2]), tf.random.stateless_categorical([[1.0, 2.0]], 4, [1, 2]), tf.random.stateless_poisson([3], [1, 2], lam=4.0))
print(tf.random.stateless_gamma([2], [1, 2], alpha=2.0), tf.random.stateless_binomial([3], [1, 2], counts=10.0, probs=0.3))
print(tf.random.split([1, 2], 3), tf.random.fold_in([1, 2], 5), tf.random.experimental.stateless_shuffle(tf.range(5), [1, 2]))
print(tf.random.Algorithm.PHILOX, tf.random.create_rng_state(1, "philox"))
init = tf.initializers.TruncatedNormal(stddev=0.1, seed=2)
print(init([2, 2]), tf.initializers.Orthogonal(seed=1)([2, 2]).shape, tf.initializers.VarianceScaling(seed=3, mode="fan_avg", distribution="uniform")([2, 3]))
print(tf.random.experimental.index_shuffle(3, [1, 2], 9))
print(tf.nn.dropout(tf.ones([6]), 0.5, seed=1), tf.nn.experimental.stateless_dropout(tf.ones([6]), 0.5, [1, 2]), tf.random.experimental.stateless_split([1, 2]))
