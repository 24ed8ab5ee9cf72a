"""A parameter server and two workers, each a process, train one model asynchronously.

    python examples/parameter_server.py            starts all three on free ports of this machine
    python examples/parameter_server.py JOB TASK CLUSTER      one of them: what it starts
"""

import json
import socket
import subprocess
import sys

import numpy as np

import emplace.compat.v1 as tf

STEPS = 1000


def serve(job, task, cluster):
    server = tf.train.Server(tf.train.ClusterSpec(cluster), job_name=job, task_index=task)
    if job == "ps":
        server.join()  # keeps the variables until it is ended
    else:
        work(server, task, cluster)


def work(server, task, cluster):
    with tf.device(tf.train.replica_device_setter(worker_device=f"/job:worker/task:{task}", cluster=tf.train.ClusterSpec(cluster))):
        x = tf.placeholder(tf.float32, [None, 2])
        y = tf.placeholder(tf.float32, [None, 1])
        weights = tf.get_variable("weights", [2, 1], initializer=tf.zeros_initializer())
        step = tf.train.get_or_create_global_step()
        loss = tf.reduce_mean(tf.square(tf.matmul(x, weights) - y))
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)

    random = np.random.RandomState(task)
    config = tf.ConfigProto(device_filters=["/job:ps", f"/job:worker/task:{task}"])  # waits for no other worker
    with tf.Session(server.target, config=config) as sess:
        if task == 0:
            sess.run(tf.global_variables_initializer())
        ready = tf.report_uninitialized_variables()
        while len(sess.run(ready)):
            pass
        done = 0
        while done < STEPS:  # of both workers together
            rows = random.rand(16, 2)
            done = sess.run([train, step], {x: rows, y: rows @ [[2.0], [-1.0]]})[1]
        sys.stdout.write(f"worker {task}: {np.round(sess.run(weights)[:, 0], 1)}\n")  # a line at once: there are two


def start_all():
    sockets = [socket.create_server(("localhost", 0)) for _ in range(3)]
    addresses = [f"localhost:{s.getsockname()[1]}" for s in sockets]
    for s in sockets:
        s.close()
    cluster = json.dumps({"ps": addresses[:1], "worker": addresses[1:]})
    ps, *workers = [
        subprocess.Popen([sys.executable, __file__, job, task, cluster])
        for job, task in [("ps", "0"), ("worker", "0"), ("worker", "1")]
    ]
    try:
        status = [w.wait() for w in workers]
    finally:
        for p in [ps, *workers]:
            p.kill()
            p.wait()
    sys.exit(max(status))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        serve(sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3]))
    else:
        start_all()
