"""Variables, queues and tables that live in other tasks, and gradients through them."""


def run(tf, show):
    with tf.device("/job:worker/task:1"):
        v = tf.Variable([1.0, 2.0])
        print(v.device, v.handle.device, v.numpy().tolist())
    v.assign_add([1.0, 1.0])
    print(v.numpy().tolist(), (v + 1.0).numpy().tolist())
    with tf.device("/job:worker/task:0"):
        w = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            y = w * w * tf.reduce_sum(v)
        print(tape.gradient(y, [w, v])[0].numpy())
        q = tf.queue.FIFOQueue(3, [tf.float32])
        q.enqueue(1.5)
        q.enqueue(w)
        print(q.size().numpy(), q.dequeue().numpy(), q.dequeue().numpy())
        table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [1]), -1)
        print(table.lookup(tf.constant(["a", "b"])).numpy().tolist())
    for step in range(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((v - [5.0, 6.0]) ** 2) + w
        dv, dw = tape.gradient(loss, [v, w])
        v.assign_sub(0.25 * dv)
        w.assign_sub(0.25 * dw)
    print(v.numpy().tolist(), w.numpy())
    print(v.device, w.device)
