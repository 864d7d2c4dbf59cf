"""Start-up by two clocks: from the log's first line, and from the start of the process; never one figure."""

import json
from pathlib import Path

import duckdb
import pytest
from simulated_arms import START, Boot, write
from test_arms import of_study, ratio

from analysis.findings import arm_charts, arm_verdicts, arms, mixed_headroom, mixed_lists, start_ups
from analysis.store.load import load
from analysis.study import Study

SAID = (
    "counted from the start of the process, {} of {} boots were ready {} later than counted from the log's first line"
)


def study(folder: Path, of_boot: str, jsonl: dict[str, object] | None = None) -> Path:
    """A study of one boot, ready 60 s after its log's first line; `of_boot` is declared of it."""
    write(folder, [Boot("A1", "A", 1.0)])
    with (folder / "study.toml").open("a") as file:
        file.write(of_boot)
    if jsonl:
        (folder / "boots.jsonl").write_text(json.dumps({"id": "A1", "arm": "A", "start": START} | jsonl) + "\n")
    return folder


def row(folder: Path) -> tuple[object, ...]:
    load(folder, folder.parent / "s.duckdb")
    with duckdb.connect(str(folder.parent / "s.duckdb"), read_only=True) as connection:
        (found,) = connection.sql("select log_s, process_s, step_s, file from start_ups").fetchall()
    return found


def test_recorded_boots_have_both_and_each_is_a_measure() -> None:
    """ready_s of study.toml by hand: 59.3 and 89.3 s; the logs print 13:20:28 to 13:21:11 and 13:26:20 to 13:27:29."""
    of = arms.of(Study("vllm-cpu-mixed").connection)
    found = arm_verdicts.verdicts(of)
    both = [ratio(found, "mnbt8192", m, "mnbt512") for m in ("start_up", "process_start_up")]
    assert [e.value for e in both] == [pytest.approx(69 / 43), pytest.approx(89.3 / 59.3)]
    said = SAID.format(2, 2, "16.3 s to 20.3 s") + ", where times are told apart to 1 s"
    assert [said in e.warnings for e in both] == [True, True]
    assert not any(said in e.warnings for e in found if e not in both)
    assert arm_charts.caption_startup(of).endswith(f" C{said[1:]}.")
    states = arm_verdicts.states(of)
    assert states["ready, from the log's first line (s)"].to_list() == [43.0, 69.0]
    assert states["ready, from the start of the process (s)"].to_list() == [59.3, 89.3]


def test_the_page_of_mixed_traffic_shows_both() -> None:
    load_ = mixed_headroom.load_seconds(Study("vllm-cpu-mixed").connection)
    of_process = [e for e in load_ if e.qualifiers["part"] == "until ready, from the start of the process"]
    assert [(e.value, e.evidence[0].file) for e in of_process] == [(59.3, "study.toml"), (89.3, "study.toml")]
    lines = Path(Study("vllm-cpu-mixed").data / "study.toml").read_text().splitlines()
    assert [lines[e.evidence[0].line - 1] for e in of_process] == ["ready_s = 59.3", "ready_s = 89.3"]
    shown = mixed_lists.load_table(load_)
    assert shown["until ready, from the log's first line"].to_list() == ["43.0 s", "69.0 s"]
    assert shown["until ready, from the start of the process"].to_list() == ["59.3 s", "89.3 s"]


@pytest.mark.parametrize(
    ("of_boot", "jsonl", "process_s", "step_s", "file"),
    [
        ("ready_s = 75.5\n", {"ready_s": 99.0}, 75.5, 1.0, "study.toml"),
        ("", {"ready_s": 75.5, "ready": START + 99}, 75.5, 1.0, "boots.jsonl"),
        (f"ready = {START + 75.25}\n", {"ready_s": None}, 75.25, 1.0, "study.toml"),
        ("ready_s = -1\n", {"ready": START + 76}, 76.0, 1.0, "boots.jsonl"),
        ("", None, None, None, None),
    ],
)
def test_what_is_declared_most_plainly_counts(
    tmp_path: Path, of_boot: str, jsonl: dict[str, object] | None, process_s: object, step_s: object, file: object
) -> None:
    found = row(study(tmp_path / "study", of_boot, jsonl))
    assert found == (60.0, process_s, 1.0, file)


@pytest.mark.parametrize(("ready_s", "apart"), [(61.0, ""), (61.5, "1.50 s"), (59.0, ""), (50.0, "−10.0 s")])
def test_only_more_than_the_log_tells_apart_is_said(tmp_path: Path, ready_s: float, apart: str) -> None:
    of = of_study(study(tmp_path / "study", f"ready_s = {ready_s}\n"))
    said = f"{SAID.format(1, 1, apart)}, where times are told apart to 1 s" if apart else ""
    assert start_ups.apart(of.boots) == said


def test_a_log_with_finer_times_tells_more_apart(tmp_path: Path) -> None:
    folder = study(tmp_path / "study", "ready_s = 60.25\n")
    log = folder / "boots" / "A1.log"
    log.write_text(log.read_text().replace("10:00:01 [", "10:00:01.000 [").replace("10:01:01 [", "10:01:01.125 ["))
    found = row(folder)
    assert found == (60.125, 60.25, 0.001, "study.toml")
    assert start_ups.apart(of_study(folder).boots).startswith(SAID.format(1, 1, "125 ms"))


def test_a_boot_without_a_log_has_the_one_that_is_declared(tmp_path: Path) -> None:
    folder = study(tmp_path / "study", "ready_s = 75.5\n")
    (folder / "boots" / "A1.log").unlink()
    of = of_study(folder)
    there = {m: v for m, v in of.measures.select("measure", "value").iter_rows() if "start_up" in m}
    assert there == {"process_start_up": 75.5}
    assert start_ups.apart(of.boots) == ""
