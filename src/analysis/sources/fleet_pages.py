"""What a server computed, written as files of a study: a page a run and window edge, and the totals of the replicas."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from analysis.sources.fleet_counters import Floats, Grid, Key

REPLICAS = "analysis-fleet-replicas"
HEADER = "# computed by a Prometheus server: increases since the first page on top of what was counted there before\n"


@dataclass(frozen=True, slots=True)
class Page:
    """A page to be written: its edge, its time in unix seconds, the process start, and (name, labels, value)."""

    index: int
    at_s: float
    process_start_s: float | None
    samples: list[tuple[str, Key, float]]

    @classmethod
    def at(cls, grid: Grid, when: Floats | None, index: int, process_start_s: float | None) -> "Page":
        """The page of an edge, at the time of the last scrape before it where the server tells that."""
        edge = grid.edge(int(index))
        scraped = float("nan") if when is None else float(when[index])
        return cls(int(index), scraped if scraped <= edge else edge, process_start_s, [])


def write_pages(folder: Path, groups: Mapping[Key, Sequence[Page]], by: Sequence[str], suffix: str) -> int:
    """Write metrics/<run>/<time>.prom for every page; returns how many runs there are."""
    taken: set[str] = set()
    for key, pages in sorted(groups.items()):
        name = _folder_name([value for _, value in sorted(key, key=lambda pair: by.index(pair[0]))], suffix, taken)
        (folder / name).mkdir(parents=True)
        for page in pages:
            at = datetime.fromtimestamp(page.at_s, UTC)
            stamp = at.strftime("%Y%m%dT%H%M%S") + (f".{at.microsecond:06d}" if at.microsecond else "") + "Z"
            (folder / name / f"{stamp}.prom").write_text(_text(page), encoding="utf-8")
    return len(groups)


def _folder_name(values: Sequence[str], suffix: str, taken: set[str]) -> str:
    """A folder's name from label values, different for each run."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", "_".join([*values, *([suffix] if suffix else [])]))[:100].lstrip(".")
    name = plain = plain or "fleet"
    number = 1
    while name.lower() in taken:
        number += 1
        name = f"{plain}_{number}"
    taken.add(name.lower())
    return name


def _text(page: Page) -> str:
    lines = [HEADER]
    if page.process_start_s is not None:
        lines.append(f"process_start_time_seconds {page.process_start_s!r}\n")
    for name, labels, value in sorted(page.samples):
        inside = ",".join(f"{label}={_quoted(text)}" for label, text in labels if text)
        lines.append(f"{name}{{{inside}}} {value!r}\n")
    return "".join(lines)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def write_replicas(file: Path, rows: Sequence[Mapping[str, object]], replicas: int) -> None:
    """Write the totals of the replicas as JSONL: a line that says what it is, then one a replica and series."""
    with file.open("w", encoding="utf-8") as stream:
        stream.write(json.dumps({"format": REPLICAS, "replicas": replicas}) + "\n")
        for row in rows:
            stream.write(json.dumps(row, ensure_ascii=False, sort_keys=True) + "\n")
