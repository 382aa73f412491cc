"""The table for people and the JSON for machines. Pure, but for save()."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from bench_server.metrics import Compare, Row
from bench_server.runner import Measured, Plan

HEADINGS = ("scenario", "what", "against", "ours", "theirs", "compared", "range", "target", "")
VERDICTS = {True: "met", False: "MISSED", None: ""}
SIGNS = {Compare.RATIO: "{:.2f} x", Compare.DIFFERENCE: "{:+.2f}", Compare.OWN: "{:,.4g}"}


def table(rows: Sequence[Row]) -> str:
    """One line a row; numbers are medians over the pairs."""
    lines = [HEADINGS, *map(cells, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADINGS))]
    right = {3, 4, 5, 6, 7}
    shown = []
    for line in lines:
        parts = [
            text.rjust(width) if column in right else text.ljust(width)
            for column, (text, width) in enumerate(zip(line, widths, strict=True))
        ]
        shown.append("  ".join(parts).rstrip())
    shown.insert(1, "-" * max(map(len, shown)))
    return "\n".join(shown)


def cells(row: Row) -> tuple[str, ...]:
    sign = SIGNS[row.metric.compare if row.theirs is not None else Compare.OWN]
    return (
        row.scenario,
        f"{row.metric.name} ({row.metric.unit})",
        row.peer,
        number(row.ours),
        "" if row.theirs is None else number(row.theirs),
        sign.format(row.value),
        f"{sign.format(row.low)} … {sign.format(row.high)}",
        "" if row.target is None else str(row.target),
        VERDICTS[row.met],
    )


def number(value: float) -> str:
    """Three digits are what a measurement like these can carry."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def document(measured: Sequence[Measured], plan: Plan, about: Mapping[str, object]) -> dict[str, object]:
    """Everything that was measured, and the rows that were made of it."""
    return {
        **about,
        "pairs": plan.pairs,
        "threads": plan.threads,
        "sizes": asdict(plan.sizes),
        "scenarios": [
            {
                "name": each.scenario.name,
                "seconds": round(each.seconds, 1),
                "values": each.values,
                "rss_mib": each.rss_mib,
                "rows": [summary(row) for row in each.rows()],
            }
            for each in measured
        ],
    }


def summary(row: Row) -> dict[str, object]:
    return {
        "metric": row.metric.name,
        "unit": row.metric.unit,
        "compare": row.metric.compare.value,
        "against": row.peer,
        "ours": row.ours,
        "theirs": row.theirs,
        "value": row.value,
        "range": [row.low, row.high],
        "target": None if row.target is None else str(row.target),
        "met": row.met,
    }


def save(folder: Path, name: str, printed: str, content: Mapping[str, object]) -> Path:
    """The table and the JSON side by side, under one name; the path of the table."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n")
    text = folder / f"{name}.txt"
    text.write_text(printed + "\n")
    return text
