"""Every chart: a valid spec that survives JSON, draws, and says what it shows."""

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import altair as alt
import pandas as pd
import polars as pl
import pytest
import vl_convert

from analysis import charts
from analysis.charts.marks import share_scale
from analysis.charts.theme import COLOURS, SHAPES
from analysis.report.figure import figure

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
    "verdict_count": pl.DataFrame({"verdict": ["differs", "reproduced"], "unit": ["claims"] * 2, "n": [1, 24]}),
    "forest": pl.DataFrame({
        "measure": ["throughput", "throughput", "TTFT p50", "pool", "pool"], "class": [None, None, "chat", None, None],
        "arm": ["B", "C", "B", "B", "C"], "value": [1.2, 0.9, 1.0, None, 400.0],
        "low": [1.1, 0.001, None, None, None], "high": [1.3, float("inf"), None, None, None],
    }),
    "startup_timeline": pl.DataFrame({
        "label": ["A · a1", "A · a1", "B · b1"], "phase": ["weights", "server", "server"], "stage": [2, 5, 5],
        "start_s": [0.0, 30.0, 0.0], "end_s": [30.0, 67.0, 50.0],
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
    "memory_curve": pl.DataFrame({
        "group": ["length 8,192"] * 5, "kind": ["boot", "boot", "prediction", "need", "need"],
        "outcome": ["served", "refused", "", "", ""], "x": [2048.0, 8192.0, 4096.0, 2048.0, 8192.0],
        "value": [4.0, 2.0, 3.0, 1.0, 2.5], "low": [None, None, 2.0, None, None],
        "high": [None, None, 4.0, None, None], "extrapolated": [False, False, False, False, True],
    }),
    "memory_parts": pl.DataFrame({
        "label": ["a", "a", "b"], "arm": ["x"] * 3, "part": ["weights", "KV cache", "KV cache"],
        "value": [1.0, 4.0, 3.0],
    }),
    "refusal_curve": pl.DataFrame({
        "group": ["length 8,192"] * 3, "route": ["boots seen", "requests that fit", "requests that fit"],
        "x": [2048.0, 2048.0, 8192.0], "value": [0.0, 4.0, 100.0], "extrapolated": [False, False, True],
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
        "band_low": [7.0] * 3, "band_high": [9.5] * 3
    }),
    "stall_ticks": pl.DataFrame({
        "run": ["a"] * 4, "row": ["long prompt", "", "stream 1", "stream 1"],
        "kind": ["turn", "stall", "token", "token"],
        "start_s": [0.0, 0.1, -0.2, 2.0], "end_s": [2.0, 1.9, -0.2, 2.0],
    }),
    "block_by_prompt": pl.DataFrame({
        "run": ["a", "a", "b"], "prompt_tokens": [4000.0, 5000.0, 4000.0], "block_tokens": [4000.0, 5000.0, None],
    }),
    "step_strip": pl.DataFrame({
        "run": ["a", "a", "b"], "kind": ["decode only", "prompt and decode", "prompt only"],
        "prompt_tokens": [0, 512, None], "start_s": [0.0, 0.1, 0.0], "end_s": [0.1, 0.7, 1.0],
    }),
    "effect_by_class": pl.DataFrame({
        "label": ["b chat", "b chat", "b batch"], "group": ["first token", "longest gap", "first token"],
        "value": [3.0, -0.05, None], "low": [-8.0, None, None], "high": [13.0, None, None],
    }),
    "times_by_phase": pl.DataFrame({
        "label": ["b chat", "b chat", "b batch"], "phase": ["alone", "both", "both"],
        "p50": [0.4, 0.6, None], "p95": [0.7, 13.0, None],
    }),
    "rate_over_time": pl.DataFrame({
        "group": ["b chat, alone", "b chat, alone", "b chat, both"], "minutes": [0.0, 1.0, 0.0],
        "rate": [8.0, 7.5, None],
    }),
    "shares_by_replica": pl.DataFrame({
        "replica": ["r1", "r2", "r3"], "value": [8.0, 9.0, None], "rank": [33.0, 67.0, None],
        "kind": ["alike", "unlike the others", "alike"],
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
def test_where_nothing_would_be_drawn_the_title_says_why(name: str, tmp_path: Path) -> None:
    empty = getattr(charts, name)(FRAMES[name].clear(), **TEXTS)
    html = figure(empty, "x", FRAMES[name].clear(), tmp_path, "From nothing.").html
    assert html == '<figure id="fig-x" class="nothing"><p class="title">What was found.</p></figure>'
    assert list(tmp_path.iterdir()) == []
    assert "<svg" in figure(getattr(charts, name)(FRAMES[name], **TEXTS), "x", FRAMES[name], None, "c").html


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


def test_an_effect_without_an_interval_is_an_open_point_beside_the_line_at_zero() -> None:
    chart = charts.effect_by_class(FRAMES["effect_by_class"], **TEXTS)
    assert (_marks(chart, "point"), _marks(chart, "rule mark")) == (2, 1)  # the line at zero is no row of data


def test_a_time_is_a_bar_from_the_median_to_the_tail_for_each_phase() -> None:
    chart = charts.times_by_phase(FRAMES["times_by_phase"], **TEXTS)
    assert (_marks(chart, "point"), _marks(chart, "rule mark")) == (4, 2)


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


def _data(spec: dict) -> list[dict]:
    return max(spec["datasets"].values(), key=len)


def test_ratios_share_one_axis_that_is_cut_and_never_moves_a_point() -> None:
    spec = charts.forest(FRAMES["forest"], farthest=4.0, **TEXTS).to_dict()
    drawn = {(row["measure"], row["arm"]): row for row in _data(spec)}
    assert set(drawn) == {("throughput", "B"), ("throughput", "C"), ("TTFT p50", "B")}  # no value; beyond the axis
    assert (drawn["throughput", "C"]["low"], drawn["throughput", "C"]["value"]) == (0.25, 0.9)
    scales = {json.dumps(layer["encoding"]["x"].get("scale"), sort_keys=True) for layer in spec["layer"]}
    assert scales == {json.dumps({"domain": [0.25, 4.0], "nice": False, "type": "log"}, sort_keys=True)}
    band = next(iter(d for d in spec["datasets"].values() if "_one" in d[0]))[0]
    assert (band["_low"], band["_high"]) == (1 / 1.05, 1.05)


def test_the_stall_is_shaded_over_all_streams_of_its_run_and_each_token_is_a_tick() -> None:
    ticks = FRAMES["stall_ticks"]
    two = pl.concat([ticks, ticks.with_columns(pl.lit("b").alias("run"))])
    spec = charts.stall_ticks(two, **TEXTS).to_dict()
    keys = spec["layer"][0]["encoding"]["y"]["scale"]["domain"]
    assert keys == ["a\nlong prompt", "a\nstream 1", "b\n", "b\nlong prompt", "b\nstream 1"]
    assert spec["layer"][0]["encoding"]["y2"] == {"bandPosition": 1, "field": "_key_end"}
    rows = [row for data in spec["datasets"].values() for row in data if row["kind"] == "stall"]
    assert [(row["_key"], row["_key_end"]) for row in rows] == [
        ("a\nlong prompt", "a\nstream 1"),
        ("b\nlong prompt", "b\nstream 1"),
    ]


def test_tens_of_thousands_of_points_are_thinned_and_said_to_be() -> None:
    n = 40_000
    turns = pl.DataFrame({"run": ["a"] * n, "prompt_tokens": [float(i) for i in range(n)], "block_tokens": [9.0] * n})
    texts = {"title": "t", "subtitle": "s", "description": "d"}
    blocks = charts.block_by_prompt(turns, **texts).to_dict()
    assert blocks["title"]["subtitle"] == "s; one point in 27 is drawn, the CSV has all"
    rates = pl.DataFrame({"group": ["a"] * n, "minutes": [float(i) for i in range(n)], "rate": [1.0] * n})
    assert "one point in 27" in charts.rate_over_time(rates, **texts).to_dict()["title"]["subtitle"]
