import tensorflow as tf

# Layers as modules, Xavier initialisation, Adam written by hand.


def xavier_init(shape):
    in_dim, out_dim = shape
    lim = tf.sqrt(6.0) / tf.sqrt(tf.cast(in_dim + out_dim, tf.float32))
    return tf.random.stateless_uniform(shape=(in_dim, out_dim), minval=-lim, maxval=lim, seed=[22, in_dim])


class DenseLayer(tf.Module):
    def __init__(self, out_dim, weight_init=xavier_init, activation=tf.identity):
        self.out_dim = out_dim
        self.weight_init = weight_init
        self.activation = activation
        self.built = False

    def __call__(self, x):
        if not self.built:
            self.in_dim = x.shape[1]
            self.w = tf.Variable(self.weight_init(shape=(self.in_dim, self.out_dim)))
            self.b = tf.Variable(tf.zeros(shape=(self.out_dim,)))
            self.built = True
        return self.activation(tf.add(tf.matmul(x, self.w), self.b))


class MLP(tf.Module):
    def __init__(self, layers):
        self.layers = layers

    @tf.function
    def __call__(self, x, preds=False):
        for layer in self.layers:
            x = layer(x)
        return x


mlp = MLP([DenseLayer(16, activation=tf.nn.relu), DenseLayer(8, activation=tf.nn.tanh), DenseLayer(3)])


class Adam:
    def __init__(self, learning_rate=1e-2, beta_1=0.9, beta_2=0.999, ep=1e-7):
        self.beta_1, self.beta_2, self.learning_rate, self.ep, self.t = beta_1, beta_2, learning_rate, ep, 1.0
        self.v_dvar, self.s_dvar, self.built = [], [], False

    def apply_gradients(self, grads, vars):
        if not self.built:
            for var in vars:
                self.v_dvar.append(tf.Variable(tf.zeros(shape=var.shape)))
                self.s_dvar.append(tf.Variable(tf.zeros(shape=var.shape)))
            self.built = True
        for i, (d_var, var) in enumerate(zip(grads, vars)):
            self.v_dvar[i].assign(self.beta_1 * self.v_dvar[i] + (1 - self.beta_1) * d_var)
            self.s_dvar[i].assign(self.beta_2 * self.s_dvar[i] + (1 - self.beta_2) * tf.square(d_var))
            v_dvar_bc = self.v_dvar[i] / (1 - (self.beta_1**self.t))
            s_dvar_bc = self.s_dvar[i] / (1 - (self.beta_2**self.t))
            var.assign_sub(self.learning_rate * (v_dvar_bc / (tf.sqrt(s_dvar_bc) + self.ep)))
        self.t += 1.0


x = tf.random.stateless_normal([60, 5], seed=[3, 4])
y = tf.cast(x[:, 0] > 0, tf.int32) + tf.cast(x[:, 1] > 0, tf.int32)
opt = Adam()
print(len(mlp.variables))
for i in range(31):
    with tf.GradientTape() as tape:
        logits = mlp(x)
        batch_loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    grads = tape.gradient(batch_loss, mlp.variables)
    opt.apply_gradients(grads, mlp.variables)
    if i % 10 == 0:
        print(i, "%.4f" % batch_loss, "%.4f" % tf.linalg.global_norm(grads))
print([(v.name, v.shape) for v in mlp.variables])
class_preds = tf.argmax(mlp(x), axis=1, output_type=tf.int32)
print("accuracy", tf.reduce_mean(tf.cast(class_preds == y, tf.float32)).numpy())
for v in mlp.trainable_variables[:2]:
    print(v.dtype, tf.reduce_sum(v).numpy().round(3))
