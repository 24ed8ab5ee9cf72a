"""Emplace in TensorFlow's place: from then on `import tensorflow` gives Emplace, whoever says it."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Any, Iterator

VARIABLE = "EMPLACE_AS_TENSORFLOW"
_FACES = {"v1": "emplace.compat.v1", "v2": "emplace"}
_face: str | None = None


def pose_as_tensorflow(version: str = "v2") -> None:
    """Makes `import tensorflow`, of whatever is below it too, give Emplace in this process: `version` says whether with
    TensorFlow 2's names ("v2") or TensorFlow 1's ("v1"). RuntimeError where TensorFlow itself is loaded already."""
    global _face
    if version not in _FACES:
        raise ValueError(f'Emplace poses as "v1" or as "v2", not as {version!r}')
    if _face is not None:
        if version != _face:
            raise RuntimeError(f"Emplace poses as TensorFlow in this process already, as {_face}")
        return
    if "tensorflow" in sys.modules:
        where = getattr(sys.modules["tensorflow"], "__file__", None) or "made by hand"
        raise RuntimeError(f"TensorFlow itself ({where}) is loaded in this process: Emplace can take its place only before that")
    _face = version
    os.environ.setdefault("KERAS_BACKEND", "tensorflow")
    from emplace.posing import finder

    finder.install()


def posed_as() -> str | None:
    """As what Emplace stands in TensorFlow's place in this process: "v1", "v2" or, where it does not, None."""
    return _face


def face() -> Any:
    """The module that `import tensorflow` gives."""
    import importlib

    module = importlib.import_module(_FACES[_face or "v2"])
    if _face is not None:
        from emplace.posing import guise

        guise.put_on()
        from emplace.framework import thread_state

        thread_state.state.eager_everywhere = _face == "v2"
    if _face == "v1":
        module.disable_v2_tensorshape()  # whatever else is loaded before the program
    return module


@contextlib.contextmanager
def with_names_of_v2() -> Iterator[None]:
    """What is imported within it sees TensorFlow 2's names, in a program of version 1 too: Keras needs them."""
    if _face != "v1":
        yield
        return
    import emplace

    def of_tensorflow() -> dict[str, Any]:
        return {name: m for name, m in sys.modules.items() if name == "tensorflow" or name.startswith("tensorflow.")}

    def give_way(to: dict[str, Any]) -> None:
        for name in of_tensorflow():
            del sys.modules[name]
        sys.modules.update(to)

    before = of_tensorflow()
    give_way({"tensorflow": emplace})
    try:
        yield
    finally:
        give_way(before)


def from_environment() -> None:
    """What the environment asks for, as a process starts: `EMPLACE_AS_TENSORFLOW=v1|v2`."""
    if version := os.environ.get(VARIABLE):
        if version not in _FACES:
            sys.exit(f'{VARIABLE} is "v1" or "v2", not {version!r}')
        pose_as_tensorflow(version)
