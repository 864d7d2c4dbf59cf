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
