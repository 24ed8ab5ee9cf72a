"""Sparse tensors: the places of some values, the values, and the shape of the whole."""
