import threading

import numpy as np

import emplace.compat.v1 as tf

x = tf.placeholder(tf.float32, [None], name="x")
double = x * 2.0
counter = tf.Variable(0, name="counter")
bump = tf.assign_add(counter, 1, use_locking=True)
sess = tf.Session()
sess.run(counter.initializer)
wrong = []


def work(seed):
    values = np.arange(seed, seed + 16, dtype=np.float32)
    for step in range(50):
        fed = values + step
        if not np.array_equal(sess.run(double, {x: fed}), fed * 2):
            wrong.append((seed, step))
        sess.run(bump)


workers = [threading.Thread(target=work, args=(n * 100,)) for n in range(8)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
print(wrong, sess.run(counter))

# The default graph, the default session and name scopes belong to a thread.
seen = {}


def look():
    seen["same graph"] = tf.get_default_graph() is graph
    seen["session"] = tf.get_default_session()
    with graph.as_default():
        seen["op"] = tf.constant(1.0, name="inside").name


graph = tf.Graph()
with graph.as_default(), tf.device("/cpu:0"), tf.name_scope("scope"), sess.as_default():
    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    print(seen)
    print(tf.constant(2.0, name="inside").name)
sess.close()
