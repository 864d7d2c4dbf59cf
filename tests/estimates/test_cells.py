"""Frames whose cells know the estimates that they show."""

import polars as pl

from analysis.estimates import cells
from analysis.estimates.cells import Shown
from analysis.estimates.estimate import Estimate, not_computable

SHARE = Estimate(0.41, "1", "estimate", "m", 0.38, 0.44, n=7, n_of="boots").named("finish.share", "f", boot="b1")
NONE = not_computable("1", "a counter").named("finish.share", "f", boot="b2")
SCHEMA = {"boot": pl.String, "share": pl.String, "n": pl.Int64}


def test_a_frame_shows_its_estimates_and_keeps_them() -> None:
    made = cells.frame([("b1", SHARE, 7), {"boot": "b2", "share": NONE}, ("b3", Shown(SHARE, "most"), 1)], SCHEMA)
    plain, of = cells.split(made)
    assert plain.rows() == [
        ("b1", "41.0 % [38.0, 44.0]", 7),
        ("b2", "not computable: a counter", None),
        ("b3", "most", 1),
    ]
    assert plain.schema == SCHEMA
    assert of == [{"share": Shown(SHARE, "41.0 % [38.0, 44.0]")}, {"share": Shown(NONE, "not computable: a counter")},
                  {"share": Shown(SHARE, "most")}]  # fmt: skip


def test_estimates_stay_with_their_rows() -> None:
    made = cells.frame([("a", SHARE, 2), ("b", NONE, 1), ("c", None, 3)], SCHEMA)
    plain, of = cells.split(made.sort("n").filter(pl.col("n") < 3).select(*cells.columns("n", "share")))
    assert plain["n"].to_list() == [1, 2]
    assert [row["share"].estimate for row in of] == [NONE, SHARE]


def test_a_plain_frame_is_left_as_it_is() -> None:
    for plain in (cells.frame([], SCHEMA), cells.frame([("a", "x", 1)], SCHEMA), pl.DataFrame({"a": [1]})):
        assert cells.split(plain)[0].equals(plain)
        assert cells.split(plain)[1] == [{}] * plain.height
        assert plain.select(*cells.columns(*plain.columns)).equals(plain)


def test_the_columns_of_a_chart_are_cells_of_one_estimate() -> None:
    assert cells.ends(SHARE, 100) == {
        "value": Shown(SHARE, 41.0, "value"), "low": Shown(SHARE, 38.0, "end"), "high": Shown(SHARE, 44.0, "end"),
    }  # fmt: skip
    assert [cell.content for cell in cells.ends(NONE).values()] == [None] * 3
    assert [cell.content for cell in cells.basis(SHARE).values()] == [7, "boots", "m"]
    assert (cells.reason(SHARE), cells.reason(NONE)) == (None, Shown(NONE, "not computable: a counter", "reason"))
