import os
import tempfile

import tensorflow as tf

# Two networks, two optimizers, two tapes: a toy GAN on a line.
tf.random.set_seed(5)
init = tf.initializers.GlorotUniform(seed=1)
gen_w = [tf.Variable(init([2, 8]), name="gw0"), tf.Variable(init([8, 1]), name="gw1")]
dis_w = [tf.Variable(init([1, 8]), name="dw0"), tf.Variable(init([8, 1]), name="dw1")]


def generator(z):
    return tf.nn.leaky_relu(z @ gen_w[0]) @ gen_w[1]


def discriminator(x):
    return tf.nn.leaky_relu(x @ dis_w[0], alpha=0.3) @ dis_w[1]


def bce(logits, ones):
    t = tf.ones_like(logits) if ones else tf.zeros_like(logits)
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=t, logits=logits))


gen_opt = tf.optimizers.Adam(1e-2)
dis_opt = tf.optimizers.Adam(1e-2, beta_1=0.5)
ckpt = tf.train.Checkpoint(gen_opt=gen_opt, dis_opt=dis_opt, gen=gen_w, dis=dis_w)


@tf.function
def train_step(real, seed):
    z = tf.random.stateless_normal([tf.shape(real)[0], 2], seed=seed)
    with tf.GradientTape() as gt, tf.GradientTape() as dt:
        fake = generator(z)
        real_out, fake_out = discriminator(real), discriminator(fake)
        g_loss = bce(fake_out, True)
        d_loss = bce(real_out, True) + bce(fake_out, False)
    gg = gt.gradient(g_loss, gen_w)
    dg = dt.gradient(d_loss, dis_w)
    gen_opt.apply_gradients(zip(gg, gen_w))
    dis_opt.apply_gradients(zip(dg, dis_w))
    return g_loss, d_loss


real = tf.random.stateless_normal([64, 1], seed=[9, 9]) * 0.5 + 2.0
for i in range(41):
    g, d = train_step(real, tf.constant([i, 0]))
    if i % 10 == 0:
        tf.print("step", i, "g", tf.round(g * 1000) / 1000, "d", tf.round(d * 1000) / 1000, output_stream="file:///dev/null")
        print("step", i, "g %.4f d %.4f" % (g, d))
path = ckpt.save(os.path.join(tempfile.mkdtemp(), "ckpt"))
names = [n for n, s in tf.train.list_variables(path)]
print(len(names), names[0], sorted(n for n in names if n.startswith("gen/")))
before = gen_w[0].numpy().copy()
gen_w[0].assign(tf.zeros_like(gen_w[0]))
status = ckpt.restore(path)
status.assert_consumed()
print((gen_w[0].numpy() == before).all(), int(gen_opt.iterations), gen_opt.learning_rate.numpy())
