"""Every chart: a valid spec that survives JSON, draws, and says what it shows."""

import json
from collections.abc import Callable
from decimal import Decimal

import altair as alt
import pandas as pd
import polars as pl
import pytest
import vl_convert

from analysis import charts
from analysis.charts.marks import share_scale
from analysis.charts.theme import COLOURS, SHAPES

TEXTS = {"title": "What was found", "subtitle": "%, 3 boots", "description": "Boot-2 at 8 per cent, 7 to 9."}
FRAMES: dict[str, pl.DataFrame] = {
    "share_by_boot": pl.DataFrame({
        "label": ["boot-10", "boot-9", "boot-2"], "group": ["decode", "decode", "decode"],
        "value": [Decimal("80.5"), Decimal("81"), None], "low": [79.0, None, None], "high": [82.0, None, float("inf")],
    }),
    "pool_by_arm": pl.DataFrame({
        "boot": ["a", "b", "c"], "arm": ["pinned", "pinned", "profiled"], "outcome": ["served", "refused", "crashed"],
        "tokens": [110_000, 90_000, None], "low": [100_000, 100_000, None], "high": [120_000, 120_000, None],
    }),
    "memory_by_boot": pl.DataFrame({
        "label": ["boot-1", "boot-2"], "group": ["served", "refused"], "value": [3.2, 1.1],
        "low": [3.195, None], "high": [3.205, None], "needed": [2.0, None],
    }),
    "outcome_count": pl.DataFrame({"arm": ["a", "a", "b"], "outcome": ["served", "crashed", "served"], "n": [3, 0, 1]}),
    "files_read": pl.DataFrame({"kind": ["metrics", "other"], "status": ["read", "unrecognised"], "n": [41, 1]}),
    "accountings_by_run": pl.DataFrame({
        "label": ["boot-10", "boot-10", "boot-9"], "group": ["request-seconds", "step time", "step time"],
        "value": [17.0, 41.0, None], "low": [4.0, None, None], "high": [49.0, None, None],
    }),
    "wall_states": pl.DataFrame({
        "label": ["a"] * 4, "state": ["idle", "prefill only", "decode only", "both"], "value": [5.0, 11.0, 46.0, 38.0],
        "low": [20.0] * 4, "high": [79.0] * 4,
    }),
    "levers": pl.DataFrame({
        "label": ["a", "a", "b"], "group": ["free prefill", "half the answers", "free prefill"],
        "value": [None, 40.0, 12.0], "low": [20.0, 30.0, None], "high": [100.0, 45.0, None],
    }),
    "seconds_by_length": pl.DataFrame({
        "group": ["a"] * 4, "phase": ["prefill", "decode"] * 2, "tokens": [100.0, 100.0, 5000.0, 5000.0],
        "value": [0.5, 30.0, 6.0, 0.0], "low": [0.2, None, 5.0, None], "high": [2.0, None, 8.0, None],
    }),
    "share_over_time": pl.DataFrame({
        "group": ["prefill"] * 3, "minutes": [0.5, 1.5, 2.5], "value": [8.0, None, 9.0],
        "low": [7.0] * 3, "high": [9.5] * 3
    }),
}  # fmt: skip


@pytest.mark.parametrize("name", charts.__all__)
@pytest.mark.parametrize("convert", [lambda f: f, lambda f: f.to_pandas()], ids=["polars", "pandas"])
def test_every_chart_is_valid_serialises_draws_and_is_described(name: str, convert: Callable[..., object]) -> None:
    chart = getattr(charts, name)(convert(FRAMES[name]), **TEXTS)
    spec = chart.to_dict()
    assert json.loads(json.dumps(spec, allow_nan=False)) == spec
    assert spec["description"] == TEXTS["description"]
    assert spec["title"]["text"] == "What was found"
    svg = vl_convert.vegalite_to_svg(spec, vl_version="6.4")
    assert svg.startswith("<svg") and "What was found" in svg
    assert "currentColor" in svg


@pytest.mark.parametrize("name", charts.__all__)
def test_a_chart_of_nothing_draws_empty(name: str) -> None:
    chart = getattr(charts, name)(FRAMES[name].clear(), **TEXTS)
    assert vl_convert.vegalite_to_svg(chart.to_dict(), vl_version="6.4").startswith("<svg")


@pytest.mark.parametrize("name", charts.__all__)
@pytest.mark.parametrize("gone", ["title", "subtitle", "description"])
def test_a_chart_without_its_texts_is_refused(name: str, gone: str) -> None:
    with pytest.raises(ValueError, match=f"a chart needs a {gone}"):
        getattr(charts, name)(FRAMES[name], **{**TEXTS, gone: " "})


def test_a_missing_column_is_named() -> None:
    with pytest.raises(ValueError, match="the frame lacks the columns low, high"):
        charts.share_by_boot(FRAMES["share_by_boot"].drop("low", "high"), **TEXTS)


def _marks(chart: alt.LayerChart, kind: str) -> int:
    svg = vl_convert.vegalite_to_svg(chart.to_dict(), vl_version="6.4")
    return svg.count(f'aria-roledescription="{kind}"')


def test_a_point_has_a_rule_only_where_both_ends_are_known() -> None:
    chart = charts.share_by_boot(FRAMES["share_by_boot"], **TEXTS)
    assert (_marks(chart, "point"), _marks(chart, "rule mark")) == (2, 1)


