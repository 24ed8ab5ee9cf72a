"""Gradients of operations, and the pass that chains them."""
