"""What a chart's specification gains so that it answers to the pointer."""

import json

import altair as alt
import polars as pl
import pytest

from analysis import charts
from analysis.report.interactive import as_json, interactive


def _units(spec: dict) -> list[dict]:
    inside = [*spec.get("layer", ()), *([spec["spec"]] if "spec" in spec else [])]
    return [spec] * ("mark" in spec) + [unit for part in inside for unit in _units(part)]


@pytest.fixture
def spec() -> dict:
    rows = pl.DataFrame(
        {
            "label": ["b1", "b2"], "group": ["prefill", "decode"], "value": [8.0, 80.0], "low": [7.0, None],
            "high": [9.0, None], "reason": [None, "one boot"], "none": [None, None],
        }
    )  # fmt: skip
    return charts.share_by_boot(rows, title="t", subtitle="s", description="d").to_dict()


def test_every_mark_names_the_known_columns_with_formats(spec: dict) -> None:
    live = interactive(spec)
    assert len(_units(live)) == 3
    for unit in _units(live):
        tooltip = {part["field"]: part for part in unit["encoding"]["tooltip"]}
        assert list(tooltip) == ["label", "group", "value", "low", "high", "reason"]
        assert tooltip["value"] == {"field": "value", "title": "value", "type": "quantitative", "format": ",.4~g"}
        assert tooltip["label"]["type"] == "nominal"
        assert unit["mark"]["tooltip"] is True


def test_one_legend_filters_all_marks_and_one_view_zooms(spec: dict) -> None:
    live = interactive(spec)
    params = [param for unit in _units(live) for param in unit.get("params", [])]
    assert [(p["name"], p["bind"]) for p in params] == [("picked", "legend"), ("zoom", "scales")]
    assert params[0]["select"]["fields"] == ["group"]
    assert params[1]["select"]["encodings"] == ["x"]
    faint = {"condition": {"param": "picked", "value": 1}, "value": 0.12}
    assert [unit["encoding"]["opacity"] for unit in _units(live)] == [faint] * 3


def test_what_is_given_stays_as_it_was_and_no_digest_is_left(spec: dict) -> None:
    before = json.dumps(spec)
    live = interactive(spec)
    assert json.dumps(spec) == before
    assert list(live["datasets"]) == ["rows0"]
    assert {"title", "description", "$schema"} & set(live) == set()
    assert [unit["data"] for unit in [live, *_units(live)] if "data" in unit] == [{"name": "rows0"}]


def test_a_chart_of_one_group_and_no_scale_gains_tooltips_only() -> None:
    rows = pl.DataFrame({"a": ["x"], "odd.name[0]": [1]})
    made = alt.Chart(rows).mark_bar().encode(x="a:N", y="count():Q").properties(description="d").to_dict()
    live = interactive(made)
    assert "params" not in live
    assert [part["field"] for part in live["encoding"]["tooltip"]] == ["a", "odd\\.name\\[0\\]"]
    assert live["encoding"]["tooltip"][1]["format"] == ",d"


def test_no_text_ends_the_element_that_holds_the_data() -> None:
    text = as_json({"a": "</script><!--<script>&"})
    assert not set("<>&") & set(text)
    assert json.loads(text) == {"a": "</script><!--<script>&"}


def test_a_mark_names_the_columns_of_its_own_data_and_none_that_the_chart_made() -> None:
    rows = pl.DataFrame(
        {"boot": ["b"], "arm": ["A"], "outcome": ["served"], "tokens": [9000.0], "low": [8000.0], "high": [9900.0]}
    )
    spec = charts.pool_by_arm(rows, title="t", subtitle="s", description="d").to_dict()
    named = [[tip["field"] for tip in unit["encoding"]["tooltip"]] for unit in _units(interactive(spec))]
    assert sorted(named) == [["arm", "low", "high"], ["boot", "arm", "outcome", "tokens", "low", "high"]]


def test_a_tooltip_says_what_a_column_is_and_nothing_of_what_places_the_mark() -> None:
    rows = pl.DataFrame({"n": [1], "low": [0.5], "start_s": [2.0], "prompt_tokens": [7], "_place": [3]})
    made = alt.Chart(rows).mark_bar().encode(x="n:Q", order="_place:Q").properties(description="d").to_dict()
    titles = [part["title"] for part in interactive(made)["encoding"]["tooltip"]]
    assert titles == ["count", "lower limit", "start (s)", "prompt tokens"]


def test_a_mark_of_no_data_has_no_tooltip() -> None:
    made = alt.Chart(pl.DataFrame({"_one": [1.0]})).mark_rule().encode(x="_one:Q").properties(description="d").to_dict()
    live = interactive(made)
    assert "tooltip" not in live["encoding"]
    assert live["mark"] == {"type": "rule"}
