"""tf.gfile: files by TensorFlow's names."""

from __future__ import annotations

import contextlib
import dataclasses as _dataclasses
import errno
import glob as _glob
import io
import os
import shutil
from typing import Any, Iterator

from emplace import _core
from emplace.framework import errors
from emplace.framework import listing as _listing


def _local(name: Any) -> str:
    """A path of this machine: `file://` may stand before it."""
    return os.fspath(name).removeprefix("file://")


_CODES: dict[int | None, type[errors.OpError]] = {
    errno.ENOENT: errors.NotFoundError, errno.EEXIST: errors.AlreadyExistsError, errno.EACCES: errors.PermissionDeniedError,
    errno.EPERM: errors.PermissionDeniedError, errno.EROFS: errors.PermissionDeniedError, errno.ENOSPC: errors.ResourceExhaustedError,
    errno.EDQUOT: errors.ResourceExhaustedError, errno.EMFILE: errors.ResourceExhaustedError, errno.EISDIR: errors.FailedPreconditionError,
    errno.ENOTDIR: errors.FailedPreconditionError, errno.ENOTEMPTY: errors.FailedPreconditionError, errno.EINVAL: errors.InvalidArgumentError,
}  # fmt: skip


@contextlib.contextmanager
def naming(name: Any) -> Iterator[None]:
    """What the system refuses, as TensorFlow says it."""
    try:
        yield
    except io.UnsupportedOperation as e:
        raise errors.PermissionDeniedError(None, None, f"File isn't open for {'reading' if 'read' in str(e) else 'writing'}") from None
    except OSError as e:
        raise _CODES.get(e.errno, errors.UnknownError)(None, None, f"{name}; {_core.errno_text(e.errno)}") from None


class GFile:
    """A file; opened when it is first used. Text goes into a file of bytes and bytes into one of text: as UTF-8."""

    def __init__(self, name: Any, mode: str = "r") -> None:
        self.name, self.mode = _local(name), mode
        if mode.replace("b", "") not in ("r", "w", "a", "r+", "w+", "a+"):
            raise errors.InvalidArgumentError(None, None, "mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+'")
        self._file: Any = None

    def _open(self) -> Any:
        if self._file is None:
            with naming(self.name):
                self._file = open(self.name, self.mode.replace("b", "") + "b")
        return self._file

    def _as_mode(self, content: bytes) -> Any:
        return content if "b" in self.mode else content.decode()

    def _line(self, content: bytes) -> Any:
        return self._as_mode(content[:-2] + b"\n" if content.endswith(b"\r\n") else content)

    def read(self, n: int = -1) -> Any:
        """The next `n` bytes, or all that is left: decoded to text, or as they are in a mode with "b"."""
        with naming(self.name):
            return self._as_mode(self._open().read(n))

    def readline(self) -> Any:
        """The next line with its end, empty at the end of the file."""
        with naming(self.name):
            return self._line(self._open().readline())

    def readlines(self) -> list[Any]:
        """All lines that are left, as a list."""
        return list(self)

    def write(self, content: Any) -> None:
        """Writes text or bytes; text is written as UTF-8 in either mode."""
        if not isinstance(content, (str, bytes, bytearray)):
            raise TypeError(f"Expected binary or unicode string, got {content!r}")
        with naming(self.name):
            self._open().write(content.encode() if isinstance(content, str) else content)

    def seek(self, offset: int = 0, whence: int = 0) -> None:
        """Goes to a position counted in bytes from the start (0), from here (1) or from the end (2)."""
        with naming(self.name):
            self._open().seek(offset, whence)

    def tell(self) -> int:
        """The position in bytes."""
        return self._open().tell()

    def size(self) -> int:
        """The file's size in bytes on the disk."""
        with naming(self.name):
            return os.path.getsize(self.name)

    def flush(self) -> None:
        """Hands what was written to the operating system."""
        with naming(self.name):
            self._open().flush()

    def close(self) -> None:
        """Closes the file; writing errors show here at the latest."""
        file, self._file = self._file, None
        if file is not None:
            with naming(self.name):
                file.close()

    def __enter__(self) -> "GFile":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.readline, self._as_mode(b""))


FastGFile = Open = GFile


