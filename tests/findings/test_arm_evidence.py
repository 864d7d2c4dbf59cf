"""Ratios of arms name the lines of files that they were made of."""

import json
from pathlib import Path

import polars as pl
from simulated_arms import Boot, write
from test_arms import of_study, ratio, runs

from analysis.findings import arm_verdicts, arms, evidence
from analysis.findings.arm_measures import MEASURES
from analysis.study import Study


def test_every_ratio_of_a_recorded_study_names_lines_of_both_arms() -> None:
    study = Study("vllm-cpu-mixed")
    found = arm_verdicts.verdicts(arms.of(study.connection))
    assert {e.qualifiers["measure"] for e in found} == set(MEASURES)
    for e in found:
        assert all((study.data / line.file).is_file() and line.line for line in e.evidence)
        if e.qualifiers["measure"] != "process_start_up":  # one file declares both
            assert {boot for boot in ("S512", "S8192") for line in e.evidence if boot in line.file} == {"S512", "S8192"}
    assert not any(
        line.quote and "GiB" not in line.quote and "tokens" not in line.quote for e in found for line in e.evidence
    )


def test_the_line_of_a_quantile_is_the_request_that_has_it() -> None:
    """By hand from the lines: first_token_at less sent_at of the named request is the median that the table shows."""
    study = Study("vllm-cpu-mixed")
    of = arms.of(study.connection)
    (e,) = [e for e in arms.ratios(of) if e.qualifiers.get("class") == "chat" and e.qualifiers["measure"] == "ttft_p50"]
    seconds = []
    for line in e.evidence:
        row = json.loads((study.data / line.file).read_text().splitlines()[line.line - 1])
        seconds.append(row["first_token_at"] - row["sent_at"])
        assert row["class"] == "chat"
    assert [(line.file, line.line, line.window) for line in e.evidence] == [
        ("requests/S512/trace.jsonl", 27, "a request with this value: 0.470152 s"),
        ("requests/S8192/trace.jsonl", 26, "a request with this value: 0.564807 s"),
    ]
    assert [f"{s:.6f}" for s in seconds] == ["0.470152", "0.564807"]


def test_what_each_measure_names(tmp_path: Path) -> None:
    """Two boots, 2 warm-up requests and then 30: the first that counts is line 3, the last ends on line 32."""
    boots = [Boot("A1", "A", 1.0), Boot("B1", "B", 1.0)]
    folder = write(tmp_path / "study", boots)
    (folder / "host").mkdir()
    for boot in boots:
        rows = [{"t": boot.start + i, "load1": 1.0, "engine_rss": rss} for i, rss in enumerate((5, 9, 7))]
        (folder / "host" / f"{boot.name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = arm_verdicts.verdicts(of_study(folder))
    named = {
        m: [(line.file, line.line, line.window) for line in ratio(found, "B", m).evidence if "A1" in line.file]
        for m in ("completed_per_hour", "pool", "available", "start_up", "peak_memory")
    }
    assert named == {
        "completed_per_hour": [("requests/A1/trace.jsonl", 3, "first request sent, of 30 completed"),
                               ("requests/A1/trace.jsonl", 32, "last end, of 30 completed")],
        "pool": [("boots/A1.log", 6, None)],
        "available": [("boots/A1.log", 5, None)],
        "start_up": [("boots/A1.log", 1, "first line"), ("boots/A1.log", 9, "ready")],
        "peak_memory": [("host/A1.jsonl", 2, "highest of 3 samples")],
    }  # fmt: skip
    (line,) = [line for line in ratio(found, "B", "pool").evidence if "A1" in line.file]
    assert line.quote.endswith("GPU KV cache size: 412,800 tokens")


def test_pages_are_named_with_their_series() -> None:
    (e,) = [
        e
        for e in arms.ratios(arms.of(Study("vllm-cpu-mixed").connection))
        if e.qualifiers["measure"] == "output_tokens_per_s"
    ]
    (series,) = {line.series for line in e.evidence}
    assert series == 'vllm:generation_tokens_total{engine="0",model_name="gemma3-270m"}'
    assert [(line.file.split("/")[1], line.line, line.window) for line in e.evidence] == [
        ("S512", 153, "first page, where it is 0"), ("S512", 153, "last page, where it is 4564"),
        ("S8192", 153, "first page, where it is 0"), ("S8192", 153, "last page, where it is 3183"),
    ]  # fmt: skip


def test_lines_are_bounded_and_each_arm_has_as_many(tmp_path: Path) -> None:
    of = of_study(write(tmp_path / "study", [Boot("A1", "A", 1.0), Boot("B1", "B", 1.0)]))
    (pool,) = of.evidence.filter(pl.col("boot") == "A1", measure="pool").to_dicts()
    many = pl.DataFrame([pool | {"line": i} for i in range(100)], schema=of.evidence.schema)
    rest = of.evidence.filter(~((pl.col("boot") == "A1") & (pl.col("measure") == "pool")))
    more = arms.Arms(of.boots, of.measures, of.conditions, of.answers, of.phases, pl.concat([many, rest]), of.knobs)
    lines = ratio(arms.ratios(more), "B", "pool").evidence
    assert len(lines) == evidence.MOST // 2 + 2
    assert (lines[32].line, lines[32].window, lines[32].quote) == (None, "and 68 lines more", None)
    assert lines[-1].file == "boots/B1.log"


def test_files_of_two_studies_are_told_apart(tmp_path: Path) -> None:
    before, after = (of_study(write(tmp_path / name, runs("A", 1.0, 1, n=2))) for name in ("before", "after"))
    both = arms.together(before, after, ("before", "after"))
    e = ratio(arms.ratios(both, [("before: A", "after: A")]), "after: A", "pool", a="before: A")
    assert [line.file for line in e.evidence] == [
        "before/boots/A1.log", "before/boots/A2.log", "after/boots/A1.log", "after/boots/A2.log",
    ]  # fmt: skip
