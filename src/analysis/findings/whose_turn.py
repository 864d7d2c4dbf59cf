"""Whose turn it is: whether long prompts run in one block or interleaved with decode, from clients' clocks alone.

Where the engine logs its steps, they are the truth that the inference is scored against.
"""

from dataclasses import dataclass, field, replace

import duckdb
import numpy as np
import polars as pl

from analysis.estimates.estimate import Estimate, Evidence, not_computable
from analysis.estimates.stalls import Flags, Quiet, Requests, Turn, split_lengths, turns
from analysis.estimates.turns import Verdict, dose, judge, overtaking, placebo
from analysis.findings.frames import arrays

FINDING = "70-whose-turn"
SHARE, BLOCK, OVERTAKING, DOSE = "turn.stall_share", "turn.block_tokens", "turn.overtaking_share", "turn.dose"
WARM_UP = "part of the warm-up"
NO_SPLIT = "no prompts are four times as long as the others"
EVIDENCE = 12


@dataclass(frozen=True, slots=True)
class Record:
    """What clients wrote on one clock: their requests, and the turns in them. The table has all but the arrivals."""

    table: pl.DataFrame
    requests: Requests
    turns: list[Turn]

    @property
    def usable(self) -> list[Turn]:
        """The turns that the verdict may rest on."""
        return [t for t in self.turns if t.problem is None]


@dataclass(frozen=True, slots=True)
class Run:
    """One engine as its clients saw it: `name` is its boot, or the folder of the files where no boot is known.

    `budget` is the most tokens of a step by the boot log; `largest_step` and `true_steps` are what its step log says:
    the most prompt tokens in one step, and the number of steps with a prompt. None where there is none.
    """

    name: str
    boot: str | None
    records: list[Record]
    verdict: Verdict
    budget: int | None = None
    largest_step: int | None = None
    true_steps: int | None = None
    placebo: tuple[int, int] | None = None
    estimates: list[Estimate] = field(default_factory=list)

    @property
    def turns(self) -> list[Turn]:
        """All its turns, on whichever clock."""
        return [t for record in self.records for t in record.turns]

    def of(self, id: str) -> Estimate:
        """Its figure of that id."""
        return next(e for e in self.estimates if e.id == id)


def runs(connection: duckdb.DuckDBPyConnection) -> list[Run]:
    """The engines whose clients wrote down when tokens arrived, in the order of their names."""
    table = connection.sql("select * from turn_requests order by place, clock, sent_s, file, ordinal").pl()
    budgets = dict(connection.sql("select boot, max_num_batched_tokens from boots").fetchall())
    logged = {
        boot: (largest, steps)
        for boot, largest, steps in connection.sql(
            """
            select boot, max(context_tokens), count(*) filter (context_tokens > 0) from engine_steps
            where boot not in (select boot from boot_copies) group by boot
            """
        ).fetchall()
    }
    found = []
    for (name,), part in table.group_by("place", maintain_order=True):
        if part["arrivals"].list.len().max():
            boot = part["boot"][0]
            truth = logged.get(boot, (None, None))
            found.append(_run(str(name), boot, part, budgets.get(boot), truth))
    return found


def estimates(found: list[Run]) -> list[Estimate]:
    """All figures of all runs; without any run, what is missing."""
    missing = [not_computable("1", "no request record has the arrivals of its tokens").named(SHARE, FINDING)]
    return [e for run in found for e in run.estimates] or missing


def _run(
    name: str, boot: str | None, part: pl.DataFrame, budget: int | None, truth: tuple[int | None, int | None]
) -> Run:  # fmt: skip
    cut = split_lengths(part["prompt_tokens"].drop_nulls().cast(pl.Float64).to_numpy())
    clocks = [table for _, table in part.group_by("clock", maintain_order=True)] if cut else []
    both = [_record(table, cut) for table in clocks if cut]
    records = [record for record, _ in both]
    used = [record for record in records if record.usable]
    quiet = [silences for record, silences in both if record.usable and silences is not None]
    verdict = judge([t for r in records for t in r.turns], quiet)
    if cut is None:
        verdict = replace(verdict, why=NO_SPLIT)
    run = Run(name, boot, records, verdict, budget, *truth, placebo(verdict.tested, quiet))
    return replace(run, estimates=_estimates(run, used))


def _record(table: pl.DataFrame, cut: float) -> tuple[Record, Quiet | None]:
    """The record of one clock, and the silences outside its turns: as many as tokens, for the verdict alone."""
    first, tokens = (table[c].cast(pl.Float64).fill_null(float("nan")).to_numpy() for c in ("first_s", "prompt_tokens"))
    is_long: Flags = tokens >= cut
    arrivals = arrays(table["arrivals"].list.sort())
    requests = Requests(table["sent_s"].to_numpy(), first, table["end_s"].to_numpy(), tokens, is_long, arrivals)
    found, quiet = turns(requests)
    warm = np.sort(table.filter("is_warmup")["sent_s"].to_numpy())
    of_warm_up = [np.searchsorted(warm, t.end_s, "right") > np.searchsorted(warm, t.start_s) for t in found]
    kept = [replace(t, problem=WARM_UP) if w and not t.problem else t for t, w in zip(found, of_warm_up, strict=True)]
    return Record(table.drop("arrivals"), requests, kept), quiet


def _estimates(run: Run, used: list[Record]) -> list[Estimate]:
    """The four figures of a run, with the lines of the requests whose turns decided."""
    names = {"boot": run.boot} if run.boot else {"target": run.name}
    usable = [t for r in used for t in r.usable]
    short = [~r.requests.is_long & ~np.isnan(r.requests.first_s) for r in used]
    none = [np.array([], dtype=np.float64)]
    sent = np.concatenate([*none, *(r.requests.sent_s[s] for r, s in zip(used, short, strict=True))])
    first = np.concatenate([*none, *(r.requests.first_s[s] for r, s in zip(used, short, strict=True))])
    block, share = run.verdict.block, run.verdict.share
    if run.verdict.why and block.value is None:
        block = replace(block, reason=run.verdict.why)
    told = [(SHARE, replace(share, verdict=run.verdict.verdict)), (BLOCK, replace(block, verdict=run.verdict.verdict))]
    others = [(OVERTAKING, overtaking(usable, sent, first)), (DOSE, dose(usable))]
    lines = _lines(used, run.verdict.tested)
    return [e.with_evidence(*lines).named(id, FINDING, **names) for id, e in told + others]


def _lines(used: list[Record], tested: list[Turn]) -> tuple[Evidence, ...]:
    """The records of the long prompts of these turns: file and line."""
    starts = {t.start_s for t in tested}
    found = []
    for record in used:
        long = record.table.filter(pl.Series(record.requests.is_long) & pl.col("sent_s").is_in(list(starts)))
        for row in long.iter_rows(named=True):
            window = f"turn of the prompt of {row['prompt_tokens']:,} tokens"
            found.append(Evidence(row["file"], line=row["line"], window=window))
    return tuple(found[:EVIDENCE])
