"""data/cluster-a: its files are those of its table and carry the published figures; no assumption decides anything."""

import random
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from math import isclose
from pathlib import Path

import duckdb
import pytest

from analysis import paths
from analysis.estimates.estimate import Estimate
from analysis.findings import claims, time_split, time_tables
from analysis.findings.assumed import Assumptions, assumptions, reconstruction
from analysis.findings.registry import Registry
from analysis.reconstruct import cluster_a, figures
from analysis.store.load import load

STUDY = paths.DATA / "cluster-a"
VERDICTS = {
    "reproduced": {
        "P1", "P2", "P3", "P4", "P5a", "P5b", "P6", "P7a", "P7b", "P7c", "P7d", "P8", "P12a", "P13a", "P13b",
        "P14a", "P14b", "P15a", "P15b", "P16", "P17a", "P17b", "C4",
    },
    "not_supported": {"P9", "P10", "P11", "P18", "C5", "C6"},
    "differs": {"C1", "C2", "C3a", "C3b"},
    "not_computable": {"P12b", "P13c", "P19", "C7", "C8"},
}  # fmt: skip
"""What docs/methods.md carries, claim by claim."""


def test_the_files_are_those_of_the_table() -> None:
    made = cluster_a.files(figures.read(STUDY))
    there = {p.relative_to(STUDY).as_posix() for p in STUDY.rglob("*") if p.is_file()}
    assert there - set(made) == {"README.md", "study.toml", "published.toml"}
    assert [name for name, text in made.items() if (STUDY / name).read_bytes() != text.encode()] == []


def test_every_figure_is_published_or_says_why_and_in_which_range() -> None:
    table = figures.read(STUDY).table.values()
    assert {f.published for f in table if f.published} >= {"P1", "P2", "P3", "P4", "P5", "P6", "P7", "P8", "P14", "P16"}
    assert len([f for f in table if f.why]) == 17
    assert all((f.published is None) == (f.why is not None) for f in table)


