"""The analyst's handle on one study: `Study("vllm-cpu").sql("select * from boots")`."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import altair as alt
import duckdb
import polars as pl

from analysis import paths
from analysis.estimates.estimate import Estimate
from analysis.findings import ask
from analysis.report.answer import Answer, answer
from analysis.report.figure import Figure, figure
from analysis.report.table import Table, table
from analysis.store import fingerprint
from analysis.store.load import Progress, load

PINNED = "ANALYSIS_STORE"
"""Environment variable with the store that a report is made of: all its pages are of one state of the study."""


def open_store(data: Path, progress: Progress | None = None) -> tuple[Path, duckdb.DuckDBPyConnection]:
    """The store of a study directory, read in when it is missing, damaged or not of what the files now say.

    The file is named after the digest of its inputs: a store that somebody has open is never changed under them, and
    two states of a study are never taken for each other. Stores of earlier states are removed.
    """
    pinned = os.environ.get(PINNED)
    if pinned and fingerprint.is_about(Path(pinned), data):
        return Path(pinned), _connected(Path(pinned))
    digest = fingerprint.of(data)
    # Cut: a folder's name may be as long as the file system allows, and ours adds to it.
    database = paths.STORES / f"{data.name[:80]}-{fingerprint.short(data)}" / f"{digest[:16]}.duckdb"
    if not fingerprint.is_current(database, digest):
        earlier = [store for store in database.parent.glob("*.duckdb") if store != database]
        load(data, database, progress, earlier)
        for store in earlier:
            store.unlink(missing_ok=True)
    return database, _connected(database)


def _connected(database: Path) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(str(database), read_only=True)
    connection.execute("set enable_progress_bar = false")  # it would show on the pages
    return connection


class Study:
    """One study directory and its store, read in when the store is missing or not of what the files now say.

    `data` is a path or a name below data/. `out` is the folder that figures, tables and results are written to; without
    it nothing is written but the store. Use as it is in a notebook; the connection is read-only.
    """

    def __init__(self, data: str | Path, out: str | Path | None = None, progress: Progress | None = None) -> None:
        self.data = paths.find(data)
        self.name = self.data.name
        self.out = Path(out) if out else None
        self.database, self.connection = open_store(self.data, progress)
        self.estimates: list[Estimate] = []
        self.takeaways: list[dict[str, Any]] = []

    def sql(self, query: str, /, **parameters: Any) -> pl.DataFrame:
        """The rows of a query as a polars frame. `$name` in the query is bound to the keyword of that name."""
        return self.connection.sql(query, params=parameters or None).pl()

    def ratio(self, part: str, rest: str, run: str) -> Estimate:
        """The share sum(part) / (sum(part) + sum(rest)) over a run, by what data exist; `picked` says which."""
        return ask.share(self.connection, part, rest, run)

    def quantile(self, measure: str, q: float, run: str) -> Estimate:
        """A quantile of a request measure over a run, by the method that the data allow; `picked` says which."""
        return ask.quantile(self.connection, measure, q, run)

    def compare(self, a: str, b: str, measure: str) -> Estimate:
        """Arm a over arm b with a verdict against the declared margin, boots as units; `picked` says which test."""
        return ask.compare(self.connection, a, b, measure)

    def record(self, *estimates: Estimate) -> None:
        """Put figures into results.json; each needs the id that docs/results.md gives it. One figure is kept once."""
        for estimate in estimates:
            if not estimate.id:
                raise ValueError("an estimate is recorded under an id: call .named(id, finding, ...) first")
            if not estimate.finding:
                raise ValueError('say which page computed it: .named(id, "NN-name of this notebook", ...)')
            if estimate not in self.estimates:
                self.estimates.append(estimate)
        self._write_results()

    def answer(
        self,
        finding: str,
        sentence: str,
        *estimates: Estimate,
        next_step: str = "",
        unless: str = "",
        supporting: bool = False,
    ) -> Answer:
        """State an answer: shown here first, put on the front page as a takeaway with the figures it rests on.

        `next_step` says what to do about it, `unless` what would change the answer: both computed, as the sentence is.
        One that is `supporting` (what the data are, not what they say) comes after the others there.
        """  # fmt: skip
        rests_on = [{"id": e.id, "qualifiers": dict(e.qualifiers)} for e in estimates]
        row = {
            "finding": finding, "sentence": sentence, "estimates": rests_on, "next_step": next_step, "unless": unless,
            "supporting": supporting,
        }  # fmt: skip
        self.takeaways = [*(t for t in self.takeaways if t != row), row]
        self.record(*estimates)
        return answer(sentence, *estimates)

    def figure(self, chart: alt.TopLevelMixin, name: str, table: pl.DataFrame, caption: str) -> Figure:
        """Show a chart; with `out`, write figures/<name>.svg and .png, and tables/<name>.csv with `table`."""
        return figure(chart, name, table, self.out, caption)

    def table(self, frame: pl.DataFrame, name: str, caption: str) -> Table:
        """Show a table; with `out`, write tables/<name>.csv."""
        return table(frame, name, self.out, caption)

    def _write_results(self) -> None:
        if self.out is None or not (self.estimates or self.takeaways):
            return
        results: Mapping[str, Any] = {
            "estimates": [e.to_json() for e in self.estimates], "takeaways": self.takeaways, "claims": [],
        }  # fmt: skip
        findings = [e.finding for e in self.estimates] + [t["finding"] for t in self.takeaways]
        if not findings:  # nothing recorded yet: a run without pages has no shares
            return
        file = self.out / "results" / f"{findings[0]}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(results, allow_nan=False, indent=1), encoding="utf-8")
