"""Takeaways say what is true: on studies with opposite truths they say opposite things, in an order of their own."""

from pathlib import Path
from typing import Any

import pytest

from analysis import paths
from analysis.estimates.estimate import Estimate, no_interval, not_computable
from analysis.findings import accountings, claims, disagreements, pool_tables, step_time, time_split, token_pool
from analysis.findings import wall_states as walls
from analysis.report import takeaways
from analysis.report.results import key
from analysis.study import Study
from tests.conftest import run_analysis
from tests.simulate import Truth


@pytest.fixture(autouse=True)
def stores_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "STORES", tmp_path / "stores")


def accounted(study: Study) -> accountings.Accountings:
    runs = time_split.runs(study.connection)
    shares = time_split.prefill_shares(study.connection, runs)
    concurrency = [time_split.mean_concurrency(study.connection, run) for run in runs]
    by_step = step_time.prefill_shares(study.connection, runs)
    return accountings.Accountings(shares, by_step, walls.shares(study.connection, runs), concurrency)


@pytest.mark.parametrize(
    ("prefill_s", "decode_s", "takes_most", "first"),
    [(1, 9, "decode", "Log the engine's steps"), (9, 1, "prefill", "Look at prefill first")],
)
def test_the_phase_flips_with_the_data(
    prefill_s: float, decode_s: float, takes_most: str, first: str, tmp_path: Path
) -> None:
    said = accounted(Study(Truth(prefill_s=prefill_s, decode_s=decode_s).write(tmp_path / "s")))
    assert said.sentence().startswith(f"Of all request-seconds together, {takes_most} takes most: prefill")
    assert said.next_step().startswith(first)
    [share] = said.headline()
    assert share.value == pytest.approx(prefill_s / (prefill_s + decode_s), rel=1e-3)
    assert said.unless().startswith("the traffic mix changes")


def test_a_share_about_half_takes_no_side(tmp_path: Path) -> None:
    said = accounted(Study(Truth(prefill_s=5, decode_s=5, cv=1.5).write(tmp_path / "s")))
    assert said.sentence().startswith("Which phase takes most of all request-seconds together is not shown:")
    assert "keep both levers until then" in said.next_step()


def test_too_few_requests_ask_for_more_pages(tmp_path: Path) -> None:
    said = accounted(Study(Truth(requests=4, scrapes=2).write(tmp_path / "s")))
    assert "cannot be said" in said.sentence()
    assert said.next_step().startswith("Fetch metric pages")
    assert said.unless() == ""


def test_the_pool_says_how_far_the_next_boot_may_lie(tmp_path: Path) -> None:
    reach = {}
    for spread in (0.002, 0.1):
        study = Study(Truth(boots=6, pool_spread=spread).write(tmp_path / f"s{spread}"))
        predictions = token_pool.predictions(study.connection)
        assert "is known to ±" in pool_tables.sentence(token_pool.census(study.connection), predictions, [])
        [e] = pool_tables.headline(predictions)
        reach[spread] = e.high / e.low
        assert pool_tables.next_step(predictions) == ""
    assert reach[0.002] < 1.03 < 1.3 < reach[0.1]


@pytest.mark.parametrize("boots", [1, 3])
def test_few_boots_ask_for_more(boots: int, tmp_path: Path) -> None:
    study = Study(Truth(boots=boots).write(tmp_path / "s"))
    step = pool_tables.next_step(token_pool.predictions(study.connection))
    assert step.startswith(
        "boot one setting four times" if boots == 1 else "boot arm len 32768, batch 8192 until it has 4"
    )


def test_only_refusals_hold_no_pool(tmp_path: Path) -> None:
    study = Study(Truth(boots=0, refused=2).write(tmp_path / "s"))
    sentence = pool_tables.sentence(token_pool.census(study.connection), token_pool.predictions(study.connection), [])
    assert sentence == "What the token pool is cannot be said: no boot log prints one."


def test_counts_that_differ_are_a_contradiction_and_equal_ones_are_none(tmp_path: Path) -> None:
    assert disagreements.found(Study(Truth().write(tmp_path / "a")).connection) == []
    [found] = disagreements.found(Study(Truth(unmatched=3).write(tmp_path / "b")).connection)
    assert found.sentence.startswith("In b1 3 more requests have a finish reason than are in the time histograms")
    assert found.estimate.value == 3


