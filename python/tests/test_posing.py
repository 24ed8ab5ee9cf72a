"""Emplace in TensorFlow's place: each program runs in a process of its own."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest


def run(program: str, *options: str, arguments: tuple[str, ...] = (), **environment: str) -> str:
    """What a program prints that is run in TensorFlow's place."""
    done = start([*options, "-c", textwrap.dedent(program), *arguments], **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def start(words: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "emplace", *words], capture_output=True, text=True, env={**os.environ, **environment}, timeout=600,
    )  # fmt: skip


def test_public_modules_are_emplaces() -> None:
    said = run(
        """
        import tensorflow as tf
        import emplace
        import tensorflow.compat.v1 as tf1
        from tensorflow.math import reduce_sum
        from tensorflow.experimental import numpy as tnp
        from tensorflow.raw_ops import AddV2
        print(tf is emplace, tf1 is emplace.compat.v1, int(reduce_sum([1, 2])), int(AddV2(x=1, y=2)), tnp.ones(2).shape)
        """
    )
    assert said == "True True 3 3 (2,)"


def test_private_paths_lead_to_public_names() -> None:
    said = run(
        """
        from tensorflow.python.framework import constant_op, dtypes, errors, ops, tensor_shape, tensor_util
        from tensorflow.python.ops import array_ops, gen_math_ops, math_ops, nn_ops, variable_scope
        from tensorflow.python.client import device_lib, session
        from tensorflow.python.platform import app, flags, gfile, test, tf_logging
        from tensorflow.python.training import moving_averages, saver, training_util
        from tensorflow.python.util import compat, nest, tf_inspect
        from tensorflow.python.lib.io import file_io, tf_record
        from tensorflow.core.framework import attr_value_pb2, graph_pb2, node_def_pb2, summary_pb2
        from tensorflow.core.protobuf import config_pb2, meta_graph_pb2, saved_model_pb2
        from tensorflow.python import pywrap_tensorflow
        import tensorflow as tf
        assert dtypes.float32 is tf.float32 and ops.Tensor is tf.Tensor and math_ops.matmul is tf.matmul
        assert math_ops.reduce_sum_v1 is tf.compat.v1.reduce_sum and array_ops.expand_dims_v2 is tf.expand_dims
        assert saver.Saver is tf.compat.v1.train.Saver and session.Session is tf.compat.v1.Session
        assert graph_pb2.GraphDef is tf.compat.v1.GraphDef and config_pb2.ConfigProto is tf.compat.v1.ConfigProto
        assert nest.flatten({"b": 1, "a": [2]}) == [2, 1] and tf_inspect.isclass(tf.Module) and compat.as_bytes("a") == b"a"
        assert tensor_util.constant_value(constant_op.constant(3)) == 3 and callable(pywrap_tensorflow.NewCheckpointReader)
        print(int(gen_math_ops.add_v2(1, 2)), device_lib.list_local_devices()[0].name, file_io.file_exists("/nowhere"))
        """
    )
    assert said == "3 /device:CPU:0 False"


def test_every_name_of_ours_is_there() -> None:
    said = run(
        """
        from emplace.posing import private
        for module, names in private._own().items():
            for name in names:
                private._ours(names[name]) if name == "*" else getattr(private.module(module), name)
        print("all")
        """
    )
    assert said == "all"


@pytest.mark.parametrize(
    "asked, said",
    [
        ("tf.contrib", "module 'emplace' has no attribute 'contrib'"),
        ("tf.lite", "tf.lite is not part of Emplace"),
        ("tf.compat.v1.tpu", "tf.compat.v1.tpu is not part of Emplace"),
        ("ops.nonsense", "tensorflow.python.framework.ops.nonsense is not part of Emplace, which stands in TensorFlow's place"),
        ("__import__('tensorflow.lite')", "tensorflow.lite is not part of Emplace, which stands in TensorFlow's place"),
        ("__import__('tensorflow.contrib.slim')", "tensorflow.contrib is not part of Emplace, which stands in TensorFlow's place"),
    ],
)
def test_says_what_is_not_there(asked: str, said: str) -> None:
    program = f"""
        import tensorflow as tf
        from tensorflow.python.framework import ops
        try:
            {asked}
        except (AttributeError, ImportError) as e:
            print(e)
        """
    assert run(program) == said


def test_the_face_of_version_1() -> None:
    program = """
        import tensorflow as tf
        x = tf.placeholder(tf.float32, [])
        with tf.Session() as s:
            print(tf.__version__, s.run(x + 1, {x: 2.0}))
        """
    assert run(program, "--as-tensorflow=v1") == "1.15.0 3.0"


def test_refuses_beside_tensorflow_itself() -> None:
    said = run(
        """
        import sys, types
        import emplace.posing as posing
        for name in [n for n in sys.modules if n == "tensorflow"]: del sys.modules[name]
        posing._face = None
        sys.modules["tensorflow"] = types.ModuleType("tensorflow")
        try: posing.pose_as_tensorflow()
        except RuntimeError as e: print(e)
        """
    )
    assert said == "TensorFlow itself (made by hand) is loaded in this process: Emplace can take its place only before that"


def test_one_face_in_a_process() -> None:
    said = run(
        """
        import emplace
        emplace.pose_as_tensorflow("v2")
        for version in ("v1", "v3"):
            try: emplace.pose_as_tensorflow(version)
            except (RuntimeError, ValueError) as e: print(e)
        """
    )
    assert said.splitlines() == [
        "Emplace poses as TensorFlow in this process already, as v2", 'Emplace poses as "v1" or as "v2", not as \'v3\'',
    ]  # fmt: skip


def test_importing_emplace_takes_no_place() -> None:
    done = subprocess.run([sys.executable, "-c", "import emplace, sys; emplace.add(1, 2); print([n for n in sys.modules if 'tensorflow' in n])"],
                          capture_output=True, text=True)  # fmt: skip
    assert done.stdout.strip() == "[]", done.stderr


def test_programs_get_their_own_arguments(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text("import sys, beside\nprint(__name__, sys.argv[1:], beside.name)\n")
    (tmp_path / "beside.py").write_text("import tensorflow as tf\nname = tf.__name__\n")
    assert start([str(file), "-m", "--flag=1"]).stdout.strip() == "__main__ ['-m', '--flag=1'] emplace"
    assert run("import sys; print(sys.argv)", arguments=("-x", "y")) == "['-c', '-x', 'y']"
    assert "usage" in start(["-m", "timeit", "-h"]).stdout.lower() or start(["-m", "timeit", "-h"]).returncode == 0


def test_the_environment_asks_for_it() -> None:
    line = (Path(__file__).parents[1] / "emplace_as_tensorflow.pth").read_text().strip()
    done = subprocess.run([sys.executable, "-c", f"{line}\nimport tensorflow as tf; print(tf.__name__)"], capture_output=True, text=True,
                          env={**os.environ, "EMPLACE_AS_TENSORFLOW": "v1"})  # fmt: skip
    assert done.stdout.strip() == "emplace.compat.v1", done.stderr
