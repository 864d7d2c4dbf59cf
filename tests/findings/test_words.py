"""Sentences stay short, however many boots a study has."""

import json
from pathlib import Path

import pytest

from analysis import paths
from analysis.findings.words import listed
from analysis.report.study_report import make
from benchmarks import busy


def test_names_are_listed_up_to_a_number() -> None:
    assert listed([]) == ""
    assert listed(["a"]) == "a"
    assert listed(["a", "b"]) == "a and b"
    assert listed(list("abcdef")) == "a, b, c, d, e and f"
    assert listed(list("abcdefgh")) == "a, b, c, d, e and 3 more"
    assert listed(list("abcdefgh"), most=20) == "a, b, c, d, e, f, g and h"


def test_no_answer_of_eight_replicas_grows_with_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "STORES", tmp_path / "stores")
    busy.study(tmp_path / "many", 8, 7 * busy.ROUND, 40)
    index = make(tmp_path / "many", tmp_path / "report")
    found = json.loads((index.parent / "results.json").read_text())["takeaways"]
    texts = {t["page"]: [t["sentence"], t["next_step"], t["unless"]] for t in found}
    assert {page: len(text) for page, of in texts.items() for text in of if len(text) > 1000} == {}
    assert texts["70-whose-turn"][0].startswith("In 8 runs, replica-0 (about 518 tokens")
    assert "longest gap 133.8 ms [133.8, 138.6] to 133.8 ms [133.8, 138.6] in 8" in texts["60-mixed-traffic"][0]
    assert "5 more runs have both; in none are they further apart." in texts["20-where-time-goes"][0]
