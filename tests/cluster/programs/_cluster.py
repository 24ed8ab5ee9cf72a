"""Runs programs of this folder as clients: MODULE SPEC NAME…; before each the cluster's state is reset."""

import importlib
import json
import re
import sys
import traceback


_AROUND = ("Graph execution error", "Detected at", "File ", "Additional GRPC", "=====", ":{", "Node:", "Original stack", "Defined at", "[[", "(")


class Cluster:
    def __init__(self, spec):
        self.spec = spec

    def target(self, job, task):
        return "grpc://" + self.spec[job][task]

    def words(self, error):
        """What went wrong, without where: engines add tasks, traces and graphs in their own ways."""
        for line in str(error).splitlines():
            line = re.sub(r"^([A-Z_]+: )?(From )?/job:[^ ]+:", "", line.strip()).strip()
            if line and not line.startswith(_AROUND):
                return line[:150]
        return ""


def main():
    tf = importlib.import_module(sys.argv[1])
    tf.disable_v2_behavior()
    tf.logging.set_verbosity(tf.logging.ERROR)
    cluster = Cluster(json.loads(sys.argv[2]))
    for name in sys.argv[3:]:
        print("==", name, flush=True)
        for job, tasks in cluster.spec.items():
            for task in range(len(tasks)):
                tf.Session.reset(cluster.target(job, task))
        tf.reset_default_graph()
        tf.set_random_seed(None)
        try:
            importlib.import_module(name).run(tf, cluster)
        except Exception:
            traceback.print_exc(file=sys.stdout)
        sys.stdout.flush()


if __name__ == "__main__":
    main()
