"""Graphs and placements as pictures: boxes in columns by depth, coloured by device."""

from __future__ import annotations

import html
from typing import Any

_COLOURS = ["#8ecae6", "#ffb703", "#90be6d", "#f28482", "#cdb4db", "#f9c74f", "#84a59d", "#e0aaff"]
_WIDTH, _HEIGHT, _GAP_X, _GAP_Y = 150, 30, 40, 12
_LIMIT = 400


def _depths(nodes: list[Any]) -> dict[str, int]:
    depth: dict[str, int] = {}
    for name, inputs in nodes:
        depth[name] = 1 + max((depth.get(i, -1) for i in inputs), default=-1)
    return depth


def draw(nodes: list[tuple[str, str, str, list[str]]]) -> str:
    """`nodes`: (name, op, device, names of inputs), inputs first."""
    shown = nodes[:_LIMIT]
    depth = _depths([(n, i) for n, _, _, i in shown])
    rows: dict[int, int] = {}
    place: dict[str, tuple[int, int]] = {}
    devices = sorted({d for _, _, d, _ in shown})
    colour = {d: _COLOURS[i % len(_COLOURS)] for i, d in enumerate(devices)}
    for name, *_ in shown:
        column = depth[name]
        row = rows.get(column, 0)
        rows[column] = row + 1
        place[name] = (10 + column * (_WIDTH + _GAP_X), 40 + row * (_HEIGHT + _GAP_Y))
    width = 20 + (max(rows, default=0) + 1) * (_WIDTH + _GAP_X)
    height = 60 + max(rows.values(), default=0) * (_HEIGHT + _GAP_Y)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="10">']
    for i, d in enumerate(devices):
        x = 10 + i * 220
        parts.append(f'<rect x="{x}" y="8" width="14" height="14" fill="{colour[d]}"/><text x="{x + 18}" y="19">{html.escape(d or "any device")}</text>')
    for name, _, _, inputs in shown:
        x, y = place[name]
        for i in inputs:
            if i in place:
                a, b = place[i]
                parts.append(f'<line x1="{a + _WIDTH}" y1="{b + _HEIGHT // 2}" x2="{x}" y2="{y + _HEIGHT // 2}" stroke="#888"/>')
    for name, op, device, _ in shown:
        x, y = place[name]
        parts.append(
            f'<g><title>{html.escape(f"{name} ({op}) {device}")}</title><rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="4" fill="{colour[device]}"/>'
            f'<text x="{x + 5}" y="{y + 13}">{html.escape(name[-24:])}</text><text x="{x + 5}" y="{y + 25}" fill="#444">{html.escape(op)}</text></g>'
        )
    if len(nodes) > _LIMIT:
        parts.append(f'<text x="10" y="{height - 5}">{len(nodes) - _LIMIT} more nodes</text>')
    return "".join(parts) + "</svg>"


def graph_html(graph: Any) -> str:
    rows = [
        (op.name, op.type, op.device, [t.op.name for t in op.inputs] + [c.name for c in op.control_inputs])
        for op in graph.get_operations()
    ]
    return draw(rows)


def placement_html(placement: Any) -> str:
    head = "<tr>" + "".join(f"<th>{h}</th>" for h in ("node", "op", "device", "reason")) + "</tr>"
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(str(v))}</td>" for v in (r.node, r.op, r.device, r.reason)) + "</tr>" for r in placement
    )
    return draw([(r.node, r.op, r.device, []) for r in placement]) + f"<table>{head}{body}</table>"
