"""Times that cannot be, whatever tool wrote them."""

from typing import Any

import polars as pl
import pytest

from analysis.sources.reading import Reading
from analysis.sources.request_times import drop_impossible

SOUND = {"sent_at_s": 10.0, "first_token_at_s": 10.5, "last_token_at_s": 11.0, "finished_at_s": 11.0, "ttft_s": 0.5,
         "e2e_s": 1.0, "itl_s": [0.25, 0.25], "token_at_s": [10.5, 10.75, 11.0]}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "gone"),
    [
        ({}, set()),
        ({"ttft_s": 0.0, "first_token_at_s": 10.0, "itl_s": [0.0, 0.5]}, set()),
        ({"ttft_s": -0.1, "first_token_at_s": 9.9}, {"ttft_s", "first_token_at_s"}),
        ({"ttft_s": None, "first_token_at_s": 9.9}, {"ttft_s", "first_token_at_s"}),
        ({"e2e_s": -1.0, "finished_at_s": None}, {"e2e_s", "finished_at_s"}),
        ({"finished_at_s": 9.0, "e2e_s": None}, {"e2e_s", "finished_at_s"}),
        ({"last_token_at_s": 10.4}, {"last_token_at_s"}),
        ({"itl_s": [0.25, -0.25]}, {"itl_s", "token_at_s", "last_token_at_s"}),
        ({"itl_s": None, "token_at_s": [10.5, 11.0, 10.75]}, {"itl_s", "token_at_s", "last_token_at_s"}),
    ],
)
@pytest.mark.parametrize("as_columns", [False, True])
def test_what_a_request_loses(changes: dict[str, Any], gone: set[str], as_columns: bool) -> None:
    reading, row = Reading("requests", "tool"), SOUND | changes
    reading.add("requests", run="r#1", line=7, ordinal=3, **row)
    if as_columns:
        kinds = {key: pl.List(pl.Float64) for key in ("itl_s", "token_at_s")}
        reading.tables["requests"] = pl.DataFrame(reading.tables["requests"], schema_overrides=kinds)
    drop_impossible(reading)
    left = pl.DataFrame(reading.tables["requests"]).to_dicts()[0]
    assert {key: left[key] for key in row} == row | dict.fromkeys(gone)
    wanted = [(7, "tool request 3: a negative time")] if gone else []
    assert [(u.line, u.what) for u in reading.unparsed] == wanted


def test_a_run_that_ends_before_it_begins_has_no_duration() -> None:
    reading = Reading("requests", "tool")
    reading.add("request_runs", run="r#1", ordinal=1, duration_s=-1.0)
    drop_impossible(reading)
    assert reading.tables["request_runs"][0]["duration_s"] is None
    assert [(u.what, u.text) for u in reading.unparsed] == [("tool run 1: a negative time", "duration_s -1.0")]
