"""Page 60 on the recorded studies, each figure computed again straight from the files; and on small made-up ones."""

import gzip
import json
import statistics
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from analysis import paths
from analysis.estimates.estimate import Estimate
from analysis.findings import (
    class_groups,
    mixed_effect,
    mixed_headroom,
    mixed_host,
    mixed_quantiles,
    mixed_server,
    mixed_tables,
    mixed_traffic,
    phase_spans,
)
from analysis.findings.objective import LIMITS, REQUEST_LIMITS, TARGETS, Objective, objective
from analysis.sources.study_keys import KEYS
from analysis.study import Study

TRACE = paths.DATA / "vllm-cpu-mixed" / "requests" / "S512" / "trace.jsonl"


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Study:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paths, "STORES", tmp_path_factory.mktemp("stores"))
        return Study("vllm-cpu-mixed")


def lines(name: str, phase: str, status: str = "ok") -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in TRACE.read_text().splitlines()]
    return [r for r in rows if (r["class"], r["phase"], r["status"]) == (name, phase, status)]


def quantile(values: list[float], q: float) -> float:
    """The ordinary median; else the smallest value with at least a share q at or below it, by sorting."""
    if q == 0.5:
        return statistics.median(values)
    return sorted(values)[int(np.ceil(q * len(values) - 1e-9)) - 1]


def pick(estimates: list[Estimate], id: str, **names: str) -> Estimate:
    found = [e for e in estimates if e.id == id and names.items() <= e.qualifiers.items()]
    assert len(found) == 1, (id, names, len(found))
    return found[0]


@pytest.mark.parametrize("name", ["chat", "batch"])
@pytest.mark.parametrize("phase", ["chat-alone", "batch-alone", "mixed"])
def test_times_are_those_of_the_trace(mixed: Study, name: str, phase: str) -> None:
    groups = class_groups.groups(mixed.connection)
    [group] = [g for g in groups if (g.place, g.name, g.phase) == ("S512", name, phase)]
    rows, times = lines(name, phase), mixed_traffic.times(group)
    assert group.done.height == len(rows)
    if not rows:
        assert times == []
        return
    gaps = [np.diff(r["token_at"]) for r in rows]
    want = {
        ("mixed.ttft", ""): [r["first_token_at"] - r["sent_at"] for r in rows],
        ("mixed.completion", ""): [r["finished_at"] - r["sent_at"] for r in rows],
        ("mixed.inter_token", "typical"): [float(np.median(g)) for g in gaps if len(g)],
        ("mixed.inter_token", "longest"): [float(g.max()) for g in gaps if len(g)],
    }
    for (id, gap), values in want.items():
        more = {"gap": gap} if gap else {}
        for q, label in ((0.5, "p50"), (0.95, "p95")):
            got = pick(times, id, quantile=label, **more)
            assert got.value == pytest.approx(quantile(values, q), abs=1e-6), (id, gap, q)
            assert got.low is None
            assert got.reason in ("fewer than 10 blocks", "tail of few blocks")


def test_a_median_is_the_ordinary_one_and_a_tail_of_few_says_which_request_it_is() -> None:
    values = np.array([1.0, 2.0, 4.0, 9.0])
    assert mixed_quantiles.point(values, 0.5) == 3.0
    assert mixed_quantiles.point(values, 0.95) == 9.0
    said = {(12, 0.95): "slowest of 12", (20, 0.95): "2nd slowest of 20", (71, 0.95): "4th slowest of 71",
            (72, 0.95): "n = 72", (12, 0.05): "slowest of 12",
            (21, 0.05): "2nd slowest of 21", (12, 0.5): "n = 12"}  # fmt: skip
    assert {key: mixed_quantiles.of_requests(*key) for key in said} == said


def test_first_tokens_by_length_hold_the_prompts_of_that_length(mixed: Study) -> None:
    [group] = [g for g in class_groups.groups(mixed.connection)
               if (g.place, g.name, g.phase) == ("S512", "batch", "mixed")]  # fmt: skip
    found = mixed_traffic.ttft_by_length(group)
    for low, high in ((2049, 4096), (4097, 8192)):
        rows = [r for r in lines("batch", "mixed") if low <= r["prompt_tokens"] <= high]
        got = pick(found, "mixed.ttft", prompt_tokens=f"{low} to {high}", quantile="p95")
        assert got.value == pytest.approx(quantile([r["first_token_at"] - r["sent_at"] for r in rows], 0.95), abs=1e-6)
    assert len(found) == 4
    assert [mixed_traffic.length_of(n) for n in (1, 128, 129, 256, 257, 4096, 4097)] == [
        *(128, 128, 256, 256, 512), 4096, 8192,
    ]  # fmt: skip


