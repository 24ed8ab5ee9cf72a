"""Workers of a `ParameterServerStrategy` that are killed and started again."""

import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cluster"))
from processes import LIMIT, Cluster, environment  # noqa: E402

PROGRAM = """
import json, sys
import emplace as tf
spec = json.loads(sys.argv[1])
ask = lambda what: (print(what, flush=True), sys.stdin.readline())
resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(tf.train.ClusterSpec(spec), rpc_layer="grpc")
strategy = tf.distribute.ParameterServerStrategy(resolver)
coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
with strategy.scope():
    v = tf.Variable(0.0)
data = coordinator.create_per_worker_dataset(lambda: tf.data.Dataset.from_tensors(1.0).repeat())
iterator = iter(data)
@tf.function
def step(iterator):
    return v.assign_add(next(iterator))
def steps(n):
    for _ in range(n):
        coordinator.schedule(step, args=(iterator,))
    coordinator.join()
where = tf.distribute.coordinator.experimental_get_current_worker_index
steps(20)
print(v.numpy() == 20.0)
ask("kill worker 0")
steps(20)
print(v.numpy() >= 40.0, {coordinator.schedule(where).fetch() for _ in range(5)})
ask("start worker 0")
while coordinator.schedule(lambda it: (step(it), where())[1], args=(iterator,)).fetch() != 0:
    pass
steps(10)
print(v.numpy() >= 51.0)
ask("kill ps 0")
try:
    steps(3)
except tf.errors.UnavailableError as e:
    print("/job:ps/replica:0/task:0" in str(e))
"""


def test_a_killed_workers_functions_go_to_others_until_it_is_back() -> None:
    with Cluster("emplace", {"worker": 2, "ps": 1}) as cluster:
        command = [sys.executable, "-c", PROGRAM, json.dumps(cluster.spec)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        program = subprocess.Popen(command, env=environment(), text=True, **pipes)
        told = []
        try:
            for line in program.stdout:
                verb, _, task = line.strip().partition(" ")
                if verb not in ("kill", "start"):
                    told.append(line.strip())
                    continue
                job, index = task.split()
                getattr(cluster, verb)(job, int(index))
                program.stdin.write("done\n")
                program.stdin.flush()
            assert program.wait(LIMIT) == 0, program.stderr.read()
        finally:
            program.kill()
    assert told == ["True", "True {1}", "True", "True"]
