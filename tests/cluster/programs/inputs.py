"""Input pipelines on the workers: datasets and queue runners."""


def run(tf, cluster):
    with tf.device("/job:worker/task:1"):
        dataset = tf.data.Dataset.range(10).map(lambda x: x * x).batch(4)
        iterator = tf.data.make_initializable_iterator(dataset)
        rows = iterator.get_next()
        once = tf.data.make_one_shot_iterator(tf.data.Dataset.from_tensor_slices([1.0, 2.0]).repeat(2))
        number = once.get_next()
        queue = tf.train.input_producer([7, 8, 9], num_epochs=2, shuffle=False)
        taken = tf.train.batch([queue.dequeue()], 3)
    with tf.device("/job:worker/task:0"):
        total = tf.reduce_sum(rows)
    with tf.Session(cluster.target("worker", 0)) as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        for _ in range(2):
            sess.run(iterator.initializer)
            while True:
                try:
                    print(sess.run(total))
                except tf.errors.OutOfRangeError as e:
                    print(type(e).__name__, e.op.name)
                    break
        for _ in range(5):
            try:
                print(sess.run(number))
            except tf.errors.OutOfRangeError as e:
                print(type(e).__name__, "End of sequence" in e.message)
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        for _ in range(3):
            try:
                print(sorted(sess.run(taken).tolist()))
            except tf.errors.OutOfRangeError as e:
                print(type(e).__name__, e.op.type)
        coord.request_stop()
        coord.join(threads)
