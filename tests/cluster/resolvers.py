"""What cluster resolvers say: printed alike by either engine. usage: resolvers.py MODULE"""

import importlib
import json
import os
import sys
import types
from typing import Any, Callable

tf = importlib.import_module(sys.argv[1])
resolvers = tf.distribute.cluster_resolver


def show(what: str, f: Callable[[], Any]) -> None:
    try:
        value = f()
    except Exception as error:
        value = (type(error).__name__, str(error))
    print(what, "->", value)


def look(r: Any) -> None:
    for name in ("task_type", "task_id", "environment", "rpc_layer"):
        show(name, lambda: getattr(r, name))
    show("cluster", lambda: r.cluster_spec().as_dict())
    for task in ((), ("worker", 0), ("worker", 0, "xx"), ("nojob", 0), ("worker", 7)):
        show(f"master{task}", lambda: r.master(*task))


def configured(config: Any) -> None:
    os.environ.pop("TF_CONFIG", None)
    if config is not None:
        os.environ["TF_CONFIG"] = config if isinstance(config, str) else json.dumps(config)
    print("== TF_CONFIG", config)


jobs = {"worker": ["a:1", "b:2"], "ps": ["c:3"]}
for config in (
    None, {}, {"cluster": jobs, "task": {"type": "worker", "index": 1}}, {"task": {"type": "worker", "index": 0}},
    {"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": "0"}, "rpc_layer": "grpc"},
    {"cluster": jobs, "rpc_layer": "grpc", "session_master": "mm"}, {"cluster": jobs, "task": {"type": "worker"}},
):  # fmt: skip
    configured(config)
    look(resolvers.TFConfigClusterResolver())
configured({"cluster": jobs, "task": {"type": "worker", "index": 1}})
r = resolvers.TFConfigClusterResolver("ps", 0, "http", "google")
look(r)
r.task_type, r.task_id, r.rpc_layer = "worker", "1", "q"
look(r)
configured("{")
show("bad", lambda: resolvers.TFConfigClusterResolver().cluster_spec())

print("== simple")
spec = tf.train.ClusterSpec({"worker": ["a:1", "b:2"]})
look(resolvers.SimpleClusterResolver(spec))
look(resolvers.SimpleClusterResolver(spec, "m:1", "worker", 1, "env", {"GPU": 2}, "grpc"))
show("accelerators", lambda: resolvers.SimpleClusterResolver(spec, num_accelerators={"GPU": 2}).num_accelerators())
show("dict", lambda: resolvers.SimpleClusterResolver({"worker": ["a:1"]}))

print("== union")
one = resolvers.SimpleClusterResolver(spec, "m")
other = resolvers.SimpleClusterResolver(tf.train.ClusterSpec({"worker": ["z:1"], "ps": ["y:1"]}), "n", task_type="ps", task_id=0, rpc_layer="g")
sparse = resolvers.SimpleClusterResolver(tf.train.ClusterSpec({"worker": {0: "a:1", 2: "c:1"}}))
look(resolvers.UnionResolver(one, other))
look(resolvers.UnionResolver(other, one))
show("none", lambda: resolvers.UnionResolver())
show("a number", lambda: resolvers.UnionResolver(3))
show("words", lambda: resolvers.UnionResolver(one, zz="q"))
show("layer", lambda: resolvers.UnionResolver(one, rpc_layer="q").rpc_layer)
show("twice", lambda: resolvers.UnionResolver(sparse, one).cluster_spec().as_dict())

print("== Slurm")
os.environ.pop("TF_CONFIG")
step = {
    "PROCID": "3", "STEP_NUM_TASKS": "5", "STEP_NODELIST": "t02n[13,41,43],t1", "STEP_TASKS_PER_NODE": "2,1(x3)", "LOCALID": "0", "NTASKS": "5",
}  # fmt: skip
show("none", lambda: resolvers.SlurmClusterResolver())
os.environ.update({f"SLURM_{name}": value for name, value in step.items()})
for options in (
    {"jobs": {"ps": 1, "worker": 4}}, {"jobs": {"worker": 5}}, {"jobs": {"worker": 2}}, {"jobs": {"worker": 9}}, {"gpus_per_node": 1},
    {"port_base": 1000, "tasks_per_node": 2}, {"rpc_layer": "", "port_base": 1000}, {"gpus_per_node": 1, "gpus_per_task": 2},
):  # fmt: skip
    os.environ.pop("CUDA_VISIBLE_DEVICES", None)
    made: list[Any] = []
    show(str(options), lambda: made.append(resolvers.SlurmClusterResolver(**{"gpus_per_node": 2, "gpus_per_task": 1, **options})))
    for r in made:
        r.cluster_spec()  # TensorFlow's knows its task only then
        look(r)
        show("info", lambda: (r.get_task_info(), r.num_accelerators(), os.environ.get("CUDA_VISIBLE_DEVICES")))

print("== Kubernetes")


class Pods:
    def list_pod_for_all_namespaces(self, label_selector: str) -> Any:
        names = {"job-name=tensorflow": ["b", "a"], "x=y": ["d", "late"], "w=v": ["e"]}.get(label_selector, [])
        pods = [
            types.SimpleNamespace(
                metadata=types.SimpleNamespace(name=n), status=types.SimpleNamespace(phase="Pending" if n == "late" else "Running", host_ip=f"10.0.0.{ord(n[0])}")
            )
            for n in names
        ]
        return types.SimpleNamespace(items=pods)


for mapping in (None, {"worker": ["job-name=tensorflow"], "ps": ["w=v"]}, {"worker": ["x=y"]}):
    look(resolvers.KubernetesClusterResolver(mapping, override_client=Pods()))
