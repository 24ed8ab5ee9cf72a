"""tf.gfile: files by TensorFlow's names."""

from __future__ import annotations

import dataclasses as _dataclasses
import glob as _glob
import os
import shutil
from typing import Any, Iterator

from emplace.framework import errors


def _local(name: Any) -> str:
    """A path of this machine: `file://` may stand before it."""
    return os.fspath(name).removeprefix("file://")


def _missing(name: Any) -> Exception:
    return errors.NotFoundError(None, None, f"{name}; No such file or directory")


class GFile:
    """A file; opened when it is first used."""

    def __init__(self, name: Any, mode: str = "r") -> None:
        self.name, self.mode = _local(name), mode
        self._file: Any = None

    def _open(self) -> Any:
        if self._file is None:
            try:
                self._file = open(self.name, self.mode, **({} if "b" in self.mode else {"encoding": "utf-8"}))
            except FileNotFoundError:
                raise _missing(self.name) from None
            except PermissionError:
                raise errors.PermissionDeniedError(None, None, f"{self.name}; Permission denied") from None
        return self._file

    def read(self, n: int = -1) -> Any:
        return self._open().read(n)

    def readline(self) -> Any:
        return self._open().readline()

    def readlines(self) -> list[Any]:
        return self._open().readlines()

    def write(self, content: Any) -> None:
        self._open().write(content)

    def seek(self, offset: int = 0, whence: int = 0) -> None:
        self._open().seek(offset, whence)

    def tell(self) -> int:
        return self._open().tell()

    def size(self) -> int:
        return os.path.getsize(self.name)

    def flush(self) -> None:
        self._open().flush()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> "GFile":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._open())


FastGFile = Open = GFile


def Exists(filename: Any) -> bool:  # noqa: N802 — TensorFlow's name, as those below
    return os.path.exists(_local(filename))


def IsDirectory(dirname: Any) -> bool:  # noqa: N802
    return os.path.isdir(_local(dirname))


def MakeDirs(dirname: Any) -> None:  # noqa: N802
    os.makedirs(_local(dirname), exist_ok=True)


def MkDir(dirname: Any) -> None:  # noqa: N802
    os.mkdir(_local(dirname))


def ListDirectory(dirname: Any) -> list[str]:  # noqa: N802
    if not os.path.isdir(_local(dirname)):
        raise errors.NotFoundError(None, None, f"Could not find directory {dirname}")
    return os.listdir(_local(dirname))


def Glob(filename: Any) -> list[str]:  # noqa: N802
    patterns = [filename] if isinstance(filename, (str, bytes, os.PathLike)) else list(filename)
    return [f for p in patterns for f in sorted(_glob.glob(_local(p)))]


def Remove(filename: Any) -> None:  # noqa: N802
    try:
        os.remove(_local(filename))
    except FileNotFoundError:
        raise _missing(filename) from None


def DeleteRecursively(dirname: Any) -> None:  # noqa: N802
    shutil.rmtree(_local(dirname))


def Copy(oldpath: Any, newpath: Any, overwrite: bool = False) -> None:  # noqa: N802
    if not overwrite and os.path.exists(_local(newpath)):
        raise errors.AlreadyExistsError(None, None, f"file already exists: {newpath}")
    shutil.copyfile(_local(oldpath), _local(newpath))


def Rename(oldname: Any, newname: Any, overwrite: bool = False) -> None:  # noqa: N802
    if not overwrite and os.path.exists(_local(newname)):
        raise errors.AlreadyExistsError(None, None, f"file already exists: {newname}")
    os.replace(_local(oldname), _local(newname))


@_dataclasses.dataclass(frozen=True)
class _FileStatistics:
    length: int
    mtime_nsec: int
    is_directory: bool


def Stat(filename: Any) -> Any:  # noqa: N802
    try:
        found = os.stat(_local(filename))
    except FileNotFoundError:
        raise _missing(filename) from None
    return _FileStatistics(found.st_size, int(found.st_mtime) * 10**9, os.path.isdir(_local(filename)))  # TensorFlow knows whole seconds


def Walk(top: Any, in_order: bool = True) -> Any:  # noqa: N802
    return os.walk(_local(top), topdown=in_order)


exists, isdir, makedirs, mkdir, listdir, glob = Exists, IsDirectory, MakeDirs, MkDir, ListDirectory, Glob
remove, rmtree, copy, rename, stat, walk = Remove, DeleteRecursively, Copy, Rename, Stat, Walk
join = os.path.join


def Join(path: Any, *paths: Any) -> str:  # noqa: N802
    return os.path.join(_local(path), *(_local(p) for p in paths))
