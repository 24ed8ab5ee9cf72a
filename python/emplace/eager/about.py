"""What programs ask about the library itself: the version whose API it has, how it was built, what its types are."""

from __future__ import annotations

import contextlib
import os
from typing import Any, Iterator, Union

import numpy as np

from emplace import __version__
from emplace.eager.function import ConcreteFunction as ConcreteFunction, Function
from emplace.framework import ops, settings

VERSION = __version__
GIT_VERSION, COMPILER_VERSION = "unknown", "unknown"
GRAPH_DEF_VERSION, GRAPH_DEF_VERSION_MIN_CONSUMER, GRAPH_DEF_VERSION_MIN_PRODUCER = 2474, 0, 0
CXX11_ABI_FLAG, CXX_VERSION, MONOLITHIC_BUILD = 1, 202002, 0

TensorLike = Union[ops.Tensor, np.ndarray, np.generic, int, float, bool, str, bytes, complex, list, tuple]
Callable = PolymorphicFunction = GenericFunction = Function


def _folder() -> str:
    return os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def get_include() -> str:
    """The folder of the C++ headers."""
    return os.path.join(_folder(), "include")


def get_lib() -> str:
    """The folder of the shared library."""
    return _folder()


def get_compile_flags() -> list[str]:
    """What a compiler needs to be told to build against the headers."""
    return [f"-I{get_include()}", f"-D_GLIBCXX_USE_CXX11_ABI={CXX11_ABI_FLAG}", "--std=c++20"]


def get_link_flags() -> list[str]:
    """What a linker needs to be told to find the library."""
    return [f"-L{get_lib()}", "-lemplace"]


def get_build_info() -> dict[str, Any]:
    """What the package was built with, as a dict."""
    from emplace.eager import testing

    return {"is_cuda_build": testing.is_built_with_cuda(), "is_rocm_build": False, "is_tensorrt_build": False}


@contextlib.contextmanager
def async_scope() -> Iterator[None]:
    """Operations run when they are called: there is nothing to wait for at the end."""
    yield


def async_clear_error() -> None:
    """Does nothing: eager ops report their errors at once."""
    return None


def enable_traceback_filtering() -> None:
    """Leaves this package's own frames out of tracebacks, as is the default."""
    settings.full_tracebacks = False


def disable_traceback_filtering() -> None:
    """Shows this package's own frames in tracebacks."""
    settings.full_tracebacks = True


def is_traceback_filtering_enabled() -> bool:
    """Whether this package's own frames are left out of tracebacks."""
    return not settings.full_tracebacks
