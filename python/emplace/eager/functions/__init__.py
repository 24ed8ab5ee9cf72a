"""Functions whose TensorFlow 2 signature is not that of TensorFlow 1."""
