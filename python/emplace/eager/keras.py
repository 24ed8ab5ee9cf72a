"""`tf.keras` is Keras: the package from PyPI, unmodified, on its own TensorFlow backend, with Emplace in TensorFlow's place."""

from __future__ import annotations

import importlib
import importlib.metadata
import logging
import os
import sys
from typing import Any

OLDEST, BEFORE = (3, 12), (4,)  # of the versions that are known to work; pyproject.toml says the same
_WANTED = f"keras>={'.'.join(map(str, OLDEST))},<{BEFORE[0]}"


def package() -> Any:
    """Keras's module. The first call loads Keras, for which Emplace takes TensorFlow's place in this whole process: the
    package `keras` is there once, and whoever imports it shall meet the same layers."""
    from emplace import posing

    _check()
    if posing.posed_as() is None:
        posing.pose_as_tensorflow("v2")
        logging.getLogger("emplace").info("tf.keras: Emplace now stands in TensorFlow's place in this process")
    with posing.with_names_of_v2():
        return importlib.import_module("keras._tf_keras.keras")


def _check() -> None:
    try:
        found = importlib.metadata.version("keras")
    except importlib.metadata.PackageNotFoundError:
        raise ModuleNotFoundError(
            f"tf.keras is the package Keras, which is not installed here: pip install 'emplace[keras]', or '{_WANTED}'", name="keras"
        ) from None
    version = tuple(int(part) for part in found.split(".")[:2] if part.isdigit())
    if not OLDEST <= version < BEFORE:
        raise ImportError(f"tf.keras wants {_WANTED}; Keras {found} is installed", name="keras")
    backend = getattr(sys.modules.get("keras.src.backend.config"), "_BACKEND", None) or os.environ.get("KERAS_BACKEND", "tensorflow")
    if backend != "tensorflow":
        raise ImportError(f"tf.keras is Keras on its TensorFlow backend, and KERAS_BACKEND is {backend!r} here", name="keras")


def below(path: str) -> Any:
    """`losses`, `optimizers.schedules`: a module of Keras that TensorFlow's API has under its own name too."""
    package()
    return importlib.import_module(f"keras._tf_keras.keras.{path}")
