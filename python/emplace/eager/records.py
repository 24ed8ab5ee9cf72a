"""Files of records, as TensorFlow writes them: length, check sum, content, check sum."""

from __future__ import annotations

import gzip
import os
import struct
import zlib
from typing import Any, Iterator

from emplace import _core
from emplace.compat.v1 import gfile
from emplace.framework import errors


def _compression(options: Any) -> str:
    kind = getattr(options, "compression_type", options)
    kind = {None: "", 0: "", 1: "ZLIB", 2: "GZIP"}.get(kind, kind)
    if kind not in ("", "ZLIB", "GZIP"):
        raise ValueError(f"Not a valid compression_type: {kind!r}. Expected '', 'GZIP' or 'ZLIB'")
    return kind


class TFRecordCompressionType:
    """How files of records are compressed, as TensorFlow 1 numbers it."""

    NONE, ZLIB, GZIP = 0, 1, 2


class TFRecordOptions:
    """How a file of records is compressed."""

    def __init__(self, compression_type: Any = None, **kwargs: Any) -> None:
        self.compression_type = _compression(compression_type)


class TFRecordWriter:
    """Writes records to a file; a context manager that closes it."""

    def __init__(self, path: Any, options: Any = None) -> None:
        self._kind = _compression(options)
        self._path = os.fsdecode(path)
        with gfile.naming(self._path):
            self._file: Any = open(self._path, "wb")
        self._packer = zlib.compressobj(wbits=31 if self._kind == "GZIP" else 15) if self._kind else None

    def write(self, record: Any) -> None:
        """Appends one record, given as bytes."""
        if self._file is None:
            raise errors.FailedPreconditionError(None, None, "Writer is closed.")
        if not isinstance(record, (bytes, bytearray)):
            raise TypeError(f"write(): incompatible function arguments: record must be bytes, not {type(record).__name__}")
        framed = _core.framed_record(bytes(record))
        with gfile.naming(self._path):
            self._file.write(self._packer.compress(framed) if self._packer else framed)

    def flush(self) -> None:
        """Hands what was written to the operating system."""
        if self._file is None:
            return
        with gfile.naming(self._path):
            if self._packer:
                self._file.write(self._packer.flush(zlib.Z_SYNC_FLUSH))
            self._file.flush()

    def close(self) -> None:
        """Ends the file; later writes are refused."""
        if self._file is None:
            return
        file, self._file = self._file, None
        with gfile.naming(self._path), file:
            if self._packer:
                file.write(self._packer.flush())

    def __enter__(self) -> "TFRecordWriter":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def opened(path: Any, compression_type: Any) -> Any:
    """The content of a file, unpacked."""
    kind = _compression(compression_type)
    with gfile.naming(os.fsdecode(path)):
        file = open(path, "rb")
    if kind == "GZIP":
        return gzip.GzipFile(fileobj=file)
    if kind == "ZLIB":
        import io

        return io.BytesIO(zlib.decompress(file.read()))
    return file


def records(path: Any, compression_type: Any = None) -> Iterator[bytes]:
    with opened(path, compression_type) as file:
        at = 0
        while head := file.read(12):
            if len(head) < 12:
                raise errors.DataLossError(None, None, f"truncated record at {at}")
            (n,) = struct.unpack("<Q", head[:8])
            if head != _core.framed_record(b"\0" * n)[:12] if n < 1 << 31 else True:
                raise errors.DataLossError(None, None, f"corrupted record at {at}")
            content = file.read(n + 4)
            if len(content) < n + 4:
                raise errors.DataLossError(None, None, f"truncated record at {at}")
            if head + content != _core.framed_record(content[:n]):
                raise errors.DataLossError(None, None, f"corrupted record at {at}")
            yield content[:n]
            at += n + 16
