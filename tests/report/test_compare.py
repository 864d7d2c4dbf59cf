"""make compare: two studies or two arms, a table on the terminal and a page beside the reports."""

import json
import re
from pathlib import Path

import pytest

from analysis.__main__ import main
from analysis.report import compare_page
from analysis.report.errors import ReportError
from analysis.report.offline import loads
from analysis.study import Study


def test_two_arms_on_the_terminal_and_on_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "page"
    assert main(["compare", "vllm-cpu#A", "vllm-cpu#D", "--out", str(out)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["first   A  (3 boots)", "second  D  (3 boots)", "differ in   max_model_len (8192 → 32768)"]
    assert lines[3].startswith("not alike   sampling, input set")
    rows = {re.split(r" {2,}", line)[0]: re.split(r" {2,}", line) for line in lines if "  " in line}
    # A2.log, A1.log, A3.log and D1 to D3 print the pools: 518,083, 518,083, 533,110 and 994,477, 999,378, 994,477.
    assert rows["token pool"] == [
        "token pool", "523k tokens ± 2 % (3)", "996k tokens ± 0 % (3)", "1.90x [1.83, 1.99]", "no comparison [2]",
    ]  # fmt: skip
    assert rows["memory for the KV cache"][3:] == ["~ 1.02x [0.97, 1.07]", "equivalent within 5 %"]
    speed = rows["throughput (output tokens/s)"]
    assert speed[3].startswith("~ ")
    assert speed[4] == "no verdict: one boot"
    assert rows["measure"] == ["measure", "first", "second", "second over first", "verdict"]
    assert lines[-1] == str(out / "50-arms.html")
    assert lines[lines.index("", 5) + 1 : -1] == [
        "Values are geometric means over an arm's boots ± their scatter (how many boots); ~ before a ratio:",
        "no difference is shown.", "",
        "Of 14 comparisons with arm A, none shows a difference, 2 show equivalence within 5 %, 2 cannot tell",
        "and 10 have one boot in an arm and so no verdict. Not counted: 1 ratio, for pools of two settings do",
        "not compare. Of speed nothing is shown, neither a difference nor that there is none.",
        "What to do: Boot each arm at least three times under the same load, the arms taking turns in each", "session.",
        "",
    ]  # fmt: skip
    assert {p.name for p in out.iterdir()} == {
        "50-arms.html",
        "index.html",
        "numbers.html",
        "results.json",
        "assets",
        "figures",
        "tables",
    }
    page = (out / "50-arms.html").read_text()
    assert {"fig-ratios", "fig-start-up", "table-knobs", "table-conditions", "table-verdicts"} <= set(
        re.findall(r'id="([a-z-]+)"', page)
    )
    found = json.loads((out / "results.json").read_text(), parse_constant=pytest.fail)
    assert {e["id"] for e in found["estimates"]} == {"arms.ratio"}
    assert {(e["qualifiers"]["a"], e["qualifiers"]["b"]) for e in found["estimates"]} == {("A", "D")}
    assert found["takeaways"][0]["finding"] == "50-arms"


def test_two_studies_match_their_arms_by_name(tmp_path: Path) -> None:
    page, text = compare_page.make("vllm-cpu-mixed", "vllm-cpu-iterations", tmp_path / "page")
    assert page.is_file()
    assert re.findall(r"^(?:first|second) +(.*)$", text, re.MULTILINE) == [
        "vllm-cpu-mixed: mnbt512  (1 boot)", "vllm-cpu-iterations: mnbt512  (1 boot)",
        "vllm-cpu-mixed: mnbt8192  (1 boot)", "vllm-cpu-iterations: mnbt8192  (1 boot)",
    ]  # fmt: skip
    assert "equivalent" not in text
    assert text.count("enable_mfu_metrics (not set → True)") == 2
    confounded = "enable_mfu_metrics (not set → True): confounded, a difference belongs to none of them alone"
    assert text.count(confounded) == 2


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        ("vllm-cpu", "vllm-cpu", "one study on both sides"),
        ("vllm-cpu#Z", "vllm-cpu-mixed", "vllm-cpu has no arm 'Z'; there are X, A, B, C, D, F, R"),
        ("vllm-cpu", "llamacpp", "which arms go together is not known"),
    ],
)
def test_sides_that_do_not_go_together_are_told(a: str, b: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ReportError, match=re.escape(said)):
        compare_page.make(a, b, tmp_path / "page")
    assert not (tmp_path / "page").exists()


def test_a_name_from_outside_is_escaped_and_redacted(tmp_path: Path) -> None:
    secret = "sk-" + "a1B2c3D4" * 5
    for side, arm in (("one", f"<script>{secret}"), ("two", "plain")):
        boots = tmp_path / side / "boots"
        boots.mkdir(parents=True)
        source = Study("vllm-cpu").data / "boots" / ("A3.log" if side == "one" else "B3.log")
        (boots / f"{side}.log").write_bytes(source.read_bytes())
        (tmp_path / side / "study.toml").write_text(f"[[boots]]\nid = '{side}'\narm = '{arm}'\n")
    page, text = compare_page.make(str(tmp_path / "one"), str(tmp_path / "two"), tmp_path / "page")
    html = (
        page.read_text()
        + (tmp_path / "page" / "index.html").read_text()
        + (tmp_path / "page" / "results.json").read_text()
    )
    assert secret not in html
    assert secret not in text
    assert loads(page.read_text()) == []