def census(id: str) -> Estimate:
    return Estimate(1.0, "1", "census", "counted").named(id, "f")


def row(sentence: str, *estimates: Estimate, **more: Any) -> dict[str, Any]:
    refs = [{"id": e.id, "qualifiers": dict(e.qualifiers)} for e in estimates]
    return {"sentence": sentence, "estimates": refs, "next_step": "", "unless": "", "page": "20-where", **more}


def test_the_order_is_that_of_need() -> None:
    sure = census("sure")
    unsure = no_interval(0.5, "1", "m", "one run").named("unsure", "f")
    rows = [
        row("what there is", sure, supporting=True), row("cannot tell", unsure, next_step="measure"),
        row("sure", sure), row("to do 1", sure, next_step="do"), row("no number"),
        row("they contradict", unsure, contradiction=True), row("to do 2", unsure, sure, next_step="do"),
    ]  # fmt: skip
    by_key = {key(e.to_json()): e.to_json() for e in (sure, unsure)}
    assert [r["sentence"] for r in takeaways.ordered(rows, by_key, key)] == [
        "they contradict", "to do 1", "to do 2", "sure", "cannot tell", "no number", "what there is",
    ]  # fmt: skip


def test_the_terminal_gets_seven_and_no_control_characters() -> None:
    rows = [row(f"sentence {n}\x1b[31m", census("a"), next_step="act", unless="not") for n in range(9)]
    text = takeaways.text({"question": "is it?", "takeaways": rows}, {key(census("a").to_json()): census("a")}, key)
    assert "\x1b" not in text
    assert text.startswith("Question: is it?\n\nWhat to do first: sentence 0")
    assert "\n7. sentence 7" in text and "sentence 8" not in text
    assert text.endswith("and 1 more in the report")
    assert "   a: 100 %\n   What to do: act\n   What would change this: not\n\n1. sentence 1" in text


def test_the_terminal_says_which_numbers_not_to_trust() -> None:
    warned = census("a").with_warnings(
        "traffic drifted over about 9 s; covers too little (about 80 % in tests)", "of no concern here",
        "its interval rests on assumed figures (drift: see study.toml)",
    )  # fmt: skip
    text = takeaways.text({"takeaways": [row("said", warned)]}, {key(warned.to_json()): warned}, key)
    assert text.splitlines() == [
        "1. said", "   a: 100 %", "   Caution: traffic drifted over about 9 s; covers too little",
        "   Caution: its interval rests on assumed figures",
    ]  # fmt: skip


def test_the_terminal_says_a_reason_and_a_caution_once(tmp_path: Path) -> None:
    both = [not_computable("1", "no log").named(name, "f").with_warnings("it covers too little (x)") for name in "ab"]
    text = takeaways.text({"takeaways": [row("said", *both)]}, {key(e.to_json()): e for e in both}, key)
    assert text.splitlines() == [
        "1. said", "   a: not computable: no log", "   b: the same", "   Caution: it covers too little",
    ]  # fmt: skip


def test_a_whole_report_of_prefill_says_nothing_of_decode(tmp_path: Path) -> None:
    study = Truth(prefill_s=9, decode_s=1, refused=1).write(tmp_path / "study")
    run = run_analysis("report", str(study), "--out", str(tmp_path / "report"))
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    assert lines[0] == "One arm: len 32768, batch 8192 (4 boots)"
    assert lines[1] == "" and lines[2].startswith("What to change first: ")
    assert any(line.startswith("1. Of all request-seconds together, prefill takes most") for line in lines)
    assert lines[-1] == str(tmp_path / "report" / "index.html")
    html = (tmp_path / "report" / "index.html").read_text()
    assert html.index("prefill takes most") < html.index('id="pages"')
    assert "decode takes most" not in html
    assert 'class="banner"' not in html


def test_a_study_without_claims_says_so_and_a_broken_file_stands_first() -> None:
    assert claims.sentence([], []) == "No published claim is checked: the study has no published.toml."
    assert claims.advice([], ["published.toml: x"])["contradiction"] is True
