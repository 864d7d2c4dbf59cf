"""By prompt length: recorded requests against an independent computation, and what is said of little data."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from analysis import paths
from analysis.findings import length_tables, lengths, time_split
from analysis.findings.lengths import UnknownRunError
from analysis.study import Study

TRACE = paths.DATA / "vllm-cpu-iterations" / "requests" / "T512" / "trace.jsonl"


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    before, paths.STORES = paths.STORES, tmp_path_factory.mktemp("stores")
    try:
        return Study("vllm-cpu-iterations")
    finally:
        paths.STORES = before


def _raw() -> list[dict]:
    rows = [json.loads(line) for line in TRACE.read_text().splitlines()]
    return [r for r in rows if r["status"] == "ok" and r["phase"] != "warmup"]


def test_the_line_is_the_least_squares_line_of_the_raw_trace(study: Study) -> None:
    rows = _raw()
    prompt = np.array([r["prompt_tokens"] for r in rows], float)
    slope, fixed = np.polyfit(prompt, [r["first_token_at"] - r["sent_at"] for r in rows], 1)
    gaps = np.array([r["output_tokens"] - 1 for r in rows], float)
    decode = np.array([r["token_at"][-1] - r["first_token_at"] for r in rows])
    per_token = (gaps * decode).sum() / (gaps**2).sum()
    answer = study.at_length(4000, 51, run="T512")
    assert answer.prefill.value == pytest.approx(fixed + slope * 4000, rel=1e-3)
    assert answer.decode.value == pytest.approx(50 * per_token, rel=1e-3)
    assert answer.share.value == pytest.approx(
        (fixed + slope * 4000) / (fixed + slope * 4000 + 50 * per_token), rel=1e-3
    )
    assert answer.prefill.low is not None and answer.prefill.low < answer.prefill.value < (answer.prefill.high or 0)
    assert answer.prefill.qualifiers == {"boot": "T512", "prompt_tokens": "4000", "output_tokens": "51"}
    assert answer.prefill.picked == lengths.CLIENTS
    assert not any(w.startswith("extrapolated") for w in answer.prefill.warnings)


def test_a_prompt_of_38_000_tokens_is_answered_and_marked(study: Study) -> None:
    answer = study.at_length(38_000, 600, run="T512")
    assert [e.unit for e in answer] == ["s", "s", "1"]
    assert all(e.value is not None and e.low is not None for e in answer)
    assert all(any(w.startswith("extrapolated: recorded prompts have 88 to 5,379") for w in e.warnings) for e in answer)
    with pytest.raises(UnknownRunError, match="no run 'nobody'; there are T512, T8192"):
        study.at_length(1, 1, run="nobody")


def test_the_engines_own_seconds_have_a_line_of_their_own(study: Study) -> None:
    found = lengths.by_run(study.connection, time_split.runs(study.connection))
    rates = {(e.qualifiers["boot"], e.qualifiers["source"]): e for e in lengths.slopes(found)}
    assert set(rates) == {(b, s) for b in ("T512", "T8192") for s in ("clients", "engine")}
    assert all(e.unit == "tokens/s" and e.low is not None for e in rates.values())
    # What requests wait for whatever their length is lies in the mean rate only.
    assert 600 < (rates["T512", "engine"].value or 0) < 900
    assert 700 < (rates["T512", "clients"].value or 0) < 1000


def test_groups_are_kinds_of_prompts_and_their_sums_are_exact(study: Study) -> None:
    found = lengths.by_run(study.connection, time_split.runs(study.connection))
    bins = [e for e in lengths.bins(found) if e.qualifiers["boot"] == "T512"]
    names = list(dict.fromkeys(e.qualifiers["prompt_tokens"] for e in bins))
    edges = [[int(x) for x in name.split(" to ")] for name in names]
    assert all(low <= high < later[0] for (low, high), later in pairwise(edges))
    rows = _raw()
    for (low, high), name in zip(edges, names, strict=True):
        part = [r for r in rows if low <= r["prompt_tokens"] <= high]
        prefill = sum(r["first_token_at"] - r["sent_at"] for r in part)
        decode = sum(r["token_at"][-1] - r["first_token_at"] for r in part)
        figures = {e.id: e for e in bins if e.qualifiers["prompt_tokens"] == name}
        assert figures[lengths.PREFILL].value == pytest.approx(prefill / len(part), rel=1e-3)
        assert figures[lengths.SHARE].value == pytest.approx(prefill / (prefill + decode), rel=1e-3)
    assert sum(len([r for r in rows if a <= r["prompt_tokens"] <= b]) for a, b in edges) == len(rows)
    assert not any(200 < low < 2000 for low, _ in edges)


def test_tables_and_texts(study: Study) -> None:
    found = lengths.by_run(study.connection, time_split.runs(study.connection))
    bins, answers = lengths.bins(found), length_tables.asked(study.connection, found)
    table = length_tables.at_table(answers)
    assert table["prompt tokens"].to_list()[:2] == ["5,379", "8,180"]
    assert table["what it is"].to_list()[:2] == [
        "within the recorded prompts",
        "extrapolated: no such prompt was recorded",
    ]
    assert length_tables.bins_table(bins).height == len({tuple(e.qualifiers.items()) for e in bins})
    assert length_tables.drawn(bins)["phase"].n_unique() == 2
    texts = length_tables.describe(bins)
    assert "T512" in texts["description"] and "by prompt length and run" in texts["title"]


def _study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: list[dict]) -> Study:
    monkeypatch.setattr(paths, "STORES", tmp_path / "stores")
    file = tmp_path / "s" / "requests" / "gateway" / "trace.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text("".join(json.dumps({"request_id": str(i), "status": "ok", **r}) + "\n" for i, r in enumerate(rows)))
    return Study(tmp_path / "s")


def test_few_or_strange_requests_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        {"sent_at": 1000.0 + i, "first_token_at": 1000.5 + i, "token_at": [1000.5 + i, 1001.0 + i],
         "finished_at": 1001.0 + i, "prompt_tokens": 10, "output_tokens": 2}
        for i in range(9)
    ]  # fmt: skip
    study = _study(tmp_path, monkeypatch, rows)
    [found] = lengths.by_run(study.connection, [])
    assert found.clients == "all prompts are of one length (10 tokens)"
    assert found.qualifiers == {"target": "requests/gateway"}
    bins = {e.id: e for e in lengths.bins([found])}
    assert bins[lengths.SHARE].value == pytest.approx(0.5)
    answer = lengths.at_length(found, 10, 2)
    assert answer.prefill.value is None
    assert "all prompts are of one length" in (answer.prefill.reason or "")
    assert "no pages of this run" in (answer.prefill.reason or "")
    assert length_tables.asked(study.connection, [found]) == []


def test_nothing_recorded_gives_empty_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "STORES", tmp_path / "stores")
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "study.toml").write_text('name = "nothing yet"\n')
    study = Study(tmp_path / "empty")
    found = lengths.by_run(study.connection, time_split.runs(study.connection))
    assert found == []
    assert lengths.bins(found) == [] and lengths.slopes(found) == []
    assert length_tables.at_table([]).height == length_tables.bins_table([]).height == 0
    assert length_tables.describe([])["title"] == "No request has a prompt length, times and an answer"


def test_clocks_of_different_kinds_share_their_blocks_by_their_place_in_their_span() -> None:
    study = Study("vllm-cpu")
    table = study.sql("select file, moment from request_lengths where place = 'A2' order by file")
    assert table["file"].n_unique() == 3
    assert table["moment"].min() == 0 and table["moment"].max() == 1
    # Documents and chats of the benchmark are on one clock and share its span; the trace has a clock of its own.
    ends = {str(k[0]).rsplit("/", 1)[-1]: part["moment"].max() for k, part in table.group_by("file")}
    assert ends["trace.jsonl"] == 1
    assert sorted((ends["bench-chat.json"] == 1, ends["bench-doc.json"] == 1)) == [False, True]