def test_valid_records_and_outcomes_are_counted_by_hand(mixed: Study) -> None:
    [group] = [g for g in class_groups.groups(mixed.connection)
               if (g.place, g.name, g.phase) == ("S512", "batch", "mixed")]  # fmt: skip
    rows = lines("batch", "mixed")
    hours = (max(r["finished_at"] for r in rows) - min(r["sent_at"] for r in rows)) / 3600
    [rate] = mixed_traffic.records(group, objective(mixed.connection), judged=True)
    assert rate.value == pytest.approx(sum(r["valid"] for r in rows) / hours)
    assert rate.reason == "fewer than 5 blocks of 5 completions"
    assert "3 of 15 completed outputs are not valid records" in rate.warnings
    counts = {e.qualifiers["outcome"]: e.value for e in mixed_traffic.outcomes(group)}
    assert counts == {"completed": 15, "error": 1, "aborted": 1, "incomplete": 0, "completed without output": 0}


def test_the_difference_is_that_of_all_requests_and_has_no_interval(mixed: Study) -> None:
    effects = mixed_effect.effects(class_groups.groups(mixed.connection))
    ends = {p: quantile([float(np.diff(r["token_at"]).max()) for r in lines("chat", p)], 0.95)
            for p in ("chat-alone", "mixed")}  # fmt: skip
    got = pick(effects, "mixed.effect", boot="S512", **{"class": "chat"}, measure="longest gap", quantile="p95")
    assert got.value == pytest.approx(ends["mixed"] - ends["chat-alone"], abs=1e-6)
    assert got.reason == mixed_effect.FEW_VISITS
    assert all(e.low is None for e in effects)
    said = mixed_tables.sentence(class_groups.groups(mixed.connection), effects, objective(mixed.connection))
    assert "batch 9.2 s (slowest of 12) alone, 13 s (slowest of 15) beside the other class (S512)" in said
    assert said.endswith("No objective was declared, so no loss is called too large.")


def test_the_engines_own_queue_is_the_increase_of_its_counters(mixed: Study) -> None:
    """Mean queue wait of S512 in the phase with both: sum over count between the pages around the phase."""
    pages = sorted((paths.DATA / "vllm-cpu-mixed" / "metrics" / "S512").glob("*"))
    assert pages
    spans = phase_spans.spans(mixed.connection)
    got = pick(mixed_server.phases(mixed.connection, spans), "mixed.queue", boot="S512", phase="mixed", quantile="mean")
    sums = {
        part: _increase(pages, f"vllm:request_queue_time_seconds_{part}", *_span(spans)) for part in ("sum", "count")
    }
    assert got.n == sums["count"] == 31
    assert got.value == pytest.approx(sums["sum"] / sums["count"])


def _span(spans: list[phase_spans.Span]) -> tuple[float, float]:
    [span] = [s for s in spans if (s.boot, s.phase) == ("S512", "mixed")]
    return span.start_s, span.end_s


def _increase(pages: list[Path], name: str, start: float, end: float) -> float:
    """The counter on the last page that can hold the phase, less that on the last page before it."""
    at = {}
    for page in pages:
        moment = datetime.strptime(page.name[:16], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).timestamp()
        raw = page.read_bytes()
        text = (gzip.decompress(raw) if page.suffix == ".gz" else raw).decode()
        at[moment] = sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith(name))
    before = max(t for t in at if t <= start)
    after = min([t for t in at if t >= end], default=max(at))
    return at[after] - at[before]


def test_peaks_and_headroom_are_those_of_the_samples(mixed: Study) -> None:
    table, spans = mixed_host.samples(mixed.connection), phase_spans.spans(mixed.connection)
    peaks = mixed_host.peaks(table, spans)
    start, end = _span(spans)
    rows = [json.loads(x) for x in (paths.DATA / "vllm-cpu-mixed" / "host" / "S512.jsonl").read_text().splitlines()]
    inside = [r for r in rows if start <= r["t"] <= end]
    used = pick(peaks, "mixed.host_peak", boot="S512", phase="mixed", measure="memory_used")
    assert used.value == max(r["mem_total"] - r["mem_available"] for r in inside)
    assert used.n == len(inside)
    left = mixed_headroom.headroom(table, peaks, [], objective(mixed.connection))
    room = pick(left, "mixed.headroom", boot="S512", phase="mixed", resource="memory_used")
    assert (room.value, room.qualifiers["limit"]) == (1 - used.value / rows[0]["mem_total"], "machine")
    assert {e.reason for e in mixed_host.energy(mixed.connection, table, spans, objective(mixed.connection))} == {
        "not computable: power was not sampled (host counter with unit W, as power_w)"
    }


