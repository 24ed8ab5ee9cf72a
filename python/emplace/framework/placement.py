"""Placement as data: where each node runs, why there, and what else was considered."""

from __future__ import annotations

from typing import Any, Iterator, NamedTuple


class Row(NamedTuple):
    node: str
    op: str
    device: str
    reason: str
    rejected: list[tuple[str, str]]


class Placement:
    """Rows (node, op, device, reason, rejected); prints as a table."""

    def __init__(self, rows: Any) -> None:
        self.rows = [Row(*r) for r in rows]

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, key: Any) -> Row:
        if isinstance(key, str):
            for r in self.rows:
                if r.node == key:
                    return r
            raise KeyError(key)
        return self.rows[key]

    def to_dict(self) -> dict[str, Any]:
        return {
            "nodes": [
                {
                    "name": r.node,
                    "op": r.op,
                    "device": r.device,
                    "reason": r.reason,
                    "rejected": [{"device": d, "why": w} for d, w in r.rejected],
                }
                for r in self.rows
            ]
        }

    def __str__(self) -> str:
        head = ("node", "op", "device", "reason")
        table = [head] + [(r.node, r.op, r.device, r.reason) for r in self.rows]
        widths = [max(len(row[i]) for row in table) for i in range(3)]
        return "\n".join(
            "  ".join(c.ljust(w) for c, w in zip(row, widths)) + "  " + row[3] for row in table
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from emplace.framework import pictures

        return pictures.placement_html(self)
