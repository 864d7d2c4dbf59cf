"""Decode against memory on studies whose bandwidth, weights and gaps are known."""

import re
from pathlib import Path

import pytest

from analysis import paths
from analysis.findings import decode_hardware, lengths, time_split
from analysis.findings.decode_hardware import ACHIEVED, CEILING, READ, SHARE
from analysis.study import Study
from tests.conftest import copy_boots

LOADED = "INFO 01-01 00:00:00 [gpu_model_runner.py:2007] Model loading took 60.00 GiB and 12.0 seconds\n"


def _figures(study: Study) -> dict[str, dict]:
    runs = time_split.runs(study.connection)
    found = decode_hardware.figures(study.connection, runs, lengths.by_run(study.connection, runs))
    assert decode_hardware.table(found).height == len(runs)
    return {e.id: e for e in found if e.qualifiers.get("boot") in ("A2", "T512", "G512")}  # type: ignore[misc]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(paths, "STORES", tmp_path / "stores")
    made = copy_boots(tmp_path / "s", ["A2"])
    (made / "study.toml").unlink()
    return made


def _declare(folder: Path, text: str) -> Study:
    (folder / "study.toml").write_text(text)
    return Study(folder)


def test_weights_of_the_log_and_bandwidth_of_the_study(folder: Path) -> None:
    log = folder / "boots" / "A2.log"
    log.write_text(_with_line(log.read_text()))
    found = _figures(_declare(folder, "[hardware]\nmemory_bandwidth_bytes_per_s = 273e9\n[model]\nweights_bytes = 5\n"))
    ceiling, achieved, share = found[CEILING], found[ACHIEVED], found[SHARE]
    assert ceiling.kind == "bound"
    assert ceiling.value == pytest.approx(273e9 / (60 * 2**30))
    assert ceiling.low < ceiling.value < ceiling.high
    assert any("Model loading took 60.00 GiB" in (e.quote or "") for e in ceiling.evidence)
    # One over the mean gap between tokens of the run, from its own counters.
    [run] = [r for r in time_split.runs(Study(folder).connection) if r.name == "A2"]
    gaps, seconds = run.total("inter_token_latency", "count"), run.total("inter_token_latency")
    assert achieved.value == pytest.approx(gaps / seconds)
    assert achieved.picked == "counters: gaps between tokens"
    assert share.value == pytest.approx(achieved.value / ceiling.value)
    assert share.low == pytest.approx(achieved.low / ceiling.high)


def _with_line(text: str) -> str:
    """The log with the line after its first weights line, as an engine on a GPU prints it."""
    lines = text.splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if "Loading weights took" in line)
    prefix = re.match(r"(\([^)]*\) )?", lines[at])
    return "".join([*lines[: at + 1], (prefix[0] if prefix else "") + LOADED, *lines[at + 1 :]])


def test_weights_that_only_the_study_declares_are_said_to_be_so(folder: Path) -> None:
    text = '[hardware]\nmemory_bandwidth_bytes_per_s = 50e9\n[model]\nparameters = 268098176\ndtype = "bfloat16"\n'
    ceiling = _figures(_declare(folder, text))[CEILING]
    assert ceiling.value == pytest.approx(50e9 / (2 * 268098176))
    assert any("from study.toml, parameters times bytes" in w for w in ceiling.warnings)


@pytest.mark.parametrize(
    ("toml", "missing"),
    [
        ("", "study.toml gives no hardware.memory_bandwidth_bytes_per_s; the boot log prints no size of weights"),
        ("[hardware]\nmemory_bandwidth_bytes_per_s = 1e9\n", "the boot log prints no size of weights"),
        ("[model]\nweights_bytes = 7\n", "study.toml gives no hardware.memory_bandwidth_bytes_per_s"),
        ('[hardware]\nmemory_bandwidth_bytes_per_s = "fast"\n[model]\nweights_bytes = 7\n', "study.toml gives no"),
        ("[hardware]\nmemory_bandwidth_bytes_per_s = -1\n[model]\nweights_bytes = 7\n", "study.toml gives no"),
    ],
)
def test_what_is_missing_is_named_and_steps_stand_alone(folder: Path, toml: str, missing: str) -> None:
    study = _declare(folder, toml)
    found = _figures(study)
    assert found[CEILING].value is None and found[SHARE].value is None
    assert (found[CEILING].reason or "").startswith(f"not computable: {missing}")
    assert found[ACHIEVED].value is not None
    told = study.sql("select what from unparsed where file = 'study.toml'")["what"].to_list()
    bad = "fast" in toml or "-1" in toml
    assert told == (["study.toml: hardware.memory_bandwidth_bytes_per_s is not a number above 0"] if bad else [])


def test_a_step_log_counts_the_steps_that_only_decode() -> None:
    study = Study("vllm-cpu-iterations")
    found = _figures(study)
    n, seconds = study.sql(
        "select count(*)::double, sum(elapsed_s) from engine_steps "
        "where boot = 'T512' and context_requests = 0 and generation_requests > 0"
    ).row(0)
    assert found[ACHIEVED].value == pytest.approx(n / seconds)
    assert found[ACHIEVED].picked == "step log: steps that only decode"
    # The engine's own estimate of what it read, over the busy seconds of the pages.
    assert found[READ].unit == "bytes/s"
    assert found[READ].value == pytest.approx(579_997_941_760 / 270, rel=0.01)


def test_clients_are_the_last_resort() -> None:
    found = _figures(Study("llamacpp"))
    assert found[ACHIEVED].picked == "clients: output tokens over their seconds"
    assert READ not in found
