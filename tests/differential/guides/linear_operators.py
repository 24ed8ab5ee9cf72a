"""Linear operators."""

import numpy as np
import tensorflow as tf

full = tf.linalg.LinearOperatorFullMatrix([[2.0, 1.0], [1.0, 3.0]])
diag = tf.linalg.LinearOperatorDiag([1.0, 2.0])
operators = {
    "adjoint": tf.linalg.LinearOperatorAdjoint(full),
    "inversion": tf.linalg.LinearOperatorInversion(full),
    "composition": tf.linalg.LinearOperatorComposition([full, diag]),
    "kronecker": tf.linalg.LinearOperatorKronecker([full, diag]),
    "update": tf.linalg.LinearOperatorLowRankUpdate(diag, [[1.0], [2.0]], diag_update=[3.0]),
    "zeros": tf.linalg.LinearOperatorZeros(2),
    "permutation": tf.linalg.LinearOperatorPermutation([2, 0, 1]),
    "householder": tf.linalg.LinearOperatorHouseholder([3.0, 4.0]),
    "toeplitz": tf.linalg.LinearOperatorToeplitz([1.0, 2.0, 3.0], [1.0, -1.0, -2.0]),
    "circulant": tf.linalg.LinearOperatorCirculant(
        tf.constant([3.0, 1.0, 1.0]), input_output_dtype=tf.float32
    ),
}
for name, operator in operators.items():
    print(name, operator.shape)
    print(np.round(operator.to_dense().numpy(), 4))
    x = tf.ones([operator.shape[-1], 1])
    print(np.round(operator.matmul(x).numpy(), 4).tolist())
    if name != "zeros":
        print(np.round(operator.solve(x).numpy(), 3).tolist())
        print(round(float(operator.log_abs_determinant()), 3), round(float(operator.trace()), 3))
