"""tf.distributions: samples from seeds, log-probabilities, moments, divergences, names and refusals."""

from typing import Any

_MOMENTS = ("mean", "variance", "stddev", "mode", "entropy")


def _told(tf: Any, np: Any, say: Any, d: Any, value: Any, *more: str) -> None:
    say(d, repr(d), d.dtype, d.batch_shape, d.event_shape, d.reparameterization_type, sorted(d.parameters))
    with tf.Session() as sess:
        for tensor in (d.log_prob(value), d.prob(value), d.sample([2], seed=5), *(getattr(d, m)() for m in more)):
            say(tensor.shape, np.round(sess.run(tensor).astype(np.float64), 3))


_told.__module__ = "helpers"  # not a program


def of_numbers(tf: Any, np: Any, say: Any, fails: Any) -> None:
    ds = tf.distributions
    normal, gamma = ds.Normal(loc=[0.0, 1.0], scale=[1.0, 2.0]), ds.Gamma(concentration=[2.0, 3.0], rate=2.0)
    _told(tf, np, say, normal, 0.5, *_MOMENTS)
    _told(tf, np, say, gamma, 1.5, *_MOMENTS)
    _told(tf, np, say, ds.Uniform(0.0, [2.0, 4.0]), 3.0, "mean", "variance", "stddev", "entropy", "range")
    _told(tf, np, say, ds.Exponential([1.0, 2.0]), 1.0, "mean", "variance", "entropy")
    _told(tf, np, say, ds.Laplace([0.0, 1.0], 2.0), 1.0, *_MOMENTS)
    _told(tf, np, say, ds.StudentT(df=[3.0, 5.0], loc=0.0, scale=2.0), 1.0, *_MOMENTS)
    _told(tf, np, say, ds.Beta([2.0, 1.0], 3.0), 0.3, *_MOMENTS)
    say(normal.loc, normal.name, normal.copy(loc=3.0).loc, normal.is_scalar_event(), tf.gradients(normal.log_prob(0.5), [normal.loc, normal.scale]))
    with tf.Session() as sess:
        for t in (normal.cdf(0.5), normal.log_cdf(0.5), normal.survival_function(0.5), normal.quantile(0.3), gamma.cdf(1.5)):
            say(np.round(sess.run(t), 3))
    fails(ds.Normal, [0.0, 1.0], [1.0, 2.0, 3.0])
    fails(ds.Normal, 0, 1)
    fails(ds.Uniform().mode)


def of_choices(tf: Any, np: Any, say: Any, fails: Any) -> None:
    ds = tf.distributions
    coin, die = ds.Bernoulli(logits=[0.0, 2.0]), ds.Categorical(logits=[[0.0, 1.0, 2.0], [3.0, 1.0, 0.0]])
    _told(tf, np, say, coin, [1, 0], *_MOMENTS)
    _told(tf, np, say, die, [1, 2], "mode", "entropy")
    _told(tf, np, say, ds.Dirichlet([1.0, 2.0, 3.0]), [0.2, 0.3, 0.5], "covariance", *_MOMENTS)
    _told(tf, np, say, ds.Multinomial(4.0, probs=[0.2, 0.3, 0.5]), [1.0, 1.0, 2.0], "mean", "variance", "covariance")
    say(coin.probs, coin.logits, die.event_size)
    fails(ds.Bernoulli)
    fails(ds.Bernoulli, logits=1.0, probs=0.5)
    fails(coin.quantile, 0.5)
    fails(die.mean)


def at_the_ends(tf: Any, np: Any, say: Any, fails: Any) -> None:
    """Far from the middle, of several sizes at once, and where there is no number."""
    ds = tf.distributions
    normal, laplace, far = ds.Normal(0.0, 1.0), ds.Laplace(0.0, 1.0), np.array([-30.0, -12.0, -5.0, 0.0, 6.0, 12.0], np.float32)
    counts = ds.Multinomial([4.0, 6.0], probs=[0.2, 0.3, 0.5])
    mixed = ds.DirichletMultinomial(4.0, [[1.0, 2.0, 3.0], [2.0, 2.0, 2.0]])
    _told(tf, np, say, mixed, [1.0, 1.0, 2.0], "mean", "variance", "covariance")
    say(normal.sample([tf.constant(2), 3]).shape, normal.sample(tf.constant([2])).shape, hasattr(normal, "_nothing_at_all"))
    with tf.Session() as sess:
        drawn = counts.sample([3])  # by a loop whose rounds TensorFlow runs in an order of its own
        say(counts, drawn.shape, *sess.run([tf.reduce_sum(drawn, -1), counts.mean(), counts.variance(), counts.covariance()]))
        for d in (normal, laplace, ds.Normal(np.float64(0.0), np.float64(2.0))):
            there = far.astype(d.dtype.as_numpy_dtype)
            say(*(np.round(sess.run(t), 3) for t in (d.log_cdf(there), d.log_survival_function(there), *tf.gradients(d.log_cdf(there), d.scale))))
        say(sess.run(ds.Uniform(0.0, [1.0, 2.0]).cdf([[-np.inf], [0.5], [np.inf]])))
        none = ds.Normal(np.float32(np.nan), 1.0, allow_nan_stats=False)
        say(sess.run(ds.kl_divergence(none, normal)))
        fails(sess.run, ds.kl_divergence(none, normal, allow_nan_stats=False))
        fails(sess.run, none.kl_divergence(normal))


def divergences(tf: Any, np: Any, say: Any, fails: Any) -> None:
    ds = tf.distributions
    pairs = [
        (ds.Normal(0.0, 2.0), ds.Normal(1.0, 1.0)), (ds.Bernoulli(probs=0.2), ds.Bernoulli(probs=0.5)), (ds.Gamma(2.0, 2.0), ds.Gamma(1.0, 1.0)),
        (ds.Categorical(logits=[0.0, 1.0]), ds.Categorical(probs=[0.2, 0.8])), (ds.Beta(2.0, 3.0), ds.Beta(1.0, 1.0)),
        (ds.Dirichlet([1.0, 2.0]), ds.Dirichlet([1.0, 1.0])),
    ]
    with tf.Session() as sess:
        for a, b in pairs:
            say(np.round(sess.run([ds.kl_divergence(a, b), a.kl_divergence(b), a.cross_entropy(b)]), 3))
    fails(ds.kl_divergence, pairs[0][0], pairs[1][0])
