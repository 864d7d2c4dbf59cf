"""The analyst's handle on one study: `Study("vllm-cpu").sql("select * from boots")`."""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import altair as alt
import polars as pl

from analysis import paths
from analysis.estimates.cells import split
from analysis.estimates.estimate import Estimate
from analysis.estimates.length_line import AtLength
from analysis.findings import ask, lengths
from analysis.findings.assumed import assumptions, reconstruction
from analysis.report.answer import Answer, answer, nothing
from analysis.report.figure import Figure, figure
from analysis.report.names import PAGE
from analysis.report.table import Table, table
from analysis.store.opened import open_store

REBUILT = "From reconstructed files: intervals may rest on assumed figures"


def _key(estimate: Estimate) -> tuple[object, ...]:
    return (estimate.id, *sorted(estimate.qualifiers.items()))


class Study:
    """One study directory and its store, read in when the store is missing or not of what the files now say.

    `data` is a path or a name below data/. `out` is the folder that figures, tables and results are written to; without
    it nothing is written but the store. Use as it is in a notebook; the connection is read-only.
    """

    def __init__(self, data: str | Path, out: str | Path | None = None) -> None:
        self.data = paths.find(data)
        self.name = self.data.name
        self.out = Path(out) if out else None
        self.store = open_store(self.data)
        self.connection = self.store.connection
        self.assumptions = assumptions(self.connection)
        self.reconstruction = reconstruction(self.connection)
        self.estimates: list[Estimate] = []
        self._kept: dict[tuple[object, ...], list[Estimate]] = {}
        self.claims: list[dict[str, Any]] = []
        self.takeaways: list[dict[str, Any]] = []
        self.arms: dict[str, Any] = {}
        self._is_empty = False

    def sql(self, query: str, /, **parameters: Any) -> pl.DataFrame:
        """The rows of a query as a polars frame. `$name` in the query is bound to the keyword of that name."""
        return self.store.sql(query, **parameters)

    def ratio(self, part: str, rest: str, run: str) -> Estimate:
        """The share sum(part) / (sum(part) + sum(rest)) over a run, by what data exist; `picked` says which."""
        return ask.share(self.connection, part, rest, run)

    def quantile(self, measure: str, q: float, run: str) -> Estimate:
        """A quantile of a request measure over a run, by the method that the data allow; `picked` says which."""
        return ask.quantile(self.connection, measure, q, run)

    def compare(self, a: str, b: str, measure: str, kind: str | None = None) -> Estimate:
        """Arm b over arm a with a verdict against the declared margin, boots as units; `picked` says which test.

        `kind` is the class of requests, for measures that are by class (findings/arm_measures.MEASURES lists all).
        """
        return ask.compare(self.connection, a, b, measure, kind)

    def known(self, estimates: Iterable[Estimate]) -> list[Estimate]:
        """Those whose value rests on nothing that was assumed: what a sentence may be made of."""
        return [e for e in estimates if (self.assumptions.of(e) or ("",))[0] != "values"]

    def at_length(self, prompt_tokens: float, output_tokens: float, run: str) -> AtLength:
        """Prefill seconds, decode seconds and prefill share of a request of these lengths; `picked` says by what data.

        Beyond the recorded prompts the lines are taken to go on, and a warning on each figure says so.
        """
        return lengths.ask(self.connection, prompt_tokens, output_tokens, run)

    def record(self, *estimates: Estimate) -> None:
        """Put figures into results.json; each needs the id that docs/results.md gives it. One figure is kept once."""
        for estimate in map(self.assumptions.mark, estimates):
            if not estimate.id:
                raise ValueError("an estimate is recorded under an id: call .named(id, finding, ...) first")
            if not estimate.finding:
                raise ValueError('say which page computed it: .named(id, "NN-name of this notebook", ...)')
            self._keep(estimate)
        self._write_results()

    def _keep(self, estimate: Estimate) -> None:
        """One figure is kept once; it is looked for among those of its name only: a fleet has thousands."""
        same = self._kept.setdefault(_key(estimate), [])
        if estimate not in same:
            same.append(estimate)
            self.estimates.append(estimate)

    def answer(
        self,
        finding: str,
        sentence: str,
        *estimates: Estimate,
        next_step: str = "",
        unless: str = "",
        supporting: bool = False,
        contradiction: bool = False,
    ) -> Answer:
        """State an answer: shown here first, put on the front page as a takeaway with the figures it rests on.

        `next_step` says what to do about it, `unless` what would change the answer: both computed, as the sentence is.
        One that says that the data contradict themselves (`contradiction`) comes before the others there, and one that
        is `supporting` (what the data are, not what they say) after them.
        """  # fmt: skip
        rests_on = [{"id": e.id, "qualifiers": dict(e.qualifiers)} for e in estimates]
        row = {
            "finding": finding, "sentence": sentence, "estimates": rests_on, "next_step": next_step, "unless": unless,
            "supporting": supporting, "contradiction": contradiction,
        }  # fmt: skip
        self.takeaways = [*(t for t in self.takeaways if t != row), row]
        self.record(*estimates)
        return answer(sentence, *map(self.assumptions.mark, estimates))

    def nothing(self, finding: str, sentence: str, how: str) -> Answer:
        """Say what the study lacks for this page and how to get it: the report leaves out all that follows.

        Figures and tables that follow write no files.
        """
        self._is_empty = True
        self.answer(finding, sentence, next_step=how, supporting=True)
        return nothing(sentence, how)

    def claim(self, *claims: dict[str, Any]) -> None:
        """Put rows of the claims ledger into results.json (findings/claims.py)."""
        self.claims = [*(c for c in self.claims if c not in claims), *claims]
        self._write_results()

    def state_arms(self, arms: dict[str, Any]) -> None:
        """Put what the arms are (findings/arm_words.py) at the top of the first page."""
        self.arms = arms

    def figure(self, chart: alt.TopLevelMixin, name: str, table: pl.DataFrame, caption: str) -> Figure:
        """Show a chart; with `out`, write figures/<name>.svg and .png, and tables/<name>.csv with `table`.

        Estimates in the table (estimates/cells.py) are recorded.
        """
        self._record_shown(table)
        return figure(chart, name, table, self._files, self._captioned(caption), self.assumptions)

    def table(self, frame: pl.DataFrame, name: str, caption: str) -> Table:
        """Show a table; with `out`, write tables/<name>.csv. Estimates in it (estimates/cells.py) are recorded."""
        self._record_shown(frame)
        return table(frame, name, self._files, self._captioned(caption), self.assumptions)

    @property
    def _files(self) -> Path | None:
        return None if self._is_empty else self.out

    def _record_shown(self, frame: pl.DataFrame) -> None:
        """What a cell shows has its place on the page of all numbers."""
        if self._is_empty:
            return
        shown = {id(cell.estimate): cell.estimate for row in split(frame)[1] for cell in row.values()}
        if new := [e for e in shown.values() if self.assumptions.mark(e) not in self._kept.get(_key(e), ())]:
            self.record(*new)

    def _captioned(self, caption: str) -> str:
        """A figure that is passed on alone still says what it was made from."""
        return f"{caption.removesuffix('.')}. {REBUILT}" if self.reconstruction else caption

    def _write_results(self) -> None:
        if self.out is None or not (self.estimates or self.takeaways):
            return
        results: Mapping[str, Any] = {
            "estimates": [e.to_json() for e in self.estimates], "takeaways": self.takeaways, "claims": self.claims,
            "arms": self.arms,
        }  # fmt: skip
        # A page may show figures that another page found; alone, a notebook is known by what it records.
        names = [os.environ.get(PAGE), *(t["finding"] for t in self.takeaways), *(e.finding for e in self.estimates)]
        file = self.out / "results" / f"{next(filter(None, names))}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(results, allow_nan=False), encoding="utf-8")  # indented it takes ten times as long
