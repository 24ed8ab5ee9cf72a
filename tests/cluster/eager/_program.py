"""MODULE SPEC NAME: runs a program of this folder, connected to the cluster."""

import importlib
import json
import sys


def main():
    tf = importlib.import_module(sys.argv[1])
    spec = json.loads(sys.argv[2])
    tf.config.experimental_connect_to_host(spec["worker"])

    def show(f, only_class=False):
        try:
            print(f())
        except Exception as e:
            words = str(e).splitlines()[0]
            print(type(e).__name__, "" if only_class else words.partition(" [Op:")[0])

    importlib.import_module(sys.argv[3]).run(tf, show)


if __name__ == "__main__":
    main()
