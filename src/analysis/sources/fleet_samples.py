"""Which of a server's metric names are an engine's, and which of their labels the findings need."""

from collections.abc import Sequence
from dataclasses import dataclass

from analysis import engines
from analysis.engines import Metric

ALWAYS = ("engine", "dp_rank", "model_name", "model")
"""Labels by which the views keep series apart, whatever the metric."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample name that a server has: as it has it and as its engine exports it, what it is, and labels to keep."""

    on_server: str
    name: str
    engine: str
    statistic: str
    type: str
    combine: str | None
    labels: tuple[str, ...]

    @property
    def is_counted(self) -> bool:
        """Whether it grows: a counter, or a part of a histogram."""
        return self.type in ("counter", "histogram")

    @property
    def shows_restarts(self) -> bool:
        """Whether a fall of it shows a restart: counts and totals; sums of times may fall without one."""
        return self.is_counted and self.statistic in ("count", "value")


def known_samples(names: Sequence[str]) -> list[Sample]:
    """Of the server's names those that an engine's table knows, prefix repaired; older names of a metric included."""
    known: dict[str, list[tuple[str, Metric, str]]] = {}
    for engine in engines.ENGINES:
        for metric in engines.metrics(engine):
            for name, statistic in engines.samples(engine, metric).items():
                known.setdefault(name, []).append((engine, metric, statistic))
    found = []
    for on_server in names:
        rows = known.get(engines.canonical_name(on_server), [])
        if not rows:
            continue
        engine, metric, statistic = rows[0]
        labels = {label for _, row, _ in rows for label in (row.key, *(name for name, _ in row.where)) if label}
        labels |= {*ALWAYS, *engines.table(engine, "metrics").get("rank_labels", ())}
        if statistic == "bucket":
            labels.add("le")
        kind = "counter" if metric.of else metric.type
        found.append(
            Sample(
                on_server,
                engines.canonical_name(on_server),
                engine,
                statistic,
                kind,
                metric.combine,
                tuple(sorted(labels)),
            )
        )
    return found
