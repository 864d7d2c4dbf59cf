"""results.json: strict, sorted, the same for the same input."""

import json
from math import inf
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.estimates.estimate import Estimate, Evidence, not_computable
from analysis.report.errors import ReportError
from analysis.report.grouping import Caution
from analysis.report.overview import index_of, render_index
from analysis.report.results import Json, estimate_from_json, merge, write


def row(id: str, value: float, **qualifiers: str) -> Json:
    made = Estimate(value, "1", "census", "counted").named(id, "f", **qualifiers)
    return made.with_evidence(Evidence("a.log", 3, quote="key hf_abcdefghijklmnop")).to_json()


def put(folder: Path, page: str, **parts: list[Json]) -> None:
    folder.mkdir(exist_ok=True)
    (folder / f"{page}.json").write_text(json.dumps(parts))


def test_estimates_are_merged_sorted_and_redacted(tmp_path: Path) -> None:
    put(tmp_path, "20-b", estimates=[row("b", 1.0), row("a", 2.0, boot="2")], takeaways=[{"sentence": "second"}])
    put(tmp_path, "10-a", estimates=[row("a", 3.0, boot="1"), row("b", 1.0)], takeaways=[{"sentence": "first"}])
    results = merge(tmp_path, ["10-a", "20-b", "30-nothing"], "s", {"files": 2})
    assert [(e["id"], e["value"]) for e in results.json["estimates"]] == [("a", 3.0), ("a", 2.0), ("b", 1.0)]
    assert [(t["sentence"], t["page"]) for t in results.json["takeaways"]] == [("first", "10-a"), ("second", "20-b")]
    assert results.json["estimates"][0]["evidence"][0]["quote"] == "key [token]"
    assert results.redacted == {"token": 3}
    assert results.page_of['["b", {}]'] == "10-a"
    assert list(results.json) == ["study", "question", "arms", "generated_from", "estimates", "claims", "takeaways"]


def test_names_are_redacted_and_stay_apart(tmp_path: Path) -> None:
    """Two folders that are named after machines are two; the name of a file is a name too."""
    addresses = ("10.0.0.1", "10.0.0.2")
    made = [
        Estimate(1.0, "1", "census", "counted", evidence=(Evidence(f"metrics/{ip}/20261129T131030Z.prom", 3),))
        .named("a", "f", run=f"metrics/{ip}").to_json()
        for ip in addresses
    ]  # fmt: skip
    put(tmp_path, "10-a", estimates=[*made, row("b", 1.0)])
    results = merge(tmp_path, ["10-a"], "s", {})
    shown = [(e["qualifiers"].get("run"), e["evidence"][0]["file"]) for e in results.json["estimates"]]
    assert shown == [
        ("metrics/[ip cb5f]", "metrics/[ip cb5f]/20261129T131030Z.prom"),
        ("metrics/[ip f504]", "metrics/[ip f504]/20261129T131030Z.prom"),
        (None, "a.log"),
    ]


def test_two_notebooks_may_not_disagree(tmp_path: Path) -> None:
    put(tmp_path, "10-a", estimates=[row("a", 1.0)])
    put(tmp_path, "20-b", estimates=[row("a", 2.0)])
    with pytest.raises(ReportError, match="the notebooks 10-a and 20-b disagree on"):
        merge(tmp_path, ["10-a", "20-b"], "s", {})


@pytest.mark.parametrize("bad", ["NaN", "Infinity"])
def test_what_json_cannot_say_is_refused(tmp_path: Path, bad: str) -> None:
    (tmp_path / "10-a.json").write_text(f'{{"estimates": [{{"id": "a", "qualifiers": {{}}, "value": {bad}}}]}}')
    with pytest.raises(ReportError, match="not finite"):
        write(merge(tmp_path, ["10-a"], "s", {}), tmp_path / "results.json")
    assert not (tmp_path / "results.json").exists()


ENDS = st.one_of(st.none(), st.floats(allow_nan=False))


@given(value=st.floats(allow_nan=False, allow_infinity=False), low=ENDS, high=ENDS, warnings=st.lists(st.text()))
def test_an_estimate_survives_json(value: float, low: float | None, high: float | None, warnings: list[str]) -> None:
    low, high = (None if low == inf else low), (None if high == -inf else high)
    made = Estimate(value, "s", "estimate", "m", low, high, 0.9, 3, "boots", "a", "r", tuple(warnings),
                    (Evidence("f", 1, "s", "w", "q"),), "id", "f", {"boot": "1"}, "one_block")  # fmt: skip
    assert estimate_from_json(json.loads(json.dumps(made.to_json(), allow_nan=False))) == made


