"""Figures: described or refused, and able to share a page."""

import re
from pathlib import Path

import altair as alt
import polars as pl
import pytest

from analysis import charts
from analysis.report.figure import figure, to_svg

ROWS = pl.DataFrame({"group": ["a"], "minutes": [1.0], "value": [5.0], "band_low": [4.0], "band_high": [6.0]})


def chart(title: str = "T") -> alt.LayerChart:
    return charts.share_over_time(ROWS, title=title, subtitle="%; 1", description="5 per cent")


def test_a_chart_without_a_description_stops_the_build(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="the figure x has no description"):
        figure(alt.Chart(ROWS).mark_point(), "x", ROWS, tmp_path, "c")
    assert list(tmp_path.iterdir()) == []


def test_ids_of_two_figures_differ_and_their_uses_follow() -> None:
    page = figure(chart(), "one", ROWS, None, "c").html + figure(chart(), "two", ROWS, None, "c").html
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(set(ids)) == len(ids) >= 2
    assert set(re.findall(r"url\(#([^)]+)\)", page)) <= set(ids)


def test_a_long_title_is_wrapped_in_the_files_and_left_whole_in_the_page(tmp_path: Path) -> None:
    title = "A finding that takes quite a few words to say, more than one line of a figure can hold at all"
    html = figure(chart(title), "long", ROWS, tmp_path, "c").html
    assert f'<p class="title">{title}</p>' in html
    svg = (tmp_path / "figures/long.svg").read_text()
    assert ">A finding that takes quite a few words to say, more than one line of a<" in svg
    assert 'fill="white"' in svg


def test_nothing_is_written_without_a_folder() -> None:
    assert "href" not in re.sub(r"url\(#[^)]*\)", "", figure(chart(), "x", ROWS, None, "c").html)


def test_a_layer_that_draws_nothing_leaves_no_picture_without_a_name() -> None:
    nothing = alt.Chart(ROWS).mark_point().encode(x="minutes:Q").transform_filter("datum.value > 99")
    svg = to_svg((alt.Chart(ROWS).mark_line().encode(x="minutes:Q") + nothing).to_dict(), "x")
    assert 'role="graphics-object"' in svg
    assert "mark-symbol" not in svg
