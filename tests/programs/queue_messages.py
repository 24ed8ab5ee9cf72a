# What a closed queue says: queues that nobody shares are numbered, as TensorFlow's messages number them.
import emplace.compat.v1 as tf

first = tf.FIFOQueue(3, tf.float32)
second = tf.RandomShuffleQueue(3, 1, tf.int32, name="mixed")
shared = tf.FIFOQueue(3, tf.float32, shared_name="ours")

with tf.Session() as sess:
    for queue in (first, second, shared):
        sess.run(queue.close())
        for op in (queue.dequeue(), queue.enqueue(1)):
            try:
                sess.run(op)
            except tf.errors.OpError as e:
                print(type(e).__name__, e.message.splitlines()[0])
