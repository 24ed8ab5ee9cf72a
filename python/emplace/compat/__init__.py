"""TensorFlow names of other times."""
