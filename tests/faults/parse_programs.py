"""parse_programs.py FOLDER WHAT make|read: writes something of more than a mebibyte, or reads it and says how that
ended. Run by test_parse_limits.py."""

import pathlib
import sys

import numpy as np

import emplace as tf
from emplace.compat import v1

FOLDER = pathlib.Path(sys.argv[1])
MANY = np.arange(1 << 19, dtype=np.float32)
PICTURE = np.zeros([1000, 1000, 3], np.uint8)


def make_graph() -> None:
    with v1.Graph().as_default() as graph:
        v1.constant(MANY)
    (FOLDER / "graph").write_bytes(graph.as_graph_def().SerializeToString())


def read_graph() -> None:
    definition = v1.GraphDef()
    definition.ParseFromString((FOLDER / "graph").read_bytes())
    with v1.Graph().as_default():
        v1.import_graph_def(definition)


def make_checkpoint() -> None:
    with v1.Graph().as_default(), v1.Session() as session:
        for i in range(6000):
            v1.Variable(0.0, name=f"v{i:05}{'x' * 200}")
        session.run(v1.global_variables_initializer())
        v1.train.Saver().save(session, str(FOLDER / "variables"))


def make_model() -> None:
    module = tf.Module()
    module.f = tf.function(lambda: tf.constant(MANY), input_signature=[])
    tf.saved_model.save(module, str(FOLDER / "model"))


def make_records() -> None:
    with tf.io.TFRecordWriter(str(FOLDER / "records")) as writer:
        writer.write(b"short")
        writer.write(bytes(1 << 21))


WAYS = {
    "graph": (make_graph, read_graph),
    "checkpoint": (make_checkpoint, lambda: tf.train.list_variables(str(FOLDER / "variables"))),
    "model": (make_model, lambda: tf.saved_model.load(str(FOLDER / "model"))),
    "records": (make_records, lambda: list(tf.data.TFRecordDataset(str(FOLDER / "records")))),
    "tensor": (
        lambda: (FOLDER / "tensor").write_bytes(tf.io.serialize_tensor(MANY).numpy()),
        lambda: tf.io.parse_tensor((FOLDER / "tensor").read_bytes(), tf.float32),
    ),
    "png": (
        lambda: (FOLDER / "png").write_bytes(tf.io.encode_png(PICTURE).numpy()),
        lambda: tf.io.decode_png((FOLDER / "png").read_bytes()),
    ),
    "jpeg": (
        lambda: (FOLDER / "jpeg").write_bytes(tf.io.encode_jpeg(PICTURE).numpy()),
        lambda: tf.io.decode_jpeg((FOLDER / "jpeg").read_bytes()),
    ),
}

if __name__ == "__main__":
    make, read = WAYS[sys.argv[2]]
    try:
        (make if sys.argv[3] == "make" else read)()
        print("done")
    except (tf.errors.OpError, ValueError) as error:
        print(type(error).__name__, error)