# ---- small studies


def _line(id: int, at: float, name: str, phase: str, first: float, end: float, **more: Any) -> str:
    tokens = [at + first + (end - first) * k / 4 for k in range(5)]
    row = {
        "request_id": f"r{id}", "class": name, "phase": phase, "sent_at": at, "first_token_at": tokens[0],
        "token_at": tokens, "tokens_cum": [1, 2, 3, 4, 5], "finished_at": at + end, "prompt_tokens": 100,
        "output_tokens": 5, "status": "ok", **more,
    }  # fmt: skip
    return json.dumps(row)


Make = Callable[..., Study]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    monkeypatch.setattr(paths, "STORES", tmp_path / "stores")

    def study(trace: list[str], toml: str = "", host: list[dict[str, Any]] | None = None) -> Study:
        folder = tmp_path / "s"
        (folder / "requests").mkdir(parents=True)
        (folder / "boots").mkdir()
        (folder / "boots" / "b.log").write_text("INFO 01-01 00:00:01 [api_server.py:1] vLLM API server version 0.9.2\n"
                                                "INFO:     Application startup complete.\n")  # fmt: skip
        (folder / "requests" / "t.jsonl").write_text("\n".join(trace) + "\n")
        (folder / "study.toml").write_text(toml)
        if host:
            (folder / "b.jsonl").write_text("\n".join(map(json.dumps, host)) + "\n")
        return Study(folder)

    return study


def _alternating(visits: int) -> list[str]:
    """Chat alone and chat beside documents in turns of 70 s; every first token takes 0.2 s more beside them."""
    rng, out, n = np.random.default_rng(1), [], 0
    for k in range(2 * visits):
        phase, start = ("both" if k % 2 else "alone"), 1_700_000_000 + 100.0 * k
        for at in np.arange(0, 70, 5.0):
            n += 1
            first = 0.5 + 0.2 * (k % 2) + 0.02 * rng.normal()
            out.append(_line(n, start + at, "chat", phase, first, first + 2))
            if k % 2:
                out.append(_line(10_000 + n, start + at, "batch", phase, 3, 4.9, valid=True))
    return out


def test_phases_that_alternate_have_an_interval_and_documents_never_alone_have_none(make: Make) -> None:
    trace = _alternating(5)
    effects = mixed_effect.effects(class_groups.groups(make(trace).connection))
    got = pick(effects, "mixed.effect", **{"class": "chat"}, measure="first token", quantile="p50")
    chat = [r for r in map(json.loads, trace) if r["class"] == "chat"]
    first = np.array([r["first_token_at"] - r["sent_at"] for r in chat]).reshape(10, 14)
    each = np.median(first, axis=1)
    t = stats.ttest_rel(each[1::2], each[::2]).confidence_interval()
    assert (got.value, got.low, got.high) == pytest.approx((np.mean(each[1::2] - each[::2]), t.low, t.high), abs=1e-6)
    assert (got.n, got.n_of) == (5, "pairs of blocks")
    [none] = [e for e in effects if e.qualifiers["class"] == "batch"]
    assert none.reason == f"not computable: {mixed_effect.NO_ALONE}"


def test_valid_records_over_visits_are_a_ratio_of_sums(make: Make) -> None:
    groups = class_groups.groups(make(_alternating(5)).connection)
    [batch] = [g for g in groups if g.name == "batch"]
    [rate] = mixed_traffic.records(batch, Objective(), judged=True)
    # 14 records in each visit, from the first sent to the last end: 65 + 4.9 s.
    assert rate.value == pytest.approx(14 / 69.9 * 3600)
    assert rate.reason == "the visits are all alike: no spread seen"


OBJECTIVE = """
[objective]
what = "chat answers fast"
surprise = 3
[objective.classes.chat]
ttft_s = 0.6
goodput_share = 0.5
[objective.limits]
memory_used_bytes = 80
power_w = "many"
[energy]
meter_error = 0.05
"""


