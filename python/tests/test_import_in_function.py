"""tf.graph_util.import_graph_def inside tf.function."""

from google.protobuf import text_format

import emplace as tf
import emplace.compat.v1 as tf1

GRAPH = """
node { name: 'A' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } }
node { name: 'B' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'value' value { tensor { dtype: DT_FLOAT tensor_shape {} float_val: 5 } } } }
node { name: 'C' op: 'Mul' input: 'A' input: 'B' attr { key: 'T' value { type: DT_FLOAT } } }
"""


def test_import_inside_a_function():
    message = text_format.Parse(GRAPH, tf1.GraphDef())

    @tf.function
    def times_five(x):
        return tf.graph_util.import_graph_def(message, input_map={"A:0": x}, return_elements=["C:0"])[0]

    assert times_five(tf.constant(3.0)).numpy() == 15.0
