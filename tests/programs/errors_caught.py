import numpy as np

import emplace.compat.v1 as tf

x = tf.placeholder(tf.float32, [None], name="x")
k = tf.placeholder(tf.int32, [], name="k")
v = tf.Variable([1.0, 2.0], name="v")
matrix = tf.placeholder(tf.float32, [None, None], name="matrix")
CASES = [
    ("uninitialized", v.read_value(), {}, "Attempting to use uninitialized value v"),
    (
        "unfed",
        x + 1.0,
        {},
        "You must feed a value for placeholder tensor 'x' with dtype float and shape [?]",
    ),
    (
        "reshape",
        tf.reshape(x, [2, 2], name="square"),
        {x: [1, 2, 3]},
        "Input to reshape is a tensor with 3 values, but the requested shape has 4",
    ),
    ("gather", tf.gather([5, 6, 7], k, name="pick"), {k: 3}, "indices = 3 is not in [0, 3)"),
    ("divide", tf.floordiv(7, k, name="quotient"), {k: 0}, "Integer division by zero"),
    (
        "assert",
        tf.Assert(k > 0, ["k is", k], name="positive"),
        {k: -4},
        "assertion failed: [k is] [-4]",
    ),
    ("add", tf.add(x, [1.0, 2.0, 3.0], name="sum"), {x: [1.0, 2.0]}, "Incompatible shapes: ["),
    (
        "matmul",
        tf.matmul(matrix, matrix, name="product"),
        {matrix: [[1.0, 2.0, 3.0]]},
        "Matrix size-incompatible: In[0]: [1,3], In[1]: [1,3]",
    ),
    (
        "numbers",
        tf.check_numerics(x, "bad value", name="check"),
        {x: [np.nan]},
        "bad value : Tensor had NaN values",
    ),
    (
        "slice",
        tf.slice(x, [2], [5], name="cut"),
        {x: [1, 2, 3]},
        "Expected size[0] in [0, 1], but got 5",
    ),
]
with tf.Session() as sess:
    for name, fetch, feeds, text in CASES:
        try:
            print(name, "gave", sess.run(fetch, feeds))
        except tf.errors.OpError as error:
            print(name, type(error).__name__, error.error_code, text in error.message)
            print("  ", error.op.name, error.op.type == error.node_def.op, text in str(error))
    sess.run(v.initializer)
    print(sess.run(v))

codes = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "UNAUTHENTICATED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
]
print([getattr(tf.errors, code) for code in codes])
for code in codes[1:]:
    made = getattr(tf.errors, "".join(word.capitalize() for word in code.split("_")) + "Error")
    error = made(None, None, "told so")
    print(
        type(error).__name__,
        error.error_code,
        error.message,
        error.op,
        error.node_def,
        isinstance(error, tf.errors.OpError),
        str(error),
    )
print(
    tf.errors.error_code_from_exception_type(tf.errors.AbortedError),
    tf.errors.exception_type_from_error_code(5).__name__,
)
