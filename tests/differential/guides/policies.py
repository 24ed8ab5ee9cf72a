import collections
import tensorflow as tf

# An agent on a line: policy gradient with TensorArrays, then Q-learning with a replay buffer.


@tf.function
def env_step(state, action):
    state = state + tf.where(tf.equal(action, 1), 1, -1)
    done = tf.logical_or(state >= 4, state <= 0)
    return state, tf.where(state >= 4, 1.0, 0.0), done


W = tf.Variable(tf.zeros([5, 2]), name="policy")


def run_episode(seed, max_steps):
    probs = tf.TensorArray(dtype=tf.float32, size=0, dynamic_size=True)
    rewards = tf.TensorArray(dtype=tf.float32, size=0, dynamic_size=True)
    state = tf.constant(2)
    for t in tf.range(max_steps):
        logits = tf.nn.embedding_lookup(W, state)[tf.newaxis]
        action = tf.random.stateless_categorical(logits, 1, tf.stack([seed, t]), dtype=tf.int32)[0, 0]
        p = tf.nn.softmax(logits)
        probs = probs.write(t, p[0, action])
        state, reward, done = env_step(state, action)
        rewards = rewards.write(t, reward)
        if tf.cast(done, tf.bool):
            break
    return probs.stack(), rewards.stack()


def expected_return(rewards, gamma, standardize=False):
    n = tf.shape(rewards)[0]
    returns = tf.TensorArray(dtype=tf.float32, size=n)
    rewards = tf.cast(rewards[::-1], dtype=tf.float32)
    discounted = tf.constant(0.0)
    shape = discounted.shape
    for i in tf.range(n):
        discounted = rewards[i] + gamma * discounted
        discounted.set_shape(shape)
        returns = returns.write(i, discounted)
    return returns.stack()[::-1]


opt = tf.optimizers.SGD(0.5)


@tf.function
def train_step(seed):
    with tf.GradientTape() as tape:
        probs, rewards = run_episode(seed, 20)
        returns = expected_return(rewards, 0.9)
        loss = -tf.math.reduce_sum(tf.math.log(probs) * returns)
    grads = tape.gradient(loss, [W])
    opt.apply_gradients(zip(grads, [W]))
    return tf.math.reduce_sum(rewards), tf.shape(probs)[0]


history = [tuple(x.numpy().item() for x in train_step(tf.constant(i))) for i in range(30)]
print(history[:6], sum(r for r, _ in history))
print(W.numpy().round(3))
Step = collections.namedtuple("Step", ["s", "a", "r", "s2", "done"])
buffer = collections.deque(maxlen=64)
Q = tf.Variable(tf.zeros([5, 2]))
target = tf.Variable(Q)
rng = tf.random.Generator.from_seed(7)
for episode in range(25):
    s = 2
    for t in range(20):
        a = int(rng.uniform([], 0, 2, tf.int32)) if rng.uniform([]) < 0.3 else int(tf.argmax(Q[s]))
        s2, r, d = (x.numpy().item() for x in env_step(tf.constant(s), tf.constant(a)))
        buffer.append(Step(s, a, r, s2, d))
        s = s2
        if d:
            break
    batch = Step(*map(tf.constant, zip(*list(buffer)[-32:])))
    y = batch.r + 0.9 * tf.reduce_max(tf.gather(target, batch.s2), axis=1) * (1.0 - tf.cast(batch.done, tf.float32))
    with tf.GradientTape() as tape:
        q = tf.gather_nd(Q, tf.stack([batch.s, batch.a], axis=1))
        loss = tf.reduce_mean(tf.losses.huber(y[:, None], q[:, None]))
    Q.assign_sub(2.0 * tf.convert_to_tensor(tape.gradient(loss, Q)))
    if episode % 5 == 0:
        target.assign(Q)
        print(episode, len(buffer), "%.4f" % loss)
print(Q.numpy().round(3), tf.argmax(Q, 1).numpy())