def test_a_refused_boot_is_open_and_a_boot_without_a_pool_is_not_drawn() -> None:
    svg = vl_convert.vegalite_to_svg(charts.pool_by_arm(FRAMES["pool_by_arm"], **TEXTS).to_dict(), vl_version="6.4")
    points = [part for part in svg.split("<path") if 'aria-roledescription="point"' in part]
    assert len(points) == 2
    served, refused = sorted(points, key=lambda p: "outcome: refused" in p)
    assert f'fill="{COLOURS[0]}"' in served
    assert "fill=" not in refused and f'stroke="{COLOURS[1]}"' in refused
    assert svg.count('aria-roledescription="rect mark"') == 1


def _svg(chart: alt.TopLevelMixin) -> str:
    return vl_convert.vegalite_to_svg(chart.to_dict(), vl_version="6.4")


@pytest.mark.parametrize(
    ("values", "end"),
    [([10.4, 3.0], 12), ([24.9], 25), ([25.0], 25), ([0.3], 0.3), ([81.0], 100), ([140.0], 100), ([0.0], 100),
     ([None], 100), ([6.01], 8)],
)  # fmt: skip
def test_the_axis_of_shares_starts_at_zero_and_ends_at_a_round_number(values: list[float | None], end: float) -> None:
    rows = pl.DataFrame({"value": values, "high": [None] * len(values)}, {"value": pl.Float64, "high": pl.Float64})
    low, high = share_scale(rows, "value", "high").to_dict()["domain"]
    assert (low, high) == (0, pytest.approx(end))


def test_more_groups_than_colours_are_not_told_apart_by_any() -> None:
    n = len(COLOURS)
    for groups, colours in ((n, n), (n + 1, 1)):
        labels = [f"boot-{i}" for i in range(groups)]
        rows = pl.DataFrame({
            "label": labels, "group": [f"arm-{i}" for i in range(groups)], "value": [5.0] * groups,
            "low": [4.0] * groups, "high": [6.0] * groups,
        })  # fmt: skip
        svg = _svg(charts.share_by_boot(rows, **TEXTS))
        assert len({c for c in COLOURS if f'stroke="{c}"' in svg}) == colours
        assert all(f">{label}<" in svg for label in labels)
        assert (">arm-0<" in svg) == (groups == n)


def test_each_run_has_a_panel_with_its_name_and_all_share_their_axes() -> None:
    rows = pl.concat([FRAMES["share_over_time"].with_columns(group=pl.lit(g)) for g in ("b10", "b9")])
    svg = _svg(charts.share_over_time(rows, **TEXTS))
    assert svg.index(">b9<") < svg.index(">b10<")
    assert svg.count('aria-roledescription="rect mark"') == 2
    assert svg.count(">minutes from the first scrape<") == 1


def test_a_need_is_written_beside_its_tick_even_where_memory_is_scarce() -> None:
    rows = FRAMES["memory_by_boot"].with_columns(value=pl.Series([4.0, 0.06]), needed=pl.Series([3.9, 0.1314]))
    svg = _svg(charts.memory_by_boot(rows, **TEXTS))
    assert ">needs 0.131<" in svg and ">needs 3.9<" in svg


def test_rows_come_in_natural_order_whatever_the_frame_had() -> None:
    svg = vl_convert.vegalite_to_svg(charts.share_by_boot(FRAMES["share_by_boot"], **TEXTS).to_dict(), vl_version="6.4")
    assert svg.index(">boot-2<") < svg.index(">boot-9<") < svg.index(">boot-10<")


def test_counts_leave_out_what_did_not_occur() -> None:
    svg = vl_convert.vegalite_to_svg(charts.outcome_count(FRAMES["outcome_count"], **TEXTS).to_dict(), vl_version="6.4")
    assert ">3 served<" in svg and "crashed" not in svg


def test_groups_differ_by_more_than_colour_and_no_colour_is_black_or_yellow() -> None:
    assert len(set(SHAPES)) == len(COLOURS)
    assert not {"#000000", "#F0E442"} & set(COLOURS)


def test_pandas_frames_are_taken_as_they_are() -> None:
    frame = pd.DataFrame({"kind": ["metrics"], "status": ["read"], "n": [2]})
    assert charts.files_read(frame, **TEXTS).to_dict()["description"]


def test_an_arm_without_a_pool_keeps_its_place_and_the_interval_spans_its_arm() -> None:
    svg = vl_convert.vegalite_to_svg(charts.pool_by_arm(FRAMES["pool_by_arm"], **TEXTS).to_dict(), vl_version="6.4")
    assert ">pinned<" in svg and ">profiled<" in svg
    (band,) = [part for part in svg.split("<path") if 'aria-roledescription="rect mark"' in part]
    assert "v32h" in band  # two rows of 16 pixels


def test_an_accounting_that_a_run_lacks_is_not_drawn() -> None:
    chart = charts.accountings_by_run(FRAMES["accountings_by_run"], **TEXTS)
    assert (_marks(chart, "point"), _marks(chart, "rule mark")) == (2, 1)


def test_the_rule_of_wall_states_is_around_the_end_of_those_with_a_prefill() -> None:
    chart = charts.wall_states(FRAMES["wall_states"], **TEXTS)
    assert (_marks(chart, "bar"), _marks(chart, "rule mark"), _marks(chart, "tick")) == (4, 1, 1)
    svg = _svg(chart)
    spans = [part.split('"')[0] for part in svg.split('aria-label="')[1:] if "start:" in part or "state:" in part]
    assert any("state: prefill only" in span and "start: 0" in span for span in spans)
    assert any("state: idle" in span and "start: 95" in span for span in spans)
