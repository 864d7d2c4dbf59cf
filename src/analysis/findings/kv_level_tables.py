"""Tables of what boots at several batch sizes and lengths say of a request: laid out, nothing computed anew."""

import polars as pl

from analysis.estimates import cells
from analysis.estimates.cells import Shown
from analysis.estimates.estimate import Estimate
from analysis.estimates.rounding import show
from analysis.findings.boot_risk import Memory
from analysis.findings.kv_boots import GIB
from analysis.findings.kv_cost import Step
from analysis.findings.kv_request import Parts
from analysis.findings.kv_tables import series_of


def step_table(made: list[Step], two: list[Estimate]) -> pl.DataFrame:
    """One row a pair of levels (and believed boot, where boots contradict): two costs, what a token figure shows.

    `two` are kv_cost.two_costs of the steps: kv.memory_taken and kv.need_grown, in the order of those not believed.
    """
    of = iter(two)
    pairs = [(None, None) if s.believed else (next(of), next(of)) for s in made]
    rows = [
        {
            "boots": s.series.name or "all boots", "length": s.series.length, "from": s.lower, "to": s.higher,
            "believing": s.believed or None, "memory taken (GiB)": _gib(taken, s.memory_taken),
            "need grown (GiB a request)": _gib(grown, s.need_grown), "requests before": s.requests[0],
            "requests after": s.requests[1], "for as many requests (GiB)": (s.memory_taken + s.by_need) / GIB,
            "the token figure shows": s.token_figure_shows,
        }
        for s, (taken, grown) in zip(made, pairs, strict=True)
    ]  # fmt: skip
    texts = ("boots", "believing", "the token figure shows")
    whole = ("length", "from", "to")
    names = ("boots", "length", "from", "to", "believing", "memory taken (GiB)", "need grown (GiB a request)",
             "requests before", "requests after", "for as many requests (GiB)", "the token figure shows")  # fmt: skip
    kinds = {n: pl.String if n in texts else pl.Int64 if n in whole else pl.Float64 for n in names}
    return cells.frame(rows, kinds)


def _gib(e: Estimate | None, bytes: float) -> Shown | float:
    return bytes / GIB if e is None else Shown(e, bytes / GIB, "value")


def cell_table(known: Memory, needs: list[Estimate]) -> pl.DataFrame:
    """One row a setting, length and batch size: the need of a longest request, and whether the boots agree on it.

    `needs` are kv_request.needs, one for each row.
    """
    rows = [
        {
            "length": c.length, "batch tokens": c.batch, "boots": len(c.boots),
            "need (MiB)": Shown(e, None if c.is_broken else c.need / 2**20, "value"),
            "± rounding (MiB)": Shown(e, None if c.is_broken else round(c.need_rounding / 2**20, 2), "end"),
            "disagreement (%)": Shown(e, None if c.agreement.value is None else 100 * c.agreement.value, "input"),
            "one story": None if c.agreement.verdict is None else not c.is_broken,
            "read from": ", ".join(sorted({b.need_from or "" for b in c.boots})),
        }
        for c, e in zip(known.cells, needs, strict=True)
    ]  # fmt: skip
    kinds: dict[str, type[pl.DataType]] = {
        "length": pl.Int64, "batch tokens": pl.Int64, "boots": pl.Int64, "need (MiB)": pl.Float64,
        "± rounding (MiB)": pl.Float64, "disagreement (%)": pl.Float64, "one story": pl.Boolean,
        "read from": pl.String,
    }  # fmt: skip
    return cells.frame(rows, kinds)


def parts_table(parts: list[Parts]) -> pl.DataFrame:
    """One row a batch size and route: the two parts of a request, or why they cannot be told apart."""
    rows = [
        {
            "boots": series_of(p.fixed), "batch tokens": p.batch, "route": p.route,
            "whatever its length": Shown(p.fixed, show(p.fixed) if p.is_known else None),
            "for each token": Shown(p.per_token, show(p.per_token) if p.is_known else None),
            "why none": None if p.is_known else Shown(p.fixed, _bare(p.fixed), "reason"),
            "read with it": "; ".join(p.fixed.warnings) or None,
        }
        for p in parts
    ]  # fmt: skip
    names = ("boots", "batch tokens", "route", "whatever its length", "for each token", "why none", "read with it")
    return cells.frame(rows, {n: pl.Int64 if n == "batch tokens" else pl.String for n in names})


def _bare(e: Estimate) -> str:
    return (e.reason or "").removeprefix("not computable: ")
