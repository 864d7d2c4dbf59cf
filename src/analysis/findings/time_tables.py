"""Sentences, tables and text alternatives of "where the time goes": laid out from estimates, nothing computed anew."""

from collections.abc import Callable

import duckdb
import polars as pl

from analysis.estimates import cells
from analysis.estimates.cells import Shown
from analysis.estimates.estimate import Estimate
from analysis.estimates.ratio_scrapes import Windows
from analysis.estimates.rounding import show
from analysis.findings.frames import frame
from analysis.findings.time_split import Run, scrape_windows

FEW = 3
"""Most figures that a sentence gives one by one; of more it gives the two ends."""
POINTS = 200
"""Most points of a run: a panel is some 600 pixels wide."""
PANELS = 12
"""Most runs drawn one below the other; a fleet has hundreds."""


def run_of(estimate: Estimate) -> str:
    """What a figure calls its run: the boot, or the target when the boot is not known."""
    name = estimate.qualifiers.get("boot") or estimate.qualifiers.get("target") or "?"
    return "top folder" if name == "." else name


def headline(shares: list[Estimate]) -> list[Estimate]:
    """The figures that the answer rests on: the shares with an interval."""
    return [e for e in shares if e.low is not None]


def sides_of(shares: list[Estimate]) -> set[str]:
    """Which phase takes most, by the shares with an interval: decode, prefill, or "" where an interval holds half."""
    sure = headline(shares)
    return {"decode" if e.high < 0.5 else "prefill" if e.low > 0.5 else "" for e in sure}  # type: ignore[operator]


def few(estimates: list[Estimate], text: Callable[[Estimate], str] = show) -> str:
    """A few figures one by one, of more the lowest and the highest: "1.8x [1.2, 4.1] and 1.7x [1.2, 3.4]"."""
    if len(estimates) <= FEW:
        *rest, last = [text(e) for e in estimates]
        return f"{', '.join(rest)} and {last}" if rest else last
    ordered = sorted(estimates, key=lambda e: e.value or 0)
    return f"{text(ordered[0])} to {text(ordered[-1])}"


def where(sure: list[Estimate], known: int) -> str:
    """Which runs a sentence is about; nothing where it is about all there are. `known`: runs with a figure."""
    if len(sure) == 1:
        return "" if known == 1 else f" in {run_of(sure[0])}"
    return f" in each of {len(sure)} runs" + ("" if len(sure) == known else " with an interval")


def sentence(shares: list[Estimate]) -> str:
    """The answer in request-seconds, as far as the intervals carry it."""
    sure = headline(shares)
    if not sure:
        return "Whether prefill or decode takes the time cannot be said: no run has a prefill share with an interval."
    sides = sides_of(shares)
    each = f"prefill is {few(sure)} of prefill and decode request-seconds"
    over = where(sure, sum(e.value is not None for e in shares))
    # The sum is over the mix that was sent: a class of long prompts may spend most of its time in the other phase.
    if sides in ({"decode"}, {"prefill"}):
        return f"Of all request-seconds together, {next(iter(sides))} takes most{over}: {each}."
    if sides == {""}:
        return f"Which phase takes most of all request-seconds together is not shown{over}: {each}."
    return f"No phase takes most of all request-seconds together in every run: {each}."


def share_table(arms: dict[str, str], shares: list[Estimate]) -> pl.DataFrame:
    """One row a run: its prefill share and interval in %, its arm, and the method or the reason for no interval."""
    rows = frame(shares, scale=100).with_columns(label=pl.Series([run_of(e) for e in shares], dtype=pl.String))
    rows = rows.with_columns(group=pl.col("label").replace_strict(arms, default="no boot log"))
    return rows.select(cells.columns("label", "group", "value", "low", "high", "n", "n_of", "method", "reason"))


def describe_shares(shares: list[Estimate]) -> dict[str, str]:
    """Title, subtitle and text alternative of the chart of shares."""
    with_interval = sum(e.low is not None for e in shares)
    without = sum(e.value is None for e in shares)
    return {
        "title": sentence(shares),
        "subtitle": f"prefill share of request-seconds (%), runs: {len(shares)}; "
        f"rule: 95 % interval (runs: {with_interval}); open point: no interval"
        + (f"; no point: not computable ({without})" if without else ""),
        "description": "Prefill share of request-seconds by run. "
        + "; ".join(f"{run_of(e)}: {show(e)}" for e in shares),
    }


