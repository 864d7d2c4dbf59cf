"""What a study asks and of which arms, in a line each: derived from the boots, and harmless whatever was written."""

import json
from html import escape
from pathlib import Path

import pytest

from analysis import paths
from analysis.findings import arm_words, arms
from analysis.report.asked import asked, lines
from analysis.report.overview import ReportIndex, render_index
from analysis.report.takeaways import WIDTH, text
from analysis.study import Study
from tests.findings.simulated_arms import Boot, write

HOSTILE = f"<script>alert(1)</script>\n\x1b[31m\u202ekey hf_abcdefghijklmnop {'word ' * 100_000}"


@pytest.fixture(autouse=True)
def stores_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "STORES", tmp_path / "stores")


def said(folder: Path | str) -> list[str]:
    connection = Study(folder).connection
    told = {"question": arm_words.question(connection), "arms": arm_words.lines(connection, arms.of(connection))}
    return lines(asked(told))


@pytest.mark.parametrize(
    ("study", "wanted"),
    [
        ("vllm-cpu-mixed", [
            "Question: does one big prefill starve decoders?", "Arms, and what differs from mnbt512 (1 boot):",
            "   mnbt8192 (1 boot): max_num_batched_tokens 512 → 8192",
        ]),
        ("vllm-cpu", [
            "Question: is it prefill or decode?", "Arms, and what differs from A (3 boots):",
            "   X (2 boots): gpu_memory_utilization 0.25 → 0.25 or 0.3",
            "   B (3 boots): max_num_batched_tokens 2048 → 8192", "   C (3 boots): max_model_len 8192 → 2048",
            "   D (3 boots): max_model_len 8192 → 32768",
            "   F (2 boots): VLLM_CPU_KVCACHE_SPACE not set → 2; gpu_memory_utilization 0.25 → not set",
            "   R (2 boots): gpu_memory_utilization 0.25 → not set; kv_cache_memory_bytes not set → 64000000; "
            "max_model_len 8192 → 32768",
        ]),
        # Published as 256k and 1M: which number that is, is assumed.
        ("cluster-a", [
            "Question: is it the prefill?", "Arms, and what differs from 768k (2 boots):",
            "   1M (1 boot): max_model_len 768000 → 1000000 (assumed)",
            "   256k (1 boot): max_model_len 768000 → 256000 (assumed)",
            "   16384 (1 boot): max_num_batched_tokens 8192 → 16384",
            "   production (1 boot): the setting that the service ran with; which boot the metric pages came from is "
            "assumed to be this one",
        ]),
        # Nothing is known of the boot that crashed; of llama.cpp study.toml declares the arguments.
        ("llamacpp", [
            "Question: the same questions of another engine", "Arms, and what differs from ub512 (3 boots):",
            "   ctx8k (1 boot): c 32768 → 8192", "   len ?, batch ? (1 boot): nothing that is known",
        ]),
    ],
)  # fmt: skip
def test_the_question_and_the_arms_of_recorded_studies(study: str, wanted: list[str]) -> None:
    assert said(study) == wanted


def test_of_many_arms_and_knobs_the_nearest_are_told(tmp_path: Path) -> None:
    far = {f"knob_{n}": n for n in range(6)}
    boots = [Boot("b0", "base", 1.0, 1), Boot("b1", "far", 1.0, 1, args=far), Boot("b2", "same", 1.0, 1)]
    near = [Boot(f"c{n}", f"near {n}", 1.0, 1, args={"seed": n}) for n in range(8)]
    declared = '[comparison]\nbase = "base"\n[arms.same]\nnote = "as the base, on another day"\n'
    lead = "Arms, and what differs from base (1 boot):"
    assert said(write(tmp_path / "few", [*boots, *near[:1]], declared)) == [
        lead, "   near 0 (1 boot): seed not set → 0",
        "   far (1 boot): knob_0 not set → 0; knob_1 not set → 1; knob_2 not set → 2; knob_3 not set → 3; and 2 more",
        "   same (1 boot): as the base, on another day",
    ]  # fmt: skip
    told = [f"   near {n} (1 boot): seed not set → {n}" for n in range(8)]
    assert said(write(tmp_path / "many", [*boots, *near], declared)) == [lead, *told, "   and 2 more arms"]


def test_one_arm_has_nothing_to_differ_from(tmp_path: Path) -> None:
    boots = [Boot("b0", "a", 1.0, 1), Boot("b1", "a", 1.0, 1)]
    assert said(write(tmp_path / "s", boots, "question = 5\n")) == ["One arm: a (2 boots)"]
    assert lines(asked({"takeaways": []})) == []


def test_what_is_hostile_is_one_short_line_and_inert(tmp_path: Path) -> None:
    boots = [
        Boot("b0", "a", 1.0, 1), Boot("b1", "n" * 300, 1.0, 1, args={"x": "<b>" + "v " * 500, "api_key": "k1"}),
    ]  # fmt: skip
    connection = Study(write(tmp_path / "s", boots, f"question = {json.dumps(HOSTILE)}\n")).connection
    results = {
        "question": arm_words.question(connection), "arms": arm_words.lines(connection, arms.of(connection)),
        "takeaways": [],
    }  # fmt: skip
    question = results["question"]
    assert question.startswith("<script>alert(1)</script> [31m key [token] word word")
    assert (question[-6:], len(question) <= arm_words.QUESTION) == ("word …", True)
    assert results["arms"]["others"] == [{"arm": "n" * 60, "boots": 1, "differs": f"x not set → <b>{'v ' * 18}…"}]
    printed = text(results, {}, str)
    assert max(map(len, printed.splitlines())) <= WIDTH and printed.count("\n") == 5
    html = render_index(ReportIndex("s", asked=asked(results)), [])
    assert f'<p class="lead">Question: {escape(question)}</p>' in html
    assert f"<li>{'n' * 60} (1 boot): x not set → &lt;b&gt;{'v ' * 18}…</li></ul>" in html
    assert "<script>alert" not in html and "<b>v" not in html
