"""What graph and eager programs share: dtypes, shapes, errors, graphs, tensors."""
