"""Step time and wall states of a recorded boot, against plain Python on its raw lines."""

import gzip
import json
import re
from pathlib import Path
from statistics import median

import pytest

from analysis import paths
from analysis.findings import small_steps, step_time, time_split, wall_states
from analysis.study import Study

SAMPLE = Path(__file__).parents[1] / "samples" / "steps"
STEP = re.compile(
    r"(\d+) context requests, (\d+) context tokens, (\d+) generation requests, (\d+) generation tokens, "
    r"iteration elapsed time: ([\d.]+) ms"
)
Step = tuple[int, int, int, int, float]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    before, paths.STORES = paths.STORES, tmp_path_factory.mktemp("stores")
    try:
        return Study(SAMPLE)
    finally:
        paths.STORES = before


@pytest.fixture(scope="module")
def raw() -> list[Step]:
    text = gzip.decompress((SAMPLE / "boots" / "T512.log.gz").read_bytes()).decode()
    return [(int(a), int(b), int(c), int(d), float(ms)) for a, b, c, d, ms in STEP.findall(text)]


def test_the_share_is_what_the_raw_lines_give(study: Study, raw: list[Step]) -> None:
    alone: dict[int, list[float]] = {}
    for context, _, generation, _, ms in raw:
        if not context:
            alone.setdefault(generation, []).append(ms)
    decode = {n: median(each) for n, each in alone.items()}
    total = sum(ms for *_, ms in raw)
    prefill = sum(max(ms - decode[g], 0) if g else ms for c, _, g, _, ms in raw if c)
    share, span = step_time.prefill_shares(study.connection, [])
    assert len(raw) == 982
    assert (share.id, share.qualifiers) == ("time.prefill_share.step_time", {"boot": "T512"})
    assert share.value == pytest.approx(prefill / total, rel=1e-9)
    assert round(share.value or 0, 3) == 0.410
    assert span.low == pytest.approx(sum(ms for c, _, g, _, ms in raw if c and not g) / total, rel=1e-9)
    assert span.high == pytest.approx(sum(ms for c, *_, ms in raw if c) / total, rel=1e-9)
    assert (round(span.low or 0, 3), round(span.high or 0, 3)) == (0.114, 0.502)
    assert share.low is not None and share.high is not None
    assert span.kind == "bound"
    assert [e.window for e in share.evidence] == ["first step", "last step"]


def test_small_steps_are_counted_in_the_log(study: Study, raw: list[Step]) -> None:
    [share] = small_steps.shares(study.connection, [])
    assert share.value == sum(b + d <= 8 for _, b, _, d, _ in raw) / len(raw)
    assert round(share.value, 3) == 0.797
    assert share.qualifiers == {"boot": "T512", "tokens": "8", "source": "step log"}
    assert share.kind == "census"


def test_kinds_of_steps_add_up(study: Study, raw: list[Step]) -> None:
    table = study.connection.sql("select * from step_phases").pl()
    assert table.height == len(raw)
    phases = step_time.phase_table(study.connection)
    counts = dict(zip(phases["kind of step"], phases["steps"], strict=True))
    assert counts == {"decode_only": 783, "mixed": 149, "prefill_only": 50}
    assert phases["share (%)"].sum() == pytest.approx(100)