def test_goodput_targets_energy_and_headroom_against_a_declared_objective(make: Make) -> None:
    trace = [_line(n, 1e9 + 2 * n, "chat", "all", 0.5 if n % 4 else 0.7, 1.5) for n in range(40)]
    trace += [_line(99, 1e9 + 1, "chat", "all", 0.1, 0.2, status="error")]
    host = [{"t": 1e9 + k, "power_w": 50.0, "mem_total": 100, "mem_available": 100 - k} for k in range(80)]
    study = make(trace, OBJECTIVE, host)
    declared, [group] = objective(study.connection), class_groups.groups(study.connection)
    assert declared.refused == ("objective.limits.power_w", "objective.surprise")
    whole, finished = mixed_traffic.goodput(group, declared)
    assert (whole.value, finished.value) == (pytest.approx(30 / 41), 0.75)
    [target] = mixed_headroom.targets([whole, finished], declared)
    assert (target.value, target.verdict) == (pytest.approx(30 / 41 / 0.5), "reached")
    spans, table = phase_spans.spans(study.connection), mixed_host.samples(study.connection)
    [energy] = mixed_host.energy(study.connection, table, spans, declared)
    # 40 requests end 2 s apart and 50 W are drawn: 100 J each, but for the ends of the five blocks.
    assert energy.value == pytest.approx(50 * 79 / 39, rel=0.02)
    assert list(energy.sensitivity) == ["with the meter's ±5%"]
    room = mixed_headroom.headroom(table, mixed_host.peaks(table, spans), [], declared)
    assert {e.qualifiers["limit"]: e.value for e in room if e.qualifiers["resource"] == "memory_used"} == {
        "declared": pytest.approx(1 - 79 / 80), "machine": pytest.approx(0.21),
    }  # fmt: skip


def test_what_the_client_judged_is_counted(make: Make) -> None:
    trace = [_line(1, 1e9, "chat", "all", 0.5, 1, outcome="pass"),
             _line(2, 1e9, "chat", "all", 0.5, 1, outcome="retry"),
             _line(3, 1e9 + 1, "chat", "all", 0.5, 1, attempt=2, outcome="abstain"),
             _line(4, 1e9 + 1, "chat", "all", 0.5, 1, outcome="perfect")]  # fmt: skip
    study = make(trace)
    [group] = class_groups.groups(study.connection)
    counts = {e.qualifiers["outcome"]: e.value for e in mixed_traffic.outcomes(group)}
    assert {k: counts[k] for k in ("pass", "retry", "abstain", "repair", "attempts after the first")} == {
        "pass": 1, "retry": 1, "abstain": 1, "repair": 0, "attempts after the first": 1,
    }  # fmt: skip
    assert study.sql("select what from unparsed")["what"].to_list() == ["request trace: outcome"]


def test_requests_without_times_are_counted_and_have_no_quantile(make: Make) -> None:
    study = make([_line(1, 1e9, "chat", "all", 0.5, 1)])
    (study.data / "individual_responses.json").write_text(json.dumps([
        {"error_code": None, "error_msg": "", "inter_token_latency_s": 0.1, "ttft_s": 0.2, "end_to_end_latency_s": 1.2,
         "request_output_throughput_token_per_s": 9, "number_total_tokens": 20, "number_output_tokens": 11,
         "number_input_tokens": 9}]))  # fmt: skip
    (study.data / "study.toml").write_text('[classes.other]\nfiles = ["individual*"]\n')
    [_, other] = class_groups.groups(Study(study.data).connection)
    assert {e.qualifiers["outcome"]: e.value for e in mixed_traffic.outcomes(other)}["completed"] == 1
    assert {e.reason for e in mixed_traffic.times(other)} == {
        "not computable: the records do not say when a request was sent, so there are no blocks"
    }


def test_classes_can_be_named_by_file(make: Make) -> None:
    trace = [_line(n, 1e9 + n, "", "all", 0.5, 1) for n in range(3)]
    trace = [line.replace('"class": "", ', "") for line in trace]
    study = make(trace, '[classes.chat]\nfiles = ["requests/*.jsonl", 7]\n[classes."a.b"]\nfiles = "requests/*"\n')
    [group] = class_groups.groups(study.connection)
    assert (group.name, group.done.height) == ("chat", 3)


def test_without_classes_the_page_says_what_to_record(make: Make) -> None:
    study = make([_line(1, 1e9, "", "all", 0.5, 1).replace('"class": "", ', "")])
    groups = class_groups.groups(study.connection)
    assert groups == []
    assert mixed_tables.sentence(groups, [], objective(study.connection)).startswith(
        "What traffic classes cost each other cannot be said: no request says which class it is of"
    )


def test_the_reader_of_study_toml_knows_the_objective_that_findings_use() -> None:
    """Rooms do not share these names: a finding imports no reader."""
    classes = {key.rsplit(".", 1)[1] for key in KEYS if key.startswith("objective.classes.*.")}
    limits = {key.rsplit(".", 1)[1] for key in KEYS if key.startswith("objective.limits.")}
    assert classes == {*REQUEST_LIMITS, *TARGETS}
    assert limits == set(LIMITS)
