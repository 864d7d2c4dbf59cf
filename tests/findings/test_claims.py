"""Verdicts on published figures: one relation, one interval at a time, and the ledger of a whole study."""

from math import inf
from pathlib import Path

import pytest

from analysis import paths
from analysis.estimates.estimate import Estimate, no_interval, not_computable
from analysis.findings import claims
from analysis.findings.registry import FINDERS
from analysis.findings.verdicts import Said, judge
from analysis.report.labels import LABELS
from analysis.study import Study
from tests.conftest import run_analysis
from tests.simulate import Truth


def sure(value: float | None, low: float, high: float, kind: str = "estimate") -> Estimate:
    return Estimate(value, "1", kind, "m", low, high, 0.95, 10, "runs", reason=None if value is not None else "range")


COUNTED = Estimate(0.134, "1", "census", "counted", reason="census")
NO_BOOTS = Estimate(0, "1", "census", "m", n=0, n_of="boots", reason="census")
ONE_RUN = no_interval(0.134, "1", "m", "one run")


@pytest.mark.parametrize(
    ("said", "estimate", "verdict", "why"),
    [
        (Said("equals", 0.134, 0.0005), COUNTED, "reproduced", "counted for what was recorded"),
        (Said("equals", 0.134, 0.0005), sure(0.13449, 0.1, 0.2), "reproduced", "for the service it is 13 % [10, 20]"),
        (Said("equals", 0.134, 0.0005), ONE_RUN, "reproduced", "of the service nothing can be said: one run"),
        (Said("equals", 0.134, 0.0005), sure(0.1351, 0.1, 0.2), "not_supported", "and so does much else"),
        (Said("equals", 0.134, 0.0005), sure(0.3, 0.2, 0.4), "differs", "2.24 times the published figure"),
        (Said("equals", 0.134, 0), Estimate(0.2, "1", "census", "m", reason="c"), "differs", "1.49 times"),
        (Said("equals", 0.134, 0.0005), no_interval(0.2, "1", "m", "one run"), "not_supported", "without an interval"),
        (Said("equals", 0.134, 0.0005), not_computable("1", "pages"), "not_computable", "what is missing: pages"),
        (Said("equals", 0.134, 0.0005), not_computable("1", "withheld: x"), "not_supported", "no value: withheld: x"),
        (Said("equals", 0.134, 0.0005), no_interval(None, "1", "m", "2 boots"), "not_supported", "no value: 2 boots"),
        (Said("equals", 0.134, 0.0005), sure(None, 0.1, 0.2, "bound"), "not_supported", "lies in this interval"),
        (Said("equals", 0.134, 0.0005), sure(None, 0.2, 0.3, "bound"), "differs", "the published figure is not in it"),
        (Said("equals", 0.134, 0.0005, 0), sure(0.134, -1, 1), "not_supported", "its interval holds 0 %"),
        (Said("equals", 0.134, 0.0005, 0), sure(0.134, 0.1, 1), "reproduced", "for the service"),
        (Said("equals", 0.134, 0.0005, 0), ONE_RUN, "not_supported", "has no interval that leaves 0 % out"),
        (Said("equals", 0.2, 0.0005, 0), sure(0.134, -1, 1), "not_supported", "and so does 0 %"),
        (Said("at_most", 0.2), sure(0.134, 0.1, 0.19), "reproduced", "on this side"),
        (Said("at_most", 0.2), sure(0.134, 0.1, 0.21), "not_supported", "on both sides"),
        (Said("at_most", 0.2), sure(0.3, 0.21, 0.4), "differs", "outside of it: the limit is 20.0 %"),
        (Said("at_most", 0.2), ONE_RUN, "not_supported", "without an interval: one run"),
        (Said("at_most", 0.2), COUNTED, "reproduced", ""),
        (Said("at_least", 0.1), sure(0.134, 0.11, inf), "reproduced", ""),
        (Said("at_least", 0.1), sure(0.134, 0.05, inf), "not_supported", ""),
        (Said("at_least", 0.2), COUNTED, "differs", ""),
        (Said("is_bound", 0.2), sure(0.134, 0.1, 0.19, "bound"), "reproduced", ""),
        (Said("is_bound", 0.2), no_interval(0.1, "1", "m", "not a bound: x"), "not_supported", "is not a bound"),
        (Said("is_bound", 0.2), not_computable("1", "pages"), "not_computable", "pages"),
        (Said("equals", 1, 0), NO_BOOTS, "not_computable", "there are no boots"),
    ],
)  # fmt: skip
def test_verdicts(said: Said, estimate: Estimate, verdict: str, why: str) -> None:
    found = judge(said, estimate)
    assert found.verdict == verdict
    assert why in found.why


@pytest.mark.parametrize(
    ("relation", "found", "verdict"),
    [
        ("equivalent", "equivalent", "reproduced"), ("equivalent", "different", "differs"),
        ("equivalent", "cannot_tell", "not_supported"), ("equivalent", "no_replicates", "not_supported"),
        ("different", "different", "reproduced"), ("different", "equivalent", "differs"),
        ("different", None, "not_computable"),
    ],
)  # fmt: skip
def test_arms(relation: str, found: str | None, verdict: str) -> None:
    estimate = Estimate(1.01, "x", "estimate", "m", 0.9, 1.1, verdict=found)
    assert judge(Said(relation, None), estimate).verdict == verdict


CLAIM = """
[[claim]]
id = "{id}"
text = "A claim."
published = {published}
rounding = 0.005
unit = "{unit}"
estimate = "{estimate}"
where = {{ {where} }}
relation = "equals"
stands = "{stands}"
"""


