"""What was published about a study: read whole, or with one sentence on what is wrong."""

import json
import random
from pathlib import Path

import pytest

from analysis import paths
from analysis.sources import published_toml, registry
from analysis.sources.files import UnreadableFileError, walk
from analysis.sources.reading import Reading

GOOD = """
[[claim]]
id = "P1"
text = "Prefill takes little."
published = 0.134
printed = "13.4 %"
rounding = 0.0005
unit = "1"
estimate = "time.prefill_share.request_seconds"
where = { boot = "a", tokens = "8" }
relation = "equals"
stands = "reproduced"
"""


def read(folder: Path, text: str) -> Reading:
    (folder / "published.toml").write_text(text)
    [file] = walk(folder)[0]
    assert registry.reader_of(file) is published_toml
    return published_toml.read(file)


def test_a_claim_is_read_with_its_line(tmp_path: Path) -> None:
    reading = read(tmp_path, GOOD)
    [row] = reading.tables["published_claims"]
    assert (row["claim"], row["published"], row["printed"], row["line"]) == ("P1", 0.134, "13.4 %", 2)
    assert json.loads(row["place"]) == {"boot": "a", "tokens": "8"}
    assert (row["over"], json.loads(row["over_place"]), row["excludes"], row["note"]) == (None, {}, None, None)
    assert reading.unparsed == []


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (('id = "P1"', ""), "claim 1: id is missing"),
        (('text = "Prefill takes little."', 'text = 3'), "claim 1: text is not a text"),
        (("rounding = 0.0005", ""), "equals needs rounding"),
        (("rounding = 0.0005", "rounding = -1"), "equals needs rounding"),
        (("rounding = 0.0005", "rounding = 1e9"), "rounding is as large as the number itself"),
        (("published = 0.134", ""), "equals needs published"),
        (("published = 0.134", 'published = "13 %"'), "claim 1: published is not a number"),
        (('printed = "13.4 %"', "printed = 13.4"), "claim 1: printed is not a text"),
        (('stands = "reproduced"', "stands = true"), "claim 1: stands is not a text"),
        (("published = 0.134", "published = nan"), "claim 1: published is not a number"),
        (('relation = "equals"', 'relation = "is"'), "relation is one of equals"),
        (('stands = "reproduced"', 'stands = "true"'), "stands (the verdict that the author stands by) is one of"),
        (('unit = "1"', 'unit = "1"\nvalue = 3'), "'value' is no key of a claim"),
        (('{ boot = "a", tokens = "8" }', '"a"'), "where is not a table of names"),
        (('{ boot = "a", tokens = "8" }', "{ boot = [1] }"), "claim 1: where.boot is not a text"),
        (('tokens = "8" }', "tokens = 8 }"), "claim 1: where.tokens is not a text"),
        (('{ boot = "a", tokens = "8" }', "{ boot = 5 }"), "claim 1: where.boot is not a text"),
        (('{ boot = "a", tokens = "8" }', "{ boot = true }"), "claim 1: where.boot is not a text"),
        (('{ boot = "a", tokens = "8" }', '{ boot = "" }'), "claim 1: where.boot is not a text"),
        (('relation =', 'over = "a"\nover_where = { boot = 5 }\nrelation ='), "claim 1: over_where.boot is not a text"),
    ],
)  # fmt: skip
def test_a_broken_claim_is_kept_apart_with_what_to_write(change: tuple[str, str], why: str, tmp_path: Path) -> None:
    reading = read(tmp_path, GOOD.replace(*change) + GOOD.replace("P1", "P2"))
    assert [row["claim"] for row in reading.tables["published_claims"]] == ["P2"]
    assert why in "; ".join(u.what for u in reading.unparsed)


def test_an_id_is_used_once(tmp_path: Path) -> None:
    reading = read(tmp_path, GOOD * 2)
    assert len(reading.tables["published_claims"]) == 1
    assert [u.what for u in reading.unparsed] == ["claim 2: the id P1 is used twice"]


@pytest.mark.parametrize("text", ["", "claim = 3", "[claim]\nid = 1", "x = 1", "[[claim]\n", "claim = []"])
def test_a_file_without_claims_is_unreadable(text: str, tmp_path: Path) -> None:
    with pytest.raises(UnreadableFileError, match=r"^published.toml: "):
        read(tmp_path, text)


def test_damage_ends_in_rows_or_a_sentence(tmp_path: Path) -> None:
    whole = (paths.DATA / "cluster-a" / "published.toml").read_bytes()
    dice, read_some = random.Random(5), 0
    for _ in range(60):
        start = dice.randrange(len(whole))
        damage = dice.choice([b"", b"\xff\xfe", b"[[[", b'"', b"9" * 400, b"nan", b"{}", b"\x00"])
        (tmp_path / "published.toml").write_bytes(whole[:start] + damage + whole[start + dice.randrange(40) :])
        [file] = walk(tmp_path)[0]
        try:
            read_some += "published_claims" in published_toml.read(file).tables
        except UnreadableFileError as error:
            assert str(error).startswith("published.toml: ")
    assert 0 < read_some < 60
