import threading

import emplace.compat.v1 as tf

queue = tf.FIFOQueue(2, [tf.int32], shapes=[[]], name="queue")
value = tf.placeholder(tf.int32, [])
put = queue.enqueue(value)
take = queue.dequeue()
with tf.Session() as sess:
    sess.run(put, {value: 1})
    sess.run(put, {value: 2})
    print(sess.run(queue.size()), sess.run(take), sess.run(take))
    try:
        sess.run(take, options=tf.RunOptions(timeout_in_ms=50))
    except tf.errors.DeadlineExceededError as error:
        print(type(error).__name__, error.error_code)
    got = []
    waiting = threading.Thread(target=lambda: got.append(sess.run(take)))
    waiting.start()
    sess.run(put, {value: 7})
    waiting.join()
    print(got)
    sess.run(queue.close())
    try:
        sess.run(take)
    except tf.errors.OutOfRangeError as error:
        print(type(error).__name__)
    try:
        sess.run(put, {value: 1})
    except tf.errors.CancelledError as error:
        print(type(error).__name__)