OVER = 'over = "pool.tokens"\nover_where = {{ boot = "{}" }}\n'


def claim(
    id: str = "A", published: float = 0.1, unit: str = "1", estimate: str = "time.prefill_share.request_seconds",
    where: str = 'boot = "b1"', stands: str = "reproduced",
) -> str:  # fmt: skip
    return CLAIM.format(id=id, published=published, unit=unit, estimate=estimate, where=where, stands=stands)


def study(folder: Path, *texts: str) -> Path:
    Truth(boots=2, prefill_s=1, decode_s=9).write(folder)
    (folder / "published.toml").write_text("\n".join(texts))
    return folder


def test_a_claim_needs_one_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "STORES", tmp_path / "stores")
    folder = study(
        tmp_path / "s", claim("A"), claim("B", estimate="no.such"), claim("C", where='boot = "b9"'),
        claim("D", estimate="pool.tokens", where="", unit="tokens"), claim("E", unit="s"), claim("F", published=0.4),
        claim("G", estimate="pool.tokens", unit="x", published=1) + OVER.format("b1"),
        claim("H", unit="x") + OVER.format("b9"),
    )  # fmt: skip
    found = {j.claim["claim"]: j for j in claims.ledger(Study(folder).connection)}
    assert {id: j.verdict.verdict for id, j in found.items()} == {
        "A": "reproduced", "B": "not_computable", "C": "not_computable", "D": "not_computable", "E": "not_computable",
        "F": "differs", "G": "reproduced", "H": "not_computable",
    }  # fmt: skip
    assert found["B"].why == "what is missing: nothing computes no.such"
    assert found["C"].why.endswith("the study has no figure time.prefill_share.request_seconds for boot b9")
    assert found["D"].why.endswith("2 figures are called pool.tokens for the whole study; say which by boot")
    assert found["E"].why == "the figure is in 1 and the claim in s: no comparison"
    assert found["G"].estimate.value == 1
    assert found["A"].to_json()["evidence"]
    row = found["F"].to_json()
    assert (row["id"], row["published"], row["verdict"], row["stands"]) == ("F", 0.4, "differs", "reproduced")
    assert row["recomputed"] == pytest.approx(0.1, rel=1e-3)
    assert row["low"] < row["recomputed"] < row["high"]


def test_the_command_guards_a_post(tmp_path: Path) -> None:
    """0 while every verdict is the stated one, 1 when one has changed, 2 when nothing can be checked."""
    folder = study(tmp_path / "s", claim("A"), claim("B", published=0.4, stands="differs"))
    run = run_analysis("claims", str(folder))
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.startswith("Of 2 published figures, 1 is reproduced and 1 differs. The data contradict B.")
    (folder / "published.toml").write_text(claim("A\\u001b[31m", published=0.4))
    run = run_analysis("claims", str(folder))
    assert run.returncode == 1
    assert ": differs, where published.toml stands by reproduced" in run.stderr
    assert "\x1b" not in run.stdout + run.stderr
    (folder / "published.toml").write_text("[[claim]]\nid = 3")
    broken = run_analysis("claims", str(folder))
    assert broken.returncode == 2
    assert broken.stderr.startswith("published.toml, line 1: claim 1: ")
    (folder / "published.toml").write_text(claim("A") + claim("B").replace('relation = "', 'relation = "not '))
    partly = run_analysis("claims", str(folder))
    assert (partly.returncode, partly.stdout[:42]) == (2, "Of 1 published figure, 1 is reproduced.\nA ")
    assert "claim 2: relation is one of equals" in partly.stderr
    (folder / "published.toml").unlink()
    assert run_analysis("claims", str(folder)).returncode == 2
    assert run_analysis("claims", str(tmp_path / "nowhere")).returncode == 2


def test_checks_are_counted_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An id of C and a digit is a check of the author: not among the published figures, and not to be quoted."""
    monkeypatch.setattr(paths, "STORES", tmp_path / "stores")
    texts = [claim("P1"), claim("C1", published=0.4), claim("C2a"), claim("P2", published=0.4), claim("Cache")]
    judged = claims.ledger(Study(study(tmp_path / "s", *texts)).connection)
    assert claims.sentence(judged, []) == (
        "Of 3 published figures, 2 are reproduced and 1 differs. The data contradict P2. "
        "Of 2 checks of ours, 1 found a problem: C1; 1 is reproduced."
    )
    assert claims.advice(judged, [])["next_step"] == "Quote P2 only with what the ledger says of them."
    assert claims.describe(judged)["title"] == "2 of 3 published figures are reproduced"
    assert claims.describe(judged)["subtitle"].endswith("2 checks of ours are not among them")
    assert claims.counted(judged).rows() == [("reproduced", "claims", 2), ("differs", "claims", 1)]
    counted = {(e.qualifiers["of"], e.qualifiers["verdict"]): e.value for e in claims.counts(judged) if e.value}
    assert counted == {("published figures", "reproduced"): 2, ("published figures", "differs"): 1,
                       ("checks", "reproduced"): 1, ("checks", "differs"): 1}  # fmt: skip
    only = [j for j in judged if j.claim["claim"] == "C1"]
    assert claims.sentence(only, []) == "Of 1 check of ours, 1 found a problem: C1."
    assert claims.advice(only, [])["next_step"] == ""
    assert claims.describe(only)["title"] == "No published claim is checked"


def test_what_can_be_claimed_has_a_label_and_one_function() -> None:
    ids = [id for names, _ in FINDERS for id in names]
    assert len(ids) == len(set(ids)) > 25
    assert set(ids) <= set(LABELS)
