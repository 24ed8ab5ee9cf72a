"""The page that sums up a run of bench/run sweep."""

from __future__ import annotations

import math
import pathlib
from collections import Counter
from typing import Any

EDGES = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1.0, 1.1, 1.5, 2.0, 3.0, 5.0, 10.0, math.inf)
WORST = 60


def write_page(path: pathlib.Path, rows: list[dict[str, Any]], left_out: list[dict[str, Any]]) -> None:
    """`rows` sorted by ratio, worst first."""
    known = [r for r in rows if r["ratio"]]
    lines = ["# Calls beside TensorFlow", "", "Written by `bench/run sweep --page`; the rows are in `results.csv`. Ratios of processor time, ours by",
             "TensorFlow's in the same run: below 1 is ahead.", "", *means(known), "", *histogram(known), "", *worst(known), "", *missing(left_out)]
    path.write_text("\n".join(lines) + "\n")


def mean(ratios: list[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def means(rows: list[dict[str, Any]]) -> list[str]:
    lines = ["| part | size | rows | geometric mean | over 1.1 |", "|---|---|---|---|---|"]
    for part, size in sorted({(r["part"], r["size"]) for r in rows}):
        ratios = [r["ratio"] for r in rows if (r["part"], r["size"]) == (part, size)]
        lines.append(f"| {part} | {size} | {len(ratios)} | {mean(ratios):.2f} | {sum(r > 1.1 for r in ratios)} |")
    return lines


def histogram(rows: list[dict[str, Any]]) -> list[str]:
    counts = Counter(next(i for i, edge in enumerate(EDGES) if r["ratio"] <= edge) for r in rows)
    most = max(counts.values(), default=1)
    lines = ["```"]
    for i, edge in enumerate(EDGES):
        label = f"up to {edge:g}" if math.isfinite(edge) else "more"
        lines.append(f"{label:>10} {counts[i]:5} {'#' * round(60 * counts[i] / most)}".rstrip())
    return [*lines, "```"]


def worst(rows: list[dict[str, Any]]) -> list[str]:
    lines = ["| worst | ours, µs | TensorFlow, µs | ratio |", "|---|---|---|---|"]
    return lines + [f"| {r['name']} | {r['value']:g} | {r['peers'].get('tensorflow', '')} | {r['ratio']} |" for r in rows[:WORST]]


def missing(left_out: list[dict[str, Any]]) -> list[str]:
    """Why rows have no ratio, the most frequent reasons first."""
    def reason(row: dict[str, Any]) -> str:
        who, _, text = row["why"].partition(": ")
        return f"{who}: {text.split(':')[0]}"
    counts = Counter((r["part"], reason(r)) for r in left_out)
    lines = [f"Left out: {len(left_out)} rows that not everyone runs (no larger input was found that fits, or no gradient there is).", ""]
    return lines + [f"- {part}: {why}: {n}" for (part, why), n in counts.most_common(12)]