def window_table(connection: duckdb.DuckDBPyConnection, runs: list[Run], shares: list[Estimate]) -> pl.DataFrame:
    """One row a point of each run with an interval: minutes from its first scrape, share in %, the band.

    A point is a scrape interval, or `intervals` neighbouring ones together where a run has more than POINTS. At most
    PANELS runs, those with most requests.
    """
    by_requests = sorted(
        zip(runs, shares, strict=True), key=lambda pair: -(pair[0].total("prefill_time", "count") or 0)
    )
    most = {run.name for run, _ in [pair for pair in by_requests if pair[1].low is not None][:PANELS]}
    parts = []
    for run, share in zip(runs, shares, strict=True):
        found = scrape_windows(connection, run) if run.name in most else Windows.of([], [], [], [], [])
        if share.low is None or share.high is None or not len(found.start_s):
            continue
        windows = found.joined(POINTS)
        whole = pl.Series(windows.whole)
        band = {f"band_{end}": cell for end, cell in cells.ends(share).items() if end != "value"}
        parts.append(
            pl.DataFrame({
                "group": run.name, "minutes": (windows.start_s + windows.end_s) / 2 / 60 - windows.start_s[0] / 60,
                "value": pl.select(pl.when(whole > 0).then(100 * pl.Series(windows.part) / whole)).to_series(),
                "band_low": 100 * share.low, "band_high": 100 * share.high, "requests": windows.requests,
                "intervals": -(-len(found.start_s) // POINTS),
                cells.SOURCES: pl.Series([band] * len(whole), dtype=pl.Object),
            })
        )  # fmt: skip
    floats = dict.fromkeys(("minutes", "value", "band_low", "band_high", "requests"), pl.Float64)
    return pl.concat(parts) if parts else pl.DataFrame(schema={"group": pl.String, **floats, "intervals": pl.Int64})


def points(windows: pl.DataFrame) -> str:
    """What a point of the chart along the runs is."""
    most = int(windows["intervals"].to_numpy().max()) if windows.height else 1
    one = "one scrape interval" if most == 1 else f"up to {most:,} scrape intervals that follow each other, together"
    return f"Each point is {one}; no request finished where there is none."


def describe_windows(windows: pl.DataFrame, shares: list[Estimate]) -> dict[str, str]:
    """Title, subtitle and text alternative of the chart along the runs."""
    known = len(headline(shares))
    left_out = f"; the {PANELS} of {known} runs with most requests" if known > PANELS else ""
    spans = (
        windows.drop_nulls("value").group_by("group")
        .agg(pl.col("value").min().alias("least"), pl.col("value").max().alias("most"), pl.len().alias("n"))
        .sort("group")
    )  # fmt: skip
    said = [f"{group}: {least:.0f} % to {most:.0f} % over {n} points" for group, least, most, n in spans.iter_rows()]
    widest = max((most - least for _, least, most, _ in spans.iter_rows()), default=0.0)
    joined = windows.height > 0 and windows["intervals"].to_numpy().max() > 1
    of = "each point: a scrape interval, or several of a long run together" if joined else "each scrape interval"
    between = "points along it" if joined else "scrape intervals"
    return {
        "title": f"Within a run the prefill share moved by up to {widest:.0f} percentage points between {between}"
        if said
        else "No run has timed pages with enough requests between them",
        "subtitle": f"a panel a run; prefill share of request-seconds (%) of {of}; "
        f"band: 95 % interval of the run{left_out}",
        "description": f"Prefill share of {of}. " + "; ".join(said or ["no data"]),
    }


def sums_table(seconds: list[Estimate], concurrency: list[Estimate]) -> pl.DataFrame:
    """One row a run: request-seconds by phase, requests counted, mean concurrency. Null: not computable."""
    rows: dict[str, dict[str, Shown | int | str | None]] = {}
    names = {f"time.{phase}_seconds": f"{phase} (s)" for phase in ("queue", "prefill", "decode")}
    for estimate in seconds:
        row = rows.setdefault(run_of(estimate), {"run": run_of(estimate)})
        row[names[estimate.id]] = Shown(estimate, estimate.value, "value")
        row["requests"] = estimate.n if estimate.id == "time.prefill_seconds" else row.get("requests")
    for estimate in concurrency:
        rows[run_of(estimate)]["mean concurrency"] = Shown(estimate, estimate.value, "value")
    floats = dict.fromkeys((*names.values(), "mean concurrency"), pl.Float64)
    return cells.frame(rows.values(), {"run": pl.String, **floats, "requests": pl.Int64})


def endings_table(finishes: list[Estimate], hits: list[Estimate]) -> pl.DataFrame:
    """One row a run and measure: finish reasons that occurred, and prefix cache hits, each with its interval."""
    shown = [e for e in finishes if e.value is None or e.value > 0]
    rows = [
        (
            run_of(e),
            e.qualifiers.get("reason", "finish reasons") if e.id == "finish.share" else "prefix cache hits",
            e,
            Shown(e, e.n, "value"),
            Shown(e, e.method, "end"),
        )
        for e in [*shown, *hits]
    ]
    schema = {"run": pl.String, "measure": pl.String, "share": pl.String, "requests": pl.Int64, "method": pl.String}
    return cells.frame(rows, schema).sort("run", "measure", maintain_order=True)