def Exists(filename: Any) -> bool:  # noqa: N802 — TensorFlow's name, as those below
    """Whether there is a file or folder of this name."""
    return os.path.exists(_local(filename))


def IsDirectory(dirname: Any) -> bool:  # noqa: N802
    """Whether it is a folder."""
    return os.path.isdir(_local(dirname))


def MakeDirs(dirname: Any) -> None:  # noqa: N802
    """Makes a folder and those above it; one that is there already is fine."""
    if os.path.exists(_local(dirname)) and not os.path.isdir(_local(dirname)):
        raise errors.FailedPreconditionError(None, None, f"{dirname} is not a directory")
    with naming(dirname):
        os.makedirs(_local(dirname), exist_ok=True)


def MkDir(dirname: Any) -> None:  # noqa: N802
    """Makes a folder in one that exists; it may be there already."""
    with naming(dirname), contextlib.suppress(FileExistsError):  # TensorFlow has no quarrel with it
        os.mkdir(_local(dirname))


def ListDirectory(dirname: Any) -> list[str]:  # noqa: N802
    """The names in a folder, in no order. NotFoundError if there is none."""
    if not os.path.isdir(_local(dirname)):
        raise errors.NotFoundError(None, None, f"Could not find directory {dirname}")
    return os.listdir(_local(dirname))


def Glob(filename: Any) -> list[str]:  # noqa: N802
    """The paths that match a pattern, or any of a list of patterns, sorted for each."""
    patterns = [filename] if isinstance(filename, (str, bytes, os.PathLike)) else list(filename)
    return [f for p in patterns for f in sorted(_glob.glob(_local(p)))]


def Remove(filename: Any) -> None:  # noqa: N802
    """Deletes a file; NotFoundError if there is none."""
    with naming(filename):
        os.remove(_local(filename))


def DeleteRecursively(dirname: Any) -> None:  # noqa: N802
    """Deletes a folder and all that is in it."""
    if not os.path.lexists(_local(dirname)):
        raise errors.NotFoundError(None, None, f"{dirname} not found")
    with naming(dirname):
        shutil.rmtree(_local(dirname))


def Copy(oldpath: Any, newpath: Any, overwrite: bool = False) -> None:  # noqa: N802
    """Copies a file's content; AlreadyExistsError if the new one exists, unless `overwrite`."""
    if not overwrite and os.path.exists(_local(newpath)):
        raise errors.AlreadyExistsError(None, None, f"file already exists: {newpath}")
    with naming(oldpath):
        shutil.copyfile(_local(oldpath), _local(newpath))


def Rename(oldname: Any, newname: Any, overwrite: bool = False) -> None:  # noqa: N802
    """Moves a file or folder; AlreadyExistsError if the new one exists, unless `overwrite`."""
    if not overwrite and os.path.exists(_local(newname)):
        raise errors.AlreadyExistsError(None, None, f"file already exists: {newname}")
    with naming(oldname):
        os.replace(_local(oldname), _local(newname))


@_dataclasses.dataclass(frozen=True)
class _FileStatistics:
    length: int
    mtime_nsec: int
    is_directory: bool


def Stat(filename: Any) -> Any:  # noqa: N802
    """`length`, `mtime_nsec` and `is_directory` of a file or folder."""
    with naming(filename):
        found = os.stat(_local(filename))
    return _FileStatistics(found.st_size, int(found.st_mtime) * 10**9, os.path.isdir(_local(filename)))  # TensorFlow knows whole seconds


def Walk(top: Any, in_order: bool = True) -> Any:  # noqa: N802
    """(folder, its folders, its files) for each folder below `top`; the upper ones first if `in_order`."""
    return os.walk(_local(top), topdown=in_order)


exists, isdir, makedirs, mkdir, listdir, glob = Exists, IsDirectory, MakeDirs, MkDir, ListDirectory, Glob
remove, rmtree, copy, rename, stat, walk = Remove, DeleteRecursively, Copy, Rename, Stat, Walk
join = os.path.join


def Join(path: Any, *paths: Any) -> str:  # noqa: N802
    """The parts of a path put together."""
    return os.path.join(_local(path), *(_local(p) for p in paths))

__dir__ = _listing.of_module(globals(), hidden=("naming",))