@contextmanager
def store(table: figures.Figures, folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """The store of the study as the table has it, with the study's own descriptions."""
    cluster_a.write(table, folder)
    for name in ("study.toml", "published.toml"):
        shutil.copy(STUDY / name, folder / name)
    load(folder, folder.with_suffix(".duckdb"))
    with duckdb.connect(str(folder.with_suffix(".duckdb")), read_only=True) as connection:
        yield connection


@pytest.fixture(scope="module")
def as_assumed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    with store(figures.read(STUDY), tmp_path_factory.mktemp("a") / "cluster-a") as connection:
        yield connection


def judged(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    return {j.claim["claim"]: j.verdict.verdict for j in claims.ledger(connection)}


def test_each_claim_has_the_verdict_that_the_methods_carry(as_assumed: duckdb.DuckDBPyConnection) -> None:
    assert claims.broken(as_assumed) == []
    found = judged(as_assumed)
    assert {verdict: {c for c, v in found.items() if v == verdict} for verdict in VERDICTS} == VERDICTS
    assert [j.claim["claim"] for j in claims.ledger(as_assumed) if not j.stands] == []
    ids = {"".join(ch for ch in c if not ch.islower()) for c in found}
    assert ids == {*(f"P{n}" for n in range(1, 20)), *(f"C{n}" for n in range(1, 9))}


def test_published_figures_come_out_exactly(as_assumed: duckdb.DuckDBPyConnection) -> None:
    """Recomputed by hand from the figures that were published."""
    said = {j.claim["claim"]: j.estimate for j in claims.ledger(as_assumed)}
    gib = 2**30
    want = {
        "P1": 0.134, "P3": 0.838, "P4": 1860, "P6": 137 / 165, "P7a": 9.8 * gib, "P14a": 1 - 8.44 / 12.08,
        "P11": ((12.08 + 8.44) / 2 + 6.9) / 2 * gib, "P14b": 1 - 1085106 / 1110893, "P16": 280 / 405, "P17b": 0.037,
        "C1": 4, "C2": 38000 / 28, "C3a": (9.8 - (9.8 - 6.9) / (768000 - 35072) * 768000) * gib,
        "C3b": (12.08 / 1110893) / (8.44 / 1085106) - 1,
    }  # fmt: skip
    assert {c: said[c].value for c in want} == pytest.approx(want, rel=1e-6)
    assert said["P5b"].value == pytest.approx(11000 / 1860, rel=1e-4)
    # The two boots contradict each other, so no cost in bytes per batch token is stated at all.
    assert said["P10"].value is None
    assert "differs by 39.8 % between 2 boots" in said["P10"].reason
    # Three boots, one degree of freedom: t is 12.7, and halfway anything may be left.
    assert said["P11"].low < 0 < 9.8 * gib < said["P11"].high


def test_what_nobody_published_cannot_be_computed(as_assumed: duckdb.DuckDBPyConnection) -> None:
    """No start-up time, version, model or cache use; GiB with one decimal are known to half of it."""
    assert as_assumed.sql("select distinct ready_s, engine_version, model from boots").fetchall() == [(None,) * 3]
    known = Registry(as_assumed)
    assert known.of("cache.peak_use") == []
    assert [e.value for e in known.of("arms.ratio") if e.qualifiers["measure"] == "start_up"] == []
    [fixed] = [e for e in known.of("kv.request_fixed") if e.qualifiers["route"] == "refusal"]
    [each] = [e for e in known.of("kv.request_per_token") if e.qualifiers["route"] == "refusal"]
    assert (fixed.low / 2**30, fixed.high / 2**30) == pytest.approx((6.71, 6.82), abs=0.01)
    assert (each.low / 1024, each.high / 1024) == pytest.approx((4.0, 4.3), abs=0.01)
    [pool] = known.of("pool.in_bytes")
    assert (pool.value, pool.qualifiers["boot"]) == (None, "production")
    # 1,110,255 x 12.08 / 1,110,893 and x 8.44 / 1,085,106
    assert pool.reason == "by what 768k-a prints it is 12.07 GiB, by what 768k-b prints it is 8.636 GiB"


def test_reproduced_is_not_replicated(as_assumed: duckdb.DuckDBPyConnection) -> None:
    judged = claims.ledger(as_assumed)
    said = claims.sentence(judged, [])
    assert said.startswith("Of 29 published figures, 22 are reproduced, 3 are not computable and 4 are not supported. ")
    assert "Of 9 checks of ours, 4 found a problem: C1, C2, C3a, C3b; " in said
    assert said.endswith("written from these figures: reproduced means consistent, not replicated.")
    assert claims.advice(judged, [])["next_step"].startswith("Quote P9, P10, P11 and P18 only")
    why = {j.claim["claim"]: j.why for j in judged}
    assert why["P19"].startswith("what is missing: there is no arm without reasoning mode")
    assert "405 finish reasons, 401 timed requests: 4 apart" in why["C1"]


CORNERS = ["low", "high", 1, 2]


@pytest.mark.parametrize("corner", CORNERS)
def test_no_assumed_number_decides_anything(
    corner: str | int, as_assumed: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    """At the ends of their ranges, together and mixed: what moves is marked, and no verdict changes."""
    table = figures.read(STUDY)
    dice = random.Random(corner)
    ends = {f.key: (f.low if corner == "low" or (corner != "high" and dice.random() < 0.5) else f.high)
            for f in table.assumed()}  # fmt: skip
    with store(table.with_assumed(**ends), tmp_path / "cluster-a") as connection:
        assert judged(connection) == judged(as_assumed)
        assert said(connection) == said(as_assumed) == {"decode"}
        assert unmarked(as_assumed, connection, assumptions(as_assumed)) == []


def said(connection: duckdb.DuckDBPyConnection) -> set[str]:
    """Which phase the report says takes most of a request's time."""
    return time_tables.sides_of(time_split.prefill_shares(connection, time_split.runs(connection)))


def unmarked(
    one: duckdb.DuckDBPyConnection, other: duckdb.DuckDBPyConnection, marks: Assumptions
) -> list[tuple[str, str, str]]:
    """Estimates that moved with the assumed figures in a part that study.toml does not name."""
    moved = []
    others = {key(e): e for e in Registry(other).everything()}
    for e in Registry(one).everything():
        changed = part(e, others[key(e)])
        marked = marks.of(e)
        if changed and (marked is None or LEVELS.index(marked[0]) > LEVELS.index(changed)):
            moved.append((e.id, str(e.qualifiers), changed))
    return moved


def key(e: Estimate) -> tuple[object, ...]:
    """An estimate by its id and qualifiers, with the lengths that are assumed under the names that were published."""
    lengths = {"262144": "256000", "1048576": "1000000"}
    return (e.id, *sorted((name, lengths.get(value, value)) for name, value in e.qualifiers.items()))


LEVELS = ["values", "intervals", "wording"]


def part(a: Estimate, b: Estimate) -> str | None:
    """What of an estimate moved: times are written in milliseconds, so the fourth digit says nothing."""
    if not same(a.value, b.value):
        return "values"
    if not (same(a.low, b.low) and same(a.high, b.high)):
        return "intervals"
    return "wording" if (a.reason, a.warnings, a.verdict) != (b.reason, b.warnings, b.verdict) else None


def same(a: float | None, b: float | None) -> bool:
    return a is b is None or (a is not None and b is not None and (a == b or isclose(a, b, rel_tol=1e-4)))


def test_an_assumed_figure_withholds_what_rests_on_it(as_assumed: duckdb.DuckDBPyConnection) -> None:
    [half] = [j for j in claims.ledger(as_assumed) if j.claim["claim"] == "P13c"]
    assert half.verdict.verdict == "not_computable"
    assert half.why.startswith("rests on assumed figures: published as about half")
    assert reconstruction(as_assumed).startswith("A reconstruction: the raw files")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "has no [[figure]]"),
        ("x = ", "cannot be read"),
        ("figure = 3", "has no [[figure]]"),
        ('[[figure]]\nkey = "a"\nvalue = "x"', "needs a key and a number"),
        ('[[figure]]\nkey = "a"\nvalue = 1', "figure a is not published, so it needs why, low and high"),
        ('[[figure]]\nkey = "a"\nvalue = 1\nwhy = "w"\nlow = 2\nhigh = 3', "figure a lies outside its own range"),
        ('[[figure]]\nkey = "a"\nvalue = 1\npublished = "P1"\n' * 2, "names a figure twice"),
    ],
)
def test_a_broken_table_says_what_is_wrong(text: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(text)
    with pytest.raises(figures.FiguresError) as error:
        figures.read(tmp_path)
    assert why in str(error.value)


def test_a_figure_stays_in_its_range() -> None:
    table = figures.read(STUDY)
    with pytest.raises(figures.FiguresError, match="drift = 9 is not in the range"):
        table.with_assumed(drift=9)
    with pytest.raises(figures.FiguresError, match="the table has no figure 'nothing'"):
        table["nothing"]