def test_a_takeaway_must_rest_on_recorded_numbers(tmp_path: Path) -> None:
    put(tmp_path, "10-a", takeaways=[{"sentence": "s", "estimates": [{"id": "x", "qualifiers": {}}]}])
    with pytest.raises(ReportError, match=r"a takeaway of 10-a rests on .*, which no notebook recorded"):
        index_of(merge(tmp_path, ["10-a"], "s", {}), [])


def test_the_first_page_has_answers_first_and_each_warning_and_gap_once(tmp_path: Path) -> None:
    warned = [Estimate(1.0, "1", "census", "m", warnings=("torn",)).named("pool.tokens", "f", boot=b) for b in "12"]
    gaps = [not_computable("1", "no log").named(id, "f", arm=arm) for id in ("pool.spread", "kv.request_fixed")
            for arm in "FR"]  # fmt: skip
    rests_on = [{"id": e.id, "qualifiers": dict(e.qualifiers)} for e in warned]
    put(
        tmp_path, "10-a", estimates=[e.to_json() for e in (*warned, *gaps)],
        takeaways=[{"sentence": "files", "supporting": True}, {"sentence": "answer", "estimates": rests_on}],
    )  # fmt: skip
    index = index_of(merge(tmp_path, ["10-a"], "s", {"data_sha256": "ab" * 32}), [])
    assert [t.sentence for t in index.takeaways] == ["answer", "files"]
    assert index.takeaways[0].cautions == (Caution("for both numbers here: torn"),)
    (gap,) = index.missing
    assert (gap.reason, gap.group.where) == ("no log", "arms F, R")
    assert gap.group.what == "cache memory of a request, whatever its length, spread over the boots"
    html = render_index(index, [])
    assert html.count("torn") == 1 and "arms F, R" in html
    assert f'<code title="{"ab" * 32}">abababababab…</code>' in html


def test_results_of_no_page_are_not_lost_in_silence(tmp_path: Path) -> None:
    put(tmp_path, "inventory", estimates=[row("a", 1.0)])
    with pytest.raises(
        ReportError, match=r"results/inventory.json is of no page: name it after its notebook, 10-inventory"
    ):
        merge(tmp_path, ["10-inventory"], "s", {})


def test_the_first_page_begins_with_what_can_be_acted_on_and_says_how_sure_and_from_where(tmp_path: Path) -> None:
    line = Evidence("boots/a.log", line=1033, quote="GPU KV cache size: 9 tokens")
    sure = Estimate(2.0, "x", "estimate", "m", 1.0, 3.0, 0.95, evidence=(line, line))
    limit = Estimate(None, "x", "estimate", "m", 1.0, inf, 0.95, reason="open above")
    rows = [e.named("time.lever_ceiling", "25-levers", lever=n).to_json() for n, e in (("a", limit), ("b", sure))]
    rests_on = [{"id": r["id"], "qualifiers": r["qualifiers"]} for r in rows]
    said = "Half of b gives 2x. That of a is not known. The rest is detail, as e.g. this. And this."
    put(
        tmp_path,
        "25-levers",
        estimates=rows,
        takeaways=[
            {"sentence": "Torn.", "contradiction": True},
            {"sentence": said, "estimates": rests_on, "next_step": "Halve b."},
        ],
    )
    index = index_of(merge(tmp_path, ["25-levers"], "s", {}), [])
    assert index.first is not None
    rest = "The rest is detail, as e.g. this. And this."
    assert index.first.parts == ("Half of b gives 2x.", "That of a is not known.", rest)
    assert [(n.kind, n.source, n.more_sources) for n in index.first.numbers] == [
        ("estimate, 95 % interval", "boots/a.log, line 1,033", 1), ("95 % limit", "", 0),
    ]  # fmt: skip
    assert [t.sentence for t in index.takeaways] == ["Torn."]
    html = render_index(index, [])
    assert '<h2 id="first">What to change first</h2>' in html
    place = f"numbers.html#{index.first.numbers[0].anchor}-from"
    assert f'from <a href="{place}">boots/a.log, line 1,033</a> and 1 more' in html
