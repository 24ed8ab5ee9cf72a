"""What graph and eager programs share: dtypes, shapes, errors, graphs, tensors."""

from emplace.framework import tracebacks as _tracebacks

_tracebacks.install()
