"""Ragged tensors: rows of different lengths, kept as one tensor of values and where the rows end."""
