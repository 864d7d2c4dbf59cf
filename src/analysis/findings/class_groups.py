"""Requests by place, class and phase, with their blocks of time and the two gaps of each stream."""

from dataclasses import dataclass

import duckdb
import numpy as np
import polars as pl
from numpy.typing import NDArray

from analysis.estimates.estimate import Evidence
from analysis.estimates.inputs import Floats
from analysis.estimates.streams import StreamGaps, gaps_as_recorded, gaps_of_arrivals
from analysis.estimates.time_blocks import blocks, visits
from analysis.findings.frames import arrays, rows

QUERY = """
    select * exclude (token_at_s, tokens_cum, itl_s) from class_requests order by place, class, phase, run, ordinal
"""
STREAMS = """
    select run, ordinal, token_at_s, tokens_cum, output_tokens,
        case when len(token_at_s) > 1 then null else itl_s end as itl_s
    from class_requests where is_completed
"""
AT_ONCE = 10_000
"""Streams that are in memory at a time: each may have thousands of numbers, and two of each are kept."""


@dataclass(frozen=True, slots=True)
class Group:
    """The requests of one class in one phase of one place (a boot, or a folder whose boot is not known).

    `requests` are all that were counted, with the columns typical_s and longest_s (gaps of the stream, where it
    completed), `done` the completed ones with decode_rate; `block` has the block of each of `done`; `visits` is how
    often the phase was entered.
    """

    place: str
    boot: str | None
    name: str
    phase: str
    requests: pl.DataFrame
    done: pl.DataFrame
    block: NDArray[np.int64]
    visits: int

    @property
    def qualifiers(self) -> dict[str, str]:
        """How results.json names the group."""
        return {**({"boot": self.boot} if self.boot else {"target": self.place}), "class": self.name,
                "phase": self.phase}  # fmt: skip

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """The files that it was read from."""
        return tuple(Evidence(file) for file in self.requests["file"].unique(maintain_order=True)[:12])

    def column(self, name: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """The known values of a column over completed requests, and the block of each."""
        values = self.done[name].cast(pl.Float64).fill_null(float("nan")).to_numpy()
        known = np.isfinite(values)
        return values[known], self.block[known]


def groups(connection: duckdb.DuckDBPyConnection) -> list[Group]:
    """Every class and phase of every place that has a counted request, in natural order."""
    table = rows(connection, QUERY).join(_gaps(connection), on=["run", "ordinal"], how="left", maintain_order="left")
    found = []
    for (place,), of_place in table.group_by("place", maintain_order=True):
        for_visits = of_place.filter(pl.col("is_completed") & pl.col("start_s").is_not_null())
        numbered = for_visits.select("run", "ordinal", visit=_visits(for_visits))
        of_place = of_place.join(numbered, on=["run", "ordinal"], how="left", maintain_order="left")
        for (name, phase), part in of_place.group_by("class", "phase", maintain_order=True):
            found.append(_group(str(place), str(name), str(phase), part))
    return found


def _visits(requests: pl.DataFrame) -> pl.Series:
    """A run that counts time from a moment of its own is a visit by itself: it cannot be put in order with others."""
    start = requests["start_s"].to_numpy()
    label = requests.select(
        pl.when(pl.col("clock") == "unix").then("phase").otherwise(pl.concat_str("phase", "run", separator="\n"))
    ).to_series()
    return pl.Series("visit", visits(start, label.to_numpy()), pl.Int64)


def _group(place: str, name: str, phase: str, part: pl.DataFrame) -> Group:
    done = part.filter(pl.col("is_completed") & pl.col("visit").is_not_null())
    done = done.with_columns(decode_rate=pl.when(pl.col("tpot_s") > 0).then(1 / pl.col("tpot_s")))
    where = blocks(done["start_s"].to_numpy(), done["e2e_s"].cast(pl.Float64).to_numpy(), done["visit"].to_numpy())
    return Group(place, part["boot"][0], name, phase, part, done, where, done["visit"].n_unique())


def _gaps(connection: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    """The two gaps of each completed request."""
    parts = [_gaps_of(pl.DataFrame(batch)) for batch in connection.sql(STREAMS).to_arrow_reader(AT_ONCE)]
    schema = {"run": pl.String, "ordinal": pl.Int64, "typical_s": pl.Float64, "longest_s": pl.Float64}
    return pl.concat([pl.DataFrame(schema=schema), *parts])


def _gaps_of(streams: pl.DataFrame) -> pl.DataFrame:
    lists = (arrays(streams[name]) for name in ("token_at_s", "tokens_cum", "itl_s"))
    gaps = [_of_stream(*row) for row in zip(*lists, streams["output_tokens"], strict=True)]
    return streams.select(
        "run", "ordinal",
        pl.Series("typical_s", [g.typical_s for g in gaps], pl.Float64),
        pl.Series("longest_s", [g.longest_s for g in gaps], pl.Float64),
    )  # fmt: skip


def _of_stream(at: Floats, cumulated: Floats, recorded: Floats, tokens: int | None) -> StreamGaps:
    return gaps_of_arrivals(at, cumulated, tokens) if len(at) > 1 else gaps_as_recorded(recorded, tokens)


ALONE, TOGETHER = 0.1, 0.5
"""Shares of a class's requests beside which another class ran: alone up to the first, together from the second."""


def beside(found: list[Group], group: Group) -> float | None:
    """The share of a group's requests during which a request of another class was in service at the same place.

    None where it cannot be told: times are missing, or clients used clocks that cannot be compared. A request that the
    server refused was not in service; one that the client aborted was.
    """
    others = [g.requests for g in found if g.place == group.place and g.name != group.name]
    served = pl.col("is_completed") | pl.col("status").is_in(["aborted", "incomplete"])
    other = pl.concat([part.filter(served) for part in others]) if others else group.done.clear()
    if not group.done.height:
        return None
    if not other.height:
        return 0.0
    clocks = {*group.done["clock"], *other["clock"]}
    ends = [part[end].cast(pl.Float64).to_numpy() for part in (group.done, other) for end in ("start_s", "end_s")]
    if clocks != {"unix"} or not all(np.isfinite(end).all() for end in ends):
        return None
    start, end, other_start, other_end = ends
    begun = np.searchsorted(np.sort(other_start), end, side="left")
    over = np.searchsorted(np.sort(other_end), start, side="right")
    return float(np.mean(begun > over))
