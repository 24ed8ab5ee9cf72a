"""Measured costs of operations."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from emplace import _core


class Cost(NamedTuple):
    """What calls of an operation took on devices of one kind: a row of a `CostBook`.

    Attributes:
      node: The node whose calls these were; empty for the calls of all nodes alike.
      op: The operation.
      attrs: The attributes that matter for time, `"transpose_a=false transpose_b=false"`.
      inputs: Types and shapes, `"float32[64,784] float32[784,128]"`.
      outputs: Types and shapes as last seen.
      device: The kind of device, `"CPU x2 Intel(R) Xeon(R)"`; devices of one kind are equally fast.
      seconds: The mean of the calls.
      spread: Their standard deviation.
      count: How many were seen.
    """

    node: str
    op: str
    attrs: str
    inputs: str
    outputs: str
    device: str
    seconds: float
    spread: float
    count: int


class CostBook:
    """What sessions measured of operations, by call and kind of device, and by node.

    `session.costs()` gives one; saved, merged with those of other runs and servers, and given to a session
    (`config.costs`), it tells the dynamic placer what things cost before anything has run.
    """

    def __init__(self) -> None:
        """Makes an empty book."""
        self._core = _core.CostBook()

    @classmethod
    def _of(cls, core: Any) -> "CostBook":
        book = cls.__new__(cls)
        book._core = core
        return book

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "CostBook":
        """Reads a `costs.json`.

        Args:
          path: The file.

        Returns:
          The book.

        Raises:
          NotFoundError: There is no such file.
          InvalidArgumentError: It holds no costs; the message says what is wrong.
        """
        return cls._of(_core.CostBook.load(os.fspath(path)))

    @classmethod
    def from_json(cls, text: str) -> "CostBook":
        """Reads the text of a `costs.json`.

        Args:
          text: The text.

        Returns:
          The book.

        Raises:
          InvalidArgumentError: It holds no costs; the message says what is wrong.
        """
        return cls._of(_core.CostBook.parse(text))

    def to_json(self) -> str:
        """The book as the text of a `costs.json`."""
        return self._core.json()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a `costs.json`. Whoever reads meanwhile finds the old file whole, or the new.

        Args:
          path: The file.
        """
        self._core.save(os.fspath(path))

    def merge(self, other: "CostBook") -> "CostBook":
        """Adds what another book has seen, of this machine or another.

        Args:
          other: The other book, which stays as it is.

        Returns:
          This book.
        """
        self._core.merge(other._core)
        return self

    def costs(self, *, node: str | None = None, op: str | None = None, device: str | None = None) -> list[Cost]:
        """The rows, by node, operation and device.

        Args:
          node: Only those of this node; `""`: only those that are of no node.
          op: Only those of this operation.
          device: Only those of this kind of device.

        Returns:
          A list of `Cost`.
        """
        rows = (Cost(*row) for row in self._core.rows())
        return [r for r in rows if node in (None, r.node) and op in (None, r.op) and device in (None, r.device)]

    def __len__(self) -> int:
        return len(self._core)

    def __repr__(self) -> str:
        return f"<CostBook of {len(self)} rows>"
