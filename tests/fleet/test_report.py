"""From a server to a report: the same results as from the files, or a sentence and nothing half done."""

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.sources.prometheus_server import ServerError
from analysis.store import fleet
from tests.conftest import copy_boots, run_analysis
from tests.fleet import simulated
from tests.fleet.test_server_equals_pages import recorded_samples

SCALES = ("value", "low", "high")


@pytest.fixture(scope="module")
def back_filled(tmp_path_factory: pytest.TempPathFactory, start_server: Any) -> tuple[Path, str]:
    """A study of two recorded boots, and the address of a Prometheus that holds the pages of one."""
    study = copy_boots(tmp_path_factory.mktemp("files") / "study", ["A2", "R1"])
    server = start_server("prometheus", simulated.openmetrics(study.parent / "back.om", recorded_samples(study)))
    query = "match=job%3D%22vllm%22&start=2026-11-29T13:11:00Z&end=2026-11-29T13:16:00Z&window=1s"
    return study, f"prometheus+{server.base}/?{query}"


def test_the_report_from_a_server_is_the_report_from_the_files(back_filled: tuple[Path, str], tmp_path: Path) -> None:
    study, address = back_filled
    served = copy_boots(tmp_path / "study", ["A2", "R1"])
    for page in served.glob("metrics/*/*"):
        page.unlink()
    text = (served / "study.toml").read_text()
    (served / "study.toml").write_text(f"prometheus = [{json.dumps(address)}]\n{text}")
    results = []
    for number, data in enumerate((study, served)):
        out = tmp_path / f"report-{number}"
        run = run_analysis("report", str(data), "--out", str(out))
        assert run.returncode == 0, run.stderr
        results.append(json.loads((out / "results.json").read_text()))
    files, server = results
    assert [(e["id"], e["qualifiers"]) for e in files["estimates"]] == [
        (e["id"], e["qualifiers"]) for e in server["estimates"]
    ]
    assert any(e["id"] == "time.prefill_share.request_seconds" and e["low"] is not None for e in files["estimates"])
    for one, other in zip(files["estimates"], server["estimates"], strict=True):
        for end in SCALES:
            expected = None if other[end] is None else pytest.approx(other[end], rel=1e-9)
            assert one[end] == expected, (one["id"], one["qualifiers"], end)
        assert {k: one[k] for k in ("n", "method", "kind", "reason", "warnings")} == {
            k: other[k] for k in ("n", "method", "kind", "reason", "warnings")
        }
    assert [t["sentence"] for t in files["takeaways"] if not t["supporting"]] == [
        t["sentence"] for t in server["takeaways"] if not t["supporting"]
    ]


def test_what_was_fetched_is_kept_and_not_asked_for_again(
    back_filled: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fleet, "FLEETS", tmp_path)
    said: list[str] = []
    first = fleet.study_of(back_filled[1], said.append)
    assert "fetched before" not in "".join(said)
    again = fleet.study_of(back_filled[1], said.append)
    assert again == first
    assert said[-1] == f"fetched before: {first}"
    assert [path.name for path in tmp_path.iterdir()] == [first.name]


def test_a_server_that_dies_half_way_leaves_a_sentence_and_nothing_else(
    back_filled: tuple[Path, str], tmp_path: Path, start_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, address = back_filled
    server = start_server("prometheus", simulated.openmetrics(tmp_path / "back.om", recorded_samples(study)))
    monkeypatch.setattr(fleet, "FLEETS", tmp_path / "fleets")

    def kill_half_way(text: str) -> None:
        if "metric 21 of" in text:
            server.stop()

    query = address.partition("/?")[2]
    with pytest.raises(ServerError, match=r"no answer .*Nothing was kept"):
        fleet.study_of(f"prometheus+{server.base}/?{query}", kill_half_way)
    assert list((tmp_path / "fleets").iterdir()) == []


def test_the_command_says_in_one_line_that_nobody_answers(tmp_path: Path) -> None:
    query = "match=a%3D%22b%22&start=2026-11-29T13:11:00Z&end=2026-11-29T13:16:00Z"
    run = run_analysis("report", f"prometheus+http://127.0.0.1:9/?{query}", "--out", str(tmp_path / "out"))
    assert run.returncode == 1
    assert run.stderr.strip().splitlines()[-1].startswith("http://127.0.0.1:9/: no answer (")
    assert "Traceback" not in run.stderr
    assert not (tmp_path / "out").exists()


def test_a_moving_address_and_a_future_end_are_refused(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text('prometheus = "prometheus+http://h/?match=a%3D%22b%22&start=now-1h&end=now"\n')
    with pytest.raises(ServerError, match="absolute times"):
        fleet.study_of(str(tmp_path))
    with pytest.raises(ServerError, match="in the future"):
        fleet.study_of("prometheus+http://h/?match=a%3D%22b%22&start=2026-01-01T00:00:00Z&end=2126-01-01T00:00:00Z")
    (tmp_path / "study.toml").write_text("prometheus = 5\n")
    assert fleet.study_of(str(tmp_path)) == tmp_path  # the reader of study.toml lists it


@pytest.mark.parametrize(
    "command", ["claims STUDY", "compare STUDY STUDY", "decide STUDY", "export STUDY", "facts STUDY",
                "risk STUDY --batch-tokens 4096", "post STUDY"],
)  # fmt: skip
def test_every_command_that_reads_a_study_asks_the_server_it_declares(command: str, tmp_path: Path) -> None:
    query = "match=a%3D%22b%22&start=2026-11-29T13:11:00Z&end=2026-11-29T13:16:00Z"
    (tmp_path / "study.toml").write_text(f'prometheus = "prometheus+http://127.0.0.1:9/?{query}"\n')
    run = run_analysis(*command.replace("STUDY", str(tmp_path)).split())
    assert run.returncode in (1, 2)
    assert "http://127.0.0.1:9/: no answer (" in run.stderr
    assert "Traceback" not in run.stderr