def test_wall_states_are_what_a_fine_count_of_the_trace_gives(study: Study) -> None:
    lines = gzip.decompress((SAMPLE / "requests" / "T512" / "trace.jsonl.gz").read_bytes()).decode().splitlines()
    requests = [(r["sent_at"], r["first_token_at"], r["finished_at"]) for r in map(json.loads, lines)]
    begin, end = min(r[0] for r in requests), max(r[2] for r in requests)
    n = 20_000
    counted = {"idle": 0, "prefill_only": 0, "decode_only": 0, "both": 0}
    for i in range(n):
        t = begin + (end - begin) * (i + 0.5) / n
        prefill = any(s <= t < f for s, f, _ in requests)
        decode = any(f <= t < e for _, f, e in requests)
        counted[
            "both" if prefill and decode else "prefill_only" if prefill else "decode_only" if decode else "idle"
        ] += 1
    found = wall_states.shares(study.connection, [])
    states = {e.qualifiers["state"]: e.value for e in found if e.id == "time.wall_state"}
    assert states == pytest.approx({state: k / n for state, k in counted.items()}, abs=0.003)
    [prefill_share] = [e for e in found if e.id == "time.prefill_share.wall_clock"]
    assert prefill_share.value == pytest.approx((states["both"] or 0) + (states["prefill_only"] or 0))
    assert prefill_share.qualifiers == {"boot": "T512"}
    assert wall_states.CAUTION in prefill_share.warnings
    assert set(wall_states.table(found)["state"]) == {"idle", "prefill only", "decode only", "both"}


def test_what_is_not_recorded_is_named_with_what_it_takes(study: Study) -> None:
    run = time_split.Run("B7", "B7", {}, {})
    missing = [e for e in step_time.prefill_shares(study.connection, [run]) if e.qualifiers == {"boot": "B7"}]
    assert [e.value for e in missing] == [None]
    assert "--enable-logging-iteration-details" in (missing[0].reason or "")
    [clock] = [e for e in wall_states.shares(study.connection, [run]) if e.qualifiers == {"boot": "B7"}]
    assert clock.reason == f"not computable: {wall_states.NEEDED}"
    [metric] = [e for e in small_steps.shares(study.connection, [run]) if e.qualifiers["boot"] == "B7"]
    assert metric.reason == "not computable: the pages do not export a histogram of tokens by step"


def test_requests_without_an_end_or_without_a_token_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "STORES", tmp_path / "stores")
    rows = [
        {"sent_at": 1000.0, "first_token_at": 1002.0, "finished_at": 1006.0, "status": "ok"},
        {"sent_at": 1006.0, "finished_at": 1010.0, "status": "error"},
        {"sent_at": 1009.0, "status": "incomplete"},
    ]
    file = tmp_path / "s" / "requests" / "gateway" / "trace.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text("".join(json.dumps({"request_id": str(i), **row}) + "\n" for i, row in enumerate(rows)))
    found = wall_states.shares(Study(tmp_path / "s").connection, [])
    states = {e.qualifiers.get("state"): e for e in found}
    assert {state: e.value for state, e in states.items()} == pytest.approx(
        {"idle": 0.0, "prefill_only": 0.6, "decode_only": 0.4, "both": 0.0, None: 0.6}
    )
    assert states[None].warnings[1:] == (
        "1 requests without times, or with times out of order, left out",
        "1 requests got no token: waiting for it until they ended",
    )
    assert states[None].qualifiers == {"target": "requests/gateway"}


def test_traces_show_what_the_step_log_says(study: Study) -> None:
    [truth, _] = step_time.prefill_shares(study.connection, [])
    [found] = wall_states.step_shares(study.connection, [])
    assert found.value == pytest.approx(truth.value, abs=0.02)
    assert found.low is not None and found.high is not None and truth.value is not None
    assert found.low < truth.value < found.high
    assert (round(found.low, 2), round(found.high, 2), found.confidence) == (0.12, 0.52, None)


def test_traces_of_a_part_of_the_requests_do_not_speak_for_the_engine(study: Study) -> None:
    run = time_split.Run("T512", "T512", {("prefill_time", "count", None): 400.0}, {})
    [found] = wall_states.step_shares(study.connection, [run])
    reason = "a part of the requests only: the engine finished 400 requests, the traces hold 41"
    assert (found.value, found.low, found.reason) == (None, None, reason)
    states = wall_states.shares(study.connection, [run])
    assert all(reason in e.warnings for e in states)
    assert wall_states.describe(states)["subtitle"].endswith(
        "in 1 of 1 runs the traces hold a part of the requests only"
    )
