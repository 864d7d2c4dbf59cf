"""A real study runs end to end: what the report says equals what the recorded files say, computed another way."""

import gzip
import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import papermill
import pytest
from prometheus_client.parser import text_string_to_metric_families

from analysis import paths


def _sums(page: Path) -> dict[str, float]:
    sums: dict[str, float] = defaultdict(float)
    for family in text_string_to_metric_families(gzip.decompress(page.read_bytes()).decode()):
        for sample in family.samples:
            sums[sample.name] += sample.value
    return sums


def _estimates(results: dict[str, Any], id: str) -> dict[str, dict[str, Any]]:
    return {e["qualifiers"]["boot"]: e for e in results["estimates"] if e["id"] == id}


@pytest.mark.parametrize(
    ("id", "series"),
    [
        ("time.prefill_seconds", "vllm:request_prefill_time_seconds_sum"),
        ("time.decode_seconds", "vllm:request_decode_time_seconds_sum"),
    ],
)
def test_phase_sums_are_the_counters_differences(
    small_study: Path, results: dict[str, Any], id: str, series: str
) -> None:
    found = _estimates(results, id)
    for boot in ("A2", "A3", "B1"):
        pages = sorted((small_study / "metrics" / boot).glob("*.prom.gz"))
        want = _sums(pages[-1])[series] - _sums(pages[0])[series]
        assert want > 0
        assert found[boot]["value"] == pytest.approx(want, rel=1e-9)


def test_the_share_lies_in_its_interval_and_says_what_it_rests_on(results: dict[str, Any]) -> None:
    shares = _estimates(results, "time.prefill_share.request_seconds")
    assert {"A2", "B1"} <= set(shares)
    for boot in ("A2", "B1"):
        share = shares[boot]
        assert 0 < share["low"] < share["value"] < share["high"] < 1
        assert share["confidence"] == 0.95
        assert (share["n"], share["n_of"]) == (5, "blocks") or share["n"] > 50
        assert share["assumption"]
        assert share["evidence"]
        assert all((paths.DATA / "vllm-cpu" / e["file"]).exists() for e in share["evidence"])


def test_pools_are_those_that_the_logs_print(small_study: Path, results: dict[str, Any]) -> None:
    pools = _estimates(results, "pool.tokens")
    printed = {
        log.stem: int(found[1].replace(",", ""))
        for log in (small_study / "boots").glob("*.log")
        if (found := re.search(r"KV cache size: ([\d,]+) tokens", log.read_text()))
    }
    assert {boot: pool["value"] for boot, pool in pools.items() if pool["value"] is not None} == printed
    assert pools["R1"]["reason"] == "not computable: the log of this boot (refused) does not print it"
    assert printed["A2"] == 518083
    assert "R1" not in printed
    assert {pool["kind"] for boot, pool in pools.items() if boot in printed} == {"census"}
    assert [boot for boot, pool in pools.items() if pool["low"] is not None] == []


def test_outcomes_are_counted(results: dict[str, Any]) -> None:
    outcomes = {
        e["qualifiers"]["outcome"]: e["value"] for e in results["estimates"] if e["id"] == "boots.outcome_count"
    }
    assert outcomes == {"served": 4, "refused": 1, "crashed": 0, "unknown": 0}


def test_levers_follow_from_the_counters_and_never_drop_the_prefill_side(
    small_study: Path, results: dict[str, Any]
) -> None:
    levers = {(e["qualifiers"]["boot"], e["qualifiers"]["lever"], e["qualifiers"].get("to")): e
              for e in results["estimates"] if e["id"] == "time.lever_ceiling"}  # fmt: skip
    pages = sorted((small_study / "metrics" / "A2").glob("*.prom.gz"))
    first, last = _sums(pages[0]), _sums(pages[-1])
    prefill, decode = (
        last[name] - first[name]
        for name in ("vllm:request_prefill_time_seconds_sum", "vllm:request_decode_time_seconds_sum")
    )
    half, free = levers["A2", "output_tokens", "half"], levers["A2", "prefill", None]
    assert half["value"] == pytest.approx((prefill + decode) / (prefill + decode / 2), rel=1e-9)
    # More requests were served than clients timed on the wall clock, so nobody knows what prefill held up.
    share = _estimates(results, "time.prefill_share.request_seconds")["A2"]
    assert (free["value"], free["high"], free["low"]) == (None, None, pytest.approx(1 / (1 - share["low"])))
    assert free["reason"].startswith("not a bound: requests overlap")
    [said] = [t for t in results["takeaways"] if t["finding"] == "25-levers"]
    assert said["sentence"].startswith(
        "Which change would give most is not known yet: requests overlap, or may, and their"
    )
    assert said["next_step"] == "Log engine steps or record request traces before either side is dropped."
    [where] = [t for t in results["takeaways"] if t["finding"] == "20-where-time-goes"]
    assert "keep both levers until then" in where["next_step"] and where["unless"]


def test_results_have_the_fixed_form(results: dict[str, Any]) -> None:
    assert set(results) == {"study", "question", "arms", "generated_from", "estimates", "claims", "takeaways"}
    assert results["study"] == "small"
    keys = {
        "id", "finding", "qualifiers", "value", "low", "high", "confidence", "unit", "n", "n_of",
        "method", "kind", "reason", "warnings", "evidence",
    }  # fmt: skip
    for estimate in results["estimates"]:
        assert keys <= set(estimate)
        assert estimate["value"] is not None or estimate["reason"]
        assert (
            estimate["kind"] != "estimate"
            or estimate["low"] is not None
            or estimate["high"] is not None
            or estimate["reason"]
        )
    assert results["takeaways"]


def test_every_page_and_figure_is_there(small_report: Path) -> None:
    notebooks = {f"{p.stem}.html" for p in paths.NOTEBOOKS.glob("[0-9]*.ipynb")}
    assert {p.name for p in small_report.glob("*.html")} == {"index.html", "numbers.html", *notebooks}
    svg = {p.stem for p in small_report.glob("figures/*.svg")}
    assert len(svg) >= 3
    assert svg == {p.stem for p in small_report.glob("figures/*.png")}
    assert svg <= {p.stem for p in small_report.glob("tables/*.csv")}


def test_every_figure_in_a_table_leads_to_its_block(small_report: Path, results: dict[str, Any]) -> None:
    """Most columns that show a figure are links, and each link has its target among all numbers."""
    found = re.findall(r' id="(n-[^"]+)"', (small_report / "numbers.html").read_text())
    ids = [id for id in found if not id.endswith("-from")]  # the lines it came from have a target of their own
    assert len(set(ids)) == len(ids) == len(results["estimates"])
    links = {
        page.name: re.findall(r'<a [^>]*href="numbers\.html#([^"]+)"', page.read_text())
        for page in small_report.glob("[0-9]*.html")
    }
    assert sorted({link for its in links.values() for link in its} - set(ids)) == []
    shown = {name for name, its in links.items() if its}
    assert {"20", "25", "30", "40", "50", "60"} <= {name[:2] for name in shown}
    in_tables = {link for its in links.values() for link in its}
    # What stands under a sentence only, or is an end of an interval in a table: no cell of its own.
    assert len(in_tables) > 0.8 * len(ids)


def test_a_notebook_runs_by_itself(small_study: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.ipynb"
    notebook = papermill.execute_notebook(
        paths.NOTEBOOKS / "20-where-time-goes.ipynb", out, {"data": str(small_study)},
        kernel_name="python3", progress_bar=False,
    )  # fmt: skip
    assert not [o for c in notebook.cells for o in c.get("outputs", []) if o.output_type == "error"]
    assert "figure" in json.dumps(notebook)
